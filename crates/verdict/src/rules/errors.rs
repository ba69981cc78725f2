//! Failed requests: no connection, a reset, a timeout, a wrong status or body. Throughput counts good answers alone, so
//! that a load with failures measured a server that was partly refusing.
//!
//! Counts over all measured takes of a load, by kind; shares of all its requests where those were counted.

use std::collections::BTreeMap;

use model::finding::{Errors, Failed};
use model::metrics::load;

use crate::load_doc::first_urls;
use crate::loads::Load;
use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for load in index.loads() {
        let kinds = load.sums_by(&load::FAILED, "kind");
        let share = stats::mean(&load.by_take(&load::ERROR_RATE).into_values().collect::<Vec<_>>());
        if kinds.is_empty() && share.is_none_or(|share| share <= 0.0) {
            // A kind is read where it occurred; that none did is known where the load has a figure.
            if load.throughput().is_some() {
                good.extend(load.set_by_generator());
            }
            continue;
        }
        bad.push(failures(index, load, kinds, share));
    }
    settle(bad, good, |_| Errors::None)
}

/// `rate` is the share of failures as the load recorded it.
fn failures(
    index: &RunIndex<'_>,
    load: &Load<'_>,
    kinds: BTreeMap<String, f64>,
    rate: Option<f64>,
) -> Ruling {
    let statuses = load.sums_by(&load::STATUSES, "status");
    let noted = first_urls(load.notes(index.run));
    let known = |status: &String| Some((status.clone(), (*noted.get(&status.parse().ok()?)?).to_owned()));
    let urls = statuses.keys().filter_map(known).collect();
    let all: f64 = kinds.values().sum();
    let counted = load.requests().filter(|_| !kinds.is_empty()).map(|requests| all / requests);
    // More than all is no share: a planted world may say anything.
    let share = counted.or_else(|| rate.filter(|rate| kinds.is_empty() && *rate <= 1.0));
    let late = |kind: &String| matches!(kind.as_str(), "unsent" | "timeout" | "cut");
    let is_overload = load.is_held() == Some(false) && !kinds.is_empty() && kinds.keys().all(late);
    let failed = Errors::Failed(Failed { kinds, statuses, urls, share, is_overload });
    Ruling::about(load.subject(), failed, load.set_by_generator())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::{empty, one, times};
    use crate::run_index::RunContext;

    #[test]
    fn kinds_are_counted_over_the_takes() {
        let figures = [
            ("throughput", 100.0),
            ("server-cpu", 1e-5),
            ("failed;kind=reset", 2.0),
            ("failed;kind=status_5xx", 5.0),
        ];
        let mut run = one("connections=400", &figures);
        let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
        times(&mut run, &seqs, "response-times", "connections=400", &[(100, 700)]);
        let found =
            rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }));
        assert_eq!((found.len(), found[0].reach.clone()), (1, vec![0]));
        let text = &found[0].finding.text();
        let says = "throughput counts good answers alone: 1.0 % of its requests failed: 40 status_5xx and 16 reset; ";
        assert!(text.starts_with(says), "{text}");
    }

    #[test]
    fn an_overload_is_called_so() {
        let figures = [("throughput", 100.0), ("offered-load", 200.0), ("failed;kind=unsent", 9.0)];
        let run = one("arrivals=poisson;load=110%", &figures);
        let found =
            rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }));
        assert!(found[0].finding.text().contains("more was offered"), "{found:?}");
    }

    #[test]
    fn a_rate_of_failures_without_kinds_is_told() {
        let run = one("connections=400", &[("throughput", 100.0), ("error-rate", 0.03)]);
        let found =
            rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }));
        let says = "throughput counts good answers alone: 3.0 % of its requests failed, of which kind was not recorded; \
                    look at the server's error log and limits";
        assert_eq!(found[0].finding.text(), says);
    }

    #[test]
    fn without_failures_it_is_ok_and_without_loads_silent() {
        let of = |run: &_| {
            rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
        };
        assert_eq!(of(&one("connections=1", &[("throughput", 9.0)]))[0].finding.state, model::Validity::Ok);
        assert!(of(&empty()).is_empty());
    }
}
