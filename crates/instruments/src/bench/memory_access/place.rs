//! The placement of a memory take and the size of its arrays: CPUs, NUMA node, pages, bytes, and doubts about the
//! size.

use std::fs;
use std::path::Path;

use model::finding::Recorded;
pub use model::finding::TIMES_CACHE;
use model::params::{ParamSpec, parse_bytes, parse_cpus, show_bytes, show_cpus};
use model::{Derived, Fact, Finding, Node, ParamKind, Params, Setup, Size, Unfit, format};

use super::chain::CAN_FLUSH;
use crate::bench::spread;

/// All arrays together are at most memory divided by this.
const SHARE: u64 = 4;
/// Memory that may be used on a machine that does not say how much it has, in bytes.
const WITHOUT_MEMORY: u64 = 768 << 20;
/// An array that stands for memory is at least this large where it fits: a hypervisor may report a smaller cache than
/// there is.
const LEAST: u64 = 1 << 30;
/// Sizes are whole huge pages.
const GRAIN: u64 = 2 << 20;
/// The parameter that may ask for less than memory.
pub const SIZE: &str = "size";
/// The parameter that says how far memory reaches.
pub const RANGE: &str = "range";
/// The largest size of a smoke test.
pub const SMOKE: u64 = 1 << 20;

/// The memory channels that have a module, which bound the bandwidth: `all`, or how many where some have none.
pub const CHANNELS: Derived = Derived {
    name: "channels",
    value: channels,
    usual: Some("all"),
    remedy: "boxscore note MACHINE --fact memory.modules=1, or memory.channels and memory.channels.empty, say it",
};

/// By the tables of the firmware, or by hand. The tables of a hypervisor say nothing of the modules below it.
fn channels(_: &Params, facts: &[Fact]) -> Option<String> {
    let known = |key: &str| {
        let fact = facts.iter().find(|fact| fact.key == key).filter(|fact| !fact.is_of_hypervisor())?;
        fact.value.as_ref()?.number()
    };
    match (known("memory.channels.empty"), known("memory.modules")) {
        (Some(0.0), _) => Some("all".to_owned()),
        (Some(_), _) => known("memory.channels").map(|count| count.to_string()),
        // One module is on one channel.
        (None, Some(1.0)) => Some("1".to_owned()),
        (None, _) => None,
    }
}

pub const CPUS: ParamSpec = ParamSpec::new(
    "cpus",
    ParamKind::Cpus,
    "auto",
    "CPUs that threads are pinned to, one each; auto: one of each core first, CPU 0 and its siblings last",
);
pub const PAGES: ParamSpec = ParamSpec::new(
    "pages",
    ParamKind::Choice(&["default", "huge", "small"]),
    "default",
    "default: as the kernel's setting has it; huge: 2 MiB pages, reserved ones where there are, else asked for; \
     small: pages of the base size alone",
);
/// As [`PAGES`], for latency: walks through small pages would be part of it.
pub const HUGE_PAGES: ParamSpec = ParamSpec { default: "huge", ..PAGES };
pub const NODE: ParamSpec = ParamSpec::new(
    "node",
    ParamKind::Choice(&[
        "any", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15",
    ]),
    "any",
    "NUMA node that the memory is bound to; any: where it is first touched",
);

/// CPUs, pages and node of a take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlacement {
    pub cpus: Vec<u32>,
    /// CPUs that fill new arrays: all that may be used, but on a machine with several nodes only `cpus`,
    /// since memory that is not bound comes from the node that touches it first.
    pub fillers: Vec<u32>,
    pub kind: Kind,
}

/// The pages that an array is asked to lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PageSize {
    /// As the kernel's setting has it.
    #[default]
    Default,
    Huge,
    Small,
}

/// The kind of memory of an array; arrays of equal kind are shared.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Kind {
    pub pages: PageSize,
    pub node: Option<u32>,
    /// Nodes of the CPUs that touch it first; empty on a machine with one node, and where `node` is stated.
    pub touched_from: Vec<u32>,
}

