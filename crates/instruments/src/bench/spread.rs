//! The order in which threads get CPUs: one of each core first, then their siblings, and CPU 0 last in each round.
//!
//! CPU 0 has interrupts and housekeeping on most machines, so that a single thread goes elsewhere where there is
//! another core. Cores are told by the kernel's topology. A virtual machine that hides it shows each CPU as a core of
//! its own; two threads may then be on one.

use crate::system_files::{Root, text};

/// The allowed CPUs in the order of their use.
pub fn cpus(allowed: &[u32]) -> Vec<u32> {
    let root = Root::live();
    in_turn(allowed, |cpu| {
        let list = root.maybe(&format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list"));
        list.and_then(|list| text::cpu_list(&list).into_iter().next()).unwrap_or(cpu)
    })
}

/// `core` gives the first CPU of a CPU's core.
fn in_turn(allowed: &[u32], core: impl Fn(u32) -> u32) -> Vec<u32> {
    let mut order: Vec<(usize, bool, u32)> = Vec::with_capacity(allowed.len());
    let mut sorted = allowed.to_vec();
    sorted.sort_unstable();
    let cores: Vec<u32> = sorted.iter().map(|cpu| core(*cpu)).collect();
    for (at, cpu) in sorted.iter().enumerate() {
        let before = cores[..at].iter().filter(|other| **other == cores[at]).count();
        order.push((before, cores[at] == 0, *cpu));
    }
    order.sort_unstable();
    order.into_iter().map(|(_, _, cpu)| cpu).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_come_before_siblings_and_cpu_0_last() {
        // Linux' usual numbering on bare metal, and that of most virtual machines.
        assert_eq!(in_turn(&[0, 1, 2, 3, 4, 5, 6, 7], |cpu| cpu % 4), [1, 2, 3, 0, 5, 6, 7, 4]);
        assert_eq!(in_turn(&[0, 1, 2, 3], |cpu| cpu / 2 * 2), [2, 0, 3, 1]);
        // Hidden: each a core of its own.
        assert_eq!(in_turn(&[0, 1], |cpu| cpu), [1, 0]);
        // One core: its first thread.
        assert_eq!(in_turn(&[0, 1], |_| 0), [0, 1]);
        assert_eq!(in_turn(&[5, 3], |cpu| cpu), [3, 5]);
        assert_eq!(in_turn(&[], |cpu| cpu), Vec::<u32>::new());
    }

    #[test]
    fn every_allowed_cpu_is_used_once() {
        let mut order = cpus(&[0, 1]);
        order.sort_unstable();
        assert_eq!(order, [0, 1]);
    }
}
