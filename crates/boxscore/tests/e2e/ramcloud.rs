//! Tests of RAMCloud end to end, against stand-ins for its library and its programs that are built here: the tables of
//! the family, planted delays and faults, and what is said where something is missing.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{Bench, PATIENCE, Running, Said, signal, text};
use model::data::{RunData, Status};
use model::reading::Value;

/// The store that a user runs, as far as the stand-in looks at it.
const AT: &str = "ramcloud:tcp:host=127.0.0.1,port=12246";
/// Short takes of `basic` and of the others.
const BASIC: &str = "fill=1;limit=0.02";
const OTHERS: &str = "limit=0.02;window=0.05;span=0.001;objects=2000;count=600";

/// Where everything is built; servers run as another account, which must reach it.
struct World {
    bench: Bench,
    library: PathBuf,
}

impl World {
    fn new() -> World {
        let bench = Bench::new();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(bench.dir.path(), open).expect("our folder");
        let library = bench.path("libramcloud.so");
        build(&["-shared", "-fPIC"], "library.c", &library);
        World { bench, library }
    }

    /// With the programs beside the library, as RAMCloud's own build leaves them.
    fn with_programs() -> World {
        let world = World::new();
        for name in ["coordinator", "server"] {
            build(&[], "peer.c", &world.bench.path(name));
        }
        world
    }

    fn command(&self, args: &[&str], planted: &[(&str, &str)]) -> Command {
        let mut command = self.bench.command(args);
        command
            .env("XDG_CACHE_HOME", self.bench.path("cache"))
            .env("FAKE_RAMCLOUD", self.bench.path("memory"));
        command.envs(planted.iter().copied());
        command
    }

    fn run(&self, set: &str, args: &[&str], planted: &[(&str, &str)]) -> Said {
        let library = format!("ramcloud-library={}", self.library.display());
        let short = ["run", "kv", "--takes", "1", "--no-report", "--set", &library];
        let set = if set.is_empty() { Vec::new() } else { vec!["--set", set] };
        crate::common::said(&mut self.command(&[&short[..], &set, args].concat(), planted))
    }
}

fn build(flags: &[&str], source: &str, to: &Path) {
    let source = format!("{}/../../tests/fixtures/ramcloud/{source}", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new("cc");
    let built =
        command.args(["-O2", "-Wall", "-Wextra", "-Werror"]).args(flags).arg("-o").arg(to).arg(source);
    assert!(built.status().expect("`sh xtask/setup.sh` installs a C compiler").success());
}

fn words(said: &Said) -> String {
    format!("{} {}", said.out, said.err).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The last value of a metric in the first cell that has these parameters.
fn find(run: &RunData, metric: &str, params: &str) -> Option<f64> {
    let wanted = model::Params::parse(&format!("kv=ramcloud;{params}")).expect("pairs");
    let fits = |key: &model::SeriesKey| key.metric == metric && key.params.contains(&wanted);
    let mut values = run.series.iter().filter(|series| fits(&series.key));
    match values.next()?.points.last().map(|point| &point.value) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    }
}

#[track_caller]
fn value(run: &RunData, metric: &str, params: &str) -> f64 {
    find(run, metric, params).unwrap_or_else(|| panic!("no {metric} {params}: {:?}", run.notes))
}

/// What the stand-in's table of tables holds: nothing of ours may be left.
fn tables(world: &World) -> String {
    let file = std::fs::File::open(world.bench.path("memory")).expect("the stand-in was connected to");
    let mut head = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, 16 + 64 * 72), &mut head).expect("a file");
    let alive = head[16..].chunks(72).filter(|table| table[..8] != [0; 8]);
    alive.map(|table| String::from_utf8_lossy(&table[8..]).into_owned()).collect()
}

