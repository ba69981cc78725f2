//! The warm-up of a virtual machine: CPU time of each iteration of a kernel in a fresh process, until it is steady.
//!
//! Seconds of CPU time of the thread that calculates. The first iteration includes loading the class and touching the
//! data; the threads that compile are not counted. Nothing is checked before, since that would warm the machine:
//! `scimark` shows that the same program's results are right.
//!
//! The program goes on until the runtime's compilers have rested, as far as they can be asked: a level that does not
//! move says nothing, since code of the first compiler is a plateau until that of the last one comes.

use model::finding::Recorded;
use model::metrics::warmup::{FIRST, ITERATION, STEADY, STEADY_FROM};
use model::params::parse_span;
use model::{
    By, Cadence, Card, Count, Family, Fault, Finding, ParamKind, ParamSpec, Params, Probe, Record, RecordExt,
    Seconds, Setup, Shown, Simple, Size as Effort, Tell, Tier, Unfit, Variant,
};

use super::kernel::{Kernel, Size};
use super::language::{ARMS, WARMING};
use super::output::Compilers;
use super::params;
use super::program::Program;
use crate::bench::kernel::{float, int_param, room};
use crate::bench::median::median;

const OWN: [ParamSpec; 4] = [
    params::lang(WARMING),
    params::KERNELS,
    ParamSpec::new(
        "iterations",
        ParamKind::Int { min: 20, max: 999 },
        "40",
        "iterations of each process that are all kept (one cycle; of monte-carlo 10000, of sparse 10); it goes on until \
         it is steady",
    ),
    ParamSpec::new(
        "longest",
        ParamKind::Seconds { max: 600 },
        "10",
        "seconds after which a process ends though its compilers still work",
    ),
];
static PARAMS: [ParamSpec; OWN.len() + ARMS.len()] = model::joined(&[&OWN, ARMS]);

static CARD: Card = Card {
    name: model::names::instrument::SCIMARK_WARMUP,
    family: Family::Runtime,
    says: "how languages that compile while they run warm up: CPU time of each iteration",
    source: "own; kernels of SciMark2 (NIST), small size",
    shown: Shown {
        label: "warm-up",
        tells: &[Tell::always("kernel"), Tell::always("lang"), Tell::unusual("jvm")],
        sorted: &[By::Param("kernel")],
        place: 1,
        ..Shown::PLAIN
    },
    cadence: Cadence::Repeat,
    definition: 2,
    params: &PARAMS,
    metrics: &[ITERATION.info(), FIRST.info(), STEADY.info(), STEADY_FROM.info()],
    variants: &[Variant { tier: Tier::Full, set: "lang=every", headline: &["steady"] }],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit);

fn fit(setup: &Setup) -> Result<(), Unfit> {
    WarmupOptions::from_setup(setup)?;
    params::fit(setup)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let options = WarmupOptions::from_setup(setup)?;
    Ok(Box::new(Warming { options, program: Program::make(setup)? }))
}

#[derive(Debug)]
struct WarmupOptions {
    kernels: Vec<Kernel>,
    iterations: u64,
    longest_s: f64,
    cpus: Vec<u32>,
}

impl WarmupOptions {
    fn from_setup(setup: &Setup) -> Result<WarmupOptions, Unfit> {
        let language = params::language(setup)?;
        room(setup, language.memory_mib.0 << 20)?;
        let kernels = params::kernels(setup)?;
        let cpus = params::cpus_of(0, language, &setup.cpus);
        let iterations = if setup.size == Effort::Smoke { 20 } else { int_param(setup, "iterations")? };
        let longest = setup.params.get("longest").and_then(parse_span);
        let longest_s = longest.ok_or_else(|| Unfit::new("longest is no time"))?;
        Ok(WarmupOptions { kernels, iterations, longest_s, cpus })
    }
}

struct Warming {
    options: WarmupOptions,
    program: Program,
}

/// The last part of a row of times.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LastPart {
    /// Median of its times.
    level: f64,
    /// How many come before the steady part; `None` where there is none yet.
    before: Option<usize>,
    /// The reason why it may not be steady.
    doubt: Option<Doubt>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Doubt {
    Compiling,
    /// The largest change of its median at a quarter of it, relative.
    Changing(f64),
}

/// Medians that are so near are the same level.
const WITHIN: f64 = 1.1;
const WINDOW: usize = 5;

