//! RAMCloud as a store of the tests: its parameters, a table of our own in it, and a client that asks in batches.
//!
//! A request is timed by the helper, right before and after the call of RAMCloud's library (see `workload/ramcloud`),
//! so a batch goes over a pipe as a whole and the pipe is in no time. Keys are chosen before a batch: unlike with the
//! other stores, drawing one is in no time either, not even in `basic` of era3. A batch ends after a second at the
//! latest.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::params::{parse_bytes, show_bytes};
use model::{Setup, Unfit};

use super::keys::Keys;
use super::params;
use super::spinning::CLIENT_CPUS;
use super::wire::{Answer, Failure};
use crate::workload::ramcloud::frames::{self, Batch, Kind, MOST_REQUESTS, Outcome};
use crate::workload::ramcloud::session::{PATIENCE, SLICE};
use crate::workload::ramcloud::{self, Access, GIVEN, LIBRARY, Session, Trouble, status};
use crate::workload::store_server::ramcloud::Options;

/// Requests that are put together before they are made.
pub const ROW: usize = 1000;
/// RAMCloud takes no larger object, in bytes.
pub const MOST_VALUE: usize = frames::MOST_VALUE;
/// Longer words of the user's are none that name a place.
const MOST_WORD: usize = 1000;
/// Bytes of each server, where its objects need no more.
const MEMORY: u64 = 512 << 20;
/// Tenths of a server's memory that objects may have: its hash table and its log's reserves need the rest.
const OBJECTS_TENTHS: u64 = 7;
/// How long a cluster that does not answer is given to drop a table.
const GONE: Duration = Duration::from_secs(1);

/// Where a cluster is, by the parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClusterPlace {
    /// Started here.
    Ours(Options),
    /// The user's, by RAMCloud's own locator.
    Users(String),
}

/// The memory of each server of a RAMCloud that is started here; `None` for any other store. Fails as
/// [`ClusterPlace::from_setup`] does.
pub fn memory(setup: &Setup) -> Result<Option<u64>, Unfit> {
    if setup.params.get("kv") != Some("ramcloud") {
        return Ok(None);
    }
    Ok(match ClusterPlace::from_setup(setup)? {
        ClusterPlace::Ours(options) => Some(options.memory),
        ClusterPlace::Users(_) => None,
    })
}

/// Bytes of a server that has room for what `basic` fills it with.
pub fn needed_memory(setup: &Setup) -> u64 {
    // Half of the objects lie there twice for a while, as they are written anew.
    let most = params::filled(setup).saturating_mul(3) / 2;
    (most / OBJECTS_TENTHS).saturating_mul(10).div_ceil(1 << 20) << 20
}

/// Bytes of each server where none were asked for.
fn usual_memory(setup: &Setup) -> u64 {
    needed_memory(setup).max(MEMORY)
}

/// A parameter that was given.
fn given<'a>(setup: &'a Setup, name: &str) -> Option<&'a str> {
    setup.params.get(name).filter(|text| !text.is_empty())
}

/// The library's path, or the name that the loader looks for.
fn library(setup: &Setup) -> String {
    let path = given(setup, params::LIBRARY.name).map(|path| {
        let full = std::path::absolute(path).unwrap_or_else(|_| PathBuf::from(path));
        full.display().to_string()
    });
    path.unwrap_or_else(|| LIBRARY.to_owned())
}

fn cluster(setup: &Setup) -> String {
    given(setup, params::CLUSTER.name).unwrap_or("main").to_owned()
}

