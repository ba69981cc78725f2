//! The least difference that the clock of the takes can show: its step as a share of how long a take lasted.
//!
//! Every figure of a take is a count over its time or a time over a count, so it moves by no less than step / time. The
//! step is what `timer` measured on this machine (seconds, median of its takes); without it nothing is assumed. A step
//! as long as the take that found it is none. Not counted: single operations that are timed one by one within a take.

use model::data::{RunData, Series};
use model::{Phase, Unit};
use stats::Margin;

use super::prepare::{Prepared, Row, Said};
use crate::say;

/// A margin raised to what the clocks can show.
#[derive(Clone, Debug, PartialEq)]
pub struct Raised {
    pub margin: Margin,
    pub says: String,
}

/// The margin of a row, and why, where the clock of either side is too coarse for the one asked for.
pub fn raised(
    margin: Margin,
    arm: (&Prepared<'_>, &Said<'_, '_>),
    base: (&Prepared<'_>, &Said<'_, '_>),
) -> Option<Raised> {
    let sides = [arm, base].into_iter().filter_map(|(side, said)| {
        let Said::Measured(row) = said else { return None };
        let (step, window) = (step(side)?, window(row)?);
        let margin = margin.at_least_quantum(step, window);
        let says = format!(
            "the margin is {}: the clock of {} steps by {} in takes of {}",
            say::percent(margin.share()),
            side.side.name,
            say::quantity(step, Unit::Second),
            say::quantity(window, Unit::Second)
        );
        Some(Raised { margin, says })
    });
    let coarsest = sides.max_by(|a, b| a.margin.share().total_cmp(&b.margin.share()))?;
    (coarsest.margin > margin).then_some(coarsest)
}

/// The coarsest step that a run of the side found.
fn step(side: &Prepared<'_>) -> Option<f64> {
    side.side.runs.iter().filter_map(|run| step_of(run)).reduce(f64::max)
}

fn step_of(run: &RunData) -> Option<f64> {
    let series = run.series.iter().find(|one| one.key.instrument == "timer" && one.key.metric == "step")?;
    let step = stats::median(&series.measured()).filter(|step| *step > 0.0)?;
    seconds(series).filter(|window| step < *window).map(|_| step)
}

/// How long the shortest run's takes of a row lasted.
fn window(row: &Row<'_>) -> Option<f64> {
    row.entries.iter().filter_map(|entry| seconds(entry.series)).reduce(f64::min)
}

/// Median time of the measured takes.
fn seconds(series: &Series) -> Option<f64> {
    let measured = series.points.iter().filter(|point| point.phase == Phase::Measured && point.window_ns > 0);
    let windows: Vec<f64> = measured.map(|point| point.window_ns as f64 * 1e-9).collect();
    stats::median(&windows)
}
