//! Places remote generators on CPUs: one generator per core, as far as their hosts have enough, then one per CPU.
//!
//! Hosts are told apart by their boot id. Other work on those hosts is not known.

use model::generate::Generator;

/// The place of one generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    /// Number of the host, counted in order of appearance.
    pub host: u32,
    pub cpu: Option<u32>,
    /// True if no other part of this load needs the CPU.
    pub own: bool,
}

/// Gives each generator the last allowed CPU on whose core the fewest others of its host are, and of those the one that
/// the fewest have; the core of CPU 0, where interrupts are, only where nothing else is as free. A generator of an
/// unknown host is taken to be alone on its host.
pub(super) fn placements(generators: &[Generator], here: Option<&str>) -> Vec<Placement> {
    let hosts = hosts(generators);
    let mut cpus: Vec<Option<u32>> = vec![None; generators.len()];
    // Who has the least choice chooses first.
    let mut order: Vec<usize> = (0..generators.len()).collect();
    order.sort_by_key(|&at| generators[at].cpus.len());
    for at in order {
        let core = |cpu: u32| core(&generators[at], cpu);
        let sitting = |on: &dyn Fn(u32) -> bool| {
            let there = cpus.iter().zip(&hosts);
            there.filter(|(taken, host)| taken.is_some_and(on) && **host == hosts[at]).count()
        };
        let free = |cpu: u32| {
            let mine = core(cpu);
            (sitting(&|other| core(other) == mine), sitting(&|other| other == cpu), mine == core(0))
        };
        let mut all = generators[at].cpus.clone();
        all.sort_unstable_by(|a, b| b.cmp(a));
        cpus[at] = all.into_iter().min_by_key(|&cpu| free(cpu));
    }
    let own = |at: usize| {
        let known = generators[at].host.as_deref();
        // The server may use all of its machine's; without a name any host may be that one.
        if known.is_none() || here.is_none() || known == here {
            return false;
        }
        let on_host = || (0..generators.len()).filter(|&other| hosts[other] == hosts[at]);
        let mine = cpus[at].map(|cpu| core(&generators[at], cpu));
        let alone =
            on_host().filter(|&other| cpus[other].map(|cpu| core(&generators[at], cpu)) == mine).count() == 1;
        let taken = |cpu: &u32| on_host().any(|other| cpus[other] == Some(*cpu));
        // The host needs one for the rest.
        alone && on_host().any(|other| generators[other].cpus.iter().any(|cpu| !taken(cpu)))
    };
    let place = |at: usize| Placement { host: hosts[at], cpu: cpus[at], own: own(at) };
    (0..generators.len()).map(place).collect()
}

/// The first CPU of the core of a CPU.
fn core(generator: &Generator, cpu: u32) -> u32 {
    let core = generator.cores.iter().find(|core| core.contains(&cpu));
    core.and_then(|core| core.first().copied()).unwrap_or(cpu)
}

/// The host number of each generator.
fn hosts(generators: &[Generator]) -> Vec<u32> {
    let mut names: Vec<Option<&str>> = Vec::new();
    let mut numbers = Vec::with_capacity(generators.len());
    for one in generators {
        let name = one.host.as_deref();
        let known = names.iter().position(|other| name.is_some() && *other == name);
        let host = known.unwrap_or(names.len());
        if known.is_none() {
            names.push(name);
        }
        numbers.push(u32::try_from(host).unwrap_or(u32::MAX));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(host: Option<&str>, cpus: &[u32]) -> Generator {
        let cores = Vec::new();
        Generator { name: String::new(), host: host.map(str::to_owned), cpus: cpus.to_vec(), cores }
    }

    /// Host, CPU (99: none) and whether it is its own.
    fn of(all: &[Generator], here: Option<&str>) -> Vec<(u32, u32, bool)> {
        placements(all, here).iter().map(|place| (place.host, place.cpu.unwrap_or(99), place.own)).collect()
    }

    #[test]
    fn generators_get_the_last_cpus_of_their_hosts() {
        let all = [
            one(Some("a"), &[0, 1]),
            one(Some("b"), &[0, 1, 2, 3]),
            one(Some("b"), &[0, 1, 2, 3]),
            one(Some("a"), &[0, 1]),
            one(Some("a"), &[0, 1]),
            one(None, &[7]),
            one(None, &[]),
        ];
        // Beside the server, or where the host is not known, nobody may spin.
        let wanted = [
            (0, 1, false),
            (1, 3, true),
            (1, 2, true),
            (0, 0, false),
            (0, 1, false),
            (2, 7, false),
            (3, 99, false),
        ];
        assert_eq!(of(&all, Some("a")), wanted);
        assert!(of(&all, None).iter().all(|(.., own)| !own), "the server may be anywhere");
    }

    #[test]
    fn who_shares_a_core_or_leaves_none_does_not_own_it() {
        let host = |cpus: &[u32]| one(Some("b"), cpus);
        let two = [0, 1];
        // The third sits down with the first, whose core was its own until then.
        let three = [host(&[0, 1, 2]), host(&two), host(&two), host(&two)];
        assert_eq!(of(&three, Some("a")), [(0, 2, false), (0, 1, false), (0, 0, false), (0, 1, false)]);
        assert_eq!(of(&[host(&two), host(&two)], Some("a")), [(0, 1, false), (0, 0, false)]);
        assert_eq!(of(&[host(&two)], Some("a")), [(0, 1, true)]);
        // Containers with sets of their own, which overlap: nobody sits on another's lap while a core is free.
        let sets = [host(&[0, 1]), host(&[1]), host(&[1, 2, 3])];
        assert_eq!(of(&sets, Some("a")), [(0, 0, true), (0, 1, true), (0, 3, true)]);
    }

    #[test]
    fn threads_of_a_core_are_the_last_resort() {
        let host = || Generator { cores: vec![vec![0, 2], vec![1, 3]], ..one(Some("b"), &[0, 1, 2, 3]) };
        assert_eq!(of(&[host()], Some("a")), [(0, 3, true)]);
        assert_eq!(of(&[host(), host()], Some("a")), [(0, 3, true), (0, 2, true)]);
        let three = [host(), host(), host()];
        assert_eq!(of(&three, Some("a")), [(0, 3, false), (0, 2, true), (0, 1, false)]);
    }
}
