//! The document of nodes that were booted from the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `boxscore lab boot`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabBootDoc {
    pub schema: String,
    /// The interface that served.
    pub interface: String,
    /// In the order in which they were named.
    pub nodes: Vec<LabBootNodeDoc>,
    /// MAC addresses that asked for an address and are of no node.
    pub unknown: Vec<String>,
    pub notes: Vec<String>,
    /// True if the user stopped before all nodes were done.
    pub interrupted: bool,
}

/// How far one node came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabBootNodeDoc {
    pub node: String,
    /// True if it came to the last stage.
    pub ok: bool,
    /// `off`, `BIOS`, `DHCP`, `kernel`, `agent up`, `inspected`, `written` or `scored`.
    pub stage: String,
    /// When each stage was seen first.
    pub seen: Vec<LabStageDoc>,
    pub why: Option<String>,
    /// The command of `--via` that measures it; null where boxscore does not run in it.
    pub via: Option<String>,
    /// The disk of `--write`; null without that, and where none was chosen.
    pub disk: Option<LabBootDiskDoc>,
    /// The run of its quick score; null without `--score`.
    pub run: Option<String>,
}

/// A disk that an image was to be written to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabBootDiskDoc {
    /// As the node's kernel calls it.
    pub name: String,
    pub model: Option<String>,
    pub serial: String,
    /// Its size, in B.
    pub bytes: u64,
    /// Bytes of the image that were written and read back with the right hash; null where that was not so.
    pub verified: Option<u64>,
}

/// A stage of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabStageDoc {
    pub stage: String,
    /// Since the nodes were turned on.
    pub seconds: f64,
}
