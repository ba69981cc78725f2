//! clusterperf's `readDist`: one client reads one object back to back; how its times are distributed.
//!
//! A time is the difference between the ends of two requests in a row, so that what the client does in between is
//! within it, as there. The first reads (`warmup`) are not counted.

use model::{
    Cadence, Card, Family, Need, ParamKind, ParamSpec, Probe, Record, Setup, Simple, Size, TestName, Tier,
    Unfit, Variant,
};
use sys::clock;

use super::client::Client;
use super::hot::{self, Hot};
use super::keys::value;
use super::params;
use super::params::kv_params;
use super::probe::{StoreProbe, Work};
use super::ramcloud::RamCloud;
use super::target::{Held, store_fits};
use super::times::kv_figure;
use super::times::{FigureMetrics, Lines, Times};
use super::wire::Failure;
use crate::workload::ramcloud::session::SLICE;

const FIGURE: FigureMetrics = kv_figure!("readDist", "readDist.Bw", "median", "read the object");

const WARM_UP: ParamSpec = ParamSpec::new(
    "warmup",
    ParamKind::Int { min: 0, max: 1_000_000 },
    "100",
    "reads before those that count",
);

static CARD: Card = Card {
    name: "kv-dist",
    family: Family::Kv,
    says: "readDist: distribution of the times to read one object, back to back",
    source: "clusterperf readDist (RAMCloud)",
    shown: params::shown(2, params::TELLS),
    cadence: Cadence::Repeat,
    definition: 1,
    derived: params::DERIVED,
    params: kv_params![params::MODE, params::SIZE, params::COUNT, WARM_UP,],
    metrics: &FIGURE.infos(),
    needs: &[Need::Server],
    tests: &[TestName::new("readDist")],
    variants: &[Variant {
        tier: Tier::Default,
        set: "kv=redis|memcached",
        headline: &["readDist", "readDist.99"],
    }],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(store_fits);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let value = value(params::size(setup));
    let (held, table) = Held::filled(setup, 1, &value)?;
    let count = if setup.size == Size::Smoke { 600 } else { params::number(setup, "count") };
    let work = BackToBack {
        key: table.keys.key(table.letter, 0),
        value,
        count: usize::try_from(count).unwrap_or(10_000),
        warm_up: params::number(setup, "warmup"),
        times: Times::default(),
    };
    Ok(Box::new(StoreProbe::new(held, work)))
}

struct BackToBack {
    key: [u8; super::keys::KEY],
    value: Vec<u8>,
    count: usize,
    warm_up: u64,
    times: Times,
}

impl BackToBack {
    fn time(&mut self, held: &Held) -> Result<(), Failure> {
        let size = self.value.len();
        let mut to = held.target.open()?;
        to.make_room(size);
        let hot = Hot { key: &self.key, value: &self.value, replicas: 0 };
        hot.check(&mut to)?;
        self.times.clear(self.count);
        for _ in 0..self.warm_up {
            hot::is_one(&to.turn()?, size)?;
        }
        if let Client::RamCloud(to) = &mut to {
            return rows(to, &mut self.times, size);
        }
        let mut from_ns = clock::now_ns();
        loop {
            hot::is_one(&to.turn()?, size)?;
            let back_ns = clock::now_ns();
            if !self.times.add(back_ns - from_ns) {
                return Ok(());
            }
            from_ns = back_ns;
        }
    }
}

impl Work for BackToBack {
    fn run(&mut self, held: &Held, record: &mut dyn Record) -> Result<(), Failure> {
        self.time(held)?;
        FIGURE.push(&Lines::from_times(&mut self.times, self.value.len()), record);
        Ok(())
    }
}

/// The same by a client that times rows of requests itself: between two rows nothing is counted.
fn rows(to: &mut RamCloud, times: &mut Times, size: usize) -> Result<(), Failure> {
    loop {
        let row = to.again(1, SLICE)?;
        let mut from_ns = row.first().map_or(0, |first| first.begin_ns);
        for outcome in &row {
            hot::is_one(&to.answer(outcome)?, size)?;
            if !times.add(outcome.end_ns.saturating_sub(from_ns)) {
                return Ok(());
            }
            from_ns = outcome.end_ns;
        }
    }
}
