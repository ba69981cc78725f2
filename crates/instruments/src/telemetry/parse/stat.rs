//! /proc/stat: CPU times in ticks, and counters of interrupts, context switches and forks since boot.

use serde::{Deserialize, Serialize};

use super::{lines, number, words};

/// Ticks in each state since boot. Guest time is contained in user and nice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    pub user: u64,
    pub nice: u64,
    pub system: u64,
    pub idle: u64,
    pub iowait: u64,
    pub irq: u64,
    pub softirq: u64,
    pub steal: u64,
}

impl Times {
    /// Ticks since `before`. Idle and I/O wait may step back by a tick in the kernel's own books: that is no time.
    pub fn since(&self, before: &Times) -> Times {
        Times {
            user: self.user.saturating_sub(before.user),
            nice: self.nice.saturating_sub(before.nice),
            system: self.system.saturating_sub(before.system),
            idle: self.idle.saturating_sub(before.idle),
            iowait: self.iowait.saturating_sub(before.iowait),
            irq: self.irq.saturating_sub(before.irq),
            softirq: self.softirq.saturating_sub(before.softirq),
            steal: self.steal.saturating_sub(before.steal),
        }
    }

    /// Ticks in which the CPU ran something on this system.
    pub fn busy(&self) -> u64 {
        sum([self.user, self.nice, self.system, self.irq, self.softirq])
    }

    pub fn total(&self) -> u64 {
        sum([self.busy(), self.idle, self.iowait, self.steal])
    }

    pub fn plus(&self, other: &Times) -> Times {
        Times {
            user: self.user.saturating_add(other.user),
            nice: self.nice.saturating_add(other.nice),
            system: self.system.saturating_add(other.system),
            idle: self.idle.saturating_add(other.idle),
            iowait: self.iowait.saturating_add(other.iowait),
            irq: self.irq.saturating_add(other.irq),
            softirq: self.softirq.saturating_add(other.softirq),
            steal: self.steal.saturating_add(other.steal),
        }
    }
}

fn sum<const N: usize>(parts: [u64; N]) -> u64 {
    parts.iter().fold(0, |sum, part| sum.saturating_add(*part))
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// The sum of all CPUs.
    pub all: Option<Times>,
    /// Online CPUs by number, ascending.
    pub cpus: Vec<(u32, Times)>,
    pub interrupts: Option<u64>,
    pub switches: Option<u64>,
    pub forks: Option<u64>,
    /// Threads that run or want to, now.
    pub running: Option<u64>,
    /// Threads that wait for a disk, now.
    pub blocked: Option<u64>,
}

impl Stat {
    /// The times of one CPU.
    pub fn cpu(&self, number: u32) -> Option<&Times> {
        let at = self.cpus.binary_search_by_key(&number, |(cpu, _)| *cpu).ok()?;
        self.cpus.get(at).map(|(_, times)| times)
    }
}

pub fn parse(bytes: &[u8]) -> Stat {
    let mut stat = Stat::default();
    for line in lines(bytes) {
        let mut fields = words(line);
        let Some(name) = fields.next() else { continue };
        let mut next = || number(fields.next()?);
        match name {
            b"cpu" => stat.all = times(next),
            b"intr" => stat.interrupts = next(),
            b"ctxt" => stat.switches = next(),
            b"processes" => stat.forks = next(),
            b"procs_running" => stat.running = next(),
            b"procs_blocked" => stat.blocked = next(),
            _ => {
                let cpu = name.strip_prefix(b"cpu").and_then(number).and_then(|cpu| u32::try_from(cpu).ok());
                if let Some((cpu, times)) = cpu.zip(times(next)) {
                    stat.cpus.push((cpu, times));
                }
            }
        }
    }
    stat.cpus.sort_by_key(|(cpu, _)| *cpu);
    stat.cpus.dedup_by_key(|(cpu, _)| *cpu);
    stat
}

/// The first four fields exist everywhere, the others since Linux 2.6.11.
fn times(mut next: impl FnMut() -> Option<u64>) -> Option<Times> {
    Some(Times {
        user: next()?,
        nice: next()?,
        system: next()?,
        idle: next()?,
        iowait: next().unwrap_or(0),
        irq: next().unwrap_or(0),
        softirq: next().unwrap_or(0),
        steal: next().unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    pub const FIXTURE: &[u8] = include_bytes!("fixtures/stat");

    #[test]
    fn a_captured_file() {
        let stat = parse(FIXTURE);
        let all = stat.all.unwrap();
        assert_eq!((all.user, all.steal, all.busy()), (194_623, 576, 194_623 + 40_340 + 35_029 + 416));
        assert_eq!(stat.cpus.len(), 2);
        assert_eq!(stat.cpu(1).unwrap().idle, 202_286);
        assert_eq!(stat.cpu(2), None);
        assert_eq!(stat.interrupts, Some(1_980_064));
        assert_eq!((stat.switches, stat.forks), (Some(3_012_345), Some(6449)));
        assert_eq!((stat.running, stat.blocked), (Some(12), Some(0)));
    }

    #[test]
    fn old_kernels_and_offline_cpus() {
        let stat = parse(b"cpu 10 0 5 100\ncpu3 4 0 1 20\ncpu1 6 0 4 80\nctxt x\n");
        assert_eq!(stat.all.unwrap().total(), 115);
        assert_eq!(stat.cpus.iter().map(|(cpu, _)| *cpu).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(stat.switches, None);
        assert_eq!(parse(b"cpu 1 2 3\n").all, None);
    }

    #[test]
    fn differences_never_go_below_nothing() {
        let (a, b) = (Times { idle: 7, user: 3, ..Times::default() }, Times { idle: 8, ..Times::default() });
        assert_eq!(a.since(&b), Times { user: 3, ..Times::default() });
    }
}
