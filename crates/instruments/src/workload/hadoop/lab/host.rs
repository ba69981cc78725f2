//! A node of a cluster that is not its master: it starts a DataNode and a NodeManager when the master asks, in a
//! private folder, and ends them with this process, or when the master has no such cluster any more.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use model::generate::Loaded;

use super::counted::Counted;
use super::member::Place;
use super::task::{Answer, Beginning, NodeFacts, Task, Wanted};
use crate::system_files::Root;
use crate::system_files::cgroup;
use crate::telemetry::parse::meminfo;
use crate::workload::guard;
use crate::workload::hadoop::cluster;
use crate::workload::hadoop::daemon::{self, Daemon, Site};
use crate::workload::hadoop::network::Network;
use crate::workload::hadoop::settings::{self, Node, Ports};
use crate::workload::hadoop::sizing::{Heaps, Sizes};
use crate::workload::server::keeper;
use crate::workload::server::kind::ServerError;
use crate::workload::server::port::Port;
use crate::workload::server::private_folder::PrivateFolder;

/// Folders for the files of a cluster, where the one that the master names is not here.
const FOLDERS: [&str; 2] = ["/var/tmp", "/tmp"];
/// Ports of a node that is not the master: of its DataNode and of its NodeManager.
const OWN_PORTS: usize = 7;

/// The daemons of one cluster on this node.
struct Running {
    id: u64,
    /// None between a fault and its repair.
    daemons: Vec<Daemon>,
    site: Arc<Site>,
    name: String,
    heaps: Heaps,
    _ports: Vec<Port>,
    /// The last field, so that the processes are gone before their folder.
    folder: Option<PrivateFolder>,
}

static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());

/// Carries out what the master asks. `start` is called once it is done. Fails with the reason, in words that follow
/// the node's name.
pub fn serve(task: Task, start: &mut dyn FnMut() -> Option<u64>) -> Result<Loaded, String> {
    let answer = answered(task)?;
    let start_ns = start().ok_or("the question was called off")?;
    let body = postcard::to_stdvec(&answer).map_err(|error| error.to_string())?;
    Ok(Loaded { start_ns, body })
}

fn answered(task: Task) -> Result<Answer, String> {
    let mut all = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|one| task.living.contains(&one.id));
    match task.wanted {
        Wanted::Facts { dir } => facts(&folder(&dir)).map(Answer::Facts),
        Wanted::Start(beginning) => {
            all.retain(|one| one.id != beginning.id);
            let kept = keeper::run(move || begun(&beginning).map_err(ServerError::Failed));
            all.push(kept.map_err(|error| error.to_string())?);
            Ok(Answer::Started)
        }
        Wanted::Check { id } => {
            let one = of(&mut all, id)?;
            Ok(match one.daemons.iter_mut().try_for_each(Daemon::check) {
                Ok(()) => Answer::Runs(Counted::now()),
                Err(why) => Answer::Ended(why),
            })
        }
        Wanted::Kill { id } => {
            let one = of(&mut all, id)?;
            daemon::kill(&one.daemons)?;
            one.daemons.clear();
            Ok(Answer::Killed)
        }
        Wanted::Restart { id } => {
            let one = of(&mut all, id)?;
            let (site, name, heaps) = (Arc::clone(&one.site), one.name.clone(), one.heaps);
            let started = keeper::run(move || site.start_worker(&name, heaps).map_err(ServerError::Failed));
            one.daemons = started.map_err(|error| error.to_string())?;
            Ok(Answer::Started)
        }
        Wanted::Cause { id, full_disks } => {
            let daemons = all.iter().filter(|one| one.id == id).flat_map(|one| &one.daemons);
            let line = |one: &Daemon| if full_disks { one.says(cluster::NO_SPACE) } else { one.cause() };
            let mut said = daemons.filter_map(|one| Some(format!("{} says: {}", one.name(), line(one)?)));
            Ok(Answer::Cause(said.next()))
        }
    }
}

/// The daemons of this cluster. Fails where it is not here.
fn of(all: &mut [Running], id: u64) -> Result<&mut Running, String> {
    all.iter_mut().find(|one| one.id == id).ok_or_else(|| "it has no daemons of this cluster".to_owned())
}

