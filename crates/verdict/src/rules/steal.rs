//! Steal: share of CPU time that the hypervisor gave to others during the takes.
//!
//! Mean over a figure's measured takes; over 1 % is doubtful. On bare metal it is 0.

use model::finding::Steal;
use model::metrics::machine;

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

/// The metric of `conditions`.
const METRIC: &str = machine::STEAL.name();
const MOST: f64 = 0.01;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.condition(METRIC).is_none() {
        return vec![Ruling::of_run(Steal::Unread)];
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in index.rows() {
        let Some(mean) = stats::mean(&index.during(row, METRIC)) else { continue };
        if mean > MOST {
            bad.push(Ruling::about(row.subject(), Steal::Much { share: mean }, vec![row.index]));
        } else {
            most = most.max(mean);
            good.push(row.index);
        }
    }
    settle(bad, good, |_| Steal::Little { share: most })
}
