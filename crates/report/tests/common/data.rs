//! The raw side of the invented run: takes, the clock around them, telemetry. All planted, always the same.

use model::Params;
use model::data::{Point, RunData, RunHead, Series, Status, TakeHead};
use model::frame::{OwnCost, Segment};
use model::metric::Better;
use model::plan::{Cell, Level, Plan, Takes};
use model::reading::{Phase, SeriesKey, Value};
use model::unit::Unit;

use super::{Planted, facts, figures, params, run, scatter};

const TAKE_NS: u64 = 80_000_000;

fn plan(figures: &[Planted]) -> Plan {
    let cell = |figure: &Planted| Cell {
        instrument: figure.instrument.to_owned(),
        params: params(figure.params),
        headline: if figure.headline { vec![figure.metric.to_owned()] } else { Vec::new() },
    };
    Plan {
        seed: 7,
        level: Level::Quick,
        warm_up: 2,
        ..Plan::bare(figures.iter().map(cell).collect(), Takes::Fixed(12))
    }
}

/// The raw side of [`run`]: `takes` measured takes a figure and one warm-up, the clock around them, telemetry.
pub fn data(takes: usize, cores: usize, seconds: u64) -> RunData {
    let figures = figures();
    let blocks = takes + 1;
    let step = seconds * 1_000_000_000 / (blocks * figures.len()) as u64;
    let mut heads = Vec::new();
    let mut clock = Vec::new();
    let mut series: Vec<Series> = figures.iter().map(raw).collect();
    for block in 0..blocks {
        for (cell, figure) in figures.iter().enumerate() {
            let seq = (block * figures.len() + cell) as u64;
            let start_ns = seq * step + 1_000_000_000;
            let phase = if block == 0 { Phase::WarmUp } else { Phase::Measured };
            let value = figure.value * (1.0 + 2.0 * figure.spread * scatter(seq as usize));
            series[cell].points.push(point(seq, block, phase, start_ns, value));
            heads.push(TakeHead {
                seq,
                block: block as u32,
                sitting: 0,
                phase,
                cell: cell as u32,
                arm: 0,
                start_ns,
                end_ns: start_ns + TAKE_NS,
                repeats: 1000,
                fault: None,
                refusals: Vec::new(),
            });
            let fall = 0.86e9 / (1.0 + (-(seq as f64 * step as f64 / 1e9 - 38.0) / 2.0).exp());
            clock.push(point(seq, block, phase, start_ns, 5.07e9 - fall + 1e7 * scatter(seq as usize + 9)));
        }
    }
    series.push(Series {
        key: key("take-clock", "before", Unit::Hertz, ""),
        better: Better::Neither,
        points: clock,
    });
    RunData {
        head: head(),
        origin: model::data::Origin::default(),
        clock_offsets: Vec::new(),
        plan: plan(&figures).into(),
        facts: facts(),
        series,
        takes: heads,
        notes: vec![model::Note::of_run(model::NoteBody::User("lid closed".to_owned()))],
        telemetry: telemetry(cores, seconds),
        target_telemetry: Vec::new(),
        traffic: None,
        own_cost: Some(OwnCost { agent_cpu_seconds: 0.3, telemetry_cpu_seconds: 0.15, seconds: 112.0 }),
    }
}

fn head() -> RunHead {
    RunHead {
        id: run().run,
        study: run().study,
        status: Status::Complete,
        machine_id: "id-mini-1".to_owned(),
        machine: "mini-1".to_owned(),
        label: None,
        started_ns: 1_795_242_060_000_000_000,
        seconds: Some(112.0),
        build: "0.1.0".to_owned(),
        config_class: "0".repeat(16),
        price: None,
        watts: None,
        takes: 240,
        faults: 0,
        measured: 240,
        hidden: false,
    }
}

fn key(instrument: &str, metric: &str, unit: Unit, text: &str) -> SeriesKey {
    SeriesKey {
        instrument: instrument.to_owned(),
        metric: metric.to_owned(),
        unit,
        params: params(text),
        arm: String::new(),
        definition: 1,
    }
}

fn raw(figure: &Planted) -> Series {
    let key = key(figure.instrument, figure.metric, figure.unit, figure.params);
    Series { key, better: figure.better, points: Vec::new() }
}

fn point(seq: u64, block: usize, phase: Phase, at_ns: u64, value: f64) -> Point {
    let value = Value::Number(value);
    Point { seq, block: block as u32, sitting: 0, phase, at_ns, window_ns: TAKE_NS, value }
}

/// One sample a second: CPU split of every core and in all, temperature, memory, disk.
fn telemetry(cores: usize, seconds: u64) -> Vec<Segment> {
    let mut columns: Vec<(String, String)> = Vec::new();
    for core in 0..=cores {
        let device = if core == 0 { String::new() } else { format!("{{cpu={}}}", core - 1) };
        for metric in ["user", "system", "softirq", "steal", "idle"] {
            columns.push((format!("{metric}{device}"), "ratio".to_owned()));
        }
        if core > 0 {
            columns.push((format!("clock{device}"), "Hz".to_owned()));
        }
    }
    columns.push(("temperature{sensor=package}".to_owned(), "degC".to_owned()));
    columns.push(("available".to_owned(), "B".to_owned()));
    columns.push(("written{disk=nvme0n1}".to_owned(), "B/s".to_owned()));
    let row = |second: u64| {
        let noise = |i: usize| scatter(second as usize * 977 + i).abs();
        let mut out = Vec::new();
        for core in 0..=cores {
            let user = 0.3 + 0.6 * noise(core);
            out.extend([user, 0.05, 0.01, 0.002, 0.938 - user].map(Some));
            if core > 0 {
                out.push(Some(4.2e9 + 0.8e9 * noise(core + 50)));
            }
        }
        out.extend([Some(55.0 + 30.0 * noise(7)), Some(20e9 + 4e9 * noise(8)), Some(3e8 * noise(9))]);
        out
    };
    let at_ns: Vec<u64> = (0..seconds).map(|second| second * 1_000_000_000).collect();
    let rows = (0..seconds).map(row).collect();
    vec![Segment { source: "sample".to_owned(), columns, at_ns, rows }]
}
