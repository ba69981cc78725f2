//! What goes in comes out, bit for bit.

use super::Place;
use crate::common::{begin, facts, fault, full, histogram, key, new_run, number, plan, segment, take, told};
use model::data::{Price, RunData, Status};
use model::fact::config_class;
use model::finding::Validity;
use model::frame::TargetTelemetry;
use model::plan::{Plan, Takes, Target};
use model::reading::{Phase, Reading, SeriesKey, Value};
use model::traffic::{ServerGroup, Traffic};
use model::{Better, Fact, Note, NoteBody, Unit};
use proptest::prelude::*;
use store::{ClockOffset, Filter, Imported, MachineSheet, Mode, Store, Want, Which};

fn store() -> (Place, Store) {
    let place = Place::new();
    let store = Store::open(&place.path(), Mode::Create).unwrap();
    (place, store)
}

#[test]
fn everything_of_a_run_comes_back() {
    let (place, mut store) = store();
    let data = full(&mut store, "r1");
    assert_eq!(*data.plan, plan(7));
    assert_eq!(data.facts, facts());
    let head = &data.head;
    assert_eq!((head.status, head.takes, head.faults, head.seconds), (Status::Faulty, 3, 1, Some(4.25)));
    let figures = data.takes.iter().filter(|take| take.fault.is_none() && take.phase == Phase::Measured);
    assert_eq!(head.measured, figures.count() as u64);
    assert_eq!(store.heads(&Filter::default()).unwrap()[0].measured, head.measured);
    assert_eq!((head.machine.as_str(), head.build.as_str()), ("box", "0.1.0+abc"));
    assert_eq!(head.config_class, config_class(&facts()));
    assert_eq!(head.price, Some(Price { amount: 0.192, hourly: true, currency: "USD".into() }));
    assert_eq!((head.label.as_deref(), head.watts), (Some("before"), Some(65.5)));
    assert_eq!(data.own_cost.unwrap().telemetry_cpu_seconds, 0.125);
    assert_eq!(data.series.len(), 2);
    assert_eq!(data.series[0].key, key("bandwidth"));
    let numbers: Vec<u64> = data.series[0].points.iter().map(|p| p.number().unwrap().to_bits()).collect();
    assert_eq!(numbers, [1.5e9_f64, 1.6e9, -0.0].map(f64::to_bits));
    assert_eq!(data.series[0].points[0].phase, Phase::WarmUp);
    assert_eq!(data.series[0].points[2].phase, Phase::Measured);
    assert_eq!(data.series[1].key.arm, "thp=off");
    assert_eq!(data.series[1].points[0].value, Value::from(histogram()));
    assert_eq!(data.takes[2].fault, Some(fault()));
    assert_eq!(data.takes[1].refusals[0].evidence()["bytes"], 4096.0);
    assert_eq!(data.notes[0], Note { body: NoteBody::remark("pinning", "cpu 0"), at_ns: Some(0) });
    assert_eq!(data.notes[1], Note::of_run(NoteBody::remark("doubt", "busy")));
    assert_eq!(data.telemetry, [segment(1), segment(3)]);
    assert_eq!(store.origin("r1").unwrap(), new_run("r1").origin);
    assert_eq!(store.heads(&Filter::default()).unwrap(), std::slice::from_ref(&data.head));
    drop(store);
    let store = Store::open(&place.path(), Mode::ReadOnly).unwrap();
    assert_eq!(store.load("r1").unwrap(), data);
    let names: Vec<_> = std::fs::read_dir(place.side()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("journal")), "{names:?}");
}

