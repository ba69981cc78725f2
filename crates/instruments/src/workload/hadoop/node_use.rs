//! The use of the nodes of a cluster while a job runs, each in a network namespace: CPU time and disk of the processes
//! in it, and the bytes of its link, once a second.
//!
//! Counted of a process is also what its ended children used, as far as it waited for them: containers count through
//! their NodeManager. Not counted is what a process used after the last look whose parent is no process of the node
//! (a daemon, a client, all of a node that is killed), and what the kernel does for others. Disk is bytes that were
//! fetched from disk, and that were given to be written (/proc/PID/io), not their way to it. One node on the loopback
//! is the machine, and has its telemetry.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use model::node_use::{NodeUse, Stretch};

use super::network::{Network, Seen};
use crate::telemetry::parse::nets;
use crate::workload::server::tree::Transferred;

/// Between two looks, as long as few of them are kept.
const PAUSE: Duration = Duration::from_secs(1);
/// A node's end of its link.
const LINK: &str = "eth0";

/// Counters of a node; each never falls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counted {
    user_ms: u64,
    system_ms: u64,
    /// `None` where the kernel does not count it.
    disk: Option<Transferred>,
    /// Received and sent.
    link: Option<(u64, u64)>,
}

/// Does something, and looks at the nodes meanwhile; times are milliseconds since 1970.
pub fn during<T>(network: &Network, work: impl FnOnce() -> T) -> (T, Vec<NodeUse>) {
    if !matches!(network, Network::Namespaces(_)) {
        return (work(), Vec::new());
    }
    std::thread::scope(|scope| {
        let (tell, ends) = channel::<()>();
        let watcher = scope.spawn(move || watch(network, &ends));
        let done = work();
        drop(tell);
        // Without what was seen there is no use to tell of.
        (done, watcher.join().unwrap_or_default())
    })
}

/// Looks until it is told to end. Where the nodes cannot be seen, nothing is known of that time; without the clock's
/// tick nothing is known at all.
fn watch(network: &Network, ends: &Receiver<()>) -> Vec<NodeUse> {
    let Ok(ticks) = sys::system::clock_ticks_per_s() else { return Vec::new() };
    let counts_disk = Transferred::by_process(std::process::id().cast_signed()).is_some();
    let mut all: Vec<(NodeUse, Counted)> = Vec::new();
    let (mut pause, mut from_ms) = (PAUSE, now_ms());
    let mut is_last = false;
    loop {
        let seen = network.seen();
        let to_ms = now_ms();
        let mut is_full = false;
        for node in seen.iter().flatten() {
            let counted = Counted::of(node, ticks, counts_disk);
            match all.iter_mut().find(|(known, _)| known.node == node.name) {
                None => all.push((NodeUse { node: node.name.clone(), ..NodeUse::default() }, counted)),
                Some((known, before)) => {
                    let stretch = before.until(&counted, (from_ms, to_ms));
                    if is_last {
                        known.end(stretch);
                    } else {
                        is_full |= known.push(stretch);
                    }
                    *before = before.highest(&counted);
                }
            }
        }
        if seen.is_ok() {
            from_ms = to_ms;
        }
        if is_last {
            break;
        }
        pause = if is_full { pause * 2 } else { pause };
        is_last = ends.recv_timeout(pause) != Err(RecvTimeoutError::Timeout);
    }
    all.into_iter().map(|(node, _)| node).collect()
}

fn now_ms() -> u64 {
    sys::clock::wall_ns() / 1_000_000
}

impl Counted {
    fn of(node: &Seen, ticks: u64, counts_disk: bool) -> Counted {
        let ms = |ticks_used: u64| ticks_used.saturating_mul(1_000) / ticks;
        let mut disk = counts_disk.then(Transferred::default);
        let (mut user, mut system) = (0_u64, 0_u64);
        for stat in &node.processes {
            user = user.saturating_add(stat.user_ticks).saturating_add(stat.waited_user_ticks);
            system = system.saturating_add(stat.system_ticks).saturating_add(stat.waited_system_ticks);
            // One that has ended meanwhile counts through its parent at the next look.
            if let Some((sum, own)) = disk.as_mut().zip(Transferred::by_process(stat.pid)) {
                sum.read = sum.read.saturating_add(own.read);
                sum.written = sum.written.saturating_add(own.written);
            }
        }
        let all = std::fs::read(format!("/proc/{}/net/dev", node.holder)).map(|text| nets::parse(&text));
        let link = all.ok().and_then(|all| all.into_iter().find(|(name, _)| name == LINK));
        let link = link.map(|(_, counters)| (counters.received_bytes, counters.sent_bytes));
        Counted { user_ms: ms(user), system_ms: ms(system), disk, link }
    }

    /// The use from this look until the next one.
    fn until(&self, next: &Counted, (from_ms, to_ms): (u64, u64)) -> Stretch {
        let of_link = |of: fn((u64, u64)) -> u64| Some(of(next.link?).saturating_sub(of(self.link?)));
        let of_disk = |of: fn(Transferred) -> u64| Some(of(next.disk?).saturating_sub(of(self.disk?)));
        Stretch {
            from_ms,
            to_ms,
            user_ms: Some(next.user_ms.saturating_sub(self.user_ms)),
            system_ms: Some(next.system_ms.saturating_sub(self.system_ms)),
            read: of_disk(|disk| disk.read),
            written: of_disk(|disk| disk.written),
            received: of_link(|link| link.0),
            sent: of_link(|link| link.1),
        }
    }

    /// A sum that falls lost a process between two looks; what it used before is not counted a second time.
    fn highest(&self, next: &Counted) -> Counted {
        Counted {
            user_ms: self.user_ms.max(next.user_ms),
            system_ms: self.system_ms.max(next.system_ms),
            disk: self.disk.zip(next.disk).map(|(one, next)| Transferred {
                read: one.read.max(next.read),
                written: one.written.max(next.written),
            }),
            link: next.link,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(user_ms: u64, read: u64, link: Option<(u64, u64)>) -> Counted {
        Counted { user_ms, system_ms: 5, disk: Some(Transferred { read, written: 0 }), link }
    }

    #[test]
    fn a_process_that_is_not_seen_once_is_not_counted_twice() {
        let (one, less, more) = (counted(900, 50, None), counted(200, 10, None), counted(1_000, 60, None));
        let dip = one.until(&less, (0, 1_000));
        assert_eq!((dip.user_ms, dip.read), (Some(0), Some(0)));
        let after = one.highest(&less).until(&more, (1_000, 2_000));
        assert_eq!((after.user_ms, after.read, after.system_ms), (Some(100), Some(10), Some(0)));
    }

    #[test]
    fn a_link_that_cannot_be_read_is_missing() {
        let (one, next) = (counted(0, 0, Some((10, 20))), counted(0, 0, Some((110, 25))));
        let told = one.until(&next, (0, 1_000));
        assert_eq!((told.received, told.sent), (Some(100), Some(5)));
        assert_eq!(one.until(&counted(0, 0, None), (0, 1_000)).received, None);
    }

    #[test]
    fn one_node_is_not_looked_at() {
        assert_eq!(during(&Network::Loopback, || 7), (7, Vec::new()));
    }
}
