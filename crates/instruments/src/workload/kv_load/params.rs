//! The parameters of a load on a key-value store.
//!
//! Those that a web server's load has too are the same ones; those of a store that is started here are its own.

use model::url::Scheme;
use model::{Label, Matched, ParamKind, ParamSpec, Part, flags};

use crate::load::store_client::MOST_KEYS;
use crate::workload::store_server::options;
use crate::workload::web;
use crate::workload::web::params::{ONE_LOOP, URL, schedule};
use crate::workload::web::subject::NONE;

const fn spec(name: &'static str, kind: ParamKind, default: &'static str, says: &'static str) -> ParamSpec {
    ParamSpec::new(name, kind, default, says)
}

/// The URL of a target that is a store, which names its kind.
fn store(address: &str) -> Result<flags::Settings, String> {
    match Scheme::of_store_url(address) {
        Some(scheme) => Ok(vec![("url", address.to_owned()), ("server", scheme.name().to_owned())]),
        None => Err("a store has a redis:// or memcached:// URL".to_owned()),
    }
}

const fn is(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// A parameter of loads on web servers, as it is there.
const fn shared(name: &str) -> ParamSpec {
    let mut at = 0;
    while !is(web::params::PARAMS[at].name, name) {
        at += 1;
    }
    web::params::PARAMS[at]
}

const OWN: &[ParamSpec] = &[
    schedule(
        "arrivals",
        ParamKind::Choice(&["closed", "constant", "poisson", "ramp"]),
        "closed",
        "closed: each connection sends on its answer; the others: requests are due at a rate",
    ).first(&["closed"]).label(Label::Form("{} arrivals")).remedy(ONE_LOOP),
    shared("ramp"),
    shared("load"),
    shared("rate"),
    shared("requests"),
    spec(
        "server",
        ParamKind::Choice(&["redis", "valkey", "memcached"]),
        "redis",
        "the store that is started here",
    ),
    spec(
        "url",
        ParamKind::Or(NONE, &ParamKind::StoreUrl),
        NONE,
        "redis:// or memcached:// URL of a store to load; none starts one here",
    ).label(Label::Value).part(Part::Address { ours: &[NONE] }).matched(Matched::Url).flag(URL).target(store),
    spec(
        "keys",
        ParamKind::Int { min: 1, max: MOST_KEYS as u64 },
        "100000",
        "different keys; all are written before the load",
    ).label(Label::Count("key", "keys")),
    spec("key-size", ParamKind::Int { min: 1, max: 65_535 }, "30", "bytes of a key").label(Label::Form("keys of {} B")),
    spec(
        "value-size",
        ParamKind::Text,
        "100",
        "bytes of a value: 100, 64-1KiB (each size as often), 100*9,4KiB*1 (sizes and weights); a key keeps its size",
    ).label(Label::Form("values of {} B")),
    spec(
        "popularity",
        ParamKind::Text,
        "uniform",
        "how often keys are asked for: uniform, zipf (theta 0.99) or zipf:THETA",
    ).label(Label::Value),
    spec(
        "ratio",
        ParamKind::Ratio { max: 1_000_000 },
        "1:10",
        "writes to reads, as memtier_benchmark has it: 0:1 only reads, 1:0 only writes",
    ).label(Label::Form("{} writes to reads")),
    shared("connections"),
    shared("generators"),
    shared("duration"),
    shared("timeout"),
];

/// Those of the load and those of the store.
pub const PARAMS: &[ParamSpec] =
    &model::joined::<_, { OWN.len() + options::PARAMS.len() }>(&[OWN, options::PARAMS]);