#[test]
fn a_quick_run_prints_the_table_of_basic_and_leaves_nothing() {
    let world = World::new();
    let said = world.run(BASIC, &["--kv", AT, "--quick", "--format", "clusterperf"], &[]).expect(0, &[]);
    for line in ["basic.read100 ", "basic.read100.99 ", "basic.readBw1M ", "basic.write1M "] {
        assert!(said.out.contains(line), "{line}: {said:#?}");
    }
    assert!(
        words(&said).contains("kv-split is left out: n/a for kv=ramcloud: its client library"),
        "{said:#?}"
    );
    let data = world.bench.only();
    assert_eq!(data.head.status, Status::Complete);
    for size in ["100", "1K", "10K", "100K", "1M"] {
        for op in ["read", "write"] {
            let of = |metric: &str| value(&data, metric, "definition=era3");
            let median = of(&format!("basic.{op}{size}"));
            assert!((1e-8..1.0).contains(&median), "{op} {size}: {median}");
            assert!(
                of(&format!("basic.{op}{size}.min")) <= median && of(&format!("basic.{op}Bw{size}")) > 0.0
            );
        }
    }
    let said: String = data.notes.iter().map(|note| format!("{}\n", note.text())).collect();
    assert!(said.contains("ramcloud at tcp:host=127.0.0.1,port=12246"), "{said}");
    assert!(said.contains("writes to a table of its own, boxscore-"), "{said}");
    assert_eq!(tables(&world), "");
    // Where it is is part of a figure's name, and what was not given is not.
    let mut keys = data.series.iter().map(|series| &series.key.params);
    let params = keys.find(|params| params.get("kv").is_some()).expect("a figure of the family");
    assert_eq!(params.get("ramcloud-locator"), Some("tcp:host=127.0.0.1 port=12246"));
    assert!(params.get("ramcloud-library").is_some() && params.get("ramcloud-memory").is_none(), "{params}");
}

#[test]
fn the_other_tests_of_the_family_run_and_say_what_they_cannot() {
    let world = World::new();
    let mut args = vec!["--kv", AT, "--clients", "2"];
    args.extend(crate::common::OTHER_KV_TESTS);
    world.run(OTHERS, &args, &[]).expect(0, &[]);
    let data = world.bench.only();
    for metric in ["readNotFound", "readDist", "readDist.9", "readDistRandom", "writeDistRandom"] {
        let time = value(&data, metric, "");
        assert!((1e-8..1.0).contains(&time), "{metric}: {time}");
    }
    for k in 1..=2 {
        let of = |metric: &str| find(&data, metric, &format!("k={k}"));
        for metric in
            ["readLoaded", "readLoaded.measured", "readThroughput.clients", "writeThroughput.clients"]
        {
            assert!(of(metric).is_some_and(|value| value > 0.0), "{k} {metric}: {:?}", of(metric));
        }
        // Nobody counted them: missing, not 0.
        for metric in ["readThroughput", "readThroughput.cpu", "writeThroughput"] {
            assert_eq!(of(metric), None, "{k} {metric}");
        }
    }
    let objects = |count: &str| value(&data, "multiRead_oneMaster", &format!("objects={count}"));
    assert!(objects("5000") > objects("1"));
    assert!(value(&data, "netBandwidth", "") >= value(&data, "netBandwidth.max", ""));
    assert_eq!(tables(&world), "");
}

#[test]
fn every_definition_has_its_own_figures() {
    let world = World::new();
    for era in ["era1", "era2"] {
        world
            .run(BASIC, &["--kv", AT, "--test", "basic", "--definition", era, "--size", "100"], &[])
            .expect(0, &[]);
        let data = world.bench.data(&world.bench.heads().last().expect("a run").id);
        assert!(value(&data, "basic.read100", "") > 0.0 && value(&data, "basic.write100", "") > 0.0);
        assert_eq!(find(&data, "basic.read100.min", "").is_some(), era != "era1", "{era}");
    }
}

#[test]
fn a_planted_delay_shows() {
    let world = World::new();
    let mut shortest = Vec::new();
    for planted in [&[][..], &[("FAKE_RAMCLOUD_DELAY_US", "200")]] {
        world
            .run(BASIC, &["--kv", AT, "--test", "basic", "--size", "100", "--definition", "era3"], planted)
            .expect(0, &[]);
        let data = world.bench.data(&world.bench.heads().last().expect("a run").id);
        shortest.push((value(&data, "basic.read100.min", ""), value(&data, "basic.write100.min", "")));
    }
    let [(read, _), (slow_read, write)] = shortest[..] else { panic!("{shortest:?}") };
    assert!(read < 200e-6 && write < 200e-6 && slow_read >= 200e-6, "{shortest:?}");
}

