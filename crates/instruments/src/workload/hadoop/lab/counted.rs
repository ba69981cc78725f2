//! Counters of a host as a whole: the CPU time of everything on it, bytes of its disks and of its network.
//!
//! Milliseconds and bytes since boot; what the kernel does not tell is missing. The loopback is no network. Work of
//! others is counted too: a host of a lab is taken to do nothing else.

use std::path::Path;

use model::node_use::Stretch;
use serde::{Deserialize, Serialize};

use crate::telemetry::parse::{disks, nets, stat};
use crate::workload::hadoop::machine_use::Counters;

const SECTOR: u64 = 512;

/// The counters at one moment; each never falls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    pub machine: Counters,
    pub user_ms: Option<u64>,
    pub system_ms: Option<u64>,
    /// Read and written.
    pub disk: Option<(u64, u64)>,
    /// Received and sent.
    pub network: Option<(u64, u64)>,
}

impl Counted {
    pub fn now() -> Counted {
        let read = |path: &str| std::fs::read(path).ok();
        let ticks = sys::system::clock_ticks_per_s().ok().filter(|ticks| *ticks > 0);
        let all = read("/proc/stat").and_then(|text| stat::parse(&text).all);
        let ms = |of: fn(&stat::Times) -> u64| Some(of(all.as_ref()?).saturating_mul(1_000) / ticks?);
        let is_whole = |name: &str| {
            !disks::is_virtual(name) && Path::new("/sys/block").join(name.replace('/', "!")).exists()
        };
        let add =
            |sum: (u64, u64), one: (u64, u64)| (sum.0.saturating_add(one.0), sum.1.saturating_add(one.1));
        let disk = read("/proc/diskstats").map(|text| {
            let whole = disks::parse(&text).into_iter().filter(|(name, _)| is_whole(name));
            let bytes = |sectors: u64| sectors.saturating_mul(SECTOR);
            whole.map(|(_, one)| (bytes(one.read_sectors), bytes(one.written_sectors))).fold((0, 0), add)
        });
        let network = read("/proc/net/dev").map(|text| {
            let outer = nets::parse(&text).into_iter().filter(|(name, _)| name != "lo");
            outer.map(|(_, one)| (one.received_bytes, one.sent_bytes)).fold((0, 0), add)
        });
        let cpus = sys::affinity::allowed().unwrap_or_default();
        Counted {
            machine: Counters::read(&cpus),
            user_ms: ms(|times| times.user.saturating_add(times.nice)),
            system_ms: ms(|times| times.system.saturating_add(times.irq).saturating_add(times.softirq)),
            disk,
            network,
        }
    }

    /// The use from this look until the next one.
    pub fn until(&self, next: &Counted, (from_ms, to_ms): (u64, u64)) -> Stretch {
        let since = |next: Option<u64>, own: Option<u64>| Some(next?.saturating_sub(own?));
        let first = |pair: Option<(u64, u64)>| pair.map(|pair| pair.0);
        let second = |pair: Option<(u64, u64)>| pair.map(|pair| pair.1);
        Stretch {
            from_ms,
            to_ms,
            user_ms: since(next.user_ms, self.user_ms),
            system_ms: since(next.system_ms, self.system_ms),
            read: since(first(next.disk), first(self.disk)),
            written: since(second(next.disk), second(self.disk)),
            received: since(first(next.network), first(self.network)),
            sent: since(second(next.network), second(self.network)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_told_is_missing() {
        let one = Counted { user_ms: Some(10), disk: Some((1, 2)), ..Counted::default() };
        let next = Counted { user_ms: Some(25), network: Some((9, 9)), disk: Some((4, 2)), ..one.clone() };
        let told = one.until(&next, (0, 2_000));
        assert_eq!((told.user_ms, told.system_ms), (Some(15), None));
        assert_eq!((told.read, told.written, told.sent), (Some(3), Some(0), None));
    }

    #[test]
    fn this_host_counts_its_time() {
        assert!(Counted::now().user_ms.is_some_and(|ms| ms > 0));
    }
}
