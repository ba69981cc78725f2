//! Ranks of the sides row by row, and the indexes of each arm against the base.
//!
//! A rank counts only sides that were called better; neighbours of which no pair was told apart are one tie group.
//! More than [`judge::MOST`] sides have none, since only pairs with the base are judged of them. An index takes every
//! headline row of the base of one scope (whole machine, one thread); a missing one makes it missing. How many of its
//! rows are open is said with it: an index off 1 would else say more than they do. Published points have neither
//! interval nor part in it. Where a row of a log's hours is judged by another row, that one is ranked.

use std::collections::BTreeSet;

use model::doc::{IndexDoc, RankDoc, TieDoc};
use model::why::Reason;
use model::{Better, Cards, Scope, card};
use stats::{Dependence, Effect, Held, IndexError, Interval, Matrix, Rank, Verdict};

use super::judge::{self, Pairs};
use super::judged::Judged;
use super::matching::RowKey;
use super::prepared::Prepared;
use super::side::CompareOptions;
use model::format;

/// Ranks figure by figure, the best side first, and which neighbours cannot be told apart.
pub fn ranks(pairs: &Pairs, prepared: &[Prepared<'_>]) -> (Vec<RankDoc>, Vec<TieDoc>) {
    let (mut all, mut ties) = (Vec::new(), Vec::new());
    if prepared.len() > judge::MOST {
        return (all, ties);
    }
    for key in headlines(pairs, prepared) {
        let is_of_sides = prepared.iter().any(|side| side.rows.contains_key(&key));
        let sound = |side: &usize| match prepared[*side].rows.get(&key) {
            Some(row) => row.speaking().is_ok(),
            None => !is_of_sides && judged_value(pairs, prepared, (*side, &key)).is_some(),
        };
        let having: Vec<usize> = (0..prepared.len()).filter(sound).collect();
        if having.len() < 2 {
            continue;
        }
        let matrix = matrix(pairs, &having, &key);
        let places = stats::ranks(&matrix);
        let order = best_first((pairs, prepared), &having, &key, &places);
        let name = |at: usize| prepared[having[at]].side.name.clone();
        for at in &order {
            let narrow = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
            all.push(RankDoc {
                instrument: key.instrument.clone(),
                metric: key.metric.clone(),
                params: key.params.clone(),
                arm: name(*at),
                rank: narrow(places[*at].rank),
                worst_rank: narrow(places[*at].worst),
            });
        }
        ties.extend(stats::tie_groups(&matrix, &order).into_iter().map(|group| TieDoc {
            instrument: key.instrument.clone(),
            metric: key.metric.clone(),
            params: key.params.clone(),
            arms: order[group].iter().map(|at| name(*at)).collect(),
        }));
    }
    (all, ties)
}

/// Places within `having`: by rank, then by the worst rank, then by the figure itself.
fn best_first(
    (pairs, prepared): (&Pairs, &[Prepared<'_>]),
    having: &[usize],
    key: &RowKey,
    places: &[Rank],
) -> Vec<usize> {
    let good = |at: usize| {
        let own = prepared[having[at]].rows.get(key).and_then(|row| Some((row.value()?, row.better)));
        let (value, better) = own
            .or_else(|| judged_value(pairs, prepared, (having[at], key)))
            .unwrap_or((f64::NAN, Better::Higher));
        if better == Better::Lower { -value } else { value }
    };
    let mut order: Vec<usize> = (0..having.len()).collect();
    order.sort_by(|a, b| {
        let place = |at: &usize| (places[*at].rank, places[*at].worst);
        place(a).cmp(&place(b)).then_with(|| good(*b).total_cmp(&good(*a)))
    });
    order
}

/// Headline rows in the order in which the sides name them, then those that only pairs of sides have. A row whose
/// verdict stands in another row is none.
fn headlines(pairs: &Pairs, prepared: &[Prepared<'_>]) -> Vec<RowKey> {
    let judged: Vec<&Judged> = all_judged(pairs, prepared.len()).collect();
    let is_elsewhere = |one: &Judged| one.row.why.reasons.contains(&Reason::Hours { judged_elsewhere: true });
    let stands_elsewhere = |key: &RowKey| judged.iter().any(|one| one.key == *key && is_elsewhere(one));
    let mut all: Vec<RowKey> = Vec::new();
    for side in prepared {
        for key in side.order.iter().filter(|key| side.rows.get(key).is_some_and(|row| row.headline)) {
            if !all.contains(key) && !stands_elsewhere(key) {
                all.push(key.clone());
            }
        }
    }
    let is_new =
        |one: &&&Judged| one.row.headline && !prepared.iter().any(|side| side.rows.contains_key(&one.key));
    for one in judged.iter().filter(is_new) {
        if !all.contains(&one.key) {
            all.push(one.key.clone());
        }
    }
    all
}

/// The judged rows of every two of so many sides.
fn all_judged(pairs: &Pairs, sides: usize) -> impl Iterator<Item = &Judged> {
    (0..sides).flat_map(move |arm| (0..arm).flat_map(move |base| pairs.rows(arm, base)))
}

/// The figure of a side in a row that only pairs of sides have, of the first such pair; and which is the better way.
fn judged_value(
    pairs: &Pairs,
    prepared: &[Prepared<'_>],
    (side, key): (usize, &RowKey),
) -> Option<(f64, Better)> {
    let as_arm = (0..side).map(|base| (side, base));
    let as_base = (side + 1..prepared.len()).map(|arm| (arm, side));
    as_arm.chain(as_base).find_map(|(arm, base)| {
        let row = &pairs.rows(arm, base).iter().find(|judged| judged.key == *key)?.row;
        Some((if arm == side { row.arm_value } else { row.base_value }?, row.better))
    })
}

/// Verdicts of the given sides among each other for one row.
fn matrix(pairs: &Pairs, sides: &[usize], key: &RowKey) -> Matrix {
    Matrix::from_pairs(sides.len(), |i, j| {
        // Sides are ascending, so the later one is the arm of the pair.
        let judged = pairs.rows(sides[j], sides[i]).iter().find(|judged| judged.key == *key);
        judged.map_or(Verdict::CannotTell(Held::Interval), |judged| judged.verdict).reversed()
    })
}

/// The indexes of an arm against the base: that of the whole machines first, then that of one thread. One for which the
/// base has no figure is left out.
pub fn indexes(
    pairs: &Pairs,
    prepared: &[Prepared<'_>],
    arm: usize,
    options: &CompareOptions,
) -> Vec<IndexDoc> {
    let of_scope = |scope: Scope| {
        let base = &prepared[0];
        let is_wanted = |key: &&RowKey| index_of(base, key, options) == Some(scope);
        let wanted: Vec<&RowKey> = base.order.iter().filter(is_wanted).collect();
        (!wanted.is_empty()).then(|| index(pairs, prepared, arm, (scope, &wanted)))
    };
    Scope::ALL.into_iter().filter_map(of_scope).collect()
}

/// The index that a figure of the base is one of: headlines that have a scope.
pub fn index_of(base: &Prepared<'_>, key: &RowKey, options: &CompareOptions) -> Option<Scope> {
    let is_headline = base.rows.get(key).is_some_and(|row| row.headline);
    let is_wanted = is_headline && options.wants(&key.instrument, &key.metric);
    scope_of(key, options.cards).filter(|_| is_wanted)
}

fn scope_of(key: &RowKey, cards: Cards) -> Option<Scope> {
    card::find(cards, &key.instrument)?.scope(&key.metric, &key.params)
}

fn index(
    pairs: &Pairs,
    prepared: &[Prepared<'_>],
    arm: usize,
    (scope, wanted): (Scope, &[&RowKey]),
) -> IndexDoc {
    let judged = pairs.rows(arm, 0);
    let found: Vec<Option<&Judged>> =
        wanted.iter().map(|key| judged.iter().find(|judged| judged.key == **key)).collect();
    let components: Vec<Option<Effect>> = found.iter().map(|judged| goodness((*judged)?)).collect();
    let mut doc = IndexDoc {
        scope,
        arm: prepared[arm].side.name.clone(),
        reference: prepared[0].side.name.clone(),
        value: None,
        low: None,
        high: None,
        why: None,
        components: components.len() as u64,
        open: 0,
    };
    match stats::index(&components, Dependence::Shared) {
        Ok(index) => {
            let interval = index.effect.interval.exp();
            let is_open = |judged: &&&Judged| matches!(judged.verdict, Verdict::CannotTell(_));
            doc.open = found.iter().flatten().filter(is_open).count() as u64;
            (doc.value, doc.low, doc.high) = (Some(index.value()), Some(interval.low), Some(interval.high));
        }
        Err(IndexError::Empty) => doc.why = Some("the base has no such figures".to_owned()),
        Err(IndexError::Missing(which)) => {
            let known = which.iter().filter_map(|i| wanted.get(*i));
            let names: BTreeSet<String> = known.map(|key| key.instrument.clone()).collect();
            let (missing, all) = (which.len(), format::count(wanted.len(), "figure"));
            let names: Vec<String> = names.into_iter().collect();
            doc.why = Some(format!("{missing} of {all} missing, of {}", format::list(&names)));
        }
    }
    doc
}

/// The effect turned so that above 0 is better.
fn goodness(judged: &Judged) -> Option<Effect> {
    let effect = judged.effect?;
    if judged.row.better != Better::Lower {
        return Some(effect);
    }
    let i = effect.interval;
    let interval = Interval { low: -i.high, high: -i.low, level: i.level };
    Some(Effect { estimate: -effect.estimate, interval, ..effect })
}
