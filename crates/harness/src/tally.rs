//! The takes of one cell and arm on one machine, as the stop rule needs them, and the stop rule of a plan.
//!
//! Counts are measured takes; warm-ups are not counted. Values are in the base units of their series.

use std::collections::BTreeMap;

use model::Params;
use model::plan::{Plan, Takes};
use stats::StopRule;

/// Counts and values of one cell and arm on one machine.
#[derive(Debug, Default)]
pub struct Tally {
    pub attempts: u32,
    pub faults: u32,
    /// Values per series: of the headline metrics, or of every metric with a direction if the cell has no headline.
    pub values: BTreeMap<(String, Params), Vec<f64>>,
}

impl Tally {
    /// True if takes succeeded and none of them had a value whose interval matters.
    #[must_use]
    pub fn aimless(&self) -> bool {
        self.values.is_empty() && self.faults == 0
    }
}

/// The stop rule of a plan.
#[must_use]
pub fn rule(takes: &Takes) -> StopRule {
    match takes {
        Takes::Fixed(n) => StopRule::Exactly(*n as usize),
        Takes::Adaptive { quick: true, target } => StopRule::quick(*target),
        Takes::Adaptive { quick: false, target } => StopRule::standard(*target),
    }
}

/// The most blocks of a plan, warm-up included.
#[must_use]
pub fn most_blocks(plan: &Plan) -> u32 {
    plan.warm_up.saturating_add(u32::try_from(rule(&plan.takes).most()).unwrap_or(u32::MAX))
}
