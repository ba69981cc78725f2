//! Generator-bound: the load generator, not the server, set the figures of a load, which are then lower bounds.
//!
//! Doubtful where its busiest core works over 85 % of the time and the server is not full (95 %) as well, where the
//! server or others fill that core, or where more generators reach over 5 % more. What the server used for each request
//! does not depend on the generator; the rate that its cores could serve by that is shown, at most, since interrupts
//! are not in it.

use model::Finding;
use model::backend::Backend;
use model::finding::generator_bound::{Capacity, Filled, LowerBound};
use model::finding::{GeneratorBound, Rule};
use model::metrics::load;

use crate::loads::Load;
use crate::loads::sweep::{CEILING, Generator, generator, generator_cores};
use crate::ruling::Ruling;
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let loads = index.loads();
    let (mut all, mut settled) = (Vec::new(), Vec::new());
    let (mut free, mut most) = (Vec::new(), 0.0_f64);
    for load in loads {
        let reach = load.set_by_generator();
        match generator(load, loads) {
            Generator::Unknown => {}
            Generator::Free { share } => {
                most = most.max(share);
                free.extend(reach);
            }
            Generator::Settled(found) => {
                settled.push(Ruling { finding: Finding::new(GeneratorBound::Settled(found)), reach });
            }
            Generator::Both(both) => {
                settled.push(Ruling { finding: Finding::new(GeneratorBound::Both(both)), reach });
            }
            Generator::Bound(cause) => {
                let cores = generator_cores(load);
                let bound = LowerBound {
                    cause,
                    cores,
                    share: load.median(&load::SHARE),
                    generator_cpu: load.median(&load::CPU),
                    capacity: capacity(load).map(|known| {
                        // A server that waits for a full application cannot do what its cores could.
                        let most = known.most.filter(|_| !waits_for_application(index, load));
                        Capacity { most, ..known }
                    }),
                    full: full(load),
                };
                all.push(Ruling::about(load.subject(), GeneratorBound::Bound(bound), reach));
            }
        }
    }
    all.extend(settled);
    if !free.is_empty() {
        let finding = Finding::new(GeneratorBound::Free { share: most });
        all.push(Ruling { finding, reach: free });
    }
    if all.is_empty() && !loads.is_empty() {
        return vec![Ruling::of_run(GeneratorBound::Unknown)];
    }
    all
}

/// True if the rule made a series a lower bound.
pub fn doubts(rulings: &[Ruling], series: usize) -> bool {
    let is_bound = |rule: &Rule| matches!(rule, Rule::GeneratorBound(bound) if bound.is_bound());
    rulings.iter().any(|ruling| is_bound(&ruling.finding.rule) && ruling.reach.contains(&series))
}

/// The fullest core of the server's own that is at its ceiling, and how busy it is.
fn full(load: &Load<'_>) -> Option<(String, f64)> {
    let full = load.server_cores().into_iter().filter(|core| core.role == "server" && core.busy >= CEILING);
    let core = full.max_by(|a, b| a.busy.total_cmp(&b.busy))?;
    Some((format!("cpu{}", core.cpu), core.busy))
}

/// One thread of an application behind the server uses all of a CPU.
fn waits_for_application(index: &RunIndex<'_>, load: &Load<'_>) -> bool {
    let all = index.backends(load.takes().into_iter());
    all.iter().filter_map(Backend::thread).any(|share| share >= CEILING)
}

