//! Sensors of nodes, and the system event logs of their BMCs.

use super::{Access, Failure};

/// One sensor of a node.
#[derive(Clone, Debug, PartialEq)]
pub struct Sensor {
    pub name: String,
    /// `None` where it has no reading.
    pub value: Option<f64>,
    /// As the BMC says it: `degrees C`, `Watts`, `RPM`.
    pub unit: String,
    pub status: Status,
}

model::words! {
    /// How a sensor stands to its thresholds.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Status as word {
        Ok = "ok",
        /// Beyond the first threshold.
        NonCritical = "non-critical",
        Critical = "critical",
        NonRecoverable = "non-recoverable",
        /// It has no reading, or the BMC says nothing of it.
        Unknown = "unknown",
    }
}

impl Status {
    /// True beyond a threshold.
    pub const fn is_fault(self) -> bool {
        matches!(self, Status::NonCritical | Status::Critical | Status::NonRecoverable)
    }
}

/// One entry of a system event log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its number there.
    pub id: String,
    /// By the BMC's clock, `2026-11-26 11:00:00`; `None` before that was set.
    pub time: Option<String>,
    pub sensor: String,
    pub event: String,
    /// False where it says that something has ended; `None` where it does not say.
    pub begins: Option<bool>,
    /// The reading and the threshold, where it has them.
    pub detail: Option<String>,
}

/// A way to read them. Results are in the order of the BMCs.
pub trait Health {
    fn sensors(&self, of: &[&Access]) -> Vec<Result<Vec<Sensor>, Failure>>;
    /// The last so many entries of the log, the oldest first.
    fn events(&self, last: u32, of: &[&Access]) -> Vec<Result<Vec<Event>, Failure>>;
}
