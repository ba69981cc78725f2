//! Key-value stores that are started, watched and stopped here: Redis or Valkey with replicas, and memcached.
//!
//! `Store::start(&Options, dir)` starts a primary and its replicas, each in a private folder under `dir`, on a free
//! port of the loopback address, with an unprivileged account, and waits until all answer and the replicas are in sync.
//! Then `address`, `replica_addresses`, `build` (program and version), `setup` (what the options came to), `cpu` (CPU
//! time of the primary), `alive` (names a process that ended or is stopped, and how), `in_sync` (asks the replicas) and
//! `info` (what the primary says of itself) tell of it; `stop` or dropping it ends all, and so does the guard when this
//! program is killed. `detect` tells what is installed; `options::PARAMS` and `Options::from_params` are for cards.
//!
//! Only this machine reaches it. Nothing here sends load or measures; clusters (sharding), sentinels and TLS are not
//! set up.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use model::login::Login;
use model::params::show_bytes;

use crate::workload::container::Container;
use crate::workload::server::account;
use crate::workload::server::kind::{Build, Host, ServerError};
use crate::workload::server::run::{self, Inside, LaunchOrder, Server, Service};
use crate::workload::server::tree;

pub mod beside;
mod memcached;
pub mod options;
pub mod ramcloud;
mod redis;
pub mod replies;

pub use memcached::MEMORY as MEMCACHED_MEMORY;
pub use options::{Options, Persistence, StoreKind};
pub use replies::Info;

/// A running store.
#[derive(Debug)]
pub struct Store {
    kind: StoreKind,
    setup: Vec<(&'static str, String)>,
    /// Before the primary, so that they do not see it go.
    replicas: Vec<Server>,
    primary: Server,
}

/// The program of a kind and its version, here or in a container. Fails when it is not there.
pub fn installed(
    kind: StoreKind,
    binary: Option<&Path>,
    inside: Option<&Container>,
) -> Result<Build, ServerError> {
    let account = account::choose().map_err(ServerError::Failed)?;
    build(kind, binary, Host { account: account.as_ref().filter(|_| inside.is_none()), inside })
}

/// Each kind, with the program that is installed for it or why there is none. Runs each program to ask its version.
pub fn detect() -> Vec<(StoreKind, Result<Build, ServerError>)> {
    StoreKind::ALL.into_iter().map(|kind| (kind, installed(kind, None, None))).collect()
}

fn build(kind: StoreKind, binary: Option<&Path>, host: Host<'_>) -> Result<Build, ServerError> {
    let found = |find: &dyn Fn() -> Result<PathBuf, ServerError>, name: &str| match host.inside {
        Some(_) => Ok(binary.map_or_else(|| PathBuf::from(name), Path::to_owned)),
        None => find(),
    };
    let mut build = match kind {
        StoreKind::Memcached => memcached::identify(&found(&|| memcached::find(binary), "memcached")?, host),
        StoreKind::Valkey => {
            redis::identify(kind, &found(&|| redis::find(kind, binary), "valkey-server")?, host)
        }
        StoreKind::Redis => {
            redis::identify(kind, &found(&|| redis::find(kind, binary), "redis-server")?, host)
        }
    }?;
    host.note(&mut build)?;
    Ok(build)
}

/// The description that a store at this address gives of itself (`INFO`, `stats`), whoever started it. Fails when it
/// does not answer.
pub fn ask(address: SocketAddr, speaks_resp: bool, login: Option<&Login>) -> Result<Info, String> {
    if speaks_resp { redis::info_as(address, login) } else { memcached::stats(address) }
}

impl Store {
    /// Starts a store in folders of its own under `dir`, and waits until it answers and its replicas are in sync.
    /// Fails when one of its processes does not come up in time.
    pub fn start(options: &Options, dir: &Path) -> Result<Store, ServerError> {
        options.check()?;
        let account = account::choose().map_err(ServerError::Failed)?;
        let inside = options.inside.as_ref();
        let account = account.filter(|_| inside.is_none());
        let host = Host { account: account.as_ref(), inside };
        let build = &build(options.kind, options.binary.as_deref(), host)?;
        let threads = threads(options)?;
        let launch = |service: &dyn Service, is_primary: bool| {
            let order = LaunchOrder {
                name: options.kind.name(),
                build,
                account: account.as_ref(),
                inside: Inside { container: inside, binds: &[] },
                listen: IpAddr::V4(Ipv4Addr::LOCALHOST),
                ports: if is_primary { &options.ports } else { &[] },
                cpus: match is_primary || options.replica_cpus.is_empty() {
                    true => &options.cpus,
                    false => &options.replica_cpus,
                },
                nice: options.nice,
                // What limits the data is an option of the store itself.
                memory: None,
                error_log: options.kind.speaks_resp().then_some(redis::LOG),
            };
            Server::launch(&order, service, dir)
        };
        let primary = match options.kind {
            StoreKind::Memcached => launch(&memcached::Node { options, build, threads }, true)?,
            _ => launch(&redis::Node { options, build, primary: None }, true)?,
        };
        let address = primary.address();
        let mut store =
            Store { kind: options.kind, setup: setup(options, threads), replicas: Vec::new(), primary };
        for number in 1..=options.replicas {
            let node = redis::Node { options, build, primary: Some(address) };
            let replica = launch(&node, false).map_err(|error| of_replica(number, error))?;
            store.replicas.push(replica);
        }
        store.wait_for_replicas()?;
        Ok(store)
    }

