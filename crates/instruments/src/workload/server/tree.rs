//! The processes of a server and the CPU time that they used, from /proc.
//!
//! Units: nanoseconds; in steps of 10 ms for each process unless its threads tell more. A process that has ended
//! counts through the parent that waited for it, as long as that parent is one of the server's. Work that the kernel
//! does for the server in interrupts is charged to the interrupted process, and so is not counted reliably.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use model::workers::ServerWorkers;

use crate::telemetry::parse::{number, words};

/// Most processes and threads that are looked at.
const MOST: usize = 200_000;
/// The share of a server's work that makes a thread one of its workers.
const WORKER: f64 = 0.01;

/// Of a process's flags: a thread of the kernel's own (include/linux/sched.h).
const PF_KTHREAD: u64 = 0x0020_0000;

/// One line of /proc/PID/stat or /proc/PID/task/TID/stat; times are clock ticks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    pub pid: i32,
    pub name: String,
    /// `R`, `S`, `Z` …
    pub state: u8,
    pub parent: i32,
    pub group: i32,
    /// A thread of the kernel's own.
    pub is_kernel: bool,
    pub user_ticks: u64,
    pub system_ticks: u64,
    /// Of children that ended and were waited for.
    pub waited_user_ticks: u64,
    pub waited_system_ticks: u64,
    /// Since boot; with the id it distinguishes a process from a later one with the same id.
    pub start_ticks: u64,
    /// Where its environment ends in its memory; 0 where it has none yet.
    pub environment_end: Option<u64>,
}

impl Stat {
    /// Parses the line; `None` when it is malformed.
    pub fn parse(line: &[u8]) -> Option<Stat> {
        let open = line.iter().position(|byte| *byte == b'(')?;
        // The name may hold anything, brackets too; what follows does not.
        let close = line.iter().rposition(|byte| *byte == b')').filter(|close| *close > open)?;
        let id = |word: &[u8]| i32::try_from(number(word)?).ok();
        let fields: Vec<&[u8]> = words(line.get(close + 1..)?).collect();
        let ticks = |at: usize| number(fields.get(at)?);
        Some(Stat {
            pid: id(words(line.get(..open)?).next()?)?,
            name: String::from_utf8_lossy(line.get(open + 1..close)?).into_owned(),
            state: *fields.first()?.first()?,
            parent: id(fields.get(1)?)?,
            group: id(fields.get(2)?)?,
            is_kernel: ticks(6)? & PF_KTHREAD != 0,
            user_ticks: ticks(11)?,
            system_ticks: ticks(12)?,
            waited_user_ticks: ticks(13)?,
            waited_system_ticks: ticks(14)?,
            start_ticks: ticks(19)?,
            environment_end: ticks(48),
        })
    }

    /// CPU time of the process, and of its children that ended.
    pub fn cpu_ticks(&self) -> u64 {
        [self.user_ticks, self.system_ticks, self.waited_user_ticks, self.waited_system_ticks]
            .into_iter()
            .fold(0, u64::saturating_add)
    }

    /// True if it can still run.
    pub fn is_alive(&self) -> bool {
        !matches!(self.state, b'Z' | b'X' | b'x')
    }
}

/// Every visible process. Fails when /proc cannot be read.
pub fn processes() -> Result<Vec<Stat>, String> {
    Ok(read(pids(MOST)?))
}

/// Every visible process, where there are at most so many. Fails when there are more, or when /proc cannot be read.
pub fn at_most(most: usize) -> Result<Vec<Stat>, String> {
    let pids = pids(most.saturating_add(1))?;
    if pids.len() > most {
        return Err(format!("there are more than {most} processes"));
    }
    Ok(read(pids))
}

fn pids(most: usize) -> Result<Vec<i32>, String> {
    let entries = fs::read_dir("/proc").map_err(|error| format!("cannot list /proc: {error}"))?;
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    Ok(numbers.take(most).collect())
}

/// One that ends while we read is not there.
fn read(pids: Vec<i32>) -> Vec<Stat> {
    pids.into_iter().filter_map(one).collect()
}

