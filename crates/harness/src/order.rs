//! The order of takes: random blocks in which every cell, arm and machine occurs once.
//!
//! The same plan and seed give the same order. A block is the unit of pairing between arms.

use model::Plan;
use model::plan::TakeOrder;
use stats::Rng;

/// One entry of a block: a cell in one arm on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockEntry {
    pub machine: usize,
    pub cell: u32,
    pub arm: u32,
}

/// The entries of one block in random order. A cell that no arm changes occurs in one arm only. Arms and machines of a
/// cell stay adjacent, so that slow noise of the host is shared by what is compared.
#[must_use]
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
#[must_use]
pub fn take(entry: BlockEntry, seq: u64, block: u32, warm_up: bool) -> TakeOrder {
    TakeOrder { seq, block, cell: entry.cell, arm: entry.arm, warm_up }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

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
    }
}
