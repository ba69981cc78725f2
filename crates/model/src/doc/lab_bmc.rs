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

/// `boxscore lab bootdev`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabBootdevDoc {
    pub schema: String,
    /// `status`, or the device that was set.
    pub action: String,
    pub nodes: Vec<LabBootdevNodeDoc>,
    /// Nodes by what they boot from.
    pub states: Vec<LabStateDoc>,
    pub failures: Vec<LabBmcFailureDoc>,
    pub interrupted: bool,
}

/// The source that one node boots from, as its BMC says it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabBootdevNodeDoc {
    pub node: String,
    pub ok: bool,
    /// `none` (as its own setup says), `pxe`, `disk`, `cdrom`, `bios`.
    pub device: Option<String>,
    /// False where it is for the next boot alone.
    pub persistent: Option<bool>,
    pub efi: Option<bool>,
    pub failure: Option<String>,
    pub why: Option<String>,
}

/// `boxscore lab sensors`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabSensorsDoc {
    pub schema: String,
    pub nodes: Vec<LabSensorsNodeDoc>,
    pub failures: Vec<LabBmcFailureDoc>,
    pub interrupted: bool,
}

/// The sensors of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabSensorsNodeDoc {
    pub node: String,
    /// True if its BMC told them, and none is beyond a threshold.
    pub ok: bool,
    pub sensors: Vec<LabSensorDoc>,
    pub failure: Option<String>,
    pub why: Option<String>,
}

/// One sensor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabSensorDoc {
    pub name: String,
    /// Null where it has no reading.
    pub value: Option<f64>,
    /// As the BMC says it: `degrees C`, `Watts`, `RPM`.
    pub unit: String,
    /// `ok`, `non-critical`, `critical`, `non-recoverable`, `unknown`.
    pub status: String,
}

/// `boxscore lab sel`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabSelDoc {
    pub schema: String,
    /// Entries of each node that were asked for, the last ones.
    pub last: u32,
    pub nodes: Vec<LabSelNodeDoc>,
    pub failures: Vec<LabBmcFailureDoc>,
    pub interrupted: bool,
}

/// The system event log of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabSelNodeDoc {
    pub node: String,
    /// True if its BMC told it.
    pub ok: bool,
    /// The oldest first.
    pub entries: Vec<LabEventDoc>,
    pub failure: Option<String>,
    pub why: Option<String>,
}

/// One entry of a system event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabEventDoc {
    pub id: String,
    /// By the clock of the BMC: `2026-11-26 11:00:00`; null before that was set.
    pub time: Option<String>,
    pub sensor: String,
    pub event: String,
    /// False where it says that something has ended; null where it does not say.
    pub begins: Option<bool>,
    /// The reading and the threshold, where it has them.
    pub detail: Option<String>,
}

/// Nodes of one state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabStateDoc {
    /// `on`, `off`; `pxe, next boot`.
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