/// The process with this id; `None` where there is none that can be seen.
pub fn one(pid: i32) -> Option<Stat> {
    Stat::parse(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The living processes of a process group. Fails when /proc cannot be read.
pub fn members(group: i32) -> Result<Vec<Stat>, String> {
    of_groups(&BTreeSet::from([group]))
}

/// The living processes of several groups. Fails when /proc cannot be read.
pub fn of_groups(groups: &BTreeSet<i32>) -> Result<Vec<Stat>, String> {
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    Ok(processes()?.into_iter().filter(|stat| groups.contains(&stat.group) && stat.is_alive()).collect())
}

/// These processes and all their living descendants. Fails when /proc cannot be read.
pub fn family(roots: &BTreeSet<i32>) -> Result<Vec<Stat>, String> {
    let all = processes()?;
    Ok(descend(&all, roots))
}

/// The living among these processes that descend from the roots, and the roots.
pub fn descend(all: &[Stat], roots: &BTreeSet<i32>) -> Vec<Stat> {
    let mut known = roots.clone();
    // Each round finds one more generation at least, or is the last.
    for _ in 0..all.len() {
        let before = known.len();
        known.extend(
            all.iter().filter(|stat| known.contains(&stat.parent)).map(|stat| stat.pid).collect::<Vec<_>>(),
        );
        if known.len() == before {
            break;
        }
    }
    all.iter().filter(|stat| known.contains(&stat.pid) && stat.is_alive()).cloned().collect()
}

/// One thread and the CPU time it has used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    pub pid: i32,
    pub tid: i32,
    pub name: String,
    pub cpu_ns: u64,
    /// How long it was ready and waited for a CPU, where the kernel keeps that.
    pub waited_ns: Option<u64>,
    pub start_ticks: u64,
}

/// CPU time that these processes have used. Fails when the kernel does not tell its clock tick.
pub fn cpu_ns(processes: &[Stat]) -> Result<u64, String> {
    let per_second = sys::system::clock_ticks_per_s().map_err(|error| error.to_string())?;
    let ticks = processes.iter().map(Stat::cpu_ticks).fold(0, u64::saturating_add);
    Ok(ticks.saturating_mul(1_000_000_000 / per_second.max(1)))
}

/// CPU time of a server's processes so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub processes: Vec<Stat>,
    pub threads: Vec<Thread>,
    pub user_ns: u64,
    pub system_ns: u64,
    /// Bytes that the processes had read from disks and gave to be written, children that ended included; `None` where
    /// the kernel does not tell it of one of them.
    pub disk: Option<Transferred>,
}

/// Bytes to and from disks, as in /proc/PID/io: what the page cache answered is in neither.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Transferred {
    pub read: u64,
    pub written: u64,
}

impl Transferred {
    /// Parses /proc/PID/io.
    fn parse(text: &[u8]) -> Option<Transferred> {
        let field =
            |name: &[u8]| text.split(|byte| *byte == b'\n').find_map(|line| number(line.strip_prefix(name)?));
        Some(Transferred { read: field(b"read_bytes: ")?, written: field(b"write_bytes: ")? })
    }

    /// Of a process, with its children that ended and were waited for; `None` where the kernel does not tell.
    pub fn by_process(pid: i32) -> Option<Transferred> {
        Transferred::parse(&fs::read(format!("/proc/{pid}/io")).ok()?)
    }

    fn of_all(processes: &[Stat]) -> Option<Transferred> {
        processes.iter().map(|stat| Transferred::by_process(stat.pid)).try_fold(
            Transferred::default(),
            |sum, one| {
                let one = one?;
                Some(Transferred {
                    read: sum.read.saturating_add(one.read),
                    written: sum.written.saturating_add(one.written),
                })
            },
        )
    }
}

/// CPU time used between two readings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    pub user_ns: u64,
    pub system_ns: u64,
    /// User and system time together, from the threads' exact times where the kernel keeps those; `None` if a thread
    /// of the first reading has ended. Threads that came and went in between count in steps.
    pub exact_ns: Option<u64>,
    /// The thread that used most; `None` when no thread lived at both readings.
    pub busiest: Option<Thread>,
    /// How long the threads that lived at both readings were ready and waited for a CPU, summed; `None` where the
    /// kernel does not keep it.
    pub waited_ns: Option<u64>,
    /// The living threads that did at least [`WORKER`] of the work.
    pub workers: Vec<Thread>,
    /// Where it is known of all of them.
    pub disk: Option<Transferred>,
    /// Processes that came and went.
    pub started: usize,
    pub ended: usize,
}

