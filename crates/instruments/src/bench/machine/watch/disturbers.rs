//! Who else is busy: the processes of others that used most CPU time, from /proc/PID/stat at both ends of a window.
//!
//! In CPUs (1 = one CPU all the time), in steps of the kernel's ticks of 10 ms. What a process waited for of children
//! that ended counts for it. Not seen: what /proc hides (hidepid, another PID namespace), and what began and ended
//! within the window with nobody left that waited for it. Not looked at: a machine of more than [`MOST`] processes.
//!
//! Ours are this process, the program that controls the study, all that they started, and the servers under load. So
//! are the kernel's threads for packets, most of which are a load's.
//!
//! One look reads a file for each process, some 10 us each. Looks are half a second apart, and fifty times as long as
//! one takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use model::note::Disturber;

use super::relatives::Relatives;
use crate::telemetry::parse::float;
use crate::workload::server::tree::{self, Stat};
use crate::workload::web::served;

/// Most processes that are looked at.
const MOST: usize = 4000;
/// How many processes are kept of one window.
const KEPT: usize = 5;
/// CPUs that make a process worth keeping.
const LEAST: f64 = 0.01;
/// The least that a window lasts, and the pause between two looks.
const PAUSE_NS: u64 = 500_000_000;
/// A look costs at most this part of the time.
const DEAREST: u64 = 50;
/// A window that begins this long before its take says nothing about it.
const OLDEST_NS: u64 = 3_000_000_000;

/// All processes at one moment.
#[derive(Clone, Debug, Default)]
pub struct Look {
    at_ns: u64,
    cost_ns: u64,
    processes: Vec<Stat>,
}

impl Look {
    /// Reads the processes. `None` where /proc cannot be read, or has too many of them.
    pub fn now() -> Option<Look> {
        let start_ns = sys::clock::now_ns();
        let processes = tree::at_most(MOST).ok()?;
        let at_ns = sys::clock::now_ns();
        Some(Look { at_ns, cost_ns: at_ns.saturating_sub(start_ns), processes })
    }

    /// The busiest processes of others since `before`.
    pub fn since(&self, before: &Look) -> Vec<Disturber> {
        let per_second = sys::system::clock_ticks_per_s().unwrap_or(100);
        let ns = self.at_ns.saturating_sub(before.at_ns);
        busiest(&before.processes, &self.processes, &ours(self), float(ns) / 1e9 * float(per_second.max(1)))
    }
}

/// The processes that are ours.
fn ours(look: &Look) -> BTreeSet<i32> {
    let own = i32::try_from(std::process::id()).ok();
    let study = Relatives::find().map(|study| study.root());
    let roots: BTreeSet<i32> = own.into_iter().chain(study).collect();
    let family = tree::descend(&look.processes, &roots).into_iter().chain(served::processes());
    family.map(|stat| stat.pid).chain(roots).collect()
}

/// The busiest of the processes that are not ours, in a window of so many ticks.
fn busiest(before: &[Stat], now: &[Stat], ours: &BTreeSet<i32>, ticks: f64) -> Vec<Disturber> {
    let known: BTreeMap<(i32, u64), &Stat> =
        before.iter().map(|stat| ((stat.pid, stat.start_ticks), stat)).collect();
    let alive: BTreeSet<(i32, u64)> = now.iter().map(|stat| (stat.pid, stat.start_ticks)).collect();
    // What a child that ended had used before is in what its parent has waited for since, or where that has ended as
    // well in what the nearest living ancestor has.
    let parents: BTreeMap<i32, &Stat> = before.iter().map(|stat| (stat.pid, stat)).collect();
    let is_alive = |stat: &Stat| alive.contains(&(stat.pid, stat.start_ticks));
    let mut old: BTreeMap<i32, u64> = BTreeMap::new();
    for ended in before.iter().filter(|stat| !is_alive(stat)) {
        let mut heir = ended.parent;
        // A line of ancestors is no longer than there are processes.
        for _ in 0..before.len() {
            match parents.get(&heir).filter(|parent| !is_alive(parent)) {
                Some(parent) => heir = parent.parent,
                None => break,
            }
        }
        *old.entry(heir).or_default() += ended.cpu_ticks();
    }
    let of = |stat: &Stat| {
        let then = known.get(&(stat.pid, stat.start_ticks)).map_or(0, |then| then.cpu_ticks());
        let used = stat.cpu_ticks().saturating_sub(then);
        let used = used.saturating_sub(old.get(&stat.pid).copied().unwrap_or(0));
        let cpus = float(used) / ticks;
        Disturber { pid: stat.pid, name: stat.name.clone(), cpus, kernel: stat.is_kernel }
    };
    let others = now.iter().filter(|stat| !ours.contains(&stat.pid) && !stat.name.starts_with("ksoftirqd/"));
    let mut busy: Vec<Disturber> = others.map(of).filter(|one| one.cpus >= LEAST).collect();
    busy.sort_by(|a, b| b.cpus.total_cmp(&a.cpus));
    busy.truncate(KEPT);
    busy
}

/// The last look; every probe of this process shares it, since takes of different CPUs alternate.
static LAST: Mutex<Option<Look>> = Mutex::new(None);

/// Looks before a take, unless the last look is recent.
pub fn before_take() {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let now_ns = sys::clock::now_ns();
    let is_recent =
        |look: &Look| now_ns.saturating_sub(look.at_ns) < PAUSE_NS.max(look.cost_ns.saturating_mul(DEAREST));
    if !last.as_ref().is_some_and(is_recent) {
        *last = Look::now();
    }
}

