//! What the store gives back: runs with their facts, series, takes, notes and telemetry. Summaries are not here;
//! they are recomputed from these.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::Fact;
use crate::fault::Fault;
use crate::finding::Finding;
use crate::frame::{OwnCost, Segment};
use crate::metric::Better;
use crate::note::Note;
use crate::plan::Plan;
use crate::reading::{Phase, SeriesKey, Value};
use crate::traffic::Traffic;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    Running,
    Complete,
    /// Complete, but takes faulted.
    Faulty,
    Interrupted,
}

impl Status {
    pub const ALL: [Status; 4] = [Status::Running, Status::Complete, Status::Faulty, Status::Interrupted];

    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Complete => "complete",
            Status::Faulty => "faulty",
            Status::Interrupted => "interrupted",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.word() == word)
    }
}

/// Price of a machine: by the hour, or bought.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    pub amount: f64,
    pub currency: String,
    pub hourly: bool,
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
    pub build: String,
    /// Hash of the facts of the config class that are known.
    pub config_class: String,
    pub price: Option<Price>,
    pub watts: Option<f64>,
    pub takes: u64,
    pub faults: u64,
    /// Measured takes without a fault: a run that has none has no figure.
    pub measured: u64,
}

/// One reading as stored; `seq` is the number of its take, which its conditions share.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub seq: u64,
    pub block: u32,
    pub phase: Phase,
    pub at_ns: u64,
    pub window_ns: u64,
    pub value: Value,
}

impl Point {
    #[must_use]
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
    #[must_use]
    pub fn measured(&self) -> Vec<f64> {
        self.points.iter().filter(|point| point.phase == Phase::Measured).filter_map(Point::number).collect()
    }
}

/// One take without its readings.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeHead {
    pub seq: u64,
    pub block: u32,
    pub phase: Phase,
    pub cell: u32,
    pub arm: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    pub repeats: u64,
    pub fault: Option<Fault>,
    pub refusals: Vec<Finding>,
}

impl TakeHead {
    /// Measured, and without a fault.
    #[must_use]
    pub fn is_measured(&self) -> bool {
        self.phase == Phase::Measured && self.fault.is_none()
    }
}

/// Where a run was measured, and by what.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    pub hostname: String,
    pub boot_id: Option<String>,
    /// Version and source hash of the program, and its target triple.
    pub build: String,
    pub target: String,
    pub clock_source: Option<String>,
}

/// Offset of a machine's monotonic clock from the program's, with its error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockOffset {
    pub at_ns: u64,
    pub offset_ns: i64,
    pub error_ns: u64,
}

/// Everything of one run on one machine.
#[derive(Clone, Debug, PartialEq)]
pub struct RunData {
    pub head: RunHead,
    /// Its build is the head's.
    pub origin: Origin,
    pub clock_offsets: Vec<ClockOffset>,
    pub plan: Plan,
    pub facts: Vec<Fact>,
    pub series: Vec<Series>,
    pub takes: Vec<TakeHead>,
    pub notes: Vec<Note>,
    /// Of a run of logs.
    pub traffic: Option<Traffic>,
    pub telemetry: Vec<Segment>,
    pub own_cost: Option<OwnCost>,
}

impl RunData {
    #[must_use]
    pub fn fact(&self, key: &str) -> Option<&Fact> {
        self.facts.iter().find(|fact| fact.key == key)
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
    /// What `low` and `high` are: `minmax`, `range`, `best-worst`.
    pub bounds: String,
    pub note: String,
}
