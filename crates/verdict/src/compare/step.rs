//! The least difference that the clock of the takes can show: its step as a share of how long a take lasted.
//!
//! Every figure of a take is a count over its time or a time over a count, so it moves by no less than step / time. The
//! step is what `timer` measured on this machine (seconds, median of its takes), in the runs that count and where it
//! was not refused; without it nothing is assumed. A step as long as the take that found it is none. Not counted:
//! single operations that are timed one by one within a take.

use model::data::{RunData, Series};
use model::metrics::machine;
use model::names::instrument;
use model::{Phase, Validity, why};
use stats::Margin;

use super::prepared::{Prepared, SideRow, SideValue};
use crate::ruling::{Ruling, validity_of};

/// A margin raised to what the clocks can show.
#[derive(Clone, Debug, PartialEq)]
pub struct Raised {
    pub margin: Margin,
    pub reason: why::Raised,
}

/// The margin of a row, and why, where the clock of either side is too coarse for the one asked for.
pub fn raised(
    margin: Margin,
    arm: (&Prepared<'_>, &SideValue<'_, '_>),
    base: (&Prepared<'_>, &SideValue<'_, '_>),
) -> Option<Raised> {
    let sides = [arm, base].into_iter().filter_map(|(side, said)| {
        let SideValue::Measured(row) = said else { return None };
        let speaks =
            |id: &str| row.speaking().is_ok_and(|all| all.iter().any(|entry| entry.run.head.id == id));
        let steps = side.steps.iter().filter(|(id, _)| speaks(id)).map(|(_, step)| *step);
        let (step, window) = (steps.reduce(f64::max)?, window(row)?);
        let margin = margin.at_least_quantum(step, window);
        let reason = why::Raised {
            margin: margin.share(),
            side: side.side.name.clone(),
            step_seconds: step,
            take_seconds: window,
        };
        Some(Raised { margin, reason })
    });
    let coarsest = sides.max_by(|a, b| a.margin.share().total_cmp(&b.margin.share()))?;
    (coarsest.margin > margin).then_some(coarsest)
}

/// The step that a run found, where the figure was not refused.
pub fn step_of(run: &RunData, rulings: &[Ruling]) -> Option<f64> {
    let timer =
        |one: &Series| one.key.instrument == instrument::TIMER && one.key.metric == machine::STEP.name();
    let stands = |at: usize| validity_of(rulings, at).0 != Validity::Invalid;
    let (_, series) = run.series.iter().enumerate().find(|(at, one)| timer(one) && stands(*at))?;
    let step = stats::median(&series.measured()).filter(|step| *step > 0.0)?;
    seconds(series).filter(|window| step < *window).map(|_| step)
}

/// How long the shortest speaking run's takes of a row lasted.
fn window(row: &SideRow<'_>) -> Option<f64> {
    row.speaking().ok()?.iter().filter_map(|entry| seconds(entry.series)).reduce(f64::min)
}

/// Median time of the measured takes.
fn seconds(series: &Series) -> Option<f64> {
    let measured = series.points.iter().filter(|point| point.phase == Phase::Measured && point.window_ns > 0);
    let windows: Vec<f64> = measured.map(|point| point.window_ns as f64 * 1e-9).collect();
    stats::median(&windows)
}
