//! Failed requests: no connection, a reset, a timeout, a wrong status or body. Throughput counts good answers alone, so
//! that a load with failures measured a server that was partly refusing.
//!
//! Counts over all measured takes of a load, by kind; shares of all its requests where those were counted.

use std::collections::BTreeMap;

use model::{Finding, Validity};

use super::{Look, Ruling, settle};
use crate::load::first_urls;
use crate::loads::Load;
use crate::say;

const KIND: &str = "errors";

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for load in look.loads() {
        let kinds = load.sums_by("failed", "kind");
        if kinds.is_empty() {
            // A kind is read where it occurred; that none did is known where the load has a figure.
            if load.throughput().is_some() {
                good.extend(load.set_by_generator());
            }
            continue;
        }
        bad.push(failures(look, load, &kinds));
    }
    settle(bad, good, |_| Finding::new(KIND, Validity::Ok, "no request failed"))
}

/// The kinds, the most frequent first; answers of 4xx and 5xx by their status, with the first URL that met it.
fn named(
    kinds: &BTreeMap<String, f64>,
    statuses: &BTreeMap<String, f64>,
    urls: &BTreeMap<u16, &str>,
) -> Vec<String> {
    let first = |status: &str| {
        let url = status.parse().ok().and_then(|status: u16| urls.get(&status));
        url.map_or_else(String::new, |url| format!(" (first {url})"))
    };
    let by_status =
        statuses.iter().map(|(status, count)| (*count, format!("status {status}{}", first(status))));
    // Runs of before statuses were counted have the kinds alone.
    let others = kinds.iter().filter(|(kind, _)| statuses.is_empty() || !kind.starts_with("status_"));
    let mut all: Vec<(f64, String)> =
        by_status.chain(others.map(|(kind, count)| (*count, kind.clone()))).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().map(|(count, what)| format!("{count:.0} {what}")).collect()
}

fn failures(look: &Look<'_>, load: &Load<'_>, kinds: &BTreeMap<String, f64>) -> Ruling {
    let statuses = load.sums_by("failed-statuses", "status");
    let named = named(kinds, &statuses, &first_urls(load.notes(look.run)));
    let all: f64 = kinds.values().sum();
    let share = load.requests().map(|requests| all / requests);
    let of = share.map_or_else(String::new, |share| format!(" ({} of its requests)", say::percent(share)));
    let late = |kind: &str| matches!(kind, "unsent" | "timeout" | "cut");
    let overload = load.is_held() == Some(false) && kinds.keys().all(|kind| late(kind));
    let what = if overload {
        "more was offered than it could answer; throughput counts good answers alone"
    } else {
        "throughput counts good answers alone; look at the server's error log and limits"
    };
    let text = format!("failed: {}{of}: {what}", say::list(&named));
    let mut finding = Finding::new(KIND, Validity::Doubtful, text).about(load.title());
    for (kind, count) in kinds {
        finding = finding.evidence(kind, *count);
    }
    for (status, count) in &statuses {
        finding = finding.evidence(&format!("status {status}"), *count);
    }
    if let Some(share) = share {
        finding = finding.evidence("share", share);
    }
    Ruling { finding, reach: load.set_by_generator() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loads::planted::{empty, one, times};
    use crate::run::RunContext;

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
            rule(&Look::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }));
        assert_eq!((found.len(), found[0].reach.clone()), (1, vec![0]));
        let text = &found[0].finding.text;
        assert!(text.starts_with("failed: 40 status_5xx and 16 reset (1.0 % of its requests): "), "{text}");
    }

    #[test]
    fn an_overload_is_called_so() {
        let figures = [("throughput", 100.0), ("offered-load", 200.0), ("failed;kind=unsent", 9.0)];
        let run = one("arrivals=poisson;load=110%", &figures);
        let found =
            rule(&Look::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }));
        assert!(found[0].finding.text.contains("more was offered"), "{found:?}");
    }

    #[test]
    fn without_failures_it_is_ok_and_without_loads_silent() {
        let of = |run: &_| {
            rule(&Look::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
        };
        assert_eq!(of(&one("connections=1", &[("throughput", 9.0)]))[0].finding.state, Validity::Ok);
        assert!(of(&empty()).is_empty());
    }
}
