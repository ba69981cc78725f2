//! The CPUs of a server: where its threads may run by their affinity, and what they used of each CPU.
//!
//! Of the threads that did the work (`tree`), from Cpus_allowed_list in /proc/PID/task/TID/status, right after it. The
//! time on one CPU is known of a thread that may run on that one alone; of others the kernel does not tell it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use model::params::parse_cpus;

use super::tree::Thread;

/// CPUs of a server's workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// CPUs that they may run on, of those that are there.
    pub cpus: Vec<u32>,
    /// CPU time on each, where each worker may run on one CPU alone.
    pub used_ns: Option<BTreeMap<u32, u64>>,
    pub workers: usize,
}

impl Place {
    /// The place of workers now; `None` where no affinity is known of one of them. `online` are the machine's CPUs.
    pub fn look(workers: &[Thread], online: &BTreeSet<u32>) -> Option<Place> {
        let read = |thread: &Thread| {
            allowed(&fs::read(format!("/proc/{}/task/{}/status", thread.pid, thread.tid)).ok()?)
        };
        Place::from_workers(workers.iter().map(|thread| (thread.cpu_ns, read(thread))), online)
    }

    /// From the CPU time of each worker and the CPUs that it may run on.
    fn from_workers(
        workers: impl Iterator<Item = (u64, Option<Vec<u32>>)>,
        online: &BTreeSet<u32>,
    ) -> Option<Place> {
        let mut place = Place { used_ns: Some(BTreeMap::new()), ..Place::default() };
        let mut cpus = BTreeSet::new();
        for (cpu_ns, may) in workers {
            // The kernel lists CPUs that a machine could have, too.
            let may: Vec<u32> = may?.into_iter().filter(|cpu| online.contains(cpu)).collect();
            place.workers += 1;
            place.used_ns = match (place.used_ns, may.as_slice()) {
                (Some(mut used), [only]) => {
                    *used.entry(*only).or_default() += cpu_ns;
                    Some(used)
                }
                _ => None,
            };
            cpus.extend(may);
        }
        place.cpus = cpus.into_iter().collect();
        (!place.cpus.is_empty()).then_some(place)
    }
}

/// The CPUs in /proc/PID/task/TID/status that a thread may run on.
fn allowed(status: &[u8]) -> Option<Vec<u32>> {
    let text = String::from_utf8_lossy(status);
    parse_cpus(text.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A worker of nginx on a virtual machine of two CPUs that could have 128, as it is and after `taskset -pc 1`.
    const FREE: &[u8] = b"Name:\tnginx\nState:\tS (sleeping)\nTgid:\t4711\nThreads:\t1\n\
        Cpus_allowed:\tffffffff,ffffffff,ffffffff,ffffffff\nCpus_allowed_list:\t0-127\nMems_allowed_list:\t0\n";
    const BOUND: &[u8] = b"Name:\tnginx\nCpus_allowed:\t2\nCpus_allowed_list:\t1\nMems_allowed_list:\t0\n";

    fn place(workers: &[(u64, &[u8])]) -> Option<Place> {
        let each = workers.iter().map(|(ns, status)| (*ns, allowed(status)));
        Place::from_workers(each, &[0, 1].into())
    }

    #[test]
    fn workers_may_run_where_their_affinity_says() {
        let free = place(&[(400, FREE), (500, FREE)]).unwrap();
        assert_eq!((free.cpus.as_slice(), free.workers, free.used_ns), (&[0, 1][..], 2, None));
        let bound = place(&[(400, BOUND), (500, BOUND)]).unwrap();
        assert_eq!((bound.cpus.as_slice(), bound.workers), (&[1][..], 2));
        assert_eq!(bound.used_ns, Some([(1, 900)].into()));
        // One of them is free: what it used of which CPU is not known.
        let mixed = place(&[(400, BOUND), (500, FREE)]).unwrap();
        assert_eq!((mixed.cpus.as_slice(), mixed.used_ns), (&[0, 1][..], None));
    }

    #[test]
    fn what_is_not_read_is_not_known() {
        assert_eq!(place(&[(400, BOUND), (500, b"Name:\tnginx\n")]), None);
        assert_eq!((place(&[]), allowed(b"Cpus_allowed_list:\tx\n")), (None, None));
    }

    #[test]
    fn this_thread_has_a_place() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let thread =
            Thread { pid, tid: pid, name: String::new(), cpu_ns: 7, waited_ns: None, start_ticks: 0 };
        let online: BTreeSet<u32> = (0..65_536).collect();
        assert!(Place::look(&[thread], &online).is_some_and(|place| !place.cpus.is_empty()));
    }
}
