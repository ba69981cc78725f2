//! Readings: values with their time window, and the series that they belong to.
//!
//! Times are monotonic nanoseconds since the run's start. A reading is never rounded or clipped.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::{self, Cards};
use crate::exact;
use crate::fault::Fault;
use crate::finding::Finding;
use crate::histogram::Histogram;
use crate::metric::Better;
use crate::note::NoteBody;
use crate::params::Params;
use crate::unit::Unit;

crate::words! {
    /// Warm-up takes are marked, not hidden, and so are those that count no longer.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Phase as word {
        WarmUp = "warm-up",
        Measured = "measured",
        /// Measured, and its block measured again since: its arm or another of the block had an outage in it.
        Repeated = "repeated",
    }
}

/// A number, or the histogram of many; boxed, since most are numbers and a run has thousands.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Number(f64),
    Histogram(Box<Histogram>),
}

impl From<Histogram> for Value {
    fn from(histogram: Histogram) -> Value {
        Value::Histogram(Box::new(histogram))
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, remote = "Value")]
enum InText {
    Number(#[serde(with = "exact")] f64),
    Histogram(Box<Histogram>),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Value")]
enum InBinary {
    Number(f64),
    Histogram(Box<Histogram>),
}

exact::untagged_in_text!(Value, InText, InBinary);

/// Kind of the samples of a series.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Samples {
    /// Repetitions of one measurement: their spread is noise, and more takes make the figure more precise.
    #[default]
    Takes,
    /// Stretches of time, each with its own work: neither their spread nor their number is a measure of precision.
    Periods,
}

impl Samples {
    /// The kind of an instrument's samples; takes if the instrument is unknown here.
    pub fn for_instrument(cards: Cards, instrument: &str) -> Samples {
        card::find(cards, instrument).map_or(Samples::Takes, |card| card.samples)
    }
}

/// The key of a series within one participant of a run.
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
    /// True of another metric of the same instrument, parameters and arm.
    pub fn is_beside(&self, other: &SeriesKey) -> bool {
        self.is_of_setup(other) && self.arm == other.arm
    }

    /// True of the same figure, in whatever arm it was measured.
    pub fn is_same_but_arm(&self, other: &SeriesKey) -> bool {
        self.is_of_setup(other) && self.metric == other.metric && self.unit == other.unit
    }

    fn is_of_setup(&self, other: &SeriesKey) -> bool {
        self.instrument == other.instrument
            && self.definition == other.definition
            && self.params == other.params
    }

    /// True when the series is shown as a row: it has a direction, the user asked for its number, or it is a clock.
    pub fn is_row(&self, better: Better) -> bool {
        better != Better::Neither
            || self.instrument == crate::names::instrument::CLOCK
            || (self.instrument == crate::names::instrument::CMD
                && self.metric == crate::metrics::command::VALUE.name())
    }

    /// `crc32c bandwidth size=1KiB;threads=1`, for people.
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
    /// Number of the sitting within the run, from 0. All that is measured is prepared anew in each.
    pub sitting: u32,
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
