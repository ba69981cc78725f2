//! A cluster of ours on this machine: made in a private folder, started in the order that its daemons need, asked by
//! their own web interfaces until it is ready, ended as a whole.
//!
//! NameNode (formatted in the new folder), DataNodes, ResourceManager and NodeManagers; the history server only once
//! HDFS takes writes, since it waits ten seconds if it is early. Every wait is bounded. The time of a start is not
//! part of any figure. Loads with equal keys share a cluster. One of the user's (`theirs`) is asked by the same names.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use model::node_use::NodeUse;
use sys::process::Start;

use super::daemon::{self, Daemon, HISTORY_SERVER, NAME_NODE, RESOURCE_MANAGER, Site};
use super::distribution;
use super::fault;
use super::lab::{Far, Lab, watch};
use super::machine_use::MachineUse;
use super::network::Network;
use super::node_use;
use super::rest::{Door, HDFS_STATE};
use super::settings::{self, Node, Ports};
use super::sizing::{Facts, Sizes, sizes};
use super::states::{hdfs_state, manager_state, yarn_state};
use super::theirs::Theirs;
use crate::progress;
use crate::workload::guard;
use crate::workload::server::keeper;
use crate::workload::server::kind::ServerError;
use crate::workload::server::port::Port;
use crate::workload::server::private_folder::PrivateFolder;
use crate::workload::server::run::up_within;
use crate::workload::shell;

/// Time limits: of a start as a whole up to each state, and of the command that formats.
const UP: Duration = Duration::from_secs(180);
const FORMAT: Duration = Duration::from_secs(60);
/// Words of a daemon's log where its disk is full, and the free bytes below which one is.
pub(super) const NO_SPACE: &str = "No space left on device";
const FULL: u64 = 32 << 20;
/// Starts that are tried with other ports when others take them.
const TRIES: usize = 3;

/// The key of a shared cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    pub nodes: u32,
    pub dir: PathBuf,
    pub memory: u64,
    /// Those that its processes may use.
    pub cpus: Vec<usize>,
    /// Its daemons soon give up on a node that does not answer.
    pub is_quick: bool,
    /// On other hosts too.
    pub lab: Option<Lab>,
    /// The address of one of the user's.
    pub theirs: Option<String>,
}

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    pub site: Arc<Site>,
    key: Key,
    pub ports: Ports,
    pub sizes: Sizes,
    /// Seconds that its start took, with its folder, network and files.
    pub start_seconds: f64,
    daemons: Vec<Daemon>,
    /// Its part on other hosts.
    far: Option<Far>,
    /// Free bytes on the hosts of a lab, all together, when it was made.
    pub lab_disk: Option<u64>,
    /// It is one of the user's.
    pub theirs: Option<Theirs>,
    /// Data that jobs left for others, by its name.
    pub made: Vec<Made>,
    _ports: Vec<Port>,
    /// The last field, so that the processes are gone before their folder.
    folder: Option<PrivateFolder>,
}

/// Data in HDFS that jobs share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Made {
    pub folder: String,
    /// TeraChecksum's sum of its rows; empty of a log, whose jobs are proved otherwise.
    pub checksum: String,
}

/// A cluster that loads share.
#[derive(Debug)]
pub struct Hosted {
    key: Key,
    cluster: Mutex<Option<Cluster>>,
}

static POOL: Mutex<Vec<Weak<Hosted>>> = Mutex::new(Vec::new());
static DATA_DIR: OnceLock<PathBuf> = OnceLock::new();
/// That of this host, once it was found: its jars are read whole for that.
static FOUND: Mutex<Option<distribution::Distribution>> = Mutex::new(None);

