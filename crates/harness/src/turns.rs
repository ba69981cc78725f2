//! The figures of a turn and what they cost, where the time does not suffice for all (see `conductor/turns`).
//!
//! Nanoseconds.

use std::collections::{BTreeMap, BTreeSet};

/// Time of a take beside its window: the order, the conditions, the commit.
const AROUND_NS: u64 = 20_000_000;

/// The figures of this turn, and those that wait.
#[derive(Debug, Default)]
pub struct Turns {
    pub waiting: BTreeSet<u32>,
    /// Figures of this turn that were warmed up.
    pub begun: BTreeMap<u32, Cost>,
    /// The first warm-up of a turn is under way.
    pub is_choosing: bool,
    /// The time does not suffice for all figures in all sittings.
    pub is_short: bool,
    /// How long it takes until a child can be given its first order.
    pub opening_ns: u64,
}

/// Time that all places of a figure need together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// With all that a first take prepares.
    pub first_ns: u64,
    pub further_ns: u64,
}

impl Turns {
    pub fn is_waiting(&self, cell: u32) -> bool {
        self.waiting.contains(&cell)
    }

    pub const fn is_choosing(&self) -> bool {
        self.is_choosing
    }

    pub const fn is_short(&self) -> bool {
        self.is_short
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// One place of a figure was warmed up.
    pub fn warmed(&mut self, cell: u32, elapsed_ns: u64, window_ns: u64) {
        let cost = self.begun.entry(cell).or_default();
        cost.first_ns = cost.first_ns.saturating_add(elapsed_ns);
        cost.further_ns = cost.further_ns.saturating_add(window_ns).saturating_add(AROUND_NS);
    }

    /// Time for `takes` takes in `sittings` sittings of the figures that were begun, as far as it is not spent, and
    /// of one more while they are chosen.
    pub fn needed_ns(&self, takes: u64, sittings: u64) -> u64 {
        let again = sittings.saturating_sub(1);
        let rest = |cost: &Cost| {
            let warm_ups = cost.first_ns.saturating_mul(again);
            cost.further_ns.saturating_mul(takes).saturating_add(warm_ups)
        };
        let of_begun: u64 = self.begun.values().map(rest).fold(0, u64::saturating_add);
        let firsts: u64 = self.begun.values().map(|cost| cost.first_ns).fold(0, u64::saturating_add);
        let one_more = of_begun.saturating_add(firsts) / (self.begun.len() as u64).max(1);
        let one_more = if self.is_choosing { one_more } else { 0 };
        of_begun.saturating_add(one_more).saturating_add(self.opening_ns.saturating_mul(again))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_begun_is_finished_before_another_begins() {
        let mut turns = Turns { opening_ns: 10, is_choosing: true, ..Turns::default() };
        turns.warmed(0, 500, 30);
        turns.warmed(1, 700, 50);
        let around = AROUND_NS;
        // Six takes and two further warm-ups of each, the mean of both with its first take, and two openings.
        let of_begun = 6 * (80 + 2 * around) + 2 * 1200;
        assert_eq!(turns.needed_ns(6, 3), of_begun + (of_begun + 1200) / 2 + 20);
        // Of two arms of one figure.
        turns.warmed(1, 700, 50);
        assert_eq!(turns.begun[&1].first_ns, 1400);
        assert_eq!(Turns::default().needed_ns(6, 3), 0);
    }
}