#[test]
fn telemetry_of_targets_is_kept_apart_from_that_of_the_machine() {
    let (_dir, mut store) = store();
    let target = Target { at: Some("ssh a boxscore".into()), ..Target::new("a", "http://a/") };
    let plan = Plan { targets: vec![target], ..plan(7) };
    store.begin_study("study-r1", &plan).unwrap();
    store.begin_run(&new_run("r1")).unwrap();
    let of_a = TargetTelemetry { target: "a".into(), segment: segment(1) };
    store.append_telemetry("r1", &segment(1)).unwrap();
    store.append_target_telemetry("r1", &of_a).unwrap();
    store.finish("r1", Status::Complete, 1.0, None).unwrap();
    let data = store.load("r1").unwrap();
    assert_eq!((&data.telemetry[..], &data.target_telemetry[..]), (&[segment(1)][..], &[of_a][..]));
    // A run that is read without its telemetry still knows what its targets' hosts did.
    let light = store.load_light("r1").unwrap();
    assert_eq!((light.telemetry.len(), &light.target_telemetry), (0, &data.target_telemetry));
    // What comes in a second time is there already.
    let beside = Place::new();
    let mut other = Store::open(&beside.path(), Mode::Create).unwrap();
    other.import(std::slice::from_ref(&data), &[]).unwrap();
    other.import(std::slice::from_ref(&data), &[]).unwrap();
    assert_eq!(other.load("r1").unwrap().target_telemetry, data.target_telemetry);
}

#[test]
fn a_study_of_which_nothing_was_taken_is_taken_out() {
    let (_dir, mut store) = store();
    let kept = full(&mut store, "r1");
    begin(&mut store, "r2");
    store.put_facts("r2", &facts()).unwrap();
    let note = Note::of_run(NoteBody::ControllerCpu(0.1));
    store.note("r2", &note).unwrap();
    store.append_telemetry("r2", &segment(1)).unwrap();
    assert!(!store.discard("study-r2").unwrap(), "it has not ended");
    store.finish("r2", Status::Faulty, 1.0, None).unwrap();
    assert!(!store.discard("study-r1").unwrap(), "it has takes");
    assert!(store.discard("study-r2").unwrap());
    assert!(store.plan("study-r2").is_err() && store.load("r2").is_err());
    assert_eq!(store.heads(&Filter::default()).unwrap(), std::slice::from_ref(&kept.head));
    assert_eq!(store.load("r1").unwrap(), kept);
    // Its number may be given away again.
    full(&mut store, "r3");
}

#[test]
fn odd_numbers_survive() {
    let (_dir, mut store) = store();
    begin(&mut store, "r");
    let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, f64::MIN_POSITIVE / 2.0, f64::MAX];
    let mut all = take(1, odd.iter().map(|&value| number("m", value)).collect());
    all.seq = u64::MAX;
    (all.start_ns, all.end_ns, all.repeats, all.block, all.cell) =
        (u64::MAX, 1, u64::MAX, u32::MAX, u32::MAX);
    all.sitting = u32::MAX;
    all.readings[0].at_ns = u64::MAX;
    all.refusals = vec![told("k", Validity::Unknown, &[("a", f64::NAN), ("b", f64::INFINITY)])];
    store.append_take("r", &all, &[], &[]).unwrap();
    let data = store.load("r").unwrap();
    let points = &data.series[0].points;
    let bits: Vec<u64> = points.iter().map(|point| point.number().unwrap().to_bits()).collect();
    assert_eq!(bits, odd.map(f64::to_bits));
    assert_eq!((points[0].seq, points[0].at_ns, points[1].at_ns), (u64::MAX, u64::MAX, 5));
    let head = &data.takes[0];
    assert_eq!((head.start_ns, head.end_ns, head.repeats), (u64::MAX, 1, u64::MAX));
    assert_eq!((head.block, head.cell, head.sitting), (u32::MAX, u32::MAX, u32::MAX));
    assert_eq!(points[0].sitting, u32::MAX);
    assert!(head.refusals[0].evidence()["a"].is_nan() && head.refusals[0].evidence()["b"] == f64::INFINITY);
}

#[test]
fn a_plan_that_cannot_be_read_back_is_refused_at_once() {
    let (_dir, mut store) = store();
    let takes = Takes::Adaptive { quick: true, target: f64::NAN };
    let error = store.begin_study("s", &model::Plan { takes, ..plan(1) }).unwrap_err();
    assert_eq!(error.kind(), "store-data");
}

