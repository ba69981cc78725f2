//! Unit self-check: two clocks of this machine must agree on how long a nanosecond is.
//!
//! Reads the `timer` benchmark's `disagreement` (relative) when the run has it. Over 1 % every time of the run is
//! invalid: an old study was 20 % wrong by this.

use model::{Finding, Validity};

use super::{Look, Ruling, unknown};
use crate::say;

const KIND: &str = "timer";
const METRIC: &str = "disagreement";
const DOUBTFUL: f64 = 0.001;
const INVALID: f64 = 0.01;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let found = look.run.series.iter().find(|one| one.key.instrument == KIND && one.key.metric == METRIC);
    let worst = found.map(|series| series.measured()).unwrap_or_default();
    let Some(median) = stats::median(&worst).map(f64::abs) else {
        return unknown(KIND, "the clock was not checked against a second one (run `timer`)");
    };
    let state = match median {
        share if share > INVALID => Validity::Invalid,
        share if share > DOUBTFUL => Validity::Doubtful,
        _ => Validity::Ok,
    };
    let text = match state {
        Validity::Ok => format!("two clocks agree within {}", say::percent(median)),
        _ => format!(
            "two clocks of this machine disagree by {}: every time is off by that much",
            say::percent(median)
        ),
    };
    let finding = Finding::new(KIND, state, text).evidence("share", median);
    vec![Ruling { finding, reach: look.rows().map(|row| row.index).collect() }]
}
