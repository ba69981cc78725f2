//! The names of earlier versions of Hadoop, and those of Hadoop 3.
//!
//! `told.tsv` has what guides speak of, in the order in which it is shown. `renamed.tsv` are the pairs that Hadoop 3
//! itself knows, as its `JobConf`, `HdfsConfiguration` and `YarnConfiguration` list them when they are started.
//! `today.txt` are the names of its `*-default.xml` and of its classes of keys, below the file that they belong to.

pub mod config;
pub mod doubts;
pub mod folder;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use model::doc::{HadoopFate, HadoopKind, HadoopNameDoc};

const TOLD: &str = include_str!("told.tsv");
const RENAMED: &str = include_str!("renamed.tsv");
const TODAY: &str = include_str!("today.txt");

/// Lists in the cells of a table.
const BETWEEN: &str = ", ";
/// A near name has as many characters as the typed one, or so many more or fewer.
const NEAR: usize = 4;

/// Properties with names of the user's in theirs, and those of a scheduler, begin with one of these.
const PATTERNS: [&str; 4] = [
    "yarn.scheduler.capacity.",
    "yarn.scheduler.fair.",
    "yarn.nodemanager.health-checker.script.",
    "hadoop.proxyuser.",
];

/// Properties of programs that are gone begin with one of these.
const TRACKERS: [&str; 6] = [
    "mapreduce.jobtracker.",
    "mapreduce.tasktracker.",
    "mapred.jobtracker.",
    "mapred.tasktracker.",
    "mapred.job.tracker.",
    "mapred.task.tracker.",
];

struct Names {
    told: Vec<HadoopNameDoc>,
    /// Properties by their old names.
    renamed: BTreeMap<&'static str, &'static str>,
    /// Files by the properties of today.
    today: BTreeMap<&'static str, &'static str>,
}

fn names() -> &'static Names {
    static NAMES: OnceLock<Names> = OnceLock::new();
    NAMES.get_or_init(|| Names {
        told: TOLD.lines().filter_map(row).collect(),
        renamed: RENAMED.lines().filter_map(|line| line.split_once('\t')).collect(),
        today: by_file(TODAY).collect(),
    })
}

/// Names with the file that stands above them, which a colon ends.
fn by_file(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut file = "";
    text.lines().filter_map(move |line| match line.strip_suffix(':') {
        Some(head) => {
            file = head;
            None
        }
        None => Some((line, file)),
    })
}

/// A line of kind, name, fate, names of today, places and remark.
fn row(line: &str) -> Option<HadoopNameDoc> {
    let cells: Vec<&str> = line.split('\t').collect();
    let [kind, name, fate, today, place, why] = cells.as_slice() else { return None };
    let list = |cell: &str| cell.split(BETWEEN).filter(|one| !one.is_empty()).map(str::to_owned).collect();
    Some(HadoopNameDoc {
        name: (*name).to_owned(),
        kind: HadoopKind::parse(kind)?,
        fate: HadoopFate::parse(fate)?,
        today: list(today),
        place: list(place),
        why: (!why.is_empty()).then(|| (*why).to_owned()),
    })
}

/// The names that guides speak of, by kind.
pub fn guides() -> &'static [HadoopNameDoc] {
    &names().told
}

/// Those, and every property that Hadoop 3 has renamed.
pub fn all() -> Vec<HadoopNameDoc> {
    let own = guides().iter().cloned();
    let is_told = |name: &str| guides().iter().any(|one| one.name == name);
    let more = names().renamed.keys().filter(|name| !is_told(name)).filter_map(|name| property(name));
    own.chain(more).collect()
}

/// A name as people type it: a property, a file with or without its folder, a command with its arguments, a port in an
/// address; of a program, a file or a port of today, the old one that it stands for. `None` for one that no version
/// has.
pub fn find(typed: &str) -> Option<HadoopNameDoc> {
    let typed = typed.split_whitespace().collect::<Vec<_>>().join(" ");
    let by_name = |name: &str| told(|one| one.name.eq_ignore_ascii_case(name));
    let bare = typed.rsplit('/').next().unwrap_or_default();
    let numbers = || typed.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let port = |digits: &str| told(|one| one.kind == HadoopKind::Port && one.name == digits);
    let ends = ["", ".sh", ".xml"];
    let with_end = |name: &str| ends.iter().find_map(|end| by_name(&format!("{name}{end}")));
    with_end(&typed)
        .or_else(|| property(&typed))
        .or_else(|| with_end(&without_version(bare)))
        .or_else(|| command(&typed))
        .or_else(|| numbers().find_map(port))
        .or_else(|| told(|one| is_now(one, &typed) || is_now(one, bare)))
        .or_else(|| {
            numbers().find_map(|digits| told(|one| one.kind == HadoopKind::Port && is_now(one, digits)))
        })
}

/// True if what an old name stood for has this name today.
fn is_now(one: &HadoopNameDoc, name: &str) -> bool {
    one.kind != HadoopKind::Property && one.today.iter().any(|today| today.eq_ignore_ascii_case(name))
}