impl MemoryPlacement {
    /// From the parameters `threads`, `cpus`, `pages` and `node`. Fails when they are not possible here.
    pub fn from_setup(setup: &Setup) -> Result<MemoryPlacement, Unfit> {
        MemoryPlacement::among(&nodes(Path::new("/sys")), setup)
    }

    fn among(nodes: &[Node], setup: &Setup) -> Result<MemoryPlacement, Unfit> {
        let cpus = cpus(setup)?;
        let node = match setup.params.get("node") {
            None | Some("any") => None,
            Some(text) => Some(text.parse().map_err(|_| Unfit::new(format!("there is no node {text}")))?),
        };
        if let Some(node) = node
            && !nodes.iter().any(|known| known.id == node)
        {
            return Err(Unfit::new(format!("there is no NUMA node {node} here")));
        }
        let mut touched_from: Vec<u32> = Vec::new();
        // Bound memory lies on its node whoever touches it.
        if nodes.len() > 1 && node.is_none() {
            let home = |node: &Node| cpus.iter().any(|cpu| node.cpus.contains(cpu)).then_some(node.id);
            touched_from = nodes.iter().filter_map(home).collect();
        }
        let pages = match setup.params.get("pages") {
            Some("huge") => PageSize::Huge,
            Some("small") => PageSize::Small,
            _ => PageSize::Default,
        };
        let fillers = if touched_from.is_empty() { setup.cpus.clone() } else { cpus.clone() };
        Ok(MemoryPlacement { cpus, fillers, kind: Kind { pages, node, touched_from } })
    }

    /// A sentence for the `pinning` note.
    pub fn sentence(&self) -> String {
        let memory = match self.kind.node {
            None => String::new(),
            Some(node) => format!(", memory on node {node}"),
        };
        format!("{} on CPU {}{memory}", format::count(self.cpus.len(), "thread"), show_cpus(&self.cpus))
    }
}

/// The CPUs of `threads` threads, from `cpus`, or spread over the cores of the allowed ones.
fn cpus(setup: &Setup) -> Result<Vec<u32>, Unfit> {
    let listed = match setup.params.get("cpus") {
        None | Some("auto") => spread::cpus(&setup.cpus),
        Some(text) => parse_cpus(text).ok_or_else(|| Unfit::new(format!("`{text}` is no CPU list")))?,
    };
    if let Some(missing) = listed.iter().find(|cpu| !setup.cpus.contains(cpu)) {
        return Err(Unfit::new(format!("CPU {missing} is not among the allowed CPUs")));
    }
    let bounded = Setup { cpus: listed.clone(), ..setup.clone() };
    let threads = bounded.threads()?;
    Ok(listed.into_iter().take(threads).collect())
}

/// NUMA nodes as the kernel lists them; none where it knows of no such thing.
pub fn nodes(sys: &Path) -> Vec<Node> {
    let folder = sys.join("devices/system/node");
    let list = |name: &str| parse_cpus(&fs::read_to_string(folder.join(name)).ok()?);
    let ids = list("online").unwrap_or_default();
    // Kernels before 2.6.24 do not say; there nodes had memory.
    let with_memory = list("has_memory").unwrap_or_else(|| ids.clone());
    let node = |&id: &u32| Node {
        id,
        cpus: list(&format!("node{id}/cpulist")).unwrap_or_default(),
        memory: with_memory.contains(&id),
    };
    ids.iter().map(node).collect()
}

/// The memory that all arrays together may take.
pub fn limit(setup: &Setup) -> u64 {
    setup.memory.map_or(WITHOUT_MEMORY, |memory| memory / SHARE)
}

/// Bytes of each array, and why a figure from them would be doubtful.
#[derive(Clone, Debug, PartialEq)]
pub struct Extent {
    pub bytes: u64,
    pub doubt: Option<Finding>,
}

