//! Successive takes that resemble each other tell less than their number: lag-1 autocorrelation over 0.3 and beyond
//! chance. Within chance the interval is wider all the same, without a word.

use model::finding::Autocorrelation;
use stats::Doubt;

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

/// Fewer takes cannot reach a coefficient that is beyond chance.
const FEWEST: usize = 6;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.is_soak() {
        return Vec::new();
    }
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in index.rows() {
        let Ok(summary) = stats::summary(&row.series.measured()) else { continue };
        let doubt =
            summary.doubts.first().map(|Doubt::Autocorrelated { lag1, effective_n }| (*lag1, *effective_n));
        match (doubt, summary.lag1) {
            (Some((lag1, effective_n)), _) => {
                let alike = Autocorrelation::Alike { lag1, effective_n };
                bad.push(Ruling::about(row.subject(), alike, vec![row.index]));
            }
            (None, Some(_)) if summary.n >= FEWEST => good.push(row.index),
            (None, _) => {}
        }
    }
    if bad.is_empty() && good.is_empty() {
        return vec![Ruling::of_run(Autocorrelation::TooFew)];
    }
    settle(bad, good, |figures| Autocorrelation::ByChance { figures })
}
