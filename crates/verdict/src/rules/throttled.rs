//! CPU quota: the scheduler stopped our control group during a take (`nr_throttled` rose): such a figure measures the
//! quota, not the machine.
//!
//! Input: the count of throttled periods during each take. Not seen: a quota of the hypervisor (see `steal`).

use model::finding::Throttled;
use model::metrics::machine;

use crate::facts;
use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

/// The metric of `conditions`.
const METRIC: &str = machine::THROTTLED.name();

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.condition(METRIC).is_none() {
        return vec![Ruling::of_run(Throttled::Unread)];
    }
    let quota = facts::number(&index.run.facts, "cgroup.cpu.quota");
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in index.rows() {
        let counts = index.during(row, METRIC);
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
