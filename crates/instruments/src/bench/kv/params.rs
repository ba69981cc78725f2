//! The parameters of tests of key-value stores, and how they are read from a setup.

use std::time::Duration;

use model::flags;
use model::params::{parse_bytes, whole};
use model::url::{BadUrl, Scheme, Url};
use model::{
    By, Derived, Fact, Flag, Label, Matched, Means, ParamKind, ParamSpec, Params, Part, Setup, Shown, Size,
    Tell, Topic, Unfit,
};

use crate::bench::net::frame::Wait;
use crate::workload::server::options::INSIDE;

const SIZE_SAYS: &str = "Bytes of an object's value";
/// The sizes that `basic` has, with the bytes that each may stand for.
const BASIC_SIZES: [(&str, &[u64]); 5] = [
    ("100", &[100]),
    ("1K", &[1000, 1 << 10]),
    ("10K", &[10_000, 10 << 10]),
    ("100K", &[100_000, 100 << 10]),
    ("1M", &[1_000_000, 1 << 20]),
];

/// Reads `--kv`. `ramcloud:tcp:host=H,port=P` is where a RAMCloud runs, with blanks for commas, at which pairs of
/// parameters are split. A host may be called ramcloud: `ramcloud:6379` is HOST:PORT.
fn store(text: &str) -> Result<flags::Settings, String> {
    let locator = text.strip_prefix("ramcloud:").filter(|locator| locator.contains(':'));
    Ok(match locator {
        Some(locator) => vec![("kv", "ramcloud".to_owned()), (LOCATOR.name, locator.replace(',', " "))],
        None => vec![("kv", text.to_owned())],
    })
}

/// The address of a target that is a store: its URL, or as `--kv` has it.
fn address(text: &str) -> Result<flags::Settings, String> {
    if Scheme::of_url(text).is_none() {
        return store(text);
    }
    let url: Url = text.parse().map_err(|error: BadUrl| error.to_string())?;
    if !url.scheme.is_store() {
        return Err("a store has a redis:// or memcached:// URL, or HOST:PORT".to_owned());
    }
    let host = if url.host.contains(':') { format!("[{}]", url.host) } else { url.host };
    Ok(vec![("kv", format!("{host}:{}", url.port))])
}

fn basic_size(text: &str) -> Option<(&'static str, &'static [u64])> {
    let bytes = parse_bytes(text).or_else(|| whole(text));
    let is_meant = |(name, sizes): &(&str, &[u64])| {
        text.eq_ignore_ascii_case(name) || bytes.is_some_and(|bytes| sizes.contains(&bytes))
    };
    BASIC_SIZES.into_iter().find(is_meant)
}

/// Reads `--size` for `basic`. Fails when it is none of its sizes.
fn size_of_basic(text: &str) -> Result<flags::Settings, String> {
    let (name, _) = basic_size(text)
        .ok_or("basic has objects of 100, 1K, 10K, 100K and 1M only; --test readDist takes any size")?;
    Ok(vec![(SIZES.name, name.to_owned())])
}

/// Reads `--size` for the tests whose objects may be of any size.
fn size_in_bytes(text: &str) -> Result<flags::Settings, String> {
    let of_basic = || basic_size(text).and_then(|(_, sizes)| sizes.last().copied());
    let bytes = basic_size(text).and(parse_bytes(text).or_else(|| whole(text))).or_else(of_basic);
    Ok(vec![("size", bytes.map_or_else(|| text.to_owned(), |bytes| bytes.to_string()))])
}

pub const KV: ParamSpec = ParamSpec::new(
    "kv",
    ParamKind::Text,
    "redis",
    "the store: redis, valkey, memcached or ramcloud, started here for the test, or HOST:PORT of one that runs",
).first(&["redis", "valkey"]).label(Label::Value)
.part(Part::Address { ours: &["redis", "valkey", "memcached"] })
.matched(Matched::Address)
.target(address)
.flag(Flag::new(
    "kv",
    "STORE",
    "The store: redis, valkey, memcached or ramcloud, started here, or one that runs (HOST:PORT, ramcloud:LOCATOR) \
     [default: what is installed]",
    Means::Read(store),
));
pub const REPLICAS: ParamSpec = ParamSpec::new(
    "replicas",
    ParamKind::Int { min: 0, max: 8 },
    "0",
    "replicas that have each write before it counts as done: SET and WAIT in one piece, an option of the start of \
           RAMCloud's servers; memcached has none",
).label(Label::Count("replica", "replicas")).part(Part::Server).flag(Flag::new(
    "replicas",
    "N",
    "Replicas that must have each write",
    Means::Param("replicas"),
));
pub const PERSISTENCE: ParamSpec = ParamSpec::new(
    "persistence",
    ParamKind::Choice(&["off", "everysec", "always", "rdb"]),
    "off",
    "what a store that is started here keeps on disk: nothing, its log synced each second or each write, snapshots",
)
.part(Part::Server);
pub const IN: ParamSpec =
    ParamSpec::new("in", ParamKind::Text, "", INSIDE).label(Label::Form("in {}")).part(Part::Server);
