//! Paging: pages swapped, or read from disk on a fault, while a figure was measured.
//!
//! Counts events of the whole system (swap) and of our process (major faults). Doubtful when over a tenth of a
//! figure's takes met any.

use model::{Finding, Validity};

use super::{Look, Ruling, settle, unknown};
use crate::say;

const STRAY: f64 = 0.1;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let swap =
        counted(look, "swap", "swapped", "the system swapped", "free memory or add more, then repeat it");
    let faults = counted(
        look,
        "major-faults",
        "major-faults",
        "pages had to come from disk",
        "repeat it once the program is in memory",
    );
    [swap, faults].concat()
}

/// A rule about a counter that should not rise during a take.
pub fn counted(look: &Look<'_>, kind: &str, metric: &str, what: &str, advice: &str) -> Vec<Ruling> {
    if look.condition(metric).is_none() {
        return unknown(kind, format!("`{metric}` was not read during the takes"));
    }
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in look.rows() {
        let counts = look.during(row, metric);
        let hit = counts.iter().filter(|count| **count > 0.0).count();
        if counts.is_empty() {
            continue;
        }
        if hit as f64 > STRAY * counts.len() as f64 {
            let (all, sum) = (counts.len(), counts.iter().sum::<f64>());
            let events = say::digits(sum);
            let text = format!("{what} in {hit} of {} ({events} in all): {advice}", say::count(all, "take"));
            let finding = Finding::new(kind, Validity::Doubtful, text).about(row.title());
            let finding =
                finding.evidence("count", sum).evidence("takes", hit as f64).evidence("of", all as f64);
            bad.push(Ruling { finding, reach: vec![row.index] });
        } else {
            good.push(row.index);
        }
    }
    settle(bad, good, |_| Finding::new(kind, Validity::Ok, format!("{kind} 0")).evidence("count", 0.0))
}