impl ClusterPlace {
    /// The place that the parameters name; asks nothing of the network or the loader. Fails when they contradict each
    /// other.
    pub fn from_setup(setup: &Setup) -> Result<ClusterPlace, Unfit> {
        if let Some(text) = given(setup, params::LOCATOR.name) {
            return locator(text).map(ClusterPlace::Users).map_err(Unfit::new);
        }
        let library = library(setup);
        let program = |name: &str, beside: &str| {
            given(setup, name).map(PathBuf::from).or_else(|| ramcloud::beside(&library, beside))
        };
        let programs = (
            program(params::COORDINATOR.name, "coordinator"),
            program(params::RAMCLOUD_SERVER.name, "server"),
        );
        let (Some(coordinator), Some(server)) = programs else {
            return Err(Unfit::new(format!(
                "kv=ramcloud: say where it runs (--kv ramcloud:tcp:host=HOST,port=PORT, or ramcloud:zk:...) or name the \
                 programs to start (--set 'ramcloud-coordinator=PATH;ramcloud-server=PATH'); its client library {LIBRARY} \
                 is yours too: {GIVEN}"
            )));
        };
        let options = Options {
            coordinator,
            server,
            library,
            cluster: cluster(setup),
            replicas: params::replicas(setup),
            memory: given(setup, params::MEMORY.name)
                .and_then(parse_bytes)
                .unwrap_or_else(|| usual_memory(setup)),
            cpus: Vec::new(),
        };
        has_room(&options, setup.memory)?;
        options.resolve().map(ClusterPlace::Ours).map_err(|error| Unfit::new(error.to_string()))
    }
}

/// Fails when the memory of its servers, which they use from the start, is not there.
fn has_room(options: &Options, memory: Option<u64>) -> Result<(), Unfit> {
    let (needed, have) = (options.all_memory(), memory.unwrap_or(u64::MAX));
    if needed <= have / 10 * 9 {
        return Ok(());
    }
    let servers = model::format::count(options.replicas as usize + 1, "server");
    Err(Unfit::new(format!(
        "kv=ramcloud: {servers} of {} need {} with their copies from the start, and {} of memory are here: give them less \
         with --set ramcloud-memory=256MiB, or fewer --replicas",
        show_bytes(options.memory),
        show_bytes(needed),
        show_bytes(have)
    )))
}

/// Fails when a test cannot be made with these parameters.
pub fn fit(setup: &Setup) -> Result<(), Unfit> {
    let not = |what: &str| Err(Unfit::new(format!("kv=ramcloud: {what}")));
    if setup.params.get("in").is_some_and(|given| !given.is_empty()) {
        return not("in is of Redis, Valkey and memcached: RAMCloud is started on this system itself");
    }
    if setup.params.get("persistence").is_some_and(|given| given != "off") {
        return not("persistence is of Redis; copies of RAMCloud are those of its replicas");
    }
    if setup.params.get("mode") == Some("spin") {
        return not("how its client waits is its library's own matter (it spins); leave mode out");
    }
    if params::size(setup) > MOST_VALUE {
        return not("no object is larger than 1 MiB");
    }
    if !is_word(&cluster(setup)) {
        return not("ramcloud-cluster: it is too long or has control characters");
    }
    ClusterPlace::from_setup(setup).map(drop)
}

/// True for text that can be passed to RAMCloud's library unchanged.
fn is_word(text: &str) -> bool {
    text.len() <= MOST_WORD && !text.contains(|c: char| c.is_control())
}

/// `tcp:host=H,port=P`, `zk:...` and other locators of RAMCloud, with blanks for commas where `--set` would split at
/// them; HOST:PORT stands for TCP.
fn locator(text: &str) -> Result<String, String> {
    let wrong = |what: &str| {
        format!(
            "ramcloud-locator={text}: {what}; write it as tcp:host=HOST,port=PORT, zk:HOST:PORT or HOST:PORT"
        )
    };
    if !is_word(text) {
        return Err(wrong("it is too long or has control characters"));
    }
    if text.contains(';') {
        // Pairs of parameters are split at it, so that it could not be part of a figure's name.
        return Err(wrong("it must be a single one without `;`"));
    }
    let joined = text.split(|c: char| c == ',' || c.is_whitespace()).filter(|part| !part.is_empty());
    let joined = joined.collect::<Vec<_>>().join(",");
    let (head, rest) = joined.split_once(':').ok_or_else(|| wrong("it has no port"))?;
    if head == "zk" {
        return if rest.is_empty() { Err(wrong("no host")) } else { Ok(joined) };
    }
    if rest.contains('=') {
        return match rest.contains("host=") && rest.contains("port=") {
            true => Ok(joined),
            false => Err(wrong("a host or a port is missing")),
        };
    }
    let (host, port) = joined.rsplit_once(':').unwrap_or_default();
    let port =
        port.parse::<u16>().ok().filter(|port| *port > 0).ok_or_else(|| wrong("a port is 1 to 65535"))?;
    match host.contains([':', ',', '/']) || host.is_empty() {
        true => Err(wrong("no host")),
        false => Ok(format!("tcp:host={host},port={port}")),
    }
}

