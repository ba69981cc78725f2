//! The order of takes: random blocks in which every cell, arm and machine occurs once.
//!
//! The same plan and seed give the same order. A block is the unit of pairing between arms. Blocks are spread over
//! sittings of nearly equal length, which end where the stop rule looks.

use std::ops::Range;

use model::Plan;
use model::plan::{TakeOrder, Takes};
use stats::{Rng, StopRule};

use crate::tally::rule;

/// One entry of a block: a cell in one arm on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockEntry {
    pub machine: usize,
    pub cell: u32,
    pub arm: u32,
}

/// The blocks of one sitting. Numbers are those of the run; warm-ups of the first sitting come before them all, and
/// those of a later one have the numbers of its first measured blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SittingBlocks {
    pub warm_up: Range<u32>,
    pub measured: Range<u32>,
}

/// The sittings of a plan, if the stop rule never ends it: those before its first look, then more of about the same
/// length up to each further one.
pub fn sittings(plan: &Plan) -> Vec<SittingBlocks> {
    let looks = looks(&plan.takes);
    let first = looks.first().copied().unwrap_or(0);
    let wanted = plan.sittings.clamp(1, first.max(1));
    let lengths = if wanted == 1 {
        vec![looks.last().copied().unwrap_or(0)]
    } else {
        let most = first.div_ceil(wanted);
        let later = looks.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
        let later = later.flat_map(|more| split(more, (more / most).max(1)));
        split(first, wanted).chain(later).collect()
    };
    let mut from = plan.warm_up;
    let mut all = Vec::with_capacity(lengths.len());
    for length in lengths {
        // A planted world has nothing to warm.
        let again = if plan.fake.is_some() { 0 } else { plan.warm_up.min(1).min(length) };
        let warm_up = if all.is_empty() { 0..plan.warm_up } else { from..from.saturating_add(again) };
        let until = from.saturating_add(length);
        all.push(SittingBlocks { warm_up, measured: from..until });
        from = until;
    }
    all
}

/// The numbers of takes after which the stop rule looks whether they suffice.
fn looks(takes: &Takes) -> Vec<u32> {
    match rule(takes) {
        StopRule::Exactly(takes) => vec![count(takes)],
        StopRule::Width { looks, .. } => looks.iter().map(|look| count(*look)).collect(),
    }
}

/// The sittings for about so many takes in each.
pub fn sittings_of(takes: &Takes, each: u32) -> u32 {
    looks(takes).first().copied().unwrap_or(0).div_ceil(each.max(1)).max(1)
}

/// `all` in `parts` that differ by at most one, the longer ones first.
fn split(all: u32, parts: u32) -> impl Iterator<Item = u32> {
    (0..parts).map(move |part| all / parts + u32::from(part < all % parts))
}

/// The entries of one block in random order. A cell that no arm changes occurs in one arm only. Arms and machines of a
/// cell stay adjacent, so that slow noise of the host is shared by what is compared.
pub fn block(plan: &Plan, block: u32) -> Vec<BlockEntry> {
    let mut rng = Rng::derive(plan.seed, &format!("block {block}"));
    let mut cells: Vec<u32> = (0..count(plan.cells.len())).collect();
    rng.shuffle(&mut cells);
    let mut order = Vec::new();
    for cell in cells {
        let mut entries: Vec<BlockEntry> = plan
            .arms_of(cell)
            .flat_map(|arm| (0..plan.machines.len()).map(move |machine| BlockEntry { machine, cell, arm }))
            .collect();
        rng.shuffle(&mut entries);
        order.extend(entries);
    }
    order
}

/// As `u32`, saturating: plans are bounded far below 2^32 cells.
fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// The order to the child for an entry.
pub fn take(entry: BlockEntry, seq: u64, block: u32, warm_up: bool) -> TakeOrder {
    TakeOrder { seq, block, cell: entry.cell, arm: entry.arm, warm_up }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::plan::Takes;
    use proptest::prelude::*;

    use super::*;
    use crate::fake::tests::plan;

    proptest! {
        #[test]
        fn every_block_has_every_entry_once(seed in any::<u64>(), number in 0u32..20) {
            let mut plan = plan(3, 2, 2);
            plan.seed = seed;
            let entries = block(&plan, number);
            prop_assert_eq!(entries.len(), 12);
            prop_assert_eq!(entries.iter().collect::<BTreeSet<_>>().len(), 12);
            prop_assert_eq!(entries, block(&plan, number));
            plan.unchanged = vec![1];
            let entries = block(&plan, number);
            prop_assert_eq!(entries.iter().filter(|entry| entry.cell == 1).count(), 2);
            prop_assert_eq!(entries.len(), 10);
        }

        #[test]
        fn every_block_is_of_one_sitting(takes in 1u32..200, wanted in 0u32..30, warm_up in 0u32..3, kind in 0u8..3) {
            let mut plan = plan(1, 1, 1);
            (plan.warm_up, plan.sittings) = (warm_up, wanted);
            plan.takes = match kind {
                0 => Takes::Fixed(takes),
                _ => Takes::Adaptive { quick: kind == 1, target: 0.02 },
            };
            let all = sittings(&plan);
            let least = count(rule(&plan.takes).least());
            prop_assert!(all.len() >= wanted.clamp(1, least) as usize);
            prop_assert_eq!(all[0].measured.start, warm_up);
            prop_assert!(all.windows(2).all(|pair| pair[0].measured.end == pair[1].measured.start));
            prop_assert_eq!(all.last().unwrap().measured.end, crate::tally::most_blocks(&plan));
            prop_assert!(all.iter().all(|one| !one.measured.is_empty()));
            prop_assert!(all[1..].iter().all(|one| one.warm_up.len() == warm_up.min(1) as usize));
            let before = all.iter().take_while(|one| one.measured.end <= warm_up + least);
            let lengths: Vec<usize> = before.map(|one| one.measured.len()).collect();
            if wanted > 1 {
                prop_assert_eq!(lengths.iter().sum::<usize>(), least as usize, "the first look ends a sitting");
                prop_assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn sittings_end_where_the_stop_rule_looks() {
        let lengths = |takes: Takes, wanted: u32| -> Vec<usize> {
            let plan = Plan { takes, sittings: wanted, ..plan(1, 1, 1) };
            sittings(&plan).iter().map(|one| one.measured.len()).collect()
        };
        assert_eq!(lengths(Takes::Fixed(3), 5), [1, 1, 1]);
        assert_eq!(lengths(Takes::Fixed(12), 5), [3, 3, 2, 2, 2]);
        assert_eq!(lengths(Takes::Adaptive { quick: true, target: 0.02 }, 3), [3, 3, 2, 4, 3, 3]);
        assert_eq!(lengths(Takes::Adaptive { quick: false, target: 0.02 }, 1), [50]);
    }
}
