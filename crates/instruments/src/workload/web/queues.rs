//! Queues of connections to be accepted, by listening socket: how many connections the kernel dropped at each in a
//! load. The kernel's own counters are of the whole network namespace and do not say whose queue was full.
//!
//! Of a server on this machine and in this network namespace only. Its own sockets are recorded with 0 too; of other
//! programs those alone that dropped something, such as an application's behind a proxy.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use model::metrics::load::{QUEUE_DROPS, QUEUE_ROOM};
use model::{Count, Params, Record, RecordExt};
use sys::sock_diag::{self, LISTEN, TcpSocket};

use super::served::Served;
use crate::workload::server::{sockets, tree};

/// Most sockets of others that are recorded of a load.
const MOST: usize = 8;

/// The listening sockets of this network namespace at one moment; `None` where they are not the server's, or the kernel
/// does not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queues(Option<Vec<TcpSocket>>);

impl Queues {
    pub fn look(served: &Served) -> Queues {
        let is_here = served.leader().is_some_and(shares_network);
        Queues(is_here.then(|| sock_diag::tcp(&[LISTEN]).ok()).flatten())
    }

    /// Pushes what was dropped since `before`.
    pub fn push(&self, before: &Queues, served: &Served, record: &mut dyn Record) {
        let (Some(before), Some(now), Ok(pids)) = (&before.0, &self.0, served.pids()) else { return };
        let own = sockets::held(&pids);
        let risen = risen(before, now);
        let mut others: Vec<&(TcpSocket, u64)> =
            risen.iter().filter(|(socket, drops)| *drops > 0 && !own.contains(&socket.inode)).collect();
        others.sort_by_key(|(_, drops)| std::cmp::Reverse(*drops));
        others.truncate(MOST);
        let servers = risen.iter().filter(|(socket, _)| own.contains(&socket.inode));
        let mut sums: BTreeMap<Params, (u64, u32)> = BTreeMap::new();
        let all = servers.map(|one| (one, "server")).chain(others.into_iter().map(|one| (one, "other")));
        for ((socket, drops), owner) in all {
            // Several sockets may share one address.
            let sum = sums.entry(part(socket, owner)).or_default();
            *sum = (sum.0.saturating_add(*drops), sum.1.max(socket.room));
        }
        for (part, (drops, room)) in sums {
            record.push_of(&QUEUE_DROPS, &part, Count(drops as f64));
            record.push_of(&QUEUE_ROOM, &part, Count(f64::from(room)));
        }
    }
}

/// True if a process is in our network namespace.
pub fn shares_network(pid: i32) -> bool {
    let of = |who: &str| fs::read_link(format!("/proc/{who}/ns/net")).ok();
    of("self").is_some_and(|own| of(&pid.to_string()) == Some(own))
}

/// Each socket with what it dropped in between; those that came meanwhile with all that they did.
fn risen(before: &[TcpSocket], now: &[TcpSocket]) -> Vec<(TcpSocket, u64)> {
    let known: BTreeMap<u64, u32> =
        before.iter().filter_map(|socket| Some((socket.inode, socket.drops?))).collect();
    let since = |socket: &TcpSocket| {
        let drops = socket.drops?.wrapping_sub(known.get(&socket.inode).copied().unwrap_or(0));
        Some((*socket, u64::from(drops)))
    };
    now.iter().filter_map(since).collect()
}

/// The socket as a part of the load, with the process that holds it where that can be seen.
fn part(socket: &TcpSocket, owner: &str) -> Params {
    let mut part = Params::default();
    part.set("socket", &socket.local.to_string());
    part.set("owner", owner);
    if let Some(name) = holder(socket.inode) {
        part.set("process", &name);
    }
    part
}

/// The name of the first of the processes that hold a socket, as a value of a parameter.
fn holder(inode: u64) -> Option<String> {
    let pids = sockets::owners(&BTreeSet::from([inode])).ok()?.pids;
    value(&tree::one(*pids.first()?)?.name)
}

/// Without what separates parameters.
fn value(name: &str) -> Option<String> {
    let plain = |c: char| if matches!(c, ';' | ',' | '=') || c.is_control() { '_' } else { c };
    let name: String = name.trim().chars().map(plain).collect();
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::telemetry::record::Values;

    fn socket(port: u16, inode: u64, drops: Option<u32>) -> TcpSocket {
        TcpSocket {
            local: ([127, 0, 0, 1], port).into(),
            remote: ([0, 0, 0, 0], 0).into(),
            state: LISTEN,
            inode,
            waiting: 0,
            room: 5,
            drops,
        }
    }

    #[test]
    fn drops_are_those_since_the_look_before() {
        let before = [socket(80, 1, Some(7)), socket(81, 2, Some(u32::MAX)), socket(82, 3, None)];
        let now =
            [socket(80, 1, Some(9)), socket(81, 2, Some(1)), socket(82, 3, None), socket(83, 4, Some(6))];
        let found: Vec<(u64, u64)> =
            risen(&before, &now).iter().map(|(socket, drops)| (socket.inode, *drops)).collect();
        assert_eq!(found, [(1, 2), (2, 2), (4, 6)]);
    }

    #[test]
    fn names_separate_no_parameters() {
        assert_eq!(value("a;b=c,d ").as_deref(), Some("a_b_c_d"));
        assert_eq!(value(" "), None);
    }

    #[test]
    fn a_full_queue_is_recorded_with_whose_it_is() {
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = own.local_addr().unwrap();
        let served = Served::theirs(&format!("http://{at}/").parse().unwrap());
        let before = Queues::look(&served);
        assert!(before.0.is_some(), "the kernel tells of the sockets of this machine");
        let mut now = before.clone();
        let other = socket(9, 1, Some(4));
        for socket in now.0.iter_mut().flatten().filter(|socket| socket.local == at) {
            socket.drops = Some(3);
        }
        now.0.iter_mut().for_each(|all| all.push(other));
        let mut values = Values::default();
        now.push(&before, &served, &mut values);
        let name = tree::one(i32::try_from(std::process::id()).unwrap()).unwrap().name;
        let part = format!("owner=server;process={name};socket={at}");
        assert_eq!(values.get(&format!("queue-drops {part}")), Some(3.0));
        assert!(values.get(&format!("queue-room {part}")).is_some_and(|room| room >= 128.0));
        assert_eq!(values.get("queue-drops owner=other;socket=127.0.0.1:9"), Some(4.0), "nobody holds it");
        // Elsewhere it is not known.
        let far = Served::theirs(&"http://192.0.2.1/".parse().unwrap());
        assert_eq!(Queues::look(&far), Queues(None));
        drop(TcpStream::connect(at));
    }
}
