//! The document of `compare --ratio`: how the figures at two values of one parameter relate on each machine, and how
//! that differs between machines. Base units; ratios have none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::row::RowDoc;
use super::{ArmDoc, Paragraph};
use crate::card::Cards;
use crate::finding::Finding;
use crate::params::Params;

/// `boxscore compare --ratio`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioDoc {
    /// The cards by which the document was made; not printed.
    #[serde(skip)]
    pub cards: Cards,
    pub schema: String,
    /// A summary of the rows in a few sentences: ready to paste.
    #[schemars(with = "String")]
    pub paragraph: Paragraph,
    /// The parameter, and its two values: every ratio is `over` / `under`.
    pub param: String,
    pub over: String,
    pub under: String,
    /// The first is the base of the ratios of ratios.
    pub machines: Vec<ArmDoc>,
    pub rows: Vec<RatioRowDoc>,
    pub ratios_of_ratios: Vec<RatioOfRatiosDoc>,
    pub findings: Vec<Finding>,
    /// Caveats, numbered as shown.
    pub footnotes: Vec<String>,
}

crate::words! {
    /// The basis of an interval.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "kebab-case")]
    pub enum Method as word {
        /// Blocks of one study.
        Blocks = "blocks",
        /// Medians of runs.
        Runs = "runs",
        /// A published figure on either side: no interval.
        Point = "point",
        /// There is none, as `why` says.
        None = "none",
    }
}

/// One figure on one machine. In the row, `arm` and `base` are the two values of the parameter, and `params` what else
/// tells the figure apart: what both have, and what either has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioRowDoc {
    pub machine: String,
    #[serde(flatten)]
    pub row: RowDoc,
    /// Parameters that only the figure above, or only the one below, has.
    pub over_params: Params,
    pub under_params: Params,
    pub method: Method,
    /// Of a published ratio: the bounds that were printed with it.
    pub bounds: Option<BoundsDoc>,
    /// The study that a point is of.
    pub source: Option<String>,
}

/// Bounds of a published figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BoundsDoc {
    pub low: f64,
    pub high: f64,
    /// The kind of bounds: `range`, `minmax`, `best-worst`.
    pub kind: String,
}

/// The ratio on one machine over that on the first. In the row, `arm` and `base` are the machines, `arm_value` and
/// `base_value` their ratios, and `better` means that the value above gained on the one below.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RatioOfRatiosDoc {
    #[serde(flatten)]
    pub row: RowDoc,
    pub method: Method,
    /// Bounds of the ratio of ratios, where one of the ratios was published with bounds.
    pub bounds: Option<BoundsDoc>,
    /// Parameters in which the two machines' figures differ besides: `jvm: zero, on box2 hotspot`.
    pub unlike: Vec<String>,
}
