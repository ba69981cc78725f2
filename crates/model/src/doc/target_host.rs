//! The host of a target while the target was measured, as another boxscore there recorded it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The host of a target during the measured takes of one arm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TargetHostDoc {
    pub target: String,
    pub arm: String,
    /// Measured takes, and those of them into which a whole tick of telemetry fell.
    pub takes: usize,
    pub takes_seen: usize,
    /// Ticks of a second that lie wholly in measured takes.
    pub ticks: usize,
    /// One line without a full stop.
    pub sentence: String,
    pub figures: Vec<HostFigureDoc>,
}

/// One column of telemetry over these ticks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFigureDoc {
    /// The instrument, such as `cpu-use`.
    pub source: String,
    pub metric: String,
    /// The part that it is of, such as `cpu=3`; absent where it is of the whole host.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
    pub unit: String,
    pub median: f64,
    pub lowest: f64,
    pub highest: f64,
}
