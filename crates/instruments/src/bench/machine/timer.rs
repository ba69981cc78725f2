//! The clock that every other figure is timed with: its step, what a reading costs, and whether a second clock agrees.
//!
//! Seconds and shares. The cycle counter's rate is measured against CLOCK_MONOTONIC and CLOCK_MONOTONIC_RAW over the
//! same span and compared with what the hardware states. NTP slews the first by at most 500 ppm. This instrument does
//! not say which clock is right, and does not see what a hypervisor does to all of them alike.

use std::hint::black_box;
use std::time::Duration;

use model::metrics::machine::{COST, DISAGREEMENT, STEP};
use model::{
    Cadence, Card, Family, Fault, Finding, Probe, Ratio, Record, RecordExt, Seconds, Setup, Shown, Simple,
    Size, Tier, Unfit, Variant,
};
use sys::clock;

use crate::telemetry::parse::float;

/// Over this the times of this machine are wrong by as much.
const MOST: f64 = 0.01;
const ROWS: u32 = 20;
const READINGS: u32 = 1000;

static CARD: Card = Card {
    name: model::names::instrument::TIMER,
    family: Family::Machine,
    says: "step and cost of the clock, and whether a second clock agrees with it",
    source: "own",
    shown: Shown { label: "timer", place: 2, ..Shown::PLAIN },
    cadence: Cadence::Repeat,
    definition: 1,
    metrics: &[COST.info(), STEP.info(), DISAGREEMENT.info()],
    variants: &[Variant { tier: Tier::Quick, set: "", headline: &[] }],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let span = match setup.size {
        Size::Smoke => Duration::from_millis(5),
        Size::Full => Duration::from_millis(20),
    };
    let cpu = setup.cpus.first().copied().ok_or_else(|| Unfit::new("no CPU to run on"))?;
    Ok(Box::new(Clocks { span, cpu }))
}

struct Clocks {
    span: Duration,
    cpu: u32,
}

/// The best row: interruptions only make rows longer.
fn cost() -> Option<Seconds> {
    let row = |_| {
        let start = clock::now_ns();
        (0..READINGS).for_each(|_| {
            black_box(clock::now_ns());
        });
        clock::now_ns().saturating_sub(start)
    };
    let best_ns = (0..ROWS).map(row).filter(|ns| *ns > 0).min()?;
    Some(Seconds(float(best_ns) / 1e9 / f64::from(READINGS)))
}

fn verdict(share: f64) -> Option<Finding> {
    (share > MOST).then(|| Finding::new(model::finding::Timer::Broken { share }))
}

impl Probe for Clocks {
    fn take(&mut self, _: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let cpu = usize::try_from(self.cpu).map_err(|_| Fault::new("no such CPU"))?;
        let _pinned = sys::affinity::pin(cpu).map_err(|error| Fault::new(error.to_string()))?;
        record.push(&COST, cost().ok_or_else(|| Fault::new("the clock stood still"))?);
        let step_ns = clock::smallest_step_ns().ok_or_else(|| Fault::new("the clock stood still"))?;
        record.push(&STEP, Seconds::from_ns(step_ns));
        match clock::calibrate(self.span) {
            Ok(seen) => {
                record.push(&DISAGREEMENT, Ratio(seen.disagreement));
                verdict(seen.disagreement).into_iter().for_each(|finding| record.refuse(finding));
            }
            // A processor without a counter has nothing to compare with: missing, with the reason.
            Err(error) => record.remark("timer", &error.to_string()),
        }
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        vec![self.cpu]
    }
}

#[cfg(test)]
mod tests {
    use model::Validity;

    use super::*;

    #[test]
    fn a_fifth_too_fast_is_refused() {
        assert_eq!(verdict(0.000_5), None);
        let finding = verdict(0.2).unwrap();
        assert_eq!(finding.state, Validity::Invalid);
        assert!(finding.text().contains("20 %"));
    }

    #[test]
    fn a_reading_costs_something() {
        assert!(cost().is_some_and(|cost| cost.0 > 0.0 && cost.0 < 1e-3));
    }
}
