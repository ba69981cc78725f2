//! Which CPUs serve and which generate load.
//!
//! A server of ours gets half of the allowed cores, all threads of each, those of one NUMA node beside each other. The
//! generators get the last cores of the other half, one each while there are any, and never a thread of a core that
//! serves. From three cores on the core of CPU 0 serves nobody and is the generators' last choice: interrupts and the
//! system's own work are there. On a single core the two share it.

use crate::system_files::topology;

/// A split of the allowed CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// Of our server; empty where the server is not ours.
    pub server: Vec<u32>,
    /// In the order of the generators, which share them in turn when there are more.
    pub generators: Vec<u32>,
    /// Each generator has a core that nothing else of ours uses.
    pub own: bool,
}

impl Cores {
    /// Splits the allowed CPUs by this machine's topology.
    pub fn split(allowed: &[u32], generators: usize, is_managed: bool) -> Cores {
        Cores::among(&topology::here(allowed), generators, is_managed)
    }

    /// Splits cores, each with its CPUs.
    pub fn among(cores: &[Vec<u32>], generators: usize, is_managed: bool) -> Cores {
        let count = cores.len();
        let of_interrupts = cores.iter().position(|core| core.contains(&0)).filter(|_| count > 2);
        let half = if is_managed { count / 2 } else { 0 };
        let (mut server, mut choice) = (Vec::new(), Vec::new());
        match cores {
            [only] if is_managed => {
                // Of one core: a thread each, where it has two.
                let (ours, rest) = only.split_at(only.len() / 2);
                server = if ours.is_empty() { only.clone() } else { ours.to_vec() };
                choice = rest.to_vec();
            }
            _ => {
                let (last, others): (Vec<_>, Vec<_>) =
                    cores.iter().enumerate().partition(|(at, _)| Some(*at) == of_interrupts);
                let (ours, rest) = others.split_at(half.min(others.len()));
                server.extend(ours.iter().flat_map(|(_, core)| core.iter()));
                choice.extend(topology::in_turn(rest.iter().rev().chain(&last).map(|(_, core)| *core)));
            }
        }
        let mut last: Vec<u32> = choice.into_iter().take(generators).collect();
        last.sort_unstable();
        server.sort_unstable();
        // Where the server is not ours, a core is left for it, should it be on this machine.
        let own = if is_managed { count > 1 && generators <= count - half } else { generators < count };
        Cores { server, generators: last, own }
    }

    /// With generators in other processes a server of ours may use every CPU; those on which generators work beside it
    /// are shared.
    pub fn remote(allowed: &[u32], generators: Vec<u32>, is_managed: bool) -> Cores {
        let server = if is_managed { allowed.to_vec() } else { Vec::new() };
        Cores { server, generators, own: false }
    }

    /// The use of a CPU.
    pub fn role(&self, cpu: u32) -> &'static str {
        match (self.server.contains(&cpu), self.generators.contains(&cpu)) {
            (true, true) => "both",
            (true, false) => "server",
            (false, true) => "generator",
            (false, false) => "other",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(cores: &[&[u32]], generators: usize, is_managed: bool) -> (Vec<u32>, Vec<u32>, bool) {
        let cores: Vec<Vec<u32>> = cores.iter().map(|core| core.to_vec()).collect();
        let cores = Cores::among(&cores, generators, is_managed);
        (cores.server, cores.generators, cores.own)
    }

    #[test]
    fn servers_get_half_and_generators_the_last_cores() {
        assert_eq!(split(&[&[0]], 1, true), (vec![0], vec![0], false));
        assert_eq!(split(&[&[0], &[1]], 1, true), (vec![0], vec![1], true));
        assert_eq!(split(&[&[0], &[1]], 2, true), (vec![0], vec![1], false));
        assert_eq!(split(&[&[2], &[3], &[5]], 1, true), (vec![2], vec![5], true));
        assert_eq!(split(&[&[0], &[1], &[2], &[3]], 2, false), (vec![], vec![2, 3], true));
        assert_eq!(split(&[&[5], &[7]], 2, false), (vec![], vec![5, 7], false));
        assert_eq!(split(&[], 1, true), (vec![], vec![], false));
    }

    #[test]
    fn interrupts_keep_their_core_while_there_are_others() {
        let four: [&[u32]; 4] = [&[0], &[1], &[2], &[3]];
        assert_eq!(split(&four, 1, true), (vec![1, 2], vec![3], true));
        // The server's cores are the same whatever generates.
        assert_eq!(split(&four, 2, true), (vec![1, 2], vec![0, 3], true));
        assert_eq!(split(&[&[0], &[1], &[2]], 1, true), (vec![1], vec![2], true));
        assert_eq!(split(&[&[0], &[1], &[2]], 3, false), (vec![], vec![0, 1, 2], false));
    }

    #[test]
    fn the_core_of_interrupts_may_be_on_any_node() {
        let four: [&[u32]; 4] = [&[1], &[3], &[0], &[2]];
        assert_eq!(split(&four, 1, true), (vec![1, 3], vec![2], true));
        assert_eq!(split(&four, 2, true), (vec![1, 3], vec![0, 2], true));
    }

    #[test]
    fn threads_of_a_core_are_never_apart() {
        let two: [&[u32]; 2] = [&[0, 2], &[1, 3]];
        assert_eq!(split(&two, 1, true), (vec![0, 2], vec![1], true));
        assert_eq!(split(&two, 2, true), (vec![0, 2], vec![1, 3], false));
        let four: [&[u32]; 4] = [&[0, 4], &[1, 5], &[2, 6], &[3, 7]];
        assert_eq!(split(&four, 2, true), (vec![1, 2, 5, 6], vec![0, 3], true));
        assert_eq!(split(&four, 3, false), (vec![], vec![1, 2, 3], true));
        // One core has nothing else to give.
        assert_eq!(split(&[&[0, 1]], 1, true), (vec![0], vec![1], false));
    }

    #[test]
    fn every_cpu_has_a_role() {
        let cores = Cores::among(&[vec![0], vec![1], vec![2], vec![3]], 1, true);
        assert_eq!([0, 1, 2, 3].map(|cpu| cores.role(cpu)), ["other", "server", "server", "generator"]);
        assert_eq!(Cores::among(&[vec![4]], 1, true).role(4), "both");
        let remote = Cores::remote(&[0, 1], vec![1], true);
        assert_eq!([0, 1, 2].map(|cpu| remote.role(cpu)), ["server", "both", "other"]);
        assert_eq!(Cores::remote(&[0, 1], vec![], false).role(0), "other");
    }
}
