//! A quarter hour of a log, by which requests are told apart in time.

use serde::{Deserialize, Serialize};

/// A quarter hour since 1970 (UTC) and the log's zone in quarter hours: hours and days of any clock are whole slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Slot {
    pub quarter: i64,
    pub zone: i8,
}

impl Slot {
    /// Seconds since 1970 (UTC) at which it begins.
    pub fn start(self) -> i64 {
        self.quarter * 900
    }

    /// The hour since 1970 (UTC) that it is in.
    pub fn hour(self) -> i64 {
        self.quarter.div_euclid(4)
    }

    /// The same by the log's own clock.
    pub fn local(self) -> i64 {
        (self.quarter + i64::from(self.zone)) * 900
    }
}
