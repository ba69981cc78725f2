//! clusterperf's `readLoaded`: 1, 2, ... clients all read the same object; the first one's mean time.
//!
//! Counted is the mean over blocks of 10 reads for at least 100 ms, as there. Its throughput is derived (clients by
//! mean time of the first), also as there; the sum of what all clients measured stands beside it.

use std::time::Duration;

use model::{
    Better, Cadence, Card, Family, Metric, Need, Params, PerSec, Probe, Record, RecordExt, Seconds, Setup,
    Simple, TestName, Tier, Unfit, Variant,
};

use super::crowd::{self, Until};
use super::hot::{self, Hot};
use super::keys::{KEY, value};
use super::params;
use super::params::kv_params;
use super::probe::{StoreProbe, Work};
use super::target::{Held, store_fits};
use super::times::lower;
use super::wire::Failure;

const TIME: Metric<Seconds> =
    lower("readLoaded", "mean time of the first client's reads while so many read the same object");
const DERIVED: Metric<PerSec> = Metric::new(
    "readLoaded.derived",
    Better::Neither,
    "clients by the first one's mean time: clusterperf's throughput, which nobody measured",
)
.per("request");
const MEASURED: Metric<PerSec> = Metric::new(
    "readLoaded.measured",
    Better::Higher,
    "sum of the rates of all clients; RAMCloud's are without the building of keys and the pipe between rows of requests",
)
.per("request");

static CARD: Card = Card {
    name: "kv-loaded",
    family: Family::Kv,
    says: "readLoaded: time to read one object that more and more clients read, and their throughput",
    source: "clusterperf readLoaded (RAMCloud); the measured sum is our own",
    shown: params::shown(4, params::TELLS),
    parts: &[params::K],
    cadence: Cadence::Repeat,
    definition: 1,
    derived: params::DERIVED,
    params: kv_params![params::MODE, params::SIZE, params::CLIENTS],
    metrics: &[TIME.info(), DERIVED.info(), MEASURED.info()],
    needs: &[Need::Server],
    tests: &[TestName::new("readLoaded")],
    variants: &[Variant { tier: Tier::Default, set: "kv=redis|memcached", headline: &["readLoaded"] }],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(store_fits);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let value = value(params::size(setup));
    let (held, table) = Held::filled(setup, 1, &value)?;
    let clients = usize::try_from(params::number(setup, "clients")).unwrap_or(1);
    let work = Loaded { key: table.keys.key(table.letter, 0), value, clients };
    Ok(Box::new(StoreProbe::new(held, work)))
}

struct Loaded {
    key: [u8; KEY],
    value: Vec<u8>,
    clients: usize,
}

impl Work for Loaded {
    const IS_CLIENT: bool = false;

    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        let target = &held.target;
        let hot = Hot { key: &self.key, value: &self.value, replicas: 0 };
        hot.check(&mut target.open()?)?;
        let span = Until::Passed(Duration::from_nanos(hot::MEAN_NS));
        for clients in 1..=self.clients {
            let stores = vec![target; clients];
            let (done, ()) =
                crowd::run(&stores, span, self.value.len(), &|to, _, _| hot.ask_read(to), || Ok(()))?;
            let Some(first) = done.first() else { continue };
            let mut extra = Params::default();
            extra.set("k", &clients.to_string());
            let mean = Seconds::from_ns(first.ns) / first.count.max(1) as f64;
            record.push_of(&TIME, &extra, mean);
            record.push_of(&DERIVED, &extra, PerSec(clients as f64 / mean.0));
            record.push_of(&MEASURED, &extra, PerSec(done.iter().map(crowd::Done::rate).sum()));
        }
        Ok(())
    }
}
