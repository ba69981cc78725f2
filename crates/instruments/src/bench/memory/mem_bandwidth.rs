//! Memory bandwidth: bytes moved between memory and cores per second, by operation, threads and pinning.
//!
//! Counts what the definition counts: `counting=bw_mem` the buffer once (also for copies),
//! `counting=stream` two or three arrays; MB are 10^6 bytes. Write-allocate traffic is never counted.
//! Threads share the arrays, each its own part; a take ends with the slowest. Where an operation has several kernels
//! (vectors of several widths), the fastest on these CPUs is used: no width is the fastest everywhere.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use model::metrics::memory::BANDWIDTH;
use model::{
    By, Bytes, Cadence, Card, Code, Family, Fault, Finding, Label, ParamKind, ParamSpec, Probe, Record,
    RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier, Topic, Unfit, Variant,
};

use crate::bench::kernel::{THREADS, repeats_for};
use crate::bench::memory_access::arena::{self, Arena, SECOND, SOURCE, TARGET, lock};
use crate::bench::memory_access::kernels::{self, BLOCK, Isa, Kernel, Op, Store};
use crate::bench::memory_access::last_level::{self, LastLevel};
use crate::bench::memory_access::pass::{self, Arrays, PassTeam};
use crate::bench::memory_access::place::{self, CHANNELS, CPUS, Extent, MemoryPlacement, NODE, PAGES, SIZE};
use crate::bench::memory_access::race::{self, Winner};

static CARD: Card = Card {
    name: model::names::instrument::MEM_BANDWIDTH,
    family: Family::Memory,
    says: "memory bandwidth by operation, threads and pinning",
    source: "bw_mem-style (lmbench) and STREAM-style definitions, own code",
    shown: Shown {
        label: "memory",
        main: "bandwidth",
        tells: &[
            Tell::always("op"),
            Tell::unusual("counting"),
            Tell::unusual("store"),
            Tell::unusual("pages"),
            Tell::unusual("node"),
            Tell::unusual("cpus"),
        ],
        sorted: &[By::Param("op"), By::Param("size"), By::Param("threads")],
        place: 0,
        topic: Topic::Memory,
        codes: &[
            Code::new("rd", "bandwidth", "counting=bw_mem;op=read;threads=1"),
            Code::new("rd-all", "bandwidth", "counting=bw_mem;op=read;threads=all"),
        ],
    },
    cadence: Cadence::Repeat,
    definition: 3,
    derived: &[CHANNELS],
    params: &[
        ParamSpec::new(
            "op",
            ParamKind::Choice(&[
                "read", "write", "rdwr", "fread", "fwrite", "copy", "fcopy", "scale", "add", "triad",
            ]),
            "read",
            "read, write, rdwr, copy touch 4 of every 16 bytes (all lines move); fread, fwrite, fcopy \
                   every byte; with counting=stream: copy, scale, add, triad on doubles",
        )
        .label(Label::Value),
        ParamSpec::new(
            "counting",
            ParamKind::Choice(&["bw_mem", "stream"]),
            "bw_mem",
            "bw_mem: the buffer counts once; stream: 2 (copy, scale) or 3 (add, triad) arrays count",
        )
        .label(Label::Value),
        ParamSpec::new(
            "store",
            ParamKind::Choice(&["temporal", "streaming"]),
            "temporal",
            "temporal: stores go through the caches; streaming: around them",
        )
        .label(Label::Value),
        THREADS,
        CPUS,
        ParamSpec::new(
            SIZE,
            ParamKind::Or("auto", &ParamKind::Bytes { min: 4096, max: 1 << 40 }),
            "auto",
            "bytes of each array; auto: 4 times the last-level cache (as it was found by its latency, else as \
             reported), at least 1 GiB, all arrays within a quarter of the memory",
        )
        .label(Label::Bytes),
        PAGES,
        NODE,
    ],
    metrics: &[BANDWIDTH.info()],
    variants: &[
        Variant { tier: Tier::Quick, set: "op=read;threads=1", headline: &["bandwidth"] },
        Variant { tier: Tier::Quick, set: "op=read;threads=all", headline: &["bandwidth"] },
        Variant { tier: Tier::Default, set: "op=write|copy;threads=1|all", headline: &[] },
        Variant { tier: Tier::Default, set: "op=triad;counting=stream;threads=1|all", headline: &[] },
        Variant { tier: Tier::Full, set: "op=read|write|copy;threads=4", headline: &[] },
        Variant { tier: Tier::Full, set: "op=read;threads=sweep", headline: &[] },
        Variant { tier: Tier::Soak, set: "op=read;threads=all", headline: &["bandwidth"] },
        Variant { tier: Tier::Full, set: "op=read;threads=1;cpus=each", headline: &[] },
        Variant { tier: Tier::Full, set: "op=read;threads=1|all;cpus=nodes;node=nodes", headline: &[] },
        Variant { tier: Tier::Full, set: "op=rdwr|fread|fwrite|fcopy;threads=1", headline: &[] },
        Variant {
            tier: Tier::Full,
            set: "op=copy|scale|add|triad;counting=stream;store=temporal|streaming;threads=1|all",
            headline: &[],
        },
        Variant { tier: Tier::Full, set: "op=read;threads=1|all;pages=huge", headline: &[] },
    ],
    ..Card::DEFAULT
};