fn folder(wanted: &Path) -> PathBuf {
    let all = std::iter::once(wanted).chain(FOLDERS.iter().map(Path::new));
    let there = |path: &&Path| path.is_dir();
    all.into_iter().find(there).unwrap_or(wanted).to_owned()
}

fn facts(dir: &Path) -> Result<NodeFacts, String> {
    guard::available()?;
    let distribution = cluster::distribution()?;
    let known = std::fs::read("/proc/meminfo").ok().and_then(|text| meminfo::parse(&text).total);
    let limit = cgroup::limits(&Root::live()).memory.flatten();
    let memory = known.into_iter().chain(limit).min().ok_or("its memory is not known")?;
    let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
    Ok(NodeFacts {
        memory,
        cores: u32::try_from(cpus.len()).unwrap_or(u32::MAX),
        disk_free: cluster::free_bytes(dir)?,
        hadoop: distribution.version,
        java: distribution.java.version,
    })
}

/// Makes the folder and its files, and starts both daemons.
fn begun(asked: &Beginning) -> Result<Running, String> {
    let place = Place { members: asked.members.clone(), own: asked.own };
    let own = place.own().ok_or("it is no node of this cluster")?.clone();
    let master = place.members.first().map(|one| one.name.clone()).unwrap_or_default();
    let folder = PrivateFolder::make(&folder(&asked.dir), None)?;
    let path = folder.path().to_owned();
    settings::check_folder(&path)?;
    place.write_hosts(&path)?;
    let free = (0..OWN_PORTS).map(|_| Port::free(own.address.into()));
    let free = free
        .collect::<Result<Vec<_>, _>>()
        .map_err(|why| format!("{why}: is {} its address?", own.address))?;
    let ports = own_ports(asked.ports, &free);
    let site = Site { distribution: cluster::distribution()?, network: Network::Lab(place), folder: path };
    let sizes = Sizes {
        nodes: u32::try_from(asked.members.len()).unwrap_or(u32::MAX),
        heaps: asked.heaps,
        container: asked.container,
        node_memory: asked.node_memory,
        node_vcores: asked.node_vcores,
        slots: 0,
        maps: 0,
        held: 0,
        derived: Vec::new(),
    };
    let node_folder = site.node_folder(&own.name);
    let class_path = site.network.class_path(&site.distribution.class_path);
    settings::write(&Node {
        name: &own.name,
        master: &master,
        listen: &site.network.listen(),
        ports,
        folder: &node_folder,
        sizes: &sizes,
        replication: 1,
        class_path: &class_path,
        is_quick: asked.is_quick,
        opens: site.opens(),
    })?;
    Ok(Running {
        id: asked.id,
        daemons: site.start_worker(&own.name, asked.heaps)?,
        site: Arc::new(site),
        name: own.name,
        heaps: asked.heaps,
        _ports: free,
        folder: Some(folder),
    })
}

/// The master's ports, with those of this node's own daemons.
fn own_ports(masters: Ports, free: &[Port]) -> Ports {
    let number = |at: usize| free.get(at).map_or(0, Port::number);
    Ports {
        data_node: number(0),
        data_node_http: number(1),
        data_node_ipc: number(2),
        node_manager: number(3),
        localizer: number(4),
        node_manager_http: number(5),
        shuffle: number(6),
        ..masters
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.daemons.iter_mut().rev().for_each(Daemon::end);
        if let Some(folder) = self.folder.take() {
            // Containers are in sessions of their own. Nobody hears of one that does not end; the guard tries again.
            let _left = guard::end_marked(folder.path());
            let _left_to_the_guard = folder.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_without_the_cluster_says_so() {
        let task = Task { living: vec![7], wanted: Wanted::Check { id: 7 } };
        assert!(answered(task).unwrap_err().contains("no daemons of this cluster"));
    }

    #[test]
    fn a_folder_that_is_not_here_is_replaced() {
        assert!(FOLDERS.iter().any(|known| Path::new(known) == folder(Path::new("/nonexistent/x"))));
        assert_eq!(folder(Path::new("/")), Path::new("/"));
    }
}
