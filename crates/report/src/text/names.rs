//! People's names of figures, their order on a page, and how their numbers are scaled.
//!
//! One place for every output. A figure that is not listed is called `instrument metric k=v`. Names carry no value.

pub mod web;

use std::collections::BTreeMap;

use model::Params;
use model::metric::Better;
use model::unit::Unit;

use crate::number::Kind;

/// What identifies a figure for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key<'a> {
    pub instrument: &'a str,
    pub metric: &'a str,
    pub params: &'a Params,
}

/// How an instrument is called and which of its parameters belong to the name.
struct Name {
    instrument: &'static str,
    says: &'static str,
    /// Parameters whose values belong to the name; a value after `=` is the usual one, and is not said.
    tells: &'static [&'static str],
    /// The metric that the name stands for; others are added to it.
    metric: &'static str,
    /// What is counted, for rates.
    item: &'static str,
    binary: bool,
    family: &'static str,
}

const fn name(
    family: &'static str,
    instrument: &'static str,
    says: &'static str,
    metric: &'static str,
    tells: &'static [&'static str],
) -> Name {
    Name { instrument, says, tells, metric, item: "", binary: false, family }
}

const fn counts(item: &'static str, of: Name) -> Name {
    Name { item, ..of }
}

const fn binary(of: Name) -> Name {
    Name { binary: true, ..of }
}

const KV: &[&str] =
    &["kv", "replicas=0", "persistence=off", "mode=block", "size=100", "k", "objects=200000", "op"];
const KV_BASIC: &[&str] = &["kv", "replicas=0", "persistence=off", "mode=block", "definition=era3"];

const SCIMARK: &[&str] =
    &["kernel", "size=small", "lang", "jvm=hotspot", "cc=gcc -O2", "bits", "copies=1", "seconds=0.3"];
const WARM_UP: &[&str] = &["kernel", "lang", "jvm=hotspot"];

/// In the order of a page.
static NAMES: &[Name] = &[
    counts("op", name("cpu", "index", "", "rate", &["kind", "part"])),
    name("cpu", "compress", "compress", "compress", &["codec", "level=3"]),
    name("cpu", "cipher", "cipher", "throughput", &["algorithm", "size=16KiB"]),
    binary(name("cpu", "crc32c", "crc32c", "throughput", &["size", "impl"])),
    binary(name("cpu", "rabin", "rabin", "throughput", &["size"])),
    binary(name("cpu", "mac", "mac", "throughput", &["size", "digest=64=both"])),
    counts("op", name("cpu", "hash-table", "hash table", "", &["buckets=128MiB", "load=0.5"])),
    name("cpu", "recover-segment", "recover segment", "time", &["object=64", "segments=20", "segment=8MiB"]),
    name(
        "memory",
        "mem-bandwidth",
        "memory",
        "bandwidth",
        &["op", "counting=bw_mem", "store=temporal", "pages=default", "node=any", "cpus=auto"],
    ),
    name(
        "memory",
        "mem-latency",
        "memory latency",
        "latency",
        &["level=memory=any", "size=auto", "mode=random", "pages=default", "node=any", "cpus=auto"],
    ),
    name("memory", "mem-loaded", "loaded latency", "latency", &["pause"]),
    name("disk", "disk-read", "disk read", "iops", &["block", "qd=1", "pattern=random"]),
    name("disk", "disk-seq", "disk sequential", "bandwidth", &["op", "block=1MiB"]),
    name("disk", "disk-fsync", "disk fsync", "latency", &["sync=fdatasync"]),
    name("net", "net-rtt", "net", "", &["proto", "size", "mode=spin", "to=loopback"]),
    name("net", "net-ping", "net ping", "", &["size=56", "to=loopback"]),
    name("net", "net-bandwidth", "net", "", &["direction", "streams=1", "size=128KiB", "to=loopback"]),
    counts("connection", name("net", "net-connect", "net", "", &["to=loopback"])),
    counts("packet", name("net", "net-packets", "net", "", &["size", "to=loopback"])),
    name("kv", "kv-basic", "", "", KV_BASIC),
    name("kv", "kv-miss", "", "", KV),
    name("kv", "kv-dist", "", "", KV),
    name("kv", "kv-dist-random", "", "", KV),
    name("kv", "kv-loaded", "", "", KV),
    counts("request", name("kv", "kv-throughput", "", "", KV)),
    name("kv", "kv-multi-read", "", "", KV),
    name("kv", "kv-bandwidth", "", "", KV),
    name("kv", "kv-split", "", "", KV),
    name("web", "web", "web", "throughput", &[]),
    name("web", "web-slo", "web", "slo-throughput", &[]),
    name("kv", "kv-load", "kv load", "throughput", &[]),
    name("kv", "kv-slo", "kv load", "slo-throughput", &[]),
    counts("flop", name("runtime", "scimark", "", "flops", SCIMARK)),
    name("runtime", "scimark-warmup", "warm-up", "", WARM_UP),
    name("machine", "clock", "clock", "", &[]),
    name("machine", "jitter", "jitter", "", &[]),
    name("machine", "timer", "timer", "", &[]),
    name("user", "cmd", "command", "", &["metric"]),
];