/// A socket of the kernel.
const KERNEL_TCP: &str = "kernel-tcp";
/// How RAMCloud's locators begin, and what their requests travel over.
const LOCATORS: [(&str, &str); 6] = [
    ("tcp:", KERNEL_TCP),
    ("infrc:", "infiniband"),
    ("basic+infud:", "infiniband"),
    ("basic+udp:", "kernel-udp"),
    ("fast+udp:", "kernel-udp"),
    ("basic+dpdk:", "kernel-bypass"),
];
pub const TRANSPORT: ParamSpec = ParamSpec::new(
    "transport",
    ParamKind::Text,
    "",
    "what requests travel over: kernel-tcp, infiniband, kernel-bypass ...; else worked out: kernel-tcp but for a RAMCloud, \
     whose locator says it",
).label(Label::Value);

/// The transport that nobody says: a socket, but for a RAMCloud whose locator says something else or (`zk:`) nothing.
fn transport(params: &Params, _: &[Fact]) -> Option<String> {
    let of_locator = |locator: &str| {
        let known = LOCATORS.iter().find(|(begins, _)| locator.starts_with(begins)).map(|(_, means)| *means);
        // HOST:PORT stands for TCP.
        known.or_else(|| (!locator.contains('=') && !locator.starts_with("zk:")).then_some(KERNEL_TCP))
    };
    let means = match (params.get(KV.name)?, params.get(LOCATOR.name)) {
        ("ramcloud", Some(locator)) => of_locator(locator)?,
        _ => KERNEL_TCP,
    };
    Some(means.to_owned())
}

/// Worked out of the parameters of a figure.
pub const DERIVED: &[Derived] = &[Derived {
    name: TRANSPORT.name,
    value: transport,
    usual: None,
    remedy: "--set transport=kernel-tcp, or as it was, says it",
}];

/// Fails when a transport is given that the store's address contradicts.
pub fn fit_transport(setup: &Setup, is_ours: bool) -> Result<(), Unfit> {
    let Some(given) = setup.params.get(TRANSPORT.name).filter(|given| !given.is_empty()) else {
        return Ok(());
    };
    if given.contains(char::is_whitespace) {
        return Err(Unfit::new(format!("transport={given}: one word, such as kernel-tcp or infiniband")));
    }
    let is_told = is_ours || setup.params.get(LOCATOR.name).is_some();
    match transport(&setup.params, &[]).filter(|known| is_told && known != given) {
        Some(known) => {
            Err(Unfit::new(format!("transport={given}: this store is asked over {known}; leave it out")))
        }
        None => Ok(()),
    }
}

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
.label(Label::Words(&[("era1", "hot key mean (era1)"), ("era2", "hot key (era2)")]))
.flag(Flag::new(
    "definition",
    "ERA",
    "Which of the three definitions that clusterperf's basic had: era1, era2, era3",
    Means::Param("definition"),
));
pub const SIZES: ParamSpec = ParamSpec::new(
    "sizes",
    ParamKind::Choice(&["all", "100", "1K", "10K", "100K", "1M"]),
    "all",
    "bytes of an object; K is 1000 in era1 and era2, 1024 in era3",
)
.flag(Flag::new("size", "SIZE", SIZE_SAYS, Means::Read(size_of_basic)));
pub const SIZE: ParamSpec =
    ParamSpec::new("size", ParamKind::Bytes { min: 1, max: 32 << 20 }, "100", "bytes of an object's value")
        .label(Label::Bytes)
        .flag(Flag::new("size", "SIZE", SIZE_SAYS, Means::Read(size_in_bytes)));
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
pub const fn limit(default: &'static str, says: &'static str) -> ParamSpec {
    ParamSpec::new("limit", ParamKind::Seconds { max: 60 }, default, says)
}
pub const CLIENTS: ParamSpec = ParamSpec::new(
    "clients",
    ParamKind::Int { min: 1, max: 64 },
    "4",
    "clients at most, each a thread with a connection",
)
.flag(Flag::new("clients", "N", "Clients at most, in tests that have several", Means::Param("clients")));
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

