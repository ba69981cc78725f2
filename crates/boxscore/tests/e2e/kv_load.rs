//! `boxscore load redis://` and `memcached://`, and `run kv-load`, against the real stores, and against one that
//! answers as it is told.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::common::{Bench, PATIENCE, Running, signal};
use instruments::workload::guard;
use instruments::workload::store_server::{Options, Store, StoreKind};
use model::doc::{Binding, ErrorDoc, LoadDoc};

/// A store in a folder of its own.
pub struct Managed {
    store: Store,
    _dir: tempfile::TempDir,
}

impl Managed {
    pub fn start(kind: StoreKind) -> Managed {
        guard::set_program(crate::common::open_program());
        let dir = tempfile::Builder::new().prefix("store").tempdir_in("/tmp").expect("a folder");
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).expect("open to all");
        let store = Store::start(&Options::new(kind), dir.path()).expect("it starts");
        Managed { store, _dir: dir }
    }

    pub fn url(&self) -> String {
        let scheme = if self.store.kind().speaks_resp() { "redis" } else { "memcached" };
        format!("{scheme}://{}", self.store.address())
    }

    fn ask(&self, request: &str) -> String {
        ask(self.store.address(), request)
    }

    /// How many keys there are.
    pub fn keys(&self) -> u64 {
        match self.store.kind() {
            StoreKind::Memcached => {
                self.store.info().expect("it answers").number("curr_items").expect("a count")
            }
            _ => self.ask("DBSIZE\r\n").trim_start_matches(':').parse().expect("a count"),
        }
    }
}

/// The first line of an answer.
fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("a connection");
    stream.write_all(request.as_bytes()).expect("it is sent");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("an answer");
    line.trim_end().to_owned()
}

fn document(text: &str) -> LoadDoc {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// The message and the hint of an error that is told as a document.
fn refused(text: &str) -> String {
    let doc: ErrorDoc = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    format!("{doc:?}")
}

#[test]
fn stores_are_loaded_and_keep_what_was_theirs() {
    for (kind, write) in
        [(StoreKind::Redis, "SET theirs 1\r\n"), (StoreKind::Memcached, "set theirs 0 0 1\r\n1\r\n")]
    {
        let (bench, store) = (Bench::new(), Managed::start(kind));
        let stored = store.ask(write);
        assert!(["+OK", "STORED"].contains(&stored.as_str()), "{stored}");
        let args = ["load", &store.url(), "-c", "4", "-t", "2", "-n", "600", "--keys", "300", "--json"];
        let more =
            ["--value-size", "10-1KiB", "--popularity", "zipf:0.8", "--ratio", "1:2", "--key-size", "40"];
        let said = bench.run(&[args.as_slice(), more.as_slice()].concat()).expect(0, &[]);
        let doc = document(&said.out);
        assert_eq!((doc.requests, doc.good, doc.response_time.count), (600, 600, 600), "{said:#?}");
        assert!(doc.setup.as_deref().is_some_and(|text| text.contains(kind.name())), "{:?}", doc.setup);
        assert_eq!(doc.params.get("server"), Some(kind.name()));
        assert!(doc.bytes.is_some_and(|bytes| bytes > 0.0), "{doc:?}");
        // Ours are gone, theirs is there and was told of.
        assert_eq!(store.keys(), 1, "{}", kind.name());
        let notes = bench.only().notes;
        let holds = notes.iter().find(|note| note.kind() == "store-holds").expect("a note");
        assert!(holds.text().contains("the store held 1 other key before"), "{}", holds.text());
        assert!(doc.remarks.contains(&holds.text().into_owned()), "{:?}", doc.remarks);
        assert!(notes.iter().all(|note| note.kind() != "keys-left"), "{notes:?}");
    }
}

#[test]
fn a_rate_is_an_open_loop() {
    let (bench, store) = (Bench::new(), Managed::start(StoreKind::Redis));
    let args = ["load", &store.url(), "-r", "2000", "--poisson", "-d", "1", "--keys", "50", "--json"];
    let doc = document(&bench.run(&args).expect(0, &[]).out);
    assert_eq!(doc.offered_load, Some(2000.0));
    assert!(doc.requests > 1200 && doc.late_p99.is_some(), "{doc:?}");
    assert_eq!(store.keys(), 0);
}

/// Answers `GET` in turn with these, and everything else as a store would.
struct Scripted(u16);

impl Scripted {
    fn start(gets: &'static [&'static str], sets: &'static str) -> Scripted {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let nth = Arc::new(AtomicU64::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let nth = Arc::clone(&nth);
                // A connection that breaks has been served.
                std::thread::spawn(move || serve(&stream, gets, sets, &nth).unwrap_or(()));
            }
        });
        Scripted(port)
    }

    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.0)
    }
}

