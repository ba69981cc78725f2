//! Successive takes that resemble each other tell less than their number: lag-1 autocorrelation over 0.3 and beyond
//! chance. Within chance the interval is wider all the same, without a word.

use model::finding::Autocorrelation;
use stats::{Doubt, Unfit};

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

/// Fewer takes cannot reach a coefficient that is beyond chance.
const FEWEST: usize = 6;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.is_soak() {
        return Vec::new();
    }
    let (mut bad, mut good, mut open) = (Vec::new(), Vec::new(), 0);
    for row in index.rows() {
        let Ok(summary) = stats::summary(&row.series.measured()) else { continue };
        let doubt =
            summary.doubts.first().map(|Doubt::Autocorrelated { lag1, effective_n }| (*lag1, *effective_n));
        match (doubt, summary.lag1) {
            (Some((lag1, effective_n)), _) => {
                let alike = Autocorrelation::Alike { lag1, effective_n };
                bad.push(Ruling::about(row.subject(), alike, vec![row.index]));
            }
            // What took its interval away is no check that found nothing.
            (None, Some(_)) if matches!(summary.why, Some(Unfit::Dependent { .. })) => open += 1,
            (None, Some(_)) if summary.n >= FEWEST => good.push(row.index),
            (None, _) => {}
        }
    }
    if bad.is_empty() && open > 0 {
        return vec![Ruling::of_run(Autocorrelation::Open { figures: open })];
    }
    if bad.is_empty() && good.is_empty() {
        return vec![Ruling::of_run(Autocorrelation::TooFew)];
    }
    settle(bad, good, |figures| Autocorrelation::ByChance { figures })
}
