//! Checks of every card: nobody but the card says how an instrument's figures are shown.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use model::{By, Cadence, Card, Flag, Means, Need, ParamSpec, Params, Part, Role, Samples};

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
fn no_index_counts_a_quantity_as_a_time_and_as_a_rate() {
    use model::{Scope, Unit};
    for card in cards().filter(|card| card.has_scopes()) {
        for threads in ["1", "all"] {
            let params = Params::parse(&format!("threads={threads}")).expect("a pair");
            let units = |scope: Scope| -> BTreeSet<bool> {
                let own = card.metrics.iter().filter(|one| card.scope(one.name, &params) == Some(scope));
                own.map(|one| one.unit == Unit::Second).collect()
            };
            let mixed = Scope::ALL.into_iter().any(|scope| units(scope).len() > 1);
            assert!(!mixed, "{}: threads={threads} has times and rates in one index", card.name);
        }
    }
}

#[test]
fn codes_are_unique_and_name_figures_of_their_card() {
    let mut codes = BTreeSet::new();
    for card in cards() {
        for code in card.shown.codes {
            assert!(codes.insert(code.code), "{} stands for two figures", code.code);
            assert!(code.code.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{}", code.code);
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

/// Parameters that an option sets.
fn set_by(flag: &Flag) -> Vec<&'static str> {
    match flag.means {
        Means::Param(param)
        | Means::Each(param)
        | Means::Lines(param)
        | Means::Path(param)
        | Means::Child(param) => vec![param],
        Means::Mix { name, content: (content, _), .. } | Means::Tree { name, content: (content, _) } => {
            vec![name, content]
        }
        Means::Read(read) => {
            let all = ["p99=10ms", "100", "ramcloud:tcp:host=a,port=1", "hdfs://a:8020"]
                .into_iter()
                .filter_map(|text| read(text).ok());
            let keys: Vec<&str> = all.flatten().map(|(key, _)| key).collect();
            assert!(!keys.is_empty(), "--{} reads nothing", flag.long);
            keys
        }
        Means::Chooses(sets) => sets.iter().map(|(key, _)| *key).collect(),
        Means::Profile | Means::Ceilings | Means::Tests => Vec::new(),
    }
}

#[test]
fn options_set_parameters_of_their_card_and_mean_one_thing_in_a_family() {
    for card in cards() {
        let mut longs = BTreeSet::new();
        for flag in card.all_flags() {
            let what = format!("{} --{}", card.name, flag.long);
            assert!(longs.insert(flag.long), "{what} stands twice");
            assert!(!flag.says.is_empty(), "{what} has no help");
            let is_as_meant = match flag.means {
                Means::Ceilings | Means::Chooses(None) => flag.value_name.is_empty(),
                Means::Chooses(Some(_)) => true,
                _ => !flag.value_name.is_empty(),
            };
            assert!(is_as_meant, "{what}");
            for param in set_by(flag) {
                assert!(card.param(param).is_some(), "{what} sets {param}, which the card does not have");
            }
            for other in cards().filter(|other| other.family == card.family) {
                let says = other.flag(flag.long).map(|other| (other.says, other.value_name));
                assert!(
                    says.is_none_or(|says| says == (flag.says, flag.value_name)),
                    "{what} and {}",
                    other.name
                );
            }
        }
    }
}

#[test]
fn tests_and_examples_are_of_their_card() {
    let mut names = BTreeSet::new();
    for card in cards() {
        for test in card.tests {
            assert!(names.insert(test.name), "{} is the name of two tests", test.name);
            let params = Params::parse(test.params).expect("pairs");
            let full = card.resolve(&params).expect("parameters of the card");
            assert!(full.contains(&params), "{}: {} is not spelled as the card does", test.name, test.params);
        }
        for example in card.examples {
            let words: Vec<&str> = example.command.split_whitespace().collect();
            let named = words.iter().skip_while(|word| **word != "run").nth(1).copied().unwrap_or_default();
            // A command of the user's is named by itself.
            let is_command = card.needs.contains(&Need::Command) && named == "--cmd";
            let is_its = is_command || [card.name, card.family.name()].contains(&named);
            assert!(is_its, "{}: {}", card.name, example.command);
            assert!(!example.says.is_empty(), "{}", example.command);
        }
    }
}

#[test]
fn a_search_has_the_parameters_of_its_load_but_for_the_schedule() {
    for card in cards() {
        let Role::Search { load, .. } = card.role else { continue };
        let load = model::card::find(instruments::cards(), load).expect("a card");
        assert!(matches!(load.role, Role::Load { .. }), "{} searches for {}", card.name, load.name);
        let scheduled = |spec: &&ParamSpec| spec.part == Part::Schedule;
        assert!(
            load.params.iter().any(|spec| scheduled(&spec))
                && !card.params.iter().any(|spec| scheduled(&spec))
        );
        for spec in load.params {
            // How requests arrive is a part of the schedule that a search leaves to the user.
            let is_left = spec.name == "arrivals";
            assert_eq!(
                card.param(spec.name).is_none(),
                scheduled(&spec) && !is_left,
                "{} {}",
                card.name,
                spec.name
            );
        }
    }
}

#[test]
fn values_that_parts_and_implications_name_are_possible() {
    for card in cards() {
        for spec in card.params {
            let what = format!("{} {}", card.name, spec.name);
            if let Part::Address { ours } = spec.part {
                assert!(ours.contains(&spec.default), "{what}");
                assert!(ours.iter().all(|value| spec.canonical(value).is_ok()), "{what}");
            }
            if spec.part == Part::Server {
                let is_address = |spec: &ParamSpec| matches!(spec.part, Part::Address { .. });
                assert!(card.params.iter().any(is_address), "{what}: no parameter says where the server is");
            }
            if let Some(implied) = spec.implies {
                let other = card.param(implied.param).expect("a parameter of the card");
                assert!(other.canonical(implied.value).is_ok() && !implied.why.is_empty(), "{what}");
            }
        }
        let is_load = card.params.iter().any(|spec| spec.part == Part::Schedule);
        assert_eq!(is_load, matches!(card.role, Role::Load { .. }), "{}: its role", card.name);
    }
}
