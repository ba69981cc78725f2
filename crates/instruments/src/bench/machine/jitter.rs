//! Gaps in a loop that only reads the clock: time in which something else had the core.
//!
//! Seconds and shares, over a span of 100 ms on one pinned CPU; gaps under 10 us are not counted. It does not say
//! whether an interrupt, another thread or the hypervisor took the time; `stolen` is what the hypervisor admits to,
//! in the kernel's ticks of 10 ms.

use model::metrics::machine::{GAPS, LONGEST, LOST, STOLEN};
use model::params::{ParamKind, ParamSpec};
use model::{
    Cadence, Card, Count, Family, Fault, Probe, Ratio, Record, RecordExt, Seconds, Setup, Shown, Simple,
    Size, Tier, Unfit, Variant,
};
use sys::{affinity, spin};

use crate::bench::kernel::int_param;
use crate::telemetry::parse::{float, stat};
use crate::telemetry::read::Kept;

const THRESHOLD_NS: u64 = 10_000;

static CARD: Card = Card {
    name: model::names::instrument::JITTER,
    family: Family::Machine,
    says: "longest and total gaps in a spin loop: what the system takes from a busy core",
    source: "own",
    shown: Shown { label: "jitter", place: 1, ..Shown::PLAIN },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &[ParamSpec::new(
        "span",
        ParamKind::Int { min: 1, max: 60_000 },
        "100",
        "ms that the loop spins in each take",
    )],
    metrics: &[LONGEST.info(), LOST.info(), GAPS.info(), STOLEN.info()],
    variants: &[
        Variant { tier: Tier::Default, set: "", headline: &[] },
        Variant { tier: Tier::Full, set: "span=1000", headline: &[] },
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    // The last CPU: the first takes most systems' interrupts.
    let cpu = setup.cpus.last().copied().ok_or_else(|| Unfit::new("no CPU to run on"))?;
    let span_ns = match setup.size {
        Size::Smoke => 2_000_000,
        Size::Full => int_param(setup, "span")?.saturating_mul(1_000_000),
    };
    Ok(Box::new(Loop { cpu, span_ns, stat: Kept::open("/proc/stat") }))
}

struct Loop {
    cpu: u32,
    span_ns: u64,
    stat: Option<Kept>,
}

impl Loop {
    fn times(&mut self) -> Option<stat::Times> {
        let stat = self.stat.as_mut()?.parse(stat::parse)?;
        stat.cpu(self.cpu).copied()
    }
}

impl Probe for Loop {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let cpu = usize::try_from(self.cpu).map_err(|_| Fault::new("no such CPU"))?;
        let _pinned = affinity::pin(cpu).map_err(|error| Fault::new(error.to_string()))?;
        let before = self.times();
        let seen = spin::gaps(self.span_ns, THRESHOLD_NS, &mut |_| ());
        let after = self.times();
        record.push(&LONGEST, Seconds::from_ns(seen.longest_ns));
        record.push(&LOST, Ratio(float(seen.total_ns) / float(seen.span_ns.max(1))));
        record.push(&GAPS, Count(float(seen.count)));
        let passed = after.zip(before).map(|(after, before)| after.since(&before));
        if let Some(passed) = passed {
            // In a span without a tick nothing was stolen that could be counted.
            record.push(&STOLEN, Ratio(float(passed.steal) / float(passed.total().max(1))));
        }
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        vec![self.cpu]
    }
}
