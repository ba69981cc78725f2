//! Managed stores, the real ones: this program is the owner of a store that waits to be killed when called with
//! `store-owner`.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use instruments::load::failure::Failure;
use instruments::load::schedule::Schedule;
use instruments::load::store_client::Spec;
use instruments::load::store_client::data::{At, Work};
use instruments::load::store_client::keys::{Popularity, Sizes};
use instruments::load::{self, Control, Load};
use instruments::workload::server::kind::ServerError;
use instruments::workload::server::{account, tree};
use instruments::workload::store_server::{self as store, Options, Persistence, Store, StoreKind};
use model::url::{Scheme, Url};

/// `xtask/setup.sh test` installs them: without one the tests would show less than they say.
pub fn stores_are_installed() {
    for (kind, build) in store::detect() {
        match (kind, build) {
            // Not every distribution has it.
            (StoreKind::Valkey, Err(ServerError::Missing(why))) => {
                assert!(why.contains("valkey-server"), "{why}")
            }
            (kind, Err(why)) => panic!("{}: {why}", kind.name()),
            (kind, Ok(build)) => {
                assert!(build.program.is_absolute(), "{build:?}");
                assert!(build.version.starts_with(&format!("{}/", kind.name())), "{build:?}");
            }
        }
    }
}

/// Those that are here.
fn kinds() -> Vec<StoreKind> {
    let here = store::detect().into_iter().filter(|(_, build)| build.is_ok());
    here.map(|(kind, _)| kind).collect()
}

/// A folder that every account can reach, with a name that must be quoted.
fn folder() -> tempfile::TempDir {
    let dir = tempfile::Builder::new().prefix("a test's ").tempdir_in("/tmp").unwrap();
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    dir
}

fn start(options: &Options, dir: &Path) -> Store {
    Store::start(options, dir).unwrap_or_else(|why| panic!("{options:?}: {why}"))
}

fn with_replicas(count: u32) -> Options {
    Options { replicas: count, ..Options::new(StoreKind::Redis) }
}

/// Sends a request and reads until the answer ends so.
fn ask(address: SocketAddr, request: &[u8], end: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request).unwrap();
    let mut said = Vec::new();
    let mut chunk = [0; 65_536];
    while !said.ends_with(end.as_bytes()) {
        let count = stream.read(&mut chunk).unwrap();
        assert!(count > 0, "{address} hung up after {}", String::from_utf8_lossy(&said));
        said.extend_from_slice(&chunk[..count]);
    }
    String::from_utf8(said).unwrap()
}

/// A write as each kind understands it; what it says to that.
fn set(store: &Store, key: &str, value: &str) -> String {
    let request = match store.kind() {
        StoreKind::Memcached => format!("set {key} 0 0 {}\r\n{value}\r\n", value.len()),
        _ => format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n${}\r\n{value}\r\n", key.len(), value.len()),
    };
    ask(store.address(), request.as_bytes(), "\r\n")
}

fn is_empty(dir: &Path) -> bool {
    std::fs::read_dir(dir).unwrap().count() == 0
}

/// Killing takes effect soon, not at once.
fn soon(what: &str, mut is_so: impl FnMut() -> bool) {
    let so = (0..2000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        is_so()
    });
    assert!(so, "{what}");
}

pub fn stores_start_and_end() {
    let dir = folder();
    for kind in kinds() {
        let mut store = start(&Options::new(kind), dir.path());
        assert_eq!(store.alive(), Ok(()));
        let value = "x".repeat(1 << 20);
        let said = set(&store, "large", &value);
        assert!(["+OK\r\n", "STORED\r\n"].contains(&said.as_str()), "{}: {said}", kind.name());
        assert!(store.cpu().unwrap().threads.iter().any(|thread| thread.cpu_ns > 0));
        assert!(store.info().unwrap().lines().count() > 20);
        let (pgid, address) = (store.primary().pgid(), store.address());
        store.stop().unwrap();
        assert_eq!(tree::members(pgid).unwrap(), [], "{}", kind.name());
        assert!(TcpStream::connect(address).is_err(), "{} still answers", kind.name());
        assert!(is_empty(dir.path()), "something is left of {}", kind.name());
    }
}

/// A field of /proc/PID/status, without its name.
fn status(pid: i32, field: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(field)).unwrap();
    line.trim_start_matches(':').split_whitespace().next().unwrap().to_owned()
}