impl Usage {
    /// Adds up the use of `processes` and their threads. Fails when none of them is left.
    pub fn from_processes(processes: Vec<Stat>) -> Result<Usage, String> {
        if processes.is_empty() {
            return Err("the server has no process any more".to_owned());
        }
        let per_second = sys::system::clock_ticks_per_s().map_err(|error| error.to_string())?;
        let ns = |ticks: u64| ticks.saturating_mul(1_000_000_000 / per_second.max(1));
        let sum = |of: fn(&Stat) -> u64| ns(processes.iter().map(of).fold(0, u64::saturating_add));
        Ok(Usage {
            user_ns: sum(|stat| stat.user_ticks.saturating_add(stat.waited_user_ticks)),
            system_ns: sum(|stat| stat.system_ticks.saturating_add(stat.waited_system_ticks)),
            threads: processes.iter().flat_map(|stat| threads(stat.pid, ns)).take(MOST).collect(),
            disk: Transferred::of_all(&processes),
            processes,
        })
    }

    /// The use since `earlier`. Fails when that cannot be determined.
    pub fn since(&self, earlier: &Usage) -> Result<Spent, String> {
        let lost = || "a process of the server ended, and its CPU time is not known".to_owned();
        let ids = |usage: &Usage| -> BTreeSet<(i32, u64)> {
            usage.processes.iter().map(|stat| (stat.pid, stat.start_ticks)).collect()
        };
        let (before, now) = (ids(earlier), ids(self));
        let ended: BTreeSet<i32> = before.difference(&now).map(|(pid, _)| *pid).collect();
        // Only a parent among the server's own keeps the record of a process that ended.
        let is_kept =
            |stat: &&Stat| !ended.contains(&stat.pid) || now.iter().any(|(pid, _)| *pid == stat.parent);
        if !earlier.processes.iter().all(|stat| is_kept(&stat)) {
            return Err(lost());
        }
        let spent = |thread: &Thread| {
            let same = |old: &&Thread| old.tid == thread.tid && old.start_ticks == thread.start_ticks;
            let old = earlier.threads.iter().find(same)?;
            let waited = thread.waited_ns.zip(old.waited_ns);
            Some(Thread {
                cpu_ns: thread.cpu_ns.saturating_sub(old.cpu_ns),
                waited_ns: waited.map(|(now, before)| now.saturating_sub(before)),
                ..thread.clone()
            })
        };
        let per_second = sys::system::clock_ticks_per_s().map_err(|error| error.to_string())?;
        let each: Vec<Thread> = self.threads.iter().filter_map(spent).collect();
        Ok(Spent {
            exact_ns: self.exact_since(earlier, 1_000_000_000 / per_second.max(1)),
            user_ns: self.user_ns.checked_sub(earlier.user_ns).ok_or_else(lost)?,
            system_ns: self.system_ns.checked_sub(earlier.system_ns).ok_or_else(lost)?,
            busiest: each.iter().max_by_key(|thread| thread.cpu_ns).cloned(),
            waited_ns: waited(&each),
            workers: self.workers(earlier, &each),
            disk: self.disk.zip(earlier.disk).and_then(|(now, before)| {
                let (read, written) =
                    (now.read.checked_sub(before.read)?, now.written.checked_sub(before.written)?);
                Some(Transferred { read, written })
            }),
            started: now.difference(&before).count(),
            ended: ended.len(),
        })
    }
}

