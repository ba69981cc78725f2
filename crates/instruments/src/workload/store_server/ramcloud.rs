//! A RAMCloud cluster that is started here: a coordinator and as many servers as its replicas need, over TCP.
//!
//! The programs are the user's. How many copies each segment of a server's log has on other servers is an option of
//! their start, so there is one server more than replicas; the copies are kept in memory. The coordinator keeps its own
//! state in memory too (no external storage). Servers lock the memory that they are given: it is used from the start.
//! Ready is when a client can make a table, write to it, and drop it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use model::params::show_bytes;

use crate::progress;
use crate::workload::ramcloud::frames::{Batch, Kind, push_key};
use crate::workload::ramcloud::{Access, Trouble, status};
use crate::workload::server::account::{self, Unprivileged};
use crate::workload::server::kind::{self, Build, Recipe, ServerError};
use crate::workload::server::private_folder::PrivateFolder;
use crate::workload::server::run::{self, Inside, LaunchOrder, Server, Service};
use crate::workload::server::sockets;

/// Bytes of a segment of its log.
const SEGMENT: u64 = 8 << 20;
/// The table that shows that it is up.
const TABLE: &str = "boxscore-ready";
/// Time for the first client that asks whether it is up; the next ones get twice as much each.
const FIRST_PATIENCE: Duration = Duration::from_secs(2);

/// How a cluster is started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub coordinator: PathBuf,
    pub server: PathBuf,
    /// RAMCloud's client library, used to check that the cluster is up.
    pub library: String,
    pub cluster: String,
    pub replicas: u32,
    /// Bytes of each server's log and hash table.
    pub memory: u64,
    /// The CPUs of all its processes; empty is those of the thread that starts it.
    pub cpus: Vec<usize>,
}

/// How many CPUs a coordinator, two threads of each server and one client keep busy.
pub const fn busy_cpus(servers: u32) -> u32 {
    servers.saturating_mul(2).saturating_add(2)
}

impl Options {
    /// The same options with the full paths of the programs. Fails, naming the parameter, when one is not a program.
    pub fn resolve(self) -> Result<Options, ServerError> {
        let coordinator = kind::program(COORDINATOR.param, &self.coordinator)?;
        let server = kind::program(SERVER.param, &self.server)?;
        Ok(Options { coordinator, server, ..self })
    }

    /// How many CPUs its threads and one client keep busy.
    pub fn busy_cpus(&self) -> u32 {
        busy_cpus(self.replicas.saturating_add(1))
    }

    /// Bytes of all its servers, copies included.
    pub fn all_memory(&self) -> u64 {
        let each = self.memory.saturating_add(self.frames().saturating_mul(SEGMENT));
        each.saturating_mul(u64::from(self.replicas) + 1)
    }

    /// Segments of copies that each server has room for: twice what the others can send it.
    fn frames(&self) -> u64 {
        (2 * self.memory * u64::from(self.replicas)).div_ceil(SEGMENT)
    }
}

/// One of its two programs.
struct Program {
    param: &'static str,
    name: &'static str,
}

const COORDINATOR: Program = Program { param: "ramcloud-coordinator", name: "RAMCloud's coordinator" };
const SERVER: Program = Program { param: "ramcloud-server", name: "RAMCloud's server" };

/// A running cluster.
#[derive(Debug)]
pub struct Cluster {
    locator: String,
    setup: Vec<(&'static str, String)>,
    /// Before the coordinator, so that they do not see it go.
    servers: Vec<Server>,
    coordinator: Server,
}

/// A process of it, before it has a port.
struct Node<'a> {
    program: &'a Path,
    words: &'a dyn Fn(u16) -> Vec<String>,
}

