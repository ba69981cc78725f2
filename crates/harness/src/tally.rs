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
    pub values: BTreeMap<(String, Params), Values>,
}

/// The values of one series in time order, a sitting each.
#[derive(Clone, Debug, Default)]
pub struct Values(Vec<(u32, Vec<f64>)>);

impl Values {
    pub fn push(&mut self, sitting: u32, value: f64) {
        match self.0.last_mut() {
            Some((last, values)) if *last == sitting => values.push(value),
            _ => self.0.push((sitting, vec![value])),
        }
    }

    pub fn all(&self) -> Vec<f64> {
        self.0.iter().flat_map(|(_, values)| values).copied().collect()
    }
}

/// The interval that the display shows, and on whose width the stop rule decides.
pub fn summary(values: &Values) -> Option<stats::Summary> {
    stats::summary(&values.all()).ok()
}

/// The stop rule's decision after so many takes of each arm.
pub fn look(rule: &StopRule, attempts: usize, arms: &[&Values]) -> stats::Decision {
    let arms: Vec<Vec<f64>> = arms.iter().map(|values| values.all()).collect();
    let views: Vec<&[f64]> = arms.iter().map(Vec::as_slice).collect();
    rule.look(attempts, &views)
}

impl Tally {
    /// True if takes succeeded and none of them had a value whose interval matters.
    pub fn aimless(&self) -> bool {
        self.values.is_empty() && self.faults == 0
    }
}

/// The stop rule of a plan.
pub fn rule(takes: &Takes) -> StopRule {
    match takes {
        Takes::Fixed(n) => StopRule::Exactly(*n as usize),
        Takes::Adaptive { quick: true, target } => StopRule::quick(*target),
        Takes::Adaptive { quick: false, target } => StopRule::standard(*target),
    }
}

/// The most blocks of a plan, warm-up included.
pub fn most_blocks(plan: &Plan) -> u32 {
    plan.warm_up.saturating_add(u32::try_from(rule(&plan.takes).most()).unwrap_or(u32::MAX))
}
