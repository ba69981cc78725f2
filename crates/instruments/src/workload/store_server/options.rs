//! How a managed store is set up: what an arm of a study may change.
//!
//! Nothing here is measured. What a kind of store cannot do it refuses, and never leaves out silently.

use std::path::PathBuf;

use model::params::parse_bytes;
use model::{Label, ParamKind, ParamSpec, Params, Part};

use crate::workload::container::Container;
use crate::workload::server::kind::ServerError;
use crate::workload::server::options::{INSIDE, container};

const AUTO: &str = "auto";
const NONE: &str = "none";
const MOST_THREADS: u64 = 128;
const MOST_REPLICAS: u64 = 16;
/// Bytes. memcached starts with less, and then has no room for large values beside small ones.
const LEAST_MEMORY: u64 = 16 << 20;
const MOST_MEMORY: u64 = 1 << 50;

/// The parameters of a managed store, for the card of what uses one. The kind is that card's own parameter.
pub const PARAMS: &[ParamSpec] = &[
    spec(
        "replicas",
        ParamKind::Int { min: 0, max: MOST_REPLICAS },
        "0",
        "processes that hold copies; redis and valkey only",
    ).label(Label::Count("replica", "replicas")),
    spec(
        "persistence",
        ParamKind::Choice(Persistence::WORDS),
        "off",
        "off, an append-only file synced each second or before each answer, or snapshots; redis and valkey only",
    ).label(Label::Form("persistence {}")),
    spec(
        "threads",
        ParamKind::Or(AUTO, &ParamKind::Int { min: 1, max: MOST_THREADS }),
        AUTO,
        "redis and valkey: io-threads, auto is 1; memcached: -t, auto is one for each CPU that it has",
    ).label(Label::Count("thread", "threads")),
    spec(
        "memory",
        ParamKind::Or(NONE, &ParamKind::Bytes { min: LEAST_MEMORY, max: MOST_MEMORY }),
        NONE,
        "limit of the data (maxmemory, -m); more is an error, never evicted; none is 1 GiB for memcached",
    ).label(Label::Form("{} of memory")),
    spec(
        "binary",
        ParamKind::Or(AUTO, &ParamKind::Path),
        AUTO,
        "path of the store's program; auto is the installed one",
    ).label(Label::Value),
    spec(
        "nice",
        ParamKind::Signed { min: -20, max: 19 },
        "0",
        "added to the store's niceness; below 0 needs root",
    ).label(Label::Form("nice {}")),
    spec("in", ParamKind::Text, "", INSIDE).label(Label::Form("in {}")),
];

const fn spec(name: &'static str, kind: ParamKind, default: &'static str, says: &'static str) -> ParamSpec {
    ParamSpec::new(name, kind, default, says).part(Part::Server)
}

model::words! {
    /// A kind of store.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    pub enum StoreKind as name {
        Redis = "redis",
        Valkey = "valkey",
        Memcached = "memcached",
    }
}

impl StoreKind {
    /// True for RESP; memcached has its own protocol.
    pub const fn speaks_resp(self) -> bool {
        !matches!(self, StoreKind::Memcached)
    }
}

model::words! {
    /// The data that is written to disk, and when.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub enum Persistence as name {
        /// Nothing.
        #[default]
        Off = "off",
        /// An append-only file, synced once a second.
        Everysec = "everysec",
        /// An append-only file, synced before each answer to a write.
        Always = "always",
        /// Snapshots after as many changes as the store's own default says.
        Rdb = "rdb",
    }
}

/// How a store is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub kind: StoreKind,
    /// How many processes hold copies of what the primary holds.
    pub replicas: u32,
    pub persistence: Persistence,
    /// The CPUs that the primary may use; empty is those of the thread that starts it.
    pub cpus: Vec<usize>,
    /// Those of the replicas; empty is those of the primary.
    pub replica_cpus: Vec<usize>,
    /// redis and valkey: io-threads, else 1. memcached: -t, else one for each CPU.
    pub threads: Option<u32>,
    /// Bytes of data; what does not fit is an error.
    pub memory: Option<u64>,
    /// How many connections it must be able to hold at once.
    pub connections: u32,
    /// The program, instead of the one that is installed.
    pub binary: Option<PathBuf>,
    /// Added to the niceness of all its processes; below 0 needs root.
    pub nice: i32,
    /// The ports that the primary tries, in order; empty is any free one.
    pub ports: Vec<u16>,
    /// The container that each of its processes runs in.
    pub inside: Option<Container>,
}

impl Options {
    /// A store of that kind without replicas and persistence.
    pub fn new(kind: StoreKind) -> Options {
        Options {
            kind,
            replicas: 0,
            persistence: Persistence::Off,
            cpus: Vec::new(),
            replica_cpus: Vec::new(),
            threads: None,
            memory: None,
            connections: 1024,
            binary: None,
            nice: 0,
            ports: Vec::new(),
            inside: None,
        }
    }