impl Service for Node<'_> {
    fn recipe(&self, _place: &PrivateFolder, port: u16) -> Result<Recipe, ServerError> {
        let mut command = Command::new(self.program);
        command.args((self.words)(port));
        Ok(Recipe { command, input: None, setup: Vec::new() })
    }

    /// It is up as soon as it listens: what it serves, a client is asked.
    fn ready(&self, server: &Server) -> Result<(), String> {
        match sockets::all()?.iter().any(|socket| socket.serves(server.address())) {
            true => Ok(()),
            false => Err(format!("it does not listen on {} yet", server.address())),
        }
    }
}

/// As RAMCloud writes an address.
pub fn locator(address: SocketAddr) -> String {
    format!("tcp:host={},port={}", address.ip(), address.port())
}

impl Cluster {
    /// Starts the processes in folders of their own under `dir`, and waits until a client can write. Fails when it
    /// does not come up in time.
    pub fn start(options: &Options, dir: &Path) -> Result<Cluster, ServerError> {
        let options = &options.clone().resolve()?;
        let account = account::choose().map_err(ServerError::Failed)?;
        let coordinator = launch(options, &COORDINATOR, account.as_ref(), dir, &|port| {
            let mut words =
                vec!["-C".to_owned(), local(port), "--reset".to_owned(), "--neverKill".to_owned()];
            words.extend(["--clusterName".to_owned(), options.cluster.clone()]);
            words
        })?;
        let locator = locator(coordinator.address());
        let mut cluster =
            Cluster { locator: locator.clone(), setup: setup(options), servers: Vec::new(), coordinator };
        for _ in 0..=options.replicas {
            let server = launch(options, &SERVER, account.as_ref(), dir, &|port| {
                server_words(options, &locator, port)
            })?;
            cluster.servers.push(server);
        }
        cluster.wait(options)?;
        Ok(cluster)
    }

    /// Waits until a client can make a table and write to it. A library waits for ever for a process that has ended, so
    /// clients are given more and more time, and between two of them the processes are looked at.
    fn wait(&mut self, options: &Options) -> Result<(), ServerError> {
        let access = Access {
            library: options.library.clone(),
            locator: self.locator.clone(),
            cluster: options.cluster.clone(),
            cpus: Vec::new(),
            each: None,
        };
        let mut patience = FIRST_PATIENCE;
        loop {
            let made = write_once(&access, patience);
            let Err(trouble) = made else { return Ok(()) };
            let failed =
                |how: String| Err(ServerError::Failed(format!("the cluster does not come up: {how}")));
            if let Err(why) = self.alive() {
                return failed(why);
            }
            if !matches!(trouble, Trouble::Hangs { .. }) || patience >= run::UP {
                let words: String = self.processes().map(|server| server.last_words()).collect();
                return failed(format!("{trouble}{words}"));
            }
            progress::current().check().map_err(ServerError::Failed)?;
            patience *= 2;
        }
    }

    fn processes(&self) -> impl Iterator<Item = &Server> {
        std::iter::once(&self.coordinator).chain(&self.servers)
    }

    /// Where a client connects to.
    pub fn locator(&self) -> &str {
        &self.locator
    }

    /// The resolved options.
    pub fn setup(&self) -> &[(&'static str, String)] {
        &self.setup
    }

    /// Fails, naming it, when one of its processes has ended or is stopped.
    pub fn alive(&mut self) -> Result<(), String> {
        for server in std::iter::once(&mut self.coordinator).chain(&mut self.servers) {
            let at = format!("{} at {}", server.name(), server.address());
            server.check().map_err(|why| format!("{at}: {why}"))?;
            if let Some(why) = server.usage().map_err(|why| format!("{at}: {why}"))?.halted() {
                return Err(format!("{at}: {why}"));
            }
        }
        Ok(())
    }
}

fn local(port: u16) -> String {
    locator(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port))
}

