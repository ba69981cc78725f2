//! `boxscore run hadoop --cluster`: a cluster that runs already is measured and left as found. It is one that the test
//! starts on the loopback, by the means of the program, and ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use instruments::workload::guard;
use instruments::workload::hadoop::assembled;
use instruments::workload::hadoop::cluster::{self, Hosted, Key};
use instruments::workload::hadoop::job::{self, Order};
use instruments::workload::hadoop::programs::SHELL;
use tempfile::TempDir;

use crate::common::hadoop::home;
use crate::common::{Bench, PATIENCE, PROGRAM, Running, changed, said};

/// The class by which HDFS is administered.
const ADMIN: &str = "org.apache.hadoop.hdfs.tools.DFSAdmin";
const TINY: [&str; 8] = ["run", "hadoop", "--quick", "--takes", "1", "--sittings", "1", "--no-report"];

/// A cluster that runs, and the folder with its configuration.
struct Theirs {
    hosted: Arc<Hosted>,
    conf: PathBuf,
    uri: String,
    home: &'static Path,
    /// The last field, so that the cluster is gone before its folder.
    _dir: TempDir,
}

impl Theirs {
    fn start(home: &'static Path) -> Theirs {
        let dir = TempDir::new().expect("a temporary directory");
        let data = assembled::folder(dir.path());
        fs::create_dir_all(data.parent().expect("a parent")).expect("a folder");
        std::os::unix::fs::symlink(home, data).expect("a link");
        cluster::set_data_dir(dir.path().to_owned());
        guard::set_program(PROGRAM);
        let cpus = sys::affinity::allowed().expect("CPUs");
        let (dir_of, memory) = (dir.path().to_owned(), 8 << 30);
        let key = Key { nodes: 1, dir: dir_of, memory, cpus, is_quick: false, theirs: None, lab: None };
        let hosted = cluster::get(key).expect("a cluster");
        let told = hosted.with(|cluster, _| Ok((cluster.site.node_folder("localhost"), cluster.ports)));
        let (node, ports) = told.expect("it runs");
        let uri = format!("hdfs://localhost:{}", ports.name_node);
        Theirs { hosted, conf: node.join("conf"), uri, home, _dir: dir }
    }

    /// What a program of Hadoop's says on it. Fails where a daemon of it has ended.
    fn say(&self, class: &'static str, words: &[&str]) -> String {
        let arguments = words.iter().map(|word| (*word).to_owned()).collect();
        let order = Order { class, program: None, settings: Vec::new(), arguments, timeout: PATIENCE };
        let said = self.hosted.with(|cluster, ended| {
            assert_eq!(ended, None, "a daemon ended");
            job::run(cluster, &order)
        });
        said.expect("it says").output
    }

    /// All of HDFS but the records of jobs, which the history server makes.
    fn listing(&self) -> Vec<String> {
        let told = self.say(SHELL, &["-ls", "-R", "/"]);
        let lines = told.lines().filter(|line| !line.contains("/history/done"));
        // Without the times, which change with what is in a folder.
        lines.filter_map(|line| line.split_whitespace().last()).map(str::to_owned).collect()
    }

    /// Jobs that have not ended.
    fn applications(&self) -> usize {
        let told = self.hosted.with(|cluster, _| {
            Ok(cluster.resource_manager().get("/ws/v1/cluster/apps?states=ACCEPTED,RUNNING")?)
        });
        told.expect("an answer")["apps"]["app"].as_array().map_or(0, Vec::len)
    }

    fn command(&self, bench: &Bench, args: &[&str]) -> Command {
        let mut command = bench.command(&TINY.iter().chain(args).copied().collect::<Vec<_>>());
        command.env("HADOOP_HOME", self.home).env("HADOOP_CONF_DIR", &self.conf);
        command
    }

    /// Its configuration, with one text in the place of another, in a folder of the bench.
    fn changed(&self, bench: &Bench, file: &str, from: &str, to: &str) -> PathBuf {
        let folder = bench.path("conf");
        fs::create_dir_all(&folder).expect("a folder");
        for name in ["core-site.xml", "hdfs-site.xml", "mapred-site.xml", "yarn-site.xml"] {
            let text = fs::read_to_string(self.conf.join(name)).expect("a file");
            let text = if name == file { text.replace(from, to) } else { text };
            fs::write(folder.join(name), text).expect("a file");
        }
        folder
    }
}

#[test]
fn a_cluster_that_runs_is_measured_and_left_as_found() {
    let Some(home) = home() else { return };
    let theirs = Theirs::start(home);
    let bench = Bench::new();
    let before = theirs.listing();
    what_cannot_be_is_told(&theirs, &bench);
    a_sort_is_proved_there(&theirs, &bench);
    assert_eq!(theirs.listing(), before);
    a_killed_program_leaves_nothing_there(&theirs);
    assert_eq!(theirs.listing(), before);
    let logs = Logs::put(&theirs, &bench);
    let before = theirs.listing();
    logs_are_read_there_as_here(&theirs, &bench, &logs);
    assert_eq!(theirs.listing(), before);
    readers_that_end_early_leave_nothing_there(&theirs, &bench, &logs);
    assert_eq!(theirs.listing(), before);
    theirs.say(ADMIN, &["-safemode", "enter"]);
    let args = ["--test", "pi", "--cluster", &theirs.uri];
    said(&mut theirs.command(&bench, &args)).expect(1, &["safe mode"]);
}

