//! What a row is about, in people's words.
//!
//! Known instruments have a topic with a verb; any other one speaks for itself by its name.

use model::Better;
use model::doc::RowDoc;

use crate::traffic;

/// Rows of one topic are said in one clause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    Compute,
    MemoryRate,
    MemoryWait,
    DiskRate,
    DiskWait(&'static str),
    Work,
    /// Requests of one mix, out of access logs.
    Serving,
    /// `NAME` is higher or lower is better.
    Rate(String),
    Wait(String),
}

impl Topic {
    pub fn of(row: &RowDoc) -> Topic {
        let lower = row.better == Better::Lower;
        match row.instrument.as_str() {
            "mem-bandwidth" => Topic::MemoryRate,
            "mem-latency" | "mem-loaded" if lower => Topic::MemoryWait,
            "disk-fsync" if lower => Topic::DiskWait("fsync"),
            name if name.starts_with("disk-") && lower => Topic::DiskWait("the disk"),
            name if name.starts_with("disk-") => Topic::DiskRate,
            "cmd" if row.metric == "wall" => Topic::Work,
            traffic::INSTRUMENT if row.metric == traffic::SPEED => Topic::Serving,
            traffic::INSTRUMENT if row.metric == traffic::TIME => Topic::Wait("a request".to_owned()),
            "crc32c" | "rabin" | "mac" | "hash-table" | "recover-segment" | "compress" | "cipher"
            | "index" | "sort" => Topic::Compute,
            "scimark" if !lower => {
                Topic::Rate(format!("scimark in {}", row.params.get("lang").unwrap_or("every language")))
            }
            name if name.starts_with("kv-") && lower => Topic::Wait("requests to a store".to_owned()),
            _ if lower => Topic::Wait(wait(row)),
            _ => Topic::Rate(name(row)),
        }
    }

    /// The topics of some rows, each once, in their order of telling.
    pub fn of_all(rows: &[&RowDoc]) -> Vec<Topic> {
        let all: std::collections::BTreeSet<Topic> = rows.iter().map(|row| Topic::of(row)).collect();
        all.into_iter().collect()
    }

    /// What it is about: `computing`.
    pub fn noun(&self) -> String {
        match self {
            Topic::Compute => "computing".to_owned(),
            Topic::MemoryRate => "memory bandwidth".to_owned(),
            Topic::MemoryWait => "memory latency".to_owned(),
            Topic::DiskRate => "disk throughput".to_owned(),
            Topic::DiskWait(what) => format!("waiting for {what}"),
            Topic::Work => "the work".to_owned(),
            Topic::Serving => "serving the same requests".to_owned(),
            Topic::Rate(name) | Topic::Wait(name) => name.clone(),
        }
    }

    /// What the topic's clause says of a row: how long against the base, or else how fast.
    pub fn factor(&self, row: &RowDoc) -> Option<f64> {
        match self {
            Topic::MemoryWait | Topic::DiskWait(_) | Topic::Work | Topic::Wait(_) => row.ratio,
            Topic::Compute | Topic::MemoryRate | Topic::DiskRate | Topic::Serving | Topic::Rate(_) => {
                Topic::goodness(row)
            }
        }
    }

    /// How many times as good as the base.
    pub fn goodness(row: &RowDoc) -> Option<f64> {
        let ratio = row.ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0)?;
        Some(if row.better == Better::Lower { 1.0 / ratio } else { ratio })
    }
}

/// Which of an instrument's waits: `web (response time p99)`.
fn wait(row: &RowDoc) -> String {
    let (name, metric) = (name(row), row.metric.replace('-', " "));
    if name.ends_with(&metric) { name } else { format!("{name} ({metric})") }
}

/// A parameter's value as people write it.
fn spelled(value: &str) -> &str {
    match value {
        "aes-128-gcm" => "AES-128-GCM",
        "aes-256-gcm" => "AES-256-GCM",
        "chacha20-poly1305" => "ChaCha20",
        "sha-256" => "SHA-256",
        other => other,
    }
}

/// A short name of a row: the instrument, and what tells it from its like.
pub fn name(row: &RowDoc) -> String {
    let tells =
        ["test", "kind", "codec", "algorithm", "kernel", "lang", "op", "mode", "impl", "size", "depth"];
    let mut words: Vec<&str> = vec![match row.instrument.as_str() {
        "mem-bandwidth" => "memory",
        "mem-latency" => "memory latency",
        "index" => "",
        "scimark" if row.params.get("kernel").is_some() => "",
        "disk-read" => "disk read",
        "disk-seq" => "disk sequential",
        "disk-fsync" => "disk fsync",
        "hash-table" => "hash table",
        "recover-segment" => "recover segment",
        other => other,
    }];
    let usual = |key: &str| matches!(row.instrument.as_str(), "cipher" | "scimark") && key == "size";
    let telling = tells.iter().filter(|key| !usual(key)).filter_map(|key| row.params.get(key));
    words.extend(telling.filter(|value| *value != "auto").map(spelled));
    if row.instrument == "cmd" {
        words.push(&row.metric);
    }
    let threads = match row.params.get("threads") {
        None | Some("1") => String::new(),
        Some("all") => "on all CPUs".to_owned(),
        Some(number) => format!("on {number} CPUs"),
    };
    words.push(&threads);
    let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    if name.is_empty() { row.metric.clone() } else { name }
}
