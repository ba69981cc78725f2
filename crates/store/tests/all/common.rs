//! Runs to store in tests.

use model::data::{Price, RunData, Status};
use model::failure::Failure;
use model::fault::FailedRequests;
use model::finding::{Finding, Told, Validity};
use model::frame::{OwnCost, Segment};
use model::plan::{Cell, Level, Plan, Takes};
use model::reading::{Phase, Reading, SeriesKey, Take, Value};
use model::{Better, Fact, Fault, FaultKind, Histogram, Note, NoteBody, Params, Unit};
use store::{NewRun, Origin, Store};

/// A fault of a kind with counts.
pub fn fault() -> Fault {
    let failed = FailedRequests { failure: Failure::Status5xx, status: Some(503), count: u64::MAX };
    Fault { kind: FaultKind::NoGoodAnswer(vec![failed]), text: "wrong sum".into() }
}

pub fn plan(seed: u64) -> Plan {
    Plan {
        seed,
        level: Level::Quick,
        warm_up: 1,
        budget_seconds: Some(120.1),
        ..Plan::bare(
            vec![Cell { instrument: "crc32c".into(), params: params("size=1KiB"), headline: vec![] }],
            Takes::Adaptive { quick: true, target: 0.02 },
        )
    }
}

pub fn params(text: &str) -> Params {
    Params::parse(text).unwrap()
}

pub fn key(metric: &str) -> SeriesKey {
    SeriesKey {
        instrument: "crc32c".into(),
        metric: metric.into(),
        unit: Unit::BytesPerSec,
        params: params("size=1KiB;threads=1"),
        arm: String::new(),
        definition: 1,
    }
}

pub fn number(metric: &str, value: f64) -> Reading {
    Reading { key: key(metric), better: Better::Higher, at_ns: 5, window_ns: 7, value: Value::Number(value) }
}

pub fn take(seq: u64, readings: Vec<Reading>) -> Take {
    Take {
        seq,
        block: 1,
        sitting: 0,
        phase: if seq == 0 { Phase::WarmUp } else { Phase::Measured },
        cell: 0,
        arm: 0,
        start_ns: seq * 100,
        end_ns: seq * 100 + 50,
        repeats: 1000,
        readings,
        refusals: vec![],
        notes: vec![],
        fault: None,
    }
}

pub fn segment(at_ns: u64) -> Segment {
    Segment {
        source: "cpu".into(),
        columns: vec![("user{cpu0}".into(), "ratio".into())],
        at_ns: vec![at_ns, at_ns + 1],
        rows: vec![vec![Some(0.5)], vec![None]],
    }
}

pub fn new_run(id: &str) -> NewRun {
    NewRun {
        id: id.into(),
        study: format!("study-{id}"),
        machine_id: "m1".into(),
        machine: "box".into(),
        label: Some("before".into()),
        price: Some(Price { amount: 0.192, hourly: true, currency: "USD".into() }),
        watts: Some(65.5),
        started_ns: 1_700_000_000_000_000_000,
        origin: Origin {
            hostname: "box".into(),
            boot_id: Some("b".into()),
            build: "0.1.0+abc".into(),
            target: "x86_64-unknown-linux-gnu".into(),
            clock_source: Some("tsc".into()),
        },
    }
}

pub fn facts() -> Vec<Fact> {
    vec![
        Fact::text("cpu.model", "Xeon X3470", "/proc/cpuinfo"),
        Fact::number("cpu.threads", 8.0, Unit::Count, "/sys/devices/system/cpu"),
        Fact::number("odd", f64::NEG_INFINITY, Unit::Hertz, "").because("caveat"),
        Fact::flag("cpu.turbo", true, "msr"),
        Fact::unknown("memory.mts", "dmidecode", "needs root: run with sudo"),
    ]
}

pub fn histogram() -> Histogram {
    let mut histogram = Histogram::default();
    [1, 1000, 5_000_000, u64::MAX].iter().for_each(|&ns| histogram.record(ns));
    histogram
}

/// A study and a run that has begun.
pub fn begin(store: &mut Store, id: &str) {
    store.begin_study(&format!("study-{id}"), &plan(7)).unwrap();
    store.begin_run(&new_run(id)).unwrap();
}

/// A finished run with one of everything.
pub fn full(store: &mut Store, id: &str) -> RunData {
    begin(store, id);
    store.put_facts(id, &facts()).unwrap();
    let mut first = take(0, vec![number("bandwidth", 1.5e9), number("bandwidth", 1.6e9)]);
    first.notes.push(NoteBody::remark("pinning", "cpu 0"));
    let mut second = take(1, vec![number("bandwidth", -0.0)]);
    second.readings.push(Reading {
        key: SeriesKey { unit: Unit::Second, arm: "thp=off".into(), ..key("latency") },
        better: Better::Lower,
        at_ns: 8,
        window_ns: 9,
        value: histogram().into(),
    });
    second.refusals.push(told("page-cache", Validity::Invalid, &[("bytes", 4096.0)]));
    let mut third = take(2, vec![]);
    third.fault = Some(fault());
    let note = Note::of_run(NoteBody::remark("doubt", "busy"));
    store.append_take(id, &first, &[segment(1)], &[]).unwrap();
    store.append_take(id, &second, &[], std::slice::from_ref(&note)).unwrap();
    store.append_take(id, &third, &[segment(3)], &[]).unwrap();
    let cost = OwnCost { agent_cpu_seconds: 0.25, telemetry_cpu_seconds: 0.125, seconds: 3.5 };
    store.finish(id, Status::Faulty, 4.25, Some(cost)).unwrap();
    store.load(id).unwrap()
}

/// A refusal with evidence.
pub fn told(kind: &str, state: Validity, evidence: &[(&str, f64)]) -> Finding {
    let evidence = evidence.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    Finding::new(Told { kind: kind.to_owned(), state, text: "no".to_owned(), evidence })
}
