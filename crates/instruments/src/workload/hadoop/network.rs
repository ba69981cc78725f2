//! The network of a cluster on one machine: the loopback for one node, else a network namespace for each node.
//!
//! A namespace is held by a process of ours and has no other name, so that the kernel removes it, with its addresses
//! and its bridge, when that process and those in it have ended, whatever ended them. Each has its host name, and a
//! file of names in the place of /etc/hosts that only its processes see. Nothing of the host is changed. Needs root.

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use sys::process::Start;

use super::lab::member::{self, Place};
use crate::workload::guard::Guarded;
use crate::workload::server::run::within;
use crate::workload::server::tree::{self, Stat};
use crate::workload::shell;

/// The node with the daemons that a cluster has once.
pub const MASTER: &str = "m";
/// Addresses of the nodes; they exist in these namespaces alone.
const NET: &str = "10.77.0";
const FIRST_WORKER: u32 = 11;
/// The most nodes that have an address.
pub const MOST_NODES: u32 = 64;
/// Time limit of a step: to start a process, to run `ip`, to end what runs on a node. The kernel makes and removes
/// network devices one at a time, for all namespaces, so that a step may wait for what others do.
const STEP: Duration = Duration::from_secs(60);

/// Where the daemons of a cluster find each other.
#[derive(Debug)]
pub enum Network {
    Loopback,
    /// A namespace each: the bridge's, the master's, those of the nodes.
    Namespaces(Vec<Space>),
    /// The network of several hosts, of which this is one.
    Lab(Place),
}

/// A namespace, and the process that holds it.
#[derive(Debug)]
pub struct Space {
    name: String,
    holder: Guarded,
}

/// A node, the process that holds its namespace, and the others in it.
#[derive(Clone, Debug)]
pub struct Seen {
    pub name: String,
    pub holder: i32,
    pub processes: Vec<Stat>,
}

/// The program that holds a namespace.
const HOLDER: &str = "sleep";
/// The tools that make namespaces and that run something in one.
const TOOLS: [&str; 4] = ["unshare", "nsenter", "ip", "mount"];

/// The name of a worker, from 1 on.
pub fn worker(number: u32) -> String {
    format!("w{number}")
}

/// The bridge's end of a node's link.
fn port(node: &str) -> String {
    format!("p-{node}")
}

