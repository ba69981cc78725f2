//! Published figures of two sides set beside each other.
//!
//! Parameters of the card must agree where both name them. What only studies state, such as the DIMMs, and what the
//! card works out for measured figures, such as the transport, may differ: it is told. A figure stands beside that of
//! the other side with which it has most in common, if that has no more in common with another one.

use std::collections::BTreeMap;

use model::data::Published;
use model::{Card, Params, card};

use super::candidates::Candidate;
use super::matching::{Match, RowKey, same, same_of};
use super::prepared::{Prepared, SideValue};
use super::side::{CompareOptions, Side};

/// A figure of the arm and one of the base.
pub type Pair<'p> = (&'p Published, &'p Published);

/// The figures of two published sides that are of the same measurement, in the order of the base.
pub fn pairs<'p>(arm: &'p Side<'_>, base: &'p Side<'_>, options: &CompareOptions) -> Vec<Pair<'p>> {
    let in_common: Vec<(Pair<'p>, usize)> = (base.published.iter())
        .flat_map(|base| arm.published.iter().map(move |arm| (arm, base)))
        .filter_map(|(arm, base)| Some(((arm, base), common(arm, base, options)?)))
        .collect();
    let is_best = |&((arm, base), shared): &(Pair<'p>, usize)| {
        in_common.iter().all(|((other_arm, other_base), other)| {
            let is_rival = std::ptr::eq(*other_arm, arm) || std::ptr::eq(*other_base, base);
            !is_rival || *other <= shared
        })
    };
    in_common.iter().filter(|pair| is_best(pair)).map(|(pair, _)| *pair).collect()
}

/// The rows of two sides of which both have published figures alone.
pub fn candidates<'p, 'a>(
    arm: &'p Prepared<'a>,
    base: &'p Prepared<'a>,
    options: &CompareOptions,
) -> Vec<Candidate<'p, 'a>> {
    if !(arm.rows.is_empty() && base.rows.is_empty()) {
        return Vec::new();
    }
    let pairs = pairs(arm.side, base.side, options);
    let with = |wanted: &Published| {
        let has = |(arm, base): &&Pair<'_>| std::ptr::eq(*arm, wanted) || std::ptr::eq(*base, wanted);
        pairs.iter().filter(has).count()
    };
    let rows = pairs.iter().map(|(of_arm, of_base)| {
        let mut key = RowKey::published(of_base);
        if with(of_base) > 1 {
            key.params = told_apart(&of_base.key.params, &of_arm.key.params, with(of_arm) > 1);
        }
        Candidate {
            key,
            better: of_base.better,
            headline: true,
            arm: SideValue::Point(matched(of_arm, of_base)),
            base: SideValue::Point(matched(of_base, of_arm)),
        }
    });
    rows.collect()
}

/// The parameters of a row whose figure of the base stands beside several of the arm: those of the arm, and where that
/// one stands beside several too, both.
fn told_apart(base: &Params, arm: &Params, both: bool) -> Params {
    let mut params = base.clone();
    for (name, value) in arm {
        match base.get(name).filter(|of_base| both && !same(of_base, value)) {
            Some(of_base) => params.set(name, &format!("{of_base}/{value}")),
            None => params.set(name, value),
        }
    }
    params
}

/// One figure as it stands beside another: what it leaves open, and what it states that the other does not.
fn matched<'p>(row: &'p Published, other: &Published) -> Match<'p> {
    let open = other.key.params.keys().filter(|name| row.key.params.get(name).is_none()).cloned().collect();
    let mut stated: Params = row.key.params.clone();
    stated.retain(|name, value| other.key.params.get(name).is_none_or(|theirs| !same(value, theirs)));
    Match { row, open, stated, others: 0 }
}

/// How many parameters two figures have in common; `None` where they are not of the same measurement. A figure without
/// any parameter may stand beside all.
fn common(a: &Published, b: &Published, options: &CompareOptions) -> Option<usize> {
    let is_number = |row: &Published| row.value.is_finite() && row.value > 0.0;
    let (ours, theirs) = (&a.key, &b.key);
    let is_same = ours.instrument == theirs.instrument
        && ours.metric == theirs.metric
        && ours.unit == theirs.unit
        && ours.definition == theirs.definition
        && a.better == b.better;
    if !(is_same && is_number(a) && is_number(b)) {
        return None;
    }
    let card = card::find(options.cards, &ours.instrument);
    let mut shared = 0;
    for (name, value) in &ours.params {
        let Some(other) = theirs.params.get(name) else { continue };
        match same_of(card, name, value, other) {
            true => shared += 1,
            false if is_condition(card, name) => {}
            false => return None,
        }
    }
    let says_nothing = ours.params.is_empty() || theirs.params.is_empty();
    (shared > 0 || says_nothing).then_some(shared)
}