fn server_words(options: &Options, coordinator: &str, port: u16) -> Vec<String> {
    let mebibytes = (options.memory >> 20).to_string();
    let (replicas, local) = (options.replicas.to_string(), local(port));
    let mut words = vec!["-C", coordinator, "-L", &local, "-r", &replicas, "-t", &mebibytes];
    words.extend(["--clusterName", &options.cluster]);
    let frames = options.frames().to_string();
    match options.replicas {
        0 => words.push("-M"),
        // On a busy machine a server that is slow would be taken for a dead one.
        _ => words.extend(["--backupInMemory", "--segmentFrames", &frames, "--detectFailures", "0"]),
    }
    words.into_iter().map(str::to_owned).collect()
}

fn launch(
    options: &Options,
    which: &Program,
    account: Option<&Unprivileged>,
    dir: &Path,
    words: &dyn Fn(u16) -> Vec<String>,
) -> Result<Server, ServerError> {
    let program = if which.param == SERVER.param { &options.server } else { &options.coordinator };
    // Its programs have no word for their version.
    let build = Build { program: program.clone(), ..Build::default() };
    let order = LaunchOrder {
        name: which.name,
        build: &build,
        account,
        inside: Inside::default(),
        listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
        ports: &[],
        cpus: &options.cpus,
        nice: 0,
        memory: None,
        error_log: None,
    };
    Server::launch(&order, &Node { program, words }, dir)
}

fn setup(options: &Options) -> Vec<(&'static str, String)> {
    let mut setup = vec![
        ("servers", (options.replicas + 1).to_string()),
        ("replicas of each segment", options.replicas.to_string()),
        ("memory of each server", show_bytes(options.memory)),
    ];
    if options.replicas > 0 {
        setup.push(("memory for copies", show_bytes(options.frames() * SEGMENT)));
    }
    setup
}

/// Makes a table, writes one object, and drops it; RAMCloud's library waits by itself for what is not up yet.
fn write_once(access: &Access, patience: Duration) -> Result<(), Trouble> {
    let mut keys = Vec::new();
    push_key(&mut keys, TABLE.as_bytes());
    let mut session = access.open(patience)?;
    session.create(TABLE)?;
    let (kind, limit_ns) = (Kind::Write, u64::MAX);
    let batch = Batch { kind, wanted: false, repeat: 1, step: 1, each: 0, limit_ns, count: 1, keys: &keys };
    session.value(b"boxscore")?;
    let made = session.run(&batch)?;
    match made.outcomes.iter().find(|outcome| outcome.status != status::OK) {
        None => session.discard(TABLE),
        Some(outcome) => Err(Trouble::Status { call: kind.call().to_owned(), code: outcome.status }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(replicas: u32) -> Options {
        Options {
            coordinator: PathBuf::from("/bin/sh"),
            server: PathBuf::from("/bin/sh"),
            library: "libramcloud.so".to_owned(),
            cluster: "main".to_owned(),
            replicas,
            memory: 512 << 20,
            cpus: Vec::new(),
        }
    }

    #[test]
    fn replicas_are_an_option_of_the_start() {
        let words = |replicas| server_words(&options(replicas), "tcp:host=127.0.0.1,port=7", 8).join(" ");
        let common = "-C tcp:host=127.0.0.1,port=7 -L tcp:host=127.0.0.1,port=8";
        assert_eq!(words(0), format!("{common} -r 0 -t 512 --clusterName main -M"));
        assert_eq!(
            words(2),
            format!(
                "{common} -r 2 -t 512 --clusterName main --backupInMemory --segmentFrames 256 --detectFailures 0"
            )
        );
        assert_eq!((options(0).busy_cpus(), options(2).busy_cpus()), (4, 8));
    }

    #[test]
    fn programs_are_named_by_their_parameters() {
        assert!(options(0).resolve().is_ok());
        let why = Options { coordinator: "/no/such".into(), ..options(0) }.resolve().unwrap_err().to_string();
        assert!(why.contains("ramcloud-coordinator=/no/such"), "{why}");
        let why = Options { server: "/etc/passwd".into(), ..options(0) }.resolve().unwrap_err().to_string();
        assert!(why.contains("ramcloud-server=/etc/passwd is not a program"), "{why}");
    }
}
