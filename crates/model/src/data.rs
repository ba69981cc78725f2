//! Runs as the store returns them: facts, series, takes, notes and telemetry. Summaries are not here;
//! they are recomputed from these.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::basis::Basis;
use crate::fact::Fact;
use crate::fault::Fault;
use crate::finding::Finding;
use crate::frame::{OwnCost, Segment, TargetTelemetry};
use crate::metric::Better;
use crate::note::Note;
use crate::plan::Plan;
use crate::reading::{Phase, SeriesKey, Value};
use crate::shared::Shared;
use crate::traffic::Traffic;

pub use crate::price::Price;

crate::words! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Status as word {
        Running = "running",
        Complete = "complete",
        /// Complete, but takes faulted.
        Faulty = "faulty",
        Interrupted = "interrupted",
    }
}

/// The build of a run that was imported from what clusterperf printed.
pub const CLUSTERPERF: &str = "clusterperf";

/// The power that facts of a machine say.
pub fn watts_of_facts(facts: &[Fact]) -> Option<f64> {
    facts.iter().find(|fact| fact.key == "power.watts")?.value.as_ref()?.number()
}

/// The identity of a machine: that of its hardware, and behind it the name by which another machine measured it
/// (`--via`, `--on`), if any. Nodes of one host (namespaces, containers) and of one disk image have the same hardware;
/// their names tell them apart, however many of them a study has. An identity that has the name stays as it is.
pub fn machine_id(hardware: &str, name: &str) -> String {
    match name.is_empty() || hardware_of(hardware, name) != hardware {
        true => hardware.to_owned(),
        false => format!("{hardware}/{name}"),
    }
}

/// The identity of a machine without its name.
pub fn hardware_of<'a>(id: &'a str, name: &str) -> &'a str {
    id.strip_suffix(name).and_then(|rest| rest.strip_suffix('/')).unwrap_or(id)
}

/// A run without its readings: what `history` lists.
#[derive(Clone, Debug, PartialEq)]
pub struct RunHead {
    pub id: String,
    pub study: String,
    pub status: Status,
    /// Stable identity of the machine, and its name.
    pub machine_id: String,
    pub machine: String,
    pub label: Option<String>,
    /// Wall clock at the start: nanoseconds since 1970.
    pub started_ns: i64,
    pub seconds: Option<f64>,
    /// Version and source hash of the program, or [`CLUSTERPERF`].
    pub build: String,
    /// Hash of the facts of the config class that are known.
    pub config_class: String,
    pub price: Option<Price>,
    pub watts: Option<f64>,
    pub takes: u64,
    pub faults: u64,
    /// Measured takes without a fault: a run that has none has no figure.
    pub measured: u64,
    /// Kept by the user's wish, but counted nowhere: not in pools, noise or `latest`.
    pub hidden: bool,
}

/// One reading as stored; `seq` is the number of its take, which its conditions share.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "PointTuple", into = "PointTuple")]
pub struct Point {
    pub seq: u64,
    pub block: u32,
    /// That of its take. A run's JSON has it there alone.
    pub sitting: u32,
    pub phase: Phase,
    pub at_ns: u64,
    pub window_ns: u64,
    pub value: Value,
}

/// Take, block, phase, start, window (both ns), value.
type PointTuple = (u64, u32, Phase, u64, u64, Value);

impl From<PointTuple> for Point {
    fn from((seq, block, phase, at_ns, window_ns, value): PointTuple) -> Point {
        Point { seq, block, sitting: 0, phase, at_ns, window_ns, value }
    }
}

impl From<Point> for PointTuple {
    fn from(point: Point) -> PointTuple {
        (point.seq, point.block, point.phase, point.at_ns, point.window_ns, point.value)
    }
}

impl Point {
    pub fn number(&self) -> Option<f64> {
        match self.value {
            Value::Number(number) => Some(number),
            Value::Histogram(_) => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub key: SeriesKey,
    pub better: Better,
    /// In time order, warm-up takes included.
    pub points: Vec<Point>,
}

impl Series {
    /// The measured numbers in time order.
    pub fn measured(&self) -> Vec<f64> {
        self.points.iter().filter(|point| point.phase == Phase::Measured).filter_map(Point::number).collect()
    }

    /// The measured numbers of each sitting that has any; both in time order.
    pub fn by_sitting(&self) -> Vec<Vec<f64>> {
        let mut all = BTreeMap::<u32, Vec<f64>>::new();
        for point in self.points.iter().filter(|point| point.phase == Phase::Measured) {
            if let Some(number) = point.number() {
                all.entry(point.sitting).or_default().push(number);
            }
        }
        all.into_values().collect()
    }
}

/// One take without its readings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TakeHead {
    pub seq: u64,
    pub block: u32,
    #[serde(default)]
    pub sitting: u32,
    pub phase: Phase,
    pub cell: u32,
    pub arm: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    pub repeats: u64,
    #[serde(flatten, with = "fault_fields")]
    pub fault: Option<Fault>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub refusals: Vec<Finding>,
}

/// A fault as two fields of its take: its text, and its kind where it has one.
mod fault_fields {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::fault::{Fault, FaultKind};

    #[derive(Default, Serialize, Deserialize)]
    struct Fields {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
        #[serde(default, skip_serializing_if = "FaultKind::is_other")]
        fault_kind: FaultKind,
    }