/// The longest command that these words begin with, whatever its folder.
fn command(typed: &str) -> Option<HadoopNameDoc> {
    let mut words: Vec<&str> = typed.split(' ').collect();
    if let Some(first) = words.first_mut() {
        *first = first.rsplit('/').next().unwrap_or_default();
    }
    let begins = |one: &&HadoopNameDoc| {
        let own: Vec<&str> = one.name.split(' ').collect();
        one.kind == HadoopKind::Command && words.starts_with(&own)
    };
    let found = guides().iter().filter(begins).max_by_key(|one| one.name.len());
    // `hadoop fs -rmr` is one of `fs -rmr`.
    let rest = words.get(1..).unwrap_or_default();
    let inner = guides().iter().find(|one| {
        let own: Vec<&str> = one.name.split(' ').collect();
        own.first() == Some(&"fs")
            && rest.get(1..2) == own.get(1..2)
            && matches!(rest.first(), Some(&("fs" | "dfs")))
    });
    inner.or(found).cloned()
}

/// `hadoop-examples.jar` of `hadoop-examples-1.0.4.jar` and of `hadoop-0.20.2-examples.jar`.
fn without_version(name: &str) -> String {
    let is_version = |part: &&str| part.starts_with(|c: char| c.is_ascii_digit());
    let Some(stem) = name.strip_suffix(".jar") else { return name.to_owned() };
    let parts: Vec<&str> = stem.split('-').filter(|part| !is_version(part)).collect();
    format!("{}.jar", parts.join("-"))
}

fn told(is_it: impl Fn(&HadoopNameDoc) -> bool) -> Option<HadoopNameDoc> {
    guides().iter().find(|one| is_it(one)).cloned()
}

/// A property: told, renamed by Hadoop itself, or of today.
pub fn property(name: &str) -> Option<HadoopNameDoc> {
    if let Some(one) = told(|one| one.kind == HadoopKind::Property && one.name == name) {
        return Some(one);
    }
    let new = names().renamed.get(name).copied();
    let of_job_tracker = |new: &str| TRACKERS.iter().any(|head| new.starts_with(head));
    let (fate, today, why) = match new {
        Some(new) if of_job_tracker(new) && !names().today.contains_key(new) => {
            (HadoopFate::Gone, Vec::new(), Some("there is no JobTracker and no TaskTracker".to_owned()))
        }
        Some(new) => (HadoopFate::Renamed, vec![new.to_owned()], None),
        None if of_job_tracker(name) && !names().today.contains_key(name) => {
            (HadoopFate::Gone, Vec::new(), Some("there is no JobTracker and no TaskTracker".to_owned()))
        }
        None => (is_today(name).then_some(HadoopFate::Same)?, Vec::new(), None),
    };
    let place = match fate {
        HadoopFate::Gone => Vec::new(),
        _ => vec![file_of(new.unwrap_or(name)).to_owned()],
    };
    Some(HadoopNameDoc { name: name.to_owned(), kind: HadoopKind::Property, fate, today, place, why })
}

/// True for a property of today; one of several NameNodes has their names behind it.
fn is_today(name: &str) -> bool {
    let parts = name.match_indices('.').map(|(at, _)| at).chain([name.len()]);
    parts.filter_map(|at| name.get(..at)).any(|head| names().today.contains_key(head))
        || PATTERNS.iter().any(|head| name.starts_with(head))
}

/// The file of a site to which a property of today belongs.
fn file_of(name: &str) -> &'static str {
    if let Some(file) = names().today.get(name) {
        return file;
    }
    let by_start = [
        ("yarn.scheduler.capacity.", "capacity-scheduler.xml"),
        ("yarn.app.mapreduce.", "mapred-site.xml"),
        ("yarn.", "yarn-site.xml"),
        ("dfs.", "hdfs-site.xml"),
        ("mapreduce.", "mapred-site.xml"),
        ("mapred.", "mapred-site.xml"),
    ];
    by_start.iter().find(|(start, _)| name.starts_with(start)).map_or("core-site.xml", |(_, file)| file)
}

/// The known name that is nearest to a mistyped one.
pub fn near(typed: &str) -> Option<&'static str> {
    let names = names();
    let told = names.told.iter().map(|one| one.name.as_str());
    let known = told.chain(names.renamed.keys().copied()).chain(names.today.keys().copied());
    let length = typed.chars().count();
    let alike = |name: &&str| {
        let same = name.as_bytes().iter().zip(typed.as_bytes()).take(2);
        name.chars().count().abs_diff(length) <= NEAR
            && same.filter(|(a, b)| a.eq_ignore_ascii_case(b)).count() > 0
    };
    model::nearest::nearest(typed, known.filter(alike))
}