fn serve(stream: &TcpStream, gets: &[&str], sets: &str, nth: &AtomicU64) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut to = stream;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let words: u32 = line.trim_end().strip_prefix('*').and_then(|count| count.parse().ok()).unwrap_or(0);
        let mut name = line.trim_end().to_owned();
        for word in 0..words {
            let mut head = String::new();
            reader.read_line(&mut head)?;
            let length: usize = head.trim_end().trim_start_matches('$').parse().expect("a length");
            let mut bytes = vec![0; length + 2];
            reader.read_exact(&mut bytes)?;
            if word == 0 {
                name = String::from_utf8_lossy(&bytes[..length]).into_owned();
            }
        }
        let answer = match name.as_str() {
            "INFO" => "$21\r\nredis_version:9.9.9\r\n\r\n".to_owned(),
            "SET" => sets.to_owned(),
            "DEL" => ":1\r\n".to_owned(),
            _ => {
                let nth = usize::try_from(nth.fetch_add(1, Ordering::Relaxed)).expect("it fits");
                gets[nth % gets.len()].to_owned()
            }
        };
        to.write_all(answer.as_bytes())?;
    }
}

#[test]
fn failures_are_counted_by_kind() {
    let bench = Bench::new();
    let store = Scripted::start(
        &[
            "$3\r\nabc\r\n",
            "-OOM command not allowed when used memory > 'maxmemory'.\r\n",
            "-MOVED 866 127.0.0.1:7001\r\n",
            "-LOADING Redis is loading the dataset in memory\r\n",
            "-NOAUTH Authentication required.\r\n",
            "-ERR something else\r\n",
            "$-1\r\n",
            "$4\r\nabcd\r\n",
            "HTTP/1.1 400 Bad Request\r\n",
        ],
        "+OK\r\n",
    );
    let args =
        ["load", &store.url(), "-c", "1", "-n", "90", "--keys", "5", "--value-size", "3", "--ratio", "0:1"];
    let said = bench.run(&[args.as_slice(), &["--json"]].concat()).expect(3, &[]);
    let doc = document(&said.out);
    let kinds =
        ["out_of_memory", "moved", "loading", "auth", "refused", "missing", "wrong_body", "bad_response"];
    for kind in kinds {
        assert_eq!(doc.errors.get(kind), Some(&10), "{kind}: {:?}", doc.errors);
    }
    assert_eq!((doc.requests, doc.good, doc.errors.len()), (90, 10, kinds.len()));
}

#[test]
fn a_store_that_cannot_be_loaded_is_told_in_a_line() {
    let bench = Bench::new();
    let junk = Scripted::start(&["+OK\r\n"], "HTTP/1.1 200 OK\r\n");
    let moved = Scripted::start(&["+OK\r\n"], "-MOVED 866 127.0.0.1:7001\r\n");
    let full = Scripted::start(&["+OK\r\n"], "-OOM command not allowed\r\n");
    let replica = Scripted::start(&["+OK\r\n"], "-READONLY You can't write against a read only replica.\r\n");
    let missing = Scripted::start(&["$-1\r\n"], "+OK\r\n");
    let memcached = Managed::start(StoreKind::Memcached);
    let other = format!("redis://{}", memcached.store.address());
    let mut asked = 0;
    for (url, says) in [
        (junk.url(), "no answer of RESP"),
        (moved.url(), "node of a cluster"),
        (full.url(), "no memory left"),
        (replica.url(), "load its primary"),
        (missing.url(), "evicts or expires keys"),
        (other, "is no Redis or Valkey"),
        ("redis://127.0.0.1:1".to_owned(), "is the server running"),
    ] {
        let args = ["load", &url, "-c", "1", "-n", "20", "--keys", "5", "--ratio", "0:1", "--json"];
        let said = bench.run(&args).expect(1, &[]);
        let why = refused(&said.out);
        assert!(why.contains(says), "{url}: {why}");
        // Only what was asked of it and failed is a take, and a run without a take is not stored.
        asked += u64::from(says.starts_with("evicts"));
        let heads = if bench.store().exists() { bench.heads() } else { Vec::new() };
        assert_eq!(heads.iter().map(|head| head.takes).sum::<u64>(), asked, "{url}");
        assert_eq!(heads.len() as u64, asked, "{url}");
    }
}