pub fn stores_run_as_and_where_they_should() {
    let dir = folder();
    let allowed = sys::affinity::allowed().unwrap();
    let (first, last) = (*allowed.first().unwrap(), *allowed.last().unwrap());
    let account = account::choose().unwrap();
    let uid = account.as_ref().map_or(sys::files::effective_ids().0, |chosen| chosen.account.uid);
    let pinned = |pgid: i32, cpu: usize| {
        let members = tree::members(pgid).unwrap();
        assert_eq!(members.len(), 1, "{members:?}");
        assert_eq!(status(members[0].pid, "Uid"), uid.to_string());
        assert_eq!(status(members[0].pid, "Cpus_allowed_list"), cpu.to_string());
    };
    for kind in kinds() {
        let replicas = u32::from(kind.speaks_resp());
        let options = Options { replicas, cpus: vec![first], replica_cpus: vec![last], ..Options::new(kind) };
        let store = start(&options, dir.path());
        pinned(store.primary().pgid(), first);
        store.replicas().iter().for_each(|replica| pinned(replica.pgid(), last));
    }
    assert!(is_empty(dir.path()), "dropping is stopping");
}

pub fn replicas_copy_what_is_written() {
    let dir = folder();
    let mut store = start(&with_replicas(2), dir.path());
    assert_eq!((store.alive(), store.in_sync()), (Ok(()), Ok(())));
    let addresses: BTreeSet<SocketAddr> = store.replica_addresses().into_iter().collect();
    assert!(addresses.len() == 2 && !addresses.contains(&store.address()), "{addresses:?}");
    assert!(store.setup().contains(&("replicas", "2".to_owned())), "{:?}", store.setup());
    let said = ask(store.address(), b"SET k v\r\nWAIT 2 10000\r\n", ":2\r\n");
    assert_eq!(said, "+OK\r\n:2\r\n");
    for address in addresses {
        assert_eq!(ask(address, b"GET k\r\n", "v\r\n"), "$1\r\nv\r\n");
        assert!(ask(address, b"SET k w\r\n", "\r\n").starts_with("-READONLY"));
    }
    store.stop().unwrap();
    assert!(is_empty(dir.path()));
}

pub fn a_replica_that_ends_or_stops_is_named() {
    let dir = folder();
    let mut store = start(&with_replicas(2), dir.path());
    let [first, second] =
        [0, 1].map(|at: usize| (store.replicas()[at].pgid(), store.replicas()[at].address()));
    sys::process::signal_group(first.0, 19).unwrap();
    let mut why = String::new();
    soon("a stopped replica is noticed", || store.alive().map_err(|said| why = said).is_err());
    assert!(why.contains("replica 1 at") && why.contains("is stopped by a signal"), "{why}");
    sys::process::signal_group(first.0, 18).unwrap();
    soon("it goes on", || store.alive().is_ok());
    sys::process::signal_group(second.0, 9).unwrap();
    // Before its status is known, it has no process any more.
    let killed = format!("replica 2 at {}", second.1);
    soon("a killed replica is noticed", || {
        store.alive().is_err_and(|said| said.contains(&killed) && said.contains("signal: 9"))
    });
    let why = store.in_sync().unwrap_err();
    assert!(why.contains("replica 2"), "{why}");
    sys::process::signal_group(store.primary().pgid(), 9).unwrap();
    soon("so is the primary", || {
        store.alive().is_err_and(|said| said.contains("the primary at") && said.contains("signal: 9"))
    });
    store.stop().unwrap();
    assert!(is_empty(dir.path()));
}

/// Starts a store, says its process groups and port, and waits.
pub fn owner(kind: StoreKind, dir: &Path) {
    let options = Options { replicas: u32::from(kind.speaks_resp()), ..Options::new(kind) };
    let store = start(&options, dir);
    let replica = store.replicas().first().unwrap_or(store.primary()).pgid();
    let mut out = std::io::stdout();
    writeln!(out, "{} {replica} {}", store.primary().pgid(), store.address()).unwrap();
    std::thread::sleep(Duration::from_secs(1000));
}

