//! The true clock after a heat-up: every thread adds for a while, then its core's clock is read under that load.
//!
//! Hertz, without a direction: designs do not do the same in a cycle. By dependent additions, best of 20 windows of 50
//! us a core; `clock` is the mean over the cores and `slowest` the slowest of them. Needs no hardware counters. Under
//! emulation it is additions per second. Power limits that take longer than the heat-up to bite do not show here, but
//! in the clocks around the takes of a long run.

use model::params::{ParamKind, ParamSpec};
use model::{
    By, Cadence, Card, Family, Fault, Hertz, Label, Metric, Probe, RecordExt, Setup, Shown, Simple, Size,
    Tier, Unfit, Variant,
};
use sys::freq;

use crate::bench::kernel::{Kernel, KernelProbe, Tally, float, int_param};

const CLOCK: Metric<Hertz> = Metric::neither(
    "clock",
    "Clock under load after the heat-up: dependent additions per second, mean over the cores in use",
);
const SLOWEST: Metric<Hertz> = Metric::neither("slowest", "The same of the slowest core in use");

const WINDOW_NS: u64 = freq::WINDOW_NS;

static CARD: Card = Card {
    name: model::names::instrument::CLOCK,
    family: Family::Machine,
    says: "true clock of the cores under load after a heat-up",
    source: "own: dependent additions",
    shown: Shown { label: "clock", sorted: &[By::Param("threads")], place: 0, ..Shown::PLAIN },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[
        ParamSpec::new("threads", ParamKind::Threads, "all", "threads that heat and measure")
            .label(Label::Count("thread", "threads")),
        ParamSpec::new(
            "heat",
            ParamKind::Int { min: 0, max: 600_000 },
            "100",
            "ms of load in each take before the clock is read",
        ),
    ],
    metrics: &[CLOCK.info(), SLOWEST.info()],
    variants: &[
        Variant { tier: Tier::Default, set: "", headline: &[] },
        Variant { tier: Tier::Full, set: "threads=sweep", headline: &[] },
        Variant { tier: Tier::Full, set: "heat=1000", headline: &[] },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let heat_ns = match setup.size {
        Size::Smoke => 1_000_000,
        Size::Full => int_param(setup, "heat")?.saturating_mul(1_000_000),
    };
    let make = move |_| Ok(Adder { heat_ns });
    KernelProbe::boxed(setup, 0, make, |tally: &Tally<f64>, record| {
        let slowest = tally.outs().copied().fold(f64::INFINITY, f64::min);
        let mean = tally.outs().sum::<f64>() / float(tally.threads());
        record.push(&CLOCK, Hertz(mean));
        record.push(&SLOWEST, Hertz(slowest));
        Ok(())
    })
}

struct Adder {
    heat_ns: u64,
}

impl Kernel for Adder {
    type Out = f64;

    /// One unit: the heat-up, then the reading; the last reading counts.
    fn run(&mut self, repeats: u64) -> Result<f64, Fault> {
        let unknown = || Fault::new("this processor has no additions of known latency here");
        let mut hertz = 0.0;
        for _ in 0..repeats.max(1) {
            let end_ns = sys::clock::now_ns().saturating_add(self.heat_ns);
            while sys::clock::now_ns() < end_ns {
                freq::true_hz(freq::WINDOWS, WINDOW_NS).ok_or_else(unknown)?;
            }
            hertz = freq::true_hz(freq::WINDOWS, WINDOW_NS).ok_or_else(unknown)?.best_hz;
        }
        Ok(hertz)
    }
}
