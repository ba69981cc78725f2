//! Runs built from planted distributions, for the proofs. Seeded; the same every time.

use std::collections::BTreeMap;

use model::Basis;
use model::data::{Point, Published, RunData, RunHead, Series, Status, TakeHead};
use model::doc::MachineDoc;
use model::plan::{Level, Plan, Takes};
use model::{Arm, Better, Cell, Fact, Params, Phase, SeriesKey, Unit, Value};
use stats::Rng;
use verdict::Side;

pub const TAKES: u32 = 12;

/// What is planted in every series of a run.
#[derive(Clone, Debug)]
pub struct World {
    pub rows: usize,
    /// Standard deviation of the logarithm from take to take, and from run to run.
    pub within: f64,
    pub between: f64,
    /// Noise that all arms of a block share.
    pub shared: f64,
    /// Arms with the factor on their values.
    pub arms: Vec<(String, f64)>,
}

impl World {
    pub fn plain(rows: usize) -> World {
        World { rows, within: 0.01, between: 0.0, shared: 0.0, arms: vec![(String::new(), 1.0)] }
    }

    pub fn arms(mut self, factors: &[f64]) -> World {
        self.arms = factors.iter().enumerate().map(|(i, factor)| (format!("arm{i}"), *factor)).collect();
        self
    }
}

pub fn params(text: &str) -> Params {
    Params::parse(text).expect("a parameter list of the test")
}

fn plan(world: &World) -> Plan {
    let cell = |row: usize| Cell {
        instrument: "crc32c".to_owned(),
        params: params(&format!("size={};threads=1", row + 1)),
        headline: vec!["throughput".to_owned()],
    };
    let several = world.arms.len() > 1;
    let arm = |name: &String| Arm {
        name: name.clone(),
        set: if several { params(&format!("impl={name}")) } else { Params::default() },
    };
    Plan {
        level: Level::Default,
        arms: world.arms.iter().map(|(name, _)| arm(name)).collect(),
        warm_up: 1,
        ..Plan::bare((0..world.rows).map(cell).collect(), Takes::Fixed(TAKES))
    }
}

/// One run of the planted world on a machine that is `factor` times as fast.
pub fn run(id: &str, machine: &str, world: &World, factor: f64, rng: &mut Rng) -> RunData {
    let plan = plan(world);
    let mut series: BTreeMap<SeriesKey, Vec<Point>> = BTreeMap::new();
    let mut takes = Vec::new();
    let levels: Vec<f64> = (0..world.rows).map(|_| (world.between * rng.normal()).exp()).collect();
    let mut seq = 0;
    for block in 0..=TAKES {
        for (cell, level) in levels.iter().enumerate() {
            let shared = (world.shared * rng.normal()).exp();
            for (arm, (name, effect)) in world.arms.iter().enumerate() {
                let phase = if block == 0 { Phase::WarmUp } else { Phase::Measured };
                let value = 1e9 * factor * effect * level * shared * (world.within * rng.normal()).exp();
                let start_ns = seq * 60_000_000;
                let point = Point {
                    seq,
                    block,
                    sitting: 0,
                    phase,
                    at_ns: start_ns,
                    window_ns: 50_000_000,
                    value: Value::Number(value),
                };
                let key = SeriesKey {
                    instrument: "crc32c".to_owned(),
                    metric: "throughput".to_owned(),
                    unit: Unit::BytesPerSec,
                    params: plan.cells[cell].params.with(&plan.arms[arm].set),
                    arm: name.clone(),
                    definition: 1,
                };
                series.entry(key).or_default().push(point);
                takes.push(TakeHead {
                    seq,
                    block,
                    sitting: 0,
                    phase,
                    cell: u32::try_from(cell).expect("few cells"),
                    arm: u32::try_from(arm).expect("few arms"),
                    start_ns,
                    end_ns: start_ns + 50_000_000,
                    repeats: 1,
                    fault: None,
                    refusals: Vec::new(),
                });
                seq += 1;
            }
        }
    }
    let series =
        series.into_iter().map(|(key, points)| Series { key, better: Better::Higher, points }).collect();
    RunData {
        head: head(id, machine),
        origin: model::data::Origin::default(),
        clock_offsets: Vec::new(),
        plan: plan.into(),
        facts: Vec::new(),
        series,
        takes,
        notes: Vec::new(),
        telemetry: Vec::new(),
        target_telemetry: Vec::new(),
        traffic: None,
        own_cost: None,
    }
}

fn head(id: &str, machine: &str) -> RunHead {
    RunHead {
        id: id.to_owned(),
        study: format!("study-{id}"),
        status: Status::Complete,
        machine_id: machine.to_owned(),
        machine: machine.to_owned(),
        label: None,
        started_ns: 0,
        seconds: Some(60.0),
        build: "b".to_owned(),
        config_class: "c".to_owned(),
        price: None,
        watts: None,
        takes: 0,
        faults: 0,
        measured: 0,
        hidden: false,
    }
}

/// Adds what an instrument saw around every take: `value(seq)`.
pub fn watch(run: &mut RunData, instrument: &str, metric: &str, unit: Unit, value: impl Fn(u64) -> f64) {
    let points = run.takes.iter().map(|take| Point {
        seq: take.seq,
        block: take.block,
        sitting: take.sitting,
        phase: take.phase,
        at_ns: take.start_ns,
        window_ns: 0,
        value: Value::Number(value(take.seq)),
    });
    let key = SeriesKey {
        instrument: instrument.to_owned(),
        metric: metric.to_owned(),
        unit,
        params: Params::default(),
        arm: String::new(),
        definition: 1,
    };
    let series = Series { key, better: Better::Neither, points: points.collect() };
    run.series.push(series);
}

pub fn fact(run: &mut RunData, fact: Fact) {
    run.facts.push(fact);
}

pub fn side<'a>(name: &str, runs: Vec<&'a RunData>) -> Side<'a> {
    let id = runs.first().map_or_else(String::new, |run| run.head.machine_id.clone());
    Side { runs, ..Side::new(name, MachineDoc { id, name: name.to_owned() }) }
}

pub fn arm_side<'a>(run: &'a RunData, arm: &str) -> Side<'a> {
    Side { arm: Some(arm.to_owned()), ..side(arm, vec![run]) }
}

pub fn published(key: &SeriesKey, better: Better, value: f64) -> Published {
    Published {
        study: "old-study".to_owned(),
        machine: "old".to_owned(),
        key: key.clone(),
        better,
        value,
        low: None,
        high: None,
        bounds: String::new(),
        basis: Basis::Measured,
        note: String::new(),
    }
}