/// `None` of fewer iterations than a part with four quarters has.
fn last_part(times: &[f64], compilers: Option<Compilers>) -> Option<LastPart> {
    // Where nobody knows of the compilers, the times alone must show that they rest.
    let worked = compilers.map_or(times.len() / 2, |one| usize::try_from(one.worked).unwrap_or(usize::MAX));
    if compilers.is_some_and(|one| !one.are_quiet) {
        let level = median(times.get(times.len() - times.len() / 4..)?)?;
        return Some(LastPart { level, before: None, doubt: Some(Doubt::Compiling) });
    }
    let part = times.get(worked..).filter(|part| part.len() >= 4 * WINDOW)?;
    let level = median(part).filter(|level| *level > 0.0)?;
    let change = largest_change(part)?;
    let doubt = (change > WITHIN - 1.0).then_some(Doubt::Changing(change));
    Some(LastPart { level, before: Some(steady_from(times, level, worked)), doubt })
}

/// The largest relative change of the median at one of the quarters: a change-point test that a short disturbance does
/// not trip.
fn largest_change(part: &[f64]) -> Option<f64> {
    let changes = (1..4).map(|quarter| {
        let (before, after) = part.split_at(part.len() * quarter / 4);
        let (before, after) = (median(before)?, median(after)?);
        Some(before.max(after) / before.min(after) - 1.0)
    });
    changes.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
}

/// Iterations before the first one from which on stretches, each a quarter of what lies before it since then, keep the
/// level; no more than those after which no compiler worked.
fn steady_from(times: &[f64], level: f64, worked: usize) -> usize {
    let is_near = |stretch: &[f64]| {
        median(stretch).is_some_and(|middle| (level / WITHIN..=level * WITHIN).contains(&middle))
    };
    let keeps_level = |from: usize| {
        let mut at = from;
        while at < worked {
            let length = WINDOW.max((at - from) / 4);
            if !is_near(times.get(at..at + length).unwrap_or_default()) {
                return false;
            }
            at += length;
        }
        true
    };
    let mut from = 0;
    while from < worked && !keeps_level(from) {
        from += 1 + from / 50;
    }
    from.min(worked)
}

/// The numbers of the iterations that are kept, from 1: each of the first ones, then at steps of a quarter.
fn kept(first: u64, all: usize) -> impl Iterator<Item = usize> {
    let first = usize::try_from(first).unwrap_or(usize::MAX);
    let next = move |number: &usize| Some(if *number < first { number + 1 } else { number + number / 4 });
    std::iter::successors(Some(1), next).take_while(move |number| *number <= all)
}

impl Warming {
    fn measure(&self, kernel: Kernel, record: &mut dyn Record) -> Result<(), Fault> {
        let WarmupOptions { iterations, longest_s, cpus, .. } = &self.options;
        let cycles = kernel.warm_up_cycles().to_string();
        let task = ["warmup".to_owned(), iterations.to_string(), cycles, longest_s.to_string()];
        let output = self.program.run(kernel, Size::Small, &task, cpus)?;
        let times: Vec<f64> = output.iterations.iter().map(|one| Seconds::from_ns(one.cpu_ns).0).collect();
        if (times.len() as u64) < *iterations {
            let what = format!("{}: {} iterations of {iterations}", kernel.name(), times.len());
            return Err(Fault::new(what));
        }
        let mut extra = Params::default();
        extra.set(params::KERNEL, kernel.name());
        record.push_of_if(&FIRST, &extra, times.first().map(|first| Seconds(*first)));
        if let Some(part) = last_part(&times, output.compilers) {
            let wall_ns: u64 = output.iterations.iter().map(|one| one.wall_ns).sum();
            push(&part, Seconds::from_ns(wall_ns), &extra, record);
        }
        for number in kept(*iterations, times.len()) {
            extra.set("iteration", &format!("{number:06}"));
            record.push_of_if(&ITERATION, &extra, times.get(number - 1).map(|time| Seconds(*time)));
        }
        Ok(())
    }
}

