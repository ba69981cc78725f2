//! Values of a configuration that look wrong, and what Hadoop 3 needs besides.
//!
//! Judged by the files alone: hosts are not asked and folders are not looked for. A sentence begins with what happens,
//! then says why, then what to do.

use std::collections::BTreeMap;

use model::doc::{HadoopConfigDoc, HadoopDoubtDoc, HadoopFate, HadoopLineDoc};

use super::folder::HOSTS;

/// MiB that a map task needs besides its buffer for sorting.
const BESIDE_SORT: u64 = 50;
/// MiB of the buffer where nothing is said.
const USUAL_SORT: u64 = 100;
/// The smallest block that a NameNode takes, in bytes.
const LEAST_BLOCK: u64 = 1 << 20;
/// Bytes of a checksum's chunk; a block is a multiple of it.
const CHUNK: u64 = 512;

/// A doubt about the line at this place, or about nothing that is there.
type Found = (Option<usize>, HadoopDoubtDoc);

fn doubt(at: usize, rule: &str, says: impl Into<String>) -> Found {
    (Some(at), HadoopDoubtDoc { rule: rule.to_owned(), says: says.into() })
}

fn lacking(rule: &str, says: impl Into<String>) -> Found {
    (None, HadoopDoubtDoc { rule: rule.to_owned(), says: says.into() })
}

/// A configuration by the names of today.
struct Seen<'a> {
    lines: &'a [HadoopLineDoc],
    /// The last line of each, which counts.
    by_name: BTreeMap<&'a str, usize>,
    /// Hosts of DataNodes.
    workers: Vec<&'a str>,
    /// The file that names them.
    named_in: &'static str,
    /// True if all its files were read.
    is_whole: bool,
}

/// The name of today by which a line is known.
fn today(line: &HadoopLineDoc) -> &str {
    match line.today.fate {
        HadoopFate::Renamed => line.today.today.first().map_or(line.name.as_str(), String::as_str),
        _ => &line.name,
    }
}

impl<'a> Seen<'a> {
    fn new(document: &'a HadoopConfigDoc) -> Seen<'a> {
        let lines = &document.lines;
        let is_host = |line: &HadoopLineDoc| HOSTS.contains(&line.file.as_str());
        let named = lines.iter().enumerate().filter(|(_, line)| !is_host(line));
        let by_name = named.map(|(at, line)| (today(line), at)).collect();
        let of = |file: &str| -> Vec<&'a str> {
            lines.iter().filter(|line| line.file == file).map(|line| line.value.as_str()).collect()
        };
        let (workers, named_in) = match of("workers") {
            none if none.is_empty() => (of("slaves"), "slaves"),
            workers => (workers, "workers"),
        };
        Seen { lines, by_name, workers, named_in, is_whole: document.unread.is_empty() }
    }

    fn value(&self, name: &str) -> Option<(usize, &'a str)> {
        let at = *self.by_name.get(name)?;
        Some((at, self.lines.get(at)?.value.as_str()))
    }

    /// Workers that are other machines than the one that reads this.
    fn others(&self) -> usize {
        self.workers.iter().filter(|host| !is_local(host)).count()
    }

    fn has_file(&self, name: &str) -> bool {
        self.lines.iter().any(|line| line.file == name)
    }
}

