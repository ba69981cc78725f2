//! Checks that the times of a log are plausible in the unit of its format, and how fine they are. Gives findings and
//! never corrects a time.
//!
//! Only what no server does is doubted; a wrong unit that gives times a server could have is not found.

use model::finding::TimeUnit;
use model::log_linear::Bin;

use crate::aggregate::{Aggregate, Times};

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

/// Fewer times say nothing about a unit.
const FEWEST: u64 = 100;
/// A median below this many ns is faster than a server writes its log line.
const FASTEST_NS: u64 = 10 * US;
/// A median above this is slower than anybody waits.
const SLOWEST_NS: u64 = 100 * S;

/// A step is looked for in times of at most so many steps: longer ones are not known as closely.
const MOST_STEPS: u64 = 100;
/// Fewer times than these say nothing about a step.
const FEWEST_OF_STEP: u64 = 20;

/// The step in ns in which times are written, as they show it: the largest power of ten, from 1 us on, of which all
/// times are multiples that are at most a hundred of it. `None` where there is no such step, or few such times.
pub fn step_ns(times: &Times) -> Option<u64> {
    let is_step = |step: &u64| {
        let short = || times.bins().filter(|bin| bin.low <= MOST_STEPS * step);
        let has_multiple = |bin: Bin| bin.high / step * step >= bin.low;
        short().all(has_multiple) && short().map(|bin| bin.count).sum::<u64>() >= FEWEST_OF_STEP
    };
    [S, S / 10, S / 100, MS, MS / 10, MS / 100, US].into_iter().find(is_step)
}

/// Oddities of the times of these requests; `unit_ns` is the unit of their format.
pub fn doubts(aggregate: &Aggregate, unit_ns: u64) -> Vec<TimeUnit> {
    let timed = aggregate.times.total();
    let above_zero = timed.saturating_sub(aggregate.totals().zero_time);
    let mut doubts = Vec::new();
    let Some(median_ns) = aggregate.times.quantile(0.5).filter(|_| timed >= FEWEST) else { return doubts };
    // In whole seconds or milliseconds most times are 0, which is coarse and not wrong.
    if median_ns < FASTEST_NS && unit_ns < MS {
        doubts.push(TimeUnit::TooFast { median_ns });
    }
    if median_ns > SLOWEST_NS {
        doubts.push(TimeUnit::TooSlow { median_ns });
    }
    let percent = u128::from(aggregate.whole_thousands) * 100 / u128::from(above_zero.max(1));
    if above_zero >= FEWEST && percent >= 95 && unit_ns < S {
        doubts.push(TimeUnit::WholeThousands { percent: percent as u64 });
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aggregate::{Settings, Writer};
    use crate::format::Format;
    use crate::scan::Scanner;

    fn of(directive: &str, time: impl Fn(u64) -> u64) -> Vec<TimeUnit> {
        let format = Format::parse(&format!("%B {directive}")).unwrap();
        let mut scanner = Scanner::new(&format);
        let (mut all, settings) = (Aggregate::default(), Settings::default());
        let mut writer = Writer::new(&mut all, &settings);
        for n in 0..1000 {
            let line = format!("5000 {}", time(n));
            writer.add(&scanner.read(line.as_bytes()).unwrap());
        }
        drop(writer);
        doubts(&all, format.unit_ns().unwrap())
    }

    #[test]
    fn steps_are_those_that_times_show() {
        let step = |count: u64, time: &dyn Fn(u64) -> u64| {
            let mut times = Times::default();
            (0..count).for_each(|n| times.record(time(n)));
            step_ns(&times)
        };
        assert_eq!(step(1000, &|_| MS), Some(MS));
        assert_eq!(step(1000, &|n| n % 40 * MS), Some(MS));
        assert_eq!(step(1000, &|n| n % 4 * S), Some(S));
        assert_eq!(step(1000, &|n| n % 999 * 10 * MS), Some(10 * MS));
        assert_eq!(step(1000, &|n| US + n % 90 * US), Some(US));
        assert_eq!(step(1000, &|n| 700_123 + n * 13_577), None);
        assert_eq!((step(5, &|_| MS), step(0, &|_| 0)), (None, None));
        // Long times alone tell no step.
        assert_eq!(step(1000, &|n| (200 + n) * S), None);
    }

    #[test]
    fn sound_times_are_not_doubted() {
        assert_eq!(of("%D", |n| 80 + n * 13), []);
        assert_eq!(of("%{ms}T", |n| n / 10), []);
        assert_eq!(of("%T", |n| n / 990), []);
    }

    #[test]
    fn a_wrong_unit_is_said() {
        assert!(matches!(of("%D", |n| n % 7)[..], [TimeUnit::TooFast { .. }]));
        assert!(matches!(of("%{ms}T", |n| 200_000 + n)[..], [TimeUnit::TooSlow { .. }]));
        assert!(matches!(of("%T", |n| 1500 + n)[..], [TimeUnit::TooSlow { .. }]));
        let coarse = of("%D", |n| n * 1000);
        assert_eq!(coarse, [TimeUnit::WholeThousands { percent: 100 }]);
        assert!(coarse[0].to_string().contains("100 %"));
        assert!(of("%D", |n| n % 7)[0].to_string().contains("larger unit"));
    }
}
