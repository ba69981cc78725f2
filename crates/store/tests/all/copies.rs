//! Copies of runs between stores of both kinds.

use model::data::{RunData, Status};
use model::frame::TargetTelemetry;
use model::plan::{Plan, Target};
use model::reading::{Reading, SeriesKey, Value};
use model::traffic::{ServerGroup, Traffic};
use model::{Better, Fact, Note, NoteBody, Unit};
use proptest::prelude::*;
use store::{Copied, Filter, MachineSheet, Mode, Store};

use crate::common::{begin, facts, full, key, new_run, number, plan, segment, take};
use crate::{postgres, sqlite};

/// A file, a server's store, and a file again.
fn three() -> (sqlite::Place, postgres::Place, [Store; 3]) {
    let (file, server) = (sqlite::Place::new(), postgres::Place::new());
    let open = |path: &std::path::Path| Store::open(path, Mode::Create).unwrap();
    let stores = [open(&file.path()), open(&server.path()), open(&file.other("c"))];
    (file, server, stores)
}

/// Copies all runs; says what each copy changed.
fn copy(from: &Store, to: &mut Store) -> Vec<Copied> {
    let heads = from.heads(&Filter { as_stored: true, ..Filter::default() }).unwrap();
    heads.iter().map(|head| to.copy(&from.load(&head.id).unwrap()).unwrap()).collect()
}

/// Everything of a store, with a value's bits: NaN equals itself.
fn contents(store: &Store) -> Vec<String> {
    let heads = store.heads(&Filter { as_stored: true, ..Filter::default() }).unwrap();
    heads.iter().map(|head| format!("{head:?} {:?}", store.load(&head.id).unwrap())).collect()
}

const NOTHING: Copied = Copied { is_new: false, takes: 0, notes: 0 };

#[test]
fn a_copy_over_a_server_and_back_is_the_same() {
    let (_file, _server, [mut a, mut b, mut c]) = three();
    let whole = full(&mut a, "r1");
    a.note("r1", &Note::of_run(NoteBody::remark("doubt", "busy"))).unwrap();
    a.set_hidden("r1", true).unwrap();
    full(&mut a, "r2");
    let target = Target { at: Some("ssh a boxscore".into()), ..Target::new("a", "http://a/") };
    a.begin_study("study-r3", &Plan { targets: vec![target], ..plan(7) }).unwrap();
    a.begin_run(&new_run("r3")).unwrap();
    a.append_target_telemetry("r3", &TargetTelemetry { target: "a".into(), segment: segment(1) }).unwrap();
    a.append_telemetry("r3", &segment(2)).unwrap();
    a.append_telemetry("r3", &segment(2)).unwrap();
    a.append_take("r3", &take(0, vec![number("m", f64::NAN), number("m", -0.0)]), &[], &[]).unwrap();
    a.finish("r3", Status::Interrupted, 2.0, None).unwrap();
    let group = ServerGroup { label: "ssd".into(), bytes: 0.1, ..ServerGroup::default() };
    let traffic = Some(Traffic { group, ..Traffic::default() });
    let logs = RunData { traffic, ..full(&mut b, "r4") };
    b.remove("r4").unwrap();
    a.import(&[logs], &[]).unwrap();
    let first = copy(&a, &mut b);
    assert_eq!(first.iter().map(|one| one.takes).collect::<Vec<_>>(), [3, 3, 1, 3]);
    assert!(first.iter().all(|one| one.is_new), "{first:?}");
    copy(&b, &mut c);
    assert_eq!(contents(&a), contents(&b));
    assert_eq!(contents(&a), contents(&c));
    assert_ne!(a.load("r1").unwrap(), whole, "it was noted and hidden");
    // Again, and all the way round: nothing changes.
    assert_eq!(copy(&a, &mut b), [NOTHING; 4]);
    assert_eq!(copy(&c, &mut a), [NOTHING; 4]);
    assert_eq!(contents(&a), contents(&b));
}

