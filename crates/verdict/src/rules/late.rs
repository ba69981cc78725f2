//! Late sends: an open loop whose requests left later than they should, so that its times hold the generator's delay.
//!
//! At p99 of each take, median over the takes, in seconds. Doubtful over 1 ms, or over the longest gap that the run's
//! `jitter` saw on an idle core (99 in 100 of its takes), but not below 0.1 ms, which is what the engine keeps to.

use model::finding::Late;
use model::metrics::load;
use model::metrics::machine;
use model::names::instrument;

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

const MOST_S: f64 = 1e-3;
const LEAST_S: f64 = 1e-4;
/// Rows that a late send is in.
const TIMES: [&str; 3] = [load::RESPONSE_MEAN.name(), load::RESPONSE.name(), load::RESPONSE_P99.name()];

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let open: Vec<_> = index.loads().iter().filter(|load| !load.is_closed()).collect();
    let jitter = jitter(index);
    let most = jitter.map_or(MOST_S, |gap| gap.clamp(LEAST_S, MOST_S));
    let (mut bad, mut good, mut worst) = (Vec::new(), Vec::new(), 0.0_f64);
    for load in &open {
        let Some(p99) = load.median(&load::LATE) else { continue };
        if p99 <= most {
            worst = worst.max(p99);
            good.extend(load.rows(&TIMES));
            continue;
        }
        let late = Late::Late { p99, most, gap: jitter.filter(|_| most < MOST_S) };
        bad.push(Ruling::about(load.subject(), late, load.rows(&TIMES)));
    }
    if bad.is_empty() && good.is_empty() && !open.is_empty() {
        return vec![Ruling::of_run(Late::Unknown)];
    }
    settle(bad, good, |_| Late::InTime { p99: worst })
}

/// The longest gap on an idle core, s.
fn jitter(index: &RunIndex<'_>) -> Option<f64> {
    let mut series = index.run.series.iter();
    let longest = series
        .find(|one| one.key.instrument == instrument::JITTER && one.key.metric == machine::LONGEST.name())?;
    stats::quantile(&longest.measured(), 0.99).filter(|gap| *gap > 0.0)
}

#[cfg(test)]
mod tests {
    use model::{Validity, Value};

    use super::*;
    use crate::loads::planted::{empty, one, params, series};
    use crate::run_index::RunContext;

    fn state(late: f64, jitter: Option<f64>) -> (Validity, String) {
        let figures = [("throughput", 1.0), ("response-time-p99", 1e-3), ("late-p99", late)];
        let mut run = one("arrivals=poisson;rate=100", &figures);
        if let Some(gap) = jitter {
            let points: Vec<(u64, Value)> = (0..8).map(|seq| (seq, Value::Number(gap))).collect();
            series(&mut run, "jitter", "longest", params("span=100"), "", &points);
        }
        let found =
            rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }));
        assert_eq!((found.len(), found[0].reach.clone()), (1, vec![1]), "the times, not the rate");
        (found[0].finding.state, found[0].finding.text().clone())
    }

    #[test]
    fn late_is_held_against_a_millisecond_and_the_machines_own_gaps() {
        assert_eq!(state(0.9e-3, None).0, Validity::Ok);
        assert!(matches!(state(1.1e-3, None), (Validity::Doubtful, text) if text.contains("1.10 ms late")));
        let (found, text) = state(0.4e-3, Some(0.2e-3));
        assert!(found == Validity::Doubtful && text.contains("own gaps of 200 us"), "{text}");
        assert_eq!(state(0.1e-3, Some(0.2e-3)).0, Validity::Ok);
        assert_eq!(state(90e-6, Some(20e-6)).0, Validity::Ok, "as good as the engine promises");
        assert_eq!(state(2e-3, Some(5e-3)).0, Validity::Doubtful);
    }

    #[test]
    fn a_closed_loop_is_never_late() {
        let rule_of = |run: &_| {
            rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
        };
        assert!(
            rule_of(&one("arrivals=closed", &[("throughput", 1.0)])).is_empty()
                && rule_of(&empty()).is_empty()
        );
        let open = rule_of(&one("arrivals=constant", &[("throughput", 1.0)]));
        assert_eq!(open[0].finding.state, Validity::Unknown);
    }
}
