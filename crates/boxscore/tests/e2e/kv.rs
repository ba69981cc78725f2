//! Tests of key-value stores end to end, against the real ones: started here, and as a user's own.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::common::relay::Wire;
use crate::common::{Bench, PATIENCE, Running, Said, cannot, root, signal};
use model::data::RunData;
use model::reading::Value;
use tempfile::TempDir;

/// Short takes of whatever is named.
const ONE: [&str; 5] = ["run", "kv", "--takes", "1", "--no-report"];

/// A store as a user has one, which ends with this.
struct Users {
    child: Child,
    port: u16,
    host: &'static str,
    _dir: TempDir,
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its address").port()
}

impl Users {
    fn redis(args: &[&str]) -> Users {
        Users::start(&["redis-server", "--save", "", "--port"], args, "127.0.0.1", &[])
    }

    fn memcached(args: &[&str]) -> Users {
        Users::start(
            &["memcached", "-u", "nobody", "-U", "0", "-l", "127.0.0.1", "-p"],
            args,
            "127.0.0.1",
            &[],
        )
    }

    /// `wrapper` runs it somewhere else, where `host` reaches it.
    fn start(words: &[&str], args: &[&str], host: &'static str, wrapper: &[&str]) -> Users {
        let port = free_port();
        let dir = TempDir::new().expect("a directory");
        let all: Vec<&str> = wrapper.iter().chain(words).copied().collect();
        let mut command = Command::new(all[0]);
        command.args(&all[1..]).arg(port.to_string()).args(args).current_dir(dir.path());
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = quiet.spawn().expect("`sh xtask/setup.sh test` installs redis-server and memcached");
        let users = Users { child, port, host, _dir: dir };
        if wrapper.is_empty() {
            users.ask("version");
        }
        users
    }

