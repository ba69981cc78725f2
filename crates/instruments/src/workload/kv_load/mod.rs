//! A load on a key-value store, one that we start or one that runs already: reads and writes of keys of our own, with
//! rate, response and service times, failures, and what the generators, the store and the machine did meanwhile.
//!
//! One take is one load; the keys are there and the connections made before it starts, and one request is in flight on
//! a connection. Other keys of a store are neither read nor changed. Pipelining, transactions, several keys in a
//! request and values of other types are not measured; replicas copy what is written, and no write waits for them.

pub mod ask;
pub mod hosted;
mod marker;
pub mod params;
pub mod probe;
pub mod room;
pub mod theirs;

use model::{Cadence, Card, Family, Need, Probe, Role, Setup, Shown, Simple, Tier, Unfit, Variant};

use super::web::{self, metrics};
use ask::KvAsk;
use probe::KvLoads;

static CARD: Card = Card {
    name: model::names::instrument::KV_LOAD,
    family: Family::Kv,
    says: "a load on a key-value store: rate, response times, failures, and what held it back",
    source: "own engine; closed loops as redis-benchmark and memtier_benchmark without pipelining, Zipf as YCSB",
    shown: Shown {
        label: "kv load",
        main: model::metrics::load::THROUGHPUT.name(),
        tells: super::web::shown::TELLS,
        sorted: super::web::shown::SORTED,
        place: 20,
        ..Shown::PLAIN
    },
    role: Role::Load { rate: model::metrics::load::THROUGHPUT.name() },
    parts: metrics::PARTS,
    cadence: Cadence::Repeat,
    definition: 7,
    params: params::PARAMS,
    metrics: metrics::ALL,
    needs: &[Need::Server],
    variants: VARIANTS,
    flags: &[model::flags::CEILINGS],
    ..Card::DEFAULT
};

/// The parameter sets of a named run.
const VARIANTS: &[Variant] = &[
    sweep("connections=1|10|50|100|400"),
    // Shares of one's own capacity are a curve of one machine; machines are compared at equal rates.
    Variant { tier: Tier::Full, set: "arrivals=poisson;load=10%|25%|50%|75%|90%|100%|120%", headline: &[] },
    sweep("arrivals=poisson;rate=1000|4000|16000|64000"),
];

const fn sweep(set: &'static str) -> Variant {
    Variant { tier: Tier::Full, set, headline: &["throughput", "response-time-p99", "error-rate"] }
}

pub static INSTRUMENT: Simple =
    Simple::new(&CARD, prepare).fits(|setup| KvAsk::from_setup(setup).map(drop)).lasts(web::seconds::take);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    Ok(Box::new(KvLoads::prepare(setup, KvAsk::from_setup(setup)?)?))
}

#[cfg(test)]
mod tests {
    use model::{Params, Size};

    use model::Instrument;

    use super::*;

    fn refused(given: &str) -> String {
        let params = match CARD.resolve(&Params::parse(given).unwrap()) {
            Ok(params) => params,
            Err(error) => return error.to_string(),
        };
        let setup = Setup {
            size: Size::Smoke,
            memory: Some(1 << 32),
            ..Setup::bare(params, vec![0, 1], std::env::temp_dir())
        };
        INSTRUMENT.fit(&setup).map_or_else(|unfit| unfit.why, |()| String::new())
    }

    #[test]
    fn what_cannot_be_is_explained() {
        for (given, says) in [
            ("server=etcd", "server=etcd"),
            ("url=http://a/", "redis://"),
            ("url=redis://a/3", "no paths"),
            ("url=redis://a;replicas=1", "is yours"),
            ("url=redis://a;persistence=always", "is yours"),
            ("url=memcached://a;server=redis", ""),
            ("server=memcached;replicas=1", "memcached has none"),
            ("server=memcached;persistence=rdb", "nothing on disk"),
            ("arrivals=poisson", "needs its rate"),
            ("keys=0", "keys=0"),
            ("keys=1G;value-size=1KiB", "keys"),
            ("keys=10M;value-size=1MiB", "memory of this machine"),
            ("key-size=10", "keys of 10 B"),
            ("value-size=none", "no size of values"),
            ("popularity=gauss", "no popularity"),
            ("ratio=0:0", "ratio=0:0"),
            ("connections=5;requests=2", "each connection needs a request"),
        ] {
            let why = refused(given);
            assert!(why.contains(says) && why.is_empty() == says.is_empty(), "{given}: {why}");
        }
        for given in [
            "",
            "server=valkey;replicas=2",
            "arrivals=poisson;load=50%",
            "popularity=zipf:0.7;ratio=0:1",
            "url=redis://a:1",
        ] {
            assert_eq!(refused(given), "", "{given}");
        }
    }
}
