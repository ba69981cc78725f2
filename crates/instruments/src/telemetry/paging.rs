//! Page faults and swapping of the whole system.
//!
//! Events a second. A minor fault costs a microsecond, a major one a disk access.

use model::metrics::telemetry::{FAULTS, MAJOR, PAGING_IN, PAGING_OUT};
use model::{Cadence, Card, Family, Fault, PerSec, Probe, Record, RecordExt, Setup, Simple, Unfit};

use super::parse::pairs;
use super::read::Needed;
use super::since::{Since, maybe_rate};

const NAMES: [&str; 4] = ["pgfault", "pgmajfault", "pswpin", "pswpout"];

static CARD: Card = Card {
    name: "paging",
    family: Family::Telemetry,
    says: "page faults and swapping",
    source: "/proc/vmstat",
    cadence: Cadence::Tick,
    definition: 1,
    metrics: &[FAULTS.info(), MAJOR.info(), PAGING_IN.info(), PAGING_OUT.info()],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let file = Needed::open("/proc/vmstat")?;
    Ok(Box::new(Counters { file, since: Since::new() }))
}

struct Counters {
    file: Needed,
    since: Since<[Option<u64>; 4]>,
}

impl Probe for Counters {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let now = self.file.parse(|bytes| pairs::pick(bytes, NAMES))?;
        let Some(step) = self.since.step(sys::clock::now_ns(), now) else { return Ok(()) };
        for ((metric, now), before) in
            [&FAULTS, &MAJOR, &PAGING_IN, &PAGING_OUT].into_iter().zip(step.now).zip(step.before)
        {
            record.push_if(metric, maybe_rate(*now, before, step.seconds).map(PerSec));
        }
        Ok(())
    }
}
