//! The order in which threads get CPUs: one of each core first, then their siblings, and CPU 0 last in each round.
//!
//! CPU 0 has interrupts and housekeeping on most machines, so that a single thread goes elsewhere where there is
//! another core. Cores are told by the kernel's topology. A virtual machine that hides it shows each CPU as a core of
//! its own; two threads may then be on one.

use std::collections::BTreeSet;

use crate::system_files::{Root, topology};

/// The allowed CPUs in the order of their use.
pub fn cpus(allowed: &[u32]) -> Vec<u32> {
    let busy = topology::siblings(&Root::live(), 0).unwrap_or_else(|| BTreeSet::from([0]));
    spread(topology::here(allowed), &busy)
}

/// `busy` are the CPUs of the core of CPU 0, which may itself not be allowed.
fn spread(mut cores: Vec<Vec<u32>>, busy: &BTreeSet<u32>) -> Vec<u32> {
    cores.sort_by_key(|core| (core.iter().any(|cpu| busy.contains(cpu)), core.first().copied()));
    topology::in_turn(&cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_come_before_siblings_and_cpu_0_last() {
        let of = |cores: &[&[u32]]| {
            let cores: Vec<Vec<u32>> = cores.iter().map(|core| core.to_vec()).collect();
            spread(cores, &BTreeSet::from([0, 4]))
        };
        // Linux' usual numbering on bare metal, and that of most virtual machines.
        assert_eq!(of(&[&[0, 4], &[1, 5], &[2, 6], &[3, 7]]), [1, 2, 3, 0, 5, 6, 7, 4]);
        assert_eq!(of(&[&[0, 1], &[2, 3]]), [2, 0, 3, 1]);
        // CPU 0 is not allowed, but its sibling is.
        assert_eq!(of(&[&[4], &[5], &[6]]), [5, 6, 4]);
        // Nodes whose CPUs take turns.
        assert_eq!(of(&[&[0], &[2], &[1], &[3]]), [1, 2, 3, 0]);
        // Hidden: each a core of its own.
        assert_eq!(of(&[&[0], &[1]]), [1, 0]);
        // One core: its first thread.
        assert_eq!(of(&[&[0, 1]]), [0, 1]);
        assert_eq!(of(&[]), Vec::<u32>::new());
    }

    #[test]
    fn every_allowed_cpu_is_used_once() {
        let mut order = cpus(&[0, 1]);
        order.sort_unstable();
        assert_eq!(order, [0, 1]);
    }
}