/// From the parameter `key` (`auto` or a size); `arrays` of that size must fit together. Fails when they do not. An
/// automatic size and a `range` claim to be memory, so they are doubted where a cache may hold them. A `size` given by
/// hand claims nothing: it is a point of a sweep, and may be meant for a cache.
pub fn extent(setup: &Setup, key: &str, arrays: u64) -> Result<Extent, Unfit> {
    let wanted = setup.llc.map(|llc| llc.saturating_mul(TIMES_CACHE));
    let limit = limit(setup);
    let explicit = match setup.params.get(key) {
        None | Some("auto") => None,
        Some(text) => Some(parse_bytes(text).ok_or_else(|| Unfit::new(format!("`{text}` is not a size")))?),
    };
    if setup.size == Size::Smoke {
        return Ok(Extent { bytes: explicit.unwrap_or(SMOKE).min(SMOKE), doubt: None });
    }
    let bytes = match explicit {
        Some(bytes) if bytes.saturating_mul(arrays) > limit => {
            return Err(Unfit::new(format!(
                "{arrays} x {} is more than a quarter of the memory ({})",
                show_bytes(bytes),
                show_bytes(limit)
            )));
        }
        Some(bytes) => bytes,
        None => {
            let most = limit / arrays / GRAIN * GRAIN;
            wanted.unwrap_or(LEAST).max(LEAST).next_multiple_of(GRAIN).min(most)
        }
    };
    if bytes == 0 {
        return Err(Unfit::new(format!("a quarter of the memory ({}) holds no array", show_bytes(limit))));
    }
    let claims_memory = explicit.is_none() || key != SIZE;
    Ok(Extent { bytes, doubt: claims_memory.then(|| doubt(bytes, setup.llc)).flatten() })
}

/// The range of a chain whose lines are flushed before they are walked, from the parameter [`RANGE`]. It needs to pass
/// no cache, so `auto` is the same wherever memory allows: 1 GiB, else the largest power of two within a quarter of the
/// memory. Where programs cannot flush it is an [`extent`]. Fails when it does not fit.
pub fn range(setup: &Setup) -> Result<Extent, Unfit> {
    let is_auto = setup.params.get(RANGE).is_none_or(|range| range == "auto");
    if !CAN_FLUSH {
        return extent(setup, RANGE, 1);
    }
    if is_auto && setup.size == Size::Full {
        let most = limit(setup).checked_ilog2().map_or(0, |bits| 1 << bits);
        return match most < GRAIN {
            true => Err(Unfit::new(format!("a quarter of the memory ({}) holds no chain", show_bytes(most)))),
            false => Ok(Extent { bytes: most.min(LEAST), doubt: None }),
        };
    }
    Ok(Extent { doubt: None, ..extent(setup, RANGE, 1)? })
}

/// Why memory figures from `bytes` beside a last-level cache of `llc` are doubtful, if so.
pub fn doubt(bytes: u64, llc: Option<u64>) -> Option<Finding> {
    let Some(llc) = llc else {
        return Some(Finding::new(Recorded::CacheUnknown { array_bytes: bytes }));
    };
    let is_small = bytes < llc.saturating_mul(TIMES_CACHE);
    is_small.then(|| Finding::new(Recorded::SmallArray { array_bytes: bytes, llc_bytes: llc }))
}

