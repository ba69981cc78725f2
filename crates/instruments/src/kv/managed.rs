//! Stores that are started here for the tests of a run: one for each setup, shared, gone with the last test.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use model::{Setup, Unfit};

use super::params;
use crate::workload::guard;
use crate::workload::store::{self, Options, Persistence, Store, StoreKind};

/// What makes two tests need different stores.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    kind: StoreKind,
    replicas: u32,
    persistence: Persistence,
    cpus: Vec<u32>,
    nth: u32,
}

#[derive(Debug)]
struct Running {
    wanted: Wanted,
    address: SocketAddr,
    name: String,
    settings: String,
    store: Mutex<Store>,
}

/// A store of ours.
#[derive(Clone, Debug)]
pub struct Shared(Arc<Running>);

static STORES: Mutex<Vec<Weak<Running>>> = Mutex::new(Vec::new());

fn persistence(setup: &Setup) -> Persistence {
    setup.params.get("persistence").and_then(Persistence::parse).unwrap_or_default()
}

fn options(setup: &Setup, kind: StoreKind) -> Options {
    Options { replicas: params::replicas(setup), persistence: persistence(setup), ..Options::new(kind) }
}

/// Whether a store of that kind can be started as it was asked for.
pub fn fit(setup: &Setup, kind: StoreKind) -> Result<(), Unfit> {
    guard::available().map_err(Unfit::new)?;
    options(setup, kind).check().map_err(|error| Unfit::new(error.to_string()))?;
    store::installed(kind, None).map(drop).map_err(|error| Unfit::new(error.to_string()))
}

impl Shared {
    /// The one with this setup, running already or started now.
    pub fn get(setup: &Setup, kind: StoreKind, cpus: &[u32], nth: u32) -> Result<Shared, Unfit> {
        let (replicas, persistence) = (params::replicas(setup), persistence(setup));
        let wanted = Wanted { kind, replicas, persistence, cpus: cpus.to_vec(), nth };
        let mut stores = STORES.lock().unwrap_or_else(PoisonError::into_inner);
        stores.retain(|store| store.strong_count() > 0);
        let there = stores.iter().filter_map(Weak::upgrade).map(Shared);
        if let Some(store) =
            there.into_iter().find(|store| store.0.wanted == wanted && store.ended().is_none())
        {
            return Ok(store);
        }
        let cpus = cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()).collect();
        let options = Options { cpus, ..options(setup, kind) };
        let store = Store::start(&options, &setup.dir).map_err(|error| Unfit::new(error.to_string()))?;
        let version = store.build().version.replace('/', " ");
        let settings: Vec<String> =
            store.setup().iter().map(|(name, value)| format!("{name} {value}")).collect();
        let running = Arc::new(Running {
            wanted,
            address: store.address(),
            name: format!("{version} (replicas {replicas})"),
            settings: settings.join(", "),
            store: Mutex::new(store),
        });
        stores.push(Arc::downgrade(&running));
        Ok(Shared(running))
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    #[must_use]
    pub fn name(&self) -> String {
        self.0.name.clone()
    }

    #[must_use]
    pub fn settings(&self) -> &str {
        &self.0.settings
    }

    #[must_use]
    pub fn is_last(&self) -> bool {
        Arc::strong_count(&self.0) == 1
    }

    /// Which of its processes ended or is stopped, and how.
    #[must_use]
    pub fn ended(&self) -> Option<String> {
        self.0.store.lock().unwrap_or_else(PoisonError::into_inner).alive().err()
    }
}
