//! Rows that two measured sides both have, but not with the same parameters: which parameter keeps them apart.
//!
//! Of each instrument, whatever the metric. Where only one side has more variants than the other, nothing is apart.
//! Rows of different definitions are said elsewhere.

use std::collections::BTreeMap;

use model::{Params, card, format};

use super::correspond::{self, UNSAID};
use super::matching::RowKey;
use super::prepared::Prepared;
use super::side::CompareOptions;

/// More values of a parameter than these are counted.
const MOST: usize = 4;

/// Figures of two sides that are not compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apart {
    pub text: String,
    /// How they could be made comparable, where the parameter that keeps them apart says it.
    pub remedy: Option<&'static str>,
    /// The parameters that keep them apart.
    pub keys: Vec<String>,
}

impl From<String> for Apart {
    fn from(text: String) -> Apart {
        Apart { text, remedy: None, keys: Vec::new() }
    }
}

/// One for each instrument whose figures stand apart.
pub fn figures(arm: &Prepared<'_>, base: &Prepared<'_>, options: &CompareOptions) -> Vec<Apart> {
    let (of_arm, of_base) = (variants(arm), variants(base));
    let mut out = Vec::new();
    for (instrument, ours) in &of_arm {
        let Some(theirs) = of_base.get(instrument) else { continue };
        let only = |own: &[&Params], other: &[&Params]| -> Vec<Params> {
            own.iter().filter(|one| !other.contains(one)).map(|one| (*one).clone()).collect()
        };
        let differ = differing(&only(theirs, ours), &only(ours, theirs));
        if differ.is_empty() {
            continue;
        }
        let named: Vec<String> = differ
            .iter()
            .map(|(name, (of_base, of_arm))| {
                format!("{name} ({} against {})", values(of_base), values(of_arm))
            })
            .collect();
        let (base, arm) = (&base.side.name, &arm.side.name);
        let text = format!(
            "{base} and {arm}: figures of {instrument} that differ in {} are not compared",
            format::list(&named)
        );
        let card = card::find(options.cards, instrument);
        let remedy = differ.keys().find_map(|name| card?.param(name)?.remedy);
        out.push(Apart { text, remedy, keys: differ.into_keys().collect() });
    }
    out
}

/// Parameters of a side's rows, once each, by instrument and definition.
fn variants<'p>(side: &'p Prepared<'_>) -> BTreeMap<&'p str, Vec<&'p Params>> {
    let mut all: BTreeMap<&str, Vec<&Params>> = BTreeMap::new();
    for RowKey { instrument, params, .. } in &side.order {
        let known = all.entry(instrument).or_default();
        if !known.contains(&params) {
            known.push(params);
        }
    }
    all
}

type Values = Vec<String>;

/// Parameters in which each row differs from the nearest one of the other side, with the values of both.
fn differing(base: &[Params], arm: &[Params]) -> BTreeMap<String, (Values, Values)> {
    let mut all: BTreeMap<String, (Values, Values)> = BTreeMap::new();
    let mut add = |a: &Params, b: &Params| {
        for name in correspond::names(a, b) {
            let (of_base, of_arm) = all.entry(name.clone()).or_default();
            for (values, value) in [(of_base, a.get(&name)), (of_arm, b.get(&name))] {
                let value = value.unwrap_or(UNSAID).to_owned();
                if !values.contains(&value) {
                    values.push(value);
                }
            }
        }
    };
    let nearest =
        |to: &Params, of: &[Params]| of.iter().min_by_key(|one| correspond::names(to, one).len()).cloned();
    for a in base {
        nearest(a, arm).iter().for_each(|b| add(a, b));
    }
    for b in arm {
        nearest(b, base).iter().for_each(|a| add(a, b));
    }
    all
}

fn values(all: &[String]) -> String {
    match all.len() {
        0..=MOST => all.join(", "),
        many => format!("{}, … {many} values", all[..MOST - 1].join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use model::doc::MachineDoc;

    use crate::loads::planted::{empty, load};
    use crate::{CompareOptions, Side, compare};

    fn notes(base: &[&str], arm: &[&str]) -> (usize, Vec<String>) {
        let run = |id: &str, loads: &[&str]| {
            let mut run = empty();
            (run.head.id, run.head.study) = (id.to_owned(), id.to_owned());
            for given in loads {
                load(&mut run, given, &[("throughput", 1000.0), ("response-time", 0.001)]);
            }
            run
        };
        let (a, b) = (run("a", base), run("b", arm));
        let machine = || MachineDoc { id: "m".into(), name: "m".into() };
        let side = |name: &str, run| Side { runs: vec![run], ..Side::new(name, machine()) };
        let options = CompareOptions { all: true, ..CompareOptions::default() };
        let doc = compare(&[side("before", &a), side("after", &b)], &options);
        let apart = |note: &&String| note.ends_with("are not compared");
        (doc.rows.len(), doc.footnotes.iter().filter(apart).cloned().collect())
    }

    #[test]
    fn the_parameter_that_keeps_loads_apart_is_named() {
        let (rows, notes) = notes(&["connections=50;duration=10"], &["connections=200;duration=10"]);
        assert_eq!(rows, 0);
        assert_eq!(
            notes,
            ["before and after: figures of web that differ in connections (50 against 200) are not compared"]
        );
    }

    #[test]
    fn shared_loads_and_further_ones_of_one_side_are_not_apart() {
        assert_eq!(notes(&["connections=1", "connections=9"], &["connections=9"]), (2, Vec::new()));
        let (rows, said) = notes(&["connections=1", "connections=9"], &["connections=9", "connections=2"]);
        assert_eq!(rows, 2);
        assert!(said[0].contains("differ in connections (1 against 2) are"), "{said:?}");
    }

    #[test]
    fn each_is_held_beside_the_nearest_and_many_values_are_counted() {
        let base = ["connections=1;keepalive=on", "connections=1;keepalive=off"];
        let (_, said) = notes(&base, &["connections=2;keepalive=on", "connections=2;keepalive=off"]);
        assert!(said[0].contains("differ in connections (1 against 2) are"), "{said:?}");
        let many: Vec<String> = (10..20).map(|n| format!("connections={n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let (_, said) = notes(&["connections=1"], &many);
        assert!(said[0].contains("(1 against 10, 11, 12, … 10 values)"), "{said:?}");
    }
}
