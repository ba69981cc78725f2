//! Stores that loads share, with their keys: started and filled when first needed, ended when the last load that uses
//! them goes.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use model::note::ServerBuild;
use model::url::{Scheme, Url};

use super::theirs::WRITING;
use crate::load::store_client::Spec;
use crate::load::store_client::data::{At, Work};
use crate::progress::ProgressCounter;
use crate::workload::guard;
use crate::workload::server::keeper;
use crate::workload::server::kind::ServerError;
use crate::workload::store_server::{Options, Store};
use crate::workload::web::words::ServerWords;
use crate::workload::web::words::{counted, cpus};

/// The key of a shared store: loads with equal keys share one.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub options: Options,
    /// Only the keys and the sizes of their values count.
    pub spec: Spec,
    pub dir: PathBuf,
}

/// A store that loads share.
#[derive(Debug)]
pub struct Hosted {
    key: Key,
    store: Mutex<Option<Store>>,
}

static POOL: Mutex<Vec<Weak<Hosted>>> = Mutex::new(Vec::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole between two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The store of this key, running already or started now. Fails when it does not start or cannot be filled.
pub fn get(mut key: Key) -> Result<Arc<Hosted>, ServerError> {
    guard::available().map_err(ServerError::Failed)?;
    key.spec = key.spec.of_data();
    let mut pool = locked(&POOL);
    pool.retain(|one| one.strong_count() > 0);
    if let Some(there) = pool.iter().filter_map(Weak::upgrade).find(|one| one.key == key) {
        return Ok(there);
    }
    let store = start(&key)?;
    let hosted = Arc::new(Hosted { key, store: Mutex::new(Some(store)) });
    pool.push(Arc::downgrade(&hosted));
    Ok(hosted)
}

fn start(key: &Key) -> Result<Store, ServerError> {
    let (options, dir) = (key.options.clone(), key.dir.clone());
    let store = keeper::run(move || Store::start(&options, &dir))?;
    let at = At { address: store.address(), scheme: scheme(&store), login: None };
    let mut counter = ProgressCounter::new(WRITING, u64::from(key.spec.keys));
    let written = at.each(Work::Write, &key.spec, &mut |key| counter.advance(u64::from(key)));
    written.map_err(|why| ServerError::Failed(format!("cannot write the keys of the load: {why}")))?;
    Ok(store)
}

fn scheme(store: &Store) -> Scheme {
    if store.kind().speaks_resp() { Scheme::Redis } else { Scheme::Memcached }
}

impl Hosted {
    /// Makes sure that it runs: after one of its processes has ended it is started anew, and the reason is returned.
    /// Fails when it does not start.
    pub fn ensure(&self) -> Result<Option<String>, ServerError> {
        let mut store = locked(&self.store);
        let ended = match store.as_mut().map(Store::alive) {
            Some(Ok(())) => return Ok(None),
            Some(Err(why)) => Some(why),
            None => None,
        };
        *store = None;
        *store = Some(start(&self.key)?);
        Ok(ended)
    }

    /// Fails, with the reason, when one of its processes has ended or a replica is not in sync.
    pub fn check(&self) -> Result<(), String> {
        match locked(&self.store).as_mut() {
            Some(store) => store.alive().and_then(|()| store.in_sync()),
            None => Err("the store is not running".to_owned()),
        }
    }

    /// The URL of the store. Fails when it is not running.
    pub fn url(&self) -> Result<Url, String> {
        let store = locked(&self.store);
        let store = store.as_ref().ok_or("the store is not running")?;
        let address = store.address();
        let (host, port) = (address.ip().to_string(), address.port());
        Ok(Url { scheme: scheme(store), host, port, path: "/".to_owned() })
    }

    /// `redis/7.0.15, 1 thread, persistence off, 2 replicas on CPU 0 as nobody`.
    pub fn words(&self, server: &[u32]) -> ServerWords {
        let store = locked(&self.store);
        let Some(store) = store.as_ref() else { return ServerWords::default() };
        let of =
            |name: &str| store.setup().iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str());
        let mut words = store.build().version.clone();
        if let Some(threads) = of("threads").and_then(|text| text.parse().ok()) {
            words.push_str(&format!(", {}", counted(threads, "thread")));
        }
        if let Some(persistence) = of("persistence") {
            words.push_str(&format!(", persistence {persistence}"));
        }
        match store.replicas().len() {
            0 => {}
            count => words.push_str(&format!(", {}", counted(count, "replica"))),
        }
        words.push_str(&format!(" on {}", cpus(server)));
        if let Some(account) = store.primary().account() {
            words.push_str(&format!(" as {account}"));
        }
        ServerWords { name: Some(store.build().version.clone()), place: words }
    }

    /// The build of its program.
    pub fn build(&self) -> Option<ServerBuild> {
        locked(&self.store).as_ref().map(|store| crate::workload::web::words::build(store.primary()))
    }
}
