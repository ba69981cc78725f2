//! The store that a test asks: one that is started here for it, shared by all tests of a run, or one that runs already.
//!
//! A store of the user's gets keys of ours beside its own, and they are removed at the end; nothing else of it is
//! changed. Which protocol it speaks is found by asking. A RAMCloud gets a table of our own, which is dropped at the
//! end. Answers of this kind take no part in any time.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use model::finding::Recorded;
use model::login::{Login, REMEDY};
use model::url::{Scheme, Url};
use model::{Fault, Finding, NoteBody, Record, Setup, Unfit};

use super::client::Client;
use super::connection::Connection;
use super::hot::Hot;
use super::keys::{KEY, Keys};
use super::managed::{self, Shared};
use super::params;
use super::ramcloud::{self, Own};
use super::silence;
use super::spinning::{Crowded, SpinPlaces};
use super::table::Table;
use super::wire::{Failure, Wire};
use crate::bench::net::frame::Wait;
use crate::bench::net::place::{self, Places};
use crate::progress;
use crate::store_protocol::memcached::Memcached;
use crate::store_protocol::resp::Resp;
use crate::store_protocol::shown;
use crate::workload::ramcloud::Trouble;
use crate::workload::store_server::ramcloud::{Options, busy_cpus};
use crate::workload::store_server::{StoreKind, beside};
use crate::workload::web::served::Served;

/// The meaning of the parameter `kv`, before anything is asked of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kv {
    Ours(StoreKind),
    At {
        host: String,
        port: u16,
    },
    /// Ours or the user's, as its other parameters say.
    RamCloud,
}

impl Kv {
    /// Parses the parameter. Fails when it names no store, and when it holds a password.
    pub fn parse(text: &str) -> Result<Kv, Unfit> {
        if let Some(kind) = StoreKind::parse(text) {
            return Ok(Kv::Ours(kind));
        }
        if text.contains('@') {
            return Err(Unfit::new(format!(
                "kv holds a user name or a password, and would be stored; {REMEDY}"
            )));
        }
        let wrong = |what: &str| {
            Unfit::new(format!(
                "kv={text}: {what}; write it as redis, valkey, memcached, ramcloud, HOST:PORT or [IPv6]:PORT"
            ))
        };
        if text == "ramcloud" {
            return Ok(Kv::RamCloud);
        }
        let (host, port) =
            text.rsplit_once(':').ok_or_else(|| wrong("no store is called so, and it has no port"))?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let host = match bare {
            Some(bare) => bare,
            None if host.contains(':') => return Err(wrong("an IPv6 address stands in brackets")),
            None => host,
        };
        if host.is_empty() || host.contains(|c: char| c.is_whitespace() || c == '/') {
            return Err(wrong("no host"));
        }
        let port = port.parse().ok().filter(|port| *port > 0).ok_or_else(|| wrong("a port is 1 to 65535"))?;
        Ok(Kv::At { host: host.to_owned(), port })
    }

    /// Reads `kv` from a setup. Fails as [`Kv::parse`] does.
    pub fn from_setup(setup: &Setup) -> Result<Kv, Unfit> {
        Kv::parse(setup.params.get("kv").unwrap_or(params::KV.default))
    }

    /// True for a store that runs already. Fails when the parameters of a RAMCloud contradict each other.
    pub fn is_users(&self, setup: &Setup) -> Result<bool, Unfit> {
        Ok(match self {
            Kv::Ours(_) => false,
            Kv::At { .. } => true,
            Kv::RamCloud => {
                matches!(ramcloud::ClusterPlace::from_setup(setup)?, ramcloud::ClusterPlace::Users(_))
            }
        })
    }
}

