//! clusterperf's `readDistRandom` and `writeDistRandom`: one client reads, then writes random objects of a large
//! table.
//!
//! Counted is a request from before it is written to the connection until its answer is understood; the key is chosen
//! before. Filling the table is not counted.

use std::time::Duration;

use model::{
    Cadence, Card, Family, Fault, Instrument, MetricInfo, Need, Probe, Record, Setup, Size, Tier, Unfit,
    Variant,
};

use super::hot;
use super::keys::value;
use super::params;
use super::single;
use super::table::Table;
use super::target::{Held, fit};
use super::times::{Figure, LINES, Lines, Times};
use super::wire::Failure;
use crate::bench::kernels::random::Random;
use crate::{kv_figure, kv_params};

const READ: Figure = kv_figure!("readDistRandom", "readDistRandom.Bw", "median", "read a random object");
const WRITE: Figure = kv_figure!("writeDistRandom", "writeDistRandom.Bw", "median", "write a random object");

const fn metrics() -> [MetricInfo; 2 * LINES] {
    let mut all = [READ.middle.info(); 2 * LINES];
    let mut at = 0;
    while at < LINES {
        all[at] = READ.infos()[at];
        all[LINES + at] = WRITE.infos()[at];
        at += 1;
    }
    all
}

const METRICS: &[MetricInfo] = &metrics();

static CARD: Card = Card {
    name: "kv-dist-random",
    family: Family::Kv,
    says: "readDistRandom, writeDistRandom: distribution of the times to read and write random objects",
    source: "clusterperf readDistRandom, writeDistRandom (RAMCloud)",
    shown: params::shown(3, params::TELLS),
    cadence: Cadence::Repeat,
    definition: 1,
    params: kv_params![
        params::MODE,
        params::SIZE,
        params::OBJECTS,
        params::COUNT,
        params::limit("2", "seconds that a figure may take in one take; clusterperf has 10"),
    ],
    metrics: METRICS,
    needs: &[Need::Server],
    variants: &[
        Variant {
            tier: Tier::Default,
            set: "kv=redis|memcached",
            headline: &["readDistRandom", "writeDistRandom"],
        },
        Variant { tier: Tier::Default, set: "kv=redis;replicas=2", headline: &["writeDistRandom"] },
    ],
    ..Card::DEFAULT
};

pub struct KvDistRandom;

pub static INSTRUMENT: KvDistRandom = KvDistRandom;

impl Instrument for KvDistRandom {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        fit(setup)
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        let smoke = setup.size == Size::Smoke;
        let value = value(params::size(setup));
        let (held, table) = Held::filled(setup, params::objects(setup), &value)?;
        let count = if smoke { 600 } else { params::number(setup, "count") };
        Ok(Box::new(RandomObjects {
            held,
            table,
            value,
            count: usize::try_from(count).unwrap_or(10_000),
            limit: params::limit_of(setup),
            times: Times::default(),
            random: Random::new(setup.seed),
        }))
    }
}

struct RandomObjects {
    held: Held,
    table: Table,
    value: Vec<u8>,
    count: usize,
    limit: Duration,
    times: Times,
    random: Random,
}

impl RandomObjects {
    fn run(&mut self, record: &mut dyn Record) -> Result<(), Failure> {
        let (table, value, random) = (self.table, &self.value, &mut self.random);
        let replicas = self.held.target.replicas;
        let mut to = self.held.target.open()?;
        to.make_room(value.len());
        self.times.clear(self.count);
        single::requests(&mut to, &mut self.times, value.len(), self.limit, &mut |to| {
            to.ask_get(&table.keys.key(table.letter, hot::below(random, table.count)));
        })?;
        READ.push(&Lines::of(&mut self.times, value.len()), record);
        self.times.clear(self.count);
        single::requests(&mut to, &mut self.times, 0, self.limit, &mut |to| {
            to.ask_set(&table.keys.key(table.letter, hot::below(random, table.count)), value, replicas);
        })?;
        WRITE.push(&Lines::of(&mut self.times, value.len()), record);
        Ok(())
    }
}

impl Probe for RandomObjects {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.held.target.tell(record);
        let _pinned = self.held.target.pin(0)?;
        self.run(record).map_err(|failure| self.held.target.explain(&failure))
    }

    fn cpus(&self) -> Vec<u32> {
        self.held.target.busy()
    }

    fn footprint(&self) -> u64 {
        self.held.footprint(self.table.count, self.value.len())
    }
}
