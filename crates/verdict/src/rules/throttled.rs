//! CPU quota: the scheduler stopped our control group during a take (`nr_throttled` rose): such a figure measures the
//! quota, not the machine.
//!
//! Input: the count of throttled periods during each take. Not seen: a quota of the hypervisor (see `steal`).

use model::{Finding, Validity};

use super::{Look, Ruling, settle, unknown};
use crate::{facts, say};

const KIND: &str = "throttled";

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    if look.condition(KIND).is_none() {
        return unknown(KIND, "no throttling counter of the control group was read");
    }
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in look.rows() {
        let counts = look.during(row, KIND);
        let hit = counts.iter().filter(|count| **count > 0.0).count();
        match (counts.len(), hit) {
            (0, _) => {}
            (_, 0) => good.push(row.index),
            (all, hit) => {
                let text = format!(
                    "stopped by {} in {hit} of {}: the figure measures the quota, not the machine; lift it or \
                     compare only inside it",
                    quota(look),
                    say::count(all, "take")
                );
                let periods = counts.iter().sum();
                let mut finding = Finding::new(KIND, Validity::Invalid, text).about(row.title());
                if let Some(cpus) = facts::number(&look.run.facts, "cgroup.cpu.quota") {
                    finding = finding.evidence("quota", cpus);
                }
                let finding = finding
                    .evidence("takes", hit as f64)
                    .evidence("of", all as f64)
                    .evidence("periods", periods);
                bad.push(Ruling { finding, reach: vec![row.index] });
            }
        }
    }
    settle(bad, good, |n| {
        let text = format!("no CPU quota stopped any take of {}", say::count(n, "figure"));
        Finding::new(KIND, Validity::Ok, text).evidence("periods", 0.0)
    })
}

/// `the CPU quota of 0.9 CPUs`.
fn quota(look: &Look<'_>) -> String {
    match facts::number(&look.run.facts, "cgroup.cpu.quota") {
        Some(cpus) => format!("the CPU quota of {} CPUs", say::digits(cpus)),
        None => "a CPU quota (its size is unknown)".to_owned(),
    }
}
