//! A study file: which instruments are measured with which parameters and arms, and the tables in which their figures
//! stand beside those of other machines.
//!
//! 1. `read`: TOML into these types.
//! 2. `check`: what it names must be there, by the cards and by the machines of its columns.
//!
//! The five studies of the catalogue are such files, and so is one of the user's own. Not done here: finding the
//! machines, and measuring.

mod check;
mod key;
mod read;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use check::{KnownMachine, check, published};
pub use key::FigureKey;
pub use read::read;

use crate::params::Params;
pub use crate::toml_file::FileError;

/// The column of this machine: the figures that the runs of the file measure.
pub const HERE: &str = ".";

/// A whole study file.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyFile {
    pub name: String,
    pub title: String,
    /// The question of the study, and how it is measured here.
    pub about: String,
    /// Expression of the nodes that are measured in place of this machine.
    pub on: Option<String>,
    /// All of it ends after so many seconds.
    pub most_seconds: Option<f64>,
    /// Its nodes may cost so much, in the currency of their prices.
    pub budget: Option<f64>,
    /// In the order in which they are measured, each a stored run.
    pub runs: Vec<StudyRun>,
    pub tables: Vec<StudyTable>,
    /// Parts of the study that no run of it can have.
    pub missing: Vec<Missing>,
}

/// One run: what `boxscore run` is given.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyRun {
    pub line: usize,
    pub name: String,
    /// Instruments and families.
    pub measure: Vec<String>,
    /// `K=V` for every arm.
    pub set: Vec<String>,
    /// The same of a quick run.
    pub set_quick: Vec<String>,
    /// `K=V,...` for each arm; none is one arm.
    pub arms: Vec<String>,
    pub usual: Extent,
    pub quick: Extent,
    /// The command that makes the run, where only the user can make it.
    pub by_hand: Option<String>,
}

/// How long and how often a run measures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    pub takes: u32,
    pub sittings: u32,
    /// It ends after so many seconds.
    pub most_seconds: f64,
    /// It usually lasts so many seconds, where the file says so.
    pub seconds: Option<f64>,
}

impl StudyRun {
    pub fn extent(&self, is_quick: bool) -> Extent {
        if is_quick { self.quick } else { self.usual }
    }

    pub fn settings(&self, is_quick: bool) -> &[String] {
        if is_quick { &self.set_quick } else { &self.set }
    }
}

/// One table.
#[derive(Clone, Debug, PartialEq)]
pub struct StudyTable {
    pub line: usize,
    pub name: String,
    pub title: String,
    /// The run that its figures of this machine are of; any of the file where none is named.
    pub run: Option<String>,
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
    pub notes: Vec<String>,
}

impl StudyTable {
    /// The table with a column of each node in place of each column of this machine.
    pub fn of_nodes(&self, nodes: &[String]) -> StudyTable {
        let is_alone = self.columns.iter().filter(|column| column.is_here()).count() == 1;
        let mut table = self.clone();
        table.columns.clear();
        for column in &self.columns {
            if !column.is_here() {
                table.columns.push(column.clone());
                continue;
            }
            for node in nodes {
                let head = if is_alone { node.clone() } else { format!("{node} {}", column.head) };
                for row in &mut table.rows {
                    if let Some(text) = row.cells.get(&column.head).cloned() {
                        row.cells.insert(head.clone(), text);
                    }
                }
                table.columns.push(Column { head, node: Some(node.clone()), ..column.clone() });
            }
        }
        table
    }
}

/// One machine of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub line: usize,
    pub head: String,
    /// A name as `compare` takes it; [`HERE`] for this machine.
    pub machine: String,
    /// The node in whose place this column stands: a column of this machine is one of each node, where there are any.
    pub node: Option<String>,
    /// Laid over the parameters of each row.
    pub with: Params,
    pub show: Statistic,
}

impl Column {
    pub fn is_here(&self) -> bool {
        self.machine == HERE
    }
}

crate::words! {
    /// The statistic of takes that stands in a column.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Statistic as word {
        /// The figure as everywhere, with its interval.
        #[default]
        Figure = "figure",
        /// The arithmetic mean.
        Mean = "mean",
        /// The standard deviation of single takes.
        Deviation = "deviation",
        /// Half the width of Student's interval of the mean, 95 %.
        Student = "student",
        /// The least and the most of single takes, or of what a study gives as bounds.
        Least = "least",
        Most = "most",
    }
}

/// One line of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub line: usize,
    pub label: String,
    pub what: Content,
    /// The unit in which its figures are shown, as studies print it.
    pub unit: Option<String>,
    /// Its footnote.
    pub note: Option<String>,
    /// Texts in place of figures, by the head of the column.
    pub cells: BTreeMap<String, String>,
}

/// The things that stand in a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    Figure {
        /// Of the machines of the columns.
        key: FigureKey,
        /// Parameters that only studies state, such as a transport: laid over those of published figures.
        stated: Params,
        /// Of this machine, where that is another figure.
        ours: Option<FigureKey>,
        /// Why this machine has none.
        cannot: Option<String>,
        per: Option<Per>,
    },
    /// A line of the spec sheet by its key, and the key of this machine's where that is another one.
    Fact(String, Option<String>),
    /// Texts alone.
    Texts,
}

/// The cost by which a figure is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Per {
    Price,
    Watt,
}

/// A part of the study that cannot be had.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    pub what: String,
    pub why: String,
}

#[cfg(test)]
mod tests;
