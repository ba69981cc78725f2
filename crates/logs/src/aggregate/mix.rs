//! The mix of requests, for replaying it: sizes of bodies, requests by second, and a count of every path.
//!
//! Kept only where the settings ask for it. Bytes, seconds since 1970. Bounded: beyond [`MOST_MINUTES`] or
//! [`MOST_PATHS`] those are given up as a whole, and what is left are quarter hours and the sketch of all paths.

use serde::{Deserialize, Serialize};

use super::Sizes;
use super::bounded::{Bounded, Merge};
use super::distinct::Distinct;
use crate::hash;
use crate::scan::{Method, Record};

/// 69 days.
pub const MOST_MINUTES: usize = 100_000;
pub const MOST_PATHS: usize = 1 << 16;
const SECONDS: usize = 60;

/// Requests of each second of a minute.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<u32>", into = "Vec<u32>")]
pub struct Minute(Vec<u32>);

impl Minute {
    fn add(&mut self, second: usize) {
        self.0.resize(SECONDS, 0);
        if let Some(count) = self.0.get_mut(second) {
            *count = count.saturating_add(1);
        }
    }
}

impl Merge for Minute {
    fn merge(&mut self, other: &Minute) {
        self.0.resize(SECONDS, 0);
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine = mine.saturating_add(*theirs);
        }
    }
}

impl From<Minute> for Vec<u32> {
    fn from(minute: Minute) -> Vec<u32> {
        minute.0
    }
}

impl TryFrom<Vec<u32>> for Minute {
    type Error = &'static str;

    fn try_from(counts: Vec<u32>) -> Result<Minute, &'static str> {
        if counts.len() == SECONDS { Ok(Minute(counts)) } else { Err("a minute without 60 seconds") }
    }
}

/// Requests for one path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathRequests {
    pub requests: u64,
    /// Answers whose size is told, but for those to HEAD, and their bytes.
    pub bodies: u64,
    pub bytes: u64,
}

impl Merge for PathRequests {
    fn merge(&mut self, other: &PathRequests) {
        self.requests = self.requests.saturating_add(other.requests);
        self.bodies = self.bodies.saturating_add(other.bodies);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// The mix of many requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Mix {
    pub bodies: Sizes,
    pub bytes: u64,
    pub heads: u64,
    /// Other requests whose line tells no size.
    pub unsized_: u64,
    /// Requests whose line tells a time.
    pub timed: u64,
    pub minutes: Bounded<i64, Minute, MOST_MINUTES>,
    /// By hash of the path.
    pub paths: Bounded<u64, PathRequests, MOST_PATHS>,
    pub distinct: Distinct,
}

impl Mix {
    pub fn add(&mut self, record: &Record<'_>) {
        let is_head = record.method == Some(Method::Head);
        let body = record.bytes.filter(|_| !is_head);
        match body {
            Some(bytes) => {
                self.bodies.record(bytes);
                self.bytes = self.bytes.saturating_add(bytes);
            }
            None if is_head => self.heads += 1,
            None => self.unsized_ += 1,
        }
        if let Some(at) = record.at {
            self.timed += 1;
            if let Some(minute) = self.minutes.at(&at.seconds.div_euclid(60)) {
                minute.add(at.seconds.rem_euclid(60) as usize);
            }
        }
        if let Some(path) = record.path {
            let key = hash::name(path);
            self.distinct.add(key);
            if let Some(asked) = self.paths.at(&key) {
                asked.requests += 1;
                asked.bodies += u64::from(body.is_some());
                asked.bytes = asked.bytes.saturating_add(body.unwrap_or(0));
            }
        }
    }

    /// Requests by second, by rising second, without those that have none; none where there are too many minutes.
    pub fn seconds(&self) -> Option<Vec<(i64, u64)>> {
        let mut all = Vec::new();
        for (minute, counts) in self.minutes.sorted()? {
            let counts = (minute * 60..).zip(&counts.0).filter(|(_, count)| **count > 0);
            all.extend(counts.map(|(second, count)| (second, u64::from(*count))));
        }
        Some(all)
    }
}

impl Merge for Mix {
    fn merge(&mut self, other: &Mix) {
        self.bodies.merge(&other.bodies);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.heads = self.heads.saturating_add(other.heads);
        self.unsized_ = self.unsized_.saturating_add(other.unsized_);
        self.timed = self.timed.saturating_add(other.timed);
        self.minutes.merge(&other.minutes);
        self.paths.merge(&other.paths);
        self.distinct.merge(&other.distinct);
    }
}
