//! The sides of a comparison in order, figure by figure, and over all figures of a scope.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::params::Params;
use crate::scope::Scope;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankDoc {
    pub instrument: String,
    pub metric: String,
    pub params: Params,
    pub arm: String,
    pub rank: u32,
    pub worst_rank: u32,
}

/// Neighbours of which no pair could be told apart on one figure, best first. Ties do not carry over: a side may stand
/// in two groups whose others differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TieDoc {
    pub instrument: String,
    pub metric: String,
    pub params: Params,
    pub arms: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IndexDoc {
    /// Figures of the whole machine (`threads=all`) or of one thread: each has an index of its own. Disks, networks
    /// and loads of servers have a share in neither.
    pub scope: Scope,
    pub arm: String,
    /// The machine that is 1.
    pub reference: String,
    pub value: Option<f64>,
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Which components are missing, when the index is.
    pub why: Option<String>,
    pub components: u64,
    /// Components that could not be told.
    #[serde(default)]
    pub open: u64,
}

impl IndexDoc {
    /// Some of its figures were told. Where none was, it would be read as their verdict.
    pub const fn is_told(&self) -> bool {
        self.value.is_some() && self.components > 1 && self.open < self.components
    }

    /// The way that it goes, as far as its interval tells: true for better.
    pub fn way(&self) -> Option<bool> {
        let (low, high) = self.low.zip(self.high)?;
        let is_apart = self.is_told() && (low > 1.0 || high < 1.0);
        is_apart.then_some(low > 1.0)
    }
}
