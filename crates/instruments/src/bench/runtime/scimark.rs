//! SciMark2 in several languages: floating-point operations per second of each kernel, and their arithmetic mean.
//!
//! Operations are those that SciMark2 credits. Time is that of the last of a row of batches, each with twice the
//! cycles of the one before, until one takes the least CPU time. A take runs each kernel once, in a process of its
//! own that first shows that its results are right, so the mean is of one take too. Copies run at once, and their
//! rates are added up. The CPU time is that of the thread that calculates: not counted are the start of the process,
//! the check, and a virtual machine's compiler and collector, which are other threads; the wall time contains what
//! those take from the thread.

use model::{
    Better, By, Cadence, Card, Count, Example, Family, Fault, Finding, Flag, Label, Means, Metric, ParamKind,
    ParamSpec, Params, PerSec, Probe, Quantity, Record, RecordExt, Seconds, Setup, Shown, Simple, Tell, Tier,
    Topic, Unfit, Variant,
};

use super::kernel::{COMPOSITE, Kernel, SIZES, Size};
use super::language::{ARMS, NAMES};
use super::output::Batch;
use super::program::Program;
use super::{params, team};
use crate::bench::kernel::{int_param, room, sized};

const FLOPS: Metric<PerSec> = Metric::new(
    "flops",
    Better::Higher,
    "Floating-point operations that SciMark2 credits, by CPU time of the thread that calculates; of several copies the \
     sum; `kernel=composite` is the arithmetic mean of the five kernels of one take",
)
.per("flop");
const WALL_FLOPS: Metric<PerSec> = Metric::new(
    "wall-flops",
    Better::Higher,
    "The same by wall time, which is what is paid for: less where something else, such as a virtual machine's own compiler, had the CPU meanwhile",
)
.per("flop");
const CYCLES: Metric<Count> = Metric::new(
    "cycles",
    Better::Neither,
    "Cycles of the kernel in the batch that was scored; of several copies the sum",
);

const OWN: [ParamSpec; 6] = [
    params::lang(NAMES),
    params::KERNELS,
    ParamSpec::new(
        "size",
        ParamKind::Choice(SIZES),
        SIZES[0],
        "SciMark2's sizes: small fits into caches, large does not",
    )
    .label(Label::Value)
    .flag(Flag::new(
        "size",
        "SIZE",
        "Data that fit into caches (small), or do not (large)",
        Means::Param("size"),
    )),
    ParamSpec::new(
        "seconds",
        ParamKind::Seconds { max: 60 },
        "0.3",
        "least CPU time of the batch that is scored (SciMark2 has 2)",
    ),
    ParamSpec::new(
        "copies",
        ParamKind::Int { min: 1, max: 1024 },
        "1",
        "processes at once, each on a CPU of its own",
    )
    .label(Label::Form("{} copies")),
    params::WIDTH,
];
static PARAMS: [ParamSpec; OWN.len() + ARMS.len()] = model::joined(&[&OWN, ARMS]);

