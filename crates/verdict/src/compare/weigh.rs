//! The share of a difference that the surroundings of two figures may explain.
//!
//! What went on during a take (other processes, steal, paging) can have moved its figure by a share at most; the rules
//! say by which ([`crate::rules::environment`]). Between sides these shares add up as log ratios; interleaved arms of
//! one machine share what both met, so that only the difference counts. What cannot be bounded (a cache that answers in
//! place of the disk) withholds the verdict, unless interleaved arms share it.

use std::collections::BTreeMap;

use model::Validity;
use model::why::{Disturbance, Weighed};

use super::prepared::SideRow;

/// How far disturbances can have moved a ratio.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weight {
    /// Each with its share; in the order of the enum.
    pub by_what: Vec<Weighed>,
    /// All that is bounded, as a log ratio.
    pub wider: f64,
}

impl Weight {
    /// Those that cannot be bounded.
    pub fn unbounded(&self) -> Vec<Weighed> {
        self.by_what.iter().copied().filter(|one| one.share.is_none()).collect()
    }
}

/// The weight of what two rows met; `shared` for interleaved arms of one machine.
pub fn between(arm: &SideRow<'_>, base: &SideRow<'_>, shared: bool) -> Weight {
    let (arm, base) = (shifts(arm), shifts(base));
    let kinds: std::collections::BTreeSet<Disturbance> = arm.keys().chain(base.keys()).copied().collect();
    let mut weight = Weight::default();
    for what in kinds {
        let shift = |side: &BTreeMap<Disturbance, Option<f64>>| side.get(&what).copied().unwrap_or(Some(0.0));
        let both = match (shift(&arm), shift(&base)) {
            (Some(arm), Some(base)) if shared => Some((arm - base).abs()),
            (Some(arm), Some(base)) => Some(arm + base),
            (None, None) if shared => Some(0.0),
            _ => None,
        };
        if both == Some(0.0) {
            continue;
        }
        weight.wider += both.unwrap_or(0.0);
        weight.by_what.push(Weighed { what, share: both.map(f64::exp_m1) });
    }
    weight
}

/// By disturbance, how far it can have moved the figure of a side, as a log ratio: the mean over its runs, since the
/// figure is theirs. What cannot be bounded counts if at least half of the runs met it; in fewer it is part of the
/// spread between runs.
fn shifts(row: &SideRow<'_>) -> BTreeMap<Disturbance, Option<f64>> {
    let speaking: Vec<_> = row.entries.iter().filter(|entry| entry.validity != Validity::Invalid).collect();
    let mut known: BTreeMap<Disturbance, (f64, usize)> = BTreeMap::new();
    for one in speaking.iter().flat_map(|entry| &entry.met) {
        let (sum, unbounded) = known.entry(one.what).or_default();
        match one.share {
            Some(share) => *sum -= (-share).ln_1p(),
            None => *unbounded += 1,
        }
    }
    let runs = speaking.len().max(1);
    let shift = |(sum, unbounded): (f64, usize)| (unbounded * 2 < runs).then_some(sum / runs as f64);
    known.into_iter().map(|(what, found)| (what, shift(found))).collect()
}