/// A store, and how this end asks it.
#[derive(Debug)]
pub struct Target {
    /// Its name, version and address.
    pub name: String,
    pub keys: Keys,
    pub replicas: u32,
    way: Way,
    near: Vec<u32>,
    far: Vec<u32>,
    notes: Vec<String>,
    /// A note on what a store of the user's held before.
    holds: Option<String>,
    /// Threads of the store and of one client that spin, and the CPUs there are, where these are fewer.
    crowded: Option<Crowded>,
    /// A store of the user's, so that its work is not taken for that of strangers.
    _served: Option<Arc<Served>>,
    /// Last, so that what is in it goes before it.
    ours: Option<Shared>,
}

/// How it is asked.
#[derive(Debug)]
enum Way {
    Socket { address: SocketAddr, wire: &'static dyn Wire, wait: Wait, login: Option<Login> },
    RamCloud(Own),
}

/// Fails when a test cannot be made with these parameters. Asks nothing of the network.
pub fn store_fits(setup: &Setup) -> Result<(), Unfit> {
    let kv = Kv::from_setup(setup)?;
    params::fit_spinning(setup, matches!(kv, Kv::Ours(_)))?;
    match &kv {
        Kv::Ours(kind) => managed::fit(setup, *kind)?,
        Kv::RamCloud => ramcloud::fit(setup)?,
        Kv::At { .. } if setup.params.get("in").is_some_and(|given| !given.is_empty()) => {
            return Err(Unfit::new("in is of stores that are started here; this one is where it is"));
        }
        Kv::At { .. } if setup.params.get("persistence").is_some_and(|given| given != "off") => {
            return Err(Unfit::new("persistence is of stores that are started here; this one is as it is"));
        }
        Kv::At { .. } => {}
    }
    params::fit_transport(setup, !kv.is_users(setup)?)
}

impl Target {
    /// Finds or starts the store. Fails when it cannot be reached, started or used.
    pub fn prepare(setup: &Setup) -> Result<Target, Unfit> {
        Target::prepare_nth(setup, 0)
    }

    /// The same for the nth of several stores that are started here.
    pub fn prepare_nth(setup: &Setup, nth: u32) -> Result<Target, Unfit> {
        match Kv::from_setup(setup)? {
            Kv::Ours(kind) => Target::ours(setup, kind, nth),
            Kv::At { host, port } => Target::users(setup, &host, port),
            Kv::RamCloud => Target::ramcloud(setup, nth),
        }
    }

    fn ours(setup: &Setup, kind: StoreKind, nth: u32) -> Result<Target, Unfit> {
        let places = Places::divide(&setup.cpus);
        let ours = Shared::get(setup, kind, &places.far, nth)?;
        let wire: &'static dyn Wire = if kind.speaks_resp() { &Resp } else { &Memcached };
        let (address, name) = (ours.address()?, ours.name());
        let place = places.sentence().replace("the peer", "the store");
        Ok(Target {
            way: Way::Socket { address, wire, wait: params::wait(setup), login: None },
            keys: Keys::fresh(),
            replicas: params::replicas(setup),
            notes: vec![format!("{name}: {}; {place}", ours.settings())],
            holds: None,
            crowded: None,
            _served: None,
            name,
            near: places.near,
            far: places.far,
            ours: Some(ours),
        })
    }

    fn users(setup: &Setup, host: &str, port: u16) -> Result<Target, Unfit> {
        let mut found = (host, port)
            .to_socket_addrs()
            .map_err(|error| Unfit::new(format!("kv={host}:{port}: {host} has no address: {error}")))?;
        let address = found.next().ok_or_else(|| Unfit::new(format!("{host} has no address")))?;
        let name = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let wire = recognise(address).map_err(|why| Unfit::new(format!("kv={name}: {why}")))?;
        let near: Vec<u32> = setup.cpus.iter().rev().copied().collect();
        let wait = params::wait(setup);
        let mut target = Target {
            name,
            way: Way::Socket { address, wire, wait, login: setup.login.clone() },
            keys: Keys::fresh(),
            replicas: params::replicas(setup),
            near,
            far: Vec::new(),
            notes: Vec::new(),
            holds: None,
            crowded: None,
            _served: url_of(address, wire).map(|url| Served::theirs(&url)),
            ours: None,
        };
        let looked = target.look(setup.login.is_some());
        looked.map_err(|why| Unfit::new(format!("kv={}: {why}", target.name)))?;
        Ok(target)
    }

