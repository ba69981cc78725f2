//! Doubts about the surroundings of a measurement: what else went on, so that a difference may be no machine's.
//!
//! Such a doubt withholds the verdict of a comparison. Doubts about the takes themselves (drift, resemblance, number)
//! do not: their effect is in the interval already. A moved clock is weighed by how far it moved (`compare/clock.rs`).

use model::Validity;
use model::why::Disturbance;

use super::Ruling;

/// The rules about surroundings, and what each found.
const RULES: [(&str, Disturbance); 12] = [
    ("background", Disturbance::OtherProcesses),
    ("steal", Disturbance::Steal),
    ("heat", Disturbance::Heat),
    ("thermal-throttle", Disturbance::Heat),
    ("swap", Disturbance::Swap),
    ("major-faults", Disturbance::MajorFaults),
    ("clock-step", Disturbance::ClockSet),
    ("page-cache", Disturbance::Cache),
    ("cached", Disturbance::Cache),
    ("same-cores", Disturbance::SharedCore),
    ("late", Disturbance::LateRequests),
    ("flush", Disturbance::Flush),
];

/// Everything in the surroundings that makes a series doubtful.
#[must_use]
pub fn disturbances(rulings: &[Ruling], series: usize) -> Vec<Disturbance> {
    let about = |kind: &str| {
        rulings.iter().any(|ruling| {
            ruling.finding.kind == kind
                && ruling.finding.state == Validity::Doubtful
                && ruling.reach.contains(&series)
        })
    };
    let mut found: Vec<Disturbance> = Vec::new();
    for (_, one) in RULES.iter().filter(|(kind, _)| about(kind)) {
        if !found.contains(one) {
            found.push(*one);
        }
    }
    found
}