#[test]
fn a_store_that_is_killed_stopped_answering() {
    let (bench, store) = (Bench::new(), Managed::start(StoreKind::Redis));
    let args = ["load", &store.url(), "-c", "4", "-d", "5s", "--keys", "100", "--timeout", "1s", "--json"];
    let running = Running::start(bench.command(&args));
    let cpu_ns = || store.store.cpu().map_or(0, |used| used.user_ns + used.system_ns);
    let (before_ns, end) = (cpu_ns(), Instant::now() + PATIENCE);
    while cpu_ns() < before_ns + 50_000_000 {
        assert!(Instant::now() < end, "no request came");
        std::thread::sleep(Duration::from_millis(10));
    }
    sys::process::signal_group(store.store.primary().pgid(), 9).expect("it is killed");
    let said = running.end().expect(3, &[]);
    let doc = document(&said.out);
    assert!(doc.good > 0 && doc.errors.contains_key("connect"), "{:?}", doc.errors);
    assert_eq!(doc.bottlenecks[0].kind, Binding::Silent, "{said:#?}");
    // Its keys could not be deleted any more.
    assert!(bench.only().notes.iter().any(|note| note.kind() == "keys-left"), "{said:#?}");
}

#[test]
fn a_run_starts_a_store_of_its_own_and_searches_a_goal() {
    let bench = Bench::new();
    for server in ["redis", "memcached"] {
        let server = format!("server={server}");
        let sets =
            ["--set", &server, "--set", "connections=2", "--set", "arrivals=closed", "--set", "keys=100"];
        let replicas = if server == "server=redis" { "replicas=1" } else { "replicas=0" };
        let args = [
            "run",
            "kv-load",
            "--takes",
            "1",
            "--set",
            "duration=0.2",
            "--set",
            replicas,
            "--label",
            &server,
        ];
        bench.run(&[args.as_slice(), sets.as_slice()].concat()).expect(0, &[]);
    }
    let runs: Vec<_> = bench.heads().iter().map(|head| bench.data(&head.id)).collect();
    assert_eq!(runs.len(), 2);
    for run in &runs {
        assert!(run.takes.iter().all(|take| take.fault.is_none()), "{:?}", run.takes);
        let setup = run.notes.iter().find(|note| note.kind() == "web-setup").expect("a note");
        assert!(setup.text().contains("/") && setup.text().contains("generator"), "{}", setup.text());
        assert!(run.series.iter().any(|series| series.key.metric == "throughput"), "{:?}", run.head);
    }
    let goal =
        ["run", "kv-load", "--slo", "p50=5ms", "--takes", "1", "--set", "duration=0.1", "--set", "keys=100"];
    let said = bench.run(&[goal.as_slice(), &["--set", "timeout=1"]].concat());
    // On a busy machine the limit may be held at no load, or at every one, which is told.
    let run = bench
        .heads()
        .iter()
        .map(|head| bench.data(&head.id))
        .find(|run| run.plan.cells.iter().any(|cell| cell.instrument == "kv-slo"));
    let run = run.unwrap_or_else(|| panic!("{said:#?}"));
    let fault = run.takes.iter().find_map(|take| take.fault.as_ref().map(model::Fault::as_str));
    let found = run.series.iter().any(|series| series.key.metric == "slo-throughput");
    assert!(
        found || fault.is_some_and(|why| why.contains("the largest rate that holds")),
        "{fault:?} {said:#?}"
    );
}

#[test]
fn keys_that_do_not_fit_are_refused_before_the_first() {
    let (bench, store) = (Bench::new(), Managed::start(StoreKind::Redis));
    for (most, keys, says) in [
        ("64mb", "1k", "its maxmemory is 64.0 MiB"),
        ("0", "100M", "95.4 TiB or more in the store, and its machine"),
    ] {
        assert_eq!(store.ask(&format!("CONFIG SET maxmemory {most}\r\n")), "+OK");
        let args =
            ["load", &store.url(), "--keys", keys, "--value-size", "1M", "-c", "2", "-n", "10", "--json"];
        let why = refused(&bench.run(&args).expect(1, &[]).out);
        assert!(why.contains(says) && why.contains("(--value-size); nothing was written"), "{why}");
        let size = "value-size=1MiB";
        let (url, keys) = (store.url(), format!("keys={keys}"));
        let args =
            ["run", "kv-load", "--url", &url, "--set", &keys, "--set", size, "--takes", "1", "--quick"];
        bench.run(&args).expect(1, &[says, "nothing was measured or stored"]);
        assert!(bench.heads().is_empty());
        assert_eq!(store.store.info().expect("it answers").text("cmdstat_set"), None);
    }
}

