//! Memory latency: the time of one load whose address the load before it gave.
//!
//! A chain of pointers, one every `stride` bytes, is followed one hundred loads a turn. Counted is the
//! time of the walk divided by the loads; building, warming and flushing are not. Takes are summarised by
//! the median, where the classic tool prints the minimum.
//!
//! Pages are huge. Through small ones a load far away also waits for a walk through page tables, in a virtual machine
//! through two sets of them: that is a figure of its own, `latency-and-walk`, and so is what a machine measures that
//! gives no huge pages. The range that `auto` came to is in the key. Not seen: the pages in which a hypervisor keeps
//! its guests' memory.

use std::path::Path;

use model::metrics::memory::{LATENCY, LATENCY_AND_WALK};
use model::params::{parse_bytes, show_bytes};
use model::{
    By, Cadence, Card, Code, Family, Finding, Label, ParamKind, ParamSpec, Probe, RecordExt, Setup, Shown,
    Simple, Size, Tell, Tier, Topic, Unfit, Variant,
};

use crate::bench::memory_access::caches;
use crate::bench::memory_access::chain::{CAN_FLUSH, WalkOrder};
use crate::bench::memory_access::place::{self, CPUS, HUGE_PAGES, MemoryPlacement, NODE, RANGE, SIZE};
use crate::bench::memory_access::walk::Walk;

/// Bytes of a cache line, as the footprint of a chain counts them.
const LINE: u64 = 64;

static CARD: Card = Card {
    name: model::names::instrument::MEM_LATENCY,
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
    definition: 2,
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
            "the largest working set; auto: 1 GiB, or the largest power of two within a quarter of the memory",
        )
        .label(Label::Bytes),
        ParamSpec::new(
            "threads",
            ParamKind::Int { min: 1, max: 1 },
            "1",
            "one walker (mem-loaded has a load beside it)",
        ),
        CPUS,
        HUGE_PAGES,
        NODE,
    ],
    metrics: &[LATENCY.info(), LATENCY_AND_WALK.info()],
    variants: &[
        Variant { tier: Tier::Quick, set: "level=memory", headline: &["latency"] },
        Variant { tier: Tier::Default, set: "level=memory;pages=small", headline: &[] },
        Variant {
            tier: Tier::Default,
            set: "mode=stride;stride=512;range=256MiB;level=L1|L2|L3|memory;pages=default",
            headline: &[],
        },
        Variant {
            tier: Tier::Default,
            set: "size=4KiB|16KiB|64KiB|256KiB|1MiB|4MiB|8MiB|16MiB|32MiB|64MiB|128MiB|256MiB",
            headline: &[],
        },
        Variant {
            tier: Tier::Full,
            set: "size=1KiB|2KiB|8KiB|12KiB|24KiB|32KiB|48KiB|96KiB|128KiB|192KiB|384KiB|512KiB|768KiB|\
                  1536KiB|2MiB|3MiB|6MiB|12MiB|24MiB|48MiB|96MiB|192MiB|384MiB|512MiB|1GiB",
            headline: &[],
        },
        Variant { tier: Tier::Full, set: "mode=shuffled|stride;level=memory", headline: &[] },
        Variant { tier: Tier::Full, set: "level=memory;pages=default", headline: &[] },
        Variant { tier: Tier::Full, set: "level=memory;cpus=each", headline: &[] },
        Variant { tier: Tier::Full, set: "level=memory;cpus=nodes;node=nodes", headline: &[] },
    ],
    ..Card::DEFAULT
};

fn order(setup: &Setup) -> WalkOrder {
    match setup.params.get("mode") {
        Some("stride") => WalkOrder::Stride,
        Some("shuffled") => WalkOrder::Shuffled,
        _ => WalkOrder::Pages,
    }
}