/// A table of our own in a cluster; it is dropped with this unless it was forgotten.
#[derive(Debug)]
pub struct Own {
    pub access: Access,
    table: String,
    forgotten: bool,
    /// How long the library may take to drop the table.
    parting: Duration,
}

impl Own {
    /// Makes the table, which nobody else has. Its clients use these CPUs, each its own ones if they are bound. Fails
    /// when the helper or the library does.
    pub fn make(
        setup: &Setup,
        locator: &str,
        (cpus, is_bound): (&[u32], bool),
        keys: Keys,
    ) -> Result<Own, Trouble> {
        let access = Access {
            library: library(setup),
            locator: locator.to_owned(),
            cluster: cluster(setup),
            cpus: cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()).collect(),
            each: is_bound.then_some(CLIENT_CPUS),
        };
        let table = keys.prefix().replace(':', "-").trim_end_matches('-').to_owned();
        let mut session = access.open(PATIENCE)?;
        // Before the table is made: one whose id cannot be had, or which comes too late, is dropped too.
        let own = Own { access, table, forgotten: false, parting: PATIENCE };
        session.create(&own.table)?;
        Ok(own)
    }

    pub fn table(&self) -> &str {
        &self.table
    }

    /// The nth client, on CPUs of its own where it is bound. Fails when the helper does not start or connect.
    pub fn open(&self, nth: usize) -> Result<RamCloud, Failure> {
        let mut session = self.access.nth(nth).open(PATIENCE).map_err(Failure::RamCloud)?;
        session.choose(&self.table).map_err(Failure::RamCloud)?;
        Ok(RamCloud::new(session))
    }

    /// The cluster does not answer: it is not waited for any more.
    pub fn abandon(&mut self) {
        self.parting = GONE;
    }

    /// The cluster goes with everything in it.
    pub fn forget(&mut self) {
        self.forgotten = true;
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if !self.forgotten {
            // A cluster that is gone has nothing to drop, and there is nobody left to tell.
            let _gone = self.access.open(self.parting).and_then(|mut session| session.discard(&self.table));
        }
    }
}

/// One client, as `connection` is one of a store with a socket: it is told what to ask, and asks.
#[derive(Debug)]
pub struct RamCloud {
    session: Session,
    /// The kind of the next request.
    kind: Kind,
    asked: Vec<u8>,
    asked_keys: u32,
    /// Bytes of values that an answer has room for.
    room: usize,
    /// The value that writes store, and whether the helper has it already.
    value: Vec<u8>,
    value_is_known: bool,
    /// Requests that wait to be made.
    row: Vec<u8>,
    row_keys: u32,
    /// A key that is longer than RAMCloud allows was asked for.
    too_long: bool,
    last: Vec<u8>,
}

impl RamCloud {
    fn new(session: Session) -> RamCloud {
        RamCloud {
            session,
            kind: Kind::Read,
            asked: Vec::new(),
            asked_keys: 0,
            room: 0,
            value: Vec::new(),
            value_is_known: false,
            row: Vec::new(),
            row_keys: 0,
            too_long: false,
            last: Vec::new(),
        }
    }