/// Looks for doubts and adds them to the document.
pub fn judge(document: &mut HadoopConfigDoc) {
    let rules: [fn(&Seen<'_>) -> Vec<Found>; 11] =
        [empty, twice, places, file_system, addresses, replication, folders, blocks, memory, words, hosts];
    let seen = Seen::new(document);
    let mut found: Vec<Found> = rules.iter().flat_map(|rule| rule(&seen)).collect();
    found.extend(missing(&seen));
    for (at, doubt) in found {
        match at.and_then(|at| document.lines.get_mut(at)) {
            Some(line) => line.doubts.push(doubt),
            None => document.missing.push(doubt),
        }
    }
}

fn is_local(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    host.starts_with("localhost") || host.starts_with("127.") || host == "::1" || host == "[::1]"
}

/// The host of `hdfs://HOST:PORT/` or `HOST:PORT`.
fn host(value: &str) -> &str {
    let rest = value.split_once("://").map_or(value, |(_, rest)| rest);
    let rest = rest.split('/').next().unwrap_or_default();
    match rest.strip_prefix('[').and_then(|inner| inner.split_once(']')) {
        Some((inner, _)) => inner,
        None => rest.split(':').next().unwrap_or_default(),
    }
}

fn empty(seen: &Seen<'_>) -> Vec<Found> {
    let is_empty = |line: &HadoopLineDoc| line.value.is_empty() && line.file.ends_with(".xml");
    let all = seen.lines.iter().enumerate().filter(|(_, line)| is_empty(line));
    all.map(|(at, _)| {
        doubt(at, "empty", "an empty value is a value, not the default: set it, or remove the line")
    })
    .collect()
}

/// A name that a later line of the file sets again. In a shell's file that may be meant: `+=`, a condition.
fn twice(seen: &Seen<'_>) -> Vec<Found> {
    let mut last: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    let mut found = Vec::new();
    for (at, line) in seen.lines.iter().enumerate().filter(|(_, line)| !line.file.ends_with(".sh")) {
        let key = if line.name.is_empty() { line.value.as_str() } else { today(line) };
        let Some(before) = last.insert((&line.file, key), at) else { continue };
        let says = match line.name.is_empty() {
            true => format!("named again in line {}", line.line),
            false => format!("line {} sets it again, and counts: remove one of them", line.line),
        };
        found.push(doubt(before, "twice", says));
    }
    found
}

/// Settings in a file that their programs do not read. Every program reads core-site.xml.
fn places(seen: &Seen<'_>) -> Vec<Found> {
    let read_by_all = ["core-site.xml", "hadoop-site.xml"];
    let mut found = Vec::new();
    for (at, line) in seen.lines.iter().enumerate() {
        let is_kept = matches!(line.today.fate, HadoopFate::Same | HadoopFate::Renamed);
        let is_setting = line.file.ends_with(".xml") && !read_by_all.contains(&line.file.as_str());
        if let ([place, ..], true, true) = (line.today.place.as_slice(), is_kept, is_setting)
            && *place != line.file
        {
            found.push(doubt(
                at,
                "place",
                format!("not every program that needs it reads this file: move it to {place}"),
            ));
        }
    }
    found
}

/// The address of the NameNode.
fn file_system(seen: &Seen<'_>) -> Vec<Found> {
    let Some((at, value)) = seen.value("fs.defaultFS").filter(|(_, value)| !value.is_empty()) else {
        return Vec::new();
    };
    let (others, file) = (seen.others(), seen.named_in);
    let name = host(value);
    if value.starts_with("file:") {
        let says =
            format!("every machine would use its own disk, not HDFS, and {file} names {others} others");
        return if others > 0 { vec![doubt(at, "no-hdfs", says)] } else { Vec::new() };
    }
    let mut found = Vec::new();
    if !value.contains("://") {
        found.push(doubt(
            at,
            "scheme",
            format!("no file system is named, so one is guessed: hdfs://{value}"),
        ));
    }
    if is_local(name) && others > 0 {
        found.push(doubt(at, "localhost", format!(
            "each of the {others} other hosts in {file} would look for the NameNode on itself: name the master's host"
        )));
    }
    if name == "0.0.0.0" {
        found.push(doubt(at, "localhost", "nobody can connect to 0.0.0.0: name the host of the NameNode"));
    }
    if name.contains('_') {
        found.push(doubt(at, "underscore", format!(
            "Java reads no host in it (`Incomplete HDFS URI, no host`), for the _ in {name}: use a name without"
        )));
    }
    found
}

/// Addresses of the JobTracker and the ResourceManager.
fn addresses(seen: &Seen<'_>) -> Vec<Found> {
    let others = seen.others();
    let wrong = |(at, value): (usize, &str)| {
        (is_local(host(value)) && others > 0).then(|| {
            doubt(at, "localhost", format!(
                "each of the {others} other hosts in {} would look for it on itself: name the master's host",
                seen.named_in
            ))
        })
    };
    let names = ["mapred.job.tracker", "yarn.resourcemanager.hostname", "yarn.resourcemanager.address"];
    names.iter().filter_map(|name| seen.value(name)).filter_map(wrong).collect()
}

fn replication(seen: &Seen<'_>) -> Vec<Found> {
    let Some((at, value)) = seen.value("dfs.replication") else { return Vec::new() };
    let workers = seen.workers.len();
    let says = match value.parse::<u64>() {
        Err(_) if value.is_empty() => return Vec::new(),
        Err(_) => format!("{value} is no number of copies"),
        Ok(0) => "the NameNode refuses files with 0 copies: at least 1".to_owned(),
        Ok(copies) if workers > 0 && copies > workers as u64 => format!(
            "no block would ever have its {copies} copies, since {} names {workers} DataNode{}: at most {workers}",
            seen.named_in,
            if workers == 1 { "" } else { "s" }
        ),
        Ok(_) => return Vec::new(),
    };
    vec![doubt(at, "replication", says)]
}

/// Folders of HDFS that a restart may clear, or that depend on where a program is started.
fn folders(seen: &Seen<'_>) -> Vec<Found> {
    let is_temporary =
        |path: &str| path == "/tmp" || path.starts_with("/tmp/") || path.starts_with("/var/run/");
    let bare = |path: &str| path.trim().trim_start_matches("file://").trim_start_matches("file:").to_owned();
    let mut found = Vec::new();
    for name in ["dfs.namenode.name.dir", "dfs.datanode.data.dir", "mapred.local.dir"] {
        let Some((at, value)) = seen.value(name) else { continue };
        for path in value.split(',').map(bare).filter(|path| !path.is_empty()) {
            if is_temporary(&path) {
                found.push(doubt(
                    at,
                    "temporary",
                    format!("a restart of the machine may clear {path}: use another disk"),
                ));
            } else if !path.starts_with(['/', '$', '[']) {
                found.push(doubt(
                    at,
                    "relative",
                    format!("{path} depends on where the program is started: write it in full"),
                ));
            }
        }
    }
    let is_named = |name: &str| seen.value(name).is_some();
    let is_hdfs = seen.has_file("hdfs-site.xml") || seen.value("fs.defaultFS").is_some();
    if is_hdfs && seen.is_whole && !(is_named("dfs.namenode.name.dir") && is_named("dfs.datanode.data.dir")) {
        let says = |below: &str| {
            format!(
                "HDFS keeps what has no folder of its own {below}: set dfs.namenode.name.dir and dfs.datanode.data.dir"
            )
        };
        match seen.value("hadoop.tmp.dir") {
            Some((at, value)) if is_temporary(&bare(value)) => {
                found.push(doubt(at, "temporary", says("here, which a restart may clear")));
            }
            Some(_) => {}
            None => found.push(lacking("temporary", says("below /tmp, which a restart may clear"))),
        }
    }
    found
}

/// A size with the suffix of a power of 1024.
fn size(value: &str) -> Option<u64> {
    let value = value.trim().to_ascii_lowercase();
    let (digits, shift) = match value.chars().last()? {
        'k' => (value.trim_end_matches('k'), 10),
        'm' => (value.trim_end_matches('m'), 20),
        'g' => (value.trim_end_matches('g'), 30),
        't' => (value.trim_end_matches('t'), 40),
        _ => (value.as_str(), 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

fn blocks(seen: &Seen<'_>) -> Vec<Found> {
    let Some((at, value)) = seen.value("dfs.blocksize").filter(|(_, value)| !value.is_empty()) else {
        return Vec::new();
    };
    let says = match size(value) {
        None => format!("{value} is no size"),
        Some(bytes) if bytes < LEAST_BLOCK => {
            format!("the NameNode refuses files with blocks below 1 MiB, and these have {bytes} bytes")
        }
        Some(bytes) if bytes % CHUNK != 0 => {
            format!("files cannot be made: a block of {bytes} bytes is no multiple of {CHUNK}")
        }
        Some(_) => return Vec::new(),
    };
    vec![doubt(at, "block", says)]
}

/// MiB of the last -Xmx in options of a JVM.
fn heap(options: &str) -> Option<u64> {
    let last = options.split_whitespace().rev().find_map(|word| word.strip_prefix("-Xmx"))?;
    size(last).map(|bytes| bytes >> 20)
}

/// Heaps of tasks against the buffer in them and the container around them.
fn memory(seen: &Seen<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    let number = |name: &str| seen.value(name).and_then(|(_, value)| value.parse::<u64>().ok());
    let sort = number("mapreduce.task.io.sort.mb");
    for (name, container) in [
        ("mapreduce.map.java.opts", "mapreduce.map.memory.mb"),
        ("mapreduce.reduce.java.opts", "mapreduce.reduce.memory.mb"),
    ] {
        let Some((at, value)) = seen.value(name) else { continue };
        let Some(heap) = heap(value) else { continue };
        let buffer = sort.unwrap_or(USUAL_SORT);
        if name.contains(".map.") && heap < buffer + BESIDE_SORT {
            found.push(doubt(at, "heap", format!(
                "map tasks end with `Java heap space`: a heap of {heap} MiB has no room for a buffer of {buffer} MiB \
                 (mapreduce.task.io.sort.mb) and {BESIDE_SORT} MiB more"
            )));
        }
        if let Some(room) = number(container).filter(|room| heap >= *room) {
            found.push(doubt(at, "container", format!(
                "tasks are killed once they use their heap of {heap} MiB: {container} allows the whole process {room} MiB"
            )));
        }
    }
    found
}

/// Values that must be one of some words, and a Java that is too old.
fn words(seen: &Seen<'_>) -> Vec<Found> {
    const SWITCHES: [&str; 5] = [
        "dfs.permissions.enabled",
        "mapreduce.map.output.compress",
        "mapreduce.output.fileoutputformat.compress",
        "mapreduce.map.speculative",
        "mapreduce.reduce.speculative",
    ];
    let mut found = Vec::new();
    for (at, value) in SWITCHES.iter().filter_map(|name| seen.value(name)) {
        if !["true", "false", ""].contains(&value.to_ascii_lowercase().as_str()) {
            found.push(doubt(
                at,
                "switch",
                format!("{value} is neither true nor false, so the default counts"),
            ));
        }
    }
    if let Some((at, value)) = seen.value("JAVA_HOME") {
        let is = |version: u32| {
            let signs = [format!("java-{version}-"), format!("jdk1.{version}."), format!("1.{version}.0")];
            let ends = [format!("java-{version}"), format!("jdk{version}"), format!("jdk-{version}")];
            signs.iter().any(|sign| value.contains(sign)) || ends.iter().any(|end| value.ends_with(end))
        };
        if let Some(version) = (5..=7).find(|version| is(*version)) {
            found.push(doubt(
                at,
                "java",
                format!("no Hadoop 3 runs on Java {version}: 8, 11 or 17 up to Hadoop 3.4"),
            ));
        }
    }
    found
}

/// Hosts of DataNodes.
fn hosts(seen: &Seen<'_>) -> Vec<Found> {
    let is_worker = |line: &HadoopLineDoc| line.file == seen.named_in;
    let others = seen.others();
    let mut found = Vec::new();
    for (at, line) in seen.lines.iter().enumerate().filter(|(_, line)| is_worker(line)) {
        if line.value.contains(char::is_whitespace) {
            found.push(doubt(at, "host", "one host a line, without blanks"));
        } else if is_local(&line.value) && others > 0 {
            found.push(doubt(at, "localhost", format!(
                "the host that runs start-dfs.sh becomes a worker beside the {others} others; to the NameNode its name is \
                 localhost, as that of no other: write its own"
            )));
        }
    }
    found
}

/// Settings that Hadoop 3 needs besides, where the configuration has jobs.
fn missing(seen: &Seen<'_>) -> Vec<Found> {
    let has_jobs = ["mapred-site.xml", "hadoop-site.xml"].iter().any(|file| seen.has_file(file));
    if !has_jobs {
        return Vec::new();
    }
    let lacks = |name: &str| seen.value(name).is_none_or(|(_, value)| value.is_empty());
    let mut found = Vec::new();
    if lacks("mapreduce.framework.name") {
        found.push(lacking(
            "framework",
            "jobs run in the client alone: set mapreduce.framework.name to yarn in mapred-site.xml",
        ));
    }
    if lacks("yarn.nodemanager.aux-services") {
        found.push(lacking(
            "shuffle",
            "reduces get no input: set yarn.nodemanager.aux-services to mapreduce_shuffle in yarn-site.xml",
        ));
    }
    if lacks("yarn.resourcemanager.hostname") && lacks("yarn.resourcemanager.address") && seen.others() > 0 {
        let master =
            seen.value("mapred.job.tracker").map(|(_, value)| host(value)).filter(|host| !is_local(host));
        let to = master.filter(|host| !host.is_empty()).unwrap_or("the host of the ResourceManager");
        found.push(lacking("resource-manager", format!(
            "NodeManagers look for the ResourceManager on themselves: set yarn.resourcemanager.hostname to {to} in yarn-site.xml"
        )));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::hadoop::old_names::{find, property, unknown};

    /// The doubts of a configuration: settings as `FILE NAME VALUE`, workers as `slaves HOST`.
    fn doubts(lines: &[&str]) -> Vec<(u64, String)> {
        let line = |(at, text): (usize, &&str)| {
            let (file, rest) = text.split_once(' ').unwrap();
            let (name, value) =
                if file == "slaves" { ("", rest) } else { rest.split_once(' ').unwrap_or((rest, "")) };
            let today = match name {
                "" => find("slaves").unwrap(),
                name => property(name).unwrap_or_else(|| unknown(name, None)),
            };
            HadoopLineDoc {
                file: file.to_owned(),
                line: at as u64 + 1,
                name: name.to_owned(),
                value: value.to_owned(),
                today,
                doubts: Vec::new(),
            }
        };
        let mut document = HadoopConfigDoc {
            schema: String::new(),
            folder: String::new(),
            files: Vec::new(),
            lines: lines.iter().enumerate().map(line).collect(),
            missing: Vec::new(),
            unread: Vec::new(),
        };
        judge(&mut document);
        let own = document
            .lines
            .iter()
            .flat_map(|line| line.doubts.iter().map(|one| (line.line, one.rule.clone())));
        own.chain(document.missing.iter().map(|one| (0, one.rule.clone()))).collect()
    }

    #[track_caller]
    fn assert_doubts(lines: &[&str], expected: &[(u64, &str)]) {
        let found = doubts(lines);
        let found: Vec<(u64, &str)> = found.iter().map(|(line, rule)| (*line, rule.as_str())).collect();
        assert_eq!(found, expected, "{lines:?}");
    }

    const NAMES: &str = "hdfs-site.xml dfs.name.dir /data/name";
    const DATA: &str = "hdfs-site.xml dfs.data.dir /data/data";

    #[test]
    fn the_address_of_the_name_node_must_be_one_for_all() {
        let with = |value: &str, expected: &[(u64, &str)]| {
            let first = format!("core-site.xml fs.default.name {value}");
            assert_doubts(&[&first, NAMES, DATA, "slaves node1"], expected);
        };
        with("hdfs://node0:9000", &[]);
        with("hdfs://localhost:9000", &[(1, "localhost")]);
        with("hdfs://127.0.0.1/", &[(1, "localhost")]);
        with("hdfs://[::1]:9000", &[(1, "localhost")]);
        with("hdfs://0.0.0.0:9000", &[(1, "localhost")]);
        with("hdfs://node_0:9000", &[(1, "underscore")]);
        with("node0:9000", &[(1, "scheme")]);
        with("file:///", &[(1, "no-hdfs")]);
        // Of one machine alone localhost is right.
        assert_doubts(&["core-site.xml fs.defaultFS hdfs://localhost", NAMES, DATA, "slaves localhost"], &[]);
    }

    #[test]
    fn values_that_hadoop_refuses_or_misreads_are_doubted() {
        for (line, rule) in [
            ("hdfs-site.xml dfs.replication 3", "replication"),
            ("hdfs-site.xml dfs.replication 0", "replication"),
            ("hdfs-site.xml dfs.replication two", "replication"),
            ("hdfs-site.xml dfs.block.size 1000", "block"),
            ("hdfs-site.xml dfs.blocksize 1048577", "block"),
            ("hdfs-site.xml dfs.blocksize big", "block"),
            ("hdfs-site.xml dfs.permissions yes", "switch"),
            ("hdfs-site.xml dfs.http.address", "empty"),
            ("yarn-site.xml dfs.replication 1", "place"),
        ] {
            assert_doubts(&[NAMES, DATA, line, "slaves a", "slaves b"], &[(3, rule)]);
        }
        for line in [
            "hdfs-site.xml dfs.blocksize 64m",
            "hdfs-site.xml dfs.replication 2",
            "hdfs-site.xml dfs.permissions FALSE",
        ] {
            assert_doubts(&[NAMES, DATA, line, "slaves a", "slaves b"], &[]);
        }
    }

    #[test]
    fn folders_that_a_restart_clears_are_doubted() {
        assert_doubts(&["hdfs-site.xml dfs.name.dir /tmp/name,/data/name", DATA], &[(1, "temporary")]);
        assert_doubts(&["hdfs-site.xml dfs.name.dir name", DATA], &[(1, "relative")]);
        assert_doubts(&["hdfs-site.xml dfs.name.dir file:///data", DATA], &[]);
        assert_doubts(&[NAMES], &[(0, "temporary")]);
        assert_doubts(&[NAMES, "core-site.xml hadoop.tmp.dir /tmp/h"], &[(2, "temporary")]);
        assert_doubts(&[NAMES, "core-site.xml hadoop.tmp.dir /data/h"], &[]);
    }

    #[test]
    fn heaps_are_held_against_buffer_and_container() {
        let rest = [
            "yarn-site.xml yarn.nodemanager.aux-services mapreduce_shuffle",
            "mapred-site.xml mapreduce.framework.name yarn",
        ];
        let with = |lines: &[&str], expected: &[(u64, &str)]| {
            assert_doubts(&[lines, &rest[..]].concat(), expected);
        };
        with(&["mapred-site.xml mapred.child.java.opts -Xmx200m"], &[]);
        with(&["mapred-site.xml mapred.child.java.opts -server -Xmx149m"], &[(1, "heap")]);
        with(
            &["mapred-site.xml mapreduce.map.java.opts -Xmx1g", "mapred-site.xml io.sort.mb 1000"],
            &[(1, "heap")],
        );
        with(
            &[
                "mapred-site.xml mapreduce.reduce.java.opts -Xmx1g",
                "mapred-site.xml mapreduce.reduce.memory.mb 1024",
            ],
            &[(1, "container")],
        );
    }

    #[test]
    fn names_that_come_twice_are_doubted() {
        assert_doubts(&[NAMES, DATA, "hdfs-site.xml dfs.namenode.name.dir /other"], &[(1, "twice")]);
        assert_doubts(&["slaves a", "slaves b", "slaves a"], &[(1, "twice")]);
        assert_doubts(&["slaves a", "slaves localhost"], &[(2, "localhost")]);
        assert_doubts(&["slaves a b"], &[(1, "host")]);
    }
}
