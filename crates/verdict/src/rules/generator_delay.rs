//! Generator delay: response times that hold the time in which answers had arrived and the generator had not read them.
//!
//! They hold none where the kernel stamped the arrivals, which is where `late-read` was recorded. Elsewhere they are
//! doubtful from half of a core's time on: a generator that is busy half of the time makes every second answer wait.

use model::finding::GeneratorDelay;
use model::metrics::load;

use crate::loads::Load;
use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

const BUSY: f64 = 0.5;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    let timed = |load: &&Load<'_>| load.median(&load::RESPONSE).is_some();
    let timed: Vec<_> = index.loads().iter().filter(timed).collect();
    for load in &timed {
        let reach =
            load.rows(&[load::RESPONSE_MEAN.name(), load::RESPONSE.name(), load::RESPONSE_P99.name()]);
        match (load.median(&load::LATE_READ), load.median(&load::SHARE)) {
            (Some(unread), _) => {
                most = most.max(unread);
                good.extend(reach);
            }
            (None, Some(share)) if share >= BUSY => {
                bad.push(Ruling::about(load.subject(), GeneratorDelay::Busy { share }, reach));
            }
            (None, _) => {}
        }
    }
    if bad.is_empty() && good.is_empty() && !timed.is_empty() {
        return vec![Ruling::of_run(GeneratorDelay::Unknown)];
    }
    settle(bad, good, |_| GeneratorDelay::Stamped { unread: most })
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
    fn times_that_end_with_the_arrival_hold_no_delay() {
        let figures = [
            ("throughput", 50e3),
            ("response-time", 1e-3),
            ("response-time-p99", 4e-3),
            ("late-read", 60e-6),
            ("generator-share", 0.8),
        ];
        let found = rulings(&figures);
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Ok));
        assert_eq!(found[0].reach, [1, 2], "the times, not the rate");
        assert!(found[0].finding.text().contains("lay unread for 60.0 us"), "{}", found[0].finding.text());
    }

    #[test]
    fn without_stamps_a_generator_that_is_half_busy_is_doubted() {
        let found = |share: &[(&str, f64)]| {
            let found = rulings(&[&[("response-time", 1e-3)], share].concat());
            (found.len(), found[0].finding.state)
        };
        assert_eq!(found(&[("generator-share", 0.5)]), (1, Validity::Doubtful));
        assert_eq!(found(&[("generator-share", 0.49)]), (1, Validity::Unknown));
        assert_eq!(found(&[]), (1, Validity::Unknown));
        let nothing = rule(&RunIndex::new(
            &empty(),
            &RunContext { cards: instruments::cards(), ..RunContext::default() },
        ));
        assert!(nothing.is_empty() && rulings(&[("throughput", 1.0)]).is_empty());
    }
}
