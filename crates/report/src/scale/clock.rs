//! Ticks of an axis of time: round times of day, each as the clock shows it.
//!
//! Seconds. The day stands at the first tick and where it changes.

use model::format::Moment;

use super::{Tick, multiples};

/// Steps of a clock.
const STEPS: [f64; 15] = [
    1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 1800.0, 3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0, 86_400.0,
    172_800.0, 604_800.0,
];

/// The ends and the ticks of an axis from `low` to `high` seconds behind `start`, with at most so many intervals.
pub fn domain(low: f64, high: f64, start: f64, most: usize) -> (f64, f64, Vec<f64>) {
    let high = if high > low { high } else { low + 1.0 };
    let span = high - low;
    let fits = |step: &&f64| span / **step <= most as f64;
    let week = STEPS[STEPS.len() - 1];
    let step = STEPS.iter().find(fits).copied().unwrap_or_else(|| (span / most as f64 / week).ceil() * week);
    // Round by the clock, not by the axis.
    let ticks = multiples(start + low, start + high, step);
    (low, high, ticks.into_iter().map(|tick| tick - start).collect())
}

pub fn labels(ticks: &[f64], start: f64) -> Vec<Tick> {
    let mut day: Option<String> = None;
    let has_times = ticks.windows(2).any(|pair| (pair[1] - pair[0]) % 86_400.0 != 0.0) || ticks.len() < 2;
    let label = |value: &f64| {
        let label = Moment::at(start + value).map_or_else(String::new, |at| {
            let is_new = day.replace(at.date()).is_none_or(|before| before != at.date());
            match (has_times, is_new) {
                (false, _) => at.date(),
                (true, true) => format!("{} {}", at.weekday(), at.time()),
                (true, false) => at.time(),
            }
        });
        Tick { value: *value, label }
    };
    ticks.iter().map(label).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(low: f64, high: f64, start: f64) -> Vec<String> {
        let (_, _, ticks) = domain(low, high, start, 8);
        labels(&ticks, start).into_iter().map(|tick| tick.label).collect()
    }

    #[test]
    fn ticks_are_round_times_of_day() {
        // Tue 17 Nov 2026, 00:20.
        let start = 1_794_873_600.0 + 1200.0;
        assert_eq!(shown(0.0, 86_400.0, start)[..3], ["Tue 03:00", "06:00", "09:00"]);
        assert_eq!(shown(0.0, 86_400.0, start).last().unwrap(), "Wed 00:00");
        assert_eq!(shown(0.0, 3000.0, start), ["Tue 00:30", "00:45", "01:00"]);
        assert_eq!(shown(0.0, 8.0 * 86_400.0, start)[0], "2026-11-18");
        assert!(shown(0.0, 4e9, start).len() <= 9);
        assert!(!shown(5.0, 5.0, start).is_empty());
    }
}