fn what_cannot_be_is_told(theirs: &Theirs, bench: &Bench) {
    let on = |more: &[&str]| {
        theirs.command(bench, &[&["--test", "terasort", "--cluster", &theirs.uri], more].concat())
    };
    said(&mut on(&["--nodes", "2"])).expect(2, &["--nodes"]);
    said(&mut on(&["--set", "container=512"])).expect(2, &["as its configuration has them"]);
    said(&mut theirs.command(bench, &["--cluster", "localhost:8020"])).expect(2, &["hdfs://HOST:PORT"]);
    said(&mut theirs.command(bench, &["--cluster", "hdfs://localhost:1"]))
        .expect(1, &["nothing answers there"]);
    said(on(&[]).env("HADOOP_CONF_DIR", bench.path("none"))).expect(1, &["no such folder"]);
    said(on(&[]).env_remove("HADOOP_CONF_DIR")).expect(1, &["set HADOOP_CONF_DIR"]);
    let kerberos = "<configuration><property><name>hadoop.security.authentication</name><value>kerberos</value></property>";
    let folder = theirs.changed(bench, "core-site.xml", "<configuration>", kerberos);
    said(on(&[]).env("HADOOP_CONF_DIR", folder)).expect(1, &["Kerberos", "not supported"]);
}

fn a_sort_is_proved_there(theirs: &Theirs, bench: &Bench) {
    let args = ["--test", "terasort", "--data", "4MiB", "--cluster", &theirs.uri];
    let told = said(&mut theirs.command(bench, &args)).expect(0, &[]);
    let out = told.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.starts_with(&format!("TeraSort of 4.00 MiB on {}: ", theirs.uri)), "{out}");
    let run = bench.only();
    let figure = |name: &str| {
        let row = run.series.iter().find(|row| row.key.metric == name);
        row.and_then(|row| row.measured().last().copied()).unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(figure("spilled"), 2.0 * 41_943.0);
    assert!(figure("rate") > 0.0 && figure("slots") > 0.0);
    // The use of this machine is none of a cluster's that may be elsewhere.
    assert!(run.series.iter().all(|one| one.key.metric != "cpus-busy"));
    let told = |text: &str| run.notes.iter().any(|note| note.body.text().contains(text));
    assert!(told("a cluster of yours") && told("1 DataNode and 1 NodeManager"), "{:?}", run.notes);
    assert!(told("hadoop fs -rm -r -skipTrash hdfs://localhost:"), "{:?}", run.notes);
}