/// The parameter of readings of a test with more and more clients.
pub const K: ParamSpec = ParamSpec::new("k", ParamKind::Int { min: 1, max: 64 }, "", "clients at work")
    .label(Label::Count("client", "clients"));
/// The parameter of readings of a test with more and more objects.
pub const COUNTED: ParamSpec =
    ParamSpec::new("objects", OBJECTS.kind, "", "objects in one request").label(OBJECTS.label);

/// The parameters in the names of figures.
pub const TELLS: &[Tell] = &[
    Tell::always("kv"),
    Tell::unusual("replicas"),
    Tell::unusual("persistence"),
    Tell::unusual("in"),
    Tell::unusual("transport").nor(&[KERNEL_TCP]),
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
    Tell::unusual("in"),
    Tell::unusual("transport").nor(&[KERNEL_TCP]),
    Tell::unusual("mode"),
    Tell::unusual("definition"),
];
/// Where objects are large, their size is always said.
pub const TELLS_LARGE: &[Tell] = &[
    Tell::always("kv"),
    Tell::unusual("replicas"),
    Tell::unusual("persistence"),
    Tell::unusual("in"),
    Tell::unusual("transport").nor(&[KERNEL_TCP]),
    Tell::unusual("mode"),
    Tell::always("size"),
];

/// How figures of a test of stores are shown, at its place among them.
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
macro_rules! kv_params {
    ($($own:expr),+ $(,)?) => {
        &[
            $crate::bench::kv::params::KV,
            $crate::bench::kv::params::REPLICAS,
            $crate::bench::kv::params::PERSISTENCE,
            $crate::bench::kv::params::IN,
            $crate::bench::kv::params::TRANSPORT,
            $($own,)+
            $crate::bench::kv::params::LIBRARY,
            $crate::bench::kv::params::LOCATOR,
            $crate::bench::kv::params::CLUSTER,
            $crate::bench::kv::params::COORDINATOR,
            $crate::bench::kv::params::RAMCLOUD_SERVER,
            $crate::bench::kv::params::MEMORY,
        ]
    };
}
pub(crate) use kv_params;

/// A whole number of a parameter that has one by its kind.
pub fn number(setup: &Setup, name: &str) -> u64 {
    setup.params.get(name).and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Bytes of objects that `basic` fills a store with; 0 of another test, and of a definition that has one object a size.
pub fn filled(setup: &Setup) -> u64 {
    if setup.params.get(FILL.name).is_none()
        || matches!(setup.params.get("definition"), Some("era1" | "era2"))
    {
        return 0;
    }
    number(setup, FILL.name).saturating_mul(1_000_000).saturating_mul(sizes(setup))
}

/// How many sizes of objects `basic` has.
pub fn sizes(setup: &Setup) -> u64 {
    if setup.params.get(SIZES.name).unwrap_or("all") == "all" { 5 } else { 1 }
}

/// How many objects are drawn from; few in a smoke take.
pub fn objects(setup: &Setup) -> u32 {
    if setup.size == Size::Smoke {
        1000
    } else {
        u32::try_from(number(setup, OBJECTS.name)).unwrap_or(u32::MAX)
    }
}

pub fn replicas(setup: &Setup) -> u32 {
    setup.params.get("replicas").and_then(|text| text.parse().ok()).unwrap_or(0)
}

pub fn wait(setup: &Setup) -> Wait {
    if setup.params.get("mode") == Some("spin") { Wait::Spin } else { Wait::Block }
}

pub fn size(setup: &Setup) -> usize {
    let bytes = setup.params.get("size").and_then(parse_bytes).unwrap_or(100);
    usize::try_from(bytes).unwrap_or(100)
}

/// A parameter in seconds.
pub fn span(setup: &Setup, name: &str) -> Duration {
    let seconds = setup.params.get(name).and_then(model::params::parse_span).unwrap_or(0.2);
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_millis(200))
}