#[test]
fn facts_are_laid_over_earlier_ones_and_shared_between_runs() {
    let (_dir, mut store) = store();
    full(&mut store, "r1");
    full(&mut store, "r2");
    let changed = Fact::text("cpu.model", "Xeon E5620", "cpuid");
    store.put_facts("r2", &[changed.clone(), Fact::flag("new", false, "x")]).unwrap();
    assert_eq!(store.facts("r1").unwrap(), facts());
    let second = store.facts("r2").unwrap();
    assert_eq!((&second[0], second.len()), (&changed, facts().len() + 1));
    // Of 1,000 runs, those that are equal are in memory once.
    assert!(std::ptr::eq(&*store.facts("r1").unwrap()[1], &*second[1]));
    assert_eq!(store.class_facts("r2").unwrap().len(), 4);
    assert_eq!(store.load("r2").unwrap().head.config_class, config_class(&second));
}

#[test]
fn a_run_can_be_noted_priced_and_renamed_afterwards() {
    let (_dir, mut store) = store();
    full(&mut store, "r");
    let price = Price { amount: 429.0, hourly: false, currency: "EUR".into() };
    store.set_price("r", Some(&price)).unwrap();
    store.set_watts("r", None).unwrap();
    store.set_label("r", Some("after")).unwrap();
    let note = Note { body: NoteBody::User("new \u{0} DIMM".into()), at_ns: Some(9) };
    store.note("r", &note).unwrap();
    let offset = ClockOffset { at_ns: 1, offset_ns: -5, error_ns: 2 };
    store.add_clock_offset("r", &offset).unwrap();
    let data = store.load("r").unwrap();
    assert_eq!((data.head.price, data.head.watts), (Some(price), None));
    assert_eq!(data.head.label.as_deref(), Some("after"));
    assert_eq!(data.notes.last(), Some(&note));
    assert_eq!(store.clock_offsets("r").unwrap(), [offset]);
    assert_eq!(store.set_label("nobody", None).unwrap_err().to_string(), "no run is called `nobody`");
}

#[test]
fn only_what_is_wanted_is_loaded() {
    let (_dir, mut store) = store();
    let whole = full(&mut store, "r");
    let light = store.load_light("r").unwrap();
    assert_eq!(light, RunData { telemetry: vec![], ..whole.clone() });
    let rows = store.load_rows("r", &[key("bandwidth")]).unwrap();
    assert_eq!((rows.series.len(), rows.takes.len(), rows.facts.len()), (1, 0, facts().len()));
    let want = Want { series: Which::Rows, telemetry: false, rest: true };
    assert_eq!(store.load_with("r", want).unwrap(), light);
    let other = Filter { label: Some("before".into()), machine_id: Some("m2".into()), ..Filter::default() };
    assert!(store.heads(&other).unwrap().is_empty());
    let same = Filter { machine_id: Some("m1".into()), ..other };
    assert_eq!(store.heads(&same).unwrap(), [whole.head]);
}

#[test]
fn a_part_of_an_id_names_its_run() {
    let (_dir, mut store) = store();
    for id in ["019a-bb01-77aa", "019a-bb02-77bb"] {
        begin(&mut store, id);
    }
    assert_eq!(store.resolve("019A-BB02").unwrap(), "019a-bb02-77bb");
    assert_eq!(store.resolve("77aa").unwrap(), "019a-bb01-77aa");
    let many = store.resolve("019a").unwrap_err();
    assert_eq!(many.to_string(), "`019a` may be any of 2 runs: 019a-bb01-77aa, 019a-bb02-77bb");
    for none in ["", "-", "02-7", "%", "019b"] {
        assert_eq!(store.resolve(none).unwrap_err().kind(), "no-run", "{none}");
    }
}

