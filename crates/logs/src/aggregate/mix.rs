//! The mix of requests, for replaying it: sizes of bodies, and a count of every path; requests by second are in
//! [`pace`](super::pace).
//!
//! Kept only where the settings ask for it. Bytes. Bounded: beyond [`MOST_PATHS`] those are given up as a whole, and
//! what is left is the sketch of all paths.

use serde::{Deserialize, Serialize};

use super::Sizes;
use super::bounded::{Bounded, Merge};
use super::distinct::Distinct;
use crate::hash;
use crate::scan::{Method, Record};

pub const MOST_PATHS: usize = 1 << 16;

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
        self.timed += u64::from(record.at.is_some());
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
}

impl Merge for Mix {
    fn merge(&mut self, other: &Mix) {
        self.bodies.merge(&other.bodies);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.heads = self.heads.saturating_add(other.heads);
        self.unsized_ = self.unsized_.saturating_add(other.unsized_);
        self.timed = self.timed.saturating_add(other.timed);
        self.paths.merge(&other.paths);
        self.distinct.merge(&other.distinct);
    }
}
