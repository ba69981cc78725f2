//! The blocks of a stored run that `resume` measures again: those of an outage, such as a server that died.
//!
//! An outage of an arm is the end of its takes of a cell, from the last one that succeeded on, if these failed or were
//! no longer asked for. A take that fails and is followed by good ones is a result like others, and stays. All arms of
//! a block are measured again, so that what is compared is measured side by side.

use std::collections::{BTreeMap, BTreeSet};

use model::Plan;

/// A measured take of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    pub block: u32,
    pub cell: u32,
    pub arm: u32,
    pub has_failed: bool,
}

/// An outage of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outage {
    pub blocks: BTreeSet<u32>,
    /// The arms without figures in them.
    pub arms: BTreeSet<u32>,
}

/// The outages of a study, by machine and cell.
#[derive(Debug, Default)]
pub struct Outages {
    pub by_place: BTreeMap<(usize, u32), Outage>,
}

impl Outages {
    pub fn has(&self, machine: usize, cell: u32, block: u32) -> bool {
        self.by_place.get(&(machine, cell)).is_some_and(|outage| outage.blocks.contains(&block))
    }
}

/// The outages of one machine's cells. `has_ended`: the run came to its end; an arm that never succeeded counts then
/// too. A planted world has none: it would fail again.
pub fn outages(plan: &Plan, taken: &[Taken], has_ended: bool) -> BTreeMap<u32, Outage> {
    let mut cells = BTreeMap::<u32, Vec<Taken>>::new();
    for take in taken.iter().filter(|_| plan.fake.is_none()) {
        cells.entry(take.cell).or_default().push(*take);
    }
    let found = cells.into_iter().map(|(cell, taken)| (cell, of_cell(plan, cell, &taken, has_ended)));
    found.filter(|(_, outage)| !outage.arms.is_empty()).collect()
}

fn of_cell(plan: &Plan, cell: u32, taken: &[Taken], has_ended: bool) -> Outage {
    let begun: BTreeSet<u32> = taken.iter().map(|take| take.block).collect();
    let mut all = Outage::default();
    for arm in plan.arms_of(cell) {
        let of_arm = || taken.iter().filter(|take| take.arm == arm);
        let last_good = of_arm().filter(|take| !take.has_failed).map(|take| take.block).max();
        // One that was never asked for cannot run here.
        let is_begun = of_arm().next().is_some();
        if !is_begun || last_good.is_none() && !has_ended {
            continue;
        }
        let lost: BTreeSet<u32> = begun.iter().copied().filter(|block| Some(*block) > last_good).collect();
        // A run may be cut within its last block: what that lacks alone was not lost, but is still to be done.
        let is_cut = lost.len() == 1 && of_arm().all(|take| !lost.contains(&take.block));
        if !lost.is_empty() && !is_cut {
            all.blocks.extend(lost);
            all.arms.insert(arm);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::tests::plan;

    /// The takes of cell 0: a text an arm, a letter a block; `+` good, `-` failed, a space not asked for.
    fn found(arms: &[&str], has_ended: bool) -> (Vec<u32>, Vec<u32>) {
        let plan = plan(1, arms.len(), 1);
        let of = |(arm, text): (usize, &&str)| {
            let each = (1..).zip(text.chars()).filter(|(_, how)| *how != ' ');
            each.map(|(block, how)| Taken { block, cell: 0, arm: arm as u32, has_failed: how == '-' })
                .collect::<Vec<_>>()
        };
        let taken: Vec<Taken> = arms.iter().enumerate().flat_map(of).collect();
        let outage = outages(&plan, &taken, has_ended).remove(&0).unwrap_or_default();
        (outage.blocks.into_iter().collect(), outage.arms.into_iter().collect())
    }

    #[test]
    fn an_outage_is_the_end_of_an_arm() {
        assert_eq!(found(&["++++++", "++----"], false), (vec![3, 4, 5, 6], vec![1]));
        // Given up in the next sitting.
        assert_eq!(found(&["++++++", "++--  "], true), (vec![3, 4, 5, 6], vec![1]));
        assert_eq!(found(&["++++++", "++    "], true), (vec![3, 4, 5, 6], vec![1]));
        assert_eq!(found(&["+++---", "+++++-"], true), (vec![4, 5, 6], vec![0, 1]));
        assert_eq!(found(&["+++-"], false), (vec![4], vec![0]));
    }

    #[test]
    fn failures_between_good_takes_stay() {
        let none = (vec![], vec![]);
        assert_eq!(found(&["++++++", "+-+--+"], true), none);
        assert_eq!(found(&["++++", "++++"], true), none);
        // Cut within its last block.
        assert_eq!(found(&["++++", "+++ "], false), none);
        assert_eq!(found(&["++++", "++- "], false), (vec![3, 4], vec![1]));
    }

    #[test]
    fn what_never_succeeded_is_tried_again_once_its_run_has_ended() {
        assert_eq!(found(&["+++", "---"], false), (vec![], vec![]));
        assert_eq!(found(&["+++", "---"], true), (vec![1, 2, 3], vec![1]));
        assert_eq!(found(&["---"], true), (vec![1, 2, 3], vec![0]));
        assert_eq!(found(&["+++", "   "], true), (vec![], vec![]), "it cannot run here");
    }
}