    /// A table of our own in a RAMCloud, shown to take a write and to hand it back.
    fn ramcloud(setup: &Setup, nth: u32) -> Result<Target, Unfit> {
        let replicas = params::replicas(setup);
        let keys = Keys::fresh();
        let cluster = match ramcloud::ClusterPlace::from_setup(setup)? {
            ramcloud::ClusterPlace::Ours(options) => Cluster::ours(setup, &options, nth)?,
            ramcloud::ClusterPlace::Users(locator) => Cluster::users(setup, locator, replicas),
        };
        let Cluster { locator, name, places, ours, served, crowded, mut notes } = cluster;
        let own = Own::make(setup, &locator, (&places.client, crowded.is_none()), keys);
        let own = own.map_err(|trouble| Unfit::new(format!("kv={name} ({}): {trouble}", trouble.kind())))?;
        notes.push(format!(
            "boxscore writes to a table of its own, {}, and drops it at the end; requests are timed within a client of \
             {}",
            own.table(),
            ramcloud::file_name(&own.access.library)
        ));
        let SpinPlaces { client: near, store: far } = places;
        let (way, holds, _served) = (Way::RamCloud(own), None, served);
        let target = Target { name, keys, replicas, way, near, far, notes, holds, crowded, _served, ours };
        match target.try_one() {
            Ok(()) => Ok(target),
            Err(failure) => Err(Unfit::new(target.explain(&failure).text)),
        }
    }

    /// Writes an object, reads it, and removes it.
    fn try_one(&self) -> Result<(), Failure> {
        let mut to = self.open()?;
        let one = Table { keys: self.keys, letter: b'?', count: 1 };
        one.fill(&mut to, b"boxscore", self.replicas)?;
        let key = self.keys.key(one.letter, 0);
        Hot { key: &key, value: b"boxscore", replicas: self.replicas }.check(&mut to)?;
        one.empty(&mut to)
    }

    /// Looks at a store of the user's: what it is, what it holds, whether it takes a write and hands it back.
    fn look(&mut self, has_login: bool) -> Result<(), String> {
        let told = |failure: Failure| failure.to_string();
        let Client::Socket(mut to) = self.open().map_err(told)? else { return Ok(()) };
        let wire = to.wire();
        let (what, held, replicas) = said_of(&mut to).map_err(told)?;
        if wire.most_key() < 300 && self.replicas > 0 {
            return Err(format!("replicas={}: memcached has none", self.replicas));
        }
        if replicas < u64::from(self.replicas) {
            return Err(format!(
                "replicas={}: the store has {replicas} replicas that are connected",
                self.replicas
            ));
        }
        drop(to);
        self.try_one().map_err(told)?;
        self.name = format!("{what} at {}", self.name);
        self.notes = vec![format!(
            "{}; boxscore writes keys that begin with {} and removes them at the end",
            self.name,
            self.keys.prefix()
        )];
        if let Way::Socket { address, login, .. } = &self.way {
            self.holds = beside::sentence(*address, wire.most_key() >= 300, login.as_ref(), held);
        }
        if has_login && wire.most_key() < 300 {
            let none = "memcached's text protocol has no word for a password: it was given none";
            self.notes.push(format!("{}: {none}", self.name));
        }
        Ok(())
    }

    /// Connects a client. Fails when the store cannot be reached.
    pub fn open(&self) -> Result<Client, Failure> {
        self.open_nth(0)
    }

