//! Page faults and swapping of the whole system.
//!
//! Events a second. A minor fault costs a microsecond, a major one a disk access.

use model::{
    Cadence, Card, Family, Fault, Instrument, Metric, PerSec, Probe, Record, RecordExt, Setup, Unfit,
};

use super::parse::pairs;
use super::read::Needed;
use super::since::{Since, maybe_rate, per_sec};

const FAULTS: Metric<PerSec> = per_sec("faults", "Page faults, minor and major");
const MAJOR: Metric<PerSec> = per_sec("major-faults", "Page faults that had to read a disk");
const IN: Metric<PerSec> = per_sec("swap-in", "Pages read from swap");
const OUT: Metric<PerSec> = per_sec("swap-out", "Pages written to swap");

const NAMES: [&str; 4] = ["pgfault", "pgmajfault", "pswpin", "pswpout"];

static CARD: Card = Card {
    name: "paging",
    family: Family::Telemetry,
    says: "page faults and swapping",
    source: "/proc/vmstat",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[FAULTS.info(), MAJOR.info(), IN.info(), OUT.info()],
    ..Card::DEFAULT
};

pub struct Paging;

pub static INSTRUMENT: Paging = Paging;

impl Instrument for Paging {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn prepare(&self, _: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        let file = Needed::open("/proc/vmstat")?;
        Ok(Box::new(Counters { file, since: Since::new() }))
    }
}

struct Counters {
    file: Needed,
    since: Since<[Option<u64>; 4]>,
}

impl Probe for Counters {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let now = self.file.parse(|bytes| pairs::pick(bytes, NAMES))?;
        let Some(step) = self.since.step(sys::clock::now_ns(), now) else { return Ok(()) };
        for ((metric, now), before) in [&FAULTS, &MAJOR, &IN, &OUT].into_iter().zip(step.now).zip(step.before)
        {
            if let Some(rate) = maybe_rate(*now, before, step.seconds) {
                record.push(metric, PerSec(rate));
            }
        }
        Ok(())
    }
}
