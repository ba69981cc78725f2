//! Counters that should not rise while a figure is measured: paging, and thermal throttling.
//!
//! Counts events of the whole system (swap, throttling) and of our process (major faults). Doubtful if over a tenth of
//! a figure's takes met any, and pages that came from disk only if there were more than a library brings that loads,
//! and they can have taken over 1 % of the measured time.

use model::finding::{Counted, Counter};

use crate::ruling::{Ruling, settle};
use crate::run_index::RunIndex;

const STRAY: f64 = 0.1;
/// The longest that a page takes to come from a disk, s: a rotating one that has to seek.
pub const PAGE: f64 = 0.01;
/// As many pages come from disk in all where a library or a program is loaded.
const LOADING: f64 = 12.0;
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
        let is_loading = counter == Counter::MajorFaults && events <= LOADING;
        let is_brief = is_loading
            || counter != Counter::ThermalThrottle
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

#[cfg(test)]
mod tests {
    use model::{Validity, Value};

    use super::*;
    use crate::loads::planted::{one, params, series};
    use crate::run_index::RunContext;

    #[test]
    fn pages_of_a_library_that_loads_are_no_doubt() {
        let state = |counter: &str, each: &[f64]| {
            let mut run = one("connections=1", &[("throughput", 1.0)]);
            let points: Vec<(u64, Value)> =
                (0..).zip(each.iter().map(|count| Value::Number(*count))).collect();
            for metric in ["major-faults", "swapped"] {
                let zero: Vec<(u64, Value)> =
                    points.iter().map(|(seq, _)| (*seq, Value::Number(0.0))).collect();
                let points = if metric == counter { points.clone() } else { zero };
                series(&mut run, "conditions", metric, params(""), "", &points);
            }
            // Takes of a moment: every page would be a large part of their time.
            for point in run.series.iter_mut().flat_map(|series| &mut series.points) {
                point.window_ns = 1_000_000;
            }
            let found = paging(&RunIndex::new(&run, &RunContext::default()));
            found.iter().map(|ruling| ruling.finding.state).max()
        };
        assert_eq!(state("major-faults", &[7.0, 0.0, 5.0, 0.0]), Some(Validity::Ok));
        assert_eq!(state("major-faults", &[7.0, 0.0, 6.0, 0.0]), Some(Validity::Doubtful));
        assert_eq!(state("swapped", &[2.0, 0.0, 0.0, 0.0]), Some(Validity::Doubtful));
    }
}
