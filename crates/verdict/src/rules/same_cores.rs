//! Generator and server on the same core: each slows the other, so that the figures are of neither.
//!
//! Doubtful where a CPU has both roles and is near its ceiling (70 % and more, where either waits for it), unless the
//! server is known to leave it alone, or where two threads of one core have one each. Input: the CPUs' roles, by the
//! affinity of the threads of a server that is not ours; the shares of server and generator in each, where known; which
//! CPUs are threads of one core. A virtual machine may hide that.

use model::Fact;
use model::finding::SameCores;
use model::params::{parse_cpus, show_cpus};

use crate::facts;
use crate::loads::Core;
use crate::loads::sweep::NEAR;
use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    let mut busiest: Option<(String, f64)> = None;
    let facts = &index.run.facts;
    let siblings = siblings(facts);
    let is_hidden = siblings.is_empty() && facts::text(facts, "virt.kind").is_some_and(|kind| kind != "none");
    for load in index.loads() {
        let cores = load.cores();
        let both: Vec<&Core> = cores.iter().filter(|core| core.is_shared()).collect();
        if both.is_empty() {
            // Without a core of the server's, nothing says that it has its own.
            let pairs = pairs(&siblings, &cores);
            if !pairs.is_empty() {
                bad.push(Ruling::about(load.subject(), SameCores::Siblings(pairs), load.rows(&[])));
            } else if cores.iter().any(|core| matches!(core.role.as_str(), "server" | "both")) {
                good.extend(load.rows(&[]));
            }
            continue;
        }
        let name = |core: &Core| format!("cpu{}", core.cpu);
        let full: Vec<&Core> = both.iter().copied().filter(|core| core.taken() >= NEAR).collect();
        if full.is_empty() {
            let most =
                both.iter().max_by(|a, b| a.busy.total_cmp(&b.busy)).map(|core| (name(core), core.busy));
            busiest = busiest.into_iter().chain(most).max_by(|a, b| a.1.total_cmp(&b.1));
            good.extend(load.rows(&[]));
            continue;
        }
        let shared = full.iter().map(|core| (name(core), core.busy)).collect();
        let own: Vec<u32> = load.server_cores().iter().filter_map(|core| core.cpu.parse().ok()).collect();
        let server = (own.len() > full.len()).then(|| format!("CPUs {}", show_cpus(&own)));
        let shared = SameCores::Shared { cores: shared, server };
        bad.push(Ruling::about(load.subject(), shared, load.rows(&[])));
    }
    if bad.is_empty() && good.is_empty() && !index.loads().is_empty() {
        return vec![Ruling::of_run(SameCores::Unknown)];
    }
    settle(bad, good, |_| match busiest {
        Some((cpu, busy)) => SameCores::Idle { cpu, busy },
        None => SameCores::Apart { is_hidden },
    })
}

/// CPUs by core, of cores with several.
fn siblings(facts: &[Fact]) -> Vec<Vec<u32>> {
    let cores = facts::text(facts, "cpu.siblings").unwrap_or_default();
    cores.split(' ').filter_map(parse_cpus).collect()
}

