//! Doubts about the surroundings of a measurement: what else went on, so that a difference may be no machine's.
//!
//! Such a doubt withholds the verdict of a comparison. Doubts about the takes themselves (drift, resemblance, number)
//! do not: their effect is in the interval already. A moved clock is weighed by how far it moved (`compare/clock.rs`).

use std::collections::BTreeSet;

use model::Validity;
use model::finding::{Counted, Counter, Recorded, Rule};
use model::why::Disturbance;

use crate::ruling::Ruling;

/// The disturbance of a finding, if its rule is about the surroundings of a run.
const fn of_rule(rule: &Rule) -> Option<Disturbance> {
    Some(match rule {
        Rule::Background(_) => Disturbance::OtherProcesses,
        Rule::Steal(_) => Disturbance::Steal,
        Rule::Heat(_) | Rule::Counted(Counted::Rose { counter: Counter::ThermalThrottle, .. }) => {
            Disturbance::Heat
        }
        Rule::Counted(Counted::Rose { counter: Counter::Swap, .. }) => Disturbance::Swap,
        Rule::Counted(Counted::Rose { counter: Counter::MajorFaults, .. }) => Disturbance::MajorFaults,
        Rule::ClockStep(_) => Disturbance::ClockSet,
        Rule::Recorded(
            Recorded::PageCache { .. } | Recorded::SmallArray { .. } | Recorded::FewLines { .. },
        ) => Disturbance::Cache,
        Rule::SameCores(_) => Disturbance::SharedCore,
        Rule::Late(_) => Disturbance::LateRequests,
        Rule::Recorded(Recorded::Flush { .. }) => Disturbance::Flush,
        _ => return None,
    })
}

/// Everything in the surroundings that makes a series doubtful, in the order of the enum.
pub fn disturbances(rulings: &[Ruling], series: usize) -> Vec<Disturbance> {
    let is_doubt =
        |ruling: &&Ruling| ruling.finding.state == Validity::Doubtful && ruling.reach.contains(&series);
    let doubts = rulings.iter().filter(is_doubt);
    let found: BTreeSet<Disturbance> =
        doubts.filter_map(|ruling| of_rule(ruling.finding.rule.base())).collect();
    found.into_iter().collect()
}
