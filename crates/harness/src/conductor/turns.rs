//! Turns: where the time does not suffice for every figure that the user named, the first ones are finished before
//! others begin.
//!
//! Decided in a warm-up, by what the warm-up takes so far have cost: the figures are warmed in the order of the plan,
//! and those for which no time is left wait for the next turn. There is one sitting then: to prepare everything anew
//! would cost takes. A run of a level shows something of everything instead, with fewer takes.

use std::collections::BTreeSet;

use model::plan::Level;

use super::{Conductor, Show};
use crate::order::{self, BlockEntry};
use crate::tally::rule;

/// Takes without which a figure has no interval.
const LEAST_TAKES: usize = 6;
impl Conductor<'_> {
    /// Begins a turn of all figures that are left, if this study has turns. A planted world has no time of its own.
    pub(super) fn begin_turn(&mut self) {
        self.turns.waiting.clear();
        self.turns.begun.clear();
        let is_bounded = self.plan.budget_seconds.is_some() && self.plan.fake.is_none();
        self.turns.is_choosing = is_bounded && self.plan.level == Level::Named;
    }

    /// The entries of a block, in the order of the plan while the figures of a turn are chosen.
    pub(super) fn entries(&self, block: u32) -> Vec<BlockEntry> {
        let mut entries = order::block(self.plan, block);
        if self.turns.is_choosing {
            entries.sort_by_key(|entry| entry.cell);
        }
        entries
    }

    /// True if a figure must wait for the next turn.
    pub(super) fn must_wait(&mut self, cell: u32) -> bool {
        let is_begun = self.turns.begun.is_empty() || self.turns.begun.contains_key(&cell);
        if !self.turns.is_choosing || is_begun || self.is_done(cell) {
            return false;
        }
        if self.turns.waiting.is_empty() && !self.over_budget(self.needed_ns(1)) {
            return false;
        }
        self.turns.waiting.insert(cell);
        true
    }

    fn needed_ns(&self, sittings: usize) -> u64 {
        let takes = rule(&self.plan.takes).least().min(LEAST_TAKES);
        self.turns.needed_ns(takes as u64, sittings as u64)
    }

    /// The sittings of the takes that an interval needs.
    fn needed_sittings(&self) -> usize {
        let takes = rule(&self.plan.takes).least().min(LEAST_TAKES);
        let until = self.plan.warm_up.saturating_add(u32::try_from(takes).unwrap_or(u32::MAX));
        order::sittings(self.plan).iter().take_while(|one| one.measured.start < until).count()
    }

    /// After the first warm-up of a turn: says it where others wait.
    pub(super) fn end_choosing(&mut self) {
        if !std::mem::take(&mut self.turns.is_choosing) {
            return;
        }
        self.turns.is_short =
            self.turns.waiting() > 0 || self.over_budget(self.needed_ns(self.needed_sittings()));
        if self.turns.waiting() > 0 {
            let (begun, waiting) = (self.turns.begun.len(), self.turns.waiting());
            self.sink.show(&Show::Turn { begun, waiting });
        }
    }

    /// After a measured block that lasted so long: where the time does not suffice to finish all figures of this turn
    /// either, the last ones wait with what they have.
    pub(super) fn shrink_turn(&mut self, block_ns: u64) {
        let active: Vec<u32> =
            self.turns.begun.keys().copied().filter(|cell| !self.is_resting(*cell)).collect();
        let attempts = |cell: &u32| {
            let of_cell = self.tally.iter().filter(|(entry, _)| entry.cell == *cell);
            of_cell.map(|(_, tally)| tally.attempts as usize).max().unwrap_or(0)
        };
        let fewest = active.iter().map(attempts).min().unwrap_or(0);
        let takes = rule(&self.plan.takes).least().min(LEAST_TAKES).saturating_sub(fewest);
        let Some(left_ns) = self.budget_left_ns().filter(|_| self.turns.is_short && takes > 0) else {
            return;
        };
        let each_ns = (block_ns / (active.len() as u64).max(1)).saturating_mul(takes as u64).max(1);
        let fitting = usize::try_from(left_ns / each_ns).unwrap_or(usize::MAX).max(1);
        self.turns.waiting.extend(active.into_iter().skip(fitting));
    }

    fn is_resting(&self, cell: u32) -> bool {
        self.is_done(cell) || self.turns.is_waiting(cell)
    }

    fn budget_left_ns(&self) -> Option<u64> {
        let budget = self.plan.budget_seconds?;
        std::time::Duration::try_from_secs_f64((budget - self.budget_spent()).max(0.0))
            .ok()
            .and_then(|left| u64::try_from(left.as_nanos()).ok())
    }

    /// True if there is time for the next turn: for one figure like those before.
    pub(super) fn has_time_for_a_turn(&self) -> bool {
        let costs = self.turns.begun.values().map(|cost| cost.first_ns.saturating_add(cost.further_ns));
        let one_ns = costs.fold(0, u64::saturating_add) / (self.turns.begun.len() as u64).max(1);
        !self.over_budget(one_ns)
    }

    /// Says which figures have no measured take although others have.
    pub(super) fn tell_not_begun(&mut self) {
        let count = u32::try_from(self.done.len()).unwrap_or(u32::MAX);
        let begun: BTreeSet<u32> = self.tally.keys().map(|entry| entry.cell).collect();
        let unfit: BTreeSet<u32> = self.unfit.iter().map(|(_, cell, _)| *cell).collect();
        let cells: Vec<u32> =
            (0..count).filter(|cell| !begun.contains(cell) && !unfit.contains(cell)).collect();
        if !begun.is_empty() && !cells.is_empty() {
            self.sink.show(&Show::NotBegun { cells: &cells });
        }
    }

    pub(super) fn is_done(&self, cell: u32) -> bool {
        self.done.get(cell as usize).copied().unwrap_or(true)
    }

    /// True if nothing is left to take in this turn.
    pub(super) fn is_turn_over(&self) -> bool {
        (0u32..).take(self.done.len()).all(|cell| self.is_resting(cell))
    }
}