impl Usage {
    /// The processes that did the work of `spent`; `None` where none did.
    pub fn at_work(&self, spent: &Spent) -> Option<ServerWorkers> {
        let mut by_pid: BTreeMap<i32, u64> = BTreeMap::new();
        for thread in &spent.workers {
            let used = by_pid.entry(thread.pid).or_default();
            *used = used.saturating_add(thread.cpu_ns);
        }
        let mut busy: Vec<(i32, u64)> = by_pid.into_iter().collect();
        busy.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        let first = self.processes.iter().find(|one| Some(one.pid) == busy.first().map(|(pid, _)| *pid))?;
        // Of one name and parent are other helpers too, such as a cache manager, which say so in their command line.
        let line = |pid: i32| fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let own = line(first.pid);
        let is_alike = |one: &&Stat| {
            one.pid == first.pid
                || (one.name == first.name && one.parent == first.parent && line(one.pid) == own)
        };
        let is_steady = spent.started == 0 && spent.ended == 0;
        Some(ServerWorkers {
            name: first.name.clone(),
            pid: first.pid,
            threads: self.threads.iter().filter(|one| one.pid == first.pid).count(),
            alike: self.processes.iter().filter(is_alike).count(),
            busy: busy.iter().map(|(pid, _)| *pid).collect(),
            all: is_steady.then_some((self.processes.len(), self.threads.len())),
        })
    }

    /// The threads that did the work since `earlier`: of those that lived then, with their part of it, and later ones.
    fn workers(&self, earlier: &Usage, each: &[Thread]) -> Vec<Thread> {
        let old: BTreeSet<(i32, u64)> =
            earlier.threads.iter().map(|one| (one.tid, one.start_ticks)).collect();
        let new = self.threads.iter().filter(|one| !old.contains(&(one.tid, one.start_ticks)));
        let all: Vec<&Thread> = each.iter().chain(new).collect();
        let sum_ns = all.iter().map(|one| one.cpu_ns).fold(0, u64::saturating_add);
        let least = WORKER * sum_ns as f64;
        all.into_iter().filter(|one| one.cpu_ns > 0 && one.cpu_ns as f64 >= least).cloned().collect()
    }

    /// CPU time by the living threads. If a process's own time exceeds that by more than its steps, threads came and
    /// went; children that did so are in the time that it waited for.
    fn exact_since(&self, earlier: &Usage, tick_ns: u64) -> Option<u64> {
        let threads: BTreeSet<(i32, u64)> =
            self.threads.iter().map(|one| (one.tid, one.start_ticks)).collect();
        if !earlier.threads.iter().all(|one| threads.contains(&(one.tid, one.start_ticks))) {
            return None;
        }
        let of_threads = |usage: &Usage, pid: i32| {
            let own = usage.threads.iter().filter(|one| one.pid == pid);
            own.map(|one| one.cpu_ns).fold(0, u64::saturating_add)
        };
        let mut all_ns = 0u64;
        for stat in &self.processes {
            let same = |old: &&Stat| (old.pid, old.start_ticks) == (stat.pid, stat.start_ticks);
            let old = earlier.processes.iter().find(same).cloned().unwrap_or_default();
            let ticks = |one: &Stat| one.user_ticks.saturating_add(one.system_ticks);
            let waited = |one: &Stat| one.waited_user_ticks.saturating_add(one.waited_system_ticks);
            let by_ticks_ns = ticks(stat).saturating_sub(ticks(&old)).saturating_mul(tick_ns);
            let before_ns = if old.pid == stat.pid { of_threads(earlier, stat.pid) } else { 0 };
            let by_threads_ns = of_threads(self, stat.pid).saturating_sub(before_ns);
            // User and system time are each cut to whole steps.
            let is_lost = by_ticks_ns > by_threads_ns.saturating_add(2 * tick_ns);
            all_ns = all_ns.saturating_add(if is_lost { by_ticks_ns } else { by_threads_ns });
            all_ns = all_ns.saturating_add(waited(stat).saturating_sub(waited(&old)).saturating_mul(tick_ns));
        }
        Some(all_ns)
    }

    /// Why processes cannot run at all, if so: stopped, traced, or waiting in the kernel.
    pub fn halted(&self) -> Option<String> {
        let why = |state: u8| match state {
            b'T' => Some("is stopped by a signal"),
            b't' => Some("is held by a debugger"),
            b'D' => Some("waits in the kernel and cannot be interrupted (a disk or a remote file system)"),
            _ => None,
        };
        let all: Vec<String> = (self.processes.iter())
            .filter_map(|stat| Some(format!("process {} ({}) {}", stat.pid, stat.name, why(stat.state)?)))
            .take(3)
            .collect();
        (!all.is_empty()).then(|| all.join(", "))
    }
}

