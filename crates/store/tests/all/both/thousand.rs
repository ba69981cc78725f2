//! A store of a thousand runs: what a listing and a comparison read of it is bounded by what they ask for.
//!
//! Times and sizes are printed, not asserted: tests run on loaded machines.

use std::time::Instant;

use super::Place;
use crate::common::{new_run, plan, take};
use model::data::{Point, RunData, RunHead, Series, Status, TakeHead};
use model::frame::Segment;
use model::reading::{Phase, SeriesKey, Value};
use model::{Better, Fact, Params, Unit};
use store::{Filter, Imported, Mode, Store, Want, Which};

const RUNS: u64 = Place::MANY;
const CELLS: u64 = 20;
const TAKES: u64 = 15;
const FACTS: usize = 120;
const MACHINES: u64 = 25;

/// Two series a cell: the row, and a condition.
fn key(cell: u64, metric: &str) -> SeriesKey {
    SeriesKey {
        instrument: format!("instrument-{}", cell / 4),
        metric: metric.into(),
        unit: Unit::BytesPerSec,
        params: Params::parse(&format!("size={cell}KiB;threads=1;impl=fast")).unwrap(),
        arm: String::new(),
        definition: 1,
    }
}

fn series(cell: u64, metric: &str, better: Better, run: u64) -> Series {
    let point = |n: u64| Point {
        seq: n * CELLS + cell,
        block: n as u32,
        sitting: 0,
        phase: Phase::Measured,
        at_ns: (n * CELLS + cell) * 50_000_000,
        window_ns: 50_123_456,
        value: Value::Number((run * 1000 + n) as f64 / 7.0),
    };
    Series { key: key(cell, metric), better, points: (0..TAKES).map(point).collect() }
}

fn head_of_take(seq: u64) -> TakeHead {
    let bare = take(seq, vec![]);
    let phase = Phase::Measured;
    let (block, cell) = ((seq / CELLS) as u32, (seq % CELLS) as u32);
    let (start_ns, end_ns) = (seq * 50_000_000, seq * 50_000_000 + 50_123_456);
    TakeHead {
        seq,
        block,
        sitting: 0,
        phase,
        cell,
        arm: 0,
        start_ns,
        end_ns,
        repeats: bare.repeats,
        fault: None,
        refusals: vec![],
    }
}

fn telemetry() -> Segment {
    let columns = (0..20).map(|n| (format!("user{{cpu{n}}}"), "ratio".to_owned())).collect();
    let rows = (0..60).map(|n| vec![Some(f64::from(n) / 61.0); 20]).collect();
    Segment { source: "cpu".into(), columns, at_ns: (0..60).map(|n| n * 1_000_000_000).collect(), rows }
}

fn run(n: u64) -> RunData {
    let machine = n % MACHINES;
    let begun = new_run(&format!("019a0000-0000-7000-8000-{n:012x}"));
    let mut facts: Vec<Fact> = (0..FACTS)
        .map(|key| {
            Fact::text(
                format!("group.key{key}"),
                format!("value {key} of {machine}"),
                "/sys/devices/system/x",
            )
        })
        .collect();
    facts[0] = Fact::number("uptime", n as f64, Unit::Second, "/proc/uptime");
    let both =
        |cell| [series(cell, "bandwidth", Better::Higher, n), series(cell, "clock", Better::Neither, n)];
    RunData {
        head: RunHead {
            id: begun.id,
            study: format!("study-{n}"),
            status: Status::Complete,
            machine_id: format!("machine-{machine}"),
            machine: format!("box{machine}"),
            label: None,
            started_ns: n as i64,
            seconds: Some(100.0),
            build: begun.origin.build.clone(),
            config_class: String::new(),
            price: None,
            watts: None,
            takes: CELLS * TAKES,
            faults: 0,
            measured: CELLS * TAKES,
            hidden: false,
        },
        origin: begun.origin.clone(),
        clock_offsets: vec![],
        plan: plan(n).into(),
        facts,
        series: (0..CELLS).flat_map(both).collect(),
        takes: (0..CELLS * TAKES).map(head_of_take).collect(),
        notes: vec![],
        telemetry: vec![telemetry()],
        target_telemetry: Vec::new(),
        traffic: None,
        own_cost: None,
    }
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = work();
    eprintln!("{what}: {:.3} s", start.elapsed().as_secs_f64());
    done
}

#[test]
fn a_thousand_runs_stay_quick_to_list_and_compare() {
    let place = Place::new();
    let path = place.path();
    let mut store = Store::open(&path, Mode::Create).unwrap();
    timed("fill", || {
        for first in (0..RUNS).step_by(50) {
            let runs: Vec<RunData> = (first..first + 50).map(run).collect();
            let imported = store.import(&runs, &[]).unwrap();
            assert_eq!(imported, Imported { runs: 50, takes: 50 * CELLS * TAKES });
        }
    });
    timed("close", || store.close().unwrap());
    eprintln!("{} KiB a run", place.bytes() / RUNS / 1024);

    let store = timed("open", || Store::open(&path, Mode::ReadWrite).unwrap());
    let heads = timed("list heads", || store.heads(&Filter::default()).unwrap());
    assert_eq!(heads.len() as u64, RUNS);
    assert!(heads.iter().all(|head| head.takes == CELLS * TAKES && head.status == Status::Complete));
    assert_eq!(store.resolve(&format!("0000{:04x}", RUNS - 1)).unwrap(), heads.last().unwrap().id);

    let of = |machine: &str| -> Vec<String> {
        let filter = Filter { machine_id: Some(machine.into()), ..Filter::default() };
        store.heads(&filter).unwrap().into_iter().map(|head| head.id).collect()
    };
    let ids = timed("heads of two machines", || [of("machine-3"), of("machine-4")].concat());
    assert_eq!(ids.len() as u64, 2 * RUNS / MACHINES);
    let headline: Vec<SeriesKey> = (0..15).map(|cell| key(cell, "bandwidth")).collect();
    let load = |id: &String| store.load_rows(id, &headline).unwrap();
    let rows: Vec<RunData> =
        timed("headline rows of all runs of two machines", || ids.iter().map(load).collect());
    assert!(rows.iter().all(|run| run.series.len() == 15 && run.facts.len() == FACTS));
    assert!(rows.iter().all(|run| run.telemetry.is_empty() && run.takes.is_empty()));
    assert!(rows.iter().flat_map(|run| &run.series).all(|series| series.points.len() as u64 == TAKES));
    let all = timed("two whole runs", || store.load_many(&ids[..2]).unwrap());
    assert_eq!(all[1].head.id, ids[1]);
    assert_eq!((all[0].series.len() as u64, all[0].takes.len() as u64), (2 * CELLS, CELLS * TAKES));
    let want = Want { series: Which::Rows, telemetry: false, rest: true };
    let rows = timed("all rows of all runs of two machines", || {
        ids.iter().map(|id| store.load_with(id, want).unwrap()).collect::<Vec<_>>()
    });
    assert!(rows.iter().all(|run| run.series.len() as u64 == CELLS));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    eprintln!("{}", status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("no VmRSS"));
}
