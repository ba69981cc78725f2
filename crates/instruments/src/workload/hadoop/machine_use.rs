//! The use of a machine while a job ran: shares of the time of its CPUs, of its busiest disk, and of what its fullest
//! link carries.
//!
//! Counted is everything on the machine, also work of others. Where the kernel does not tell, a share is missing. Of
//! several hosts alone links are told: between nodes on one machine there is none.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::telemetry::parse::{disks, stat};

/// Shares of the time between two looks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MachineUse {
    pub busy: Option<f64>,
    pub stolen: Option<f64>,
    pub disk: Option<f64>,
    pub link: Option<f64>,
}

impl MachineUse {
    /// That of several machines: the mean of their CPUs, the busiest disk and the fullest link of all. Where that of
    /// one is not known, nothing is.
    pub fn together(all: &[MachineUse]) -> MachineUse {
        let each = |of: fn(&MachineUse) -> Option<f64>| {
            let shares: Option<Vec<f64>> = all.iter().map(of).collect();
            shares.filter(|shares| !shares.is_empty())
        };
        let mean = |of| each(of).map(|shares| shares.iter().sum::<f64>() / shares.len() as f64);
        let most = |of| each(of).map(|shares| shares.into_iter().fold(0.0, f64::max));
        MachineUse {
            busy: mean(|one| one.busy),
            stolen: mean(|one| one.stolen),
            disk: most(|one| one.disk),
            link: most(|one| one.link),
        }
    }
}

/// The kernel's counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    times: Option<stat::Times>,
    /// Time with a request under way, of each whole disk.
    disks: Vec<(String, u64)>,
    at_ns: u64,
}

impl Counters {
    /// Those of these CPUs and of all disks, now.
    pub fn read(cpus: &[usize]) -> Counters {
        let read = |path: &str| std::fs::read(path).unwrap_or_default();
        let stat = stat::parse(&read("/proc/stat"));
        let own = cpus.iter().map(|cpu| u32::try_from(*cpu).ok().and_then(|cpu| stat.cpu(cpu)));
        let times = own.collect::<Option<Vec<_>>>();
        let is_whole = |name: &str| {
            !disks::is_virtual(name) && Path::new("/sys/block").join(name.replace('/', "!")).exists()
        };
        let all = disks::parse(&read("/proc/diskstats"));
        Counters {
            times: times.map(|all| all.into_iter().fold(stat::Times::default(), |sum, one| sum.plus(one))),
            disks: all
                .into_iter()
                .filter(|(name, _)| is_whole(name))
                .map(|(name, disk)| (name, disk.busy_ms))
                .collect(),
            at_ns: sys::clock::now_ns(),
        }
    }

    /// Shares of the time since an earlier look.
    pub fn since(&self, before: &Counters) -> MachineUse {
        let times = self.times.zip(before.times).map(|(now, before)| now.since(&before));
        let share = |part: u64, whole: u64| (whole > 0).then(|| (part as f64 / whole as f64).min(1.0));
        let ms = self.at_ns.saturating_sub(before.at_ns) / 1_000_000;
        let of_disk = |(name, busy): &(String, u64)| {
            let (_, former) = before.disks.iter().find(|(other, _)| other == name)?;
            share(busy.checked_sub(*former)?, ms)
        };
        MachineUse {
            busy: times.and_then(|times| share(times.busy(), times.total())),
            stolen: times.and_then(|times| share(times.steal, times.total())),
            disk: self.disks.iter().filter_map(of_disk).reduce(f64::max),
            link: None,
        }
    }

    /// Seconds since an earlier look.
    pub fn seconds_since(&self, before: &Counters) -> f64 {
        self.at_ns.saturating_sub(before.at_ns) as f64 / 1e9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_machines_are_told_together() {
        let of = |busy, disk| MachineUse { busy: Some(busy), stolen: Some(0.0), disk, link: disk };
        let both = MachineUse::together(&[of(0.5, Some(0.25)), of(1.0, Some(0.75))]);
        assert_eq!((both.busy, both.stolen, both.disk), (Some(0.75), Some(0.0), Some(0.75)));
        assert_eq!(both.link, Some(0.75));
        assert_eq!(MachineUse::together(&[of(0.5, None), of(1.0, Some(0.75))]).disk, None);
        assert_eq!(MachineUse::together(&[]), MachineUse::default());
    }

    #[test]
    fn shares_are_of_the_time_between() {
        let of = |user, idle, busy_ms, at_ns| Counters {
            times: Some(stat::Times { user, idle, ..stat::Times::default() }),
            disks: vec![("sda".to_owned(), busy_ms), ("sdb".to_owned(), 7)],
            at_ns,
        };
        let (before, now) = (of(100, 100, 1_000, 0), of(175, 125, 1_500, 1_000_000_000));
        let shares = now.since(&before);
        assert_eq!((shares.busy, shares.stolen, shares.disk), (Some(0.75), Some(0.0), Some(0.5)));
        // Nothing passed, a disk came, a counter stepped back.
        assert_eq!(before.since(&before), MachineUse::default());
        let new = Counters { disks: vec![("sdc".to_owned(), 5)], ..now.clone() };
        assert_eq!(new.since(&before).disk, None);
        assert_eq!(Counters::default().since(&Counters::default()), MachineUse::default());
    }
}