/// The bytes at which a store is full midway through 300,000 keys of 30 B with values of 3 B: between the 26.7 MB that
/// they are said to need at least and the 30.9 MB that Redis takes for them. Values are random bytes: of one or two
/// digits they would be numbers that Redis shares between keys, and all keys would fit.
const MIDWAY: u64 = 28_500_000;

/// Its limit is reached while keys are written: the estimate lets them through.
#[test]
fn a_store_that_is_full_midway_is_left_as_it_was() {
    let load = ["--keys", "300k", "--value-size", "3", "-c", "2", "-n", "10", "--json"];
    let run = ["--set", "keys=300k", "--set", "value-size=3", "--takes", "2", "--json"];
    for (is_run, args) in [(false, &load[..]), (true, &run)] {
        // A store of its own: one that was filled gives its tables back when it comes to it.
        let (bench, store) = (Bench::new(), Managed::start(StoreKind::Redis));
        let used = store.store.info().expect("it answers").number("used_memory").expect("bytes");
        assert_eq!(store.ask(&format!("CONFIG SET maxmemory {}\r\n", used + MIDWAY)), "+OK");
        let url = store.url();
        let verb = if is_run { vec!["run", "kv-load", "--url", &url] } else { vec!["load", &url] };
        let why = refused(&bench.run(&[&verb[..], args].concat()).expect(1, &[]).out);
        assert!(why.contains("cannot write the keys of the load") && why.contains("no memory left"), "{why}");
        assert!(bench.heads().is_empty(), "{args:?}");
        assert_eq!(store.keys(), 0, "{args:?}");
    }
}

/// A process of the test's that ends with it.
struct Ending(Child);

impl Drop for Ending {
    fn drop(&mut self) {
        // One that ended by itself is waited for all the same.
        let _ended = self.0.kill();
        self.0.wait().expect("a child");
    }
}

#[test]
fn a_store_that_evicts_is_told_of() {
    let bench = Bench::new();
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").port();
    let port = port.to_string();
    let mut command = Command::new("memcached");
    command.args(["-u", "nobody", "-U", "0", "-l", "127.0.0.1", "-m", "16", "-p", &port]);
    let _store = Ending(command.spawn().expect("`sh xtask/setup.sh test` installs memcached"));
    let end = Instant::now() + PATIENCE;
    while let Err(error) = TcpStream::connect(format!("127.0.0.1:{port}")) {
        assert!(Instant::now() < end, "{error}");
        std::thread::sleep(Duration::from_millis(10));
    }
    let url = format!("memcached://127.0.0.1:{port}");
    let args =
        ["load", &url, "--keys", "300", "--value-size", "100K", "-c", "2", "-n", "10", "--ratio", "1:0"];
    let doc = document(&bench.run(&[args.as_slice(), &["--json"]].concat()).expect(0, &[]).out);
    let told = "300 keys with values of 102400 B need 29.3 MiB or more, and the store's limit is 16.0 MiB: it evicts";
    assert!(doc.remarks.iter().any(|one| one.contains(told)), "{:?}", doc.remarks);
}

#[test]
fn writing_keys_is_told_and_ends_when_the_user_wants_it() {
    let (bench, store) = (Bench::new(), Managed::start(StoreKind::Redis));
    let mut running = Running::start(bench.command(&["load", &store.url(), "--keys", "8M", "--json"]));
    assert!(running.until("writing the keys of the load: "), "it says nothing of its keys");
    assert!(store.keys() > 0);
    running.signal("INT");
    let from = Instant::now();
    let said = running.end().expect(130, &["ending the load"]);
    let why = refused(&said.out);
    assert!(why.contains("of its 8000000 keys were written: nothing was measured"), "{why}");
    assert_eq!(store.keys(), 0, "after {:?}", from.elapsed());
    assert!(bench.only().takes.iter().all(|take| take.fault.is_some()));
}

/// Of a run the same, whosever the store is, and though no take has begun: nothing is left, and it can be resumed.
#[test]
fn writing_keys_of_a_run_is_told_and_left() {
    let (bench, theirs) = (Bench::new(), Managed::start(StoreKind::Redis));
    let url = theirs.url();
    let keys = ["--set", "keys=4M", "--set", "value-size=1", "--takes", "1", "--quick"];
    for whose in [&["--set", "server=redis"][..], &["--set", "server=memcached"], &["--url", &url]] {
        let args = [&["run", "kv-load", "--no-report"], whose, &keys].concat();
        let mut running = Running::start(bench.command(&args));
        assert!(running.until("writing the keys of the load: "), "{whose:?}: it says nothing of its keys");
        running.signal("INT");
        // Deleting what was written takes about as long as writing it, and less than `PATIENCE`.
        assert!(running.until("interrupted: "), "{whose:?}: {:?}", running.heard);
        running.end().expect(130, &[]);
        assert_eq!(theirs.keys(), 0);
    }
    for head in bench.heads() {
        assert_eq!((head.status, head.takes), (model::data::Status::Interrupted, 0));
        assert!(bench.data(&head.id).notes.iter().all(|note| note.kind() != "unfit"));
    }
    assert_eq!(bench.heads().len(), 3);
}