/// Huge pages are a wish: what is doubtful when the kernel gave few of them.
pub fn huge_doubt(got: Result<u64, String>, bytes: u64) -> Option<Finding> {
    match got {
        Err(why) => Some(Finding::new(Recorded::HugePagesUnknown(why))),
        Ok(got) if got < bytes / 10 * 9 => {
            Some(Finding::new(Recorded::HugePages { huge_bytes: got, array_bytes: bytes }))
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use model::{Unit, Validity};

    use super::*;

    #[test]
    fn populated_channels_follow_from_facts() {
        let number = |key: &str, value: f64| Fact::number(key, value, Unit::Count, "dmi");
        let of = |facts: &[Fact]| channels(&Params::default(), facts);
        assert_eq!(of(&[]), None);
        let (full, empty) = (number("memory.channels.empty", 0.0), number("memory.channels.empty", 2.0));
        assert_eq!(of(&[full]).as_deref(), Some("all"));
        assert_eq!(of(std::slice::from_ref(&empty)), None);
        assert_eq!(of(&[empty, number("memory.channels", 1.0)]).as_deref(), Some("1"));
        let one = number("memory.modules", 1.0);
        assert_eq!(of(std::slice::from_ref(&one)).as_deref(), Some("1"));
        assert_eq!(of(&[number("memory.modules", 4.0)]), None);
        assert_eq!(of(&[one.because(model::fact::HYPERVISOR)]), None);
    }

    fn setup(params: &str, cpus: &[u32], llc: Option<u64>, memory: Option<u64>) -> Setup {
        Setup {
            llc,
            memory,
            ..Setup::bare(Params::parse(params).unwrap(), cpus.to_vec(), std::env::temp_dir())
        }
    }

    #[test]
    fn auto_is_four_times_the_cache_while_it_fits() {
        let here = |memory| setup("size=auto", &[0], Some(480 << 20), Some(memory));
        let plenty = extent(&here(24 << 30), SIZE, 3).unwrap();
        assert_eq!(plenty, Extent { bytes: 1920 << 20, doubt: None });
        let small = setup("size=auto", &[0], Some(16 << 20), Some(24 << 30));
        assert_eq!(extent(&small, SIZE, 3).unwrap(), Extent { bytes: 1 << 30, doubt: None });
        let tight = extent(&here(4 << 30), SIZE, 2).unwrap();
        assert_eq!(tight.bytes, 512 << 20);
        let doubt = tight.doubt.unwrap();
        assert_eq!(doubt.state, Validity::Doubtful);
        assert_eq!(
            doubt.text(),
            "may measure the cache, not memory: 512MiB is 1.1 times the last-level cache of 480MiB that the \
             machine reports; 4 times are needed to be sure of memory"
        );
    }

    #[test]
    fn a_flushed_range_is_the_same_beside_every_cache() {
        let of = |params: &str, llc, memory| range(&setup(params, &[0], llc, Some(memory))).unwrap().bytes;
        for llc in [None, Some(16 << 20), Some(480 << 20)] {
            assert_eq!(of("", llc, 24 << 30), 1 << 30);
            assert_eq!(of("range=auto", llc, 4 << 30), 1 << 30);
            assert_eq!(of("range=auto", llc, 3 << 30), 512 << 20);
            assert_eq!(of("range=256MiB", llc, 4 << 30), 256 << 20);
        }
        assert!(range(&setup("range=1GiB", &[0], None, Some(3 << 30))).is_err());
    }

    #[test]
    fn explicit_sizes_are_kept_or_refused() {
        let of = |params: &str, key, arrays| {
            extent(&setup(params, &[0], Some(8 << 20), Some(4 << 30)), key, arrays)
        };
        assert_eq!(of("size=64MiB", SIZE, 1).unwrap(), Extent { bytes: 64 << 20, doubt: None });
        assert!(of("size=600MiB", SIZE, 2).unwrap_err().why.contains("quarter of the memory"));
        assert!(of("range=600MiB", RANGE, 2).is_err());
    }

    #[test]
    fn only_what_claims_to_be_memory_is_doubted() {
        let doubt = |params: &str, key| {
            let here = setup(params, &[0], Some(105 << 20), Some(24 << 30));
            extent(&here, key, 1).unwrap().doubt.map(|doubt| doubt.state)
        };
        assert_eq!(doubt("size=256MiB", SIZE), None);
        assert_eq!(doubt("size=4KiB", SIZE), None);
        assert_eq!(doubt("size=auto", SIZE), None);
        assert_eq!(doubt("range=256MiB", RANGE), Some(Validity::Doubtful));
        assert_eq!(doubt("range=420MiB", RANGE), None);
    }

    #[test]
    fn without_a_reported_cache_the_state_is_unknown() {
        let here = setup("", &[0], None, None);
        assert_eq!(extent(&here, SIZE, 1).unwrap().doubt.unwrap().state, Validity::Unknown);
    }

    #[test]
    fn few_huge_pages_are_doubted() {
        let state = |got| huge_doubt(got, 100 << 20).map(|finding| finding.state);
        assert_eq!(state(Ok(100 << 20)), None);
        assert_eq!(state(Ok(0)), Some(Validity::Doubtful));
        assert_eq!(state(Err("no smaps".to_owned())), Some(Validity::Unknown));
    }

    #[test]
    fn cpus_are_stated_or_the_first_allowed() {
        let of = |params: &str| cpus(&setup(params, &[2, 3, 5], None, None));
        assert_eq!(of("threads=2;cpus=auto"), Ok(vec![2, 3]));
        assert_eq!(of("threads=all;cpus=2-3"), Ok(vec![2, 3]));
        assert_eq!(of("threads=1;cpus=5"), Ok(vec![5]));
        assert_eq!(of("threads=1;cpus=4").unwrap_err().why, "CPU 4 is not among the allowed CPUs");
        assert_eq!(of("threads=2;cpus=5").unwrap_err().why, "2 threads on 1 allowed CPUs");
    }

    fn node(id: u32, cpus: &[u32]) -> Node {
        Node { id, cpus: cpus.to_vec(), memory: true }
    }

    #[test]
    fn nodes_come_from_a_planted_tree() {
        let sys = tempfile::tempdir().unwrap();
        let folder = sys.path().join("devices/system/node");
        for (id, list) in [(0, "0-3\n"), (1, "4-7\n"), (2, "\n")] {
            fs::create_dir_all(folder.join(format!("node{id}"))).unwrap();
            fs::write(folder.join(format!("node{id}/cpulist")), list).unwrap();
        }
        fs::write(folder.join("online"), "0-2\n").unwrap();
        let known: Vec<_> = [node(0, &[0, 1, 2, 3]), node(1, &[4, 5, 6, 7]), node(2, &[])].into();
        assert_eq!(nodes(sys.path()), known);
        fs::write(folder.join("has_memory"), "0,2\n").unwrap();
        assert_eq!(nodes(sys.path()).iter().map(|node| node.memory).collect::<Vec<_>>(), [true, false, true]);
        assert!(nodes(Path::new("/nonexistent")).is_empty());
    }

    #[test]
    fn a_stated_node_binds_and_any_is_the_node_of_the_cpu() {
        let two = [node(0, &[0, 1]), node(1, &[2, 3])];
        let at = |nodes: &[Node], params: &str| {
            MemoryPlacement::among(nodes, &setup(params, &[0, 1, 2, 3], None, None))
        };
        let far = at(&two, "cpus=0;node=1").unwrap();
        assert_eq!((far.cpus.as_slice(), &far.kind), (&[0][..], &Kind { node: Some(1), ..Kind::default() }));
        assert_eq!(far.fillers, [0, 1, 2, 3]);
        assert_eq!(far.sentence(), "1 thread on CPU 0, memory on node 1");
        // The arrays of one node serve the CPUs of all.
        assert_eq!(far.kind, at(&two, "cpus=2;node=1").unwrap().kind);
        let home = at(&two, "cpus=2;node=any").unwrap();
        assert_eq!((home.kind.node, home.kind.touched_from.as_slice()), (None, &[1][..]));
        assert_eq!(home.fillers, [2]);
        assert_eq!(at(&two, "cpus=0;node=2").unwrap_err().why, "there is no NUMA node 2 here");
        assert_eq!(at(&two[..1], "cpus=0;node=any").unwrap().kind, Kind::default());
    }
}