#[test]
fn a_cluster_is_started_with_as_many_servers_as_its_replicas_need() {
    let world = World::with_programs();
    for replicas in ["0", "2"] {
        let args = ["--kv", "ramcloud", "--replicas", replicas, "--test", "basic", "--size", "100"];
        world.run(BASIC, &args, &[]).expect(0, &[]);
        let data = world.bench.data(&world.bench.heads().last().expect("a run").id);
        assert!(value(&data, "basic.write100", "") > 0.0);
        let fill =
            data.notes.iter().find(|note| note.kind() == "kv-fill").expect("less than clusterperf has");
        assert!(
            fill.text().contains("--set fill=200 needs 409MiB of memory in each server and about "),
            "{}",
            fill.text()
        );
        let notes: String = data.notes.iter().map(|note| format!("{}\n", note.text())).collect();
        let servers = format!("servers {}", replicas.parse::<u32>().expect("a number") + 1);
        assert!(
            notes.contains(&servers) && notes.contains(&format!("replicas of each segment {replicas}")),
            "{notes}"
        );
        // Threads that spin get CPUs of their own, or the figures are doubted.
        let is_crowded = sys::affinity::allowed().expect("CPUs").len() < if replicas == "0" { 4 } else { 8 };
        let is_doubted =
            data.takes.iter().flat_map(|take| &take.refusals).any(|one| one.kind() == "store-spins");
        assert_eq!(
            (notes.contains("between which the kernel moves them"), is_doubted),
            (is_crowded, is_crowded)
        );
    }
    assert_eq!(running(world.bench.dir.path()), Vec::<u32>::new(), "something is left over");
    // A program that refuses its words is told with its last ones.
    std::fs::rename(world.bench.path("coordinator"), world.bench.path("master")).expect("our file");
    let set = format!("ramcloud-coordinator={}", text(&world.bench.path("master")));
    let said =
        world.run(BASIC, &["--kv", "ramcloud", "--test", "basic", "--size", "100", "--set", &set], &[]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    let all = words(&said);
    assert!(all.contains("RAMCloud's coordinator ended (exit status: 2)"), "{all}");
    assert_eq!(
        all.matches("no number of replicas, or no memory").count(),
        1,
        "last words are said once: {all}"
    );
}

#[test]
fn a_quick_run_has_every_test_that_is_picked() {
    let world = World::new();
    world.run("warmup=0;count=600", &["--kv", AT, "--quick", "--test", "readDist"], &[]).expect(0, &[]);
    assert!(value(&world.bench.only(), "readDist", "") > 0.0);
}

#[test]
fn what_stands_in_the_way_is_told_in_a_line() {
    let world = World::new();
    let basic = ["--kv", AT, "--test", "basic", "--size", "100"];
    for (planted, code, why) in [
        (
            ("FAKE_RAMCLOUD_CONNECT", "11"),
            1,
            "(connect): RAMCloud says STATUS_COULDNT_CONNECT (11) to rc_connect",
        ),
        (("FAKE_RAMCLOUD_TABLE", "18"), 1, "STATUS_SERVICE_NOT_AVAILABLE (18) to rc_getTableId"),
        (("FAKE_RAMCLOUD_STATUS", "17"), 1, "RAMCloud says STATUS_RETRY (17) to rc_read"),
        (("FAKE_RAMCLOUD_CRASH", "1"), 1, "ended in rc_read (signal: 6 (SIGABRT)"),
        (
            ("FAKE_RAMCLOUD_HANG", "1"),
            1,
            "(timeout): RAMCloud's client library has not come back from rc_read",
        ),
    ] {
        let said = world.run(BASIC, &basic, &[planted]);
        assert_eq!(said.code, Some(code), "{planted:?}: {said:#?}");
        assert!(words(&said).contains(why), "{planted:?}: {said:#?}");
        // A table that was made is dropped, whatever came after.
        assert!(planted.0 == "FAKE_RAMCLOUD_CONNECT" || tables(&world).is_empty(), "{planted:?}");
    }
    // Objects are written by many to a request, and one of them is not taken.
    let era3 = [&basic[..], &["--definition", "era3"]].concat();
    let said = world.run(BASIC, &era3, &[("FAKE_RAMCLOUD_FULL", "3")]);
    assert_eq!(said.code, Some(1), "{said:#?}");
    assert!(words(&said).contains("RAMCloud says STATUS_RETRY (17) to rc_multiWrite"), "{said:#?}");
    assert!(tables(&world).is_empty());
    let short = world.bench.path("short.so");
    build(&["-shared", "-fPIC", "-DWITHOUT_MULTI_READ"], "library.c", &short);
    for (library, code, why) in [
        (text(&short), 1, "undefined symbol: rc_multiRead"),
        ("/etc/passwd", 1, "cannot be loaded: /etc/passwd"),
        ("/no/such/libramcloud.so", 1, "No such file"),
    ] {
        let set = format!("ramcloud-library={library}");
        let args = [&["run", "kv", "--takes", "1", "--no-report", "--set", &set][..], &basic[..]].concat();
        let said = crate::common::said(&mut world.command(&args, &[]));
        assert_eq!(said.code, Some(code), "{library}: {said:#?}");
        assert!(words(&said).contains(why), "{library}: {said:#?}");
    }
}

#[test]
fn what_cannot_be_is_told_before_anything_starts() {
    let world = World::new();
    let small =
        "ramcloud-coordinator=/bin/sh;ramcloud-server=/bin/sh;fill=200;ramcloud-memory=512MiB".to_owned();
    for (args, why) in [
        (&["--kv", "ramcloud"][..], "name the programs to start"),
        (&["--kv", "ramcloud:tcp:host=a"], "a host or a port is missing"),
        (&["--kv", "ramcloud:tcp:host=a,port=1;tcp:host=b,port=1"], "a single one without `;`"),
        (&["--kv", AT, "--set", "ramcloud-cluster=a\nb"], "ramcloud-cluster: it is too long"),
        (&["--kv", AT, "--test", "split"], "n/a for kv=ramcloud"),
        (
            &["--kv", "ramcloud", "--test", "basic", "--definition", "era3", "--set", &small],
            "puts 1000 MB of objects into a server with ramcloud-memory=512MiB, and more while they are written anew: \
             leave ramcloud-memory out (it is 2044MiB then)",
        ),
        (&["--kv", AT, "--test", "readDist", "--set", "persistence=rdb"], "persistence is of Redis"),
        (&["--kv", AT, "--test", "readDist", "--set", "mode=spin"], "it spins"),
        (&["--kv", AT, "--test", "readDist", "--size", "2MiB"], "no object is larger than 1 MiB"),
        (&["--kv", AT, "--test", "netBandwidth", "--servers", "2"], "only stores that are started here"),
    ] {
        let said = world.run("", args, &[]).expect(2, &[]);
        assert!(words(&said).contains(why), "{why}: {said:#?}");
    }
    assert!(!world.bench.store().exists() || world.bench.heads().is_empty());
}

#[test]
fn the_list_says_what_is_missing_and_how_to_give_it() {
    let world = World::new();
    let list = |folder: &str| {
        let mut command = world.command(&["list", "--long", "kv"], &[("LD_LIBRARY_PATH", folder)]);
        words(&crate::common::said(&mut command).expect(0, &[]))
    };
    let said = list("");
    assert!(
        said.contains("ramcloud on this machine: not available here: libramcloud.so is not where"),
        "{said}"
    );
    assert!(said.contains("--set ramcloud-library=PATH"), "{said}");
    assert!(said.contains("n/a: readThroughput and writeThroughput by the store's own counter"), "{said}");
    let said = list(text(world.bench.dir.path()));
    assert!(said.contains("libramcloud.so can be loaded"), "{said}");
    let broken = world.bench.path("broken");
    std::fs::create_dir(&broken).expect("our folder");
    build(&["-shared", "-fPIC", "-DUNRESOLVED"], "library.c", &broken.join("libramcloud.so"));
    let said = list(text(&broken));
    assert!(said.contains("undefined symbol: ramcloud_symbol_that_nobody_has"), "{said}");
}

/// The helpers that run from this world's own cache.
fn helpers(world: &World) -> Vec<u32> {
    running(&world.bench.path("cache"))
}

/// Processes whose program is in a folder.
fn running(folder: &Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("processes").flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_ours = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|program| program.starts_with(folder))
    };
    pids.filter(is_ours).collect()
}