    fn wait_for_replicas(&self) -> Result<(), ServerError> {
        let mut state = Ok(());
        run::up_within(run::UP, || {
            state = self.in_sync();
            state.is_ok()
        });
        state.map_err(|why| run::late(&self.primary, &why))
    }

    pub fn kind(&self) -> StoreKind {
        self.kind
    }

    /// `redis`, `valkey` or `memcached`.
    pub fn name(&self) -> &'static str {
        self.kind.name()
    }

    /// Its program, and what that says about itself; the version is `redis/7.0.15`.
    pub fn build(&self) -> &Build {
        self.primary.build()
    }

    /// The resolved options: `("persistence", "off")`.
    pub fn setup(&self) -> &[(&'static str, String)] {
        &self.setup
    }

    /// Where the primary is reached.
    pub fn address(&self) -> SocketAddr {
        self.primary.address()
    }

    pub fn replica_addresses(&self) -> Vec<SocketAddr> {
        self.replicas.iter().map(Server::address).collect()
    }

    /// The primary, as a server among others.
    pub fn primary(&self) -> &Server {
        &self.primary
    }

    pub fn replicas(&self) -> &[Server] {
        &self.replicas
    }

    /// CPU time of the primary so far. Fails when the kernel does not tell.
    pub fn cpu(&self) -> Result<tree::Usage, String> {
        self.primary.usage()
    }

    /// The primary's description of itself (`INFO`, `stats`). Fails when it does not answer.
    pub fn info(&self) -> Result<Info, String> {
        ask(self.address(), self.kind.speaks_resp(), None)
    }

    /// Fails, naming it, when one of its processes has ended or is stopped.
    pub fn alive(&mut self) -> Result<(), String> {
        for (who, server) in named(&mut self.primary, &mut self.replicas) {
            server.check().map_err(|why| format!("{who}: {why}"))?;
            if let Some(why) = server.usage().map_err(|why| format!("{who}: {why}"))?.halted() {
                return Err(format!("{who}: {why}"));
            }
        }
        Ok(())
    }

    /// Fails unless every replica has all data and hears of every change, by its own word and the primary's.
    pub fn in_sync(&self) -> Result<(), String> {
        if self.replicas.is_empty() {
            return Ok(());
        }
        for (number, replica) in (1..).zip(&self.replicas) {
            let linked = redis::info(replica.address()).and_then(|info| redis::linked(&info));
            linked.map_err(|why| format!("replica {number} at {}: {why}", replica.address()))?;
        }
        match (redis::online(&self.info()?), self.replicas.len()) {
            (online, wanted) if online >= wanted => Ok(()),
            (online, wanted) => Err(format!("the primary has {online} of {wanted} replicas online")),
        }
    }

    /// Ends it, waits until every process is gone, and removes its folders. Fails when something stays.
    pub fn stop(self) -> Result<(), String> {
        let Store { replicas, primary, .. } = self;
        let stopped: Vec<Result<(), String>> = replicas.into_iter().map(Server::stop).collect();
        let primary = primary.stop();
        stopped.into_iter().chain([primary]).collect()
    }
}

fn named<'a>(
    primary: &'a mut Server,
    replicas: &'a mut [Server],
) -> impl Iterator<Item = (String, &'a mut Server)> {
    let replica = |(number, server): (u32, &'a mut Server)| {
        (format!("replica {number} at {}", server.address()), server)
    };
    std::iter::once((format!("the primary at {}", primary.address()), primary))
        .chain((1..).zip(replicas).map(replica))
}

fn of_replica(number: u32, error: ServerError) -> ServerError {
    let told = |why: String| format!("replica {number}: {why}");
    match error {
        ServerError::Missing(why) => ServerError::Missing(told(why)),
        ServerError::Refused(why) => ServerError::Refused(told(why)),
        ServerError::Failed(why) => ServerError::Failed(told(why)),
    }
}

/// How many threads it gets.
fn threads(options: &Options) -> Result<u32, ServerError> {
    let cpus = || match options.cpus.len() {
        0 => sys::affinity::allowed()
            .map(|cpus| cpus.len())
            .map_err(|error| ServerError::Failed(error.to_string())),
        count => Ok(count),
    };
    match (options.threads, options.kind) {
        (Some(threads), _) => Ok(threads),
        (None, StoreKind::Memcached) => Ok(u32::try_from(cpus()?).unwrap_or(u32::MAX)),
        (None, _) => Ok(1),
    }
}

fn setup(options: &Options, threads: u32) -> Vec<(&'static str, String)> {
    let memory = match (options.memory, options.kind) {
        (Some(bytes), _) => show_bytes(bytes),
        (None, StoreKind::Memcached) => show_bytes(memcached::MEMORY),
        (None, _) => "not limited".to_owned(),
    };
    let mut setup = vec![("threads", threads.to_string()), ("memory of data", memory)];
    if options.kind.speaks_resp() {
        setup.push(("persistence", options.persistence.name().to_owned()));
        setup.push(("replicas", options.replicas.to_string()));
    }
    setup
}
