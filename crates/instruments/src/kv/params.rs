//! What tests of key-value stores can be told, and how it is read from a setup.

use std::time::Duration;

use model::params::parse_bytes;
use model::{By, Label, ParamKind, ParamSpec, Setup, Shown, Size, Tell, Topic, Unfit};

use crate::net::frame::Wait;

pub const KV: ParamSpec = ParamSpec::new(
    "kv",
    ParamKind::Text,
    "redis",
    "the store: redis, valkey, memcached or ramcloud, started here for the test, or HOST:PORT of one that runs",
).first(&["redis", "valkey"]).label(Label::Value);
pub const REPLICAS: ParamSpec = ParamSpec::new(
    "replicas",
    ParamKind::Int { min: 0, max: 8 },
    "0",
    "replicas that have each write before it counts as done: SET and WAIT in one piece, an option of the start of \
           RAMCloud's servers; memcached has none",
).label(Label::Count("replica", "replicas"));
pub const PERSISTENCE: ParamSpec = ParamSpec::new(
    "persistence",
    ParamKind::Choice(&["off", "everysec", "always", "rdb"]),
    "off",
    "what a store that is started here keeps on disk: nothing, its log synced each second or each write, snapshots",
);
pub const MODE: ParamSpec = ParamSpec::new(
    "mode",
    ParamKind::Choice(&["block", "spin"]),
    "block",
    "how a client waits: asleep, or asking again and again",
)
.label(Label::Value);
pub const DEFINITION: ParamSpec = ParamSpec::new(
    "definition",
    ParamKind::Choice(&["era1", "era2", "era3"]),
    "era3",
    "which basic: means of one hot object (2011 to July 2014), each request of it (to September 2014), or \
           random objects (since)",
)
.first(&["era3"])
.label(Label::Value);
pub const SIZES: ParamSpec = ParamSpec::new(
    "sizes",
    ParamKind::Choice(&["all", "100", "1K", "10K", "100K", "1M"]),
    "all",
    "bytes of an object; K is 1000 in era1 and era2, 1024 in era3",
);
pub const SIZE: ParamSpec =
    ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 32 << 20 }, "100", "bytes of an object's value")
        .label(Label::Bytes);
pub const FILL: ParamSpec = ParamSpec::new(
    "fill",
    ParamKind::Int { min: 1, max: 10_000 },
    "20",
    "MB (10^6 B) of objects of each size that era3 draws from; clusterperf has 200",
);
pub const COUNT: ParamSpec = ParamSpec::new(
    "count",
    ParamKind::Int { min: 10, max: 10_000_000 },
    "10000",
    "requests of a figure in one take, at most; clusterperf has 100000 in its only take",
);
/// How long one figure may take; what clusterperf has differs by test.
#[must_use]
pub const fn limit(default: &'static str, says: &'static str) -> ParamSpec {
    ParamSpec::new("limit", ParamKind::Seconds { max: 60 }, default, says)
}
pub const CLIENTS: ParamSpec = ParamSpec::new(
    "clients",
    ParamKind::Int { min: 1, max: 64 },
    "4",
    "clients at most, each a thread with a connection",
);
pub const OBJECTS: ParamSpec = ParamSpec::new(
    "objects",
    ParamKind::Int { min: 1, max: 100_000_000 },
    "200000",
    "objects that are drawn from; clusterperf has 2000000",
)
.label(Label::Count("object", "objects"));

/// Of RAMCloud alone; what is not given is no part of a figure's name.
const fn of_ramcloud(name: &'static str, kind: ParamKind, says: &'static str) -> ParamSpec {
    ParamSpec::new(name, kind, "", says)
}
pub const LIBRARY: ParamSpec = of_ramcloud(
    "ramcloud-library",
    ParamKind::Or("", &ParamKind::Path),
    "path of RAMCloud's client library; else libramcloud.so where the loader looks (LD_LIBRARY_PATH)",
);
pub const LOCATOR: ParamSpec = of_ramcloud(
    "ramcloud-locator",
    ParamKind::Text,
    "where a RAMCloud runs: tcp:host=HOST port=PORT (a blank for the comma), zk:HOST:PORT or HOST:PORT",
);
pub const CLUSTER: ParamSpec =
    of_ramcloud("ramcloud-cluster", ParamKind::Text, "the name of the cluster; else main");
