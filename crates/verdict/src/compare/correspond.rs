//! Figures of two sides that are matched although their parameters differ: of a load at another address, for another
//! time, or, where the user named the sides, under other conditions.
//!
//! The card says which parameters are which (`Matched`). A matched row of an arm gets the key of the base's row, and
//! keeps the parameters that it was measured with. Figures with equal parameters are matched first; of the others each
//! with the one nearest to it, if there is only one. Under other conditions they are matched only where each side has
//! one figure that could be meant.

use std::collections::{BTreeMap, BTreeSet};

use model::params::{Match, Matched, ParamSpec};
use model::url::authority;
use model::why::Unlike;
use model::{Params, card, format};

use super::matching::RowKey;
use super::prepared::{Prepared, SideRow};
use super::side::CompareOptions;

/// Instrument and definition.
type Kind = (String, u32);
type Renamed = BTreeMap<(Kind, Params), Params>;

/// Gives rows of the arms the keys of the rows of the base to which they correspond.
pub fn correspond(prepared: &mut [Prepared<'_>], options: &CompareOptions) {
    let Some((base, arms)) = prepared.split_first_mut() else { return };
    for arm in arms {
        let renamed = renamed(arm, base, options);
        if renamed.is_empty() {
            continue;
        }
        let rename = |key: &mut RowKey| {
            let of = (kind(key), key.params.clone());
            if let Some(params) = renamed.get(&of) {
                key.params = params.clone();
            }
        };
        arm.order.iter_mut().for_each(rename);
        arm.rows = std::mem::take(&mut arm.rows)
            .into_iter()
            .map(|(mut key, row)| {
                rename(&mut key);
                (key, row)
            })
            .collect();
    }
}

fn kind(key: &RowKey) -> Kind {
    (key.instrument.clone(), key.definition)
}

/// Parameters of a side's rows, once each.
fn variants(side: &Prepared<'_>) -> BTreeMap<Kind, BTreeSet<Params>> {
    let mut all: BTreeMap<Kind, BTreeSet<Params>> = BTreeMap::new();
    for key in &side.order {
        all.entry(kind(key)).or_default().insert(key.params.clone());
    }
    all
}

/// The parameters of the arm's rows that correspond to others of the base.
fn renamed(arm: &Prepared<'_>, base: &Prepared<'_>, options: &CompareOptions) -> Renamed {
    let (of_arm, of_base) = (variants(arm), variants(base));
    let mut all = Renamed::new();
    for (kind, ours) in of_arm {
        let (Some(theirs), Some(card)) = (of_base.get(&kind), card::find(options.cards, &kind.0)) else {
            continue;
        };
        if card.params.iter().all(|spec| spec.matched == Matched::Identity) {
            continue;
        }
        let key = |params: &Params, how| key_part(card.params, params, how);
        // Figures that share a key, but those with equal parameters.
        let mut close: BTreeMap<Params, (Vec<&Params>, Vec<&Params>)> = BTreeMap::new();
        for params in ours.difference(theirs) {
            close.entry(key(params, Match::Close)).or_default().0.push(params);
        }
        for params in theirs.difference(&ours) {
            close.entry(key(params, Match::Close)).or_default().1.push(params);
        }
        let mut found: Vec<(&Params, &Params)> =
            close.into_values().flat_map(|(ours, theirs)| nearest(ours, theirs)).collect();
        if options.other_conditions {
            let only = |all: &BTreeSet<Params>, wanted: &Params| {
                all.iter().filter(|params| key(params, Match::Loose) == *wanted).count() == 1
            };
            for one in &ours {
                let wanted = key(one, Match::Loose);
                let other = theirs.iter().find(|other| key(other, Match::Loose) == wanted);
                let Some(other) = other.filter(|other| *other != one) else { continue };
                let is_new = found.iter().all(|(known, _)| *known != one);
                if is_new && only(&ours, &wanted) && only(theirs, &wanted) {
                    found.push((one, other));
                }
            }
        }
        all.extend(found.into_iter().map(|(one, other)| ((kind.clone(), one.clone()), other.clone())));
    }
    all
}

/// The part of parameters by which figures are matched.
pub fn key_part(specs: &[ParamSpec], params: &Params, how: Match) -> Params {
    let part = |(name, value): (&String, &String)| {
        let part = match specs.iter().find(|spec| spec.name == name.as_str()) {
            Some(spec) => spec.key_part(value, how)?,
            None => value.clone(),
        };
        Some((name.clone(), part))
    };
    params.iter().filter_map(part).collect()
}

/// Pairs of these of which each is the other's only nearest one.
fn nearest<'p>(mut ours: Vec<&'p Params>, mut theirs: Vec<&'p Params>) -> Vec<(&'p Params, &'p Params)> {
    let apart = |one: &Params, other: &Params| names(one, other).len();
    let only_nearest = |one: &Params, all: &[&'p Params]| -> Option<&'p Params> {
        let least = all.iter().map(|other| apart(one, other)).min()?;
        let mut those = all.iter().filter(|other| apart(one, other) == least);
        let first = those.next()?;
        those.next().is_none().then_some(*first)
    };
    let mut pairs = Vec::new();
    loop {
        let pair = ours.iter().find_map(|one| {
            let other = only_nearest(one, &theirs)?;
            (only_nearest(other, &ours) == Some(*one)).then_some((*one, other))
        });
        let Some((one, other)) = pair else { return pairs };
        ours.retain(|params| *params != one);
        theirs.retain(|params| *params != other);
        pairs.push((one, other));
    }
}

/// Names of parameters that are not the same.
pub fn names(a: &Params, b: &Params) -> Vec<String> {
    let all = a.keys().chain(b.keys().filter(|name| a.get(name).is_none()));
    all.filter(|name| a.get(name) != b.get(name)).cloned().collect()
}

/// A value that a side does not state.
pub const UNSAID: &str = "unsaid";

/// Conditions in which two matched rows differ.
pub fn unlike(
    instrument: &str,
    arm: &SideRow<'_>,
    base: &SideRow<'_>,
    options: &CompareOptions,
) -> Vec<Unlike> {
    differences(instrument, arm, base, options).0
}

/// The parameters across which the user has two rows compared, as far as they differ.
pub fn across(arm: &SideRow<'_>, base: &SideRow<'_>, options: &CompareOptions) -> Vec<Unlike> {
    let said = |value: Option<&str>| value.unwrap_or(UNSAID).to_owned();
    let differ = options.across.iter().filter(|name| arm.given.get(name) != base.given.get(name));
    let unlike = |name: &String| Unlike {
        name: name.clone(),
        arm: said(arm.given.get(name)),
        base: said(base.given.get(name)),
    };
    differ.map(unlike).collect()
}

/// The conditions in which two rows differ, and what else that keeps no figures apart.
fn differences(
    instrument: &str,
    arm: &SideRow<'_>,
    base: &SideRow<'_>,
    options: &CompareOptions,
) -> (Vec<Unlike>, Vec<Unlike>) {
    let Some(card) = card::find(options.cards, instrument) else { return (Vec::new(), Vec::new()) };
    let (mut conditions, mut others) = (Vec::new(), Vec::new());
    let is_across = |spec: &ParamSpec| options.across.contains(spec.name);
    let specs = card.params.iter().filter(|spec| spec.matched != Matched::Identity);
    for spec in specs.filter(|spec| !is_across(spec)) {
        let (of_arm, of_base) = (arm.given.get(spec.name), base.given.get(spec.name));
        if of_arm == of_base {
            continue;
        }
        let part = |value: Option<&str>| value.map(|value| spec.key_part(value, Match::Close));
        let said = |value: Option<&str>| value.unwrap_or(UNSAID).to_owned();
        let unlike = Unlike { name: spec.name.to_owned(), arm: said(of_arm), base: said(of_base) };
        match part(of_arm) == part(of_base) || spec.matched == Matched::Extent {
            true => others.push(unlike),
            false => conditions.push(unlike),
        }
    }
    (conditions, others)
}

/// `x1 loaded 127.0.0.1:8080, x2 localhost:8080`, and what else matched figures differ in.
pub fn sentences(arm: &Prepared<'_>, base: &Prepared<'_>, options: &CompareOptions) -> Vec<String> {
    let mut all = Vec::new();
    for (key, of_arm) in &arm.rows {
        let Some(of_base) = base.rows.get(key).filter(|of_base| of_base.given != of_arm.given) else {
            continue;
        };
        let (conditions, others) = differences(&key.instrument, of_arm, of_base, options);
        let specs = card::find(options.cards, &key.instrument).map_or(&[][..], |card| card.params);
        let is_address = |unlike: &&Unlike| {
            let is_at = |spec: &ParamSpec| matches!(spec.matched, Matched::Url | Matched::Address);
            specs.iter().any(|spec| spec.name == unlike.name && is_at(spec))
        };
        let (at, others): (Vec<&Unlike>, Vec<&Unlike>) = others.iter().partition(is_address);
        for Unlike { arm: of_arm, base: of_base, .. } in at {
            let (of_arm, of_base) = (authority(of_arm), authority(of_base));
            let (arm, base) = (&arm.side.name, &base.side.name);
            all.push(format!("{base} loaded {of_base}, {arm} {of_arm}"));
        }
        let across = across(of_arm, of_base, options);
        if !across.is_empty() {
            all.push(format!(
                "{} against {}: {} (--across): a ratio of {} is of both differences together",
                arm.side.name,
                base.side.name,
                format::list(&across.iter().map(Unlike::to_string).collect::<Vec<_>>()),
                key.instrument,
            ));
        }
        let differ: Vec<String> = conditions.iter().chain(others).map(Unlike::to_string).collect();
        if !differ.is_empty() {
            all.push(format!(
                "{} and {}: figures of {} are compared although they differ in {}",
                base.side.name,
                arm.side.name,
                key.instrument,
                format::list(&differ)
            ));
        }
    }
    let mut seen = BTreeSet::new();
    all.retain(|text| seen.insert(text.clone()));
    all
}

#[cfg(test)]
mod tests {
    use model::doc::{CompareDoc, MachineDoc};

    use crate::loads::planted::{empty, load};
    use crate::{CompareOptions, Side, compare};

    fn document(base: &[&str], arm: &[&str], other_conditions: bool) -> CompareDoc {
        let run = |id: &str, loads: &[&str]| {
            let mut run = empty();
            (run.head.id, run.head.study) = (id.to_owned(), id.to_owned());
            for given in loads {
                load(&mut run, given, &[("throughput", 1000.0)]);
            }
            run
        };
        let (a, b) = (run("a", base), run("b", arm));
        let machine = || MachineDoc { id: "m".into(), name: "m".into() };
        let side = |name: &str, run| Side { runs: vec![run], ..Side::new(name, machine()) };
        let cards = instruments::cards();
        let options = CompareOptions { all: true, cards, other_conditions, ..CompareOptions::default() };
        compare(&[side("x1", &a), side("x2", &b)], &options)
    }

    fn has(doc: &CompareDoc, words: &str) -> bool {
        doc.footnotes.iter().any(|note| note.contains(words))
    }

    #[test]
    fn address_and_duration_keep_nothing_apart() {
        let base = ["connections=50;duration=2;url=http://127.0.0.1:8080/"];
        let doc = document(&base, &["connections=50;duration=4;url=http://localhost:8080/"], false);
        assert_eq!(doc.rows.len(), 1);
        assert!(has(&doc, "x1 loaded 127.0.0.1:8080, x2 localhost:8080"), "{:?}", doc.footnotes);
        assert!(has(&doc, "compared although they differ in duration (2 against 4)"), "{:?}", doc.footnotes);
        assert!(!doc.rows[0].why.to_string().contains("differ"), "{}", doc.rows[0].why);
        let tls = document(&base, &["connections=50;duration=2;url=https://127.0.0.1:8080/"], true);
        assert!(tls.rows.is_empty() && has(&tls, "differ in url"), "{:?}", tls.footnotes);
    }

    #[test]
    fn other_conditions_are_compared_where_the_user_named_the_only_loads() {
        let (base, arm) = (["connections=50;url=http://a/x"], ["connections=20;url=http://b/y"]);
        assert!(document(&base, &arm, false).rows.is_empty());
        let doc = document(&base, &arm, true);
        let says = "loads differ in url (http://a/x against http://b/y) and connections (50 against 20)";
        assert!(doc.rows[0].why.to_string().contains(says), "{}", doc.rows[0].why);
        assert!(
            has(&doc, "although they differ in url (http://a/x against http://b/y) and connections"),
            "{:?}",
            doc.footnotes
        );
        // Of several candidates none is meant.
        let two = document(&["connections=50", "connections=70"], &["connections=20"], true);
        assert!(two.rows.is_empty() && has(&two, "are not compared"), "{:?}", two.footnotes);
        let closed = document(&["arrivals=closed;rate=auto"], &["arrivals=constant;rate=9"], true);
        assert!(closed.rows.is_empty() && has(&closed, "differ in arrivals"), "{:?}", closed.footnotes);
    }

    #[test]
    fn each_load_is_matched_with_the_only_nearest() {
        let base = ["duration=1;url=http://a/", "duration=2;url=http://a/"];
        let doc = document(&base, &["duration=2;url=http://b/", "duration=1;url=http://b/"], false);
        assert_eq!(doc.rows.len(), 2);
        assert!(!has(&doc, "duration"), "{:?}", doc.footnotes);
        let unclear = document(&base, &["duration=5;url=http://a/"], true);
        assert!(unclear.rows.is_empty() && has(&unclear, "are not compared"), "{:?}", unclear.footnotes);
    }
}