/// How long one figure may take.
pub fn limit_of(setup: &Setup) -> Duration {
    span(setup, "limit")
}

/// Fails when a client that spins would keep the only CPU from a store of ours.
pub fn fit_spinning(setup: &Setup, is_ours: bool) -> Result<(), Unfit> {
    if wait(setup) == Wait::Spin && is_ours && setup.cpus.len() < 2 {
        return Err(Unfit::new(
            "mode=spin keeps a CPU busy and the store needs another; 1 CPU is allowed: use mode=block",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_locator_is_told_from_a_host_of_that_name() {
        let of = |kv: &str| {
            store(kv).unwrap().pop().filter(|(key, _)| *key == LOCATOR.name).map(|(_, value)| value)
        };
        assert_eq!(of("ramcloud:tcp:host=a,port=1").as_deref(), Some("tcp:host=a port=1"));
        assert_eq!(of("ramcloud:tcp:host=zk,port=1").as_deref(), Some("tcp:host=zk port=1"));
        assert_eq!(of("ramcloud:infrc:host=a,port=1").as_deref(), Some("infrc:host=a port=1"));
        assert_eq!(of("ramcloud:tcp:host=a,port=x").as_deref(), Some("tcp:host=a port=x"));
        assert_eq!(of("ramcloud:10.0.0.3:12246").as_deref(), Some("10.0.0.3:12246"));
        assert_eq!(of("ramcloud:zk:a:2181,b:2181").as_deref(), Some("zk:a:2181 b:2181"));
        assert_eq!((of("ramcloud:6379"), of("ramcloud"), of("redis")), (None, None, None));
    }

    #[test]
    fn a_transport_is_worked_out_or_given() {
        let params = |text: &str| Params::parse(text).unwrap();
        for (text, means) in [
            ("kv=redis", Some("kernel-tcp")),
            ("kv=10.0.0.3:6379", Some("kernel-tcp")),
            ("kv=ramcloud", Some("kernel-tcp")),
            ("kv=ramcloud;ramcloud-locator=a:1", Some("kernel-tcp")),
            ("kv=ramcloud;ramcloud-locator=tcp:host=a port=1", Some("kernel-tcp")),
            ("kv=ramcloud;ramcloud-locator=infrc:host=a port=1", Some("infiniband")),
            ("kv=ramcloud;ramcloud-locator=new:host=a port=1", None),
            ("kv=ramcloud;ramcloud-locator=zk:a:2181", None),
            ("store=ramcloud", None),
        ] {
            assert_eq!(transport(&params(text), &[]).as_deref(), means, "{text}");
        }
        let fit = |text: &str, is_ours| {
            fit_transport(&Setup::bare(params(text), vec![0], std::env::temp_dir()), is_ours)
                .map_err(|unfit| unfit.why)
        };
        for (text, is_ours) in [
            ("kv=redis;transport=kernel-tcp", true),
            ("kv=a:1;transport=kernel-bypass", false),
            ("kv=ramcloud;ramcloud-locator=zk:a:1;transport=infiniband", false),
        ] {
            assert_eq!(fit(text, is_ours), Ok(()), "{text}");
        }
        let why = fit("kv=redis;transport=infiniband", true).unwrap_err();
        assert_eq!(why, "transport=infiniband: this store is asked over kernel-tcp; leave it out");
        let why =
            fit("kv=ramcloud;ramcloud-locator=infrc:host=a port=1;transport=kernel-tcp", false).unwrap_err();
        assert!(why.contains("asked over infiniband"), "{why}");
        assert!(fit("kv=a:1;transport=by car", false).unwrap_err().contains("one word"));
    }

    #[test]
    fn a_size_is_one_of_those_of_basic_or_any() {
        let of = |read: fn(&str) -> Result<flags::Settings, String>, text: &str| {
            read(text).map(|mut all| all.remove(0).1)
        };
        for (text, name, bytes) in
            [("100", "100", "100"), ("1k", "1K", "1024"), ("1000", "1K", "1000"), ("1M", "1M", "1048576")]
        {
            assert_eq!(of(size_of_basic, text).as_deref(), Ok(name));
            assert_eq!(of(size_in_bytes, text).as_deref(), Ok(bytes));
        }
        assert!(of(size_of_basic, "64").is_err() && of(size_in_bytes, "64").as_deref() == Ok("64"));
    }
}
