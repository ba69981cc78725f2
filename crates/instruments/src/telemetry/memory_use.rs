//! Memory use: available memory, page cache, data not yet on disk, swap.
//!
//! Bytes of the whole system, at the tick.

use model::metrics::telemetry::{AVAILABLE, CACHED, DIRTY, SWAP};
use model::{Bytes, Cadence, Card, Family, Fault, Probe, Record, RecordExt, Setup, Simple, Unfit};

use super::parse::{float, meminfo};
use super::read::Needed;

static CARD: Card = Card {
    name: model::names::instrument::MEMORY_USE,
    family: Family::Telemetry,
    says: "available memory, page cache, dirty pages, swap",
    source: "/proc/meminfo",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[AVAILABLE.info(), CACHED.info(), DIRTY.info(), SWAP.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let file = Needed::open("/proc/meminfo")?;
    Ok(Box::new(Amounts { file }))
}

struct Amounts {
    file: Needed,
}

impl Probe for Amounts {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let now = self.file.parse(meminfo::parse)?;
        let all =
            [(&AVAILABLE, now.available), (&CACHED, now.cached), (&DIRTY, now.dirty), (&SWAP, now.swap_used)];
        for (metric, amount) in all {
            record.push_if(metric, amount.map(|amount| Bytes(float(amount))));
        }
        Ok(())
    }
}
