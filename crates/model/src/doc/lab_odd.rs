//! Document of `boxscore lab odd`: which nodes of a group are not like the others, and what says so.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::FactValue;
use crate::format::{number, quantity, ratio};
use crate::params::Params;
use crate::unit::Unit;

/// `boxscore lab odd`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabOddDoc {
    pub schema: String,
    /// In the order of the expression.
    pub nodes: Vec<OddNodeDoc>,
    /// Figures that enough nodes had, so that they were judged.
    pub figures: u64,
    /// Facts that most nodes share, so that they were judged.
    pub facts: u64,
    /// Fewest nodes of which figures are judged.
    pub fewest: u64,
    /// Share of groups of equal nodes in which a figure calls any node odd, at most.
    pub level: f64,
    /// A figure that is within this of the median, as a difference of logarithms, is not odd.
    pub margin: f64,
    /// Nodes of the expression that were not judged.
    pub missing: Vec<OddMissingDoc>,
}

impl LabOddDoc {
    /// True if every node was judged and none is odd.
    pub fn is_well(&self) -> bool {
        self.missing.is_empty() && self.nodes.iter().all(|node| node.evidence.is_empty())
    }
}

/// One node of the group; odd where there is evidence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OddNodeDoc {
    pub node: String,
    /// Its run.
    pub run: String,
    /// Facts, then rules, then figures, of which the surest is first.
    pub evidence: Vec<OddEvidenceDoc>,
}

/// A node without a run that could be judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OddMissingDoc {
    pub node: String,
    pub why: String,
}

/// One thing in which a node is not like the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OddEvidenceDoc {
    /// A fact of which most nodes have another value.
    Fact {
        key: String,
        value: FactValue,
        usual: FactValue,
        unit: Option<Unit>,
        /// Nodes that have the usual value.
        count: u64,
        /// Nodes of which it is known.
        of: u64,
    },
    /// A rule that its run breaks, and the runs of most others do not.
    Rule { rule: String, says: String },
    /// A figure that stands apart.
    Figure {
        /// For people.
        name: String,
        instrument: String,
        metric: String,
        params: Params,
        unit: Unit,
        value: f64,
        median: f64,
        /// Value over median.
        ratio: f64,
        /// Distance of the logarithms over their spread among the nodes.
        score: f64,
        /// Corrected for all nodes and figures.
        p: f64,
    },
}

/// A value with its unit.
fn shown(value: &FactValue, unit: Option<Unit>) -> String {
    match (value, unit) {
        (FactValue::Number(value), Some(unit)) => quantity(*value, unit),
        (value, _) => value.text(),
    }
}

impl fmt::Display for OddEvidenceDoc {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OddEvidenceDoc::Fact { key, value, usual, unit, count, of } => {
                let (value, usual) = (shown(value, *unit), shown(usual, *unit));
                write!(out, "{key} is {value}; of {count} of {of} nodes it is {usual}")
            }
            OddEvidenceDoc::Rule { rule, says } => write!(out, "{rule}: {says}"),
            OddEvidenceDoc::Figure { name, unit, value, median, ratio: by, score, .. } => write!(
                out,
                "{name}: {}, {} of the median {}; {} spreads from it",
                quantity(*value, *unit),
                ratio(*by),
                quantity(*median, *unit),
                number(score.abs().round())
            ),
        }
    }
}
