//! Servers and content that loads share: started when first needed, ended when the last load that uses them goes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use model::tree::ServedTree;
use model::url::{BadUrl, Url};

use crate::load::Target;
use crate::load::http::request::Expected;
use crate::workload::guard;
use crate::workload::server::account;
use crate::workload::server::content::{Content, Item, Limits, Set};
use crate::workload::server::keeper;
use crate::workload::server::kind::{Kind, ServerError};
use crate::workload::server::options::Options;
use crate::workload::server::run::Server;

/// The key of a shared server: loads with equal keys share one.
#[derive(Clone, Debug)]
pub struct Key {
    pub kind: &'static dyn Kind,
    pub options: Options,
    pub set: Set,
    pub limits: Limits,
    /// The files of which the set is, where they are those of a mix or of the user.
    pub items: Option<Arc<Vec<Item>>>,
    pub tree: Option<Arc<ServedTree>>,
    pub seed: u64,
    pub dir: PathBuf,
}

/// The origin of the files of a server: a set, those of a mix or of the user, a seed, and where they lie.
type Source<'k> = (Set, Limits, Option<&'k Vec<Item>>, Option<&'k ServedTree>, u64, &'k Path);

impl Key {
    fn content(&self) -> Source<'_> {
        (self.set, self.limits, self.items.as_deref(), self.tree.as_deref(), self.seed, &self.dir)
    }

    /// True if a server of this key can serve the files that were made for `other`. Cached pages count for the server
    /// that read them first, so a server with a memory limit shares its files with nobody.
    fn shares(&self, other: &Key) -> bool {
        let limited = self.options.memory.or(other.options.memory).is_some();
        self.content() == other.content() && (!limited || self == other)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.kind.name() == other.kind.name()
            && self.options == other.options
            && self.content() == other.content()
    }
}

/// Content with what it was made for.
#[derive(Debug)]
struct Made {
    key: Key,
    content: Content,
}

/// A server that loads share.
#[derive(Debug)]
pub struct Hosted {
    key: Key,
    made: Arc<Made>,
    server: Mutex<Option<Server>>,
    described: AtomicBool,
}

#[derive(Debug, Default)]
struct Pool {
    hosted: Vec<Weak<Hosted>>,
    made: Vec<Weak<Made>>,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { hosted: Vec::new(), made: Vec::new() });

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What is behind these locks is whole between two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The server of this key, running already or started now. Fails when it does not start or its files cannot be made.
pub fn get(key: Key) -> Result<Arc<Hosted>, ServerError> {
    guard::available().map_err(ServerError::Failed)?;
    let mut pool = locked(&POOL);
    pool.hosted.retain(|one| one.strong_count() > 0);
    pool.made.retain(|one| one.strong_count() > 0);
    let there = pool.hosted.iter().filter_map(Weak::upgrade).find(|one| one.key == key);
    if let Some(there) = there {
        return Ok(there);
    }
    let made = match pool.made.iter().filter_map(Weak::upgrade).find(|one| key.shares(&one.key)) {
        Some(made) => made,
        None => {
            let account = account::choose().map_err(ServerError::Failed)?;
            let (dir, account) = (key.dir.as_path(), account.as_ref());
            let content = match (&key.items, &key.tree) {
                (Some(items), Some(tree)) => {
                    Content::from_tree(items.to_vec(), tree, key.seed, dir, account)?
                }
                (Some(items), None) => Content::from_items(items.to_vec(), key.set, key.seed, dir, account)?,
                (None, _) => Content::make(key.set, key.seed, &key.limits, dir, account)?,
            };
            let made = Arc::new(Made { key: key.clone(), content });
            pool.made.push(Arc::downgrade(&made));
            made
        }
    };
    let server = start(&key, &made)?;
    let hosted =
        Arc::new(Hosted { key, made, server: Mutex::new(Some(server)), described: AtomicBool::new(false) });
    pool.hosted.push(Arc::downgrade(&hosted));
    Ok(hosted)
}

/// Starts a server on the thread that lasts.
fn start(key: &Key, made: &Arc<Made>) -> Result<Server, ServerError> {
    let (key, made) = (key.clone(), Arc::clone(made));
    keeper::run(move || Server::start(key.kind, &key.options, &made.content, &key.dir))
}

impl Hosted {
    /// Makes sure that it runs: one that ended is started anew, and the reason is returned. Fails when it does not
    /// start.
    pub fn ensure(&self) -> Result<Option<String>, ServerError> {
        let mut server = locked(&self.server);
        let ended = match server.as_mut().map(Server::check) {
            Some(Ok(())) => return Ok(None),
            Some(Err(why)) => Some(why),
            None => None,
        };
        *server = None;
        *server = Some(start(&self.key, &self.made)?);
        Ok(ended)
    }

    /// Fails, with how it ended and its last words, when it does not run any more.
    pub fn check(&self) -> Result<(), String> {
        match locked(&self.server).as_mut() {
            Some(server) => server.check(),
            None => Err("the server is not running".to_owned()),
        }
    }

    /// True once: whoever asks first says how it was built.
    pub fn describe_now(&self) -> bool {
        !self.described.swap(true, Ordering::Relaxed)
    }

    /// Something about the running server.
    pub fn with<T>(&self, tell: impl FnOnce(&Server) -> T) -> Option<T> {
        locked(&self.server).as_ref().map(tell)
    }

    /// The URLs to load, each with its weight. Fails when the server is not running.
    pub fn targets(&self) -> Result<Vec<Target>, String> {
        let url = |path: &str| self.with(|server| server.url(path)).ok_or("the server is not running");
        let target = |item: &Item| {
            let url: Url = url(&item.path)?.parse().map_err(|error: BadUrl| error.to_string())?;
            let expected = Expected { length: Some(item.bytes), crc32c: None };
            Ok(Target { weight: f64::from(item.weight), expected, ..Target::from(url) })
        };
        self.made.content.items.iter().map(target).collect()
    }

    /// The files that it serves.
    pub fn content(&self) -> &Content {
        &self.made.content
    }
}
