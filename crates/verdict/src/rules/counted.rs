//! Counters that should not rise while a figure is measured: paging, and thermal throttling.
//!
//! Counts events of the whole system (swap, throttling) and of our process (major faults). Doubtful if over a tenth of
//! a figure's takes met any, and pages that came from disk only if they can have taken over 1 % of the measured time.

use model::finding::{Counted, Counter};

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

const STRAY: f64 = 0.1;
/// The longest that a page takes to come from a disk, s: a rotating one that has to seek.
pub const PAGE: f64 = 0.01;
/// The share of the measured time that pages from disk may have taken.
const MOST: f64 = 0.01;

/// The processor itself counted that heat slowed it down. The `clock` rule sees the effect even without this counter.
pub fn throttling(index: &RunIndex<'_>) -> Vec<Ruling> {
    counted(index, Counter::ThermalThrottle)
}

pub fn paging(index: &RunIndex<'_>) -> Vec<Ruling> {
    [counted(index, Counter::Swap), counted(index, Counter::MajorFaults)].concat()
}

/// A rule about a counter that should not rise during a take.
fn counted(index: &RunIndex<'_>, counter: Counter) -> Vec<Ruling> {
    if index.condition(counter.metric()).is_none() {
        return vec![Ruling::of_run(Counted::Unread(counter))];
    }
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in index.rows() {
        let counts = index.during(row, counter.metric());
        let hit = counts.iter().filter(|count| **count > 0.0).count();
        if counts.is_empty() {
            continue;
        }
        let events: f64 = counts.iter().sum();
        let is_brief = counter != Counter::ThermalThrottle
            && row.seconds().is_some_and(|seconds| events * PAGE <= MOST * seconds);
        if hit as f64 > STRAY * counts.len() as f64 && !is_brief {
            let of = counts.len();
            let rose = Counted::Rose { counter, events, takes: hit, of };
            bad.push(Ruling::about(row.subject(), rose, vec![row.index]));
        } else {
            good.push(row.index);
        }
    }
    settle(bad, good, |_| Counted::None(counter))
}
