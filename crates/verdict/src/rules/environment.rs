//! Doubts about the surroundings of a measurement: what else went on, so that a difference may be no machine's.
//!
//! Each gives the share by which it can have moved a figure, so that a comparison can be judged with an interval that
//! is wider by as much (`compare/weigh.rs`); one without a bound withholds the verdict. Doubts about the takes
//! themselves (drift, resemblance, number) do not: their effect is in the interval already. A moved clock is weighed by
//! how far it moved (`compare/clock.rs`).

use std::collections::BTreeMap;

use model::Validity;
use model::finding::{Background, Counted, Counter, Recorded, Rule, Steal};
use model::why::{Disturbance, Weighed};

use super::counted::PAGE;
use crate::ruling::Ruling;
use crate::run_index::{FigureRow, RunIndex};

/// Beyond this share a figure says too little of the machine for any bound.
const MOST: f64 = 0.5;

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
        Rule::Recorded(
            Recorded::PageCache { .. } | Recorded::SmallArray { .. } | Recorded::FewLines { .. },
        ) => Disturbance::Cache,
        Rule::SameCores(_) => Disturbance::SharedCore,
        Rule::Late(_) => Disturbance::LateRequests,
        Rule::Recorded(Recorded::Flush { .. }) => Disturbance::Flush,
        _ => return None,
    })
}

/// The share by which it can have moved a row; `None` where that has no bound. The tail of a distribution has none: a
/// hundredth of the time can be all of it.
fn share(rule: &Rule, index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<f64> {
    let share = match rule {
        Rule::Background(Background::Busy { cpus, of, .. }) => cpus / of,
        Rule::Steal(Steal::Much { share }) => *share,
        Rule::Counted(Counted::Rose { counter: Counter::ThermalThrottle, .. }) => {
            1.0 - (-super::clock::of_takes(index, row)?.spread).exp()
        }
        Rule::Counted(Counted::Rose { events, .. }) => events * PAGE / row.seconds()?,
        _ => return None,
    };
    (share < MOST && !model::metrics::is_tail(&row.series.key.metric)).then_some(share)
}

/// Everything in the surroundings that makes a row doubtful, in the order of the enum.
pub fn disturbances(rulings: &[Ruling], index: &RunIndex<'_>, row: FigureRow<'_>) -> Vec<Weighed> {
    let is_doubt =
        |ruling: &&Ruling| ruling.finding.state == Validity::Doubtful && ruling.reach.contains(&row.index);
    let mut found: BTreeMap<Disturbance, Option<f64>> = BTreeMap::new();
    for rule in rulings.iter().filter(is_doubt).map(|ruling| ruling.finding.rule.base()) {
        if let Some(what) = of_rule(rule) {
            found.insert(what, share(rule, index, row));
        }
    }
    found.into_iter().map(|(what, share)| Weighed { what, share }).collect()
}
