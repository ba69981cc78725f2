//! clusterperf's `readThroughput` and `writeThroughput`: 1, 2, ... clients read or write random objects; what the store
//! itself counted.
//!
//! Counted are the requests that the store says it served between two moments, after the clients have begun; what the
//! clients counted stands beside it, and the store's CPU time in the same span. Filling is not counted. A RAMCloud has
//! only what its clients counted: its client library tells nothing of the work of its servers.

use std::time::Duration;

use model::{
    Better, Cadence, Card, Family, Metric, Need, ParamKind, ParamSpec, Params, PerSec, Probe, Ratio, Record,
    RecordExt, Setup, Simple, TestName, Tier, Unfit, Variant,
};
use sys::clock;

use super::crowd::{self, Until};
use super::hot;
use super::keys::value;
use super::params;
use super::params::kv_params;
use super::probe::{StoreProbe, Work};
use super::server::{Usage, What};
use super::table::Table;
use super::target::{Held, store_fits};
use super::wire::Failure;

const READ: Metric<PerSec> =
    Metric::new("readThroughput", Better::Higher, "reads per second by the store's own counter")
        .per("request");
const READ_CPU: Metric<Ratio> = Metric::new(
    "readThroughput.cpu",
    Better::Neither,
    "CPU time of the store by the time, in cores, during reads",
);
const READ_CLIENTS: Metric<PerSec> =
    Metric::new("readThroughput.clients", Better::Neither, "reads per second as the clients counted them")
        .per("request");
const WRITE: Metric<PerSec> =
    Metric::new("writeThroughput", Better::Higher, "writes per second by the store's own counter")
        .per("request");
const WRITE_CPU: Metric<Ratio> = Metric::new(
    "writeThroughput.cpu",
    Better::Neither,
    "CPU time of the store by the time, in cores, during writes",
);
const WRITE_CLIENTS: Metric<PerSec> =
    Metric::new("writeThroughput.clients", Better::Neither, "writes per second as the clients counted them")
        .per("request");

const WINDOW: ParamSpec = ParamSpec::new(
    "window",
    ParamKind::Seconds { max: 60 },
    "0.25",
    "seconds between the two looks at the store's counters; clusterperf has 1",
);

static CARD: Card = Card {
    name: "kv-throughput",
    family: Family::Kv,
    says: "readThroughput, writeThroughput: random objects by more and more clients, and the store's CPU",
    source: "clusterperf readThroughput, writeThroughput (RAMCloud)",
    shown: params::shown(5, params::TELLS),
    parts: &[params::K],
    cadence: Cadence::Repeat,
    definition: 1,
    derived: params::DERIVED,
    params: kv_params![params::MODE, params::SIZE, params::OBJECTS, params::CLIENTS, WINDOW,],
    metrics: &[
        READ.info(),
        READ_CPU.info(),
        READ_CLIENTS.info(),
        WRITE.info(),
        WRITE_CPU.info(),
        WRITE_CLIENTS.info(),
    ],
    needs: &[Need::Server],
    tests: &[TestName::new("readThroughput"), TestName::new("writeThroughput")],
    variants: &[Variant {
        tier: Tier::Default,
        set: "kv=redis|memcached",
        headline: &["readThroughput", "writeThroughput"],
    }],
    ..Card::DEFAULT
};

/// Before the first look.
const LEAD: Duration = Duration::from_millis(20);

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(store_fits);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let value = value(params::size(setup));
    let (held, table) = Held::filled(setup, params::objects(setup), &value)?;
    let clients = usize::try_from(params::number(setup, "clients")).unwrap_or(1);
    let window = params::span(setup, WINDOW.name);
    Ok(Box::new(StoreProbe::new(held, Throughput { table, value, clients, window })))
}

struct Throughput {
    table: Table,
    value: Vec<u8>,
    clients: usize,
    window: Duration,
}

impl Throughput {
    fn measure(&self, what: What, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        let (target, table) = (&held.target, self.table);
        let (rate, cpu, counted) = match what {
            What::Read => (&READ, &READ_CPU, &READ_CLIENTS),
            What::Write => (&WRITE, &WRITE_CPU, &WRITE_CLIENTS),
        };
        let bytes = if what == What::Read { self.value.len() } else { 0 };
        for clients in 1..=self.clients {
            let stores = vec![target; clients];
            let mut look = target.counts().then(|| target.open()).transpose()?;
            let mut read = || look.as_mut().map(|look| Usage::read(look, what)).transpose();
            let (done, (first, last, ns)) = crowd::run(
                &stores,
                Until::Watched,
                bytes,
                &|to, _, random| {
                    let key = table.keys.key(table.letter, hot::below(random, table.count));
                    match what {
                        What::Read => to.ask_get(&key),
                        What::Write => to.ask_set(&key, &self.value, target.replicas),
                    }
                },
                || {
                    std::thread::sleep(LEAD);
                    let (first, from_ns) = (read()?, clock::now_ns());
                    std::thread::sleep(self.window);
                    let (last, to_ns) = (read()?, clock::now_ns());
                    Ok((first, last, to_ns - from_ns))
                },
            )?;
            let seconds = ns as f64 / 1e9;
            let mut extra = Params::default();
            extra.set("k", &clients.to_string());
            if let Some((first, last)) = first.zip(last) {
                let usage = last.since(&first);
                if usage.calls == 0 {
                    return Err(Failure::Silent(seconds));
                }
                record.push_of(rate, &extra, PerSec(usage.calls as f64 / seconds));
                record.push_of(cpu, &extra, Ratio(usage.cpu_s / seconds));
            }
            record.push_of(counted, &extra, PerSec(done.iter().map(crowd::Done::rate).sum()));
        }
        Ok(())
    }
}

impl Work for Throughput {
    const IS_CLIENT: bool = false;

    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        self.measure(What::Read, held, record)?;
        self.measure(What::Write, held, record)
    }

    fn footprint(&self, held: &Held) -> u64 {
        held.footprint(self.table.count, self.value.len())
    }
}