fn find(instrument: &str) -> Option<&'static Name> {
    NAMES.iter().find(|name| name.instrument == instrument)
}

/// Whether the instrument has a name of its own here.
#[must_use]
pub fn is_known(instrument: &str) -> bool {
    find(instrument).is_some()
}

/// Parts of a figure that is shown itself.
#[must_use]
pub fn is_detail(instrument: &str, metric: &str) -> bool {
    instrument == "index" && metric == "part-rate"
}

/// Order among the figures of one instrument: what it does, then the size, then threads.
#[must_use]
pub fn order(key: Key<'_>) -> (usize, usize, u64, u64, String) {
    if web::is_web(key.instrument) {
        let (what, load, connections, generators) = web::order(key);
        let rest = format!("{generators:08} {}", key.params);
        return (rank(key.instrument), what, load, connections, rest);
    }
    if let Some(store) = key.params.get("kv") {
        // The usual definition first, then store by store.
        let era = usize::from(key.params.get("definition").is_some_and(|era| era != "era3"));
        let replicas = key.params.get("replicas").and_then(|count| count.parse().ok()).unwrap_or(0);
        let store = ["redis", "valkey"].iter().position(|name| *name == store).unwrap_or(2) as u64;
        let k = key.params.get("k").or(key.params.get("objects")).and_then(|count| count.parse().ok());
        let rest = format!("{:08} {}", k.unwrap_or(0_u64), key.params);
        return (rank(key.instrument), era, store, replicas, rest);
    }
    const WORDS: [&str; 26] = [
        "integer",
        "floating",
        "memory",
        "read",
        "write",
        "rdwr",
        "fread",
        "fwrite",
        "copy",
        "fcopy",
        "scale",
        "add",
        "triad",
        "zero",
        "L1",
        "L2",
        "L3",
        "any",
        "worst",
        "best",
        "fft",
        "sor",
        "monte-carlo",
        "sparse",
        "lu",
        "composite",
    ];
    let word = |name: &str| {
        let place = |value: &str| {
            if key.instrument == "mem-latency" && value == "memory" {
                return 16;
            }
            WORDS.iter().position(|word| *word == value).unwrap_or(WORDS.len())
        };
        key.params.get(name).map(place)
    };
    let what = ["kernel", "kind", "op", "level", "size"].into_iter().find_map(word).unwrap_or(0);
    let size = ["size", "object", "block"].iter().find_map(|name| key.params.get(name));
    let size = size.and_then(model::params::parse_bytes).unwrap_or(u64::MAX);
    let threads = match key.params.get("threads") {
        None => 0,
        Some(text) => text.parse().unwrap_or(u64::MAX),
    };
    (rank(key.instrument), what, size, threads, key.params.to_string())
}

/// Where a figure stands on a page: families together, known ones first.
#[must_use]
pub fn rank(instrument: &str) -> usize {
    NAMES.iter().position(|name| name.instrument == instrument).unwrap_or(NAMES.len())
}

/// What people call the instrument itself: `disk fsync`.
#[must_use]
pub fn says(instrument: &str) -> Option<&'static str> {
    find(instrument).map(|name| name.says).filter(|says| !says.is_empty())
}

/// Topic of an instrument: `cpu`, `memory`, `disk`, `net`, `kv`, `web`, `runtime`, `machine`, `user`, else `other`.
#[must_use]
pub fn family(instrument: &str) -> &'static str {
    find(instrument).map_or("other", |name| name.family)
}

/// How a figure's numbers are scaled.
#[must_use]
pub fn kind(instrument: &str, unit: Unit) -> Kind {
    let kind = Kind::of(unit);
    match find(instrument) {
        Some(name) if name.binary && unit == Unit::BytesPerSec => kind.binary(),
        Some(name) if unit == Unit::PerSec => kind.item(name.item),
        _ => kind,
    }
}

