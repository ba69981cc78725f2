//! Documents of `boxscore doctor`: what about this host would spoil measurements, and which planted faults are found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fact::FactValue;
use crate::unit::Unit;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    Ok,
    Unknown,
    Warn,
    Bad,
}

/// One thing about this host that could spoil measurements.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckDoc {
    pub key: String,
    pub state: CheckState,
    pub found: String,
    pub wanted: String,
    /// How to change it.
    pub how: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorDoc {
    pub schema: String,
    pub checks: Vec<CheckDoc>,
}

/// The checks of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorOfDoc {
    pub machine: String,
    pub checks: Vec<CheckDoc>,
}

/// `boxscore doctor --on`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorManyDoc {
    pub schema: String,
    pub machines: Vec<DoctorOfDoc>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProofState {
    Pass,
    /// It could not be planted on this host.
    Unknown,
    Fail,
}

/// One figure or sentence of a planted fault: what was done, and what was read of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProofLineDoc {
    pub what: String,
    /// Of `planted` and `read`, where they are numbers.
    pub unit: Option<Unit>,
    pub planted: FactValue,
    pub read: Option<FactValue>,
    /// When it is read rightly: `within 1 %`, `the same`, `at most`, `refused`.
    pub wanted: String,
    pub state: ProofState,
    /// Why it failed or is unknown.
    pub why: Option<String>,
}

/// One planted fault.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProofDoc {
    pub key: String,
    /// Description of the planted fault.
    pub says: String,
    pub lines: Vec<ProofLineDoc>,
}

/// `boxscore doctor --prove`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProveDoc {
    pub schema: String,
    pub proofs: Vec<ProofDoc>,
    /// Number of planted faults that were found.
    pub passed: u64,
    /// Number of planted faults that were missed or misread.
    pub failed: u64,
    /// Number of faults that this machine cannot plant.
    pub unknown: u64,
    /// Length of the whole proof in seconds.
    pub seconds: f64,
}