    /// The nth of several clients: a RAMCloud's works on the CPU that `pin` binds the nth thread to. Fails when the
    /// store cannot be reached.
    pub fn open_nth(&self, nth: usize) -> Result<Client, Failure> {
        match &self.way {
            Way::Socket { address, wire, wait, login } => {
                Connection::open(*address, *wire, *wait, login.as_ref()).map(Client::Socket)
            }
            Way::RamCloud(own) => own.open(nth).map(|client| Client::RamCloud(Box::new(client))),
        }
    }

    /// The address on which it listens. Fails for a RAMCloud.
    pub fn address(&self) -> Result<SocketAddr, Failure> {
        match &self.way {
            Way::Socket { address, .. } => Ok(*address),
            Way::RamCloud(_) => Err(Failure::missing("a client of RAMCloud has no address of its servers")),
        }
    }

    /// True if the store counts its requests and its CPU time.
    pub fn counts(&self) -> bool {
        matches!(self.way, Way::Socket { .. })
    }

    pub fn is_ours(&self) -> bool {
        self.ours.is_some()
    }

    /// Says once what the store is, and of each take whether it had too few CPUs.
    pub fn tell(&mut self, record: &mut dyn Record) {
        if let Some(Crowded { threads, cpus }) = self.crowded {
            record.refuse(Finding::new(Recorded::StoreSpins { threads, cpus }));
        }
        for note in self.notes.drain(..) {
            record.remark("kv-store", &note);
        }
        if let Some(holds) = self.holds.take() {
            record.note(NoteBody::StoreHolds(holds));
        }
    }

    /// Binds the calling thread to the nth CPU of this end. Fails when the kernel refuses.
    pub fn pin(&self, nth: usize) -> Result<Option<sys::affinity::Pinned>, Fault> {
        place::pin(&self.near, nth).map_err(Fault::new)
    }

    /// The CPUs that one client keeps busy, and those of a store that is ours.
    pub fn busy(&self) -> Vec<u32> {
        place::busy(&self.near, &self.far)
    }

    /// The fault for a failure, with how a store of ours ended, if it did.
    pub fn explain(&self, failure: &Failure) -> Fault {
        let why = self.ours.as_ref().and_then(Shared::ended);
        let kind = failure.kind();
        Fault::new(match why {
            Some(why) => format!("{} ({kind}): {failure}; {why}", self.name),
            None => format!("{} ({kind}): {failure}", self.name),
        })
    }

    /// Fails when the store fell silent in an earlier request and still says nothing. A RAMCloud that does so is gone.
    pub fn look_again(&self) -> Result<(), Failure> {
        match &self.way {
            Way::Socket { address, .. } => silence::look(*address),
            Way::RamCloud(_) => Ok(()),
        }
    }

    /// Remembers how a request failed, for those that come after it.
    pub fn remember(&self, failure: &Failure) {
        if let Way::Socket { address, .. } = &self.way {
            silence::remember(*address, failure);
        }
    }

    /// True if no further request can be answered: a store of ours has ended, or a client library does not come back.
    pub fn is_gone(&mut self, failure: &Failure) -> bool {
        let has_ended = self.ours.as_ref().is_some_and(|ours| ours.ended().is_some());
        let hangs = matches!(failure, Failure::RamCloud(Trouble::Hangs { .. }));
        if let Way::RamCloud(own) = &mut self.way
            && (has_ended || hangs)
        {
            own.abandon();
        }
        has_ended || hangs
    }

