//! What goes in comes out, bit for bit.

mod common;

use common::{facts, full, histogram, key, new_run, plan, segment};
use model::data::{Note, Price, Status};
use model::fact::config_class;
use model::reading::{Phase, Value};
use store::{Filter, Mode, Store};

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(&dir.path().join("a.db"), Mode::Create).unwrap();
    (dir, store)
}

#[test]
fn everything_of_a_run_comes_back() {
    let (dir, mut store) = store();
    let data = full(&mut store, "r1");
    assert_eq!(data.plan, plan(7));
    assert_eq!(data.facts, facts());
    let head = &data.head;
    assert_eq!((head.status, head.takes, head.faults, head.seconds), (Status::Faulty, 3, 1, Some(4.25)));
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
    assert_eq!(data.series[1].points[0].value, Value::Histogram(histogram()));
    assert_eq!(data.takes[2].fault.as_deref(), Some("wrong sum"));
    assert_eq!(data.takes[1].refusals[0].evidence["bytes"], 4096.0);
    assert_eq!(data.notes[0], Note { kind: "pinning".into(), text: "cpu 0".into(), at_ns: Some(0) });
    assert_eq!(data.notes[1], Note { kind: "doubt".into(), text: "busy".into(), at_ns: None });
    assert_eq!(data.telemetry, [segment(1), segment(3)]);
    assert_eq!(store.origin("r1").unwrap(), new_run("r1").origin);
    assert_eq!(store.heads(&Filter::default()).unwrap(), [data.head.clone()]);
    drop(store);
    let store = Store::open(&dir.path().join("a.db"), Mode::ReadOnly).unwrap();
    assert_eq!(store.load("r1").unwrap(), data);
    let names: Vec<_> = std::fs::read_dir(dir.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(!names.iter().any(|name| name.to_string_lossy().contains("journal")), "{names:?}");
}
