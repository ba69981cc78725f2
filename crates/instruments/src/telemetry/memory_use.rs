//! Memory use: available memory, page cache, data not yet on disk, swap.
//!
//! Bytes of the whole system, at the tick.

use model::{
    Better, Bytes, Cadence, Card, Family, Fault, Instrument, Metric, Probe, Record, RecordExt, Setup, Unfit,
};

use super::parse::{float, meminfo};
use super::read::Needed;

const fn bytes(name: &'static str, definition: &'static str) -> Metric<Bytes> {
    Metric::new(name, Better::Neither, definition).binary()
}

const AVAILABLE: Metric<Bytes> =
    bytes("available", "Memory that programs could get without swapping (MemAvailable)");
const CACHED: Metric<Bytes> = bytes("cached", "Page cache and buffers");
const DIRTY: Metric<Bytes> =
    bytes("dirty", "Written by programs, not yet by the disk (dirty and under write-back)");
const SWAP: Metric<Bytes> = bytes("swap-used", "Memory that was moved to swap");

static CARD: Card = Card {
    name: "memory-use",
    family: Family::Telemetry,
    says: "available memory, page cache, dirty pages, swap",
    source: "/proc/meminfo",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[AVAILABLE.info(), CACHED.info(), DIRTY.info(), SWAP.info()],
    ..Card::DEFAULT
};

pub struct MemoryUse;

pub static INSTRUMENT: MemoryUse = MemoryUse;

impl Instrument for MemoryUse {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn prepare(&self, _: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        let file = Needed::open("/proc/meminfo")?;
        Ok(Box::new(Amounts { file }))
    }
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
            if let Some(amount) = amount {
                record.push(metric, Bytes(float(amount)));
            }
        }
        Ok(())
    }
}
