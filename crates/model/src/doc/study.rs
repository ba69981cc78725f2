//! The documents of `boxscore study`: the studies that there are, what one of them would run, and its tables with the
//! figures of this machine beside those of others.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{MachineDoc, NodesDoc};
use crate::data::Status;
use crate::finding::Validity;
use crate::study_file::Statistic;
use crate::unit::Unit;

/// `boxscore study` alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudiesDoc {
    pub schema: String,
    pub studies: Vec<StudySummaryDoc>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudySummaryDoc {
    pub name: String,
    pub title: String,
    pub runs: u64,
    pub tables: Vec<String>,
    /// Its runs end after so many seconds.
    pub most_seconds: f64,
    pub most_seconds_quick: f64,
}

/// `boxscore study NAME`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyDoc {
    pub schema: String,
    pub study: String,
    pub title: String,
    pub about: String,
    /// The machine of the column of this machine; absent where nothing was measured yet.
    pub machine: Option<MachineDoc>,
    /// This machine in a few words, or the nodes.
    pub machine_says: String,
    /// Names of the nodes that are measured in place of this machine.
    #[serde(default)]
    pub nodes: Vec<String>,
    pub quick: bool,
    pub runs: Vec<StudyRunDoc>,
    pub tables: Vec<StudyTableDoc>,
    /// The nodes in order, run by run, where the study measured three or more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders: Vec<StudyOrderDoc>,
    /// Parts of the study that cannot be had.
    pub missing: Vec<StudyMissingDoc>,
    /// Doubts about the figures of this machine, one line a cause of a run.
    pub doubts: Vec<String>,
}

/// One run of a study: what is planned, and what is stored of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyRunDoc {
    pub name: String,
    /// The label of its runs in the store.
    pub label: String,
    pub measures: Vec<String>,
    pub set: Vec<String>,
    pub arms: Vec<String>,
    pub takes: u64,
    /// Parameter sets, each in every arm.
    pub cells: u64,
    /// About how long it lasts, and when it ends at the latest.
    pub expected_seconds: f64,
    pub most_seconds: f64,
    /// The node that it was measured on; absent of runs of this machine.
    #[serde(default)]
    pub node: Option<String>,
    /// The newest complete run with this label; absent where there is none.
    pub run: Option<String>,
    pub status: Option<Status>,
    /// Seconds since 1970.
    pub started: Option<f64>,
    pub seconds: Option<f64>,
    /// The command by which the user makes it, where boxscore cannot.
    pub by_hand: Option<String>,
    /// Why nothing of it can be measured here.
    pub why: Option<String>,
    /// Parts of it that cannot be measured here, each with the reason.
    pub left_out: Vec<StudyMissingDoc>,
}

/// The nodes in the order of one run of the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyOrderDoc {
    /// The run's name in the study, and the label of its runs in the store.
    pub name: String,
    pub label: String,
    pub nodes: NodesDoc,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct StudyMissingDoc {
    pub what: String,
    pub why: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyTableDoc {
    pub name: String,
    pub title: String,
    pub columns: Vec<StudyColumnDoc>,
    pub rows: Vec<StudyRowDoc>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyColumnDoc {
    pub head: String,
    /// `.` is the machine of the runs.
    pub machine: String,
    /// Which node of them, where the runs are of nodes.
    #[serde(default)]
    pub node: Option<String>,
    pub show: Statistic,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyRowDoc {
    pub label: String,
    /// `INSTRUMENT METRIC PARAMETERS`; absent of rows of texts.
    pub figure: Option<String>,
    /// The figure of this machine, where it is another one.
    pub ours: Option<String>,
    /// Base unit of the values.
    pub unit: Option<Unit>,
    /// The unit in which the row is printed, and the factor from it to the base unit.
    pub shown_unit: String,
    pub shown_factor: f64,
    pub note: Option<String>,
    /// In the order of the columns.
    pub cells: Vec<StudyCellDoc>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StudyCellDoc {
    /// In the base unit; absent of texts and where there is none.
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Meaning of `low` and `high`: `95 % interval`, or as a study says.
    pub bounds: Option<String>,
    /// The bounds alone were published.
    pub is_range: bool,
    /// Measured takes.
    pub n: Option<u64>,
    pub text: Option<String>,
    pub validity: Option<Validity>,
    /// The run that it is of.
    pub run: Option<String>,
    /// Why there is no value, or what a value is.
    pub why: Option<String>,
}

impl StudyCellDoc {
    pub fn text(text: impl Into<String>) -> StudyCellDoc {
        StudyCellDoc { text: Some(text.into()), ..StudyCellDoc::default() }
    }

    /// A cell without a value.
    pub fn absent(why: impl Into<String>) -> StudyCellDoc {
        StudyCellDoc { why: Some(why.into()), ..StudyCellDoc::default() }
    }

    pub fn is_empty(&self) -> bool {
        self.value.is_none() && self.text.is_none() && self.why.is_none()
    }
}