pub const COORDINATOR: ParamSpec = of_ramcloud(
    "ramcloud-coordinator",
    ParamKind::Or("", &ParamKind::Path),
    "RAMCloud's program coordinator, to be started here; else the one beside the library",
);
pub const RAMCLOUD_SERVER: ParamSpec = of_ramcloud(
    "ramcloud-server",
    ParamKind::Or("", &ParamKind::Path),
    "RAMCloud's program server, to be started here; else the one beside the library",
);
pub const MEMORY: ParamSpec = of_ramcloud(
    "ramcloud-memory",
    ParamKind::Or("", &ParamKind::Bytes { min: 64 << 20, max: 1 << 40 }),
    "memory of each server that is started here, used from the start; else 512MiB",
);

/// What readings of a test with more and more clients are of.
pub const K: ParamSpec = ParamSpec::new("k", ParamKind::Int { min: 1, max: 64 }, "", "clients at work")
    .label(Label::Count("client", "clients"));
/// What readings of a test with more and more objects are of.
pub const COUNTED: ParamSpec =
    ParamSpec::new("objects", OBJECTS.kind, "", "objects in one request").label(OBJECTS.label);

/// What names of figures say.
pub const TELLS: &[Tell] = &[
    Tell::always("kv"),
    Tell::unusual("replicas"),
    Tell::unusual("persistence"),
    Tell::unusual("mode"),
    Tell::unusual("size"),
    Tell::always("k"),
    Tell::unusual("objects").nor(&["200000"]),
    Tell::always("op"),
];
pub const TELLS_BASIC: &[Tell] = &[
    Tell::always("kv"),
    Tell::unusual("replicas"),
    Tell::unusual("persistence"),
    Tell::unusual("mode"),
    Tell::unusual("definition"),
];
/// Where objects are large, their size is always said.
pub const TELLS_LARGE: &[Tell] = &[
    Tell::always("kv"),
    Tell::unusual("replicas"),
    Tell::unusual("persistence"),
    Tell::unusual("mode"),
    Tell::always("size"),
];

/// How figures of a test of stores are shown, at its place among them.
#[must_use]
pub const fn shown(place: u16, tells: &'static [Tell]) -> Shown {
    const SORTED: &[By] = &[
        By::Param("definition"),
        By::Param("kv"),
        By::Param("replicas"),
        By::Param("k"),
        By::Param("objects"),
    ];
    Shown { tells, sorted: SORTED, place, topic: Topic::Wait("requests to a store"), ..Shown::PLAIN }
}

/// The parameters of a test of stores: which store and how it is set up, its own, and where a RAMCloud is.
#[macro_export]
macro_rules! kv_params {
    ($($own:expr),+ $(,)?) => {
        &[
            $crate::kv::params::KV,
            $crate::kv::params::REPLICAS,
            $crate::kv::params::PERSISTENCE,
            $($own,)+
            $crate::kv::params::LIBRARY,
            $crate::kv::params::LOCATOR,
            $crate::kv::params::CLUSTER,
            $crate::kv::params::COORDINATOR,
            $crate::kv::params::RAMCLOUD_SERVER,
            $crate::kv::params::MEMORY,
        ]
    };
}

/// A whole number of a parameter that has one by its kind.
#[must_use]
pub fn number(setup: &Setup, name: &str) -> u64 {
    setup.params.get(name).and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// How many objects are drawn from; few in a smoke take.
#[must_use]
pub fn objects(setup: &Setup) -> u32 {
    if setup.size == Size::Smoke {
        1000
    } else {
        u32::try_from(number(setup, OBJECTS.name)).unwrap_or(u32::MAX)
    }
}

#[must_use]
pub fn replicas(setup: &Setup) -> u32 {
    setup.params.get("replicas").and_then(|text| text.parse().ok()).unwrap_or(0)
}

#[must_use]
pub fn wait(setup: &Setup) -> Wait {
    if setup.params.get("mode") == Some("spin") { Wait::Spin } else { Wait::Block }
}

#[must_use]
pub fn size(setup: &Setup) -> usize {
    let bytes = setup.params.get("size").and_then(parse_bytes).unwrap_or(100);
    usize::try_from(bytes).unwrap_or(100)
}

/// A parameter in seconds.
#[must_use]
pub fn span(setup: &Setup, name: &str) -> Duration {
    let seconds = setup.params.get(name).and_then(model::params::parse_span).unwrap_or(0.2);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_millis(200))
}

/// How long one figure may take.
#[must_use]
pub fn limit_of(setup: &Setup) -> Duration {
    span(setup, "limit")
}

/// A client that spins keeps a CPU from the store where there is only one.
pub fn fit_spinning(setup: &Setup, is_ours: bool) -> Result<(), Unfit> {
    if wait(setup) == Wait::Spin && is_ours && setup.cpus.len() < 2 {
        return Err(Unfit::new(
            "mode=spin keeps a CPU busy and the store needs another; 1 CPU is allowed: use mode=block",
        ));
    }
    Ok(())
}
