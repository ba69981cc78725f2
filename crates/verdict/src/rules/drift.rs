//! Drift within a run: halves over 2 % apart and a trend that chance does not make.
//!
//! A check on one run only; the noise between runs is another matter.

use model::finding::Drift;

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.is_soak() {
        return Vec::new();
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in index.rows() {
        let Ok(drift) = stats::drift(&row.series.measured()) else { continue };
        if drift.doubtful {
            let found = Drift::Drifted { change: drift.change, rho: drift.rho, p: drift.p };
            bad.push(Ruling::about(row.subject(), found, vec![row.index]));
        } else {
            most = most.max(drift.change.abs());
            good.push(row.index);
        }
    }
    if bad.is_empty() && good.is_empty() {
        return vec![Ruling::of_run(Drift::TooFew)];
    }
    settle(bad, good, |figures| Drift::None { figures, change: most })
}
