//! Which CPUs serve and which generate load.
//!
//! A server of ours gets the first half of the allowed CPUs, the generators the last ones of the other half, one each
//! while there are any. On a single CPU both share it.

/// A split of the allowed CPUs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cores {
    /// Of our server; empty where the server is not ours.
    pub server: Vec<u32>,
    /// In the order of the generators, which share them in turn when there are more.
    pub generators: Vec<u32>,
    /// Each generator has a CPU that nothing else of ours uses.
    pub own: bool,
}

impl Cores {
    pub fn split(allowed: &[u32], generators: usize, is_managed: bool) -> Cores {
        let (server, rest) = match (is_managed, allowed.len()) {
            (true, 0 | 1) => (allowed, allowed),
            (true, count) => allowed.split_at(count / 2),
            (false, _) => (&[][..], allowed),
        };
        let spare = rest.len().saturating_sub(generators);
        let last = rest.get(spare..).unwrap_or_default();
        // Where the server is not ours, a CPU is left for it, should it be on this machine.
        let own = if is_managed { allowed.len() > 1 && generators <= rest.len() } else { spare > 0 };
        Cores { server: server.to_vec(), generators: last.to_vec(), own }
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

    fn split(allowed: &[u32], generators: usize, is_managed: bool) -> (Vec<u32>, Vec<u32>, bool) {
        let cores = Cores::split(allowed, generators, is_managed);
        (cores.server, cores.generators, cores.own)
    }

    #[test]
    fn servers_get_the_first_half_and_generators_the_last_cpus() {
        assert_eq!(split(&[0], 1, true), (vec![0], vec![0], false));
        assert_eq!(split(&[0, 1], 1, true), (vec![0], vec![1], true));
        assert_eq!(split(&[0, 1], 2, true), (vec![0], vec![1], false));
        assert_eq!(split(&[2, 3, 5], 1, true), (vec![2], vec![5], true));
        assert_eq!(split(&[0, 1, 2, 3], 2, true), (vec![0, 1], vec![2, 3], true));
        assert_eq!(split(&[0, 1, 2, 3], 2, false), (vec![], vec![2, 3], true));
        assert_eq!(split(&[5, 7], 2, false), (vec![], vec![5, 7], false));
        assert_eq!(split(&[], 1, true), (vec![], vec![], false));
    }

    #[test]
    fn every_cpu_has_a_role() {
        let cores = Cores::split(&[0, 1, 2, 3], 1, true);
        assert_eq!([0, 1, 2, 3].map(|cpu| cores.role(cpu)), ["server", "server", "other", "generator"]);
        assert_eq!(Cores::split(&[4], 1, true).role(4), "both");
        let remote = Cores::remote(&[0, 1], vec![1], true);
        assert_eq!([0, 1, 2].map(|cpu| remote.role(cpu)), ["server", "both", "other"]);
        assert_eq!(Cores::remote(&[0, 1], vec![], false).role(0), "other");
    }
}