fn until(what: &str, is_so: &dyn Fn() -> bool) {
    // What is left of a run is removed within three minutes.
    let until = Instant::now() + 2 * PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn a_killed_program_leaves_nothing_there(theirs: &Theirs) {
    let applications = || theirs.applications();
    let bench = Bench::new();
    let args = ["--test", "pi", "--set", "samples=1000000000", "--cluster", &theirs.uri];
    let running = Running::start(theirs.command(&bench, &args));
    until("no job is at work", &|| applications() > 0);
    running.signal("KILL");
    assert_eq!(running.end().code, None);
    until("a job is left", &|| applications() == 0);
    until("a folder is left", &|| !has_private(&bench));
}

/// True if a private folder of the program's is in the bench.
fn has_private(bench: &Bench) -> bool {
    let is_ours = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(guard::PRIVATE);
    fs::read_dir(bench.dir.path()).expect("the folder").flatten().any(|entry| is_ours(&entry))
}

/// Logs that lie here and there under the same paths.
struct Logs {
    /// `LABEL=PATH` of each.
    given: Vec<String>,
}

impl Logs {
    fn put(theirs: &Theirs, bench: &Bench) -> Logs {
        let path = |name: &str| bench.path(name).display().to_string();
        fs::write(path("a.log"), changed()).expect("a log");
        let packed = |words: &[&str]| {
            let status = Command::new(words[0]).args(&words[1..]).status().expect("it packs");
            assert!(status.success(), "{words:?}");
        };
        packed(&["sh", "-c", &format!("gzip < {0}/a.log > {0}/b.log.gz", bench.dir.path().display())]);
        packed(&["zstd", "-q", &path("a.log"), "-o", &path("c.log.zst")]);
        theirs.say(SHELL, &["-mkdir", "-p", &bench.dir.path().display().to_string()]);
        // A line longer than a split, none in a last one, and a file without a line.
        let long = [changed(), "y".repeat(500_000), "\nlast".to_owned()].concat();
        fs::write(path("d.log"), long).expect("a log");
        fs::write(path("e.log"), "").expect("a log");
        let names =
            [("ssd", "a.log"), ("ssd", "b.log.gz"), ("hdd", "c.log.zst"), ("hdd", "d.log"), ("hdd", "e.log")];
        let given = names.map(|(label, name)| {
            theirs.say(SHELL, &["-put", &path(name), &path(name)]);
            format!("{label}={}", path(name))
        });
        Logs { given: given.to_vec() }
    }

    fn command(&self, theirs: &Theirs, bench: &Bench, more: &[&str]) -> Command {
        let given: Vec<&str> = self.given.iter().map(String::as_str).collect();
        let mut command = bench.command(&[&["logs", "--no-store"], &given[..], more].concat());
        command.env("HADOOP_HOME", theirs.home).env("HADOOP_CONF_DIR", &theirs.conf);
        command.env("TMPDIR", bench.dir.path());
        command
    }
}

fn logs_are_read_there_as_here(theirs: &Theirs, bench: &Bench, logs: &Logs) {
    let read = |name: &str, more: &[&str]| {
        let out = bench.path(name).display().to_string();
        let words = [&["--by", "prefix", "--out", &out], more].concat();
        // Two lines are none of a log.
        said(&mut logs.command(theirs, bench, &words)).expect(3, &[]);
        fs::read(out).expect("its aggregates")
    };
    let here = read("here.agg", &[]);
    // A file in one split, and in some that cut lines.
    for split in [&[][..], &["--split", "200001"]] {
        let there = read("there.agg", &[&["--hadoop"], split].concat());
        assert!(here.len() > 1000 && here == there, "{split:?}: {} and {} bytes", here.len(), there.len());
    }
    a_damaged_file_is_named(theirs, bench);
    what_would_be_left_out_is_said(theirs, bench);
    said(&mut logs.command(theirs, bench, &["--hadoop", "--split", "1"])).expect(2, &["100000 at most"]);
    said(&mut logs.command(theirs, bench, &["--hadoop", "--timeout", "1"]))
        .expect(1, &["not done within", "--timeout gives more"]);
    until("a folder is left", &|| !has_private(bench));
}

/// Of a folder Hadoop reads neither folders in it nor some names.
fn what_would_be_left_out_is_said(theirs: &Theirs, bench: &Bench) {
    let folder = bench.path("folder").display().to_string();
    let logs = Logs { given: vec![folder.clone()] };
    theirs.say(SHELL, &["-mkdir", &folder]);
    let [log, hidden] = ["a.log", "_old.log"].map(|name| format!("{folder}/{name}"));
    theirs.say(SHELL, &["-put", &bench.path("a.log").display().to_string(), &hidden]);
    said(&mut logs.command(theirs, bench, &["--hadoop"])).expect(1, &["begins with _", "_old.log"]);
    theirs.say(SHELL, &["-cp", &hidden, &log]);
    let told = said(&mut logs.command(theirs, bench, &["--hadoop"])).expect(0, &["left out", "_old.log"]);
    assert!(!told.out.is_empty());
    theirs.say(SHELL, &["-mkdir", &format!("{folder}/older")]);
    said(&mut logs.command(theirs, bench, &["--hadoop"])).expect(1, &["there is a folder in it", "older"]);
    theirs.say(SHELL, &["-rm", "-r", "-skipTrash", &folder]);
}

/// The damage is met long before the end, while Hadoop writes on.
fn a_damaged_file_is_named(theirs: &Theirs, bench: &Bench) {
    let path = bench.path("damaged.log.gz").display().to_string();
    let line = |n: u64| {
        let name = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let at = format!("01/May/2010:00:{:02}:{:02} +0200", n / 60 % 60, n % 60);
        format!("10.0.0.1 - - [{at}] \"GET /{:x}{name:x} HTTP/1.1\" 200 1000 2000\n", name.rotate_left(7) ^ n)
    };
    fs::write(bench.path("damaged.log"), (0..100_000).map(line).collect::<String>()).expect("a log");
    let packed = Command::new("gzip").arg(bench.path("damaged.log")).status().expect("it packs");
    let mut bytes = fs::read(&path).expect("a packed log");
    assert!(packed.success() && bytes.len() > 2 << 20, "{}", bytes.len());
    bytes[400_000..404_000].fill(0xff);
    fs::write(&path, bytes).expect("a damaged log");
    theirs.say(SHELL, &["-put", &path, &path]);
    let damaged = Logs { given: vec![path.clone()] };
    said(&mut damaged.command(theirs, bench, &["--hadoop"])).expect(1, &["damaged.log.gz", "gzip: damaged"]);
    theirs.say(SHELL, &["-rm", "-skipTrash", &path]);
}

fn readers_that_end_early_leave_nothing_there(theirs: &Theirs, bench: &Bench, logs: &Logs) {
    for (signal, code) in [("INT", Some(130)), ("KILL", None)] {
        let running = Running::start(logs.command(theirs, bench, &["--hadoop"]));
        until("no job is at work", &|| theirs.applications() > 0);
        running.signal(signal);
        assert_eq!(running.end().code, code, "{signal}");
        until("a job is left", &|| theirs.applications() == 0);
        until("a folder is left", &|| !has_private(bench));
    }
}
