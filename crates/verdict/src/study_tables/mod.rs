//! The tables of a study file, filled: each row with the figures of the machines of its columns.
//!
//! Published figures are points. Those of runs have the median and interval of their run's document. Not done here:
//! finding runs and machines, and why a run is missing.

mod measured;
mod row;

pub use measured::NOT_YET;
use model::data::{Price, Published, RunData};
use model::doc::{RunDoc, StudyColumnDoc, StudyTableDoc};
use model::study_file::{Column, StudyTable};
use model::{Cards, Fact, Params};

/// The machine of a column: what is known of it.
#[derive(Clone, Debug, Default)]
pub struct TableSide<'a> {
    pub published: &'a [Published],
    /// The first that has a figure gives it.
    pub runs: Vec<MeasuredRun<'a>>,
    pub facts: &'a [Fact],
    pub price: Option<&'a Price>,
    pub watts: Option<f64>,
    /// Of a machine whose runs the study makes: the figures that it has not.
    pub absent: Vec<Absent>,
}

/// A run with its document, in which takes are.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredRun<'a> {
    pub doc: &'a RunDoc,
    pub data: &'a RunData,
}

/// A figure that a machine has not, by instrument and parameters, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    pub instrument: String,
    /// A figure is meant where no parameter that both name differs.
    pub params: Params,
    pub why: String,
}

/// One table, filled.
pub fn table<'a>(table: &StudyTable, cards: Cards, side: &dyn Fn(&Column) -> TableSide<'a>) -> StudyTableDoc {
    let sides: Vec<(&Column, TableSide<'a>)> =
        table.columns.iter().map(|column| (column, side(column))).collect();
    StudyTableDoc {
        name: table.name.clone(),
        title: table.title.clone(),
        columns: table.columns.iter().map(column_doc).collect(),
        rows: table.rows.iter().map(|one| row::row(one, &sides, cards)).collect(),
        notes: table.notes.clone(),
    }
}

fn column_doc(column: &Column) -> StudyColumnDoc {
    StudyColumnDoc {
        head: column.head.clone(),
        machine: column.machine.clone(),
        node: column.node.clone(),
        show: column.show,
    }
}
