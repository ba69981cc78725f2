//! Stores that are started here for the tests of a run: one for each setup, shared, gone with the last test.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use model::{Setup, Unfit};

use super::params;
use crate::workload::container::Container;
use crate::workload::guard;
use crate::workload::server::options;
use crate::workload::store_server::{self, Options, Persistence, Store, StoreKind, ramcloud};

/// Bytes that a store needs for each of data, at most.
const OVERHEAD: u64 = 2;

/// The key of a shared store: tests with different ones need different stores.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    what: What,
    cpus: Vec<u32>,
    nth: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    Store {
        kind: StoreKind,
        replicas: u32,
        persistence: Persistence,
        memory: Option<u64>,
        inside: Option<Container>,
    },
    Cluster(ramcloud::Options),
}

/// A store as it runs.
#[derive(Debug)]
enum Process {
    Store(Store),
    Cluster(ramcloud::Cluster),
}

#[derive(Debug)]
struct Running {
    wanted: Wanted,
    name: String,
    settings: String,
    process: Mutex<Process>,
}

/// A store of ours.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Running>);

static STORES: Mutex<Vec<Weak<Running>>> = Mutex::new(Vec::new());

fn persistence(setup: &Setup) -> Persistence {
    setup.params.get("persistence").and_then(Persistence::parse).unwrap_or_default()
}

fn wanted(setup: &Setup, kind: StoreKind) -> Result<Options, Unfit> {
    let (replicas, persistence, memory) = (params::replicas(setup), persistence(setup), memory(setup, kind));
    let inside = options::container(&setup.params).map_err(Unfit::new)?;
    Ok(Options { replicas, persistence, memory, inside, ..Options::new(kind) })
}

/// The limit of the data, where that which a store has by itself is too small for what it is filled with.
fn memory(setup: &Setup, kind: StoreKind) -> Option<u64> {
    let needed = params::filled(setup).saturating_mul(OVERHEAD).next_multiple_of(1 << 20);
    (kind == StoreKind::Memcached && needed > store_server::MEMCACHED_MEMORY).then_some(needed)
}

/// Fails when a store of that kind cannot be started as requested.
pub fn fit(setup: &Setup, kind: StoreKind) -> Result<(), Unfit> {
    guard::available().map_err(Unfit::new)?;
    let options = wanted(setup, kind)?;
    options.check().map_err(|error| Unfit::new(error.to_string()))?;
    store_server::installed(kind, None, options.inside.as_ref())
        .map(drop)
        .map_err(|error| Unfit::new(error.to_string()))
}

fn sentence(setup: &[(&'static str, String)]) -> String {
    setup.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
}

impl Shared {
    /// The store with this setup, running already or started now. Fails when it does not start.
    pub fn get(setup: &Setup, kind: StoreKind, cpus: &[u32], nth: u32) -> Result<Shared, Unfit> {
        let plain = wanted(setup, kind)?;
        let Options { replicas, persistence, memory, inside, .. } = plain.clone();
        let what = What::Store { kind, replicas, persistence, memory, inside };
        Shared::the(Wanted { what, cpus: cpus.to_vec(), nth }, |cpus| {
            let options = Options { cpus, ..plain };
            let store = Store::start(&options, &setup.dir).map_err(|error| Unfit::new(error.to_string()))?;
            let version = store.build().version.replace('/', " ");
            let (name, settings) = (format!("{version} (replicas {replicas})"), sentence(store.setup()));
            Ok((name, settings, Process::Store(store)))
        })
    }

    /// The RAMCloud with these options, running already or started now. Fails when it does not start.
    pub fn cluster(
        setup: &Setup,
        options: &ramcloud::Options,
        cpus: &[u32],
        nth: u32,
    ) -> Result<Shared, Unfit> {
        guard::available().map_err(Unfit::new)?;
        let what = What::Cluster(options.clone());
        Shared::the(Wanted { what, cpus: cpus.to_vec(), nth }, |cpus| {
            let options = ramcloud::Options { cpus, ..options.clone() };
            let started = ramcloud::Cluster::start(&options, &setup.dir);
            let cluster = started.map_err(|error| Unfit::new(format!("kv=ramcloud: {error}")))?;
            let name = format!("ramcloud (replicas {})", options.replicas);
            Ok((name, sentence(cluster.setup()), Process::Cluster(cluster)))
        })
    }

    /// The one that is wanted, or what `start` starts on its CPUs: its name, its settings, and itself.
    fn the(
        wanted: Wanted,
        start: impl FnOnce(Vec<usize>) -> Result<(String, String, Process), Unfit>,
    ) -> Result<Shared, Unfit> {
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|store| store.strong_count() > 0);
        let there = stores.iter().filter_map(Weak::upgrade).map(Shared);
        if let Some(store) =
            there.into_iter().find(|store| store.0.wanted == wanted && store.ended().is_none())
        {
            return Ok(store);
        }
        let cpus = wanted.cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()).collect();
        let (name, settings, process) = start(cpus)?;
        let running = Arc::new(Running { wanted, name, settings, process: Mutex::new(process) });
        stores.push(Arc::downgrade(&running));
        Ok(Shared(running))
    }

    fn process(&self) -> MutexGuard<'_, Process> {
        self.0.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The address on which a store listens. Fails for a RAMCloud.
    pub fn address(&self) -> Result<SocketAddr, Unfit> {
        match &*self.process() {
            Process::Store(store) => Ok(store.address()),
            Process::Cluster(_) => Err(Unfit::new("a RAMCloud is asked by its own library")),
        }
    }

    /// The locator of a RAMCloud's coordinator. Fails for any other store.
    pub fn locator(&self) -> Result<String, Unfit> {
        match &*self.process() {
            Process::Cluster(cluster) => Ok(cluster.locator().to_owned()),
            Process::Store(_) => Err(Unfit::new("only a RAMCloud has a locator")),
        }
    }

    pub fn name(&self) -> String {
        self.0.name.clone()
    }

    pub fn settings(&self) -> &str {
        &self.0.settings
    }

    pub fn is_last(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Which of its processes ended or is stopped, and how.
    pub fn ended(&self) -> Option<String> {
        match &mut *self.process() {
            Process::Store(store) => store.alive().err(),
            Process::Cluster(cluster) => cluster.alive().err(),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;

    #[test]
    fn memcached_has_room_for_what_it_is_filled_with() {
        let of = |params: &str, kind| {
            memory(&Setup::bare(Params::parse(params).unwrap(), vec![0], std::env::temp_dir()), kind)
        };
        assert_eq!(of("fill=20;sizes=all", StoreKind::Memcached), None);
        assert_eq!(of("fill=200;sizes=all", StoreKind::Memcached), Some(1908 << 20));
        assert_eq!(of("fill=200;sizes=all", StoreKind::Redis), None);
        assert_eq!(of("objects=200000", StoreKind::Memcached), None);
    }
}
