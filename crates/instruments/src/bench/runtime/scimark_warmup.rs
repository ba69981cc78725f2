//! The warm-up of a virtual machine: CPU time of each of a kernel's first iterations in a fresh process.
//!
//! Seconds of CPU time of the thread that calculates. The first iteration includes loading the class and touching the
//! data; the threads that compile are not counted. Nothing is checked before, since that would warm the machine:
//! `scimark` shows that the same program's results are right.

use model::metrics::warmup::{FIRST, ITERATION, STEADY, STEADY_FROM};
use model::{
    By, Cadence, Card, Count, Family, Fault, ParamKind, ParamSpec, Params, Probe, Record, RecordExt, Seconds,
    Setup, Shown, Simple, Size as Effort, Tell, Tier, Unfit, Variant,
};

use super::kernel::{Kernel, Size};
use super::language::{ARMS, WARMING};
use super::params;
use super::program::Program;
use crate::bench::kernel::{int_param, room};
use crate::bench::median::median;

const OWN: [ParamSpec; 3] = [
    params::lang(WARMING),
    params::KERNELS,
    ParamSpec::new(
        "iterations",
        ParamKind::Int { min: 20, max: 999 },
        "40",
        "iterations of each process (one cycle; of monte-carlo 10000, of sparse 10)",
    ),
];
static PARAMS: [ParamSpec; OWN.len() + ARMS.len()] = ParamSpec::joined(&[&OWN, ARMS]);

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
    definition: 1,
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
    cpus: Vec<u32>,
}

impl WarmupOptions {
    fn from_setup(setup: &Setup) -> Result<WarmupOptions, Unfit> {
        let language = params::language(setup)?;
        room(setup, language.memory_mib.0 << 20)?;
        let kernels = params::kernels(setup)?;
        let cpus = params::cpus_of(0, language, &setup.cpus);
        // A smoke test has as many as a steady part needs.
        let iterations = if setup.size == Effort::Smoke { 20 } else { int_param(setup, "iterations")? };
        Ok(WarmupOptions { kernels, iterations, cpus })
    }
}

struct Warming {
    options: WarmupOptions,
    program: Program,
}

/// The steady part of a row of times: its level, and how many come before it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Steady {
    level: f64,
    before: usize,
}

/// `None` where even the last quarter is not steady.
fn steady(times: &[f64]) -> Option<Steady> {
    const WINDOW: usize = 5;
    const WITHIN: f64 = 1.1;
    let quarter = times.len() / 4;
    let level =
        median(times.get(times.len() - quarter..)?).filter(|level| quarter >= WINDOW && *level > 0.0)?;
    let is_near = |window: &[f64]| {
        median(window).is_some_and(|middle| (level / WITHIN..=level * WITHIN).contains(&middle))
    };
    let near: Vec<bool> = times.windows(WINDOW).map(is_near).collect();
    let before = near.iter().rposition(|near| !near).map_or(0, |last| last + 1);
    (before <= times.len() - quarter).then_some(Steady { level, before })
}

impl Warming {
    fn measure(&self, kernel: Kernel, record: &mut dyn Record) -> Result<(), Fault> {
        let WarmupOptions { iterations, cpus, .. } = &self.options;
        let task = ["warmup".to_owned(), iterations.to_string(), kernel.warm_up_cycles().to_string()];
        let output = self.program.run(kernel, Size::Small, &task, cpus)?;
        let times: Vec<f64> = output.iterations.iter().map(|one| Seconds::from_ns(one.cpu_ns).0).collect();
        if times.len() as u64 != *iterations {
            let what = format!("{}: {} iterations of {iterations}", kernel.name(), times.len());
            return Err(Fault::new(what));
        }
        let mut extra = Params::default();
        extra.set(params::KERNEL, kernel.name());
        record.push_of_if(&FIRST, &extra, times.first().map(|first| Seconds(*first)));
        if let Some(Steady { level, before }) = steady(&times) {
            record.push_of(&STEADY, &extra, Seconds(level));
            record.push_of(&STEADY_FROM, &extra, Count(crate::bench::kernel::float(before)));
        }
        let digits = iterations.to_string().len();
        for (number, time) in (1..).zip(&times) {
            extra.set("iteration", &format!("{number:0digits$}"));
            record.push_of(&ITERATION, &extra, Seconds(*time));
        }
        Ok(())
    }
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

    #[test]
    fn the_steady_part_begins_where_times_stay() {
        let mut times = vec![1257.0, 565.0, 590.0, 580.0, 590.0, 600.0, 224.0, 112.0];
        times.extend([77.0, 80.0, 79.0, 78.0].into_iter().cycle().take(32));
        let found = steady(&times).unwrap();
        assert!((77.0..=80.0).contains(&found.level), "{found:?}");
        // The first five of which three are of the steady part.
        assert_eq!(found.before, 6);
        let flat = vec![700.0; 40];
        assert_eq!(steady(&flat), Some(Steady { level: 700.0, before: 0 }));
        // One long iteration is noise.
        let mut noisy = flat.clone();
        noisy[30] = 20_000.0;
        assert_eq!(steady(&noisy), Some(Steady { level: 700.0, before: 0 }));
    }

    #[test]
    fn what_still_changes_is_not_steady() {
        let falling: Vec<f64> = (0..40).map(|n| 1000.0 * 0.9f64.powi(n)).collect();
        assert_eq!(steady(&falling), None);
        assert_eq!(steady(&[1.0; 19]), None);
        assert_eq!(steady(&[]), None);
        assert_eq!(steady(&[0.0; 40]), None);
    }

    proptest! {
        #[test]
        fn nothing_panics(times in proptest::collection::vec(0.0f64..1e6, 0..60)) {
            if let Some(found) = steady(&times) {
                prop_assert!(found.level > 0.0 && found.before <= times.len());
            }
        }
    }
}
