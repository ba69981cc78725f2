//! Ranks of the sides row by row, and the index of each arm against the base.
//!
//! A rank counts only sides that were called better. The index takes every headline row of the base; a missing one
//! makes it missing. Published points have neither interval nor part in it.

use std::collections::BTreeSet;

use model::Better;
use model::doc::{IndexDoc, RankDoc};
use stats::{Dependence, Effect, Held, IndexError, Interval, Matrix, Verdict};

use super::judge::{Judged, Pairs};
use super::matching::RowKey;
use super::prepare::Prepared;
use crate::say;

pub fn ranks(pairs: &Pairs, prepared: &[Prepared<'_>]) -> Vec<RankDoc> {
    let mut all = Vec::new();
    for key in headlines(prepared) {
        let having: Vec<usize> =
            (0..prepared.len()).filter(|side| prepared[*side].rows.contains_key(&key)).collect();
        if having.len() < 2 {
            continue;
        }
        let matrix = matrix(pairs, &having, &key);
        for (side, rank) in having.iter().zip(stats::ranks(&matrix)) {
            let narrow = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
            all.push(RankDoc {
                instrument: key.instrument.clone(),
                metric: key.metric.clone(),
                params: key.params.clone(),
                arm: prepared[*side].side.name.clone(),
                rank: narrow(rank.rank),
                worst_rank: narrow(rank.worst),
            });
        }
    }
    all
}

/// Headline rows in the order in which the sides name them.
fn headlines(prepared: &[Prepared<'_>]) -> Vec<RowKey> {
    let mut all: Vec<RowKey> = Vec::new();
    for side in prepared {
        for key in side.order.iter().filter(|key| side.rows.get(key).is_some_and(|row| row.headline)) {
            if !all.contains(key) {
                all.push(key.clone());
            }
        }
    }
    all
}

/// Verdicts of the given sides among each other for one row.
fn matrix(pairs: &Pairs, sides: &[usize], key: &RowKey) -> Matrix {
    Matrix::from_pairs(sides.len(), |i, j| {
        // Sides are ascending, so the later one is the arm of the pair.
        let judged = pairs.of(sides[j], sides[i]).iter().find(|judged| judged.key == *key);
        judged.map_or(Verdict::CannotTell(Held::Interval), |judged| judged.verdict).reversed()
    })
}

pub fn index(pairs: &Pairs, prepared: &[Prepared<'_>], arm: usize) -> IndexDoc {
    let base = &prepared[0];
    let wanted: Vec<&RowKey> =
        base.order.iter().filter(|key| base.rows.get(key).is_some_and(|row| row.headline)).collect();
    let judged = pairs.of(arm, 0);
    let effect = |key: &RowKey| goodness(judged.iter().find(|judged| judged.key == *key)?);
    let components: Vec<Option<Effect>> = wanted.iter().map(|key| effect(key)).collect();
    let mut doc = IndexDoc {
        arm: prepared[arm].side.name.clone(),
        reference: base.side.name.clone(),
        value: None,
        low: None,
        high: None,
        why: None,
        components: components.len() as u64,
    };
    match stats::index(&components, Dependence::Shared) {
        Ok(index) => {
            let interval = index.effect.interval.exp();
            (doc.value, doc.low, doc.high) = (Some(index.value()), Some(interval.low), Some(interval.high));
        }
        Err(IndexError::Empty) => doc.why = Some("the base has no headline figures".to_owned()),
        Err(IndexError::Missing(which)) => {
            let known = which.iter().filter_map(|i| wanted.get(*i));
            let names: BTreeSet<String> = known.map(|key| key.instrument.clone()).collect();
            let (missing, all) = (which.len(), say::count(wanted.len(), "headline figure"));
            let names: Vec<String> = names.into_iter().collect();
            doc.why = Some(format!("{missing} of {all} missing, of {}", say::list(&names)));
        }
    }
    doc
}

/// The effect turned so that above 0 is better.
fn goodness(judged: &Judged) -> Option<Effect> {
    let effect = judged.effect?;
    if judged.better != Better::Lower {
        return Some(effect);
    }
    let i = effect.interval;
    let interval = Interval { low: -i.high, high: -i.low, level: i.level };
    Some(Effect { estimate: -effect.estimate, interval, ..effect })
}
