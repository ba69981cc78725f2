//! The round trip keeps every bit; any text is runs or an error.

use std::collections::BTreeMap;

use model::failure::Failure;
use model::fault::FailedRequests;
use model::finding::Told;
use model::traffic::ServerGroup;
use proptest::prelude::*;

use model::{Fault, FaultKind, Finding, Histogram, Phase, Validity, Value};

use super::*;

fn traffic(label: &str) -> Traffic {
    let group = ServerGroup { label: label.to_owned(), bytes: 0.1, ..ServerGroup::default() };
    Traffic { group, ..Traffic::default() }
}

fn fault(text: &str) -> Fault {
    let failed = FailedRequests { failure: Failure::Status5xx, status: Some(503), count: u64::MAX };
    Fault { kind: FaultKind::NoGoodAnswer(vec![failed]), text: text.to_owned() }
}

fn key(text: &str) -> SeriesKey {
    SeriesKey {
        instrument: "crc32c".into(),
        metric: text.into(),
        unit: Unit::BytesPerSec,
        params: Params::parse("size=1KiB").unwrap(),
        arm: text.into(),
        definition: 1,
    }
}

fn origin(text: &str) -> Origin {
    Origin {
        hostname: text.into(),
        boot_id: Some(text.into()),
        build: "b".into(),
        target: "t".into(),
        clock_source: None,
    }
}

fn told(text: &str, x: f64) -> Finding {
    let evidence = BTreeMap::from([("x".to_owned(), x)]);
    Finding::new(Told {
        kind: "clock".to_owned(),
        state: Validity::Doubtful,
        text: text.to_owned(),
        evidence,
    })
}

fn segment(text: &str, value: f64) -> Segment {
    Segment {
        source: "cpu".into(),
        columns: vec![("user".into(), "ratio".into()), (text.into(), "1".into())],
        at_ns: vec![7],
        rows: vec![vec![Some(value), None]],
    }
}

fn run(values: &[u64], text: &str, recorded: &[u64]) -> RunData {
    let plan = Plan { seed: u64::MAX, ..Plan::bare(Vec::new(), model::plan::Takes::Fixed(3)) };
    let number = |index: usize| f64::from_bits(values[index % values.len()]);
    let mut histogram = Histogram::default();
    recorded.iter().for_each(|ns| histogram.record(*ns));
    let point = |(seq, bits): (usize, &u64)| Point {
        seq: seq as u64,
        block: 1,
        sitting: 3,
        phase: if seq == 0 { Phase::WarmUp } else { Phase::Measured },
        at_ns: *bits,
        window_ns: 1,
        value: Value::Number(f64::from_bits(*bits)),
    };
    let mut points: Vec<Point> = values.iter().enumerate().map(point).collect();
    points.push(Point { value: histogram.into(), ..points[0].clone() });
    let facts = vec![
        Fact::number("a", number(0), Unit::Count, text),
        Fact::text("b", text, ""),
        Fact::flag("c", true, ""),
        Fact::unknown("d", "", text),
    ];
    RunData {
        head: RunHead {
            id: "0198".into(),
            study: "s".into(),
            status: Status::Faulty,
            machine_id: text.into(),
            machine: "m".into(),
            label: Some(text.into()),
            started_ns: i64::MIN,
            seconds: Some(number(2)),
            build: "b".into(),
            config_class: model::fact::config_class(&facts),
            price: Some(Price { amount: number(3), hourly: true, currency: "EUR".into() }),
            watts: None,
            takes: 1,
            faults: 1,
            measured: 0,
            hidden: false,
        },
        origin: origin(text),
        clock_offsets: vec![ClockOffset { at_ns: u64::MAX, offset_ns: i64::MIN, error_ns: 1 }],
        plan: plan.into(),
        facts,
        series: vec![Series { key: key(text), better: Better::Higher, points }],
        takes: vec![TakeHead {
            seq: u64::MAX,
            block: 0,
            sitting: 3,
            phase: Phase::WarmUp,
            cell: 0,
            arm: 0,
            start_ns: 0,
            end_ns: 1,
            repeats: 1,
            fault: Some(fault(text)),
            refusals: vec![told(text, number(1))],
        }],
        notes: vec![Note { body: model::NoteBody::User(text.into()), at_ns: Some(u64::MAX) }],
        telemetry: vec![segment(text, number(0))],
        target_telemetry: vec![TargetTelemetry { target: text.into(), segment: segment(text, number(1)) }],
        traffic: Some(traffic(text)),
        own_cost: Some(OwnCost { agent_cpu_seconds: number(1), ..OwnCost::default() }),
    }
}

proptest! {
    #[test]
    fn every_bit_comes_back(
        values in proptest::collection::vec(any::<u64>(), 1..6),
        text in any::<String>(),
        recorded in proptest::collection::vec(any::<u64>(), 0..5),
    ) {
        let run = run(&values, &text, &recorded);
        let once = write(std::slice::from_ref(&run)).unwrap();
        let back = document("x.json", &once).unwrap();
        prop_assert_eq!(write(&back).unwrap(), once);
        let bits = |run: &RunData| -> Vec<Option<u64>> {
            run.series[0].points.iter().map(|point| point.number().map(f64::to_bits)).collect()
        };
        prop_assert_eq!(bits(&back[0]), bits(&run));
        prop_assert_eq!(&back[0].takes[0].fault, &run.takes[0].fault);
        prop_assert_eq!(&back[0].notes, &run.notes);
        prop_assert_eq!(&back[0].traffic, &run.traffic);
        prop_assert_eq!(&back[0].origin, &run.origin);
        prop_assert_eq!(&back[0].clock_offsets, &run.clock_offsets);
    }

    #[test]
    fn any_text_is_runs_or_an_error(text in any::<String>()) {
        prop_assert!(document("x.json", &text).is_err());
    }

    #[test]
    fn damage_is_an_error_or_runs_and_never_a_panic(at in any::<prop::sample::Index>(), with in 0u8..128) {
        let mut bytes = write(&[run(&[0x7ff8_0000_0000_0001], "t", &[5])]).unwrap().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = with;
        if let Ok(text) = String::from_utf8(bytes) {
            let _ = document("x.json", &text);
        }
    }
}

#[test]
fn errors_say_where() {
    let said = |text: &str| document("x.json", text).unwrap_err().to_string();
    assert_eq!(said("{\n \"schema\": }"), "x.json:2:12: expected value");
    assert!(said("{\"schema\": \"boxscore.export/9\"}").contains("`boxscore.export/9`"));
    assert!(said("{}").contains("not an export of boxscore"));
    assert_eq!(said("{\"schema\": \"boxscore.export/1\"}"), "x.json:1:31: missing field `runs`");
}
