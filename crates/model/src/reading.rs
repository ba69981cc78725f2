//! Readings: values with their time window, and the series that they belong to.
//!
//! Times are monotonic nanoseconds since the run's start. A reading is never rounded or clipped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::{self, Cards};
use crate::fault::Fault;
use crate::finding::Finding;
use crate::histogram::Histogram;
use crate::metric::Better;
use crate::note::NoteBody;
use crate::params::Params;
use crate::unit::Unit;

/// Warm-up takes are marked, not hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    WarmUp,
    Measured,
}

impl Phase {
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Phase::WarmUp => "warm-up",
            Phase::Measured => "measured",
        }
    }

    #[must_use]
    pub fn parse(word: &str) -> Option<Phase> {
        [Phase::WarmUp, Phase::Measured].into_iter().find(|phase| phase.word() == word)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    Number(f64),
    Histogram(Histogram),
}

/// What the samples of a series are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Samples {
    /// Repetitions of one thing: what they differ by is noise, and more of them tell more.
    #[default]
    Takes,
    /// Stretches of time, each with its own work: neither their spread nor their number says how sure a figure is.
    Periods,
}

impl Samples {
    /// What the samples of an instrument are; takes where it is not known here.
    #[must_use]
    pub fn of(cards: Cards, instrument: &str) -> Samples {
        card::find(cards, instrument).map_or(Samples::Takes, |card| card.samples)
    }
}

/// What identifies a series within a participant of a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeriesKey {
    pub instrument: String,
    pub metric: String,
    pub unit: Unit,
    pub params: Params,
    /// Name of the arm; empty in a run without arms.
    pub arm: String,
    pub definition: u32,
}

impl SeriesKey {
    /// True when the series is shown as a row: it has a direction, or it is a number that the user asked for.
    #[must_use]
    pub fn is_row(&self, better: Better) -> bool {
        better != Better::Neither || (self.instrument == "cmd" && self.metric == "value")
    }

    /// `crc32c bandwidth size=1KiB;threads=1`, for people.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} {} {}", self.instrument, self.metric, self.params).trim_end().to_owned()
    }
}

/// One value of one series in one take.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub key: SeriesKey,
    pub better: Better,
    pub at_ns: u64,
    pub window_ns: u64,
    pub value: Value,
}

/// One take as it is stored: everything that happened from its start to its acknowledgement, in one transaction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Take {
    /// Number of the take within the run, in time order, from 0.
    pub seq: u64,
    pub block: u32,
    pub phase: Phase,
    /// Index of the cell in the plan's cells, and of the arm in its arms.
    pub cell: u32,
    pub arm: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    pub repeats: u64,
    pub readings: Vec<Reading>,
    /// Rules that the instrument itself knows (page cache instead of disk, no flush seen).
    pub refusals: Vec<Finding>,
    pub notes: Vec<NoteBody>,
    /// The reason, when the take failed; then there are no readings of its instrument.
    pub fault: Option<Fault>,
}
