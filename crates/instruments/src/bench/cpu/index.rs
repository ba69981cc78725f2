//! Indices of integer, floating-point and memory work: elementary operations per second, after the idea of
//! nbench with small kernels of today.
//!
//! Each index is made of three or four parts (sorting, coding, transforms …; `bench::kernels::index` says
//! what each does and what it counts as an operation). A unit of work is a round in which every part runs
//! its share, timed part by part. The index is the geometric mean of the parts' rates, so that no part
//! weighs more because its operations are smaller; threads add up. Inputs are the same on every machine.
//! Not counted: main memory (all parts fit the caches), and waiting of early threads for late ones.
//!
//! With `cc`, the parts are a C program instead, built by that compiler with those flags (`runtime::index_program`):
//! the same work and the same inputs, but other code, so its figures stand apart from those without.

use model::{
    Better, By, Cadence, Card, Code, Count, Example, Family, Fault, Label, Metric, ParamKind, ParamSpec,
    Params, PerSec, Probe, Record, RecordExt, Seconds, Setup, Shown, Simple, Size, Tell, Tier, Topic, Unfit,
    Variant,
};
use sys::clock;

use crate::bench::kernel::{Kernel, KernelProbe, THREADS, Tally, float, footprint, word_param};
use crate::bench::kernels::index::{self, Part};
use crate::bench::runtime::index_program;

const RATE: Metric<PerSec> = Metric::new(
    "rate",
    Better::Higher,
    "geometric mean of the operations per second of the index's parts, all threads together; with `cc` of the same \
     parts in C, built by that compiler",
)
.per("op");

const PART_RATE: Metric<PerSec> = Metric::new(
    "part-rate",
    Better::Higher,
    "operations per second of one part of the index, all threads together; what an operation is, the part says",
).detail()
.per("op");

static CARD: Card = Card {
    name: model::names::instrument::INDEX,
    family: Family::Cpu,
    says: "integer, floating-point and memory work of small programs that fit the caches",
    source: "own, after the idea of BYTEmark (nbench)",
    shown: Shown {
        main: "rate",
        tells: &[Tell::always("kind"), Tell::always("part"), Tell::unusual("cc")],
        sorted: &[By::Param("kind"), By::Param("threads")],
        place: 0,
        topic: Topic::Compute,
        codes: &[
            Code::new("int", "rate", "kind=integer;threads=1"),
            Code::new("fp", "rate", "kind=floating;threads=1"),
            Code::new("mem", "rate", "kind=memory;threads=1"),
            Code::new("int-all", "rate", "kind=integer;threads=all"),
            Code::new("fp-all", "rate", "kind=floating;threads=all"),
        ],
        ..Shown::PLAIN
    },
    parts: &[ParamSpec::new("part", ParamKind::Text, "", "part of the index").label(Label::Value)],
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new(
            "kind",
            ParamKind::Choice(&["integer", "floating", "memory"]),
            "integer",
            "memory: string sort, bit fields, assignment; integer: sort, cipher arithmetic, Huffman, \
                   dictionary; floating: Fourier transform, linear equations, neural network, gravity",
        )
        .label(Label::Words(&[("memory", "memory index")])),
        THREADS,
        ParamSpec::new(
            index_program::CC,
            ParamKind::Text,
            "",
            "compiler with flags, or flags alone for gcc (gcc -O3 -march=native), that builds the parts from C; without \
             it they are those that are compiled in",
        )
        .label(Label::Value),
    ],
    examples: &[Example::new(
        "boxscore run index --arm 'cc=gcc -O2' --arm 'cc=gcc -O3 -march=native'",
        "compilers and flags on integer, floating-point and memory work",
    )],
    metrics: &[RATE.info(), PART_RATE.info()],
    variants: &[
        Variant { tier: Tier::Quick, set: "kind=integer|floating;threads=1", headline: &[RATE.info().name] },
        Variant {
            tier: Tier::Quick,
            set: "kind=integer|floating;threads=all",
            headline: &[RATE.info().name],
        },
        Variant { tier: Tier::Default, set: "kind=memory;threads=1|all", headline: &[] },
        Variant { tier: Tier::Full, set: "kind=integer|floating|memory;threads=sweep", headline: &[] },
        Variant { tier: Tier::Soak, set: "kind=integer|floating;threads=all", headline: &[RATE.info().name] },
    ],
    ..Card::DEFAULT
};

/// The inputs are part of the definition: the run's own seed must not move the figure.
const SEED: u64 = 1;
/// Code, inputs and scratch of the largest index, roughly.
const MEMORY: usize = 256 << 10;

type Parts = fn(u64) -> Result<Vec<Part>, Fault>;

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let parts: Parts = match word_param(setup, "kind")? {
        "memory" => index::memory::parts,
        "floating" => index::floating::parts,
        _ => index::integer::parts,
    };
    if setup.params.get(index_program::CC).is_some_and(|cc| !cc.is_empty()) {
        let parts = parts(SEED).map_err(|fault| Unfit::new(fault.text))?;
        return index_program::prepare(setup, &parts, push_rates);
    }
    let smoke = setup.size == Size::Smoke;
    let make = move |_| {
        let parts = parts(SEED).map_err(|fault| Unfit::new(fault.text))?;
        Ok(Round { parts, smoke })
    };
    KernelProbe::boxed(setup, footprint(MEMORY, setup.threads()?), make, push)
}

/// A part's name, the operations that one thread did of it, and how long they took.
type Share = (&'static str, Count, Seconds);

struct Round {
    parts: Vec<Part>,
    smoke: bool,
}

impl Kernel for Round {
    type Out = Vec<Share>;

    fn run(&mut self, repeats: u64) -> Result<Vec<Share>, Fault> {
        let mut spent = vec![(0.0, 0u64); self.parts.len()];
        for _ in 0..repeats {
            for (part, (ops, ns)) in self.parts.iter_mut().zip(&mut spent) {
                let runs = if self.smoke { 1 } else { part.runs };
                let start = clock::now_ns();
                part.run(runs)?;
                *ns += clock::now_ns().saturating_sub(start);
                *ops += part.ops * f64::from(runs);
            }
        }
        let share = |(part, (ops, ns)): (&Part, &(f64, u64))| (part.name, Count(*ops), Seconds::from_ns(*ns));
        Ok(self.parts.iter().zip(&spent).map(share).collect())
    }
}

fn push(tally: &Tally<Vec<Share>>, record: &mut dyn Record) -> Result<(), Fault> {
    let mut rates: Vec<(&'static str, PerSec)> = Vec::new();
    for shares in tally.outs() {
        for (index, (name, ops, took)) in shares.iter().enumerate() {
            if took.0 <= 0.0 {
                return Err(Fault::new(format!("the clock did not move while {name} ran")));
            }
            let rate = *ops / *took;
            match rates.get_mut(index) {
                Some((_, sum)) => *sum = *sum + rate,
                None => rates.push((name, rate)),
            }
        }
    }
    push_rates(&rates, record)
}

/// Each part's rate, and their geometric mean.
fn push_rates(rates: &[(&'static str, PerSec)], record: &mut dyn Record) -> Result<(), Fault> {
    for (name, rate) in rates {
        let mut extra = Params::default();
        extra.set("part", name);
        record.push_of(&PART_RATE, &extra, *rate);
    }
    let logs: f64 = rates.iter().map(|(_, rate)| rate.0.ln()).sum();
    record.push(&RATE, PerSec((logs / float(rates.len())).exp()));
    Ok(())
}