    /// A store of ours that nobody else uses goes with everything in it.
    fn is_last(&self) -> bool {
        self.ours.as_ref().is_some_and(Shared::is_last)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        let is_last = self.is_last();
        if let Way::RamCloud(own) = &mut self.way
            && is_last
        {
            own.forget();
        }
    }
}

/// Where a RAMCloud is, before it has a table of ours.
struct Cluster {
    locator: String,
    name: String,
    places: SpinPlaces,
    ours: Option<Shared>,
    served: Option<Arc<Served>>,
    crowded: Option<Crowded>,
    notes: Vec<String>,
}

impl Cluster {
    fn ours(setup: &Setup, options: &Options, nth: u32) -> Result<Cluster, Unfit> {
        let places = SpinPlaces::divide(&setup.cpus, options.busy_cpus());
        let ours = Shared::cluster(setup, options, &places.store, nth)?;
        let crowded = Crowded::with_cpus(options.busy_cpus(), setup.cpus.len());
        let notes =
            vec![format!("{}: {}; {}", ours.name(), ours.settings(), places.sentence(crowded.is_some()))];
        let (locator, name) = (ours.locator()?, ours.name());
        Ok(Cluster { locator, name, places, ours: Some(ours), served: None, crowded, notes })
    }

    fn users(setup: &Setup, locator: String, replicas: u32) -> Cluster {
        let said = match replicas {
            0 => String::new(),
            count => format!("; that its servers make {count} replicas is your word, and is not checked"),
        };
        let name = format!("ramcloud at {locator}");
        let notes = vec![format!("{name}{said}")];
        let served = Served::cluster(&name, ramcloud::coordinator(&locator));
        // Without processes here it is elsewhere, or nobody may see them.
        let here = served.pids().map_or(0, |pids| u32::try_from(pids.len()).unwrap_or(u32::MAX));
        let busy = busy_cpus(here.saturating_sub(1));
        let crowded = if here > 0 { Crowded::with_cpus(busy, setup.cpus.len()) } else { None };
        let places = SpinPlaces { client: setup.cpus.iter().rev().copied().collect(), store: Vec::new() };
        Cluster { locator, name, places, ours: None, served: Some(served), crowded, notes }
    }
}

/// The URL by which the processes of a store of the user's are found.
fn url_of(address: SocketAddr, wire: &dyn Wire) -> Option<Url> {
    let scheme = if wire.most_key() < 300 { Scheme::Memcached } else { Scheme::Redis };
    format!("{}://{address}/", scheme.name()).parse().ok()
}

/// Tables that are in a store as long as this lives.
#[derive(Debug)]
pub struct Held {
    pub target: Target,
    tables: Vec<Table>,
}

impl Held {
    pub fn new(target: Target) -> Held {
        Held { target, tables: Vec::new() }
    }

    /// The store that a setup asks for, with one table of equal values. Fails when the store cannot be used or filled.
    pub fn filled(setup: &Setup, count: u32, value: &[u8]) -> Result<(Held, Table), Unfit> {
        Held::new(Target::prepare(setup)?).with_table(count, value)
    }

    /// Adds one table of equal values. Fails when the store cannot be filled.
    pub fn with_table(mut self, count: u32, value: &[u8]) -> Result<(Held, Table), Unfit> {
        match self.fill(b'a', count, value) {
            Ok(table) => Ok((self, table)),
            Err(failure) => Err(Unfit::new(self.target.explain(&failure).text)),
        }
    }

    /// Bytes that a store of ours needs for `count` objects with values of this size, replicas included; 0 for a store
    /// of the user's, which has its own machine.
    pub fn footprint(&self, count: u32, bytes: usize) -> u64 {
        let held = u64::from(count) * (bytes + KEY) as u64;
        if self.target.is_ours() { held * u64::from(1 + self.target.replicas) } else { 0 }
    }

