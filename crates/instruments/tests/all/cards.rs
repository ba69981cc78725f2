//! What holds for every card: nobody but the card says how an instrument's figures are shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use model::{By, Cadence, Card, Params, Samples};

fn cards() -> impl Iterator<Item = &'static Card> {
    instruments::cards().iter().copied()
}

/// Instruments whose figures people see.
fn shown() -> impl Iterator<Item = &'static Card> {
    // Of logs nothing is measured: their figures have sections of their own.
    cards().filter(|card| card.cadence == Cadence::Repeat && card.samples == Samples::Takes)
}

#[test]
fn every_instrument_of_takes_has_a_name_and_a_place() {
    let mut places = BTreeSet::new();
    for card in shown() {
        let name = card.name;
        assert!(!card.shown.label.is_empty() || !card.shown.tells.is_empty(), "{name} has no label");
        assert!(places.insert((card.family, card.shown.place)), "{name} stands where another one does");
    }
}

#[test]
fn what_a_card_tells_and_sorts_by_it_has() {
    // Loads of servers and of stores are told in one order, and each has some of it.
    for card in shown().filter(|card| card.role.rate().is_none()) {
        for tell in card.shown.tells.iter().filter(|_| card.family != model::Family::Kv) {
            assert!(card.any_param(tell.param).is_some(), "{} has no parameter {}", card.name, tell.param);
        }
        for by in card.shown.sorted.iter().filter(|_| card.family != model::Family::Kv) {
            let By::Param(param) = by else { continue };
            assert!(card.any_param(param).is_some(), "{} has no parameter {param}", card.name);
        }
    }
    for card in cards() {
        let main = card.shown.main;
        assert!(main.is_empty() || card.metric(main).is_some(), "{} has no metric {main}", card.name);
        assert!(card.role.rate().is_none_or(|rate| card.metric(rate).is_some()), "{}", card.name);
    }
}

#[test]
fn codes_are_unique_and_name_figures_of_their_card() {
    let mut codes = BTreeSet::new();
    for card in cards() {
        for code in card.shown.codes {
            assert!(codes.insert(code.code), "{} stands for two figures", code.code);
            assert!(code.code.bytes().all(|b| b.is_ascii_lowercase()), "{}", code.code);
            assert!(card.metric(code.metric).is_some(), "{} has no metric {}", card.name, code.metric);
            let params = Params::parse(code.params).expect("pairs");
            let full = card.resolve(&params).expect("parameters of the card");
            assert!(full.contains(&params), "{}: {} is not spelled as the card does", code.code, code.params);
        }
    }
}

/// The texts between two marks in the sources below a folder.
fn between(folder: &Path, head: &str, tail: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            between(&path, head, tail, found);
        } else {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let parts = text.split(head).skip(1).filter_map(|part| part.split(tail).next());
            found.extend(parts.map(str::to_owned));
        }
    }
}

#[test]
fn verdicts_and_reports_ask_for_parameters_that_exist() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut asked = BTreeSet::new();
    for one in ["verdict/src", "report/src", "model/src/names"] {
        between(&crates.join(one), "params.get(\"", "\"", &mut asked);
    }
    assert!(asked.len() > 10, "{asked:?}");
    // Stated by published studies beside a figure.
    let stated = ["dimms", "disks"];
    let known =
        |name: &String| stated.contains(&name.as_str()) || cards().any(|card| card.any_param(name).is_some());
    let unknown: Vec<&String> = asked.iter().filter(|name| !known(name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
