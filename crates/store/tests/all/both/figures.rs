//! Which runs a figure is found in: the same from the sets that runs refer to as from their series.

use super::Place;
use crate::common::{begin, fault, key, number, take};
use model::Better;
use model::data::Status;
use model::plan::Level;
use model::reading::{Phase, Reading, Take};
use store::{Filter, Mode, Store};

/// A run that measured these figures.
fn run(store: &mut Store, id: &str, metrics: &[&str], ends: bool) {
    begin(store, id);
    let readings = metrics.iter().map(|metric| number(metric, 1.0)).collect();
    store.append_take(id, &take(1, readings), &[], &[]).unwrap();
    if ends {
        store.finish(id, Status::Complete, 1.0, None).unwrap();
    }
}

fn newest(store: &Store, most: usize) -> Vec<String> {
    let runs: Vec<String> = ["e", "d", "c", "b", "a"].map(String::from).to_vec();
    store.newest_with(&runs, None, most).unwrap()
}

#[test]
fn the_newest_runs_of_each_figure_are_found() {
    let place = Place::new();
    let mut store = Store::open(&place.path(), Mode::Create).unwrap();
    run(&mut store, "a", &["rare", "bandwidth"], true);
    run(&mut store, "b", &["bandwidth"], true);
    run(&mut store, "c", &["bandwidth"], true);
    run(&mut store, "d", &["bandwidth", "latency"], true);
    // Not ended, so that it has no set.
    run(&mut store, "e", &["latency"], false);
    assert_eq!(newest(&store, 1), ["e", "d", "a"]);
    assert_eq!(newest(&store, 2), ["e", "d", "c", "a"]);
    assert_eq!(newest(&store, 9), ["e", "d", "c", "b", "a"]);
    let wanted = [key("rare")];
    assert_eq!(store.newest_with(&["d".into(), "a".into()], Some(&wanted), 9).unwrap(), ["a"]);
    assert!(store.newest_with(&["none".into()], None, 1).is_err());
}

#[test]
fn neither_warm_up_nor_conditions_nor_failed_takes_are_figures() {
    let place = Place::new();
    let mut store = Store::open(&place.path(), Mode::Create).unwrap();
    begin(&mut store, "a");
    let first = Take { phase: Phase::WarmUp, ..take(0, vec![number("warm", 1.0)]) };
    let condition = Reading { better: Better::Neither, ..number("clock", 1.0) };
    let failed = Take { fault: Some(fault()), ..take(2, vec![]) };
    for take in [first, take(1, vec![condition]), failed] {
        store.append_take("a", &take, &[], &[]).unwrap();
    }
    store.finish("a", Status::Faulty, 1.0, None).unwrap();
    assert!(store.newest_with(&["a".into()], None, 9).unwrap().is_empty());
}

#[test]
fn what_a_resumed_run_adds_is_found_before_and_after_its_end() {
    let place = Place::new();
    let mut store = Store::open(&place.path(), Mode::Create).unwrap();
    run(&mut store, "a", &["bandwidth"], true);
    run(&mut store, "b", &["bandwidth"], true);
    let runs = ["b".to_owned(), "a".to_owned()];
    let with = |store: &Store| store.newest_with(&runs, Some(&[key("latency")]), 1).unwrap();
    assert!(with(&store).is_empty());
    store.claim("a").unwrap();
    store.append_take("a", &take(2, vec![number("latency", 1.0)]), &[], &[]).unwrap();
    assert_eq!(with(&store), ["a"]);
    store.finish("a", Status::Complete, 2.0, None).unwrap();
    assert_eq!(with(&store), ["a"]);
    // A run that leaves takes no set of another with it.
    store.remove("b").unwrap();
    assert_eq!(store.newest_with(&runs[1..], None, 1).unwrap(), ["a"]);
}

#[test]
fn runs_are_found_by_place_and_by_name() {
    let place = Place::new();
    let mut store = Store::open(&place.path(), Mode::Create).unwrap();
    assert!(store.is_empty().unwrap() && store.last_heads(3).unwrap().is_empty());
    for id in ["a", "b", "c"] {
        run(&mut store, id, &["bandwidth"], true);
    }
    store.set_label("c", Some("after")).unwrap();
    let ids = |heads: Vec<model::data::RunHead>| heads.into_iter().map(|head| head.id).collect::<Vec<_>>();
    assert!(!store.is_empty().unwrap());
    assert_eq!(ids(store.last_heads(2).unwrap()), ["b", "c"]);
    assert_eq!(ids(store.last_heads(9).unwrap()), ["a", "b", "c"]);
    assert_eq!(store.head("b").unwrap().id, "b");
    assert_eq!(store.head("none").unwrap_err().kind(), "no-run");
    let named =
        |name: &str| ids(store.heads(&Filter { named: Some(name.to_owned()), ..Filter::default() }).unwrap());
    assert_eq!((named("before"), named("after")), (vec!["a".into(), "b".into()], vec!["c".to_owned()]));
    assert_eq!((named("box").len(), named("m1").len(), named("Box").len()), (3, 3, 0));
}

#[test]
fn studies_are_found_by_a_value_of_their_plan() {
    let place = Place::new();
    let mut store = Store::open(&place.path(), Mode::Create).unwrap();
    for (study, via) in [("one", "50%_\"quoted\""), ("two", "50x_\"quoted\"")] {
        let via = model::plan::Via { name: via.to_owned(), command: None };
        let plan = model::Plan { machines: vec![via].into(), ..crate::common::plan(1) };
        store.begin_study(study, &plan).unwrap();
    }
    let of = |text: &str| store.studies_that_name(text).unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!(of("50%_\"quoted\""), ["one"]);
    assert_eq!(of("50x_\"quoted\""), ["two"]);
    assert!(of("50").is_empty());
}

#[test]
fn studies_of_a_level_are_found_among_many() {
    let place = Place::new();
    let mut store = Store::open(&place.path(), Mode::Create).unwrap();
    // More than one statement asks for.
    let studies: Vec<String> = (0..450).map(|number| format!("study-{number:03}")).collect();
    for (number, study) in studies.iter().enumerate() {
        let level = if number % 200 == 7 { Level::Soak } else { Level::Quick };
        let label = Some(r#""level":"soak""#.to_owned());
        store.begin_study(study, &model::Plan { level, label, ..crate::common::plan(1) }).unwrap();
    }
    let names: Vec<&str> = studies.iter().map(String::as_str).collect();
    let of = |level: Level| store.studies_of_level(&names, level).unwrap().into_iter().collect::<Vec<_>>();
    assert_eq!(of(Level::Soak), ["study-007", "study-207", "study-407"]);
    assert_eq!(of(Level::Quick).len(), 447);
    assert_eq!(store.studies_of_level(&["none", "study-007"], Level::Soak).unwrap().len(), 1);
    assert!(store.studies_of_level(&[], Level::Soak).unwrap().is_empty());
}
