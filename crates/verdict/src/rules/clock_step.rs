//! Steps of the wall clock against the monotonic one during a take.
//!
//! Figures are timed by the monotonic clock, so a step does not move them: it is a note. In s; over 10 ms is a step,
//! less is ordinary slewing.

use model::finding::ClockStep;
use model::metrics::machine;

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

/// The metric of `conditions`.
const METRIC: &str = machine::CLOCK_STEP.name();
const STEP: f64 = 0.01;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.condition(METRIC).is_none() {
        return vec![Ruling::of_run(ClockStep::Unread)];
    }
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in index.rows() {
        let steps = index.during(row, METRIC);
        let Some(far) = steps.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())) else { continue };
        if far.abs() > STEP {
            bad.push(Ruling::about(row.subject(), ClockStep::Stepped { seconds: far }, vec![row.index]));
        } else {
            good.push(row.index);
        }
    }
    settle(bad, good, |_| ClockStep::None)
}
