//! Which candidate is the cheapest, with which probability, and which cannot be told apart from it.

use model::doc::EstimateDoc;

use super::sized::Sized;
use super::sorted::{at, share};
use super::world::Common;

/// The probability from which on a candidate is named the cheapest, and below the rest of which one is no rival.
pub const NAMED: f64 = 0.95;
/// Where the first is not named, whoever wins so many draws is a rival.
const RIVAL: f64 = 0.02;

/// The place of a candidate by its cost.
#[derive(Clone, Debug, Default)]
pub struct Place {
    pub cheapest: Option<f64>,
    pub tie: Option<u64>,
    pub ratio: Option<EstimateDoc>,
}

/// Cheapest first; then those without a cost by their number of boxes.
pub fn sort(all: &mut [Sized<'_>], common: Common) {
    all.sort_by(|a, b| {
        let (of_a, of_b) = (a.counted(common), b.counted(common));
        let by_cost = match (of_a, of_b) {
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        by_cost.then(a.needed.cmp(&b.needed)).then_with(|| a.candidate.name.cmp(&b.candidate.name))
    });
}

/// Places of sorted candidates.
pub fn places(all: &[Sized<'_>], common: Common) -> Vec<Place> {
    let won = cheapest(all);
    // A lower bound may be cheaper than it looks, so that no draw says which one is the cheapest.
    let is_open = all.iter().skip(1).any(|one| one.is_bound() && one.parts.is_some());
    let is_named = !is_open && won.first().copied().flatten().is_none_or(|won| won >= NAMED);
    let (mut tie, mut head) = (0, None::<&Sized<'_>>);
    let mut places = Vec::new();
    for (one, won) in all.iter().zip(won) {
        if one.counted(common).is_none() {
            places.push(Place::default());
            continue;
        }
        let may_win = tie == 1 && !is_named && (one.is_bound() || won >= Some(RIVAL));
        if !(may_win || head.is_some_and(|head| below(one, head) > 1.0 - NAMED)) {
            (tie, head) = (tie + 1, Some(one));
        }
        let ratio = all.first().and_then(|first| ratio(one, first, common));
        // A published point has no draws: it is the cheapest or it is not.
        let cheapest = won.filter(|_| !one.candidate.published && !is_open);
        places.push(Place { cheapest, tie: Some(tie), ratio });
    }
    places
}

/// The share of draws in which each is the cheapest; equal ones share a draw.
fn cheapest(all: &[Sized<'_>]) -> Vec<Option<f64>> {
    let draws = all.first().map_or(0, |one| one.draws.len());
    let mut won = vec![0.0; all.len()];
    let mut best = Vec::new();
    for draw in 0..draws {
        let (mut least, _) = (f64::INFINITY, best.clear());
        for (place, one) in all.iter().enumerate() {
            let Some(cost) = one.draws.get(draw).and_then(|draw| draw.cost) else { continue };
            if cost < least {
                least = cost;
                best.clear();
            }
            if cost <= least {
                best.push(place);
            }
        }
        for place in &best {
            won[*place] += 1.0 / best.len() as f64;
        }
    }
    let has_cost = |one: &Sized<'_>| one.parts.is_some();
    all.iter().zip(won).map(|(one, won)| has_cost(one).then(|| won / draws.max(1) as f64)).collect()
}

/// The probability that one costs less than another; equal costs count half.
fn below(one: &Sized<'_>, other: &Sized<'_>) -> f64 {
    let pairs = one.draws.iter().zip(&other.draws).filter_map(|(a, b)| Some((a.cost?, b.cost?)));
    let (mut less, mut n) = (0.0, 0usize);
    for (a, b) in pairs {
        n += 1;
        less += if a < b {
            1.0
        } else if a > b {
            0.0
        } else {
            0.5
        };
    }
    if n == 0 { share(0, 1) } else { less / n as f64 }
}

/// Cost as a multiple of the first one's.
fn ratio(one: &Sized<'_>, first: &Sized<'_>, common: Common) -> Option<EstimateDoc> {
    let value = one.counted(common)? / first.counted(common)?;
    let mut drawn: Vec<f64> =
        one.draws.iter().zip(&first.draws).filter_map(|(a, b)| Some(a.cost? / b.cost?)).collect();
    drawn.sort_unstable_by(f64::total_cmp);
    Some(EstimateDoc {
        value: Some(value),
        low: at(&drawn, 0.025).map(|low| low.min(value)),
        high: at(&drawn, 0.975).map(|high| high.max(value)),
        why: None,
    })
}