#[test]
fn importing_twice_changes_nothing() {
    let (_a, mut from) = store();
    let runs = vec![full(&mut from, "r1"), full(&mut from, "r2")];
    let (_b, mut to) = store();
    full(&mut to, "r3");
    assert_eq!(to.import(&runs, &[]).unwrap(), Imported { runs: 2, takes: 6 });
    assert_eq!(to.import(&runs, &[]).unwrap(), Imported::default());
    assert_eq!(to.load("r1").unwrap(), runs[0]);
    assert_eq!(to.load("r2").unwrap(), runs[1]);
    assert_eq!(to.heads(&Filter::default()).unwrap().len(), 3);
}

#[test]
fn a_run_of_other_content_is_refused_and_nothing_is_added() {
    let (_a, mut from) = store();
    let run = full(&mut from, "r1");
    let second = full(&mut from, "r2");
    let (_b, mut to) = store();
    to.import(std::slice::from_ref(&run), &[]).unwrap();
    let refused = |to: &mut Store, changed: RunData, what: &str| {
        let error = to.import(&[second.clone(), changed], &[]).unwrap_err();
        assert_eq!(error.kind(), "run-differs");
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(to.heads(&Filter::default()).unwrap().len(), 1);
    };
    let change = |edit: &dyn Fn(&mut RunData)| {
        let mut run = run.clone();
        edit(&mut run);
        run
    };
    refused(&mut to, change(&|run| run.takes[1].end_ns += 1), "take 1");
    refused(&mut to, change(&|run| run.series[0].points[0].value = Value::Number(7.0)), "crc32c bandwidth");
    refused(&mut to, change(&|run| run.series[0].points.truncate(1)), "of take 0");
    refused(&mut to, change(&|run| run.head.started_ns += 1), "its start");
    refused(&mut to, change(&|run| run.facts[0] = Fact::text("cpu.model", "other", "")), "its facts");
    refused(&mut to, change(&|run| run.plan.seed += 1), "the plan of");
    // Label, price and notes may be changed at any time, and what is here stays.
    to.import(&[change(&|run| run.head.label = Some("other".into()))], &[]).unwrap();
    assert_eq!(to.load("r1").unwrap(), run);
}

#[test]
fn traffic_is_imported_once_and_leaves_with_its_study() {
    let (_dir, mut from) = store();
    let group =
        ServerGroup { label: "ssd".into(), bytes: 0.1, seconds: f64::MIN_POSITIVE, ..ServerGroup::default() };
    let traffic = Some(Traffic { group, ..Traffic::default() });
    let run = RunData { traffic: traffic.clone(), ..full(&mut from, "r1") };
    let (_dir, mut to) = store();
    to.import(std::slice::from_ref(&run), &[]).unwrap();
    to.import(std::slice::from_ref(&run), &[]).unwrap();
    assert_eq!(to.traffic("r1").unwrap(), traffic);
    assert_eq!(to.load("r1").unwrap(), run);
    assert_eq!(from.load("r1").unwrap().traffic, None);
    let bare = RunData { takes: Vec::new(), series: Vec::new(), ..run };
    let (_dir, mut other) = store();
    other.import(&[bare], &[]).unwrap();
    assert!(other.discard("study-r1").unwrap());
}

#[test]
fn origin_and_clock_offsets_are_imported() {
    let (_a, mut from) = store();
    full(&mut from, "r");
    from.add_clock_offset("r", &ClockOffset { at_ns: 1, offset_ns: -5, error_ns: 2 }).unwrap();
    let run = from.load("r").unwrap();
    assert_eq!((run.origin.hostname.as_str(), run.clock_offsets.len()), ("box", 1));
    let (_b, mut to) = store();
    to.import(std::slice::from_ref(&run), &[]).unwrap();
    assert_eq!(to.load("r").unwrap(), run);
    assert_eq!(to.origin("r").unwrap(), new_run("r").origin);
}