static CARD: Card = Card {
    name: "scimark",
    family: Family::Runtime,
    says: "SciMark2's kernels in C, Java and other languages: is the runtime ready for this machine",
    source: "SciMark2 (NIST): kernels, sizes, operations, generator and time rule; programs of our own",
    shown: Shown {
        main: "wall-flops",
        tells: &[
            Tell::always("kernel"),
            Tell::unusual("size"),
            Tell::always("lang"),
            Tell::unusual("jvm"),
            Tell::unusual("cc"),
            Tell::always("bits"),
            Tell::unusual("copies"),
            Tell::unusual("seconds"),
        ],
        sorted: &[By::Param("kernel")],
        place: 0,
        topic: Topic::In { param: "lang", whole: "every language" },
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &PARAMS,
    parts: &[ParamSpec::new(
        params::KERNEL,
        ParamKind::Choice(&["fft", "sor", "monte-carlo", "sparse", "lu", COMPOSITE]),
        COMPOSITE,
        "the kernel that a figure is of; composite is their mean",
    )],
    metrics: &[FLOPS.info(), WALL_FLOPS.info(), CYCLES.info()],
    variants: &[Variant { tier: Tier::Full, set: "lang=every", headline: &["wall-flops"] }],
    examples: &[
        Example::new(
            "boxscore run runtime --lang c,java --arm jvm=hotspot --arm jvm=zero",
            "SciMark2 in C and under two virtual machines: how ready is each here",
        ),
        Example::new(
            "boxscore run runtime --lang c --arm 'cc=gcc -O2' --arm 'cc=gcc -O3 -march=native'",
            "compilers, flags or (bits=32, bits=64) widths against each other",
        ),
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    SciMarkOptions::from_setup(setup)?;
    params::fit(setup)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let options = SciMarkOptions::from_setup(setup)?;
    let program = Program::make(setup)?;
    Ok(Box::new(Scored { options, program }))
}

/// The resolved parameters.
#[derive(Debug)]
struct SciMarkOptions {
    kernels: Vec<Kernel>,
    size: Size,
    seconds: f64,
    copies: usize,
    /// CPUs of each copy.
    cpus: Vec<Vec<u32>>,
}

impl SciMarkOptions {
    fn from_setup(setup: &Setup) -> Result<SciMarkOptions, Unfit> {
        let word = |name: &str| setup.params.get(name).unwrap_or_default();
        let wrong = |name: &str| Unfit::new(format!("{name}={} is not possible", word(name)));
        let size = Size::parse(word("size")).ok_or_else(|| wrong("size"))?;
        let seconds: f64 = word("seconds").parse().map_err(|_| wrong("seconds"))?;
        let copies = usize::try_from(int_param(setup, "copies")?).map_err(|_| wrong("copies"))?;
        let have = setup.cpus.len();
        if copies > have {
            return Err(Unfit::new(format!(
                "copies={copies} on {have} allowed CPUs: each has one of its own"
            )));
        }
        let language = params::language(setup)?;
        let (small, large) = language.memory_mib;
        let each = if size == Size::Small { small } else { large };
        room(setup, (each << 20).saturating_mul(copies as u64))?;
        let cpus = (0..copies).map(|copy| params::cpus_of(copy, language, &setup.cpus)).collect();
        let seconds = sized(setup, seconds, 0.001);
        Ok(SciMarkOptions { kernels: params::kernels(setup)?, size, seconds, copies, cpus })
    }
}

/// The rates of one kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Rates {
    flops: f64,
    wall_flops: f64,
    cycles: f64,
}

/// The sum over the copies' batches.
fn rates(kernel: Kernel, size: Size, batches: &[Batch]) -> Result<Rates, Fault> {
    let mut all = Rates::default();
    for batch in batches {
        if batch.cpu_ns == 0 || batch.wall_ns == 0 {
            return Err(Fault::new(format!("{}: the clock did not move during the batch", kernel.name())));
        }
        #[expect(clippy::cast_precision_loss, reason = "cycles of a minute stay far below 2^53")]
        let cycles = batch.cycles as f64;
        let work = Count(cycles * kernel.operations(size));
        all.flops += (work / Seconds::from_ns(batch.cpu_ns)).get();
        all.wall_flops += (work / Seconds::from_ns(batch.wall_ns)).get();
        all.cycles += cycles;
    }
    Ok(all)
}

/// The arithmetic mean of all kernels' rates.
#[expect(clippy::cast_precision_loss, reason = "five kernels")]
fn mean(each: &[Rates]) -> Rates {
    let count = each.len().max(1) as f64;
    let sum = |of: fn(&Rates) -> f64| each.iter().map(of).sum::<f64>();
    Rates { flops: sum(|one| one.flops) / count, wall_flops: sum(|one| one.wall_flops) / count, cycles: 0.0 }
}

struct Scored {
    options: SciMarkOptions,
    program: Program,
}

impl Scored {
    fn measure(&mut self, kernel: Kernel, record: &mut dyn Record) -> Result<Rates, Fault> {
        let SciMarkOptions { size, seconds, copies, cpus, .. } = &self.options;
        let task = ["time".to_owned(), seconds.to_string()];
        let program = &self.program;
        let outputs = team::together(*copies, |copy| {
            program.run(kernel, *size, &task, cpus.get(copy).map_or(&[], Vec::as_slice))
        })?;
        let mut batches = Vec::new();
        for output in &outputs {
            self.program.verify(kernel, *size, output, record)?;
            let scored = output.scored().filter(|batch| Seconds::from_ns(batch.cpu_ns).0 >= *seconds);
            batches.push(scored.ok_or_else(|| {
                Fault::new(format!("{}: no batch lasted the {seconds} s that it was told", kernel.name()))
            })?);
        }
        if let Some(share) = team::overlap(&batches).filter(|share| *copies > 1 && *share < 0.5) {
            record.refuse(apart(kernel, *copies, share));
        }
        rates(kernel, *size, &batches)
    }

    fn busy(&self) -> Vec<u32> {
        let mut all = self.options.cpus.concat();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Copies that were not at work together say little of what they take from each other.
fn apart(kernel: Kernel, copies: usize, share: f64) -> Finding {
    Finding::new(model::finding::Recorded::CopiesApart {
        kernel: kernel.name().to_owned(),
        copies,
        overlap: share,
    })
}

fn push(record: &mut dyn Record, kernel: &str, rates: Rates) {
    let mut extra = Params::default();
    extra.set(params::KERNEL, kernel);
    record.push_of(&FLOPS, &extra, PerSec(rates.flops));
    record.push_of(&WALL_FLOPS, &extra, PerSec(rates.wall_flops));
    if kernel != COMPOSITE {
        record.push_of(&CYCLES, &extra, Count(rates.cycles));
    }
}

/// The programs find by themselves how often they must repeat.
impl Probe for Scored {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let cpus = self.busy();
        self.program.tell(self.options.copies, &cpus, record);
        self.program.is_same()?;
        let mut each = Vec::new();
        for kernel in self.options.kernels.clone() {
            let rates = self.measure(kernel, record)?;
            push(record, kernel.name(), rates);
            each.push(rates);
        }
        if each.len() == Kernel::ALL.len() {
            push(record, COMPOSITE, mean(&each));
        }
        self.program.is_same()
    }

    fn given_up(&self) -> Option<String> {
        self.program.gone()
    }

    fn cpus(&self) -> Vec<u32> {
        self.busy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(text: &str, cpus: &[u32], memory: Option<u64>) -> Result<SciMarkOptions, Unfit> {
        let params = CARD.resolve(&Params::parse(text).unwrap()).unwrap();
        SciMarkOptions::from_setup(&Setup { memory, ..Setup::bare(params, cpus.to_vec(), ".") })
    }

    #[test]
    fn copies_have_cpus_of_their_own() {
        let two = options("lang=c;copies=2", &[3, 5], None).unwrap();
        assert_eq!((two.cpus, two.kernels.len()), (vec![vec![3], vec![5]], 5));
        let one = options("lang=java;kernel=lu", &[3, 5], None).unwrap();
        assert_eq!((one.cpus, one.kernels), (vec![vec![3, 5]], vec![Kernel::Lu]));
        assert_eq!(options("lang=java", &[3], None).unwrap().cpus, [vec![3]]);
        let why = options("copies=3", &[0, 1], None).unwrap_err().why;
        assert_eq!(why, "copies=3 on 2 allowed CPUs: each has one of its own");
    }

    #[test]
    fn too_little_memory_is_known_before() {
        let mib = |count: u64| Some(count << 20);
        assert!(options("lang=c;size=small", &[0], mib(64)).is_ok());
        let why = options("lang=c;size=large", &[0], mib(64)).unwrap_err().why;
        assert!(why.contains("more than half of the 64 MiB"), "{why}");
        assert!(options("lang=c;size=large;copies=2", &[0, 1], mib(4096)).is_ok());
    }

    #[test]
    fn rates_are_operations_over_the_scored_batch() {
        let batch = |cycles, cpu_ns, wall_ns| Batch { cycles, cpu_ns, wall_ns, end_ns: wall_ns };
        let one = rates(Kernel::Sparse, Size::Small, &[batch(64, 500_000_000, 1_000_000_000)]).unwrap();
        assert_eq!(one, Rates { flops: 1_280_000.0, wall_flops: 640_000.0, cycles: 64.0 });
        let two = [batch(64, 500_000_000, 1_000_000_000), batch(64, 1_000_000_000, 1_000_000_000)];
        let two = rates(Kernel::Sparse, Size::Small, &two).unwrap();
        assert_eq!(two, Rates { flops: 1_920_000.0, wall_flops: 1_280_000.0, cycles: 128.0 });
        assert_eq!(mean(&[one, two]).flops, 1_600_000.0);
        assert!(rates(Kernel::Lu, Size::Small, &[batch(1, 0, 1)]).is_err());
    }

    #[test]
    fn arms_are_of_their_language() {
        let of = |text: &str| CARD.resolve(&Params::parse(text).unwrap()).unwrap().to_string();
        let (c, java) = (of("lang=c"), of("lang=java;bits=32"));
        assert!(c.contains("cc=gcc") && !c.contains("jvm") && !c.contains("bits"), "{c}");
        assert!(java.contains("jvm=") && !java.contains("cc=") && !java.contains("bits"), "{java}");
        assert!(of("lang=c;bits=32").contains("bits=32"));
    }
}