/// CPUs of the server and of the generator that lie on one core.
fn pairs(siblings: &[Vec<u32>], cores: &[Core]) -> Vec<(String, String)> {
    let on = |core: &[u32], role: &str| {
        let mine = cores.iter().filter(|one| one.role == role);
        mine.map(|one| one.cpu.clone()).find(|cpu| cpu.parse().is_ok_and(|cpu| core.contains(&cpu)))
    };
    let pair = |core: &Vec<u32>| {
        let (server, generator) = (on(core, "server")?, on(core, "generator")?);
        Some((format!("cpu{server}"), format!("cpu{generator}")))
    };
    siblings.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;
    use crate::loads::planted::{empty, one};
    use crate::run_index::RunContext;

    #[test]
    fn fires_for_a_shared_core_alone() {
        let of = |figures: &[(&str, f64)]| {
            let run = one("connections=1", figures);
            rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
        };
        let shared = of(&[("throughput", 1.0), ("server-cpu", 1e-5), ("core-busy;cpu=0;role=both", 0.98)]);
        assert_eq!((shared[0].finding.state, shared[0].reach.clone()), (Validity::Doubtful, vec![0, 1]));
        assert!(shared[0].finding.text().contains("share cpu0 (98 % busy)"), "{shared:?}");
        let apart = [
            ("throughput", 1.0),
            ("core-busy;cpu=0;role=server", 0.98),
            ("core-busy;cpu=1;role=generator", 0.98),
        ];
        assert_eq!(of(&apart)[0].finding.state, Validity::Ok);
        // A server that is not ours, by the affinity of its threads.
        let free = of(&[
            ("throughput", 1.0),
            ("core-busy;cpu=0;role=server", 0.9),
            ("core-busy;cpu=1;role=both", 0.95),
            ("core-generator;cpu=1;role=both", 0.5),
        ]);
        let says = "it may run on CPUs 0-1 and shares cpu1 (95 % busy) with the generator";
        assert!(free[0].finding.text().contains(says), "{free:?}");
        let apart = of(&[
            ("throughput", 1.0),
            ("core-busy;cpu=0;role=server", 0.9),
            ("core-busy;cpu=1;role=both", 0.95),
            ("core-generator;cpu=1;role=both", 0.93),
        ]);
        assert_eq!(apart[0].finding.state, Validity::Ok, "nothing is left of it for the server");
        // Wherever the generator works: a core that has time for both is no reason.
        for cpu in ["0", "1"] {
            let role = |own: &str| if own == cpu { "both" } else { "server" };
            let busy = |own: &str| format!("core-busy;cpu={own};role={}", role(own));
            let (zero, one, works) = (busy("0"), busy("1"), format!("core-generator;cpu={cpu};role=both"));
            let figures =
                [("throughput", 1.0), (zero.as_str(), 0.3), (one.as_str(), 0.36), (works.as_str(), 0.1)];
            let idle = of(&figures);
            assert_eq!(idle[0].finding.state, Validity::Ok, "{idle:?}");
            assert!(idle[0].finding.text().contains(&format!("share cpu{cpu}, which has time")), "{idle:?}");
        }
        let unseen = of(&[("throughput", 1.0), ("core-busy;cpu=0;role=other", 0.98)]);
        assert_eq!(unseen[0].finding.state, Validity::Unknown);
        assert!(
            rule(&RunIndex::new(
                &empty(),
                &RunContext { cards: instruments::cards(), ..RunContext::default() }
            ))
            .is_empty()
        );
    }

    #[test]
    fn two_threads_of_one_core_are_one_core() {
        let figures = [
            ("throughput", 1.0),
            ("core-busy;cpu=0;role=server", 0.98),
            ("core-busy;cpu=4;role=generator", 0.98),
        ];
        let of = |facts: &[(&str, &str)]| {
            let mut run = one("connections=1", &figures);
            run.facts = facts.iter().map(|(key, value)| Fact::text(*key, *value, "")).collect();
            rule(&RunIndex::new(&run, &RunContext { cards: instruments::cards(), ..RunContext::default() }))
                .remove(0)
        };
        let siblings = of(&[("cpu.siblings", "0,4 1,5"), ("virt.kind", "kvm")]).finding;
        assert_eq!(siblings.state, Validity::Doubtful);
        assert!(siblings.text().contains("two threads of one core (cpu0 and cpu4)"), "{}", siblings.text());
        let apart = of(&[("cpu.siblings", "0,1 4,5"), ("virt.kind", "kvm")]).finding;
        assert_eq!(apart.text(), "generator and server on cores of their own");
        let hidden = of(&[("virt.kind", "kvm")]).finding;
        assert_eq!(hidden.state, Validity::Ok);
        assert!(hidden.text().ends_with("the virtual machine hides"), "{}", hidden.text());
    }
}