/// Says where the user's data of this program is, with a fetched Hadoop in it. The first call counts.
pub fn set_data_dir(dir: PathBuf) {
    // A second call finds the first one's choice, as it says above.
    let _first_stays = DATA_DIR.set(dir);
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole between two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The Hadoop of this host, which is looked over once. Fails, with what to do, where there is none.
pub fn distribution() -> Result<distribution::Distribution, String> {
    let mut found = locked(&FOUND);
    if let Some(found) = &*found {
        return Ok(found.clone());
    }
    let home = std::env::var_os("HADOOP_HOME").map(PathBuf::from);
    let none = Path::new("/nonexistent");
    let one = distribution::find(DATA_DIR.get().map_or(none, PathBuf::as_path), home.as_deref())?;
    *found = Some(one.clone());
    Ok(one)
}

/// The cluster of this key, running already or started now. Fails when it does not come up.
pub fn get(key: Key) -> Result<Arc<Hosted>, ServerError> {
    guard::available().map_err(ServerError::Failed)?;
    let mut pool = locked(&POOL);
    pool.retain(|one| one.strong_count() > 0);
    if let Some(there) = pool.iter().filter_map(Weak::upgrade).find(|one| one.key == key) {
        return Ok(there);
    }
    let cluster = started(&key)?;
    let hosted = Arc::new(Hosted { key, cluster: Mutex::new(Some(cluster)) });
    pool.push(Arc::downgrade(&hosted));
    Ok(hosted)
}

impl Hosted {
    /// Does something with the cluster. One of which a daemon has ended is started anew before, and the reason
    /// returned; one that `work` breaks is ended. Fails when it does not start.
    pub fn with<T>(
        &self,
        work: impl FnOnce(&mut Cluster, Option<String>) -> Result<T, JobError>,
    ) -> Result<T, String> {
        let mut held = locked(&self.cluster);
        let ended = match held.as_mut().map(Cluster::check) {
            Some(Ok(())) => None,
            Some(Err(why)) => Some(why),
            None => Some("it was ended after a job that did not end".to_owned()),
        };
        if ended.is_some() {
            *held = None;
            *held = Some(started(&self.key).map_err(|error| error.to_string())?);
        }
        let cluster = held.as_mut().ok_or("the cluster is not running")?;
        match work(cluster, ended) {
            Ok(done) => Ok(done),
            Err(JobError::Failed(why)) => Err(cluster.explained(why)),
            Err(JobError::Stuck(why)) => {
                let why = cluster.explained(why);
                *held = None;
                Err(why)
            }
        }
    }

    /// Memory that its daemons hold, in bytes.
    pub fn footprint(&self) -> u64 {
        locked(&self.cluster).as_ref().map_or(0, |cluster| cluster.sizes.held << 20)
    }
}

/// Why a job has no result.
#[derive(Debug)]
pub enum JobError {
    Failed(String),
    /// It did not end in time, and may still be at work in the cluster.
    Stuck(String),
}

impl JobError {
    pub fn why(self) -> String {
        match self {
            JobError::Failed(why) | JobError::Stuck(why) => why,
        }
    }
}

impl From<String> for JobError {
    fn from(why: String) -> JobError {
        JobError::Failed(why)
    }
}

fn started(key: &Key) -> Result<Cluster, ServerError> {
    let key = key.clone();
    keeper::run(move || shell::on(&key.cpus, || Cluster::start(&key)).map_err(ServerError::Failed))
}

impl Cluster {
    /// Starts a cluster. Fails with the daemon, its node and the line of its log, where one does not come up.
    fn start(key: &Key) -> Result<Cluster, String> {
        let distribution = distribution()?;
        if let Some(uri) = &key.theirs {
            return Cluster::of_theirs(key, uri, distribution);
        }
        let mut taken = String::new();
        for _ in 0..TRIES {
            let from_ns = sys::clock::now_ns();
            let mut cluster = Cluster::make(key, distribution.clone())?;
            match cluster.bring_up() {
                Ok(()) => {
                    cluster.start_seconds = sys::clock::now_ns().saturating_sub(from_ns) as f64 / 1e9;
                    return Ok(cluster);
                }
                // Its ports were free a moment ago.
                Err(why) if why.contains("Address already in use") || why.contains("Port in use") => {
                    taken = why
                }
                Err(why) => return Err(why),
            }
        }
        Err(format!("no free ports for a cluster in {TRIES} starts: {taken}"))
    }

    /// Its folder, network and files, before anything runs.
    fn make(key: &Key, distribution: distribution::Distribution) -> Result<Cluster, String> {
        let folder = PrivateFolder::make(&key.dir, None)?;
        let path = folder.path().to_owned();
        settings::check_folder(&path)?;
        let cores = u32::try_from(key.cpus.len()).unwrap_or(u32::MAX);
        let facts = Facts { memory: key.memory, cores, disk_free: free_bytes(&path)? };
        let (network, reserved) = match (&key.lab, key.nodes) {
            (Some(lab), _) => {
                let network = Network::Lab(lab.place());
                let reserved = free_ports(network.door())?;
                lab.place().write_hosts(&path)?;
                (network, reserved)
            }
            (None, 1) => (Network::Loopback, free_ports(Ipv4Addr::LOCALHOST)?),
            (None, nodes) => (Network::make(nodes, &path)?, Vec::new()),
        };
        let (sizes, lab_disk) = match &key.lab {
            Some(lab) => {
                lab.sizes(&key.dir, facts, &distribution).map(|(sizes, disk)| (sizes, Some(disk)))?
            }
            None => (sizes(&facts, key.nodes)?, None),
        };
        let ports = match reserved.is_empty() {
            true => Ports::USUAL,
            false => Ports::from_numbers(std::array::from_fn(|at| reserved[at].number())),
        };
        let cluster = Cluster {
            site: Arc::new(Site { distribution, network, folder: path }),
            key: key.clone(),
            ports,
            sizes,
            start_seconds: 0.0,
            daemons: Vec::new(),
            far: key.lab.clone().map(Far::new),
            lab_disk,
            theirs: None,
            made: Vec::new(),
            _ports: reserved,
            folder: Some(folder),
        };
        for node in cluster.nodes() {
            cluster.write_files(&node)?;
        }
        Ok(cluster)
    }

    /// One of the user's that runs. Fails where it cannot be measured.
    fn of_theirs(key: &Key, uri: &str, distribution: distribution::Distribution) -> Result<Cluster, String> {
        let folder = PrivateFolder::make(&key.dir, None)?;
        let path = folder.path().to_owned();
        settings::check_folder(&path)?;
        let site = Site { distribution, network: Network::Loopback, folder: path };
        let theirs = Theirs::open(uri, &site)?;
        Ok(Cluster {
            site: Arc::new(site),
            key: key.clone(),
            ports: Ports::USUAL,
            sizes: theirs.sizes(),
            start_seconds: 0.0,
            daemons: Vec::new(),
            far: None,
            lab_disk: None,
            theirs: Some(theirs),
            made: Vec::new(),
            _ports: Vec::new(),
            folder: Some(folder),
        })
    }

    /// The folder in HDFS that jobs work in.
    pub fn home(&self) -> &str {
        self.theirs.as_ref().map_or("/boxscore", |theirs| &theirs.work.home)
    }

    /// Removes a folder of ours in HDFS with all that is in it; one that is not there is removed.
    pub fn remove(&self, folder: &str) -> Result<(), String> {
        match &self.theirs {
            None => self.name_node().remove(folder, &self.user()),
            Some(theirs) => theirs.shell(&self.site, &["-rm", "-r", "-f", "-skipTrash", folder]).map(drop),
        }
    }

    /// The user as whom HDFS sees this program; permissions are off.
    pub fn user(&self) -> String {
        let name = sys::files::invoking_user().name;
        name.filter(|_| sys::files::effective_ids().0 != 0).unwrap_or_else(|| "root".to_owned())
    }

    /// The names of all nodes, the master first.
    fn nodes(&self) -> Vec<String> {
        let network = &self.site.network;
        let mut all = vec![network.master().to_owned()];
        all.extend(network.workers_here());
        all.dedup();
        all
    }

    fn write_files(&self, name: &str) -> Result<(), String> {
        let network = &self.site.network;
        settings::write(&Node {
            name,
            master: network.master(),
            listen: &network.listen(),
            ports: self.ports,
            folder: &self.site.node_folder(name),
            sizes: &self.sizes,
            replication: 1,
            class_path: &network.class_path(&self.site.distribution.class_path),
            is_quick: self.key.is_quick,
            opens: self.site.opens(),
        })
    }

    fn bring_up(&mut self) -> Result<(), String> {
        let said = |what: &str| progress::current().report(&format!("starting a Hadoop cluster: {what}"));
        said("formatting HDFS");
        self.format()?;
        let (site, heaps) = (Arc::clone(&self.site), self.sizes.heaps);
        let (master, workers) = (site.network.master(), site.network.workers());
        said("its daemons");
        self.add(NAME_NODE, master, heaps.name_node)?;
        self.add(RESOURCE_MANAGER, master, heaps.resource_manager)?;
        for node in &site.network.workers_here() {
            self.daemons.extend(site.start_worker(node, heaps)?);
        }
        if let Some(far) = &self.far {
            far.start(&self.key.dir, self.ports, &self.sizes, self.key.is_quick)?;
        }
        let many = workers.len() as f64;
        self.wait("HDFS does not take writes", |cluster| {
            let state = cluster.name_node().get(HDFS_STATE)?;
            hdfs_state(&state, many)
        })?;
        said("its history server");
        self.add(HISTORY_SERVER, master, heaps.history_server)?;
        self.wait("YARN is not ready", |cluster| cluster.yarn_is_ready(many))?;
        self.wait("the history server is not ready", |cluster| {
            cluster.history()?.get("/ws/v1/history/info").map(|_| ())
        })
    }

    /// Fails unless YARN takes jobs and has so many nodes. They may register before it takes jobs.
    fn yarn_is_ready(&self, nodes: f64) -> Result<(), String> {
        let manager = self.resource_manager();
        manager_state(&manager.get("/ws/v1/cluster/info")?)?;
        yarn_state(&manager.get("/ws/v1/cluster/metrics")?, nodes)
    }

    fn add(&mut self, kind: daemon::Kind, node: &str, heap: u64) -> Result<(), String> {
        self.daemons.push(self.site.start(kind, node, heap)?);
        Ok(())
    }

    /// Makes HDFS in the folder that was made a moment ago.
    fn format(&self) -> Result<(), String> {
        let master = self.site.network.master();
        let mut command = self.site.java(master, self.sizes.heaps.name_node);
        command.arg("-Dhadoop.root.logger=INFO,console").arg(NAME_NODE.class);
        command.args(["-format", "-nonInteractive", "-clusterId", "CID-boxscore"]);
        let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
        let ended = shell::run_command(command, Start::default(), &cpus, FORMAT)?;
        match ended.failure(FORMAT) {
            None => Ok(()),
            Some(failure) => {
                let why = daemon::cause(&ended.stderr.text()).unwrap_or(failure);
                Err(format!("the NameNode on {master} does not format its folder: {why}"))
            }
        }
    }

    /// Asks until a state is there. Fails when a daemon ends, when it is late, and when the user cancels.
    fn wait(
        &mut self,
        late: &str,
        mut state: impl FnMut(&Cluster) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut ended = None;
        let mut answer = Err("it was never asked".to_owned());
        up_within(UP, || {
            ended = self.check().err();
            if ended.is_some() {
                return true;
            }
            answer = state(self);
            answer.is_ok()
        });
        progress::current().check()?;
        match (ended, answer) {
            (Some(why), _) => Err(why),
            (None, Ok(())) => Ok(()),
            (None, Err(why)) => {
                let told = self.daemons.iter().find_map(|one| Some((one.name(), one.cause()?)));
                let told = told.map(|(who, line)| format!("{who} says: {line}"));
                let told = told.or_else(|| self.far.as_ref()?.cause(false));
                let told = told.map_or_else(String::new, |said| format!("; the {said}"));
                Err(format!("{late} after {} s: {why}{told}", UP.as_secs()))
            }
        }
    }

    /// Kills the DataNode, the NodeManager and the containers of a node. The master's other daemons stay. Fails when a
    /// process does not end.
    pub fn kill(&self, node: &str) -> Result<(), String> {
        match &self.far {
            None => self.site.network.kill(node),
            Some(far) if far.has(node) => far.kill(node),
            Some(_) => daemon::kill(self.daemons.iter().filter(|one| one.is_of_worker())),
        }
    }

    /// No longer minds the DataNode and the NodeManager of a node, and ends those that are left.
    pub fn give_up(&mut self, node: &str) {
        self.daemons.retain(|one| one.node != node || !one.is_of_worker());
    }

    /// Starts a node anew that was lost, and waits until the cluster is whole. Its processes are ended before. Fails
    /// when it does not come up.
    pub fn repair(&mut self, node: &str) -> Result<(), String> {
        self.give_up(node);
        match &self.far {
            Some(far) if far.has(node) => far.restart(node)?,
            far => {
                if far.is_none() {
                    self.site.network.kill(node)?;
                    self.site.network.set_link(node, true)?;
                }
                let (site, cpus, heaps) = (Arc::clone(&self.site), self.key.cpus.clone(), self.sizes.heaps);
                let name = node.to_owned();
                let started = keeper::run(move || {
                    shell::on(&cpus, || site.start_worker(&name, heaps)).map_err(ServerError::Failed)
                });
                self.daemons.extend(started.map_err(|error| error.to_string())?);
            }
        }
        let many = self.site.network.workers().len() as f64;
        self.wait(&format!("{node} is not back in HDFS"), |cluster| {
            let state = cluster.name_node().get(HDFS_STATE)?;
            match fault::dead(&state) {
                Some(0.0) => hdfs_state(&state, many),
                _ => Err("a DataNode counts as dead".to_owned()),
            }
        })?;
        self.wait(&format!("{node} is not back in YARN"), |cluster| cluster.yarn_is_ready(many))
    }

    /// Fails when a daemon has ended, or a node on another host is lost.
    pub fn check(&mut self) -> Result<(), String> {
        self.far.as_ref().map_or(Ok(()), Far::check)?;
        self.daemons.iter_mut().try_for_each(Daemon::check)
    }

    /// Why a job failed: a daemon that is gone explains whatever else did, and a disk that is full explains much.
    fn explained(&mut self, why: String) -> String {
        if let Err(ended) = self.check() {
            return ended;
        }
        let full =
            self.daemons.iter().find_map(|one| Some(format!("{} says: {}", one.name(), one.says(NO_SPACE)?)));
        let full = full.or_else(|| self.far.as_ref()?.cause(true));
        let folder = &self.site.folder;
        let free = free_bytes(folder).ok().filter(|free| *free < FULL && self.theirs.is_none());
        match (full, free) {
            (Some(said), _) => format!("{why}; the {said}"),
            (None, Some(free)) => {
                let (free, shown) = (free >> 20, folder.display());
                format!(
                    "{why}; the disk is full: {free} MiB are free in {shown}, with the blocks of every node"
                )
            }
            (None, None) => why,
        }
    }

    /// The hosts that it is on, where there are several.
    pub fn lab(&self) -> Option<&Lab> {
        self.key.lab.as_ref()
    }

    /// Does something, and looks at the nodes meanwhile; of several hosts it tells their use together too.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<NodeUse>, Option<MachineUse>) {
        match &self.far {
            Some(far) => {
                let (done, nodes, machine) = watch::during(self.master(), far, work);
                (done, nodes, Some(machine))
            }
            None => {
                let (done, nodes) = node_use::during(&self.site.network, work);
                (done, nodes, None)
            }
        }
    }

    fn master(&self) -> watch::Master<'_> {
        let Site { network, folder, .. } = &*self.site;
        watch::Master { name: network.master(), folder, name_node: self.name_node() }
    }

    pub fn name_node(&self) -> Door<'_> {
        match &self.theirs {
            Some(theirs) => theirs.found.name_node.door(),
            None => self.door(self.ports.name_node_http),
        }
    }

    pub fn resource_manager(&self) -> Door<'_> {
        match &self.theirs {
            Some(theirs) => theirs.found.manager.door(),
            None => self.door(self.ports.resource_manager_http),
        }
    }

    /// Fails where one of the user's has no history server that answers.
    pub fn history(&self) -> Result<Door<'_>, String> {
        match &self.theirs {
            Some(theirs) => theirs.found.history.as_ref().map(|at| at.door()).map_err(Clone::clone),
            None => Ok(self.door(self.ports.history_http)),
        }
    }

    fn door(&self, port: u16) -> Door<'_> {
        let network = &self.site.network;
        Door { network, host: network.door().to_string().into(), port }
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.daemons.iter_mut().rev().for_each(Daemon::end);
        if let Some(folder) = self.folder.take() {
            self.theirs.iter().for_each(|theirs| theirs.leave(folder.path()));
            // Containers are in sessions of their own. A drop has nobody to tell of one that does not end; the guard
            // tries again.
            let _left = guard::end_marked(folder.path());
            let _left_to_the_guard = folder.remove();
        }
    }
}

fn free_ports(on: Ipv4Addr) -> Result<Vec<Port>, String> {
    (0..Ports::COUNT).map(|_| Port::free(on.into())).collect()
}

/// Free bytes of the file system of a folder, for those without rights of their own.
pub fn free_bytes(path: &Path) -> Result<u64, String> {
    let stat = rustix::fs::statvfs(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_hadoop_it_is_said_what_to_do() {
        if DATA_DIR.get().is_none() && std::env::var_os("HADOOP_HOME").is_none() {
            assert!(distribution().unwrap_err().contains("boxscore hadoop fetch"));
        }
    }
}