    pub fn serialize<S: Serializer>(fault: &Option<Fault>, to: S) -> Result<S::Ok, S::Error> {
        let fields = fault.clone().map(|Fault { text, kind }| Fields { fault: Some(text), fault_kind: kind });
        fields.unwrap_or_default().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Fault>, D::Error> {
        let Fields { fault, fault_kind: kind } = Fields::deserialize(from)?;
        Ok(fault.map(|text| Fault { kind, text }))
    }
}

impl TakeHead {
    /// True for a take of the same place in a later sitting.
    fn repeats_place_of(&self, take: &TakeHead) -> bool {
        let place = |one: &TakeHead| (one.cell, one.arm, one.block, one.phase);
        self.sitting > take.sitting && place(self) == place(take)
    }

    /// Measured, and without a fault.
    pub fn is_measured(&self) -> bool {
        self.phase == Phase::Measured && self.fault.is_none()
    }
}

/// Where a run was measured, and by what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub hostname: String,
    pub boot_id: Option<String>,
    /// Version and source hash of the program; a run's export has it once, in its head.
    #[serde(skip)]
    pub build: String,
    /// Target triple of the program.
    pub target: String,
    pub clock_source: Option<String>,
}

/// Offset of a machine's monotonic clock from the program's, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, i64, u64)", into = "(u64, i64, u64)")]
pub struct ClockOffset {
    pub at_ns: u64,
    pub offset_ns: i64,
    pub error_ns: u64,
}

impl From<(u64, i64, u64)> for ClockOffset {
    fn from((at_ns, offset_ns, error_ns): (u64, i64, u64)) -> ClockOffset {
        ClockOffset { at_ns, offset_ns, error_ns }
    }
}

impl From<ClockOffset> for (u64, i64, u64) {
    fn from(offset: ClockOffset) -> (u64, i64, u64) {
        (offset.at_ns, offset.offset_ns, offset.error_ns)
    }
}

/// Everything of one run on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct RunData {
    pub head: RunHead,
    /// Its build is the head's.
    pub origin: Origin,
    pub clock_offsets: Vec<ClockOffset>,
    pub plan: Shared<Plan>,
    pub facts: Vec<Fact>,
    pub series: Vec<Series>,
    pub takes: Vec<TakeHead>,
    pub notes: Vec<Note>,
    /// Of a run of logs.
    pub traffic: Option<Traffic>,
    pub telemetry: Vec<Segment>,
    /// Of the hosts of targets, where `--at` led to them.
    pub target_telemetry: Vec<TargetTelemetry>,
    pub own_cost: Option<OwnCost>,
}

impl RunData {
    pub fn fact(&self, key: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.key == key)
    }

    /// The CPUs that the run may use: those that its plan names, else those that its process was allowed.
    pub fn usable_cpus(&self) -> Option<f64> {
        let planned = self.plan.cpus.as_ref().map(Vec::len).filter(|count| *count > 0);
        planned.map(|count| count as f64).or_else(|| crate::fact::usable_cpus(&self.facts))
    }

    /// Takes that failed and were not repeated.
    pub fn failures(&self) -> impl Iterator<Item = (&TakeHead, &Fault)> {
        let is_repeated = |take: &TakeHead| {
            take.phase == Phase::Repeated || self.takes.iter().any(|later| later.repeats_place_of(take))
        };
        let failed = self.takes.iter().filter_map(|take| Some((take, take.fault.as_ref()?)));
        failed.filter(move |(take, _)| !is_repeated(take))
    }

    /// Series that are rows: benchmarks' metrics with a direction and the user's own, not conditions or telemetry.
    pub fn rows(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().filter(|series| series.key.is_row(series.better))
    }
}

/// A published figure: a point without samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    pub study: String,
    pub machine: String,
    pub key: SeriesKey,
    pub better: Better,
    pub value: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Meaning of `low` and `high`: `minmax`, `range`, `best-worst`.
    pub bounds: String,
    pub basis: Basis,
    pub note: String,
}

impl Published {
    /// The study of figures that were read from a pasted line.
    pub const PASTED: &str = "pasted";

    pub fn is_pasted(&self) -> bool {
        self.study == Published::PASTED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_apart_by_sitting() {
        let key = SeriesKey {
            instrument: "toy".into(),
            metric: "rate".into(),
            unit: crate::Unit::Count,
            params: crate::Params::default(),
            arm: String::new(),
            definition: 1,
        };
        let point = |seq, sitting, phase, value| Point {
            seq,
            block: 0,
            sitting,
            phase,
            at_ns: 0,
            window_ns: 0,
            value: Value::Number(value),
        };
        let points = vec![
            point(0, 0, Phase::WarmUp, 1.0),
            point(1, 0, Phase::Measured, 2.0),
            point(2, 2, Phase::WarmUp, 3.0),
            point(3, 2, Phase::Measured, 5.0),
            point(4, 2, Phase::Measured, 4.0),
        ];
        let series = Series { key, better: Better::Higher, points };
        assert_eq!(series.by_sitting(), [vec![2.0], vec![5.0, 4.0]]);
        assert_eq!(series.by_sitting().concat(), series.measured());
    }
}
