//! Latency under load: the time of a dependent load while the other cores read memory.
//!
//! One thread walks a random chain; the others read arrays of their own and pause after each 4 KiB, so
//! that the load can be set. Counted are the walker's loads and the loaders' bytes; pages are small unless
//! `pages` says otherwise.

use model::params::parse_bytes;
use model::{
    Better, BytesPerSec, Cadence, Card, Family, Fault, Finding, Instrument, Metric, ParamKind, ParamSpec,
    Probe, Record, RecordExt, Seconds, Setup, Tier, Unfit, Variant,
};

use crate::bench::kernel::repeats_for;
use crate::bench::ram::chain::{Links, Order, Shape};
use crate::bench::ram::latency::Chase;
use crate::bench::ram::place::{self, CPUS, NODE, PAGES, Place};

const LATENCY: Metric<Seconds> = Metric::new(
    "latency",
    Better::Lower,
    "time of one dependent load in random page order while the other threads read memory",
);
const LOAD: Metric<BytesPerSec> =
    Metric::new("load", Better::Neither, "bytes per second that the other threads read meanwhile, MB = 10^6");

static CARD: Card = Card {
    name: "mem-loaded",
    family: Family::Memory,
    says: "memory latency while the other cores load the memory",
    source: "own, after the idea of loaded-latency curves",
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec {
            name: "pause",
            kind: ParamKind::Int { min: 0, max: 1_000_000 },
            default: "0",
            says: "nanoseconds that a loader waits after each 4 KiB; 0 is the heaviest load",
        },
        ParamSpec {
            name: "threads",
            kind: ParamKind::Threads,
            default: "all",
            says: "one walker and the others loaders",
        },
        CPUS,
        ParamSpec {
            name: "range",
            kind: ParamKind::BytesOrAuto { min: 4096, max: 1 << 40 },
            default: "auto",
            says: "bytes of the chain and of the loaders' array each; auto: 4 times the last-level cache",
        },
        PAGES,
        NODE,
    ],
    metrics: &[LATENCY.info(), LOAD.info()],
    needs: &[],
    variants: &[
        Variant { tier: Tier::Default, set: "pause=0|1000", headline: &[] },
        Variant { tier: Tier::Full, set: "pause=0|100|300|1000|3000|10000|100000", headline: &[] },
    ],
};

pub static INSTRUMENT: MemLoaded = MemLoaded;

pub struct MemLoaded;

struct Task {
    place: Place,
    shape: Shape,
    pause_ns: u64,
    doubt: Option<Finding>,
}

fn task(setup: &Setup) -> Result<Task, Unfit> {
    let place = Place::of(setup)?;
    if place.cpus.len() < 2 {
        return Err(Unfit::new("a load beside the walker needs at least 2 CPUs"));
    }
    let extent = place::extent(setup, setup.params.get("range"), 2)?;
    let range = usize::try_from(extent.bytes).map_err(|_| Unfit::new("larger than the address space"))?;
    let (order, links) = (Order::Pages, Links::Offsets);
    let shape = Shape { order, links, range, stride: 64, seed: setup.seed };
    shape.slots().map_err(|error| Unfit::new(error.to_string()))?;
    let pause_ns = setup.params.get("pause").and_then(parse_bytes).unwrap_or(0);
    Ok(Task { place, shape, pause_ns, doubt: extent.doubt })
}

impl Instrument for MemLoaded {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        task(setup).map(|_| ())
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        let Task { place, shape, pause_ns, doubt } = task(setup)?;
        let chase = Chase::prepare(setup, place, shape, Some((shape.range, pause_ns)))?;
        Ok(Box::new(Loaded { chase, doubt, noted: false }))
    }
}

struct Loaded {
    chase: Chase,
    doubt: Option<Finding>,
    noted: bool,
}

impl Probe for Loaded {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |units| Ok(self.chase.walk(units)?.time))
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let walked = self.chase.walk(repeats.max(1))?;
        record.push(&LATENCY, walked.latency);
        record.push(&LOAD, BytesPerSec(walked.loaded));
        for doubt in self.doubt.iter().chain(&self.chase.doubt) {
            record.refuse(doubt.clone().about(CARD.name));
        }
        if !self.noted {
            self.noted = true;
            record.note("pinning", &self.chase.place().sentence());
        }
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        self.chase.cpus()
    }

    fn footprint(&self) -> u64 {
        self.chase.footprint()
    }
}

#[cfg(test)]
mod tests {
    use model::{Params, Size};

    use super::*;

    #[test]
    fn one_cpu_is_too_few() {
        let params = CARD.resolve(&Params::default()).unwrap();
        let (llc, memory) = (Some(8 << 20), Some(4 << 30));
        let dir = std::env::temp_dir();
        let one = Setup { params, size: Size::Full, cpus: vec![0], dir, llc, memory, seed: 1, command: None };
        assert!(INSTRUMENT.fit(&one).unwrap_err().why.contains("at least 2 CPUs"));
        assert_eq!(INSTRUMENT.fit(&Setup { cpus: vec![0, 1], ..one }), Ok(()));
    }
}