/// Fails where namespaces cannot be made here.
pub fn available() -> Result<(), String> {
    if sys::files::effective_ids().0 != 0 {
        return Err("several nodes on one machine need network namespaces, which only root can make: as root, or with \
                    --nodes 1"
            .to_owned());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = |tool: &&str| std::env::split_paths(&path).any(|dir| dir.join(tool).is_file());
    match TOOLS.iter().find(|tool| !is_there(tool)) {
        None => Ok(()),
        Some(tool) => {
            Err(format!("several nodes on one machine need `{tool}`: install util-linux and iproute2"))
        }
    }
}

impl Network {
    /// Makes the namespaces of a master and so many nodes, with a bridge between them; `folder` is for the file of
    /// names. Fails where the kernel refuses one. The calling thread must last as long as they.
    pub fn make(nodes: u32, folder: &Path) -> Result<Network, String> {
        available()?;
        let hosts = folder.join("hosts");
        let names: Vec<(String, String)> = std::iter::once((MASTER.to_owned(), format!("{NET}.1")))
            .chain((1..=nodes).map(|number| (worker(number), format!("{NET}.{}", FIRST_WORKER + number - 1))))
            .collect();
        let mut text = "127.0.0.1 localhost\n".to_owned();
        names.iter().for_each(|(name, address)| text.push_str(&format!("{address} {name}\n")));
        sys::files::atomic_write(&hosts, text.as_bytes(), 0o644).map_err(|error| error.to_string())?;
        let mut spaces = vec![Space::make("bridge")?];
        let bridge = spaces[0].pid();
        let inside = |space: &Space, words: &[&str]| space.run(words);
        inside(&spaces[0], &["ip", "link", "add", "br0", "type", "bridge"])?;
        inside(&spaces[0], &["ip", "link", "set", "br0", "up"])?;
        for (name, address) in &names {
            let space = Space::make(name)?;
            let (port, pid) = (port(name), space.pid().to_string());
            let on_bridge = |words: &[&str]| run(bridge, words);
            on_bridge(&["ip", "link", "add", &port, "type", "veth", "peer", "name", "eth0", "netns", &pid])?;
            on_bridge(&["ip", "link", "set", &port, "master", "br0", "up"])?;
            inside(&space, &["ip", "addr", "add", &format!("{address}/24"), "dev", "eth0"])?;
            inside(&space, &["ip", "link", "set", "lo", "up"])?;
            inside(&space, &["ip", "link", "set", "eth0", "up"])?;
            inside(&space, &["hostname", name])?;
            inside(&space, &["mount", "--bind", &hosts.display().to_string(), "/etc/hosts"])?;
            spaces.push(space);
        }
        Ok(Network::Namespaces(spaces))
    }

    /// The host name of the node with the daemons that a cluster has once.
    pub fn master(&self) -> &str {
        match self {
            Network::Loopback => "localhost",
            Network::Namespaces(_) => MASTER,
            Network::Lab(place) => place.members.first().map_or("", |one| one.name.as_str()),
        }
    }

    /// The names of nodes with data and containers.
    pub fn workers(&self) -> Vec<String> {
        match self {
            Network::Loopback => vec!["localhost".to_owned()],
            Network::Namespaces(spaces) => spaces.iter().skip(2).map(|space| space.name.clone()).collect(),
            Network::Lab(place) => place.members.iter().map(|one| one.name.clone()).collect(),
        }
    }

    /// Those of them whose processes are on this machine.
    pub fn workers_here(&self) -> Vec<String> {
        match self {
            Network::Lab(place) => place.own().map(|one| one.name.clone()).into_iter().collect(),
            _ => self.workers(),
        }
    }

    /// The address that daemons listen on.
    pub fn listen(&self) -> String {
        match self {
            Network::Loopback => "127.0.0.1".to_owned(),
            Network::Namespaces(_) => "0.0.0.0".to_owned(),
            Network::Lab(_) => self.door().to_string(),
        }
    }

    /// The address at which the master's daemons answer this program.
    pub fn door(&self) -> Ipv4Addr {
        match self {
            Network::Lab(place) => place.own().map_or(Ipv4Addr::LOCALHOST, |one| one.address),
            _ => Ipv4Addr::LOCALHOST,
        }
    }

    /// The entries of a class path, as configurations and containers are told them.
    pub fn class_path(&self, entries: &[String]) -> Vec<String> {
        match self {
            Network::Lab(_) => vec![format!("${}", member::JARS)],
            _ => entries.to_vec(),
        }
    }

    /// Further variables of a cluster's Java processes.
    pub fn environment(&self, folder: &Path, class_path: &[String]) -> Vec<(&'static str, String)> {
        match self {
            Network::Lab(_) => member::environment(folder, class_path).into(),
            _ => Vec::new(),
        }
    }

    /// A command that runs `program` on a node, in a folder.
    pub fn command(&self, node: &str, program: &Path, folder: &Path) -> Command {
        let mut command = match self.space(node) {
            None => Command::new(program),
            Some(space) => {
                let mut command = Command::new("nsenter");
                command.args(["--target", &space.pid().to_string(), "--net", "--uts", "--mount"]);
                command.arg(format!("--wd={}", folder.display())).arg("--").arg(program);
                command
            }
        };
        command.current_dir(folder);
        command
    }

    /// Does something in the network of the master. Fails where the kernel does not let this program in.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, String> {
        let Some(space) = self.space(MASTER) else { return Ok(work()) };
        let path = format!("/proc/{}/ns/net", space.pid());
        let failed = |error: &dyn std::fmt::Display| format!("cannot enter the network of {MASTER}: {error}");
        let file = File::open(&path).map_err(|error| failed(&error))?;
        // A thread of its own, since it stays in that network.
        std::thread::scope(|scope| {
            let entered = scope.spawn(|| {
                move_into_link_name_space(file.as_fd(), Some(LinkNameSpaceType::Network))?;
                Ok(work())
            });
            let entered: Result<T, rustix::io::Errno> =
                entered.join().map_err(|_| failed(&"a thread ended"))?;
            entered.map_err(|error| failed(&error))
        })
    }

    /// Kills every process of a node but the one that holds its namespace, so that its address still answers that
    /// nobody listens. Fails when one does not end.
    pub fn kill(&self, node: &str) -> Result<(), String> {
        let space = self.space(node).ok_or_else(|| format!("{node} has no namespace"))?;
        let mut left = Ok(Vec::new());
        let ended = within(STEP, || {
            left = space.processes();
            for pid in left.iter().flatten().filter_map(|pid| Pid::from_raw(*pid)) {
                // One that has ended meanwhile is what was wanted.
                let _gone = kill_process(pid, Signal::KILL);
            }
            left.as_ref().is_ok_and(Vec::is_empty)
        });
        match (ended, left) {
            (true, _) => Ok(()),
            (false, Err(why)) => Err(format!("cannot kill the processes on {node}: {why}")),
            (false, Ok(_)) => Err(format!("processes on {node} do not end within {} s", STEP.as_secs())),
        }
    }

    /// Takes the link between a node and the bridge down, or up again.
    pub fn set_link(&self, node: &str, is_up: bool) -> Result<(), String> {
        match self {
            Network::Loopback | Network::Lab(_) => Err(format!("{node} has no link of ours")),
            Network::Namespaces(spaces) => {
                let way = if is_up { "up" } else { "down" };
                spaces[0].run(&["ip", "link", "set", &port(node), way])
            }
        }
    }

    /// The nodes with their processes, the master first; none on the loopback. Fails when they cannot be seen.
    pub fn seen(&self) -> Result<Vec<Seen>, String> {
        let Network::Namespaces(spaces) = self else { return Ok(Vec::new()) };
        let all: Vec<(u64, Stat)> = tree::processes()?
            .into_iter()
            .filter(|stat| !stat.is_kernel)
            .filter_map(|stat| Some((inode(stat.pid, "net")?, stat)))
            .collect();
        let of = |space: &Space| {
            let own = inode(space.pid(), "net")?;
            let its = all.iter().filter(|(net, stat)| *net == own && stat.pid != space.pid());
            let processes = its.map(|(_, stat)| stat.clone()).collect();
            Some(Seen { name: space.name.clone(), holder: space.pid(), processes })
        };
        Ok(spaces.iter().skip(1).filter_map(of).collect())
    }

    fn space(&self, node: &str) -> Option<&Space> {
        match self {
            Network::Loopback | Network::Lab(_) => None,
            Network::Namespaces(spaces) => spaces.iter().find(|space| space.name == node),
        }
    }
}

