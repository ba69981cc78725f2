//! The server under load, ours or another, and its processes.
//!
//! Processes of a server that is not ours are found by its listening socket, on this machine only; those of a cluster
//! by that of its coordinator, and by their connections to it. All such servers
//! that are under load are known here, so that nobody takes their work for that of strangers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use model::url::Url;

use super::pool::Hosted;
use crate::load::target::addresses;
use crate::workload::guard;
use crate::workload::server::run::Server;
use crate::workload::server::sockets;
use crate::workload::server::tree::{self, Stat, Usage};

/// The server that is loaded.
#[derive(Debug)]
pub enum Served {
    Ours(Arc<Hosted>),
    Theirs(Arc<Theirs>),
}

/// A server that runs without our doing.
#[derive(Debug)]
pub struct Theirs {
    /// Host and port.
    name: String,
    at: At,
    /// The processes that hold its socket, once they were found.
    roots: Mutex<Option<BTreeSet<i32>>>,
}

/// Where it is found.
#[derive(Debug)]
enum At {
    Url(Url),
    /// The coordinator of a cluster, where it is on this machine.
    Cluster(Vec<SocketAddr>),
}

static UNDER_LOAD: Mutex<Vec<Weak<Theirs>>> = Mutex::new(Vec::new());

/// CPU time so far of the servers under load and of all that was started here and still runs: servers, stores, peers,
/// commands.
pub fn cpu_ns() -> u64 {
    // Where the clock's ticks are not known, nothing else that is counted in them is either.
    tree::cpu_ns(&processes()).unwrap_or_default()
}

/// The processes of the servers under load, and all that was started here and still runs.
pub fn processes() -> Vec<Stat> {
    let known: Vec<Arc<Theirs>> =
        UNDER_LOAD.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade).collect();
    // Several loads may share one server.
    let servers: HashMap<String, &Arc<Theirs>> = known.iter().map(|one| (one.name.clone(), one)).collect();
    let found = servers.values().filter_map(|theirs| theirs.processes().ok()).flatten();
    let started = tree::of_groups(&guard::groups()).unwrap_or_default();
    let each: BTreeMap<i32, Stat> = found.chain(started).map(|stat| (stat.pid, stat)).collect();
    each.into_values().collect()
}

impl Served {
    pub fn ours(hosted: Arc<Hosted>) -> Arc<Served> {
        Arc::new(Served::Ours(hosted))
    }

    pub fn theirs(url: &Url) -> Arc<Served> {
        Served::known(url.authority(), At::Url(url.clone()))
    }

    /// A cluster whose coordinator listens there.
    pub fn cluster(name: &str, coordinator: Vec<SocketAddr>) -> Arc<Served> {
        Served::known(name.to_owned(), At::Cluster(coordinator))
    }

    fn known(name: String, at: At) -> Arc<Served> {
        let theirs = Arc::new(Theirs { name, at, roots: Mutex::new(None) });
        let mut all = UNDER_LOAD.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(&theirs));
        Arc::new(Served::Theirs(theirs))
    }

    fn processes(&self) -> Result<Vec<Stat>, String> {
        match self {
            Served::Ours(hosted) => match hosted.with(|server| server.processes()) {
                Some(processes) => processes,
                None => Err("the server is not running".to_owned()),
            },
            Served::Theirs(theirs) => theirs.processes(),
        }
    }

    /// Its processes, or why they are not known here.
    pub fn pids(&self) -> Result<Vec<i32>, String> {
        Ok(self.processes()?.iter().map(|stat| stat.pid).collect())
    }

    /// One of its processes; `None` when none is known here.
    pub fn leader(&self) -> Option<i32> {
        match self {
            Served::Ours(hosted) => hosted.with(Server::leader)?,
            Served::Theirs(theirs) => theirs.processes().ok()?.first().map(|stat| stat.pid),
        }
    }

    /// The CPU time that its processes have used so far. Fails, with the reason, when that is not known here.
    pub fn usage(&self) -> Result<Usage, String> {
        Usage::from_processes(self.processes()?)
    }
}

