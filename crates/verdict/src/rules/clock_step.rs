//! Steps of the wall clock against the monotonic one during a take.
//!
//! Figures are timed by the monotonic clock, so a step does not move them; it makes doubtful what else happened (a
//! suspended or migrated machine). In s; over 10 ms is a step, less is ordinary slewing.

use model::finding::ClockStep;

use super::{Look, Ruling, settle};

/// The metric of `conditions`.
const METRIC: &str = "clock-step";
const STEP: f64 = 0.01;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    if look.condition(METRIC).is_none() {
        return vec![Ruling::of_run(ClockStep::Unread)];
    }
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in look.rows() {
        let steps = look.during(row, METRIC);
        let Some(far) = steps.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs())) else { continue };
        if far.abs() > STEP {
            bad.push(Ruling::about(row.subject(), ClockStep::Stepped { seconds: far }, vec![row.index]));
        } else {
            good.push(row.index);
        }
    }
    settle(bad, good, |_| ClockStep::None)
}