/// The parameters, resolved for this machine.
#[derive(Debug)]
struct Task {
    op: Op,
    /// The kernels that can do it here, the widest last.
    kernels: Vec<(Isa, Kernel)>,
    place: MemoryPlacement,
    extent: Extent,
    limit: u64,
}

fn operation(setup: &Setup) -> Result<Op, Unfit> {
    let stream = setup.params.get("counting") == Some("stream");
    let name = setup.params.get("op").unwrap_or("read");
    match (name, stream) {
        ("read", false) => Ok(Op::Read),
        ("write", false) => Ok(Op::Write),
        ("rdwr", false) => Ok(Op::ReadWrite),
        ("copy", false) => Ok(Op::Copy),
        ("fread", false) => Ok(Op::FullRead),
        ("fwrite", false) => Ok(Op::FullWrite),
        ("fcopy", false) => Ok(Op::FullCopy),
        ("copy", true) => Ok(Op::StreamCopy),
        ("scale", true) => Ok(Op::Scale),
        ("add", true) => Ok(Op::Add),
        ("triad", true) => Ok(Op::Triad),
        (_, true) => Err(Unfit::new(format!("{name} is not a STREAM operation: use counting=bw_mem"))),
        (_, false) => Err(Unfit::new(format!("{name} moves several arrays: use counting=stream"))),
    }
}

/// The arrays that an operation needs.
fn roles(op: Op) -> &'static [usize] {
    match (op.writes(), op.sources()) {
        (false, _) => &[SOURCE],
        (true, 0) => &[TARGET],
        (true, 1) => &[SOURCE, TARGET],
        (true, _) => &[SOURCE, TARGET, SECOND],
    }
}

fn task(setup: &Setup) -> Result<Task, Unfit> {
    let op = operation(setup)?;
    let streaming = setup.params.get("store") == Some("streaming");
    let store = if streaming { Store::Streaming } else { Store::Temporal };
    let kernels = kernels::available(op, store);
    if kernels.is_empty() {
        let why = "streaming stores need an operation that writes whole lines, and SSE2 or better";
        return Err(Unfit::new(why));
    }
    let place = MemoryPlacement::from_setup(setup)?;
    let arrays = roles(op).len() as u64;
    let mut extent = place::extent(setup, SIZE, arrays)?;
    let grain = (BLOCK * 8) as u64;
    extent.bytes = extent.bytes / grain * grain;
    if extent.bytes < grain * place.cpus.len() as u64 {
        return Err(Unfit::new("the arrays hold less than one block a thread"));
    }
    Ok(Task { op, kernels, place, extent, limit: place::limit(setup) })
}

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(|setup| task(setup).map(|_| ()));

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let llc = last_level::beside(setup, SIZE)?;
    let task = task(&Setup { llc: llc.bytes(), ..setup.clone() })?;
    let crew = PassTeam::start(&task.place.cpus)?;
    let (arena, huge) = (arena::shared(), None);
    let winner = Winner { isa: task.kernels[0].0, kernel: task.kernels[0].1, others: Vec::new() };
    let mut probe = Bandwidth { task, winner, llc, crew, arena, huge, footprint: 0, noted: false };
    let arena = Arc::clone(&probe.arena);
    let mut arena = lock(&arena);
    let before = arena.held();
    probe.ready(&mut arena).map_err(|fault| Unfit::new(fault.text))?;
    probe.huge = arena.huge_doubt(&probe.task.place.kind, roles(probe.task.op));
    probe.footprint = arena.held().saturating_sub(before);
    drop(arena);
    probe.winner = probe.race().map_err(|fault| Unfit::new(fault.text))?;
    Ok(Box::new(probe))
}