    pub fn make_room(&mut self, bytes: usize) {
        self.room = self.room.max(bytes);
    }

    /// The next request is of that kind, for these keys.
    pub fn ask(&mut self, kind: Kind, keys: &mut dyn Iterator<Item = &[u8]>) {
        self.kind = kind;
        self.asked.clear();
        self.asked_keys = 0;
        for key in keys {
            self.too_long |= !frames::push_key(&mut self.asked, key);
            self.asked_keys += 1;
        }
    }

    /// The next request writes this.
    pub fn ask_set(&mut self, key: &[u8], value: &[u8]) {
        self.ask(Kind::Write, &mut std::iter::once(key));
        self.keep(value);
    }

    /// Writes this under all the keys by one request. Fails when one of them was not written.
    pub fn write_many(&mut self, keys: &mut dyn Iterator<Item = &[u8]>, value: &[u8]) -> Result<(), Failure> {
        self.ask(Kind::MultiWrite, keys);
        self.keep(value);
        self.turn().map(drop)
    }

    /// The value of the writes that come.
    fn keep(&mut self, value: &[u8]) {
        if self.value != value {
            value.clone_into(&mut self.value);
            self.value_is_known = false;
        }
    }

    /// Puts what is asked next into the row; all of a row are of one kind.
    pub fn queue(&mut self) {
        self.row.extend_from_slice(&self.asked);
        self.row_keys += self.asked_keys;
    }

    /// Makes the requests of the row, or as many as the time allows; the row is empty then.
    pub fn make(&mut self, limit: Duration) -> Result<Vec<Outcome>, Failure> {
        let (row, count) = (std::mem::take(&mut self.row), std::mem::take(&mut self.row_keys));
        let made = self.run(&row, count, (1, 1), limit, false);
        self.row = row;
        self.row.clear();
        made
    }

    /// Makes all requests of the row, however long that takes. Fails when the helper or the library does.
    pub fn make_all(&mut self) -> Result<Vec<Outcome>, Failure> {
        let (row, count) = (std::mem::take(&mut self.row), std::mem::take(&mut self.row_keys));
        let mut all = Vec::new();
        let (mut left, mut at) = (count, 0);
        while left > 0 {
            let made = self.run(row.get(at..).unwrap_or_default(), left, (1, 1), SLICE, false)?;
            at += frames::skip_keys(row.get(at..).unwrap_or_default(), made.len());
            left = left.saturating_sub(u32::try_from(made.len()).unwrap_or(u32::MAX));
            all.extend(made);
        }
        Ok(all)
    }

    /// Repeats the next request, `block` times at least and until the time is over. Fails when the helper or the
    /// library does.
    pub fn again(&mut self, block: u32, limit: Duration) -> Result<Vec<Outcome>, Failure> {
        let asked = std::mem::take(&mut self.asked);
        let most = u32::try_from(ROW).unwrap_or(block).next_multiple_of(block);
        let made = self.run(&asked, self.asked_keys, (most, block), limit, false);
        self.asked = asked;
        made
    }

    /// Makes the next request once. Fails when the helper or the library does.
    pub fn turn(&mut self) -> Result<Answer, Failure> {
        let asked = std::mem::take(&mut self.asked);
        let made = self.run(&asked, self.asked_keys, (1, 1), SLICE, true);
        self.asked = asked;
        let mut answer = self.answer(made?.first().unwrap_or(&Outcome::default()))?;
        answer.last = (0, self.last.len());
        Ok(answer)
    }

    /// The value that came last to a `turn`.
    pub fn came(&self) -> &[u8] {
        &self.last
    }