    /// Writes a table; it is removed at the end even where only a part was written. Fails when the store refuses it.
    pub fn fill(&mut self, letter: u8, count: u32, value: &[u8]) -> Result<Table, Failure> {
        let table = Table { keys: self.target.keys, letter, count };
        self.tables.push(table);
        let mut to = self.target.open()?;
        table.fill(&mut to, value, self.target.replicas)?;
        Ok(table)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // A store of ours does not outlive a run that the user left.
        let goes_whole = matches!(self.target.way, Way::RamCloud(_))
            || (self.target.is_ours() && progress::current().is_cancelled());
        if goes_whole || self.target.is_last() || self.tables.is_empty() {
            return;
        }
        // A store that is gone has nothing to remove, and there is nobody left to tell.
        let Ok(mut to) = self.target.look_again().and_then(|()| self.target.open()) else { return };
        let _gone = self.tables.iter().try_for_each(|table| table.empty(&mut to));
    }
}

/// The protocol that is spoken there, by the answer to a word that all of them know or refuse.
fn recognise(address: SocketAddr) -> Result<&'static dyn Wire, String> {
    let said = match Connection::probe(address, silence::WORD, silence::PATIENCE) {
        Ok(said) => said,
        Err(Failure::Silent(_)) => {
            let s = silence::PATIENCE.as_secs();
            return Err(format!(
                "what listens there says nothing for {s} s: it speaks TLS or another protocol, or hangs"
            ));
        }
        Err(Failure::Ended) => {
            return Err(
                "what listens there hung up: it speaks another protocol than RESP and memcached's".to_owned()
            );
        }
        Err(failure) => return Err(failure.to_string()),
    };
    match said.as_slice() {
        [b'-' | b'+', ..] => Ok(&Resp),
        said if said.starts_with(b"VERSION ") || said.starts_with(b"ERROR\r\n") => Ok(&Memcached),
        said if said.starts_with(b"CLIENT_ERROR") => Ok(&Memcached),
        said if said.starts_with(b"HTTP/") || said.starts_with(b"<") => {
            Err(format!("what listens there is a web server, no store: it says `{}`", shown(said)))
        }
        said => Err(format!("what listens there is no store that boxscore knows: it says `{}`", shown(said))),
    }
}

/// The name and version of a store, its number of keys, and its number of connected replicas.
fn said_of(to: &mut Connection) -> Result<(String, u64, u64), Failure> {
    if to.wire().most_key() < 300 {
        let stats = to.text("")?;
        let of = |name: &str| field(&stats, &format!("STAT {name} "));
        let held = of("curr_items").and_then(|text| text.parse().ok()).unwrap_or(0);
        return Ok((format!("memcached {}", of("version").unwrap_or_default()), held, 0));
    }
    let server = to.text("server")?;
    let what = match field(&server, "valkey_version:") {
        Some(version) => format!("valkey {version}"),
        None => format!("redis {}", field(&server, "redis_version:").unwrap_or_default()),
    };
    let keys = to.text("keyspace")?;
    let held = keys
        .lines()
        .filter_map(|line| line.split_once(":keys=")?.1.split(',').next()?.parse::<u64>().ok())
        .sum();
    let replicas = field(&to.text("replication")?, "connected_slaves:").and_then(|text| text.parse().ok());
    Ok((what, held, replicas.unwrap_or(0)))
}

/// The rest of the first line that begins with `name`.
pub fn field(text: &str, name: &str) -> Option<String> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(|rest| rest.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores_are_named_or_have_an_address() {
        let at = |host: &str, port| Ok(Kv::At { host: host.to_owned(), port });
        assert_eq!(Kv::parse("redis"), Ok(Kv::Ours(StoreKind::Redis)));
        assert_eq!(Kv::parse("memcached"), Ok(Kv::Ours(StoreKind::Memcached)));
        assert_eq!(Kv::parse("a.b:6379"), at("a.b", 6379));
        assert_eq!(Kv::parse("[::1]:11211"), at("::1", 11211));
        assert_eq!(Kv::parse("ramcloud"), Ok(Kv::RamCloud));
        for bad in ["", "redsi", ":6379", "a:0", "a:x", "::1:6379", "redis://a:1", "a b:1"] {
            assert!(Kv::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn fields_are_found_by_their_line() {
        let text = "# Server\r\nredis_version:7.0.15\r\nx:1\r\n";
        assert_eq!(field(text, "redis_version:"), Some("7.0.15".to_owned()));
        assert_eq!(field(text, "version:"), None);
    }
}
