//! Steal: share of CPU time that the hypervisor gave to others during the takes.
//!
//! Mean over a figure's measured takes; over 1 % is doubtful if more than a quarter of the takes saw any: fewer leave
//! their median where it was. The kernel counts ticks of 10 ms, so what was not counted may be one more of them. On
//! bare metal it is 0.

use model::finding::Steal;
use model::metrics::machine;

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

/// The metric of `conditions`.
const METRIC: &str = machine::STEAL.name();
const MOST: f64 = 0.01;
/// Takes that may see some, as a share.
const STRAY: f64 = 0.25;
/// The kernel's unit of CPU time, s.
const TICK: f64 = 0.01;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    if index.condition(METRIC).is_none() {
        return vec![Ruling::of_run(Steal::Unread)];
    }
    let (mut bad, mut good, mut most) = (Vec::new(), Vec::new(), 0.0_f64);
    for row in index.rows() {
        let takes = index.during(row, METRIC);
        let Some(mean) = stats::mean(&takes) else { continue };
        let saw = takes.iter().filter(|share| **share > 0.0).count();
        if mean > MOST && saw as f64 > STRAY * takes.len() as f64 {
            let tick = row.seconds().map_or(0.0, |seconds| TICK / (seconds * row.cpus_in_use(index)));
            bad.push(Ruling::about(row.subject(), Steal::Much { share: mean + tick }, vec![row.index]));
        } else {
            most = most.max(mean);
            good.push(row.index);
        }
    }
    settle(bad, good, |_| Steal::Little { share: most })
}
