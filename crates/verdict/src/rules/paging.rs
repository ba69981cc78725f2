//! Paging: pages swapped, or read from disk on a fault, while a figure was measured.
//!
//! Counts events of the whole system (swap) and of our process (major faults). Doubtful when over a tenth of a
//! figure's takes met any.

use model::finding::{Counted, Counter};

use super::{Look, Ruling, settle};

const STRAY: f64 = 0.1;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    [counted(look, Counter::Swap), counted(look, Counter::MajorFaults)].concat()
}

/// A rule about a counter that should not rise during a take.
pub fn counted(look: &Look<'_>, counter: Counter) -> Vec<Ruling> {
    if look.condition(counter.metric()).is_none() {
        return vec![Ruling::of_run(Counted::Unread(counter))];
    }
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    for row in look.rows() {
        let counts = look.during(row, counter.metric());
        let hit = counts.iter().filter(|count| **count > 0.0).count();
        if counts.is_empty() {
            continue;
        }
        if hit as f64 > STRAY * counts.len() as f64 {
            let (events, of) = (counts.iter().sum(), counts.len());
            let rose = Counted::Rose { counter, events, takes: hit, of };
            bad.push(Ruling::about(row.subject(), rose, vec![row.index]));
        } else {
            good.push(row.index);
        }
    }
    settle(bad, good, |_| Counted::None(counter))
}