    fn run(
        &mut self,
        keys: &[u8],
        count: u32,
        (repeat, step): (u32, u32),
        limit: Duration,
        wanted: bool,
    ) -> Result<Vec<Outcome>, Failure> {
        if std::mem::take(&mut self.too_long) {
            return Err(Failure::too_large("a key has more than 65535 B".to_owned()));
        }
        if count == 0 || count as usize > MOST_REQUESTS {
            return Err(Failure::Junk { protocol: "RAMCloud", text: format!("{count} requests at once") });
        }
        if self.kind.is_write() && !self.value_is_known {
            if self.value.len() > MOST_VALUE {
                return Err(Failure::too_large(format!("{} B", self.value.len())));
            }
            self.session.value(&self.value).map_err(Failure::RamCloud)?;
            self.value_is_known = true;
        }
        let limit_ns = u64::try_from(limit.min(SLICE).as_nanos()).unwrap_or(u64::MAX);
        let each = u32::try_from((self.room / count as usize).min(MOST_VALUE)).unwrap_or(0);
        let batch = Batch { kind: self.kind, wanted, repeat, step, each, limit_ns, count, keys };
        let made = self.session.run(&batch).map_err(Failure::RamCloud)?;
        self.last = made.value;
        Ok(made.outcomes)
    }

    /// The answer in an outcome of the current kind of request. Fails when the library reported a failure.
    pub fn answer(&self, outcome: &Outcome) -> Result<Answer, Failure> {
        let is_missing = outcome.status == status::OBJECT_DOESNT_EXIST && !self.kind.is_write();
        match outcome.status {
            status::OK => Ok(Answer { count: outcome.good, bytes: outcome.bytes, last: (0, 0) }),
            _ if is_missing => Ok(Answer::default()),
            code => Err(Failure::RamCloud(Trouble::Status { call: self.kind.call().to_owned(), code })),
        }
    }
}

/// Where the coordinator of a locator listens; empty where it has no host and port.
pub fn coordinator(locator: &str) -> Vec<SocketAddr> {
    let rest = locator.split_once(':').map_or("", |(_, rest)| rest);
    let part =
        |name: &str| rest.split(',').find_map(|part| part.trim().strip_prefix(name)?.strip_prefix('='));
    let place = part("host").zip(part("port").and_then(|port| port.parse::<u16>().ok()));
    place.and_then(|place| place.to_socket_addrs().ok()).into_iter().flatten().collect()
}