struct Bandwidth {
    task: Task,
    winner: Winner,
    llc: LastLevel,
    crew: PassTeam,
    arena: Arc<Mutex<Arena>>,
    /// Why the pages are doubtful, if so.
    huge: Option<Finding>,
    footprint: u64,
    noted: bool,
}

fn faulty(error: impl std::fmt::Display) -> Fault {
    Fault::new(error.to_string())
}

fn bytes(task: &Task) -> Result<usize, Fault> {
    usize::try_from(task.extent.bytes).map_err(|_| Fault::new("arrays larger than the address space"))
}

impl Bandwidth {
    /// Maps and fills what is missing.
    fn ready(&mut self, arena: &mut Arena) -> Result<(), Fault> {
        let (task, bytes) = (&self.task, bytes(&self.task)?);
        let kind = &task.place.kind;
        let fresh = arena.ensure(kind, roles(task.op), bytes, task.limit).map_err(faulty)?;
        for role in fresh {
            let words = arena.array(kind, role).map_err(faulty)?.words_mut();
            pass::fill(&mut self.crew, &task.place.fillers, words)?;
        }
        Ok(())
    }

    /// Runs the kernel `repeats` times and checks a few of its results.
    fn timed(&mut self, repeats: u64) -> Result<Seconds, Fault> {
        let words = bytes(&self.task)? / 8;
        self.pass(self.winner.kernel, 0..words, repeats)
    }

    /// The kernel that passes fastest over these arrays.
    fn race(&mut self) -> Result<Winner, Fault> {
        let words = bytes(&self.task)? / 8;
        let grain = BLOCK * self.task.place.cpus.len();
        let turn = (race::TURN_BYTES / 8).min(words) / grain * grain;
        let mut from = 0;
        let kernels = self.task.kernels.clone();
        race::fastest(&kernels, |kernel| {
            from = if from + 2 * turn > words { 0 } else { from + turn };
            self.pass(kernel, from..from + turn, 1)
        })
    }

    /// Runs a kernel `repeats` times over a part of the arrays, in words, and checks a few of its results.
    fn pass(&mut self, kernel: Kernel, part: Range<usize>, repeats: u64) -> Result<Seconds, Fault> {
        let shared = Arc::clone(&self.arena);
        let mut arena = lock(&shared);
        self.ready(&mut arena)?;
        let (kind, op) = (&self.task.place.kind, self.task.op);
        let wanted = |role: usize| roles(op).contains(&role);
        let mut dst: &mut [u64] = &mut [];
        let (mut a, mut b): (&[u64], &[u64]) = (&[], &[]);
        let [source, target, second, _] = arena.all(kind);
        if let Some(array) = target.filter(|_| wanted(TARGET)) {
            dst = array.words_mut().get_mut(part.clone()).unwrap_or_default();
        }
        if let Some(array) = source.filter(|_| wanted(SOURCE)) {
            a = array.words().get(part.clone()).unwrap_or_default();
        }
        if let Some(array) = second.filter(|_| wanted(SECOND)) {
            b = array.words().get(part).unwrap_or_default();
        }
        let time = self.crew.pass(kernel, Arrays { dst, a, b }, repeats)?.time();
        check(op, dst, a, b)?;
        if time.0 > 0.0 { Ok(time) } else { Err(Fault::new("the clock did not move during the take")) }
    }
}