#[test]
fn what_came_later_is_added_and_what_differs_is_left() {
    let (_file, _server, [mut a, mut b, _]) = three();
    begin(&mut a, "r");
    a.append_take("r", &take(0, vec![number("m", 1.0)]), &[], &[]).unwrap();
    b.copy(&a.load("r").unwrap()).unwrap();
    b.set_label("r", Some("mine")).unwrap();
    a.append_take("r", &take(1, vec![number("m", 2.0)]), &[segment(1)], &[]).unwrap();
    a.finish("r", Status::Complete, 1.0, None).unwrap();
    a.note("r", &Note::of_run(NoteBody::remark("doubt", "x"))).unwrap();
    let run = a.load("r").unwrap();
    assert_eq!(b.copy(&run).unwrap(), Copied { is_new: false, takes: 1, notes: 1 });
    let there = b.load("r").unwrap();
    assert_eq!((there.head.status, there.head.takes, there.telemetry.len()), (Status::Complete, 2, 1));
    assert_eq!(there.head.label.as_deref(), Some("mine"));
    assert_eq!(there.series, run.series);
    let mut other = run.clone();
    other.takes[1].end_ns += 1;
    other.notes.push(Note::of_run(NoteBody::remark("doubt", "y")));
    assert_eq!(b.copy(&other).unwrap_err().kind(), "run-differs");
    assert_eq!(b.load("r").unwrap(), there);
}

#[test]
fn a_run_that_is_written_in_the_other_store_is_left_alone() {
    let (_file, server, [mut a, mut b, _]) = three();
    let run = full(&mut a, "r");
    begin(&mut b, "r");
    let mut third = Store::open(&server.path(), Mode::ReadWrite).unwrap();
    assert_eq!(third.copy(&run).unwrap_err().kind(), "run-busy");
}

#[test]
fn sheets_and_facts_of_machines_go_along() {
    let (_file, _server, [mut a, mut b, _]) = three();
    let sheet =
        |name: &str| MachineSheet { id: "s".into(), name: name.into(), source: "f".into(), facts: facts() };
    a.put_sheet(&sheet("R740")).unwrap();
    a.add_machine_facts("m1", &[Fact::text("pcie.slots", "1 (x16)", "by hand"), Fact::text("x", "1", "")])
        .unwrap();
    b.add_machine_facts("m1", &[Fact::text("x", "2", "")]).unwrap();
    b.copy_machines(&a).unwrap();
    assert_eq!(b.sheets().unwrap(), a.sheets().unwrap());
    let facts = b.machine_facts("m1").unwrap();
    assert_eq!((facts.len(), &facts[1]), (2, &Fact::text("x", "2", "")), "what is here stays");
    b.put_sheet(&sheet("mine")).unwrap();
    b.copy_machines(&a).unwrap();
    assert_eq!(b.sheets().unwrap()[0].name, "mine");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn any_run_is_the_same_after_two_copies(
        runs in proptest::collection::vec((any::<String>(), proptest::collection::vec(any::<u64>(), 1..6)), 1..4),
    ) {
        let (_file, _server, [mut a, mut b, mut c]) = three();
        for (n, (text, bits)) in runs.iter().enumerate() {
            let id = format!("{n}{text}");
            begin(&mut a, &id);
            a.put_facts(&id, &[Fact::text("k", text.as_str(), text.as_str())]).unwrap();
            let reading = |bits: &u64| Reading {
                key: SeriesKey { metric: text.clone(), unit: Unit::Hertz, ..key("m") },
                better: Better::Higher,
                at_ns: *bits,
                window_ns: *bits,
                value: Value::Number(f64::from_bits(*bits)),
            };
            let measured = take(bits[0] >> 40, bits.iter().map(reading).collect());
            a.append_take(&id, &measured, &[segment(bits[0] >> 1)], &[]).unwrap();
            a.finish(&id, Status::Complete, 1.0, None).unwrap();
        }
        copy(&a, &mut b);
        copy(&b, &mut c);
        prop_assert_eq!(contents(&a), contents(&b));
        prop_assert_eq!(contents(&a), contents(&c));
    }
}