/// Looks after a take that began at `start_ns`: who was busy. `None` where the last look is too recent to tell, or too
/// far from the take.
pub fn after_take(start_ns: u64) -> Option<Vec<Disturber>> {
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    let before = last.as_ref()?;
    let is_near =
        start_ns.saturating_sub(before.at_ns) <= OLDEST_NS.max(before.cost_ns.saturating_mul(DEAREST));
    if sys::clock::now_ns().saturating_sub(before.at_ns) < PAUSE_NS || !is_near {
        return None;
    }
    let now = Look::now()?;
    let busy = now.since(before);
    *last = Some(now);
    Some(busy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stats(lines: &[&str]) -> Vec<Stat> {
        lines.iter().map(|line| Stat::parse(line.as_bytes()).unwrap()).collect()
    }

    const BEFORE: [&str; 6] = [
        "1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 30 20 900 100 20 0 1 0 5 1 1 1",
        "9 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 700 0 0 20 0 1 0 6 0 0 1",
        "123 (ramcloud: server) R 1 123 123 0 -1 4194304 1 0 0 0 1000 200 0 0 20 0 9 0 700 1 1 1",
        "130 (coordinator) S 1 130 130 0 -1 4194304 1 0 0 0 500 10 0 0 20 0 9 0 710 1 1 1",
        "140 (make) S 1 140 140 0 -1 4194304 1 0 0 0 2 1 40 10 20 0 1 0 800 1 1 1",
        "141 (cc1) R 140 140 140 0 -1 4194304 1 0 0 0 90 5 0 0 20 0 1 0 810 1 1 1",
    ];
    /// Two seconds, 200 ticks, later: cc1 has ended, and a process of ours has come.
    const AFTER: [&str; 6] = [
        "1 (init) S 0 1 1 0 -1 4194560 1 2 3 4 31 20 900 100 20 0 1 0 5 1 1 1",
        "9 (ksoftirqd/0) S 2 0 0 0 -1 69238848 0 0 0 0 0 800 0 0 20 0 1 0 6 0 0 1",
        "123 (ramcloud: server) R 1 123 123 0 -1 4194304 1 0 0 0 1070 218 0 0 20 0 9 0 700 1 1 1",
        "130 (coordinator) S 1 130 130 0 -1 4194304 1 0 0 0 560 12 0 0 20 0 9 0 710 1 1 1",
        "140 (make) S 1 140 140 0 -1 4194304 1 0 0 0 2 1 145 25 20 0 1 0 800 1 1 1",
        "150 (boxscore) R 1 150 150 0 -1 4194304 1 0 0 0 150 12 0 0 20 0 9 0 900 1 1 1",
    ];

    #[test]
    fn the_busiest_processes_of_others_are_named() {
        let busy = busiest(&stats(&BEFORE), &stats(&AFTER), &[150].into(), 200.0);
        let named: Vec<(i32, &str, f64)> =
            busy.iter().map(|one| (one.pid, one.name.as_str(), (one.cpus * 1000.0).round())).collect();
        // Of what make waited for, cc1 had used 95 ticks before.
        assert_eq!(
            named,
            [(123, "ramcloud: server", 440.0), (130, "coordinator", 310.0), (140, "make", 125.0)]
        );
        assert!(busy.iter().all(Disturber::can_be_ended));
        let kernel = stats(&["12 (kswapd0) S 2 0 0 0 -1 10758208 0 0 0 0 0 150 0 0 20 0 1 0 950 0 0 1"]);
        assert!(!busiest(&stats(&BEFORE), &kernel, &[].into(), 200.0)[0].can_be_ended());
        // A process id that was given again is another process, which used all of its time since.
        let again = stats(&["123 (new) R 1 123 123 0 -1 4194304 1 0 0 0 30 10 0 0 20 0 9 0 950 1 1 1"]);
        assert!((busiest(&stats(&BEFORE), &again, &[].into(), 200.0)[0].cpus - 0.2).abs() < 1e-9);
        assert_eq!(busiest(&[], &[], &[].into(), 200.0), []);
    }

    #[test]
    fn a_tree_that_ends_has_not_used_its_whole_life_in_the_window() {
        // A shell that waits for make, which waits for cc1: both end, after 809 ticks of which 9 are of the window.
        let before = stats(&[
            "13 (bash) S 1 13 13 0 -1 4194304 1 0 0 0 1 1 0 0 20 0 1 0 700 1 1 1",
            "140 (make) S 13 140 140 0 -1 4194304 1 0 0 0 2 1 40 10 20 0 1 0 800 1 1 1",
            "141 (cc1) R 140 140 140 0 -1 4194304 1 0 0 0 740 7 0 0 20 0 1 0 810 1 1 1",
        ]);
        let after = stats(&["13 (bash) S 1 13 13 0 -1 4194304 1 0 0 0 1 1 790 19 20 0 1 0 700 1 1 1"]);
        let busy = busiest(&before, &after, &[].into(), 100.0);
        assert_eq!((busy.len(), busy[0].pid, (busy[0].cpus * 100.0).round()), (1, 13, 9.0));
    }

    #[test]
    fn a_busy_process_of_another_parent_is_seen_and_ours_is_not() {
        let first = Look::now().unwrap();
        let spin_ns = sys::clock::thread_cpu_ns();
        while sys::clock::thread_cpu_ns() - spin_ns < 100_000_000 {
            std::hint::spin_loop();
        }
        let own = i32::try_from(std::process::id()).unwrap();
        let seen = Look::now().unwrap().since(&first);
        assert!(seen.iter().all(|one| one.pid != own), "{seen:?}");
        let all = busiest(&first.processes, &Look::now().unwrap().processes, &[].into(), 10.0);
        assert!(all.iter().any(|one| one.pid == own) || all.len() == KEPT, "{all:?}");
    }

    #[test]
    fn a_look_is_not_repeated_at_once() {
        before_take();
        assert_eq!(after_take(sys::clock::now_ns()), None);
    }
}
