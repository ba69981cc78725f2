//! Applications behind a server that is not ours: programs of this machine that listen where the server is connected
//! to. They are looked for a few times, soon after the load has begun, and looked at once more at its end.
//!
//! CPU times are nanoseconds between the two looks. Not seen: applications on other machines, those on Unix sockets,
//! and those in another network namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

use model::backend::Backend;
use model::{NoteBody, Record};
use sys::sock_diag::{self, ESTABLISHED, LISTEN, SYN_SENT, TcpSocket};

use super::queues::shares_network;
use super::served::Served;
use crate::workload::server::sockets::{self, Socket};
use crate::workload::server::tree::{self, Usage};

/// The load has lasted so long when it is looked at, and as long again before each further look.
pub const AFTER_NS: u64 = 300_000_000;
/// Looks of a load until one finds an application.
pub const LOOKS: u64 = 3;
/// Most applications that are recorded.
const MOST: usize = 8;
/// The first process of a system holds sockets for others, and all descend from it.
const INIT: i32 = 1;

/// The applications behind a server, and when they were looked at.
#[derive(Debug)]
pub struct Behind {
    at_ns: u64,
    found: Vec<(Backend, Option<Usage>)>,
}

impl Behind {
    /// `None` where nothing of this machine is behind the server, or that cannot be seen.
    pub fn look(served: &Served) -> Option<Behind> {
        let Served::Theirs(_) = served else { return None };
        served.leader().filter(|pid| shares_network(*pid))?;
        let own = sockets::held(&served.pids().ok()?);
        let all = sock_diag::tcp(&[ESTABLISHED, SYN_SENT, LISTEN]).ok()?;
        let mut behind: Vec<(SocketAddr, Connected)> = connected(&all, &own).into_iter().collect();
        behind.sort_by_key(|(_, one)| std::cmp::Reverse(one.connections));
        behind.truncate(MOST);
        let found: Vec<(Backend, Option<Usage>)> =
            behind.into_iter().map(|(at, one)| backend(at, &one)).collect();
        (!found.is_empty()).then(|| Behind { at_ns: sys::clock::now_ns(), found })
    }

    /// Notes what they did until now.
    pub fn note(self, record: &mut dyn Record) {
        let window_ns = sys::clock::now_ns().saturating_sub(self.at_ns);
        let until_now = |(backend, before): (Backend, Option<Usage>)| {
            let spent = before.and_then(|before| {
                let processes = tree::family(&backend.pids.iter().copied().collect()).ok()?;
                Usage::from_processes(processes).ok()?.since(&before).ok()
            });
            let ticks_ns =
                spent.as_ref().map(|spent| spent.exact_ns.unwrap_or(spent.user_ns + spent.system_ns));
            let thread_ns = spent.and_then(|spent| Some(spent.busiest?.cpu_ns));
            Backend { window_ns, cpu_ns: ticks_ns, thread_ns, ..backend }
        };
        record.note(NoteBody::Backends(self.found.into_iter().map(until_now).collect()));
    }
}

/// The server's connections to one address that others listen at, and those sockets.
#[derive(Debug, Default, PartialEq, Eq)]
struct Connected {
    connections: u64,
    listeners: BTreeSet<u64>,
}

/// By the address that others listen at. `own` are the sockets of the server.
fn connected(all: &[TcpSocket], own: &BTreeSet<u64>) -> BTreeMap<SocketAddr, Connected> {
    let is_own = |socket: &&TcpSocket| own.contains(&socket.inode);
    let others: Vec<Socket> = (all.iter())
        .filter(|socket| socket.state == LISTEN && !is_own(socket))
        .map(|socket| Socket {
            local: socket.local,
            remote: socket.remote,
            state: socket.state,
            uid: 0,
            inode: socket.inode,
        })
        .collect();
    let mut behind: BTreeMap<SocketAddr, Connected> = BTreeMap::new();
    for outgoing in all.iter().filter(|socket| socket.state != LISTEN).filter(is_own) {
        let serving: Vec<&Socket> = others.iter().filter(|other| other.serves(outgoing.remote)).collect();
        let Some(first) = serving.first() else { continue };
        let one = behind.entry(first.local).or_default();
        one.connections += 1;
        one.listeners.extend(serving.iter().filter(|other| other.local == first.local).map(|one| one.inode));
    }
    behind
}

fn backend(at: SocketAddr, one: &Connected) -> (Backend, Option<Usage>) {
    let holders = sockets::owners(&one.listeners).map(|owners| owners.pids).unwrap_or_default();
    let holders: BTreeSet<i32> = holders.into_iter().filter(|pid| *pid != INIT).collect();
    let name = holders.first().and_then(|pid| Some(tree::one(*pid)?.name));
    let processes = if holders.is_empty() { Vec::new() } else { tree::family(&holders).unwrap_or_default() };
    let backend = Backend {
        socket: at.to_string(),
        name,
        pids: processes.iter().map(|stat| stat.pid).collect(),
        connections: one.connections,
        window_ns: 0,
        cpu_ns: None,
        thread_ns: None,
    };
    (backend, Usage::from_processes(processes).ok())
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn socket(local: &str, remote: &str, state: u8, inode: u64) -> TcpSocket {
        let at = |text: &str| text.parse().unwrap();
        TcpSocket { local: at(local), remote: at(remote), state, inode, waiting: 0, room: 0, drops: None }
    }

    #[test]
    fn applications_listen_where_the_server_is_connected_to() {
        let all = [
            socket("127.0.0.1:8196", "0.0.0.0:0", LISTEN, 1),
            socket("0.0.0.0:8197", "0.0.0.0:0", LISTEN, 2),
            socket("127.0.0.1:22", "0.0.0.0:0", LISTEN, 3),
            // A client's connection to the server, two of the server's, and one of somebody else's.
            socket("127.0.0.1:8196", "127.0.0.1:50000", ESTABLISHED, 4),
            socket("127.0.0.1:50001", "127.0.0.1:8197", ESTABLISHED, 5),
            socket("127.0.0.1:50002", "127.0.0.1:8197", SYN_SENT, 6),
            socket("127.0.0.1:50003", "127.0.0.1:22", ESTABLISHED, 7),
            // Elsewhere.
            socket("127.0.0.1:50004", "10.0.0.1:80", ESTABLISHED, 8),
        ];
        let found = connected(&all, &[1, 4, 5, 6, 8].into());
        let wanted = Connected { connections: 2, listeners: [2].into() };
        assert_eq!(found, [("0.0.0.0:8197".parse().unwrap(), wanted)].into());
        assert!(connected(&all, &[1, 4].into()).is_empty());
    }

    #[test]
    fn the_processes_of_an_application_are_named() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let at = listener.local_addr().unwrap();
        let _connection = TcpStream::connect(at).unwrap();
        let inode = sock_diag::tcp(&[LISTEN]).unwrap().into_iter().find(|one| one.local == at).unwrap().inode;
        let (found, used) = backend(at, &Connected { connections: 1, listeners: [inode].into() });
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(found.pids.contains(&own) && found.name.is_some() && used.is_some(), "{found:?}");
        let (unseen, used) = backend(at, &Connected { connections: 1, listeners: [u64::MAX].into() });
        assert_eq!((unseen.name, unseen.pids, used), (None, Vec::new(), None));
    }
}
