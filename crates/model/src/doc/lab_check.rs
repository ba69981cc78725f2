//! Document of machines held against what work on them needs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `boxscore lab check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabCheckDoc {
    pub schema: String,
    /// The folder whose room was asked for.
    pub folder: String,
    /// In the order in which they were named.
    pub hosts: Vec<LabCheckedDoc>,
    /// Hosts with equal results, together, in the order of their first one.
    pub groups: Vec<LabCheckGroupDoc>,
    /// True if the user stopped before all hosts had answered.
    pub interrupted: bool,
}

/// Results that several hosts may share; null where it is not known.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabResultDoc {
    /// True if an ssh server took the connection.
    pub reachable: Option<bool>,
    /// True if the login went without asking.
    pub key: Option<bool>,
    /// `root` (the login is root's), `yes`, `asks` (it wants a password, or refuses), `missing`.
    pub sudo: Option<String>,
    /// As `uname -m` says it.
    pub architecture: Option<String>,
    /// `on`, `off` or `unknown`, as the node's BMC says; null where none was asked.
    pub bmc: Option<String>,
    pub faults: Vec<LabFaultDoc>,
}

/// A thing of a host that keeps work off it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabFaultDoc {
    /// A failure of `lab run` (`refused`, `login-refused` ...), or `silent`, `sudo`, `architecture`, `folder`, `space`,
    /// `clock`; `bmc-` before what `lab power` calls a failure (`bmc-password` ...).
    pub kind: String,
    pub why: String,
    pub hint: Option<String>,
}

/// One host of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabCheckedDoc {
    pub host: String,
    /// True if it has no fault.
    pub ok: bool,
    #[serde(flatten)]
    pub result: LabResultDoc,
    /// Room that the user may fill in the folder.
    pub free_bytes: Option<u64>,
    /// The host's clock less ours, in seconds.
    pub clock_offset: Option<f64>,
    /// How far the offset may be wrong.
    pub clock_within: Option<f64>,
    pub seconds: f64,
}

/// Hosts whose results are equal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabCheckGroupDoc {
    pub count: usize,
    /// The hosts in folded form.
    pub hosts: String,
    pub ok: bool,
    #[serde(flatten)]
    pub result: LabResultDoc,
    /// The least of them.
    pub free_bytes: Option<u64>,
    /// That of the host whose clock is furthest off.
    pub clock_offset: Option<f64>,
    pub clock_within: Option<f64>,
}
