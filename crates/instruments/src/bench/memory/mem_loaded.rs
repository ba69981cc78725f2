//! Latency under load: the time of a dependent load while the other cores read memory.
//!
//! One thread walks a random chain; the others read arrays of their own and pause after each 4 KiB, so
//! that the load can be set. Counted are the walker's loads and the loaders' bytes.

use model::metrics::memory::{LOAD, LOADED_LATENCY};
use model::params::parse_bytes;
use model::{
    By, BytesPerSec, Cadence, Card, Family, Label, ParamKind, ParamSpec, Probe, RecordExt, Setup, Shown,
    Simple, Tell, Tier, Topic, Unfit, Variant,
};

use crate::bench::memory_access::chain::WalkOrder;
use crate::bench::memory_access::last_level;
use crate::bench::memory_access::place::{self, CPUS, HUGE_PAGES, MemoryPlacement, NODE, RANGE};
use crate::bench::memory_access::walk::Walk;

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
    definition: 2,
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
            "bytes of the chain and of the loaders' array each; auto: 4 times the last-level cache, at least 1 GiB, \
             within a quarter of the memory",
        )
        .label(Label::Bytes),
        HUGE_PAGES,
        NODE,
    ],
    metrics: &[LOADED_LATENCY.info(), LOAD.info()],
    variants: &[
        Variant { tier: Tier::Default, set: "pause=0|1000", headline: &[] },
        Variant { tier: Tier::Full, set: "pause=0|100|300|1000|3000|10000|100000", headline: &[] },
    ],
    ..Card::DEFAULT
};

fn walk(setup: &Setup) -> Result<Walk, Unfit> {
    let place = MemoryPlacement::from_setup(setup)?;
    if place.cpus.len() < 2 {
        return Err(Unfit::new("a load beside the walker needs at least 2 CPUs"));
    }
    let extent = place::extent(setup, RANGE, 2)?;
    let pause_ns = setup.params.get("pause").and_then(parse_bytes).unwrap_or(0);
    Ok(Walk::new(place, extent, (WalkOrder::Pages, 64))?.loaded(pause_ns))
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| walk(setup).map(|_| ()));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let llc = last_level::beside(setup, RANGE)?;
    let setup = &Setup { llc: llc.bytes(), ..setup.clone() };
    walk(setup)?.probe(setup, |walked, _, record| {
        record.push(&LOADED_LATENCY, walked.latency);
        record.push(&LOAD, BytesPerSec(walked.loaded));
    })
}

#[cfg(test)]
mod tests {
    use model::Params;

    use model::Instrument;

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
