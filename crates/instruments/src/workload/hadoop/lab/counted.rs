//! Counters of a host as a whole: the CPU time of everything on it, bytes of its disks and of its network.
//!
//! Milliseconds and bytes since boot; what the kernel does not tell is missing. The loopback is no network. Work of
//! others is counted too: a host of a lab is taken to do nothing else. A link has a rate where a network device tells
//! one: a virtual machine's often does not. Devices without hardware have no link of their own.

use std::path::Path;

use model::node_use::Stretch;
use serde::{Deserialize, Serialize};

use crate::system_files::Root;
use crate::telemetry::parse::{disks, nets, stat};
use crate::workload::hadoop::machine_use::{Counters, MachineUse};

const SECTOR: u64 = 512;
/// Bytes a second of a megabit a second.
const MEGABIT: u64 = 125_000;

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
    links: Vec<Link>,
}

/// The link of a device with hardware.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Link {
    name: String,
    received: u64,
    sent: u64,
    /// Bytes a second that it carries in each direction; `None` where the device does not tell.
    rate: Option<u64>,
}

impl Link {
    /// That of a device; `None` of one without hardware.
    fn of(root: &Root, (name, counters): &(String, nets::Counters)) -> Option<Link> {
        let folder = format!("/sys/class/net/{name}");
        let megabits = root.number(&format!("{folder}/speed")).and_then(|speed| u64::try_from(speed).ok());
        let rate = megabits.filter(|speed| *speed > 0).map(|speed| speed.saturating_mul(MEGABIT));
        root.exists(&format!("{folder}/device")).then(|| Link {
            name: name.clone(),
            received: counters.received_bytes,
            sent: counters.sent_bytes,
            rate,
        })
    }

    /// The share of its rate that it carried in its fuller direction, since an earlier look; 0 of an idle one, whatever
    /// its rate.
    fn share(&self, before: &Link, seconds: f64) -> Option<f64> {
        let received = self.received.checked_sub(before.received)?;
        let sent = self.sent.checked_sub(before.sent)?;
        match (received.max(sent), self.rate) {
            (0, _) => Some(0.0),
            (bytes, Some(rate)) if seconds > 0.0 => Some((bytes as f64 / seconds / rate as f64).min(1.0)),
            _ => None,
        }
    }
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
        let outer: Option<Vec<(String, nets::Counters)>> = read("/proc/net/dev")
            .map(|text| nets::parse(&text).into_iter().filter(|(name, _)| name != "lo").collect());
        let network = outer
            .as_ref()
            .map(|all| all.iter().map(|(_, one)| (one.received_bytes, one.sent_bytes)).fold((0, 0), add));
        let root = Root::live();
        let cpus = sys::affinity::allowed().unwrap_or_default();
        Counted {
            machine: Counters::read(&cpus),
            user_ms: ms(|times| times.user.saturating_add(times.nice)),
            system_ms: ms(|times| times.system.saturating_add(times.irq).saturating_add(times.softirq)),
            disk,
            network,
            links: outer.iter().flatten().filter_map(|one| Link::of(&root, one)).collect(),
        }
    }

    /// The shares of the time since an earlier look. That of the fullest link is missing where one that carried
    /// something has no known rate.
    pub fn used(&self, before: &Counted) -> MachineUse {
        let link = self.fullest_link(before, self.machine.seconds_since(&before.machine));
        MachineUse { link, ..self.machine.since(&before.machine) }
    }

    fn fullest_link(&self, before: &Counted, seconds: f64) -> Option<f64> {
        let share = |link: &Link| {
            let former = before.links.iter().find(|former| former.name == link.name)?;
            link.share(former, seconds)
        };
        let shares: Option<Vec<f64>> = self.links.iter().map(share).collect();
        shares?.into_iter().reduce(f64::max)
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
    fn a_link_is_full_by_its_fuller_direction() {
        let link = |received, sent| Link { name: "eth0".to_owned(), received, sent, rate: Some(1_000) };
        let before = link(5_000, 0);
        assert_eq!(link(6_800, 500).share(&before, 2.0), Some(0.9));
        assert_eq!(link(5_000, 1_000).share(&before, 2.0), Some(0.5));
        // Bytes that were under way before, a counter that began anew, no time.
        assert_eq!(link(9_000, 0).share(&before, 2.0), Some(1.0));
        assert_eq!(link(0, 0).share(&before, 2.0), None);
        assert_eq!(link(6_800, 500).share(&before, 0.0), None);
    }

    #[test]
    fn a_busy_link_without_a_rate_leaves_the_fullest_one_unknown() {
        let link = |name: &str, received, rate| Link { name: name.to_owned(), received, sent: 0, rate };
        let of = |data, control| Counted {
            links: vec![link("data", data, None), link("control", control, Some(1_000))],
            ..Counted::default()
        };
        let before = of(100, 100);
        assert_eq!(of(100, 600).fullest_link(&before, 1.0), Some(0.5));
        assert_eq!(of(900, 600).fullest_link(&before, 1.0), None);
        assert_eq!(Counted::default().fullest_link(&before, 1.0), None);
    }

    #[test]
    fn only_hardware_has_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let device = |name: &str, speed: &str, has_hardware: bool| {
            let path = folder.path().join(format!("sys/class/net/{name}"));
            std::fs::create_dir_all(path.join(if has_hardware { "device" } else { "queues" })).unwrap();
            std::fs::write(path.join("speed"), speed).unwrap();
        };
        device("eth0", "1000\n", true);
        device("eth1", "-1\n", true);
        device("veth0", "10000\n", false);
        let root = Root::at(folder.path());
        let of = |name: &str| Link::of(&root, &(name.to_owned(), nets::Counters::default()));
        assert_eq!(of("eth0").map(|link| link.rate), Some(Some(125_000_000)));
        assert_eq!(of("eth1").map(|link| link.rate), Some(None));
        assert_eq!([of("veth0"), of("eth2")], [None, None]);
    }

    #[test]
    fn this_host_counts_its_time() {
        assert!(Counted::now().user_ms.is_some_and(|ms| ms > 0));
    }
}