/// A parameter that only studies state, since the card has none of that name, or that measured figures have unasked.
fn is_condition(card: Option<&Card>, name: &str) -> bool {
    card.is_some_and(|card| {
        card.any_param(name).is_none() || card.derived.iter().any(|derived| derived.name == name)
    })
}

/// Conditions in which figures that stand beside each other differ, by name: `1 DIMM against 4 x 4 GB`, the base
/// first.
pub fn unlike(arm: &Side<'_>, base: &Side<'_>, options: &CompareOptions) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (of_arm, of_base) in pairs(arm, base, options) {
        for (name, value) in &of_arm.key.params {
            let differs = |other: &&str| !same(value, other);
            let Some(other) = of_base.key.params.get(name).filter(differs) else { continue };
            let (known, found) = (all.entry(name.clone()).or_default(), format!("{other} against {value}"));
            if !known.contains(&found) {
                known.push(found);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use model::Basis;
    use model::doc::MachineDoc;
    use model::{Better, SeriesKey, Unit};

    use super::*;

    fn side(name: &str, rows: &[(&str, f64)]) -> Side<'static> {
        let published = |(params, value): &(&str, f64)| Published {
            study: "s".into(),
            machine: name.into(),
            key: SeriesKey {
                instrument: "mem-bandwidth".into(),
                metric: "bandwidth".into(),
                unit: Unit::BytesPerSec,
                params: Params::parse(params).unwrap(),
                arm: String::new(),
                definition: 1,
            },
            better: Better::Higher,
            value: *value,
            low: None,
            high: None,
            bounds: String::new(),
            basis: Basis::Measured,
            note: String::new(),
        };
        let machine = MachineDoc { id: String::new(), name: name.to_owned() };
        Side { published: rows.iter().map(published).collect(), ..Side::new(name, machine) }
    }

    fn found(arm: &[(&str, f64)], base: &[(&str, f64)]) -> Vec<(f64, f64)> {
        let (arm, base) = (side("arm", arm), side("base", base));
        let options = CompareOptions { cards: instruments::cards(), ..CompareOptions::default() };
        pairs(&arm, &base, &options).into_iter().map(|(arm, base)| (arm.value, base.value)).collect()
    }

    #[test]
    fn each_stands_beside_what_it_has_most_in_common_with() {
        let base = [("op=read;dimms=one", 1.0), ("op=read;dimms=3 x 4 GB", 2.0), ("op=copy;dimms=one", 3.0)];
        let arm = [("op=read;dimms=4 x 4 GB", 20.0), ("op=read;dimms=one", 10.0)];
        assert_eq!(found(&arm, &base), [(10.0, 1.0), (20.0, 2.0)]);
        let options = CompareOptions { cards: instruments::cards(), ..CompareOptions::default() };
        let told = unlike(&side("arm", &arm), &side("base", &base), &options);
        assert_eq!(told["dimms"], ["3 x 4 GB against 4 x 4 GB"]);
    }

    #[test]
    fn what_says_nothing_of_its_conditions_stands_beside_all() {
        let all = [("op=read", 1.0), ("op=copy", 2.0)];
        assert_eq!(found(&[("", 9.0)], &all), [(9.0, 1.0), (9.0, 2.0)]);
        assert_eq!(found(&all, &[("", 9.0)]), [(1.0, 9.0), (2.0, 9.0)]);
        let params = |text| Params::parse(text).unwrap();
        let told = |both| told_apart(&params("dimms=one;op=read"), &params("dimms=two;op=read;cpus=1"), both);
        assert_eq!(told(true), params("cpus=1;dimms=one/two;op=read"));
        assert_eq!(told(false), params("cpus=1;dimms=two;op=read"));
        // Parameters of the card must agree, and what has nothing in common is not the same.
        assert_eq!(found(&[("op=write", 9.0)], &all), []);
        assert_eq!(found(&[("dimms=one", 9.0)], &all), []);
        assert_eq!(found(&[("op=read", f64::NAN)], &all), []);
    }
}