/// Looks at a few elements: a kernel that did something else has no speed.
fn check(op: Op, dst: &[u64], a: &[u64], b: &[u64]) -> Result<(), Fault> {
    const LOOKS: usize = 64;
    let step = (dst.len() / LOOKS).max(2) & !1;
    let word = |array: &[u64], i: usize| array.get(i).copied().unwrap_or_default();
    for i in (0..dst.len()).step_by(step) {
        let (found, wanted) = (word(dst, i), kernels::expected(op, word(a, i), word(b, i)));
        let same = match op.strided() {
            true => found.to_ne_bytes()[..4] == wanted.to_ne_bytes()[..4],
            false => found == wanted,
        };
        if !same {
            return Err(Fault::new(format!("{op:?}: element {i} is {found:#x} instead of {wanted:#x}")));
        }
    }
    Ok(())
}

impl Probe for Bandwidth {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |repeats| self.timed(repeats))
    }

    #[expect(clippy::cast_precision_loss, reason = "bytes stay far below 2^53")]
    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let repeats = repeats.max(1);
        let time = self.timed(repeats)?;
        let counted = self.task.extent.bytes as f64 * self.task.op.counted() as f64 * repeats as f64;
        record.push(&BANDWIDTH, Bytes(counted) / time);
        for doubt in self.task.extent.doubt.iter().chain(&self.huge) {
            record.refuse(doubt.clone());
        }
        if !self.noted {
            self.noted = true;
            record.remark("pinning", &self.task.place.sentence());
            let arrays = roles(self.task.op).len();
            let size = model::params::show_bytes(self.task.extent.bytes);
            let (code, llc) = (self.winner.sentence(), self.llc.sentence());
            record.remark("arrays", &format!("{arrays} of {size}, {code}{llc}"));
        }
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        self.crew.cpus()
    }

    fn footprint(&self) -> u64 {
        self.footprint
    }
}

#[cfg(test)]
mod tests {
    use model::Params;

    use model::Instrument;

    use super::*;

    fn setup(params: &str) -> Setup {
        let params = CARD.resolve(&Params::parse(params).unwrap()).unwrap();
        let (llc, memory) = (Some(8 << 20), Some(4 << 30));
        let dir = std::env::temp_dir();
        Setup { llc, memory, ..Setup::bare(params, vec![0, 1], dir) }
    }

    fn fit(params: &str) -> Result<(), Unfit> {
        INSTRUMENT.fit(&setup(params))
    }

    #[test]
    fn arrays_are_four_times_a_large_cache() {
        let extent = |params: &str, llc: u64, memory: u64| {
            let here = Setup { llc: Some(llc << 20), memory: Some(memory << 30), ..setup(params) };
            task(&here).unwrap().extent
        };
        for llc in [105, 260] {
            for op in ["op=read", "op=copy", "op=triad;counting=stream"] {
                let auto = extent(op, llc, 24);
                assert!(auto.bytes >= (4 * llc) << 20, "{op} {llc} MiB: {}", auto.bytes);
                assert_eq!(auto.doubt, None);
            }
            let tight = extent("op=copy", llc, 1);
            assert_eq!((tight.bytes, tight.doubt.unwrap().kind()), (128 << 20, "cached"));
            assert_eq!(extent("op=read;size=256MiB", llc, 24), Extent { bytes: 256 << 20, doubt: None });
        }
    }

    #[test]
    fn impossible_combinations_say_why() {
        assert_eq!(fit("op=read"), Ok(()));
        assert!(fit("op=triad").unwrap_err().why.contains("counting=stream"));
        assert!(fit("op=read;counting=stream").unwrap_err().why.contains("counting=bw_mem"));
        assert!(fit("op=copy;store=streaming").unwrap_err().why.contains("whole lines"));
        assert!(fit("threads=3").unwrap_err().why.contains("2 allowed CPUs"));
        assert!(fit("cpus=7").unwrap_err().why.contains("CPU 7"));
        assert!(fit("size=2GiB").unwrap_err().why.contains("quarter of the memory"));
    }

    #[test]
    fn a_wrong_element_is_seen() {
        let a = vec![2.0f64.to_bits(); 256];
        let good = vec![kernels::expected(Op::Scale, a[0], 0); 256];
        assert_eq!(check(Op::Scale, &good, &a, &[]), Ok(()));
        let mut bad = good;
        bad[0] ^= 1;
        assert!(check(Op::Scale, &bad, &a, &[]).is_err());
    }
}
