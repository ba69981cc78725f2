//! Memory latency: the time of one load whose address the load before it gave.
//!
//! A chain of pointers, one every `stride` bytes, is followed one hundred loads a turn. Counted is the
//! time of the walk divided by the loads; building, warming and flushing are not. Takes are summarised by
//! the median, where the classic tool prints the minimum.

use std::path::Path;

use model::params::{parse_bytes, show_bytes};
use model::{
    Better, By, Cadence, Card, Code, Family, Finding, Instrument, Label, Metric, ParamKind, ParamSpec, Probe,
    RecordExt, Seconds, Setup, Shown, Size, Tell, Tier, Topic, Unfit, Variant,
};

use crate::bench::ram::caches;
use crate::bench::ram::chain::WalkOrder;
use crate::bench::ram::place::{self, CPUS, MemoryPlacement, NODE, PAGES, RANGE, SIZE};
use crate::bench::ram::walk::Walk;

const LATENCY: Metric<Seconds> = Metric::new(
    "latency",
    Better::Lower,
    "time of one dependent load; ranges beyond the last-level cache are flushed from it before the walk, \
     smaller ones walked once around to warm them",
);
/// Bytes of a cache line, as the footprint of a chain counts them.
const LINE: u64 = 64;

static CARD: Card = Card {
    name: "mem-latency",
    family: Family::Memory,
    says: "latency of dependent loads by working set, stride and order",
    source: "lat_mem_rd-style (lmbench) definition, own code; random is its -t order",
    shown: Shown {
        label: "memory latency",
        main: "latency",
        tells: &[
            Tell::unusual("level").nor(&["memory"]),
            Tell::unusual("size"),
            Tell::unusual("mode"),
            Tell::unusual("pages"),
            Tell::unusual("node"),
            Tell::unusual("cpus"),
        ],
        sorted: &[By::Param("level"), By::Param("size"), By::Param("threads")],
        place: 1,
        topic: Topic::Memory,
        codes: &[Code::new("lat", "latency", "level=memory;mode=random")],
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new(
            "mode",
            ParamKind::Choice(&["random", "stride", "shuffled"]),
            "random",
            "random: pages in random order, each load on another page; stride: forward; shuffled: \
                   all slots in one pseudo-random order",
        )
        .label(Label::Value),
        ParamSpec::new(
            "level",
            ParamKind::Choice(&["L1", "L2", "L3", "L4", "memory", "any"]),
            "any",
            "working set in the middle of that cache's plateau; memory: the whole range; any: what \
                   `size` says, else the whole range",
        )
        .label(Label::Words(&[("any", "")])),
        ParamSpec::new(
            SIZE,
            ParamKind::Or("auto", &ParamKind::Bytes { min: 1024, max: 1 << 40 }),
            "auto",
            "working set; auto: from the level",
        )
        .label(Label::Bytes),
        ParamSpec::new(
            "stride",
            ParamKind::Bytes { min: 8, max: 1 << 20 },
            "64",
            "bytes between the slots of the chain",
        ),
        ParamSpec::new(
            RANGE,
            ParamKind::Or("auto", &ParamKind::Bytes { min: 4096, max: 1 << 40 }),
            "auto",
            "the largest working set; auto: 4 times the last-level cache, within a quarter of the \
                   memory",
        )
        .label(Label::Bytes),
        ParamSpec::new(
            "threads",
            ParamKind::Int { min: 1, max: 1 },
            "1",
            "one walker (mem-loaded has a load beside it)",
        ),
        CPUS,
        PAGES,
        NODE,
    ],
    metrics: &[LATENCY.info()],
    variants: &[
        Variant { tier: Tier::Quick, set: "level=memory", headline: &["latency"] },
        Variant {
            tier: Tier::Default,
            set: "mode=stride;stride=512;range=256MiB;level=L1|L2|L3|memory",
            headline: &[],
        },
        Variant {
            tier: Tier::Default,
            set: "size=4KiB|16KiB|64KiB|256KiB|1MiB|4MiB|16MiB|64MiB|256MiB",
            headline: &[],
        },
        Variant {
            tier: Tier::Full,
            set: "size=1KiB|2KiB|8KiB|12KiB|24KiB|32KiB|48KiB|96KiB|128KiB|192KiB|384KiB|512KiB|768KiB|\
                  1536KiB|2MiB|3MiB|6MiB|8MiB|12MiB|24MiB|32MiB|48MiB|96MiB|128MiB|192MiB|384MiB|512MiB|\
                  1GiB",
            headline: &[],
        },
        Variant { tier: Tier::Full, set: "mode=shuffled|stride;level=memory", headline: &[] },
        Variant { tier: Tier::Full, set: "level=memory;pages=huge", headline: &[] },
        Variant { tier: Tier::Full, set: "level=memory;cpus=each", headline: &[] },
        Variant { tier: Tier::Full, set: "level=memory;cpus=nodes;node=nodes", headline: &[] },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: MemLatency = MemLatency;

pub struct MemLatency;

fn order(setup: &Setup) -> WalkOrder {
    match setup.params.get("mode") {
        Some("stride") => WalkOrder::Stride,
        Some("shuffled") => WalkOrder::Shuffled,
        _ => WalkOrder::Pages,
    }
}

/// The working set, and why a figure from it is doubtful.
fn working_set(setup: &Setup, cpu: u32) -> Result<place::Extent, Unfit> {
    let range = place::extent(setup, RANGE, 1)?;
    let level = setup.params.get("level").unwrap_or("any");
    let size = setup.params.get(SIZE).filter(|&text| text != "auto");
    let within = |bytes: u64| {
        let bytes = if setup.size == Size::Smoke { bytes.min(range.bytes) } else { bytes };
        match bytes <= range.bytes {
            true => Ok(place::Extent { bytes, doubt: None }),
            false => Err(Unfit::new(format!(
                "{} is more than the range of {}",
                show_bytes(bytes),
                show_bytes(range.bytes)
            ))),
        }
    };
    match (level, size) {
        ("any", Some(text)) => {
            let bytes = parse_bytes(text).ok_or_else(|| Unfit::new(format!("`{text}` is not a size")))?;
            // A stated size may pass the automatic range, not the memory that may be used.
            let auto = setup.params.get(RANGE).is_none_or(|range| range == "auto");
            match auto && setup.size == Size::Full {
                true => place::extent(setup, SIZE, 1),
                false => within(bytes),
            }
        }
        (_, Some(text)) => {
            Err(Unfit::new(format!("size={text} is a working set of its own: use level=any with it")))
        }
        ("any" | "memory", None) => Ok(range),
        (level, None) => {
            let number = level.strip_prefix('L').and_then(|number| number.parse().ok()).unwrap_or(0);
            let caches = caches::of_cpu(Path::new("/sys"), cpu);
            match caches::plateau(&caches, number) {
                Some(bytes) => within(bytes),
                None => Err(Unfit::new(format!("the machine reports no {level} data cache"))),
            }
        }
    }
}

/// A long stride touches few lines: a chain over a wide range may still fit in the cache.
fn few_lines(lines: u64, llc: Option<u64>) -> Option<Finding> {
    let (llc, bytes) = (llc?, lines.saturating_mul(LINE));
    (bytes < llc.saturating_mul(2))
        .then(|| Finding::new(model::finding::Recorded::FewLines { touched_bytes: bytes, llc_bytes: llc }))
}

fn walk(setup: &Setup) -> Result<Walk, Unfit> {
    let place = MemoryPlacement::from_setup(setup)?;
    let cpu = place.cpus.first().copied().unwrap_or_default();
    let set = working_set(setup, cpu)?;
    let stride = setup.params.get("stride").and_then(parse_bytes).unwrap_or(LINE);
    let mut walk = Walk::new(place, set, (order(setup), stride))?;
    let lines = walk.slots as u64 * stride.min(LINE) / LINE;
    if setup.params.get("level") == Some("memory") && setup.size == Size::Full {
        walk.doubt = walk.doubt.or_else(|| few_lines(lines, setup.llc));
    }
    Ok(walk)
}

impl Instrument for MemLatency {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fit(&self, setup: &Setup) -> Result<(), Unfit> {
        walk(setup).map(|_| ())
    }

    fn prepare(&self, setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
        walk(setup)?.probe(setup, |walked, record| record.push(&LATENCY, walked.latency))
    }
}

#[cfg(test)]
mod tests {
    use model::{Params, Validity};

    use super::*;
    use crate::telemetry::record::Values;

    fn setup(params: &str) -> Setup {
        let params = CARD.resolve(&Params::parse(params).unwrap()).unwrap();
        let (llc, memory) = (Some(8 << 20), Some(4 << 30));
        let dir = std::env::temp_dir();
        Setup { llc, memory, ..Setup::bare(params, vec![0, 1], dir) }
    }

    #[test]
    fn sets_follow_level_size_and_range() {
        let set = |params: &str| working_set(&setup(params), 60_000);
        assert_eq!(set("level=memory").unwrap().bytes, 32 << 20);
        assert_eq!(set("level=memory;range=256MiB").unwrap().bytes, 256 << 20);
        assert!(set("level=memory;range=16MiB").unwrap().doubt.is_some());
        assert_eq!(set("size=64KiB").unwrap(), place::Extent { bytes: 64 << 10, doubt: None });
        assert_eq!(set("size=512MiB").unwrap().bytes, 512 << 20);
        assert!(set("size=2GiB").unwrap_err().why.contains("quarter of the memory"));
        assert!(set("size=64KiB;level=L1").unwrap_err().why.contains("level=any"));
        assert!(set("level=L2").unwrap_err().why.contains("no L2"));
        assert!(set("size=2MiB;range=1MiB").unwrap_err().why.contains("more than the range"));
    }

    #[test]
    fn memory_is_four_times_a_large_cache() {
        let set = |params: &str, llc: u64, memory: u64| {
            let here = Setup { llc: Some(llc << 20), memory: Some(memory << 30), ..setup(params) };
            working_set(&here, 60_000).unwrap()
        };
        for llc in [105, 260] {
            let whole = set("level=memory", llc, 24);
            assert!(whole.bytes >= (4 * llc) << 20, "{llc} MiB: {}", whole.bytes);
            assert_eq!(whole.doubt, None);
            assert_eq!(set("size=256MiB", llc, 24), place::Extent { bytes: 256 << 20, doubt: None });
            let published = set("level=memory;mode=stride;stride=512;range=256MiB", llc, 24);
            assert_eq!(published.doubt.unwrap().state, Validity::Doubtful);
            let tight = set("level=memory", llc, 1);
            assert_eq!((tight.bytes, tight.doubt.unwrap().state), (256 << 20, Validity::Doubtful));
        }
    }

    /// Of its own figure alone: the instrument has others, which are sound.
    #[test]
    fn a_doubt_names_no_other_figure() {
        let here = setup("level=memory;range=1MiB;cpus=auto");
        let cpus = sys::affinity::allowed().unwrap();
        let cpus = cpus.into_iter().map(|cpu| u32::try_from(cpu).unwrap()).collect();
        let mut probe = INSTRUMENT.prepare(&Setup { cpus, ..here }).unwrap();
        let mut values = Values::default();
        probe.take(1, &mut values).unwrap();
        let doubts: Vec<(&str, bool)> =
            values.refusals.iter().map(|doubt| (doubt.kind(), doubt.subject.is_run())).collect();
        assert_eq!(doubts, [("cached", true)]);
        assert!(values.get("latency").is_some_and(|latency| latency > 0.0));
    }

    #[test]
    fn long_strides_are_doubted() {
        let doubt = |params: &str| walk(&setup(params)).unwrap().doubt.map(|doubt| doubt.state);
        assert_eq!(doubt("level=memory"), None);
        assert_eq!(doubt("level=memory;stride=1KiB"), Some(Validity::Doubtful));
        assert_eq!(doubt("level=memory;mode=stride;stride=512;range=256MiB"), None);
    }

    #[test]
    fn impossible_shapes_say_why() {
        let why = |params: &str| INSTRUMENT.fit(&setup(params)).unwrap_err().why;
        assert!(why("stride=96").contains("power of two"));
        assert!(why("mode=stride;stride=12").contains("multiple of 8"));
        assert!(why("cpus=9").contains("CPU 9"));
    }
}