impl Space {
    /// A namespace of network, host name and mounts, which a sleeping process holds.
    fn make(name: &str) -> Result<Space, String> {
        let mut command = Command::new("unshare");
        command.args(["--net", "--uts", "--mount", "--", HOLDER, "infinity"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let holder = Guarded::spawn(command, Start::default())?;
        let mut space = Space { name: name.to_owned(), holder };
        let mut ended = None;
        // Before it is `sleep`, `unshare` may not have cut its mounts off from those of the host yet.
        let made = within(STEP, || {
            ended = space.holder.try_wait().ok().flatten();
            ended.is_some() || is_called(space.pid(), HOLDER)
        });
        match (made, ended) {
            (true, None) => Ok(space),
            (_, Some(exit)) => {
                Err(format!("the kernel gives no namespace for {name}: unshare ended with {}", exit.status))
            }
            (false, None) => Err(format!("no namespace for {name} after {} s", STEP.as_secs())),
        }
    }

    /// The living processes in its network, without the one that holds it. Fails when they cannot be seen.
    fn processes(&self) -> Result<Vec<i32>, String> {
        let own = inode(self.pid(), "net").ok_or("the process that holds its namespace is gone")?;
        let others = tree::processes()?.into_iter().map(|stat| stat.pid).filter(|pid| *pid != self.pid());
        // Of one that has ended the kernel shows no namespace.
        Ok(others.filter(|pid| inode(*pid, "net") == Some(own)).collect())
    }

    fn pid(&self) -> i32 {
        self.holder.pgid()
    }

    fn run(&self, words: &[&str]) -> Result<(), String> {
        run(self.pid(), words)
    }
}

/// True once a process has become this program.
fn is_called(pid: i32, program: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == program)
}

/// The namespace of a kind (`net`, `mnt`) that a process is in; `None` where it has ended.
fn inode(pid: i32, kind: &str) -> Option<u64> {
    std::fs::metadata(format!("/proc/{pid}/ns/{kind}")).map(|meta| meta.ino()).ok()
}

/// Runs a short command in the namespaces that a process holds. Fails when it does.
fn run(pid: i32, words: &[&str]) -> Result<(), String> {
    let mut command = Command::new("nsenter");
    command.args(["--target", &pid.to_string(), "--net", "--uts", "--mount", "--"]).args(words);
    let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
    let ended = shell::run_command(command, Start::default(), &cpus, STEP)?;
    match ended.failure(STEP) {
        None => Ok(()),
        Some(failure) => Err(format!("`{}` {failure}", words.join(" "))),
    }
}
