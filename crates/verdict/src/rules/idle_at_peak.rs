//! Idle at peak: the highest throughput of a setup was reached with less than half of the server's cores busy, and
//! nothing else at its ceiling. No error, but the server waits for something that is not on this list.
//!
//! Cores that the server has, medians over the takes. Setups differ in more than connections, generators and rate.

use model::doc::Binding;
use model::finding::IdleAtPeak;
use model::metrics::load;

use crate::bottleneck;
use crate::loads::groups;
use crate::loads::sweep::NEAR;
use crate::loads::{Core, Load};
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

const HALF: f64 = 0.5;
/// Parameters that make no setup of their own.
const LOAD: [&str; 5] = ["connections", "generators", "arrivals", "load", "rate"];

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut all, mut busiest) = (Vec::new(), 0.0_f64);
    let peaks = peaks(index.loads());
    let mut looked = false;
    for peak in &peaks {
        let Some(busy) = peak.server_busy() else { continue };
        looked = true;
        let found = bottleneck::of_load(index, peak);
        // Its own quota leaves it no more of its cores, and is told as what binds.
        let is_stopped = groups::quotas(peak).iter().any(|quota| quota.group == found.resource);
        if busy >= HALF || is_stopped {
            busiest = busiest.max(busy);
            continue;
        }
        let waiting = found.resources.iter().find(|one| one.kind == Binding::Waiting);
        let cores = peak.server_cores().len();
        let idle = match waiting.filter(|_| found.kind == Binding::Waiting) {
            Some(waiting) => IdleAtPeak::Waiting { busy, cores, waiting: waiting.text.clone() },
            None if asks_no_more(found.kind) || are_full(peak) => {
                IdleAtPeak::Bound { busy, cores, bottleneck: found.sentence.clone() }
            }
            None => {
                let used = peak.median(&load::SERVER_CORES);
                IdleAtPeak::Held { busy, cores, used, bottleneck: found.sentence.clone() }
            }
        };
        all.push(Ruling::about(peak.subject(), idle, Vec::new()));
    }
    if !looked && !peaks.is_empty() {
        return vec![Ruling::of_run(IdleAtPeak::Unknown)];
    }
    if all.is_empty() && looked {
        all.push(Ruling::of_run(IdleAtPeak::Busy { busy: busiest }));
    }
    all
}

/// Its cores have no time left, whoever has it.
fn are_full(load: &Load<'_>) -> bool {
    let taken: Vec<f64> = load.server_cores().iter().map(Core::taken).collect();
    stats::mean(&taken).is_some_and(|taken| taken >= NEAR)
}

/// The load was the limit, or nothing is known of what was.
const fn asks_no_more(kind: Binding) -> bool {
    matches!(
        kind,
        Binding::Generator
            | Binding::Connections
            | Binding::Offered
            | Binding::Failures
            | Binding::Silent
            | Binding::Unknown
    )
}

/// The load of the highest throughput of each setup.
fn peaks<'l, 'a>(loads: &'l [Load<'a>]) -> Vec<&'l Load<'a>> {
    let mut peaks: Vec<&'l Load<'a>> = Vec::new();
    for load in loads.iter().filter(|load| load.is_plain() && load.throughput().is_some()) {
        match peaks.iter_mut().find(|peak| peak.is_alike(load, &LOAD)) {
            Some(peak) if load.throughput() > peak.throughput() => *peak = load,
            Some(_) => {}
            None => peaks.push(load),
        }
    }
    peaks
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;
    use crate::loads::planted::{empty, load as add, one};
    use crate::run_index::RunContext;

    fn of(run: &model::data::RunData) -> Vec<Ruling> {
        rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
    }

    #[test]
    fn only_the_peak_counts() {
        let mut run = empty();
        let figures = |throughput: f64, busy: f64| {
            [
                ("throughput", throughput),
                ("response-time", 10e-3),
                ("generator-cpu", 100e-6),
                ("core-busy;cpu=0;role=server", busy),
            ]
        };
        add(&mut run, "connections=1", &figures(100.0, 0.01));
        add(&mut run, "connections=10", &figures(1000.0, 0.12));
        let found = of(&run);
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Ok));
        assert!(found[0].reach.is_empty(), "the figure is what this setup does");
        let text = "the server has time left: its core was 12 % busy at the peak; waiting for the server: 99 % of \
                    response time; no resource at its ceiling";
        assert_eq!(found[0].finding.text(), text);
        assert_eq!(found[0].finding.subject.to_string(), "web throughput connections=10");
        add(&mut run, "connections=100", &figures(9000.0, 0.97));
        assert_eq!(of(&run)[0].finding.text(), "the server's cores were 97 % busy at the peak");
    }

    #[test]
    fn an_idle_server_that_something_else_binds_is_told_with_it() {
        let figures = [("throughput", 9.0), ("generator-share", 0.97), ("core-busy;cpu=0;role=server", 0.2)];
        let found = of(&one("connections=1", &figures));
        let text = &found[0].finding.text();
        assert!(
            text.starts_with("the server kept its cores 20 % busy: bound by the load generator"),
            "{text}"
        );
        assert_eq!(found[0].finding.state, Validity::Ok, "the load asked for no more");
        let others = [("throughput", 11e3), ("server-cores", 0.1), ("core-busy;cpu=0;role=server", 1.0)];
        let found = of(&one("connections=50", &others));
        assert_eq!(found[0].finding.state, Validity::Ok, "others have its time: {found:?}");
        let held = [
            ("throughput", 11e3),
            ("server-cores", 0.4),
            ("core-busy;cpu=0;role=server", 0.2),
            ("core-busy;cpu=1;role=both", 0.36),
            ("group-quota;group=/web", 0.4),
            ("group-periods;group=/web", 50.0),
            ("group-throttled;group=/web", 50.0),
        ];
        let found = of(&one("connections=50", &held));
        assert_eq!(found[0].finding.state, Validity::Ok, "its quota is told as what binds: {found:?}");
        assert_eq!(found[0].finding.text(), "the server's cores were 20 % busy at the peak");
    }

    #[test]
    fn unseen_cores_are_unknown() {
        let found = of(&one("connections=1", &[("throughput", 1.0), ("response-time", 1.0)]));
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Unknown));
        assert!(of(&empty()).is_empty());
    }
}
