//! A quarter hour of a log, by which requests are told apart in time.

use serde::{Deserialize, Serialize};

/// Seconds from 1970 beyond which no time of day is: so that what was read can be added to without a check.
pub(super) const LATEST: u64 = 1 << 48;

/// A quarter hour since 1970 (UTC) and the log's zone in quarter hours: hours and days of any clock are whole slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "(i64, i8)")]
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

impl TryFrom<(i64, i8)> for Slot {
    type Error = &'static str;

    fn try_from((quarter, zone): (i64, i8)) -> Result<Slot, &'static str> {
        let is_time = quarter.unsigned_abs() <= LATEST / 900;
        if is_time { Ok(Slot { quarter, zone }) } else { Err("a quarter hour of no year") }
    }
}