/// A property that no version has, and the known one that it may be meant to be.
fn unknown(name: &str, near: Option<&str>) -> HadoopNameDoc {
    let why = match near {
        Some(near) => format!("Hadoop has no such setting; {near} is near"),
        None => "Hadoop itself has no such setting".to_owned(),
    };
    HadoopNameDoc {
        name: name.to_owned(),
        kind: HadoopKind::Property,
        fate: HadoopFate::Unknown,
        today: Vec::new(),
        place: Vec::new(),
        why: Some(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_is_read() {
        assert_eq!(guides().len(), TOLD.lines().count());
        assert_eq!(names().renamed.len(), RENAMED.lines().count());
        assert_eq!(names().today.len(), TODAY.lines().filter(|line| !line.ends_with(':')).count());
        assert!(names().today.len() > 2000 && names().renamed.len() > 200);
        for one in guides() {
            let is_known = matches!(one.fate, HadoopFate::Same | HadoopFate::Gone);
            assert_eq!(one.today.is_empty(), is_known, "{one:?}");
            assert!(one.place.len() <= 1 || one.place.len() == one.today.len(), "{one:?}");
        }
    }

    #[test]
    fn what_is_told_of_properties_is_true_of_hadoop_3() {
        for one in guides().iter().filter(|one| one.kind == HadoopKind::Property) {
            for (at, new) in one.today.iter().enumerate() {
                assert!(is_today(new), "{}: {new} is no property of today", one.name);
                let place = one.place.get(at).or(one.place.first()).map(String::as_str);
                assert_eq!(place, Some(file_of(new)), "{}: {new}", one.name);
            }
            let still = names().renamed.get(one.name.as_str());
            match one.fate {
                HadoopFate::Same => assert!(is_today(&one.name), "{}", one.name),
                HadoopFate::Renamed => {
                    let known = still.is_some_and(|new| one.today.iter().any(|own| own == new));
                    // Of these Hadoop's own list says nothing; they are read all the same.
                    let is_read = ["mapred.child.java.opts", "mapred.child.env", "dfs.web.ugi"];
                    assert!(known || is_read.contains(&one.name.as_str()), "{}", one.name);
                }
                HadoopFate::Gone => assert!(!names().today.contains_key(one.name.as_str()), "{}", one.name),
                HadoopFate::Replaced | HadoopFate::Unknown => {}
            }
        }
    }

    #[test]
    fn names_are_found_as_people_type_them() {
        for (typed, name, fate) in [
            ("fs.default.name", "fs.default.name", HadoopFate::Renamed),
            ("jobtracker", "JobTracker", HadoopFate::Replaced),
            ("conf/masters", "masters", HadoopFate::Replaced),
            ("bin/start-all.sh", "start-all.sh", HadoopFate::Same),
            ("start-mapred", "start-mapred.sh", HadoopFate::Replaced),
            ("hadoop-site", "hadoop-site.xml", HadoopFate::Renamed),
            ("http://master:50070/dfshealth.jsp", "50070", HadoopFate::Replaced),
            ("port 50030", "50030", HadoopFate::Replaced),
            ("hadoop  job -list", "hadoop job", HadoopFate::Renamed),
            ("bin/hadoop dfs -ls /", "hadoop dfs", HadoopFate::Renamed),
            ("hadoop fs -rmr /out", "fs -rmr", HadoopFate::Renamed),
            ("hadoop-examples-1.0.4.jar", "hadoop-examples.jar", HadoopFate::Replaced),
            ("hadoop-0.20.2-examples.jar", "hadoop-examples.jar", HadoopFate::Replaced),
            ("HADOOP_HEAPSIZE", "HADOOP_HEAPSIZE", HadoopFate::Renamed),
            ("mapred.jobinit.threads", "mapred.jobinit.threads", HadoopFate::Gone),
            ("mapred.job.tracker.retire.jobs", "mapred.job.tracker.retire.jobs", HadoopFate::Gone),
            ("mapred.task.timeout", "mapred.task.timeout", HadoopFate::Renamed),
            ("ResourceManager", "JobTracker", HadoopFate::Replaced),
            ("etc/hadoop/workers", "slaves", HadoopFate::Renamed),
            ("yarn-site.xml", "hadoop-site.xml", HadoopFate::Renamed),
            ("http://master:9870/", "50070", HadoopFate::Replaced),
            ("dfs.replication", "dfs.replication", HadoopFate::Same),
            ("dfs.namenode.rpc-address.mine.nn1", "dfs.namenode.rpc-address.mine.nn1", HadoopFate::Same),
        ] {
            let found = find(typed).unwrap_or_else(|| panic!("{typed} is not found"));
            assert_eq!((found.name.as_str(), found.fate), (name, fate), "{typed}");
        }
        for typed in ["", "x", "my.own.setting", "http://master:1/", "hadoop frobnicate"] {
            assert_eq!(find(typed), None, "{typed}");
        }
    }

    #[test]
    fn a_mistyped_name_is_told_the_one_that_is_near() {
        assert_eq!(near("fs.defualt.name"), Some("fs.default.name"));
        assert_eq!(near("JobTraker"), Some("JobTracker"));
        assert_eq!(near("dfs.replicaton"), Some("dfs.replication"));
        assert_eq!(near("com.example.application.setting"), None);
    }
}