    fn name(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// What it answers to a line, once it is up.
    fn ask(&self, line: &str) -> String {
        let end = Instant::now() + PATIENCE;
        let mut stream = loop {
            match TcpStream::connect((self.host, self.port)) {
                Ok(stream) => break stream,
                Err(error) => assert!(Instant::now() < end, "{error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        stream.write_all(format!("{line}\r\n").as_bytes()).expect("it listens");
        let mut answer = vec![0; 65_536];
        let count = stream.read(&mut answer).expect("it answers");
        String::from_utf8_lossy(&answer[..count]).into_owned()
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Users {
    fn drop(&mut self) {
        // One that a test killed is gone already.
        let _killed = self.child.kill();
        self.child.wait().expect("a child");
    }
}

/// Something that answers every connection's first bytes with these, until the test ends; its address.
fn says(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("its address").to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                let mut stream = stream;
                let mut asked = [0; 4096];
                while stream.read(&mut asked).is_ok_and(|count| count > 0) && stream.write_all(answer).is_ok()
                {
                }
            });
        }
    });
    address
}

fn run(bench: &Bench, args: &[&str]) -> Said {
    bench.run(&[&ONE[..], args].concat())
}

/// Everything that was said, as one line.
fn words(said: &Said) -> String {
    format!("{} {}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The last value of a metric in the only cell that has these parameters.
fn find(run: &RunData, metric: &str, params: &str) -> Option<f64> {
    let wanted = model::Params::parse(params).expect("pairs");
    let fits =
        |key: &model::SeriesKey| wanted.iter().all(|(name, value)| key.params.get(name) == Some(value));
    let mut values = run.series.iter().filter(|series| series.key.metric == metric && fits(&series.key));
    match values.next()?.points.last().map(|point| &point.value) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

fn newest(bench: &Bench) -> RunData {
    bench.data(&bench.heads().last().expect("a run").id)
}

#[track_caller]
fn value(run: &RunData, metric: &str, params: &str) -> f64 {
    find(run, metric, params).unwrap_or_else(|| panic!("no {metric} {params}: {:?}", run.notes))
}

const SIZES: [&str; 5] = ["100", "1K", "10K", "100K", "1M"];

#[test]
fn a_quick_run_has_basic_of_both_stores_and_compares_with_the_studies() {
    let bench = Bench::new();
    let said = run(&bench, &["--quick", "--set", "fill=1;limit=0.02"]).expect(0, &[]);
    let data = bench.only();
    assert_eq!(data.head.status, model::data::Status::Complete);
    for cell in ["kv=redis;replicas=0;definition=era3", "kv=redis;replicas=2", "kv=memcached;definition=era3"]
    {
        for size in SIZES {
            for op in ["read", "write"] {
                let median = value(&data, &format!("basic.{op}{size}"), cell);
                // Between a memory access and a second.
                assert!((1e-7..1.0).contains(&median), "{cell} {op} {size}: {median}");
                assert!(value(&data, &format!("basic.{op}{size}.min"), cell) <= median);
                assert!(value(&data, &format!("basic.{op}Bw{size}"), cell) > 0.0);
            }
        }
    }
    // Nobody has 500 requests for 1 MB in 20 ms: the percentile is missing, not 0.
    assert_eq!(find(&data, "basic.read1M.999", "kv=redis;replicas=0;definition=era3"), None);
    assert!(said.out.contains("redis 2 replicas read 100 B"), "{said:#?}");
    for kv in ["redis", "memcached"] {
        let of = |metric: &str| value(&data, metric, &format!("kv={kv};op=read"));
        let parts = of("client-time") + of("wire-time") + of("server-time");
        assert!((parts / of("rtt") - 1.0).abs() < 1e-6, "{kv}: {parts}");
        assert_eq!(find(&data, "server-command", &format!("kv={kv}")).is_some(), kv == "redis");
    }
    assert!(data.notes.iter().any(|note| note.kind() == "kv-split" && note.text().contains("most is")));
    let args = ["compare", "latest", "atom-c2750", "--matrix", "transport,replicas,size", "--json"];
    let matrix: model::doc::MatrixDoc =
        serde_json::from_str(&bench.run(&args).expect(0, &[]).out).expect("a document");
    for metric in ["basic.read", "basic.readBw"] {
        let tables = matrix.tables.iter().filter(|table| table.metric == metric);
        let own = tables.flat_map(|table| &table.columns).filter(|column| column.side == "latest");
        let transports: Vec<_> = own.map(|column| column.values[0].as_deref()).collect();
        assert!(
            !transports.is_empty() && transports.iter().all(|one| *one == Some("kernel-tcp")),
            "{transports:?}"
        );
    }
    let table = bench.run(&["compare", "atom-c2750", "latest"]).expect(0, &[]);
    // Figures of a bypass of the kernel stand beside none of ours.
    assert!(table.out.contains("hot key") && !table.out.contains("write 1 MB"), "{table:#?}");
}

#[test]
fn the_other_tests_of_the_family_run_on_both_stores() {
    let bench = Bench::new();
    let short = "limit=0.02;window=0.3;span=0.001;objects=2000;count=600";
    let mut args = vec!["--clients", "2", "--set", short];
    args.extend(crate::common::OTHER_KV_TESTS);
    run(&bench, &args).expect(0, &[]);
    let data = bench.only();
    for kv in ["redis", "memcached"] {
        assert_eq!(find(&data, "readDist.999", &format!("kv={kv}")), None, "600 requests tell no p99.9");
        for metric in ["readNotFound", "readDist", "readDist.9", "readDistRandom", "writeDistRandom"] {
            let time = value(&data, metric, &format!("kv={kv}"));
            assert!((1e-7..1.0).contains(&time), "{kv} {metric}: {time}");
        }
        for k in 1..=2 {
            let of = |metric: &str| value(&data, metric, &format!("kv={kv};k={k}"));
            let derived = f64::from(k) / of("readLoaded");
            assert!((of("readLoaded.derived") / derived - 1.0).abs() < 1e-9, "{kv} {k}");
            for metric in
                ["readLoaded.measured", "readThroughput", "writeThroughput", "readThroughput.clients"]
            {
                assert!(of(metric) > 0.0, "{kv} {k} {metric}");
            }
            assert!(of("readThroughput.cpu") >= 0.0, "{kv} {k}");
        }
        let multi = |objects: u32| value(&data, "multiRead_oneMaster", &format!("kv={kv};objects={objects}"));
        assert!(multi(5000) > multi(1), "{kv}: {} {}", multi(5000), multi(1));
        let of = |metric: &str| value(&data, metric, &format!("kv={kv}"));
        assert!(of("netBandwidth") >= of("netBandwidth.max") && of("netBandwidth.min") > 0.0);
    }
}

#[test]
fn every_definition_has_its_own_figures() {
    let bench = Bench::new();
    for era in ["era1", "era2", "era3"] {
        let args = ["--test", "basic", "--kv", "redis", "--definition", era, "--size", "100"];
        run(&bench, &[&args[..], &["--replicas", "0", "--set", "fill=1"]].concat()).expect(0, &[]);
    }
    for (head, era) in bench.heads().iter().zip(["era1", "era2", "era3"]) {
        let data = bench.data(&head.id);
        let cell = format!("definition={era};sizes=100");
        assert!(value(&data, "basic.read100", &cell) > 0.0 && value(&data, "basic.write100", &cell) > 0.0);
        assert_eq!(find(&data, "basic.read100.min", &cell).is_some(), era != "era1", "{era}");
        assert_eq!(find(&data, "basic.read1K", &cell), None);
    }
}

#[test]
fn a_users_store_keeps_what_it_has() {
    let bench = Bench::new();
    let redis = Users::redis(&[]);
    assert_eq!(redis.ask("SET mine 7"), "+OK\r\n");
    let memcached = Users::memcached(&["-I", "2m"]);
    assert_eq!(memcached.ask("set mine 0 0 1\r\n7"), "STORED\r\n");
    for users in [&redis, &memcached] {
        let said =
            run(&bench, &["--kv", &users.name(), "--quick", "--set", "fill=1;limit=0.02"]).expect(0, &[]);
        let data = newest(&bench);
        assert!(value(&data, "basic.read1M", &format!("kv={};definition=era3", users.name())) > 0.0);
        let held: Vec<_> = data.notes.iter().filter(|note| note.kind() == "store-holds").collect();
        assert_eq!(held.len(), 1, "{:?}", data.notes);
        assert!(held[0].text().contains("the store held 1 other key before"), "{:?}", held[0]);
        assert!(words(&said).contains("the store held 1 other key before"), "{said:#?}");
    }
    assert_eq!(redis.ask("DBSIZE"), ":1\r\n");
    assert_eq!(redis.ask("GET mine"), "$1\r\n7\r\n");
    assert!(!redis.ask("INFO commandstats").contains("cmdstat_flush"));
    assert!(memcached.ask("stats").contains("STAT curr_items 1\r\n"));
    assert_eq!(memcached.ask("get mine"), "VALUE mine 0 1\r\n7\r\nEND\r\n");
}

#[test]
fn what_stands_in_the_way_is_told_in_a_line() {
    let bench = Bench::new();
    let guarded = Users::redis(&["--requirepass", "secret"]);
    let full = Users::redis(&["--maxmemory", "1", "--maxmemory-policy", "noeviction"]);
    let replica = Users::redis(&["--replicaof", "127.0.0.1", "1"]);
    let small = Users::memcached(&[]);
    let web = says(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
    let loading = says(b"-LOADING Redis is loading the dataset in memory\r\n");
    let moved = says(b"-MOVED 3999 127.0.0.1:6381\r\n");
    let junk = says(b"220 smtp.example.org ESMTP\r\n");
    let nobody = format!("127.0.0.1:{}", free_port());
    for (kv, why) in [
        (guarded.name(), "wants a password"),
        (full.name(), "out of memory"),
        (replica.name(), "is a replica"),
        (small.name(), "does not take values as large"),
        (web, "is a web server"),
        (loading, "is still loading"),
        (moved, "one node of a cluster"),
        (junk, "no store that boxscore knows: it says `220 smtp"),
        (nobody, "nothing listens"),
    ] {
        let said =
            run(&bench, &["--kv", &kv, "--test", "basic", "--set", "fill=1;limit=0.02;definition=era3"]);
        assert_eq!(said.code, Some(1), "{kv}: {said:#?}");
        assert!(words(&said).contains(why), "{why}: {said:#?}");
    }
    // Nothing was measured of any: one took a key and a value, and none of the test's own.
    assert!(bench.heads().is_empty());
}

#[test]
fn what_cannot_be_is_told_before_anything_starts() {
    let bench = Bench::new();
    for (args, why) in [
        (&["--kv", "ramcloud"][..], "kv=ramcloud: say where it runs"),
        (&["--kv", "redsi"], "no store is called so"),
        (&["--kv", "memcached", "--replicas", "2"], "memcached has none"),
        (&["--kv", "memcached", "--set", "persistence=always"], "memcached keeps nothing on disk"),
        (&["--definition", "era4"], "one of era1, era2, era3"),
        (&["--test", "basic", "--size", "64"], "100, 1K, 10K, 100K and 1M only"),
        (
            &["--kv", "127.0.0.1:9", "--servers", "2", "--test", "netBandwidth"],
            "only stores that are started here",
        ),
    ] {
        run(&bench, args).expect(2, &[why]);
    }
    bench.run(&["run", "cpu", "--kv", "redis"]).expect(2, &["--kv belongs to the family kv"]);
    bench.run(&["run", "kv-load", "--kv", "redis"]).expect(
        2,
        &["--kv belongs to the family kv", "boxscore run kv-load --set server=redis, or --url URL"],
    );
    bench.run(&["run", "net", "--test", "basic"]).expect(2, &["--test belongs to the family kv"]);
    let list = bench.run(&["list", "--long", "kv"]).expect(0, &[]);
    let text = words(&list);
    assert!(text.contains("readVaryingKeyLength") && text.contains("not there yet"), "{text}");
    assert!(!bench.store().exists() || bench.heads().is_empty());
}

/// Runs until the first take is there, does that, and lets it end.
fn after_a_take(bench: &Bench, args: &[&str], then: impl FnOnce()) -> Said {
    let all = [&["run", "kv", "--no-report", "--show-takes", "--test", "basic"][..], args].concat();
    let mut running = Running::start(bench.command(&all));
    assert!(running.until("take "), "{:?}", running.heard);
    then();
    running.end()
}

#[test]
fn a_store_that_is_killed_or_stopped_is_a_fault() {
    let bench = Bench::new();
    let args = ["--takes", "40", "--size", "100", "--definition", "era1"];
    let killed = Users::redis(&[]);
    let said = after_a_take(&bench, &[&args[..], &["--kv", &killed.name()]].concat(), || {
        signal(killed.pid(), "KILL");
    });
    assert_eq!(said.code, Some(3), "{said:#?}");
    let text = words(&said);
    assert!(text.contains("(ended)") || text.contains("(connect)") || text.contains("(reset)"), "{text}");
    // Half open: it is there and says nothing.
    let args = ["--takes", "2", "--size", "100", "--definition", "era1"];
    let stopped = Users::memcached(&[]);
    let said = after_a_take(&bench, &[&args[..], &["--kv", &stopped.name()]].concat(), || {
        signal(stopped.pid(), "STOP");
    });
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(words(&said).contains("(timeout)"), "{said:#?}");
}

#[test]
fn a_store_that_died_or_hangs_is_not_waited_for_in_every_take() {
    let bench = Bench::new();
    let args = ["--takes", "40", "--size", "100", "--definition", "era1"];
    for (word, most_s, why) in [("KILL", 15, "nothing listens there"), ("STOP", 40, "the store fell silent")]
    {
        let redis = Users::redis(&[]);
        let mut from = None;
        let said = after_a_take(&bench, &[&args[..], &["--kv", &redis.name()]].concat(), || {
            signal(redis.pid(), word);
            from = Some(Instant::now());
        });
        let took = from.expect("it was killed").elapsed();
        assert_eq!(said.code, Some(3), "{word}: {said:#?}");
        assert!(took < Duration::from_secs(most_s), "{word}: {took:?}: {said:#?}");
        let text = words(&said);
        assert!(text.contains(why) && text.contains("given up: kv-basic"), "{word}: {said:#?}");
    }
}

#[test]
fn a_stopped_replica_is_a_fault_and_no_fast_write() {
    let bench = Bench::new();
    let primary = Users::redis(&[]);
    let replica = Users::redis(&["--replicaof", "127.0.0.1", &primary.port.to_string()]);
    let end = Instant::now() + PATIENCE;
    while !primary.ask("INFO replication").contains("state=online") {
        assert!(Instant::now() < end, "the replica does not come up");
        std::thread::sleep(Duration::from_millis(50));
    }
    let args = ["--takes", "3", "--size", "100", "--definition", "era1", "--replicas", "1"];
    let said = after_a_take(&bench, &[&args[..], &["--kv", &primary.name()]].concat(), || {
        signal(replica.pid(), "STOP");
    });
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(words(&said).contains("0 of 1 replicas had the write within 1000 ms"), "{said:#?}");
}

/// Gives a line to a store again and again, until this ends.
struct Planted {
    end: Arc<AtomicBool>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Planted {
    fn new(users: &Users, line: &'static str) -> Planted {
        let end = Arc::new(AtomicBool::new(false));
        let one = || {
            let (stop, address) = (Arc::clone(&end), (users.host, users.port));
            std::thread::spawn(move || {
                let mut stream = TcpStream::connect(address).expect("it listens");
                let mut answer = [0; 256];
                while !stop.load(Ordering::Relaxed) {
                    stream.write_all(line.as_bytes()).expect("it listens");
                    assert!(stream.read(&mut answer).expect("it answers") > 0);
                }
            })
        };
        // While one's delay lasts the other has time to ask for the next, however late a busy machine wakes it.
        let threads = vec![one(), one()];
        Planted { end, threads }
    }
}

impl Drop for Planted {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        let joined: Vec<_> = self.threads.drain(..).map(std::thread::JoinHandle::join).collect();
        assert!(joined.iter().all(Result::is_ok) || std::thread::panicking(), "the plant broke");
    }
}

fn split(bench: &Bench, users: &Users) -> (f64, f64, String) {
    run(bench, &["--kv", &users.name(), "--test", "split", "--set", "op=read"]).expect(0, &[]);
    let data = newest(bench);
    let note =
        data.notes.iter().find(|note| note.kind() == "kv-split").expect("a sentence").text().into_owned();
    (value(&data, "rtt", "op=read"), value(&data, "server-time", "op=read"), note)
}

#[test]
fn a_planted_delay_of_the_store_is_the_stores() {
    let bench = Bench::new();
    let redis = Users::redis(&[]);
    let (usual, _, _) = split(&bench, &redis);
    for line in [
        "CLIENT PAUSE 30\r\n",
        "EVAL \"local t = redis.call('TIME'); local s = t[1] * 1000000 + t[2]; repeat t = redis.call('TIME') until \
         t[1] * 1000000 + t[2] > s + 20000; return 1\" 0\r\n",
    ] {
        let planted = Planted::new(&redis, line);
        let (rtt, server, note) = split(&bench, &redis);
        drop(planted);
        assert!(rtt > 2.0 * usual, "{line}: {rtt} {usual}");
        assert!(
            server > 0.8 * rtt && note.contains("most is the store"),
            "{line}: {server} of {rtt}: {note}"
        );
    }
}

#[test]
fn a_planted_delay_of_the_wire_is_the_wires() {
    let wire = match root().then(Wire::new) {
        Some(Ok(wire)) => wire,
        Some(Err(why)) => return cannot(&why),
        None => return cannot("network namespaces need root"),
    };
    wire.plant(10_000_000, 0, 0);
    let within = ["ip", "netns", "exec", &wire.far.0];
    let words = ["redis-server", "--save", "", "--protected-mode", "no", "--bind", "10.77.0.2", "--port"];
    let redis = Users::start(&words, &[], "10.77.0.2", &within);
    let bench = Bench::new();
    let near = ["ip", "netns", "exec", &wire.near.0];
    let name = redis.name();
    let args = [&ONE[..], &["--kv", &name, "--test", "split", "--set", "op=read;limit=1"]].concat();
    let end = Instant::now() + PATIENCE;
    let said = loop {
        let said = crate::common::said(&mut bench.behind(&near, &args));
        if said.code == Some(0) || Instant::now() > end {
            break said;
        }
    };
    said.expect(0, &[]);
    let data = newest(&bench);
    let of = |metric: &str| value(&data, metric, "op=read");
    assert!(of("rtt") > 0.019 && of("wire-time") > 0.7 * of("rtt"), "{} of {}", of("wire-time"), of("rtt"));
    let note = data.notes.iter().find(|note| note.kind() == "kv-split").expect("a sentence");
    assert!(note.text().contains("most is the wire"), "{}", note.text());
}
