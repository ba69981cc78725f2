//! The paths with the most requests, bytes and time, whatever the number of paths.
//!
//! Candidates come from three samples, their amounts from a Count-Min sketch: both merge exactly. An amount is never
//! too low; how much too high it may be is said by [`CountMin::ERROR`].

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::candidates::Candidates;
use super::recent::Recent;
use super::sketch::{Amounts, CountMin};
use crate::hash;

/// The order of a ranking of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Requests,
    Bytes,
    Time,
}

/// One of the largest paths; amounts are estimates, never too low.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Top<'p> {
    /// As it stands in the log, escapes included; at most 1 KiB of it.
    pub path: &'p [u8],
    pub requests: u64,
    pub bytes: u64,
    pub time_ns: u64,
}

/// The paths of many requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Paths {
    by_requests: Candidates,
    by_bytes: Candidates,
    by_time: Candidates,
    sketch: CountMin,
    /// Requests whose line tells no path.
    pathless: u64,
}

impl Paths {
    /// Empty ones, to be filled at the same time and then merged with these.
    pub fn beside(&self) -> Paths {
        Paths {
            by_requests: self.by_requests.beside(),
            by_bytes: self.by_bytes.beside(),
            by_time: self.by_time.beside(),
            ..Paths::default()
        }
    }

    /// Draws a request for the samples; gives the hash of its path, whose amounts are to be [added](Self::add).
    #[inline(always)]
    pub fn offer(&mut self, path: &[u8], offset: u64, bytes: u64, time_ns: u64) -> u64 {
        let key = hash::name(path);
        let drawn = hash::request(key, offset, bytes, time_ns);
        let may_stay = self.by_requests.may_stay(drawn, 1)
            | self.by_bytes.may_stay(drawn, bytes)
            | self.by_time.may_stay(drawn, time_ns);
        if may_stay {
            self.enter(key, path, drawn, bytes, time_ns);
        }
        key
    }

    #[cold]
    fn enter(&mut self, key: u64, path: &[u8], drawn: u64, bytes: u64, time_ns: u64) {
        self.by_requests.offer(key, path, drawn, 1);
        self.by_bytes.offer(key, path, drawn, bytes);
        self.by_time.offer(key, path, drawn, time_ns);
    }

    /// Adds the amounts of a request that was drawn.
    pub fn add(&mut self, key: u64, amounts: &Amounts) {
        self.sketch.add(key, amounts);
    }

    /// Counts a request whose line tells no path.
    pub fn add_pathless(&mut self) {
        self.pathless += 1;
    }

    /// Adds requests by way of `recent`, which is to be [settled](Self::settle): of each its path's hash, its bytes
    /// and its time.
    #[inline(always)]
    pub(super) fn put_off(&mut self, requests: [&[u64]; 3], recent: &mut Recent) {
        recent.add_all(requests, &mut self.sketch);
    }

    /// Adds what was put off.
    pub(super) fn settle(&mut self, recent: &mut Recent) {
        recent.settle(&mut self.sketch);
    }

    pub fn merge(&mut self, other: &Paths) {
        self.by_requests.merge(&other.by_requests);
        self.by_bytes.merge(&other.by_bytes);
        self.by_time.merge(&other.by_time);
        self.sketch.merge(&other.sketch);
        self.pathless = self.pathless.saturating_add(other.pathless);
    }

    /// Requests whose line tells no path.
    pub fn pathless(&self) -> u64 {
        self.pathless
    }

    /// Paths by their hash, of the candidates for the most requests.
    pub fn names(&self) -> HashMap<u64, &[u8]> {
        self.by_requests.kept().into_iter().collect()
    }

    /// The `most` largest paths, the largest first; of equal ones in the order of their bytes.
    pub fn top(&self, by: By, most: usize) -> Vec<Top<'_>> {
        let (candidates, amount): (_, fn(&Amounts) -> u64) = match by {
            By::Requests => (&self.by_requests, |amounts| amounts[0]),
            By::Bytes => (&self.by_bytes, |amounts| amounts[1]),
            By::Time => (&self.by_time, |amounts| amounts[2]),
        };
        let mut all: Vec<(Amounts, &[u8])> =
            candidates.kept().into_iter().map(|(key, path)| (self.sketch.estimate(key), path)).collect();
        all.sort_unstable_by(|a, b| amount(&b.0).cmp(&amount(&a.0)).then(a.1.cmp(b.1)));
        all.truncate(most);
        let top = |(amounts, path): (Amounts, _)| Top {
            path,
            requests: amounts[0],
            bytes: amounts[1],
            time_ns: amounts[2],
        };
        all.into_iter().map(top).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_found_among_many() {
        let mut paths = Paths::default();
        let add = |paths: &mut Paths, path: &[u8], line, bytes, time_ns| {
            let key = paths.offer(path, line, bytes, time_ns);
            paths.add(key, &[1, bytes, time_ns]);
        };
        for line in 0..60_000u64 {
            // A hot path, a large one, a slow one, and 50,000 others.
            match line % 100 {
                0..10 => add(&mut paths, b"/hot", line, 10, 10),
                10 => add(&mut paths, b"/large", line, 100_000, 10),
                11 => add(&mut paths, b"/slow", line, 10, 1_000_000),
                12 => paths.add_pathless(),
                _ => add(&mut paths, format!("/other/{line}").as_bytes(), line, 10, 10),
            }
        }
        let first = |by| paths.top(by, 3)[0].clone();
        let (hot, large, slow) = (first(By::Requests), first(By::Bytes), first(By::Time));
        assert_eq!((hot.path, large.path, slow.path), (&b"/hot"[..], &b"/large"[..], &b"/slow"[..]));
        let near = |found: u64, exact: u64, whole: u64| {
            found >= exact && (found - exact) as f64 <= CountMin::ERROR * whole as f64
        };
        assert!(near(hot.requests, 6000, 60_000), "{hot:?}");
        assert!(near(large.bytes, 60_000_000, 61_000_000), "{large:?}");
        assert!(near(slow.time_ns, 600_000_000, 601_000_000), "{slow:?}");
        assert_eq!((paths.pathless(), paths.top(By::Requests, 10_000).len()), (600, 4096));
    }
}