/// CPU time of the server for each request, and the rate that what it can fill could serve.
pub fn capacity(load: &Load<'_>) -> Option<Capacity> {
    let cpu = load.median(&load::SERVER_CPU).filter(|cpu| *cpu > 0.0)?;
    let most = load.filled().map(|filled| {
        let (Filled::Cores(many) | Filled::Threads(many)) = filled;
        (filled, many as f64 / cpu)
    });
    Some(Capacity { cpu, most })
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;
    use crate::loads::planted::{empty, load, one};
    use crate::run_index::RunContext;

    fn rulings(run: &model::data::RunData) -> Vec<Ruling> {
        rule(&RunIndex::new(run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
    }

    #[test]
    fn a_busy_generator_is_named_with_what_the_server_could_do() {
        let run = one(
            "connections=50",
            &[
                ("throughput", 60e3),
                ("response-time", 1e-3),
                ("generator-share", 0.97),
                ("generator-cpu", 12e-6),
                ("server-cpu", 8e-6),
                ("core-busy;cpu=0;role=server", 0.6),
                ("core-busy;cpu=1;role=generator", 1.0),
            ],
        );
        let found = rulings(&run);
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Doubtful));
        let text = &found[0].finding.text();
        for part in [
            "lower bound: the generator on cpu1 works 97 % of its time (12.0 us of CPU a request)",
            "8.00 us of CPU a request, by which its 1 core could do up to 125 k/s",
        ] {
            assert!(text.contains(part), "{text}");
        }
        assert_eq!(found[0].reach, [0, 1], "not what the server used");
        assert!((found[0].finding.evidence()["capacity"] - 125e3).abs() < 10.0);
    }

    #[test]
    fn a_server_that_is_full_as_well_is_not_kept_quiet() {
        let of = |busy| {
            let figures = [
                ("throughput", 60e3),
                ("generator-share", 0.9),
                ("server-cpu", 16e-6),
                ("core-busy;cpu=0;role=server", busy),
            ];
            let found = rulings(&one("connections=50", &figures)).remove(0).finding;
            (found.state, found.text())
        };
        let (state, text) = of(0.9);
        assert_eq!(state, Validity::Doubtful);
        assert!(text.contains("up to 62.5 k/s; its cpu0 was 90 % busy too; add generators"), "{text}");
        let (state, text) = of(0.98);
        assert_eq!(state, Validity::Ok);
        assert!(
            text.starts_with("server and generator are both full (the server's cpu0 98 % busy; "),
            "{text}"
        );
    }

    #[test]
    fn a_generator_on_the_servers_core_is_named() {
        let figures = [("throughput", 46e3), ("generator-share", 0.33), ("core-busy;cpu=0;role=both", 1.0)];
        let found = rulings(&one("connections=50", &figures));
        let says = "lower bound: the generator on cpu0 works only 33 % of its time, on a core that it shares with the \
                    server (100 % busy); give it a core of its own, or generate from another machine";
        assert_eq!((found[0].finding.state, found[0].finding.text().as_str()), (Validity::Doubtful, says));
    }

    #[test]
    fn a_second_generator_that_reaches_more_tells_it_too() {
        let mut run = empty();
        for (generators, throughput) in [(1, 10e3), (2, 13.8e3), (3, 13.9e3)] {
            let figures = [("throughput", throughput), ("generator-share", 0.25)];
            load(&mut run, &format!("generators={generators}"), &figures);
        }
        let found = rulings(&run);
        let doubtful: Vec<&Ruling> =
            found.iter().filter(|one| one.finding.state == Validity::Doubtful).collect();
        assert_eq!(doubtful.len(), 1, "{found:?}");
        let text = &doubtful[0].finding.text();
        assert!(
            text.contains("lower bound: 3 generators reach 39 % more; the busiest core of the generator"),
            "{text}"
        );
        let settled = "3 generators reach no more than 2 (13.9 k/s): the generator is not what holds it back";
        assert!(
            found.iter().any(|one| one.finding.text() == settled && one.finding.state == Validity::Ok),
            "{found:?}"
        );
    }

    #[test]
    fn without_loads_nothing_and_without_shares_unknown() {
        assert!(rulings(&empty()).is_empty());
        let found = rulings(&one("connections=1", &[("throughput", 1.0)]));
        assert_eq!((found.len(), found[0].finding.state), (1, Validity::Unknown));
        let found = rulings(&one("connections=1", &[("throughput", 1.0), ("generator-share", 0.4)]));
        assert_eq!((found[0].finding.state, found[0].reach.clone()), (Validity::Ok, vec![0]));
    }
}
