//! Latency under load: the time of a dependent load while the other cores read memory.
//!
//! One thread walks a random chain; the others read arrays of their own and pause after each 4 KiB, so
//! that the load can be set. Counted are the walker's loads and the loaders' bytes; pages are small unless
//! `pages` says otherwise.

use model::params::parse_bytes;
use model::{
    Better, By, BytesPerSec, Cadence, Card, Family, Instrument, Label, Metric, ParamKind, ParamSpec, Probe,
    RecordExt, Seconds, Setup, Shown, Tell, Tier, Topic, Unfit, Variant,
};

use crate::bench::ram::chain::WalkOrder;
use crate::bench::ram::place::{self, CPUS, MemoryPlacement, NODE, PAGES, RANGE};
use crate::bench::ram::walk::Walk;

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
    shown: Shown {
        label: "loaded latency",
        main: "latency",
        tells: &[Tell::always("pause")],
        sorted: &[By::Param("threads")],
        place: 2,
        topic: Topic::Memory,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new(
            "pause",
            ParamKind::Int { min: 0, max: 1_000_000 },
            "0",
            "nanoseconds that a loader waits after each 4 KiB; 0 is the heaviest load",
        ),
        ParamSpec::new("threads", ParamKind::Threads, "all", "one walker and the others loaders")
            .label(Label::Count("thread", "threads")),
        CPUS,
        ParamSpec::new(
            RANGE,
            ParamKind::Or("auto", &ParamKind::Bytes { min: 4096, max: 1 << 40 }),
            "auto",
            "bytes of the chain and of the loaders' array each; auto: 4 times the last-level cache",
        )
        .label(Label::Bytes),
        PAGES,
        NODE,
    ],
    metrics: &[LATENCY.info(), LOAD.info()],
    variants: &[
        Variant { tier: Tier::Default, set: "pause=0|1000", headline: &[] },
        Variant { tier: Tier::Full, set: "pause=0|100|300|1000|3000|10000|100000", headline: &[] },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: MemLoaded = MemLoaded;

pub struct MemLoaded;

fn walk(setup: &Setup) -> Result<Walk, Unfit> {
    let place = MemoryPlacement::from_setup(setup)?;
    if place.cpus.len() < 2 {
        return Err(Unfit::new("a load beside the walker needs at least 2 CPUs"));
    }
    let extent = place::extent(setup, RANGE, 2)?;
    let pause_ns = setup.params.get("pause").and_then(parse_bytes).unwrap_or(0);
    Ok(Walk::new(place, extent, (WalkOrder::Pages, 64))?.loaded(pause_ns))
}

impl Instrument for MemLoaded {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        walk(setup).map(|_| ())
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        walk(setup)?.probe(setup, |walked, record| {
            record.push(&LATENCY, walked.latency);
            record.push(&LOAD, BytesPerSec(walked.loaded));
        })
    }
}

#[cfg(test)]
mod tests {
    use model::Params;

    use super::*;

    #[test]
    fn one_cpu_is_too_few() {
        let params = CARD.resolve(&Params::default()).unwrap();
        let (llc, memory) = (Some(8 << 20), Some(4 << 30));
        let dir = std::env::temp_dir();
        let one = Setup { llc, memory, ..Setup::bare(params, vec![0], dir) };
        assert!(INSTRUMENT.fit(&one).unwrap_err().why.contains("at least 2 CPUs"));
        assert_eq!(INSTRUMENT.fit(&Setup { cpus: vec![0, 1], ..one }), Ok(()));
    }
}