/// The name of a library in notes: that of its file.
pub fn file_name(library: &str) -> String {
    Path::new(library).file_name().map_or(library.to_owned(), |name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;

    fn setup(params: &str) -> Setup {
        Setup::bare(Params::parse(params).unwrap(), vec![0, 1], std::env::temp_dir())
    }

    #[test]
    fn locators_are_ramclouds_or_an_address() {
        for (text, wanted) in [
            ("10.0.0.3:12246", "tcp:host=10.0.0.3,port=12246"),
            ("tcp:host=a,port=1", "tcp:host=a,port=1"),
            ("tcp:host=a port=1", "tcp:host=a,port=1"),
            ("tcp:host=zk port=1", "tcp:host=zk,port=1"),
            ("infrc:host=a, port=1", "infrc:host=a,port=1"),
            ("zk:a:2181,b:2181", "zk:a:2181,b:2181"),
        ] {
            assert_eq!(locator(text).as_deref(), Ok(wanted), "{text}");
        }
        for bad in [
            "",
            "a",
            ":1",
            "a:0",
            "a:x",
            "zk:",
            "tcp:host=a",
            "[::1]:1",
            "a/b:1",
            "a\nb:1",
            "a:1;b:1",
            &"a".repeat(2000),
        ] {
            assert!(locator(bad).unwrap_err().contains("write it as"), "{bad}");
        }
    }

    #[test]
    fn a_coordinator_is_where_its_locator_says() {
        let at = |text: &str| coordinator(text).first().map(ToString::to_string);
        assert_eq!(at("tcp:host=127.0.0.1,port=12246").as_deref(), Some("127.0.0.1:12246"));
        assert_eq!(at("zk:127.0.0.1:2181"), None);
        assert_eq!(at("tcp:host=127.0.0.1,port=x"), None);
    }

    #[test]
    fn what_it_cannot_do_is_refused() {
        let at = "ramcloud-locator=a:1";
        assert_eq!(fit(&setup(at)), Ok(()));
        for (params, says) in [
            ("persistence=rdb", "replicas"),
            ("mode=spin", "it spins"),
            ("size=2MiB", "1 MiB"),
            ("ramcloud-locator=a", "no port"),
            ("ramcloud-cluster=a\0b", "ramcloud-cluster: it is too long or has control characters"),
            (&format!("ramcloud-cluster={}", "a".repeat(1001)), "ramcloud-cluster: it is too long"),
        ] {
            let params =
                if params.contains("locator") { params.to_owned() } else { format!("{at};{params}") };
            assert!(fit(&setup(&params)).unwrap_err().why.contains(says), "{params}");
        }
        let why = fit(&setup("kv=ramcloud")).unwrap_err().why;
        assert!(why.contains("ramcloud-coordinator=PATH") && why.contains("LD_LIBRARY_PATH"), "{why}");
        let why = fit(&setup("ramcloud-coordinator=/no/such;ramcloud-server=/bin/sh")).unwrap_err().why;
        assert!(why.contains("ramcloud-coordinator=/no/such"), "{why}");
    }

    #[test]
    fn memory_that_is_not_there_is_refused_before_anything_starts() {
        let sized = |params: &str, memory: u64| {
            let pairs = format!("kv=ramcloud;ramcloud-coordinator=/bin/sh;ramcloud-server=/bin/sh;{params}");
            fit(&Setup { memory: Some(memory), ..setup(&pairs) }).map_err(|unfit| unfit.why)
        };
        assert_eq!(sized("replicas=0", 1 << 30), Ok(()));
        let why = sized("ramcloud-memory=2GiB", 2 << 30).unwrap_err();
        assert!(
            why.contains("1 server of 2GiB need 2GiB") && why.contains("--set ramcloud-memory="),
            "{why}"
        );
        // Copies have room on each of the three servers.
        let why = sized("replicas=2", 4 << 30).unwrap_err();
        assert!(why.contains("3 servers of 512MiB"), "{why}");
        assert_eq!(sized("replicas=2", 16 << 30), Ok(()));
    }

    #[test]
    fn a_server_has_room_for_what_it_is_filled_with() {
        let memory = |params: &str| {
            let pairs = format!("kv=ramcloud;ramcloud-coordinator=/bin/sh;ramcloud-server=/bin/sh;{params}");
            super::memory(&setup(&pairs))
        };
        assert_eq!(memory("replicas=0"), Ok(Some(MEMORY)));
        assert_eq!(memory("fill=20;sizes=all"), Ok(Some(MEMORY)));
        assert_eq!(memory("fill=200;sizes=all"), Ok(Some(2044 << 20)));
        assert_eq!(memory("fill=200;sizes=all;definition=era1"), Ok(Some(MEMORY)));
        assert_eq!(memory("fill=400;sizes=1K"), Ok(Some(818 << 20)));
        assert_eq!(memory("fill=200;sizes=all;ramcloud-memory=1GiB"), Ok(Some(1 << 30)));
        assert_eq!(super::memory(&setup("kv=redis;fill=200")), Ok(None));
    }

    #[test]
    fn programs_beside_the_library_are_used() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["coordinator", "server"] {
            std::os::unix::fs::symlink("/bin/sh", dir.path().join(name)).unwrap();
        }
        let library = dir.path().join("libramcloud.so");
        let mut setup = setup("replicas=2");
        setup.params.set("ramcloud-library", library.to_str().unwrap());
        let Ok(ClusterPlace::Ours(options)) = ClusterPlace::from_setup(&setup) else {
            panic!("{:?}", ClusterPlace::from_setup(&setup))
        };
        assert_eq!((options.replicas, options.cluster.as_str()), (2, "main"));
        assert_eq!(options.busy_cpus(), 8);
        assert_eq!(file_name(&options.library), "libramcloud.so");
    }
}