#[test]
fn a_helper_that_is_killed_within_a_take_is_a_fault() {
    let world = World::new();
    let set = format!("ramcloud-library={};warmup=0;count=30000;size=100", world.library.display());
    let args = ["run", "kv", "--no-report", "--test", "readDist", "--kv", AT, "--takes", "1", "--set", &set];
    let slow = [("FAKE_RAMCLOUD_DELAY_US", "100")];
    let running = Running::start(world.command(&args, &slow));
    // One that stays for longer than a table takes to be made is that of a take.
    let end = Instant::now() + PATIENCE;
    let mut before = Vec::new();
    let pid = loop {
        assert!(Instant::now() < end, "no helper stays");
        let now = helpers(&world);
        if let Some(pid) = now.iter().find(|pid| before.contains(*pid)) {
            break *pid;
        }
        before = now;
        std::thread::sleep(Duration::from_secs(1));
    };
    // It has two CPUs, for its library's two threads, where there are two.
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let cpus = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(str::trim);
    let count = cpus.and_then(model::params::parse_cpus).map(|cpus| cpus.len());
    assert_eq!(count, Some(sys::affinity::allowed().expect("CPUs").len().min(2)), "{cpus:?}");
    signal(pid, "KILL");
    let said = running.end();
    assert_eq!(said.code, Some(3), "{said:#?}");
    assert!(words(&said).contains("(ended)") && words(&said).contains("signal: 9 (SIGKILL)"), "{said:#?}");
    assert_eq!((helpers(&world), tables(&world)), (Vec::new(), String::new()));
}
