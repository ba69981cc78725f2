//! Generator delay: response times that hold the time in which answers lay ready and the generator had not read them.
//!
//! Held against the figure that it is in, both as medians over the takes, in seconds: the mean delay against the median
//! response time, its p99 against theirs. Doubtful over 5 %. Where the delay was not recorded, doubtful from half of a
//! core's time on: a generator that is busy half of the time makes every second answer wait.

use model::Metric;
use model::Seconds;
use model::finding::GeneratorDelay;
use model::metrics::load;

use crate::loads::Load;
use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

const MOST: f64 = 0.05;
const BUSY: f64 = 0.5;
/// A figure, its quantile, and the delay that it may hold.
const HELD: [(&Metric<Seconds>, f64, &Metric<Seconds>); 2] =
    [(&load::RESPONSE, 0.5, &load::LATE_READ), (&load::RESPONSE_P99, 0.99, &load::LATE_READ_P99)];

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    let timed: Vec<_> = index
        .loads()
        .iter()
        .filter(|load| HELD.iter().any(|(time, ..)| load.median(time).is_some()))
        .collect();
    for load in &timed {
        for (time, quantile, delay) in HELD {
            let reach = load.rows(&[time.name()]);
            match delay_of(load, time, quantile, delay) {
                None => {}
                Some(GeneratorDelay::Small { share }) => {
                    most = most.max(share);
                    good.extend(reach);
                }
                Some(found) => bad.push(Ruling::about(load.subject(), found, reach)),
            }
        }
    }
    if bad.is_empty() && good.is_empty() && !timed.is_empty() {
        return vec![Ruling::of_run(GeneratorDelay::Unknown)];
    }
    settle(bad, good, |_| GeneratorDelay::Small { share: most })
}

fn delay_of(
    load: &Load<'_>,
    time: &Metric<Seconds>,
    quantile: f64,
    delay: &Metric<Seconds>,
) -> Option<GeneratorDelay> {
    let time = load.median(time).filter(|time| *time > 0.0)?;
    if let Some(delay) = load.median(delay) {
        let share = delay / time;
        return Some(match share > MOST {
            true => GeneratorDelay::Delayed { quantile, delay, time },
            false => GeneratorDelay::Small { share },
        });
    }
    let share = load.median(&load::SHARE).filter(|share| *share >= BUSY)?;
    Some(GeneratorDelay::Busy { share })
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;
    use crate::loads::planted::{empty, one};
    use crate::run_index::RunContext;

    fn rulings(figures: &[(&str, f64)]) -> Vec<Ruling> {
        let run = one("connections=50", figures);
        rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
    }

    #[test]
    fn a_delay_is_held_against_the_figure_that_it_is_in() {
        let figures = |mean, p99| {
            [
                ("throughput", 50e3),
                ("response-time", 1e-3),
                ("response-time-p99", 4e-3),
                ("late-read", mean),
                ("late-read-p99", p99),
                ("generator-share", 0.8),
            ]
        };
        let found = rulings(&figures(20e-6, 100e-6));
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Ok));
        assert_eq!(found[0].reach, [1, 2], "the times, not the rate");
        let found = rulings(&figures(60e-6, 100e-6));
        assert_eq!(
            (found.len(), found[0].finding.state, found[0].reach.clone()),
            (2, Validity::Doubtful, vec![1])
        );
        let says = "answers lay ready and unread for up to 60.0 us, 6 % of the p50";
        assert!(found[0].finding.text().contains(says), "{}", found[0].finding.text());
        let found = rulings(&figures(20e-6, 400e-6));
        assert!(
            found[0].finding.text().contains("up to 400 us, 10 % of the p99"),
            "{}",
            found[0].finding.text()
        );
        assert_eq!(found[0].reach, [2]);
    }

    #[test]
    fn without_a_record_a_generator_that_is_half_busy_is_doubted() {
        let state = |share: &[(&str, f64)]| {
            let found = rulings(&[&[("response-time", 1e-3)], share].concat());
            (found.len(), found[0].finding.state)
        };
        assert_eq!(state(&[("generator-share", 0.5)]), (1, Validity::Doubtful));
        assert_eq!(state(&[("generator-share", 0.49)]), (1, Validity::Unknown));
        assert_eq!(state(&[]), (1, Validity::Unknown));
        let nothing = rule(&RunIndex::new(
            &empty(),
            &RunContext { cards: instruments::cards(), ..RunContext::default() },
        ));
        assert!(nothing.is_empty() && rulings(&[("throughput", 1.0)]).is_empty());
    }
}
