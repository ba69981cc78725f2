//! A Hadoop that is assembled, by Maven's own words: a mirror with other jars, no network, no Maven, a Java of another
//! age, an interrupt, a folder with something else; and old configurations in today's names.
//!
//! Most of it has a Maven and a Java of its own, which are scripts. One test asks the host's.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use instruments::workload::guard;
use instruments::workload::hadoop::settings::OPENS;
use instruments::workload::hadoop::{distribution, streaming};
use model::doc::{ErrorDoc, HadoopConfigDoc, HadoopFate, HadoopFetchDoc, HadoopNamesDoc};

use crate::common::{Bench, PROGRAM, Running, Said, assert_gone, cannot, children, said};

/// Words that Maven is started with become variables of these.
const WORDS: &str =
    "for word; do case $word in -o) offline=1;; -DoutputDirectory=*) lib=${word#*=};; esac; done\n";

fn sums() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../instruments/src/workload/hadoop/sums.txt")
}

fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, format!("#!/bin/sh\n{text}")).expect("a script");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("its mode");
}

/// A Java that says that it is of this version.
fn java(bench: &Bench, version: &str) -> PathBuf {
    let home = bench.path(&format!("java-{version}"));
    script(&home.join("bin/java"), &format!("echo 'openjdk version \"{version}\" 2025-01-01' >&2\n"));
    home
}

/// `hadoop fetch` with a Maven that does this, and Java 17.
fn fetch(bench: &Bench, maven: &str, args: &[&str]) -> Command {
    script(&bench.path("bin/mvn"), &format!("{WORDS}{maven}"));
    let mut command = bench.command(&[&["hadoop", "fetch"], args].concat());
    let path = format!("{}:/usr/bin:/bin", bench.path("bin").display());
    command.env("PATH", path).env("JAVA_HOME", java(bench, "17.0.15")).env_remove("HADOOP_HOME");
    command.env("XDG_DATA_HOME", bench.path("data"));
    command
}

fn folder(bench: &Bench) -> PathBuf {
    bench.path("data/boxscore/hadoop/3.4.2")
}

/// Nothing of an attempt is left, not even a private folder.
#[track_caller]
fn assert_nothing(bench: &Bench) {
    let left: Vec<_> = fs::read_dir(bench.path("data")).into_iter().flatten().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
}

/// Empty jars under the right names.
fn empty_jars() -> String {
    format!("mkdir -p $lib; while read sum name; do : >$lib/$name; done <{}\n", sums().display())
}

#[test]
fn jars_of_a_mirror_that_are_others_are_refused() {
    let bench = Bench::new();
    let said = said(&mut fetch(&bench, &empty_jars(), &[]));
    let said =
        said.expect(1, &["is another file: its SHA-256 is e3b0c44298fc1c14", "and should be", "~/.m2"]);
    assert_eq!(said.out, "");
    assert_nothing(&bench);
    let fewer = "mkdir -p $lib; : >$lib/evil.jar\n";
    let said = crate::common::said(&mut fetch(&bench, fewer, &["--json"])).expect(1, &[]);
    let error: ErrorDoc = serde_json::from_str(&said.out).expect("a document");
    assert!(error.message.contains("jars are missing"), "{error:?}");
    assert_nothing(&bench);
}

#[test]
fn a_cache_that_is_half_written_is_made_anew() {
    let bench = Bench::new();
    let lib = folder(&bench).join("lib");
    fs::create_dir_all(&lib).expect("a folder");
    fs::write(lib.join("hadoop-common-3.4.2.jar"), "half").expect("a jar");
    // The new one is not right either, so what was there stays as it was.
    let said = said(&mut fetch(&bench, &empty_jars(), &[]));
    said.expect(1, &["is made anew: ", "jars are missing", "is another file"]);
    assert_eq!(fs::read_to_string(lib.join("hadoop-common-3.4.2.jar")).expect("it stays"), "half");
    assert_eq!(fs::read_dir(folder(&bench).parent().expect("above")).expect("entries").count(), 1);
}

#[test]
fn a_folder_with_something_else_is_never_replaced() {
    let bench = Bench::new();
    fs::create_dir(bench.path("mine")).expect("a folder");
    fs::write(bench.path("mine/thesis.tex"), "x").expect("a file");
    let said = said(&mut fetch(&bench, "exit 1\n", &["--dir", "mine"]));
    said.expect(1, &["is not replaced: it has thesis.tex", "--dir"]);
    assert!(bench.path("mine/thesis.tex").is_file());
}

#[test]
fn a_host_without_what_it_needs_is_told_so() {
    let bench = Bench::new();
    let without = |path: &str, java: PathBuf| {
        let mut command = fetch(&bench, "exit 1\n", &[]);
        command.env("PATH", bench.path(path)).env("JAVA_HOME", java);
        said(&mut command)
    };
    let maven = without("empty", java(&bench, "17.0.1"));
    maven.expect(1, &["there is no mvn in PATH", "apt-get install"]);
    for (version, number) in [("25.0.3", "Java 25"), ("1.7.0_80", "Java 7")] {
        let java = without("bin", java(&bench, version));
        java.expect(1, &["Hadoop 3.4.2 runs on Java 8, 11 or 17, and JAVA_HOME is", number]);
    }
    without("bin", bench.path("none")).expect(1, &["there is no bin/java in it"]);
    assert_nothing(&bench);
}

