//! CPU quota: the scheduler stopped our control group during a take (`nr_throttled` rose): such a figure measures the
//! quota, not the machine.
//!
//! Input: the count of throttled periods during each take. Not seen: a quota of the hypervisor (see `steal`).

use model::finding::Throttled;

use super::{Look, Ruling, settle};
use crate::facts;

/// The metric of `conditions`.
const METRIC: &str = "throttled";

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    if look.condition(METRIC).is_none() {
        return vec![Ruling::of_run(Throttled::Unread)];
    }
    let quota = facts::number(&look.run.facts, "cgroup.cpu.quota");
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in look.rows() {
        let counts = look.during(row, METRIC);
        let hit = counts.iter().filter(|count| **count > 0.0).count();
        match (counts.len(), hit) {
            (0, _) => {}
            (_, 0) => good.push(row.index),
            (of, takes) => {
                let stopped = Throttled::Stopped { quota, takes, of, periods: counts.iter().sum() };
                bad.push(Ruling::about(row.subject(), stopped, vec![row.index]));
            }
        }
    }
    settle(bad, good, |figures| Throttled::Never { figures })
}