#[test]
fn what_a_store_held_before_and_what_is_asked_is_told() {
    let (bench, store) = (Bench::new(), Managed::start(StoreKind::Redis));
    for key in ["theirs", "boxscore:7:0000000001", "boxscore:7:0000000002"] {
        assert_eq!(store.ask(&format!("SET {key} 1\r\n")), "+OK");
    }
    let args = [
        "load",
        &store.url(),
        "--keys",
        "50",
        "-c",
        "2",
        "-d",
        "0.3",
        "--ratio",
        "1:0",
        "--value-size",
        "1000",
    ];
    let said = bench.run(&args).expect(0, &[]);
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with("writes only · 50 keys of 30 B, uniform · values of 1000 B · 2")),
        "{said:#?}"
    );
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("the store held 3 other keys before"), "{words}");
    assert!(words.contains("of these 2 with the prefix `boxscore:`"), "{words}");
    assert!(words.contains("--scan --pattern 'boxscore:*' | xargs"), "{words}");
    let doc = document(&bench.run(&[args.as_slice(), &["--json"]].concat()).expect(0, &[]).out);
    let (bytes, good) = (doc.bytes.expect("bytes"), 1000.0 * doc.good as f64);
    assert!((bytes / good - 1.0).abs() < 0.01, "{bytes} of {good}: a value of 1000 B each");
    assert_eq!(store.keys(), 3);
}

/// The next load deletes them, and nothing else: neither keys of another load nor those of the user.
#[test]
fn keys_of_a_load_that_was_killed_are_deleted_by_the_next() {
    let (bench, store) = (Bench::new(), Managed::start(StoreKind::Redis));
    let theirs = ["theirs", "boxscore:7:0000000001", "boxscore:x"];
    for key in theirs {
        assert_eq!(store.ask(&format!("SET {key} 1\r\n")), "+OK");
    }
    let url = store.url();
    let killed = Running::start(bench.command(&["load", &url, "--keys", "1000", "-d", "60"]));
    let end = Instant::now() + PATIENCE;
    while store.keys() < 1004 {
        assert!(Instant::now() < end, "{} keys", store.keys());
        std::thread::sleep(Duration::from_millis(10));
    }
    // The worker, whose keys they are: `*1`, `$80` and `boot|namespace|process|start`.
    let mut stream = TcpStream::connect(store.store.address()).expect("a connection");
    stream.write_all(b"HKEYS boxscore:loads\r\n").expect("it is sent");
    let lines: Vec<String> =
        BufReader::new(stream).lines().take(3).collect::<Result<_, _>>().expect("an answer");
    let worker = lines[2].split('|').nth(2).and_then(|pid| pid.parse().ok()).expect("a process");
    signal(worker, "KILL");
    killed.signal("KILL");
    killed.end();
    let end = Instant::now() + PATIENCE;
    while std::path::Path::new(&format!("/proc/{worker}/exe")).exists() {
        assert!(Instant::now() < end, "{worker} lives");
    }
    assert_eq!(store.keys(), 1004);
    let said = bench.run(&["load", &url, "--keys", "50", "-d", "0.2"]).expect(0, &[]);
    let words = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = format!("up to 1000 that begin with `boxscore:{worker}:`");
    assert!(words.contains(&told), "{words}");
    assert_eq!(store.keys(), 3);
    assert!(theirs.iter().all(|key| store.ask(&format!("EXISTS {key}\r\n")) == ":1"));
}

#[test]
fn a_study_of_a_store_that_nobody_can_load_is_not_begun() {
    let (bench, store) = (Bench::new(), Managed::start(StoreKind::Redis));
    assert_eq!(store.ask("CONFIG SET requirepass sesame\r\n"), "+OK");
    for url in ["redis://127.0.0.1:1", &store.url()] {
        let said = bench.run(&["run", "kv-load", "--url", url, "--takes", "1"]).expect(1, &[]);
        assert!(said.err.contains("nothing was measured or stored"), "{said:#?}");
    }
    assert!(bench.heads().is_empty());
}