/// The sum of their waits, without those of which the kernel keeps none since they never ran; `None` where it keeps
/// none at all.
fn waited(threads: &[Thread]) -> Option<u64> {
    threads.iter().filter_map(|thread| thread.waited_ns).reduce(u64::saturating_add)
}

/// The threads of a process; none when it has ended.
fn threads(pid: i32, ns: impl Fn(u64) -> u64) -> Vec<Thread> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let read = |entry: fs::DirEntry| {
        let stat = Stat::parse(&fs::read(entry.path().join("stat")).ok()?)?;
        // In nanoseconds without steps, where the kernel keeps it.
        let exact = fs::read(entry.path().join("schedstat")).ok();
        let mut exact = exact.iter().flat_map(|text| words(text)).map(number);
        let ran = exact.next().flatten().filter(|ran| *ran > 0);
        let waited_ns = exact.next().flatten().filter(|_| ran.is_some());
        let cpu_ns = ran.unwrap_or_else(|| ns(stat.user_ticks.saturating_add(stat.system_ticks)));
        Some(Thread { pid, tid: stat.pid, name: stat.name, cpu_ns, waited_ns, start_ticks: stat.start_ticks })
    };
    entries.flatten().take(MOST).filter_map(read).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LINE: &[u8] = b"4711 (nginx: (w) x) S 4700 4700 4600 0 -1 4194624 120 7 0 0 250 1300 3 4 20 0 1 0 98765 \
        10240000 800 18446744073709551615 1 1 0 0 0 0 0 16781312 134365959 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n";

    #[test]
    fn disk_bytes_are_those_below_the_page_cache() {
        let text = b"rchar: 900\nwchar: 80\nsyscr: 7\nsyscw: 6\nread_bytes: 4096\nwrite_bytes: 8192\n\
            cancelled_write_bytes: 0\n";
        assert_eq!(Transferred::parse(text), Some(Transferred { read: 4096, written: 8192 }));
        assert_eq!(Transferred::parse(b"rchar: 900\n"), None);
        let own = Stat { pid: i32::try_from(std::process::id()).unwrap(), ..Stat::default() };
        assert!(Transferred::of_all(std::slice::from_ref(&own)).is_some());
        // One that cannot be read leaves the sum unknown.
        assert_eq!(Transferred::of_all(&[own, Stat { pid: i32::MAX, ..Stat::default() }]), None);
    }

    #[test]
    fn a_line_with_an_odd_name() {
        let stat = Stat::parse(LINE).unwrap();
        assert_eq!((stat.pid, stat.parent, stat.group, stat.state), (4711, 4700, 4700, b'S'));
        assert_eq!(stat.name, "nginx: (w) x");
        assert_eq!((stat.user_ticks, stat.system_ticks), (250, 1300));
        assert_eq!((stat.waited_user_ticks, stat.waited_system_ticks, stat.start_ticks), (3, 4, 98_765));
        assert!(stat.is_alive());
        let whole = LINE.windows(6).position(|six| six == b" 98765").unwrap() + 2;
        for end in 0..LINE.len() {
            assert_eq!(Stat::parse(&LINE[..end]).is_some(), end >= whole, "{end}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, at in 0usize..200, byte: u8) {
            let _any = Stat::parse(&bytes);
            let mut line = LINE.to_vec();
            let place = at % line.len();
            line[place] = byte;
            let _any = Stat::parse(&line);
        }
    }

    fn stat(pid: i32, parent: i32, ticks: u64, waited: u64) -> Stat {
        Stat {
            pid,
            parent,
            state: b'S',
            user_ticks: ticks,
            waited_user_ticks: waited,
            start_ticks: 1,
            ..Stat::default()
        }
    }

    #[test]
    fn descendants_are_found_to_any_depth() {
        let mut all =
            vec![stat(5, 4, 0, 0), stat(4, 3, 0, 0), stat(3, 1, 0, 0), stat(9, 1, 0, 0), stat(6, 6, 0, 0)];
        all.push(Stat { state: b'Z', ..stat(7, 5, 0, 0) });
        let pids = |roots: &[i32]| -> Vec<i32> {
            descend(&all, &roots.iter().copied().collect()).iter().map(|stat| stat.pid).collect()
        };
        assert_eq!(pids(&[3]), [5, 4, 3]);
        assert_eq!(pids(&[9, 6]), [9, 6]);
        assert_eq!(pids(&[]), [0; 0]);
    }

    fn usage(processes: Vec<Stat>) -> Usage {
        let ticks = |stat: &Stat| stat.user_ticks + stat.waited_user_ticks;
        Usage { user_ns: processes.iter().map(ticks).sum(), processes, ..Usage::default() }
    }

    #[test]
    fn a_child_that_ended_counts_through_its_parent() {
        let before = usage(vec![stat(2, 1, 10, 0), stat(3, 2, 20, 0)]);
        let after = usage(vec![stat(2, 1, 11, 25), stat(4, 2, 3, 0)]);
        let spent = after.since(&before).unwrap();
        assert_eq!((spent.user_ns, spent.started, spent.ended), (9, 1, 1));
        // Without its parent the record is gone; so it is when the time would be negative.
        assert!(usage(vec![stat(3, 2, 90, 0)]).since(&before).is_err());
        assert!(usage(vec![stat(2, 1, 10, 5)]).since(&before).is_err());
    }

    #[test]
    fn threads_and_children_that_came_and_went_are_counted() {
        let thread =
            |cpu_ns| Thread { pid: 2, tid: 2, name: String::new(), cpu_ns, waited_ns: None, start_ticks: 1 };
        let usage = |stat: Stat, cpu_ns| Usage {
            processes: vec![stat],
            threads: vec![thread(cpu_ns)],
            ..Usage::default()
        };
        let exact = |ticks, waited, cpu_ns| {
            usage(stat(2, 1, ticks, waited), cpu_ns).exact_since(&usage(stat(2, 1, 10, 3), 100), 1_000)
        };
        // Finer than the steps, which may be two behind or ahead.
        assert_eq!(exact(15, 3, 5_500), Some(5_400));
        assert_eq!(exact(17, 3, 5_500), Some(5_400));
        // A thread that used 20 steps has ended, and a child that used 4.
        assert_eq!(exact(35, 7, 5_500), Some(25_000 + 4_000));
        // A thread that was there before is gone: only the steps know of it.
        let gone = Usage { threads: Vec::new(), ..usage(stat(2, 1, 15, 3), 0) };
        assert_eq!(gone.exact_since(&usage(stat(2, 1, 10, 3), 100), 1_000), None);
    }

    #[test]
    fn what_cannot_run_is_told() {
        let halted = |state| {
            Usage { processes: vec![Stat { state, ..stat(7, 1, 0, 0) }], ..Usage::default() }.halted()
        };
        assert_eq!(halted(b'T').as_deref(), Some("process 7 () is stopped by a signal"));
        assert_eq!(halted(b'S'), None);
    }

    #[test]
    fn this_process_is_seen_with_its_threads() {
        let me = i32::try_from(std::process::id()).unwrap();
        let read = || Usage::from_processes(family(&BTreeSet::from([me])).unwrap()).unwrap();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let named = std::thread::Builder::new().name("burns".to_owned());
        let thread = named
            .spawn(move || while stopped.try_recv() == Err(std::sync::mpsc::TryRecvError::Empty) {})
            .unwrap();
        // A thread gives itself its name once it runs.
        let is_named = |usage: &Usage| usage.threads.iter().any(|thread| thread.name == "burns");
        let wait = std::time::Duration::from_millis(10);
        let first = (0..10_000).find_map(|_| {
            let usage = read();
            let is_there = is_named(&usage);
            if !is_there {
                std::thread::sleep(wait);
            }
            is_there.then_some(usage)
        });
        let first = first.unwrap();
        // Until the thread that burns has used 50 ms more.
        let spent = (0..10_000).find_map(|_| {
            std::thread::sleep(wait);
            let spent = read().since(&first).unwrap();
            (spent.busiest.as_ref().is_some_and(|busy| busy.name == "burns" && busy.cpu_ns > 50_000_000))
                .then_some(spent)
        });
        drop(stop);
        thread.join().unwrap();
        assert!(spent.unwrap().user_ns > 0);
    }
}
