//! Documents of what is asked of the BMCs of nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `boxscore lab power`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabPowerDoc {
    pub schema: String,
    /// `status`, `on`, `off`, `soft`, `cycle` or `reset`.
    pub action: String,
    /// In the order in which they were named.
    pub nodes: Vec<LabPowerNodeDoc>,
    /// Nodes by their state.
    pub states: Vec<LabStateDoc>,
    /// Failures that were the same, together.
    pub failures: Vec<LabBmcFailureDoc>,
    /// True if the user stopped before all nodes were done.
    pub interrupted: bool,
}

/// The power of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabPowerNodeDoc {
    pub node: String,
    /// True if its BMC said how it is, and that is what was asked for.
    pub ok: bool,
    /// `on` or `off`, as its BMC said at the end; null where it did not say, or the action failed.
    pub state: Option<String>,
    /// The kind of the failure: `no-answer`, `password`, `unchanged` ...
    pub failure: Option<String>,
    pub why: Option<String>,
}

/// Nodes of one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabStateDoc {
    /// `on` or `off`.
    pub state: String,
    pub count: usize,
    /// The nodes in folded form: `atom[001-130]`.
    pub nodes: String,
}

/// Nodes that failed alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabBmcFailureDoc {
    pub failure: String,
    pub why: String,
    pub hint: Option<String>,
    pub count: usize,
    /// The nodes in folded form.
    pub nodes: String,
}
