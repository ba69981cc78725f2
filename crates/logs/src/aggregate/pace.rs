//! Requests by second, and failures by minute and by quarter hour.
//!
//! Seconds since 1970. Bounded: beyond [`MOST_MINUTES`] seconds and minutes are given up as a whole, and what is left
//! are quarter hours. Requests whose line tells no time of day are in none of them.

use serde::{Deserialize, Serialize};

use super::bounded::{Bounded, Merge};
use super::{MOST_SLOTS, Slot, widest};
use crate::scan::At;

/// 69 days.
pub const MOST_MINUTES: usize = 100_000;
const SECONDS: usize = 60;

/// Requests with a status from 400 on, and from 500 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    pub client: u64,
    pub server: u64,
}

impl Failures {
    fn add(&mut self, is_server: bool) {
        *if is_server { &mut self.server } else { &mut self.client } += 1;
    }
}

impl Merge for Failures {
    fn merge(&mut self, other: &Failures) {
        self.client = self.client.saturating_add(other.client);
        self.server = self.server.saturating_add(other.server);
    }
}

/// The first and the last second of a minute in which the server failed.
type Failed = Option<(u8, u8)>;
/// A minute as it is written.
type Written = (Vec<u32>, Failures, Failed);

/// Requests of each second of a minute, and those of it that failed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Minute {
    seconds: Vec<u32>,
    pub failures: Failures,
    /// Of requests with a status from 500 on.
    pub server_failed: Failed,
}

impl Minute {
    fn add(&mut self, second: usize, requests: u32) {
        self.seconds.resize(SECONDS, 0);
        if let Some(count) = self.seconds.get_mut(second) {
            *count = count.saturating_add(requests);
        }
    }

    fn add_failure(&mut self, second: u8, is_server: bool) {
        self.failures.add(is_server);
        if is_server {
            self.server_failed = widest(self.server_failed, Some((second, second)));
        }
    }

    pub fn requests(&self) -> u64 {
        self.seconds.iter().map(|count| u64::from(*count)).sum()
    }
}

impl Merge for Minute {
    fn merge(&mut self, other: &Minute) {
        self.seconds.resize(SECONDS, 0);
        for (mine, theirs) in self.seconds.iter_mut().zip(&other.seconds) {
            *mine = mine.saturating_add(*theirs);
        }
        self.failures.merge(&other.failures);
        self.server_failed = widest(self.server_failed, other.server_failed);
    }
}

impl From<Minute> for Written {
    fn from(minute: Minute) -> Written {
        (minute.seconds, minute.failures, minute.server_failed)
    }
}

impl TryFrom<Written> for Minute {
    type Error = &'static str;

    fn try_from((seconds, failures, server_failed): Written) -> Result<Minute, &'static str> {
        if seconds.len() == SECONDS {
            Ok(Minute { seconds, failures, server_failed })
        } else {
            Err("a minute without 60 seconds")
        }
    }
}

/// Many requests over time.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Pace {
    minutes: Bounded<i64, Minute, MOST_MINUTES>,
    failures: Bounded<Slot, Failures, MOST_SLOTS>,
}

impl Pace {
    /// Adds requests of one second.
    #[inline]
    pub fn add(&mut self, at: At, requests: u32) {
        if let Some(minute) = self.minutes.at(&at.seconds.div_euclid(60)) {
            minute.add(at.seconds.rem_euclid(60) as usize, requests);
        }
    }

    /// Adds a failure to the minute and the quarter hour that its request is counted in.
    pub fn add_failure(&mut self, at: At, is_server: bool) {
        if let Some(minute) = self.minutes.at(&at.seconds.div_euclid(60)) {
            // As a minute that has seconds.
            minute.add(0, 0);
            // Below 60 it fits.
            minute.add_failure(at.seconds.rem_euclid(60) as u8, is_server);
        }
        let slot = Slot { quarter: at.seconds.div_euclid(900), zone: at.zone };
        if let Some(failures) = self.failures.at(&slot) {
            failures.add(is_server);
        }
    }

    /// Requests by second, by rising second, without those that have none; none where there are too many minutes.
    pub fn seconds(&self) -> Option<Vec<(i64, u64)>> {
        let mut all = Vec::new();
        for (minute, counts) in self.minutes.sorted()? {
            let counts = (minute * 60..).zip(&counts.seconds).filter(|(_, count)| **count > 0);
            all.extend(counts.map(|(second, count)| (second, u64::from(*count))));
        }
        Some(all)
    }

    /// Minutes since 1970 that had requests, in their order; none where there are too many.
    pub fn minutes(&self) -> Option<Vec<(&i64, &Minute)>> {
        self.minutes.sorted()
    }

    /// True if nothing was added.
    pub fn is_empty(&self) -> bool {
        self.minutes.is_empty() && !self.minutes.overflowed()
    }

    /// Failures by quarter hour, without those that have none; none where there are too many.
    pub fn failures(&self) -> Option<Vec<(&Slot, &Failures)>> {
        self.failures.sorted()
    }
}

impl Merge for Pace {
    fn merge(&mut self, other: &Pace) {
        self.minutes.merge(&other.minutes);
        self.failures.merge(&other.failures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_minutes_and_failures_are_those_of_the_requests() {
        let mut all = Pace::default();
        let at = |seconds| At { seconds, zone: 4 };
        all.add(at(1_700_000_000), 3);
        all.add(at(1_700_000_001), 5);
        all.add(at(1_700_000_000), 1);
        all.add(at(-1), 2);
        all.add_failure(at(1_700_000_001), true);
        all.add_failure(at(-1), false);
        assert_eq!(all.seconds(), Some(vec![(-1, 2), (1_700_000_000, 4), (1_700_000_001, 5)]));
        let minutes = all.minutes().unwrap();
        assert_eq!((*minutes[0].0, minutes[0].1.requests(), minutes[1].1.requests()), (-1, 2, 9));
        assert_eq!(minutes[1].1.failures, Failures { client: 0, server: 1 });
        assert_eq!((minutes[0].1.server_failed, minutes[1].1.server_failed), (None, Some((21, 21))));
        let mut later = Pace::default();
        later.add_failure(at(1_700_000_030), true);
        later.merge(&all);
        assert_eq!(later.minutes().unwrap()[1].1.server_failed, Some((21, 50)));
        assert!(Pace::default().is_empty() && !later.is_empty());
        let failures = all.failures().unwrap();
        assert_eq!((failures.len(), failures[0].0.quarter, failures[0].1.client), (2, -1, 1));
    }
}