pub fn a_killed_owner_leaves_nothing_behind() {
    let dir = folder();
    for kind in kinds() {
        let mut command = Command::new("/proc/self/exe");
        command.args(["store-owner", kind.name()]).arg(dir.path()).stdin(Stdio::null());
        let mut owner = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(owner.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let [primary, replica, address] = words.as_slice() else { panic!("{line}") };
        let groups: [i32; 2] = [primary.parse().unwrap(), replica.parse().unwrap()];
        let address: SocketAddr = address.parse().unwrap();
        assert!(TcpStream::connect(address).is_ok());
        owner.kill().unwrap();
        owner.wait().unwrap();
        for group in groups {
            soon(kind.name(), || tree::members(group).unwrap().is_empty());
        }
        soon(kind.name(), || TcpListener::bind(address).is_ok());
        soon(kind.name(), || is_empty(dir.path()));
    }
}

pub fn taken_ports_are_passed_by() {
    let dir = folder();
    // It takes connections and says nothing.
    let holder = TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = holder.local_addr().unwrap().port();
    for kind in kinds() {
        // Several, since others may take one of them meanwhile.
        let held: Vec<TcpListener> = (0..3).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let free: Vec<u16> = held.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        drop(held);
        let ports = [&[taken], free.as_slice()].concat();
        let store = start(&Options { ports, ..Options::new(kind) }, dir.path());
        assert!(free.contains(&store.address().port()), "{}", kind.name());
        let none = Options { ports: vec![taken], ..Options::new(kind) };
        let why = Store::start(&none, dir.path()).unwrap_err().to_string();
        assert!(
            why.contains(&format!("{taken} is taken")) && why.contains("in use"),
            "{}: {why}",
            kind.name()
        );
    }
}

pub fn programs_that_are_no_store_are_named() {
    let dir = folder();
    for (kind, binary, says) in [
        (StoreKind::Redis, "/no/such/redis", "/no/such/redis"),
        (StoreKind::Redis, "/etc/passwd", "not a program"),
        (StoreKind::Redis, "/bin/true", "does not call itself redis"),
        (StoreKind::Memcached, "/bin/false", "exit status: 1"),
        (StoreKind::Memcached, "/usr/bin/redis-server", "does not call itself memcached"),
    ] {
        let options = Options { binary: Some(binary.into()), ..Options::new(kind) };
        let why = Store::start(&options, dir.path()).unwrap_err();
        assert!(why.to_string().contains(says), "{binary}: {why}");
        assert_eq!(matches!(why, ServerError::Missing(_)), says == "/no/such/redis", "{why}");
    }
    // One that is not installed says which package has it.
    if !kinds().contains(&StoreKind::Valkey) {
        let why = Store::start(&Options::new(StoreKind::Valkey), dir.path()).unwrap_err();
        assert!(matches!(&why, ServerError::Missing(why) if why.contains("apt-get install valkey")), "{why}");
    }
    assert!(is_empty(dir.path()));
}

pub fn options_change_the_store() {
    let dir = folder();
    let redis = Options::new(StoreKind::Redis);
    for persistence in [Persistence::Everysec, Persistence::Always, Persistence::Rdb] {
        let store = start(&Options { persistence, ..redis.clone() }, dir.path());
        let is_aof = persistence != Persistence::Rdb;
        assert_eq!(store.info().unwrap().number("aof_enabled"), Some(u64::from(is_aof)));
        assert_eq!(set(&store, "k", "v"), "+OK\r\n");
        let log = store.primary().folder().unwrap().join("appendonlydir");
        assert_eq!(log.exists(), is_aof, "{}", persistence.name());
    }
    let memcached = Options::new(StoreKind::Memcached);
    for small in
        [Options { memory: Some(16 << 20), ..redis }, Options { memory: Some(16 << 20), ..memcached }]
    {
        let store = start(&small, dir.path());
        assert!(store.setup().contains(&("memory of data", "16MiB".to_owned())), "{:?}", store.setup());
        let value = "x".repeat(1 << 20);
        // What does not fit is an error, not an eviction.
        let is_refusal = |said: &String| {
            let said = said.to_lowercase();
            said.starts_with("-oom ") || said.starts_with("server_error out of memory")
        };
        let refused = (0..40).map(|at| set(&store, &format!("k{at}"), &value)).find(is_refusal);
        assert!(refused.is_some(), "{}", store.name());
    }
    let threads = Options { threads: Some(3), ..Options::new(StoreKind::Memcached) };
    assert_eq!(start(&threads, dir.path()).info().unwrap().number("threads"), Some(3));
}

fn scheme(kind: StoreKind) -> Scheme {
    if kind.speaks_resp() { Scheme::Redis } else { Scheme::Memcached }
}

fn spec() -> Spec {
    Spec {
        keys: 500,
        prefix: "boxscore:test:".to_owned(),
        key_bytes: 30,
        popularity: Popularity::Zipf(0.99),
        reads: 0.7,
        sizes: Sizes::Weighted(vec![(100, 9), (50_000, 1)]),
        seed: 11,
    }
}

/// A load of so many requests; patient, since the machine may be busy.
fn load_of(store: &Store, spec: &Spec, requests: u64) -> Load {
    let url: Url = format!("{}://{}", scheme(store.kind()).name(), store.address()).parse().unwrap();
    Load {
        store: Some(spec.clone()),
        connections: 5,
        threads: 2,
        duration: None,
        requests: Some(requests),
        timeout: Duration::from_secs(60),
        drain: Duration::from_secs(60),
        ..Load::new(url)
    }
}

fn at(store: &Store) -> At {
    At { address: store.address(), scheme: scheme(store.kind()), login: None }
}

/// How many keys a store has, in its own words.
fn keys(store: &Store) -> u64 {
    let info = store.info().unwrap();
    match store.kind() {
        StoreKind::Memcached => info.number("curr_items").unwrap(),
        _ => info.text("db0").map_or(0, |text| {
            text.split(',').find_map(|field| field.strip_prefix("keys=")).unwrap().parse().unwrap()
        }),
    }
}

pub fn loads_read_and_write_and_leave_nothing() {
    let dir = folder();
    for kind in kinds() {
        let store = start(&Options::new(kind), dir.path());
        let spec = spec();
        // A key of somebody else.
        set(&store, "theirs", "v");
        let mut keys_asked = 0;
        let many = Spec { keys: 5000, ..spec.clone() };
        let why = at(&store).each(Work::Write, &many, &mut |key| {
            keys_asked = key;
            if key > 1000 { Err("enough".to_owned()) } else { Ok(()) }
        });
        assert_eq!((why, keys_asked > 1000, keys(&store) <= 1001), (Err("enough".to_owned()), true, true));
        at(&store).each(Work::Delete, &many, &mut |_| Ok(())).unwrap();
        assert_eq!(keys(&store), 1);
        at(&store).each(Work::Write, &spec, &mut |_| Ok(())).unwrap();
        assert_eq!(keys(&store), 501, "{}", kind.name());
        let closed = load_of(&store, &spec, 3000);
        let open = Load { schedule: Schedule::Constant { rate: 20_000.0 }, ..closed.clone() };
        let mut bytes = 0;
        for load in [closed, open] {
            let outcome = load::run(&load, &Control::default()).unwrap();
            let seen: Vec<_> = outcome.record.failures.seen().collect();
            assert_eq!((outcome.record.good, seen), (3000, vec![]), "{}", kind.name());
            assert_eq!(outcome.response_time().count(), 3000);
            bytes += outcome.record.body_bytes;
        }
        let info = store.info().unwrap();
        let (hits, misses) = match kind {
            StoreKind::Memcached => (info.number("get_hits"), info.number("get_misses")),
            _ => (info.number("keyspace_hits"), info.number("keyspace_misses")),
        };
        // Of 6000 requests seven in ten read; five standard deviations. Values have the sizes that were asked for.
        assert!(hits.unwrap().abs_diff(4200) < 180 && misses == Some(0), "{hits:?} {misses:?}");
        assert!(bytes > hits.unwrap() * 100, "{bytes}");
        at(&store).each(Work::Delete, &spec, &mut |_| Ok(())).unwrap();
        assert_eq!(keys(&store), 1, "{}", kind.name());
        // What is not there is a failure of its own.
        let outcome =
            load::run(&load_of(&store, &Spec { reads: 1.0, ..spec }, 50), &Control::default()).unwrap();
        assert_eq!(outcome.record.failures.count(Failure::Missing), 50);
    }
}

pub fn what_does_not_fit_is_told() {
    let dir = folder();
    for kind in kinds() {
        let store = start(&Options { memory: Some(16 << 20), ..Options::new(kind) }, dir.path());
        let large = Spec { sizes: Sizes::Fixed(100_000), ..spec() };
        let why = at(&store).each(Work::Write, &large, &mut |_| Ok(())).unwrap_err();
        assert!(why.contains("no memory left") && why.contains("of 500"), "{why}");
        // The same in a load is counted, and the connections go on.
        let writes = Spec { reads: 0.0, ..large };
        let outcome = load::run(&load_of(&store, &writes, 600), &Control::default()).unwrap();
        let failures: Vec<_> = outcome.record.failures.seen().map(|(kind, _)| kind).collect();
        assert_eq!((outcome.requests(), failures), (600, vec![Failure::OutOfMemory]), "{}", kind.name());
        let huge = Spec { keys: 1, sizes: Sizes::Fixed(3 << 20), ..spec() };
        if kind == StoreKind::Memcached {
            let why = at(&store).each(Work::Write, &huge, &mut |_| Ok(())).unwrap_err();
            assert!(why.contains("does not take values as large"), "{why}");
        }
        // Another protocol than the URL says.
        let other = if kind == StoreKind::Memcached { Scheme::Redis } else { Scheme::Memcached };
        let other = At { scheme: other, ..at(&store) };
        let why = other.each(Work::Write, &spec(), &mut |_| Ok(())).unwrap_err();
        assert!(why.contains("no answer of") || why.contains("hung up") || why.contains("answers"), "{why}");
    }
    let url: Url = "redis://127.0.0.1:1".parse().unwrap();
    assert!(load::check(&Load::new(url)).unwrap_err().to_string().contains("needs its keys"));
}