#[test]
fn ctrl_c_ends_maven_and_leaves_nothing() {
    let bench = Bench::new();
    let hangs = "echo begun >begun; mkdir -p $lib; : >$lib/a.jar\nsleep 1000 &\nwait\n";
    let hangs = hangs.replace(">begun", &format!(">{}", bench.path("begun").display()));
    let running = Running::start(fetch(&bench, &hangs, &[]));
    let end = std::time::Instant::now() + crate::common::PATIENCE;
    let maven = loop {
        let below = children(running.pid()).into_iter().find(|child| !children(*child).is_empty());
        match below.filter(|_| bench.path("begun").exists()) {
            Some(maven) => break maven,
            None => assert!(std::time::Instant::now() < end, "Maven does not begin"),
        }
        std::thread::sleep(std::time::Duration::from_millis(2));
    };
    let inner = children(maven);
    running.signal("INT");
    let said = running.end().expect(130, &["interrupted; nothing of it was kept"]);
    assert_eq!(said.out, "");
    inner.into_iter().chain([maven]).for_each(assert_gone);
    assert_nothing(&bench);
}

/// The host's Maven, by what it has or over the network.
#[test]
fn a_real_one_is_assembled_verified_and_found() {
    let bench = Bench::new();
    let dir = bench.path("real");
    let fetched = |args: &[&str]| {
        let all = [&["hadoop", "fetch", "--dir", "real"], args].concat();
        let mut command = bench.command(&all);
        command.env_remove("JAVA_HOME").env_remove("HADOOP_HOME");
        said(&mut command)
    };
    let first = fetched(&["--json"]);
    if first.code != Some(0) {
        return cannot(&first.out);
    }
    let doc: HadoopFetchDoc = serde_json::from_str(&first.out).expect("a document");
    assert!(doc.fetched && doc.jars > 150 && doc.bytes > 90_000_000 && doc.java.version >= 8, "{doc:?}");
    let sums = Command::new("sha256sum").args(["-c", "--quiet", "SHA256SUMS"]).current_dir(&dir).output();
    assert!(sums.expect("sha256sum").status.success());
    let again = fetched(&[]).expect(0, &[]);
    assert!(again.out.starts_with("Hadoop 3.4.2 is in ") && again.out.contains("there already"), "{again:?}");
    fs::write(dir.join("lib/hadoop-common-3.4.2.jar"), "half").expect("a jar");
    fetched(&[]).expect(0, &["is made anew: hadoop-common-3.4.2.jar is another file"]);
    assert!(fs::metadata(dir.join("lib/hadoop-common-3.4.2.jar")).expect("the jar").len() > 1_000_000);
    assert_eq!(fs::read_dir(&dir).expect("entries").count(), 3);
}

/// A configuration as guides of 2012 had it, for a master and three slaves.
pub fn configuration(bench: &Bench) {
    let site = |name: &str, settings: &[(&str, &str)]| {
        let mut text =
            "<?xml version=\"1.0\"?>\n<?xml-stylesheet type=\"text/xsl\" href=\"configuration.xsl\"?>\n\n\
                        <configuration>\n"
                .to_owned();
        for (name, value) in settings {
            text.push_str(&format!(
                "  <property>\n    <name>{name}</name>\n    <value>{value}</value>\n  </property>\n"
            ));
        }
        fs::write(bench.path(&format!("conf/{name}")), format!("{text}</configuration>\n")).expect("a file");
    };
    fs::create_dir_all(bench.path("conf")).expect("a folder");
    site("core-site.xml", &[("fs.default.name", "hdfs://localhost:9000"), ("hadoop.tmp.dir", "/tmp/hadoop")]);
    site(
        "hdfs-site.xml",
        &[
            ("dfs.replication", "4"),
            ("dfs.name.dir", "/home/hadoop/name"),
            ("dfs.block.size", "65536"),
            ("dfs.permissions", "no"),
            ("dfs.replicaton.min", "1"),
        ],
    );
    site(
        "mapred-site.xml",
        &[
            ("mapred.job.tracker", "node0:9001"),
            ("mapred.tasktracker.map.tasks.maximum", "2"),
            ("mapred.child.java.opts", "-Xmx128m"),
            ("io.sort.mb", "100"),
            ("mapred.reduce.tasks", "3"),
            ("mapred.jobinit.threads", "4"),
        ],
    );
    for (name, text) in [
        ("masters", "node0\n"),
        ("slaves", "node1\nnode2\nnode3\n"),
        (
            "hadoop-env.sh",
            "# The java implementation to use.\nexport JAVA_HOME=/usr/lib/jvm/java-6-openjdk\nexport HADOOP_HEAPSIZE=512\n",
        ),
    ] {
        fs::write(bench.path(&format!("conf/{name}")), text).expect("a file");
    }
}

