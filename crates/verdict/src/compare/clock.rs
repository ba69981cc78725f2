//! The share of a difference between two sides that the processors' clocks may explain.
//!
//! Clocks in Hz, by dependent adds around each take; shares as log ratios. On one machine the sides' own clocks are
//! compared: a run at 3.6 GHz says little against one at 4.2 GHz. Machines differ in their clocks by right; there the
//! clock counts only where it moved within runs, by as much as it moved on average. Interleaved arms of
//! one machine share what moves, so nothing is counted for them.

use model::Validity;
use model::why::Withheld;

use super::prepared::{Entry, SideRow};
use crate::rules::clock::APART;

/// The part of a ratio that the clocks may explain.
#[derive(Clone, Debug, PartialEq)]
pub struct Moved {
    /// At most this much either way, as a log ratio.
    pub share: f64,
    pub withheld: Withheld,
}

/// The part of a ratio that the clocks of two rows may explain; `None` within 3 %.
pub fn moved(arm: &SideRow<'_>, base: &SideRow<'_>, one_machine: bool) -> Option<Moved> {
    let found = if one_machine { apart(arm, base)? } else { within(arm, base)? };
    (found.share > APART.ln_1p()).then_some(found)
}

fn speaking<'r, 'a>(row: &'r SideRow<'a>) -> impl Iterator<Item = &'r Entry<'a>> {
    row.entries.iter().filter(|entry| entry.validity != Validity::Invalid)
}

fn apart(arm: &SideRow<'_>, base: &SideRow<'_>) -> Option<Moved> {
    let clock = |row: &SideRow<'_>| {
        let all: Vec<f64> = speaking(row).filter_map(|entry| entry.clock.map(|clock| clock.median)).collect();
        stats::geometric_mean(&all)
    };
    let (arm, base) = (clock(arm)?, clock(base)?);
    Some(Moved { share: (arm / base).ln().abs(), withheld: Withheld::Clocks { arm, base } })
}

fn within(arm: &SideRow<'_>, base: &SideRow<'_>) -> Option<Moved> {
    let spread = |row: &SideRow<'_>| {
        let all: Vec<f64> = speaking(row).filter_map(|entry| entry.clock.map(|clock| clock.spread)).collect();
        stats::mean(&all).unwrap_or(0.0)
    };
    let share = spread(arm) + spread(base);
    Some(Moved { share, withheld: Withheld::ClockMoved { share: share.exp_m1() } })
}