/// `lasted` is the time of all iterations.
fn push(part: &LastPart, lasted: Seconds, extra: &Params, record: &mut dyn Record) {
    record.push_of(&STEADY, extra, Seconds(part.level));
    record.push_of_if(&STEADY_FROM, extra, part.before.map(|before| Count(float(before))));
    let refusal = match part.doubt {
        None => return,
        Some(Doubt::Compiling) => Recorded::StillCompiling { seconds: lasted.0 },
        Some(Doubt::Changing(change)) => Recorded::StillChanging { change },
    };
    record.refuse_of(&STEADY.info(), extra, Finding::new(refusal));
}

/// Each process is one take.
impl Probe for Warming {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        self.program.tell(1, &self.options.cpus, record);
        self.program.is_same()?;
        for kernel in self.options.kernels.clone() {
            self.measure(kernel, record)?;
        }
        self.program.is_same()
    }

    fn given_up(&self) -> Option<String> {
        self.program.gone()
    }

    fn cpus(&self) -> Vec<u32> {
        self.options.cpus.clone()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const QUIET: Option<Compilers> = Some(Compilers { are_quiet: true, worked: 0 });

    fn quiet(worked: u64) -> Option<Compilers> {
        Some(Compilers { are_quiet: true, worked })
    }

    /// As HotSpot's: interpreted, the first compiler's plateau, the last one's code after 300 iterations.
    fn plateaus() -> Vec<f64> {
        let mut times = vec![1257.0, 565.0, 590.0, 580.0, 590.0, 600.0, 224.0];
        times.extend([110.0, 112.0, 111.0].into_iter().cycle().take(300));
        times.extend([27.0, 26.0, 25.0, 26.0].into_iter().cycle().take(1500));
        times
    }

    #[test]
    fn a_plateau_of_the_first_compiler_is_not_steady() {
        let times = plateaus();
        let busy = Some(Compilers { are_quiet: false, worked: 7 });
        let early = last_part(&times[..40], busy).unwrap();
        assert_eq!((early.before, early.doubt), (None, Some(Doubt::Compiling)));
        let whole = last_part(&times, quiet(340)).unwrap();
        assert_eq!((whole.level, whole.doubt), (26.0, None));
        // The first stretch of five of which three are of the last level.
        let before = whole.before.unwrap();
        assert!((300..=310).contains(&before), "{before}");
    }

    #[test]
    fn a_level_that_moves_though_compilers_rest_is_doubted() {
        let falling: Vec<f64> = (0..40).map(|n| 1000.0 * 0.9f64.powi(n)).collect();
        assert!(
            matches!(last_part(&falling, QUIET).unwrap().doubt, Some(Doubt::Changing(change)) if change > 1.0)
        );
        // Nobody knows of the compilers: the second half alone is asked.
        let times = plateaus();
        assert_eq!(last_part(&times, None).unwrap().doubt, None);
        let late = last_part(&times[..420], None).unwrap();
        assert!(matches!(late.doubt, Some(Doubt::Changing(change)) if change > 3.0), "{late:?}");
        // A short disturbance is none.
        let mut noisy = vec![700.0; 400];
        noisy[300..340].fill(20_000.0);
        assert_eq!(last_part(&noisy, QUIET), Some(LastPart { level: 700.0, before: Some(0), doubt: None }));
    }

    #[test]
    fn too_few_or_impossible_times_are_no_part() {
        assert_eq!(last_part(&[1.0; 19], QUIET), None);
        assert_eq!(last_part(&[1.0; 40], quiet(30)), None);
        assert_eq!(last_part(&[0.0; 40], QUIET), None);
        assert_eq!(last_part(&[], None), None);
    }

    #[test]
    fn the_curve_reaches_the_steady_part_in_few_points() {
        let numbers: Vec<usize> = kept(20, 100).collect();
        assert_eq!(numbers[..20], (1..=20).collect::<Vec<_>>());
        assert_eq!(numbers[20..], [25, 31, 38, 47, 58, 72, 90]);
        assert_eq!(kept(40, 40).count(), 40);
        assert!(kept(40, 300_000).count() < 90);
    }

    proptest! {
        #[test]
        fn nothing_panics(times in proptest::collection::vec(0.0f64..1e6, 0..60), worked in 0u64..80, kind in 0u8..3) {
            let compilers = (kind > 0).then_some(Compilers { are_quiet: kind == 1, worked });
            if let Some(part) = last_part(&times, compilers) {
                prop_assert!(part.before.is_none_or(|before| before <= times.len()));
            }
        }
    }
}
