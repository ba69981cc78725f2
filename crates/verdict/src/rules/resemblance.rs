//! Successive takes that resemble each other tell less than their number: lag-1 autocorrelation over 0.3 and beyond
//! chance. Within chance the interval is wider all the same, without a word.

use model::{Finding, Validity};
use stats::Doubt;

use super::{Look, Ruling, settle, unknown};
use crate::say;

const KIND: &str = "autocorrelation";
/// Fewer takes cannot reach a coefficient that is beyond chance.
const FEWEST: usize = 6;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in look.rows() {
        let Ok(summary) = stats::summary(&row.series.measured()) else { continue };
        let doubt = summary.doubts.iter().find(|doubt| matches!(doubt, Doubt::Autocorrelated { .. }));
        match (doubt, summary.lag1) {
            (Some(doubt), lag1) => {
                let finding = Finding::new(KIND, Validity::Doubtful, doubt.to_string()).about(row.title());
                let finding = finding
                    .evidence("lag1", lag1.unwrap_or(0.0))
                    .evidence("effective_n", summary.effective_n);
                bad.push(Ruling { finding, reach: vec![row.index] });
            }
            (None, Some(_)) if summary.n >= FEWEST => good.push(row.index),
            (None, _) => {}
        }
    }
    if bad.is_empty() && good.is_empty() {
        return unknown(KIND, "no figure has enough takes to see whether they resemble each other");
    }
    settle(bad, good, |n| {
        Finding::new(
            KIND,
            Validity::Ok,
            format!("the takes of {} resemble each other no more than by chance", say::count(n, "figure")),
        )
    })
}