/// A parameter's value as people write it.
fn spelled(value: &str) -> String {
    let known = [
        ("aes-128-gcm", "AES-128-GCM"),
        ("aes-256-gcm", "AES-256-GCM"),
        ("chacha20-poly1305", "ChaCha20"),
        ("sha-256", "SHA-256"),
    ];
    if let Some((_, good)) = known.iter().find(|(ours, _)| *ours == value) {
        return (*good).to_owned();
    }
    // 4KiB -> 4 KiB
    let digits = value.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    match (value.get(..value.len() - digits), value.get(value.len() - digits..)) {
        (Some(number), Some(unit @ ("KiB" | "MiB" | "GiB"))) if !number.is_empty() => {
            format!("{number} {unit}")
        }
        _ => value.to_owned(),
    }
}

/// One parameter in a name.
fn told(key: &str, value: &str) -> String {
    match key {
        "url" | "method" | "arrivals" => value.to_owned(),
        "connections" if value == "1" => "1 connection".to_owned(),
        "connections" => format!("{value} connections"),
        "rate" => format!("{value}/s"),
        "threads" if value == "1" => "1 thread".to_owned(),
        "threads" => format!("{value} threads"),
        "kv" | "definition" => value.to_owned(),
        "replicas" if value == "1" => "1 replica".to_owned(),
        "replicas" => format!("{value} replicas"),
        "k" if value == "1" => "1 client".to_owned(),
        "k" => format!("{value} clients"),
        "objects" => format!("{value} objects"),
        "copies" => format!("{value} copies"),
        "bits" => format!("{value} bit"),
        "streams" if value == "1" => "1 stream".to_owned(),
        "streams" => format!("{value} streams"),
        "to" => format!("to {value}"),
        "dimms" => value.to_owned(),
        "qd" => format!("depth {value}"),
        "level" if value == "any" => String::new(),
        "level" if value.bytes().all(|b| b.is_ascii_digit()) => format!("level {value}"),
        "size" | "range" if value.bytes().all(|b| b.is_ascii_digit()) => format!("{value} B"),
        "op" | "kind" | "size" | "impl" | "mode" | "level" | "codec" | "algorithm" | "block" | "metric"
        | "part" | "counting" | "store" | "proto" | "direction" | "kernel" | "lang" | "jvm" | "cc"
        | "rustc" => spelled(value),
        _ => format!("{key}={value}"),
    }
}

/// The name of one figure, without regard to its neighbours.
#[must_use]
pub fn label(key: Key<'_>) -> String {
    if web::is_web(key.instrument) {
        return web::label(key, &[]);
    }
    let Some(name) = find(key.instrument) else {
        let params = key.params.to_string().replace(';', " ");
        let metric = match (key.instrument, key.metric) {
            ("logs", "ratio_of_totals") => "speed of totals",
            ("logs", "mean_of_ratios") => "mean speed",
            (_, metric) => metric,
        };
        return format!("{} {metric} {params}", key.instrument).trim_end().to_owned();
    };
    let mut words = vec![name.says.to_owned()];
    for tell in name.tells {
        let mut parts = tell.split('=');
        let param = parts.next().unwrap_or("");
        if let Some(value) = key.params.get(param).filter(|value| parts.all(|usual| usual != *value)) {
            words.push(told(param, value));
        }
    }
    match (name.instrument, key.metric) {
        ("compress", "decompress") => "decompress".clone_into(&mut words[0]),
        (_, metric) if metric == name.metric => {}
        (_, metric) => words.push(metric.to_owned()),
    }
    words.retain(|word| !word.is_empty());
    if words.is_empty() { key.instrument.to_owned() } else { words.join(" ") }
}