#[test]
fn an_old_configuration_is_told_in_todays_names() {
    let bench = Bench::new();
    configuration(&bench);
    let said = bench.run(&["hadoop", "explain", "conf", "--json"]).expect(0, &[]);
    let doc: HadoopConfigDoc = serde_json::from_str(&said.out).expect("a document");
    let rules: Vec<(&str, u64, &str)> = doc
        .lines
        .iter()
        .flat_map(|line| {
            line.doubts.iter().map(move |doubt| (line.file.as_str(), line.line, doubt.rule.as_str()))
        })
        .collect();
    let expected = [
        ("core-site.xml", 6, "localhost"),
        ("core-site.xml", 10, "temporary"),
        ("hdfs-site.xml", 6, "replication"),
        ("hdfs-site.xml", 14, "block"),
        ("hdfs-site.xml", 18, "switch"),
        ("mapred-site.xml", 14, "heap"),
        ("hadoop-env.sh", 2, "java"),
    ];
    assert_eq!(rules, expected);
    let missing: Vec<&str> = doc.missing.iter().map(|doubt| doubt.rule.as_str()).collect();
    assert_eq!(missing, ["framework", "shuffle", "resource-manager"]);
    assert!(doc.missing[2].says.contains("to node0"), "{:?}", doc.missing);
    assert_eq!((doc.count(HadoopFate::Gone), doc.count(HadoopFate::Unknown)), (1, 1));
    let text = bench.run(&["hadoop", "explain", "conf"]).expect(0, &[]).out;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("core-site.xml:6 fs.default.name = hdfs://localhost:9000"), "{text}");
}

#[test]
fn what_is_no_configuration_is_told_by_file_and_line() {
    let bench = Bench::new();
    bench.run(&["hadoop", "explain", "./none"]).expect(1, &["there is no such folder"]);
    bench.run(&["hadoop", "explain", "."]).expect(1, &["no configuration of Hadoop is in it"]);
    configuration(&bench);
    fs::write(bench.path("conf/hdfs-site.xml"), "<configuration>\n<property>\n</configuration>\n")
        .expect("a file");
    bench.run(&["hadoop", "explain", "conf/hdfs-site.xml"]).expect(1, &["conf/hdfs-site.xml:3: no XML"]);
    // The other files are told.
    let told = bench.run(&["hadoop", "explain", "conf"]).expect(3, &[]).out;
    for text in ["Not read", "conf/hdfs-site.xml:3: no XML", "core-site.xml:6 fs.default.name"] {
        assert!(told.contains(text), "no {text}: {told}");
    }
}

#[test]
fn names_are_found_or_the_near_one_is_told() {
    let bench = Bench::new();
    let named = |words: &[&str]| -> Said { bench.run(&[&["hadoop", "explain"], words].concat()) };
    let said = named(&["hadoop dfsadmin -report"]).expect(0, &[]);
    assert!(said.out.starts_with("hadoop dfsadmin is hdfs dfsadmin in Hadoop 3."), "{said:?}");
    let port = named(&["http://master:50030/"]).expect(0, &[]);
    assert!(port.out.starts_with("50030 is 8088 (yarn.resourcemanager.webapp.address)"), "{port:?}");
    named(&["fs.defualt.name"]).expect(2, &["did you mean `fs.default.name`?"]);
    named(&["frobnicate"]).expect(2, &["`boxscore hadoop explain` lists"]);
    let all = |args: &[&str]| -> usize {
        let doc: HadoopNamesDoc = serde_json::from_str(&named(args).expect(0, &[]).out).expect("a document");
        doc.names.len()
    };
    assert!(all(&["--json"]) > 100 && all(&["--all", "--json"]) > all(&["--json"]) + 150);
}

/// The input format of `logs --hadoop`, by a program of Java's: splits of random files, cut anywhere.
#[test]
fn splits_have_the_lines_that_begin_in_them() {
    let Some(home) = crate::common::hadoop::home() else { return };
    let bench = Bench::new();
    let jar = streaming::write_input_format(bench.dir.path()).expect("a jar");
    guard::set_program(PROGRAM);
    let hadoop = distribution::find(bench.dir.path(), Some(home)).expect("a Hadoop");
    let class_path = format!("{}:{}", hadoop.class_path.join(":"), jar.display());
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/SplitsOfLines.java");
    let mut java = Command::new(hadoop.java.program());
    let modules = said(java.arg("--list-modules")).out;
    if !modules.contains("jdk.compiler") {
        return cannot("a JDK, not only what runs Java");
    }
    let mut java = Command::new(hadoop.java.program());
    java.args(hadoop.opens().then_some(OPENS)).arg("-cp").arg(class_path).arg(source).arg(bench.dir.path());
    let told = said(&mut java).expect(0, &[]);
    assert!(told.out.trim_end().ends_with(" splits"), "{told:?}");
}
