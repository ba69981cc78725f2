//! clusterperf's `readDist`: one client reads one object back to back; how its times are distributed.
//!
//! A time is the difference between the ends of two requests in a row, so that what the client does in between is
//! within it, as there. The first reads (`warmup`) are not counted.

use model::{
    Cadence, Card, Family, Fault, Instrument, Need, ParamKind, ParamSpec, Probe, Record, Setup, Size, Tier,
    Unfit, Variant,
};
use sys::clock;

use super::client::Client;
use super::hot::{self, Hot};
use super::keys::value;
use super::params;
use super::ramcloud::RamCloud;
use super::target::{Held, fit};
use super::times::{Figure, Lines, Times};
use super::wire::Failure;
use crate::workload::ramcloud::session::SLICE;
use crate::{kv_figure, kv_params};

const FIGURE: Figure = kv_figure!("readDist", "readDist.Bw", "median", "read the object");

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
    params: kv_params![params::MODE, params::SIZE, params::COUNT, WARM_UP,],
    metrics: &FIGURE.infos(),
    needs: &[Need::Server],
    variants: &[Variant {
        tier: Tier::Default,
        set: "kv=redis|memcached",
        headline: &["readDist", "readDist.99"],
    }],
    ..Card::DEFAULT
};

pub struct KvDist;

pub static INSTRUMENT: KvDist = KvDist;

impl Instrument for KvDist {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        fit(setup)
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        let value = value(params::size(setup));
        let (held, table) = Held::filled(setup, 1, &value)?;
        let count = if setup.size == Size::Smoke { 600 } else { params::number(setup, "count") };
        Ok(Box::new(BackToBack {
            key: table.keys.key(table.letter, 0),
            held,
            value,
            count: usize::try_from(count).unwrap_or(10_000),
            warm_up: params::number(setup, "warmup"),
            times: Times::default(),
        }))
    }
}

struct BackToBack {
    held: Held,
    key: [u8; super::keys::KEY],
    value: Vec<u8>,
    count: usize,
    warm_up: u64,
    times: Times,
}

impl BackToBack {
    fn run(&mut self) -> Result<(), Failure> {
        let size = self.value.len();
        let mut to = self.held.target.open()?;
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

impl Probe for BackToBack {
    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.held.target.tell(record);
        let _pinned = self.held.target.pin(0)?;
        self.run().map_err(|failure| self.held.target.explain(&failure))?;
        FIGURE.push(&Lines::of(&mut self.times, self.value.len()), record);
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        self.held.target.busy()
    }
}
