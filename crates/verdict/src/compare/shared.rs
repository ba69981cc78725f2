//! Runs that stand on two sides, such as a label and one of its runs: none counts on both.
//!
//! A shared run stays with the side that has fewer runs, which is the one that it was named for, and with the first of
//! equals; the other side does without it, as a note says. Arms of one run are different things.

use std::collections::BTreeSet;

use model::data::RunData;
use model::id::short;

use super::matching::arm_name;
use super::side::Side;

/// The sides without what they share, and a note for each that gave runs up.
pub fn apart<'a>(sides: &[Side<'a>]) -> (Vec<Side<'a>>, Vec<String>) {
    let mut kept = sides.to_vec();
    let mut notes = Vec::new();
    let mut order: Vec<usize> = (0..sides.len()).collect();
    order.sort_by_key(|at| sides[*at].runs.len());
    let mut taken: Vec<(&str, &str, &str)> = Vec::new();
    for at in order {
        let side = &sides[at];
        let id = |run: &'a RunData| (run.head.id.as_str(), arm_name(side, run));
        let owner = |run: &'a RunData| taken.iter().find(|known| (known.0, known.1) == id(run));
        let lost: Vec<(&str, &str)> =
            side.runs.iter().filter_map(|run| owner(run).map(|known| (known.0, known.2))).collect();
        if !lost.is_empty() {
            let runs: BTreeSet<&str> = lost.iter().map(|(run, _)| short(run)).collect();
            let owners: BTreeSet<&str> = lost.iter().map(|(_, owner)| *owner).collect();
            let list = |names: BTreeSet<&str>| names.into_iter().collect::<Vec<_>>().join(", ");
            let what = if runs.len() == 1 { "run" } else { "runs" };
            notes.push(format!(
                "{}: without {what} {}, counted as {} only",
                side.name,
                list(runs),
                list(owners)
            ));
        }
        let left: Vec<&RunData> = side.runs.iter().copied().filter(|run| owner(run).is_none()).collect();
        let names: Vec<(&str, &str)> = left.iter().map(|run| id(run)).collect();
        taken.extend(names.into_iter().map(|(run, arm)| (run, arm, side.name.as_str())));
        kept[at].runs = left;
    }
    (kept, notes)
}