    /// Reads [`PARAMS`], with defaults for those not given. Fails when a value is malformed or impossible.
    pub fn from_params(kind: StoreKind, params: &Params) -> Result<Options, String> {
        let given = |name: &str| params.get(name).filter(|value| ![AUTO, NONE].contains(value));
        let bad = |name: &str, wanted: &str| {
            format!("{name}={} is not possible: {wanted}", params.get(name).unwrap_or_default())
        };
        fn number<T: std::str::FromStr>(text: Option<&str>) -> Result<Option<T>, ()> {
            text.map(|text| text.parse().map_err(|_| ())).transpose()
        }
        let usual = Options::new(kind);
        let persistence = given("persistence").map(|name| {
            Persistence::parse(name).ok_or_else(|| bad("persistence", &Persistence::WORDS.join(", ")))
        });
        let memory = given("memory")
            .map(|size| parse_bytes(size).ok_or_else(|| bad("memory", "a size such as 512M, or none")));
        let options = Options {
            replicas: number(given("replicas"))
                .map_err(|()| bad("replicas", "a whole number"))?
                .unwrap_or(usual.replicas),
            persistence: persistence.transpose()?.unwrap_or_default(),
            threads: number(given("threads")).map_err(|()| bad("threads", "a whole number or auto"))?,
            memory: memory.transpose()?,
            binary: given("binary").map(PathBuf::from),
            nice: number(given("nice")).map_err(|()| bad("nice", "from -20 to 19"))?.unwrap_or(usual.nice),
            inside: container(params)?,
            ..usual
        };
        options.check().map_err(|why| why.to_string())?;
        Ok(options)
    }

    /// Fails, with the reason, when there cannot be such a store.
    pub fn check(&self) -> Result<(), ServerError> {
        let within = |name: &str, value: u64, least: u64, most: u64| match (least..=most).contains(&value) {
            true => Ok(()),
            false => {
                let why = format!("{name}={value}: from {least} to {most} is possible");
                Err(ServerError::Refused(why))
            }
        };
        within("replicas", u64::from(self.replicas), 0, MOST_REPLICAS)?;
        within("threads", u64::from(self.threads.unwrap_or(1)), 1, MOST_THREADS)?;
        within("memory", self.memory.unwrap_or(LEAST_MEMORY), LEAST_MEMORY, MOST_MEMORY)?;
        within("connections", u64::from(self.connections), 1, 1_000_000)?;
        let refused = |why: String| Err(ServerError::Refused(why));
        if !(-20..=19).contains(&self.nice) {
            return refused(format!("nice={}: from -20 to 19 is possible", self.nice));
        }
        if let Some(container) = &self.inside {
            container.takes(None, self.nice).map_err(ServerError::Refused)?;
        }
        if self.ports.contains(&0) {
            return refused("port 0 is not a port; without one a free port is chosen".to_owned());
        }
        if self.kind == StoreKind::Memcached && self.replicas > 0 {
            return refused(format!("replicas={}: memcached has none", self.replicas));
        }
        if self.kind == StoreKind::Memcached && self.persistence != Persistence::Off {
            let name = self.persistence.name();
            return refused(format!("persistence={name}: memcached keeps nothing on disk"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_become_options() {
        let of = |kind, text: &str| Options::from_params(kind, &Params::parse(text).unwrap());
        let defaults: Vec<String> = PARAMS
            .iter()
            .filter(|spec| !spec.default.is_empty())
            .map(|spec| format!("{}={}", spec.name, spec.default))
            .collect();
        for kind in StoreKind::ALL {
            assert_eq!(of(kind, ""), Ok(Options::new(kind)));
            assert_eq!(of(kind, &defaults.join(";")), Ok(Options::new(kind)));
        }
        let all = "replicas=2;persistence=always;threads=4;memory=64M;binary=/x/redis;nice=-5";
        let wanted = Options {
            replicas: 2,
            persistence: Persistence::Always,
            threads: Some(4),
            memory: Some(64 << 20),
            binary: Some(PathBuf::from("/x/redis")),
            nice: -5,
            ..Options::new(StoreKind::Valkey)
        };
        assert_eq!(of(StoreKind::Valkey, all), Ok(wanted));
        for bad in ["replicas=17", "replicas=x", "persistence=yes", "threads=0", "memory=1M", "nice=20"] {
            let why = of(StoreKind::Redis, bad).unwrap_err();
            assert!(why.contains(bad.split('=').next().unwrap()) && why.contains("possible"), "{why}");
        }
        for bad in ["replicas=1", "persistence=rdb"] {
            let why = of(StoreKind::Memcached, bad).unwrap_err();
            assert!(why.contains(bad) && why.contains("memcached"), "{why}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for kind in StoreKind::ALL {
            assert_eq!(StoreKind::parse(kind.name()), Some(kind));
        }
        for name in Persistence::WORDS {
            assert_eq!(Persistence::parse(name).map(Persistence::name), Some(*name));
        }
        assert!(StoreKind::parse("etcd").is_none() && Persistence::parse("aof").is_none());
    }
}
