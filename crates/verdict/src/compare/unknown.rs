//! Gaps in what is known: conditions that keep published figures from standing beside those of a measured side, and
//! prices that are the middle of a band.

use std::collections::BTreeMap;

use model::{Cards, Derived, format};

use super::matching::{RowKey, fits};
use super::prepared::Prepared;
use super::side::CompareOptions;

/// A sentence for each such condition of two sides, of which one is measured and the other published.
pub fn sentences(arm: &Prepared<'_>, base: &Prepared<'_>, options: &CompareOptions) -> Vec<String> {
    let both = [(arm, base), (base, arm)];
    both.iter().flat_map(|(ours, theirs)| of_pair(ours, theirs, options.cards)).collect()
}

fn of_pair(ours: &Prepared<'_>, theirs: &Prepared<'_>, cards: Cards) -> Vec<String> {
    let mut all: BTreeMap<(&'static str, String), (usize, &'static Derived)> = BTreeMap::new();
    for row in &theirs.side.published {
        let refused = |key: &RowKey| {
            let conditions = ours.conditions(key, cards);
            let better = ours.better(key).filter(|better| fits(key, *better, row, conditions.card));
            better.and_then(|_| conditions.refused(&row.key.params))
        };
        let found: Option<&'static Derived> = ours.order.iter().find_map(refused);
        let Some((derived, value)) = found.and_then(|found| Some((found, row.key.params.get(found.name)?)))
        else {
            continue;
        };
        all.entry((derived.name, value.to_owned())).or_insert((0, derived)).0 += 1;
    }
    let (ours, theirs) = (&ours.side.name, &theirs.side.name);
    let sentence = |((name, value), (count, derived)): ((&str, String), (usize, &Derived))| {
        format!(
            "{theirs}: {} with {name}={value} not compared, since {name} of {ours} is not known ({})",
            format::count(count, "figure"),
            derived.remedy
        )
    };
    all.into_iter().map(sentence).collect()
}

/// A price with a caveat, such as the band that it is the middle of.
pub fn price_band(side: &Prepared<'_>) -> Option<String> {
    let price = side.side.price.as_ref()?;
    let fact = side.side.facts.iter().find(|fact| fact.key == price.key())?;
    let why = fact.why.as_ref()?;
    Some(format!(
        "{}: its price of {} {} is {why}",
        side.side.name,
        format::number(price.amount),
        price.currency
    ))
}
