//! The document of `compare --matrix`: figures over chosen parameters. Base units.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::Card;
use crate::finding::Validity;
use crate::metric::Better;
use crate::params::Params;
use crate::unit::Unit;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixDoc {
    pub schema: String,
    /// The chosen parameters: the last one has the rows, those before it the columns.
    pub params: Vec<String>,
    pub tables: Vec<MatrixTableDoc>,
    /// Differences between columns, and figures that were left out.
    pub notes: Vec<String>,
}

/// One metric, or one family of metrics that differ in the size in their names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixTableDoc {
    /// The instrument's card, where it is known here; not printed.
    #[serde(skip)]
    pub card: Option<&'static Card>,
    pub instrument: String,
    /// Without the size, where the rows or columns are sizes that the names hold.
    pub metric: String,
    pub unit: Unit,
    pub better: Better,
    pub definition: u32,
    /// Parameters that are the same in the whole table, and tell it from other tables.
    pub params: Params,
    pub columns: Vec<MatrixColumnDoc>,
    /// Values of the last parameter; null for figures that do not have it.
    pub rows: Vec<Option<String>>,
    /// By row and column; pairs without a figure are not there.
    pub cells: Vec<MatrixCellDoc>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixColumnDoc {
    /// Machine, label or run.
    pub side: String,
    /// Of the parameters but the last; null where it is not among the figure's.
    pub values: Vec<Option<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MatrixCellDoc {
    pub row: usize,
    pub column: usize,
    pub metric: String,
    pub params: Params,
    /// Median of the takes, or the published figure; null where it was refused or none was measured.
    pub value: Option<f64>,
    /// The 95 % interval of the median; of a published figure what `bounds` says.
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub bounds: String,
    /// Measured takes; 0 for a published figure.
    pub n: u64,
    pub point: bool,
    pub validity: Validity,
    pub reasons: Vec<String>,
    /// The run that it is of, or the study.
    pub source: String,
}
