//! Doubts about the surroundings of a measurement: what else went on, so that a difference may be no machine's.
//!
//! Such a doubt withholds the verdict of a comparison. Doubts about the takes themselves (drift, resemblance, number)
//! do not: their effect is in the interval already. A moved clock is weighed by how far it moved (`compare/clock.rs`).

use model::Validity;

use super::Ruling;

/// The rules about surroundings, and what each found in a few words.
const RULES: [(&str, &str); 12] = [
    ("background", "other processes were busy"),
    ("steal", "the hypervisor gave CPU time to others"),
    ("heat", "heat slowed the processor"),
    ("thermal-throttle", "heat slowed the processor"),
    ("swap", "the system swapped"),
    ("major-faults", "pages had to come from disk"),
    ("clock-step", "the system's time was set"),
    ("page-cache", "a cache may have answered"),
    ("cached", "a cache may have answered"),
    ("same-cores", "generator and server shared a core"),
    ("late", "requests were sent late"),
    ("flush", "syncs may not have reached the medium"),
];

/// Which surroundings make a series doubtful, in a few words; nothing where none does.
#[must_use]
pub fn doubt(rulings: &[Ruling], series: usize) -> Option<String> {
    let about = |kind: &str| {
        rulings.iter().any(|ruling| {
            ruling.finding.kind == kind
                && ruling.finding.state == Validity::Doubtful
                && ruling.reach.contains(&series)
        })
    };
    let mut words: Vec<&str> = Vec::new();
    for (_, says) in RULES.iter().filter(|(kind, _)| about(kind)) {
        if !words.contains(says) {
            words.push(says);
        }
    }
    (!words.is_empty()).then(|| words.join(" and "))
}