impl Theirs {
    fn processes(&self) -> Result<Vec<Stat>, String> {
        let mut roots = self.roots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = roots.as_ref() {
            let alive = tree::family(known)?;
            if !alive.is_empty() {
                return Ok(alive);
            }
        }
        let found = match &self.at {
            At::Url(url) => listening(addresses(url)?, &self.name),
            At::Cluster(coordinator) => listening(coordinator.clone(), &self.name)
                .and_then(|roots| Ok(roots.into_iter().chain(members(coordinator)?).collect())),
        }?;
        let alive = tree::family(&found)?;
        *roots = Some(found);
        Ok(alive)
    }
}

fn is_local(address: &SocketAddr) -> bool {
    address.ip().to_canonical().is_loopback()
}

/// The processes that listen at one of these addresses of this machine.
fn listening(at: Vec<SocketAddr>, name: &str) -> Result<BTreeSet<i32>, String> {
    let mut why = format!("the server at {name} is not known to be on this machine");
    for address in at.into_iter().filter(is_local) {
        match sockets::listeners(address) {
            Ok(listeners) => return Ok(listeners),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// The processes that are connected to a coordinator and serve something themselves: a client of it listens nowhere.
fn members(coordinator: &[SocketAddr]) -> Result<BTreeSet<i32>, String> {
    const ESTABLISHED: u8 = 1;
    let all = sockets::all()?;
    let to_it = |socket: &&sockets::Socket| {
        let remote = SocketAddr::new(socket.remote.ip().to_canonical(), socket.remote.port());
        socket.state == ESTABLISHED && is_local(&remote) && coordinator.contains(&remote)
    };
    let connected: BTreeSet<u64> = all.iter().filter(to_it).map(|socket| socket.inode).collect();
    let serving: BTreeSet<u64> =
        all.iter().filter(|socket| socket.listens()).map(|socket| socket.inode).collect();
    let serving = sockets::owners(&serving)?.pids;
    Ok(sockets::owners(&connected)?.pids.into_iter().filter(|pid| serving.contains(pid)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_work_of_a_server_under_load_is_known() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
        let (one, same) = (Served::theirs(&url), Served::theirs(&url));
        let start_ns = sys::clock::thread_cpu_ns();
        while sys::clock::thread_cpu_ns() - start_ns < 50_000_000 {
            std::hint::spin_loop();
        }
        // This process listens; it counts once, whatever else in it is loaded.
        let seen_ns = cpu_ns();
        let pid = i32::try_from(std::process::id()).unwrap();
        let own_ns = tree::cpu_ns(&tree::family(&[pid].into()).unwrap()).unwrap();
        assert!((30_000_000..=own_ns).contains(&seen_ns), "{seen_ns} {own_ns}");
        assert_eq!(one.usage().unwrap().processes.len(), same.usage().unwrap().processes.len());
    }

    #[test]
    fn the_members_of_a_cluster_are_connected_to_its_coordinator() {
        let coordinator = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = coordinator.local_addr().unwrap();
        assert_eq!(members(&[address]), Ok(BTreeSet::new()));
        // This process listens, and is connected.
        let _connection = std::net::TcpStream::connect(address).unwrap();
        let me = i32::try_from(std::process::id()).unwrap();
        assert_eq!(members(&[address]), Ok([me].into()));
        let cluster = Served::cluster("here", vec![address]);
        assert!(cluster.pids().unwrap().contains(&me));
    }

    #[test]
    fn servers_elsewhere_have_no_processes_here() {
        let far = Served::theirs(&"http://192.0.2.1/".parse().unwrap());
        let why = far.usage().unwrap_err();
        assert!(why.contains("not known to be on this machine"), "{why}");
    }
}