#[test]
fn a_run_imported_while_it_ran_is_completed_later() {
    let (_a, mut from) = store();
    begin(&mut from, "r");
    from.append_take("r", &take(0, vec![number("m", 1.0)]), &[segment(1)], &[]).unwrap();
    let (_b, mut to) = store();
    to.import(&[from.load("r").unwrap()], &[]).unwrap();
    assert_eq!(to.interrupted().unwrap().len(), 1);
    from.append_take("r", &take(1, vec![number("m", 2.0)]), &[segment(2)], &[]).unwrap();
    from.finish("r", Status::Complete, 2.0, None).unwrap();
    let whole = from.load("r").unwrap();
    assert_eq!(to.import(std::slice::from_ref(&whole), &[]).unwrap(), Imported { runs: 0, takes: 1 });
    assert_eq!(to.load("r").unwrap(), whole);
}

#[test]
fn machines_without_runs_have_sheets_and_facts() {
    let (_dir, mut store) = store();
    let mut sheet = MachineSheet {
        id: "sheet:r740".into(),
        name: "R740".into(),
        source: "sheets.csv".into(),
        facts: vec![Fact::number("cpu.threads", 64.0, Unit::Count, "sheets.csv")],
    };
    store.put_sheet(&sheet).unwrap();
    store.add_machine_facts("sheet:r740", &[Fact::text("pcie.slots", "1 (x16)", "by hand")]).unwrap();
    sheet.facts.push(Fact::text("pcie.slots", "1 (x16)", "by hand"));
    assert_eq!(store.sheets().unwrap(), std::slice::from_ref(&sheet));
    store.put_sheet(&sheet).unwrap();
    assert_eq!(store.sheets().unwrap(), [sheet]);
    assert_eq!(store.machine_facts("m1").unwrap(), []);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn any_text_and_number_comes_back(
        text in any::<String>(),
        pairs in proptest::collection::btree_map(any::<String>(), any::<String>(), 0..4),
        bits in proptest::collection::vec(any::<u64>(), 1..5),
        quoted in "['\"\\\\\u{0}%;-]{0,12}",
    ) {
        let (_dir, mut store) = store();
        let id = format!("{text}{quoted}");
        begin(&mut store, &id);
        let facts = [
            Fact::text(&*text, &*quoted, &*text).because(&*quoted),
            Fact::number("n", f64::from_bits(bits[0]), Unit::Watt, ""),
        ];
        store.put_facts(&id, &facts).unwrap();
        let key = SeriesKey {
            instrument: quoted.clone(),
            metric: text.clone(),
            unit: Unit::Hertz,
            params: pairs.into_iter().collect(),
            arm: quoted.clone(),
            definition: u32::MAX,
        };
        let reading = |bits: &u64| Reading {
            key: key.clone(),
            better: Better::Neither,
            at_ns: *bits,
            window_ns: *bits,
            value: Value::Number(f64::from_bits(*bits)),
        };
        let mut all = take(3, bits.iter().map(reading).collect());
        all.fault = Some(model::Fault::new(text.clone()));
        all.notes = vec![NoteBody::remark(&quoted, text.clone())];
        store.append_take(&id, &all, &[], &[]).unwrap();
        let data = store.load(&id).unwrap();
        prop_assert_eq!(&data.head.id, &id);
        prop_assert_eq!(&data.facts[0], &facts[0]);
        let number = data.facts[1].value.as_ref().and_then(|value| value.number()).unwrap();
        prop_assert!(number.to_bits() == bits[0] || number.is_nan() && f64::from_bits(bits[0]).is_nan());
        prop_assert_eq!(&data.series[0].key, &key);
        let back: Vec<u64> = data.series[0].points.iter().map(|p| p.number().unwrap().to_bits()).collect();
        prop_assert_eq!(back, bits);
        prop_assert_eq!(data.takes[0].fault.as_ref().map(model::Fault::as_str), Some(text.as_str()));
        prop_assert_eq!((data.notes[0].kind(), &*data.notes[0].text()), (quoted.as_str(), text.as_str()));
    }
}