/// The working set, and why a figure from it is doubtful.
fn working_set(setup: &Setup, cpu: u32) -> Result<place::Extent, Unfit> {
    let range = place::range(setup)?;
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
    let range = set.bytes;
    let mut walk = Walk::new(place, set, (order(setup), stride))?;
    let lines = walk.slots as u64 * stride.min(LINE) / LINE;
    // What stands for memory is flushed from the caches; a working set is what they hold of it.
    let of_size = setup.params.get(SIZE).is_some_and(|size| size != "auto");
    walk.flush = !of_size && matches!(setup.params.get("level"), None | Some("any" | "memory"));
    if walk.flush && setup.size == Size::Full {
        if !CAN_FLUSH {
            walk.doubt = walk.doubt.or_else(|| few_lines(lines, setup.llc));
        }
        if setup.params.get(RANGE).is_none_or(|range| range == "auto") {
            walk.chosen.set(RANGE, &show_bytes(range));
        }
    }
    Ok(walk)
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| walk(setup).map(|_| ()));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    walk(setup)?.probe(setup, |walked, chosen, record| {
        let metric = if walked.page_walks { &LATENCY_AND_WALK } else { &LATENCY };
        match chosen.is_empty() {
            true => record.push(metric, walked.latency),
            false => record.push_of(metric, chosen, walked.latency),
        }
    })
}

#[cfg(test)]
mod tests {
    use model::{Params, Validity};

    use model::Instrument;

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
        assert_eq!(set("level=memory").unwrap(), place::Extent { bytes: 1 << 30, doubt: None });
        assert_eq!(set("level=memory;range=256MiB").unwrap().bytes, 256 << 20);
        assert_eq!(set("size=64KiB").unwrap(), place::Extent { bytes: 64 << 10, doubt: None });
        assert_eq!(set("size=512MiB").unwrap().bytes, 512 << 20);
        assert!(set("size=2GiB").unwrap_err().why.contains("quarter of the memory"));
        assert!(set("size=64KiB;level=L1").unwrap_err().why.contains("level=any"));
        assert!(set("level=L2").unwrap_err().why.contains("no L2"));
        assert!(set("size=2MiB;range=1MiB").unwrap_err().why.contains("more than the range"));
    }

    #[test]
    fn memory_is_flushed_and_a_working_set_is_not() {
        let flushed = |params: &str| walk(&setup(params)).unwrap().flush;
        assert!(
            flushed("level=memory") && flushed("level=any") && flushed("level=memory;mode=stride;stride=512")
        );
        assert!(!flushed("size=256MiB") && !flushed("size=4KiB"));
    }

    /// A chain over small pages is walked far and near: only what goes far holds walks through page tables.
    #[test]
    fn small_pages_make_a_figure_of_their_own() {
        let cpus = sys::affinity::allowed().unwrap();
        let cpus: Vec<u32> = cpus.into_iter().map(|cpu| u32::try_from(cpu).unwrap()).collect();
        let metric_of = |params: &str| {
            let setup = Setup { cpus: cpus.clone(), ..setup(params) };
            let mut values = Values::default();
            INSTRUMENT.prepare(&setup).unwrap().take(1, &mut values).unwrap();
            ["latency", "latency-and-walk"].map(|name| values.get(name).is_some())
        };
        assert_eq!(metric_of("level=memory;range=8MiB;pages=small"), [false, true]);
        assert_eq!(metric_of("level=memory;range=8MiB;pages=small;mode=stride"), [true, false]);
        assert_eq!(metric_of("size=1MiB;pages=small"), [true, false]);
        // Huge pages are had or not; either way it is one of the two.
        assert_eq!(metric_of("level=memory;range=8MiB").iter().filter(|there| **there).count(), 1);
    }

    /// Each line is flushed, so few of them are as good as many.
    #[test]
    fn long_strides_are_doubted_where_nothing_can_be_flushed() {
        let doubt = walk(&setup("level=memory;stride=1KiB;range=16MiB")).unwrap().doubt;
        assert_eq!(doubt.map(|doubt| doubt.state), (!CAN_FLUSH).then_some(Validity::Doubtful));
    }

    #[test]
    fn the_range_that_auto_came_to_is_in_the_key() {
        let chosen = |params: &str| walk(&setup(params)).unwrap().chosen.get("range").map(str::to_owned);
        assert_eq!(chosen("level=memory").as_deref(), Some("1GiB"));
        assert_eq!(chosen("level=memory;range=256MiB"), None);
        assert_eq!(chosen("size=64KiB"), None);
    }

    #[test]
    fn impossible_shapes_say_why() {
        let why = |params: &str| INSTRUMENT.fit(&setup(params)).unwrap_err().why;
        assert!(why("stride=96").contains("power of two"));
        assert!(why("mode=stride;stride=12").contains("multiple of 8"));
        assert!(why("cpus=9").contains("CPU 9"));
    }
}
