//! Little's law: requests in flight, integrated over time, against throughput by mean time. Both count the same
//! requests, so that a difference of over 5 % is an error of the load engine: invalid.
//!
//! Relative difference of each take, median over the takes.

use model::finding::Little;
use model::metrics::load;

use crate::loads::Load;
use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

const APART: f64 = 0.05;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for load in index.loads() {
        let Some(apart) = apart(load) else { continue };
        if apart <= APART {
            most = most.max(apart);
            good.extend(load.rows(&[]));
            continue;
        }
        let in_flight = load.median(&load::IN_FLIGHT).unwrap_or(f64::NAN);
        let by_little = load.median(&load::LITTLE).unwrap_or(f64::NAN);
        let broken = Little::Broken { in_flight, by_little, apart };
        bad.push(Ruling::about(load.subject(), broken, load.rows(&[])));
    }
    if bad.is_empty() && good.is_empty() && !index.loads().is_empty() {
        return vec![Ruling::of_run(Little::NotCounted)];
    }
    settle(bad, good, |_| Little::Holds { apart: most })
}

/// How far apart both are, as a share of the larger.
fn apart(load: &Load<'_>) -> Option<f64> {
    let by_little = load.by_take(&load::LITTLE);
    let pairs =
        load.by_take(&load::IN_FLIGHT).into_iter().filter_map(|(seq, a)| Some((a, *by_little.get(&seq)?)));
    let shares: Vec<f64> = pairs
        .filter(|(a, b)| a.max(*b) > 0.0)
        .map(|(a, b)| (a - b).abs() / a.max(b))
        .filter(|share| share.is_finite())
        .collect();
    stats::median(&shares)
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use proptest::prelude::*;

    use super::*;
    use crate::loads::planted::{empty, one};
    use crate::run_index::RunContext;

    fn of(seen: f64, must: f64) -> Ruling {
        let figures =
            [("throughput", 1.0), ("in-flight", seen), ("in-flight-by-little", must), ("server-cpu", 1.0)];
        let run = one("connections=50", &figures);
        rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
            .remove(0)
    }

    #[test]
    fn five_percent_apart_is_invalid() {
        let found = of(50.0, 40.0);
        assert_eq!((found.finding.state, found.reach), (Validity::Invalid, vec![0, 3]));
        assert!(
            found.finding.text().starts_with("not to be trusted: 50.0 requests were in flight"),
            "{}",
            found.finding.text()
        );
        assert_eq!(of(50.0, 49.0).finding.state, Validity::Ok);
        let run = one("connections=50", &[("throughput", 1.0), ("in-flight", 3.0)]);
        let rule_of = |run: &_| {
            rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
        };
        assert_eq!(rule_of(&run)[0].finding.state, Validity::Unknown);
        assert!(rule_of(&empty()).is_empty());
    }

    proptest! {
        #[test]
        fn either_side_may_be_the_larger(a in 0.1f64..1e6, b in 0.1f64..1e6) {
            prop_assert_eq!(of(a, b).finding.state, of(b, a).finding.state);
        }
    }
}
