//! clusterperf's `readDistRandom` and `writeDistRandom`: one client reads, then writes random objects of a large
//! table.
//!
//! Counted is a request from before it is written to the connection until its answer is understood; the key is chosen
//! before. Filling the table is not counted.

use std::time::Duration;

use model::{
    Cadence, Card, Family, MetricInfo, Need, Probe, Record, Setup, Simple, Size, TestName, Tier, Unfit,
    Variant,
};

use super::hot;
use super::keys::value;
use super::params;
use super::params::kv_params;
use super::probe::{StoreProbe, Work};
use super::single;
use super::table::Table;
use super::target::{Held, store_fits};
use super::times::kv_figure;
use super::times::{FigureMetrics, LINES, Lines, Times};
use super::wire::Failure;
use crate::bench::kernels::random::Random;

const READ: FigureMetrics =
    kv_figure!("readDistRandom", "readDistRandom.Bw", "median", "read a random object");
const WRITE: FigureMetrics =
    kv_figure!("writeDistRandom", "writeDistRandom.Bw", "median", "write a random object");

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
    derived: params::DERIVED,
    params: kv_params![
        params::MODE,
        params::SIZE,
        params::OBJECTS,
        params::COUNT,
        params::limit("2", "seconds that a figure may take in one take; clusterperf has 10"),
    ],
    metrics: METRICS,
    needs: &[Need::Server],
    tests: &[TestName::new("readDistRandom"), TestName::new("writeDistRandom")],
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

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(store_fits);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let smoke = setup.size == Size::Smoke;
    let value = value(params::size(setup));
    let (held, table) = Held::filled(setup, params::objects(setup), &value)?;
    let count = if smoke { 600 } else { params::number(setup, "count") };
    let work = RandomObjects {
        table,
        value,
        count: usize::try_from(count).unwrap_or(10_000),
        limit: params::limit_of(setup),
        times: Times::default(),
        random: Random::new(setup.seed),
    };
    Ok(Box::new(StoreProbe::new(held, work)))
}

struct RandomObjects {
    table: Table,
    value: Vec<u8>,
    count: usize,
    limit: Duration,
    times: Times,
    random: Random,
}

impl Work for RandomObjects {
    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        let (table, value, random) = (self.table, &self.value, &mut self.random);
        let replicas = held.target.replicas;
        let mut to = held.target.open()?;
        to.make_room(value.len());
        self.times.clear(self.count);
        single::requests(&mut to, &mut self.times, value.len(), self.limit, &mut |to| {
            to.ask_get(&table.keys.key(table.letter, hot::below(random, table.count)));
        })?;
        READ.push(&Lines::from_times(&mut self.times, value.len()), record);
        self.times.clear(self.count);
        single::requests(&mut to, &mut self.times, 0, self.limit, &mut |to| {
            to.ask_set(&table.keys.key(table.letter, hot::below(random, table.count)), value, replicas);
        })?;
        WRITE.push(&Lines::from_times(&mut self.times, value.len()), record);
        Ok(())
    }

    fn footprint(&self, held: &Held) -> u64 {
        held.footprint(self.table.count, self.value.len())
    }
}