/// The names of several figures, told apart: what differs between two of the same name is added.
#[must_use]
pub fn labels(keys: &[Key<'_>]) -> Vec<String> {
    let loads = web::differing(keys);
    let name =
        |key: &Key<'_>| if web::is_web(key.instrument) { web::label(*key, &loads) } else { label(*key) };
    let mut out: Vec<String> = keys.iter().map(name).collect();
    let mut same: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (index, label) in out.iter().enumerate() {
        same.entry(label.clone()).or_default().push(index);
    }
    for group in same.values().filter(|group| group.len() > 1) {
        let metric_differs = group.iter().any(|i| keys[*i].metric != keys[group[0]].metric);
        let mut names: Vec<&str> =
            group.iter().flat_map(|i| keys[*i].params.0.keys().map(String::as_str)).collect();
        names.sort_unstable();
        names.dedup();
        names.retain(|name| {
            group.iter().any(|i| keys[*i].params.get(name) != keys[group[0]].params.get(name))
        });
        for index in group {
            if metric_differs && !out[*index].ends_with(keys[*index].metric) {
                out[*index].push_str(&format!(" {}", keys[*index].metric));
            }
            for name in names
                .iter()
                .filter(|name| **name != "dimms")
                .chain(names.iter().filter(|name| **name == "dimms"))
            {
                if let Some(value) = keys[*index].params.get(name) {
                    let comma = if *name == "dimms" { "," } else { "" };
                    out[*index].push_str(&format!("{comma} {}", told(name, value)));
                }
            }
        }
    }
    out
}

/// Short codes of the figures that `show --line` names: code, instrument, metric, what defines it, unit, direction.
pub struct Code {
    pub code: &'static str,
    pub instrument: &'static str,
    pub metric: &'static str,
    pub params: &'static str,
    pub unit: Unit,
    pub better: Better,
}

const fn code(
    code: &'static str,
    instrument: &'static str,
    metric: &'static str,
    params: &'static str,
    unit: Unit,
    better: Better,
) -> Code {
    Code { code, instrument, metric, params, unit, better }
}

/// A code stands for a headline figure whose other parameters are the usual ones.
pub static CODES: &[Code] = &[
    code("int", "index", "rate", "kind=integer;threads=1", Unit::PerSec, Better::Higher),
    code("fp", "index", "rate", "kind=floating;threads=1", Unit::PerSec, Better::Higher),
    code("mem", "index", "rate", "kind=memory;threads=1", Unit::PerSec, Better::Higher),
    code("zstd", "compress", "compress", "codec=zstd;level=3;threads=1", Unit::BytesPerSec, Better::Higher),
    code(
        "aes",
        "cipher",
        "throughput",
        "algorithm=aes-128-gcm;size=16KiB;threads=1",
        Unit::BytesPerSec,
        Better::Higher,
    ),
    code(
        "rd",
        "mem-bandwidth",
        "bandwidth",
        "counting=bw_mem;op=read;threads=1",
        Unit::BytesPerSec,
        Better::Higher,
    ),
    code("lat", "mem-latency", "latency", "level=memory;mode=random", Unit::Second, Better::Lower),
    code("iops", "disk-read", "iops", "block=4KiB;pattern=random;qd=1", Unit::PerSec, Better::Higher),
    code("fsync", "disk-fsync", "latency", "block=4KiB;sync=fdatasync", Unit::Second, Better::Lower),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> Params {
        Params::parse(text).expect("pairs")
    }

    fn named(instrument: &str, metric: &str, text: &str) -> String {
        label(Key { instrument, metric, params: &params(text) })
    }

    #[test]
    fn people_recognise_the_headlines() {
        assert_eq!(named("index", "rate", "kind=integer;threads=1"), "integer");
        assert_eq!(named("cipher", "throughput", "algorithm=aes-128-gcm;size=16KiB"), "cipher AES-128-GCM");
        assert_eq!(named("mem-bandwidth", "bandwidth", "counting=bw_mem;cpus=auto;op=read"), "memory read");
        assert_eq!(named("mem-latency", "latency", "level=memory;mode=random;size=auto"), "memory latency");
        assert_eq!(
            named("mem-latency", "latency", "level=any;mode=stride;size=4KiB"),
            "memory latency 4 KiB stride"
        );
        assert_eq!(named("crc32c", "throughput", "impl=chain;size=7"), "crc32c 7 B chain");
        assert_eq!(named("unheard", "throughput", "size=43;url=gif"), "unheard throughput size=43 url=gif");
    }

    #[test]
    fn figures_of_one_name_are_told_apart() {
        let (one, all) = (params("kind=integer;threads=1"), params("kind=integer;threads=all"));
        let key = |params| Key { instrument: "index", metric: "rate", params };
        assert_eq!(labels(&[key(&one), key(&all)]), ["integer 1 thread", "integer all threads"]);
        let empty = Params::default();
        let key = |metric| Key { instrument: "disk-read", metric, params: &empty };
        assert_eq!(labels(&[key("iops"), key("latency")]), ["disk read", "disk read latency"]);
        let key = |metric| Key { instrument: "compress", metric, params: &empty };
        assert_eq!(labels(&[key("compress"), key("decompress")]), ["compress", "decompress"]);
    }

    #[test]
    fn codes_are_unique_and_well_formed() {
        for (index, entry) in CODES.iter().enumerate() {
            assert!(CODES[..index].iter().all(|other| other.code != entry.code), "{}", entry.code);
            assert!(
                Params::parse(entry.params).is_ok() && entry.code.bytes().all(|b| b.is_ascii_lowercase())
            );
        }
    }
}
