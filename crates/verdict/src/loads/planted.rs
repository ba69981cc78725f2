//! Runs with planted loads, for the tests of what is concluded from them.

use model::data::{Origin, Point, RunData, RunHead, Series, Status, TakeHead};
use model::plan::{Plan, Takes};
use model::{Better, Histogram, Params, Phase, SeriesKey, Unit, Value};

pub const TAKES: u64 = 8;

pub fn params(text: &str) -> Params {
    Params::parse(text).unwrap()
}

/// A run without anything.
pub fn empty() -> RunData {
    let plan = Plan::bare(Vec::new(), Takes::Fixed(8));
    let head = RunHead {
        id: "r".into(),
        study: "s".into(),
        status: Status::Complete,
        machine_id: "m".into(),
        machine: "m".into(),
        label: None,
        started_ns: 0,
        seconds: Some(10.0),
        build: "b".into(),
        config_class: "c".into(),
        price: None,
        watts: None,
        takes: 0,
        faults: 0,
        measured: 0,
        hidden: false,
    };
    RunData {
        head,
        origin: Origin::default(),
        clock_offsets: Vec::new(),
        plan: plan.into(),
        facts: Vec::new(),
        series: Vec::new(),
        takes: Vec::new(),
        notes: Vec::new(),
        telemetry: Vec::new(),
        target_telemetry: Vec::new(),
        traffic: None,
        own_cost: None,
    }
}

fn kind(metric: &str) -> (Unit, Better) {
    match metric {
        "throughput" | "slo-throughput" => (Unit::PerSec, Better::Higher),
        "bandwidth" | "rate" => (Unit::BytesPerSec, Better::Higher),
        "disk-reads" | "packets-out" | "packets-in" => (Unit::PerSec, Better::Neither),
        "disk-read-rate" | "disk-write-rate" => (Unit::BytesPerSec, Better::Neither),
        "iops" => (Unit::PerSec, Better::Higher),
        "response-time" | "response-time-p99" | "server-cpu" => (Unit::Second, Better::Lower),
        "response-times" | "service-times" | "late-p99" | "late-read" | "late-read-p99" | "generator-cpu" => {
            (Unit::Second, Better::Neither)
        }
        "answering-time" | "window" | "longest-stall" | "longest-stall-at" => (Unit::Second, Better::Neither),
        "failed"
        | "drops"
        | "requests"
        | "redirects"
        | "failed-statuses"
        | "longest-stall-waiting"
        | "silent-server-cores"
        | "in-flight" => (Unit::Count, Better::Neither),
        "error-rate" => (Unit::Ratio, Better::Lower),
        "watts" => (Unit::Watt, Better::Lower),
        "joules-per-request" => (Unit::Joule, Better::Lower),
        "level-rate" => (Unit::PerSec, Better::Neither),
        _ => (Unit::Ratio, Better::Neither),
    }
}

/// Numbers of new takes of a cell, of one second each.
pub fn takes(run: &mut RunData, arm: u32) -> Vec<u64> {
    let (first, cell) =
        (run.takes.len() as u64, run.takes.iter().map(|take| take.cell + 1).max().unwrap_or(0));
    let seqs: Vec<u64> = (first..first + TAKES).collect();
    run.takes.extend(seqs.iter().map(|&seq| TakeHead {
        seq,
        block: u32::try_from(seq - first).unwrap(),
        sitting: 0,
        phase: Phase::Measured,
        cell,
        arm,
        start_ns: seq * 1_000_000_000,
        end_ns: seq * 1_000_000_000 + 900_000_000,
        repeats: 1,
        fault: None,
        refusals: Vec::new(),
    }));
    seqs
}

/// Adds a series of an instrument over these takes.
pub fn series(
    run: &mut RunData,
    instrument: &str,
    metric: &str,
    params: Params,
    arm: &str,
    points: &[(u64, Value)],
) {
    let (unit, better) = kind(metric);
    let key = SeriesKey {
        instrument: instrument.into(),
        metric: metric.into(),
        unit,
        params,
        arm: arm.into(),
        definition: 1,
    };
    let block = |seq: u64| u32::try_from(seq % TAKES).unwrap();
    let points = points.iter().map(|(seq, value)| Point {
        seq: *seq,
        block: block(*seq),
        sitting: 0,
        phase: Phase::Measured,
        at_ns: seq * 1_000_000_000,
        window_ns: 900_000_000,
        value: value.clone(),
    });
    run.series.push(Series { key, better, points: points.collect() });
}

/// Adds the takes of one load. A figure is `metric` or `metric;part=value`; the same in every take but for the last
/// digits.
pub fn load_in(run: &mut RunData, arm: (u32, &str), given: &str, figures: &[(&str, f64)]) -> Vec<u64> {
    let seqs = takes(run, arm.0);
    let given = params(given);
    for (name, value) in figures {
        let (metric, part) = name.split_once(';').unwrap_or((name, ""));
        let near = |seq: u64| Value::Number(value * (1.0 + 1e-5 * (seq * 7 % 5) as f64));
        let points: Vec<(u64, Value)> = seqs.iter().map(|&seq| (seq, near(seq))).collect();
        series(run, "web", metric, given.with(&params(part)), arm.1, &points);
    }
    seqs
}

pub fn load(run: &mut RunData, given: &str, figures: &[(&str, f64)]) -> Vec<u64> {
    load_in(run, (0, ""), given, figures)
}

/// A run with one load.
pub fn one(given: &str, figures: &[(&str, f64)]) -> RunData {
    let mut run = empty();
    load(&mut run, given, figures);
    run
}

/// Adds times to a load: of each take `count` requests of these many microseconds each.
pub fn times(run: &mut RunData, seqs: &[u64], metric: &str, given: &str, microseconds: &[(u64, u64)]) {
    let mut histogram = Histogram::default();
    for (time, count) in microseconds {
        histogram.record_n(time * 1000, *count);
    }
    let points: Vec<(u64, Value)> = seqs.iter().map(|seq| (*seq, Value::from(histogram.clone()))).collect();
    series(run, "web", metric, params(given), "", &points);
}
