//! Answers with status 4xx and 5xx: a count per status, and the first request that got it.
//!
//! They are failures and are counted as such too (`failure.rs`). Counting allocates nothing.

use serde::{Deserialize, Serialize};

/// The first status that is counted.
const FIRST: u16 = 400;
const KINDS: usize = 200;
/// More than any host can count.
const MOST: u64 = 1 << 50;

/// Counts per status, and the first request of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<Met>", into = "Vec<Met>")]
pub struct Statuses {
    counts: [u64; KINDS],
    first: [u32; KINDS],
}

/// One status that occurred.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Met {
    pub status: u16,
    pub count: u64,
    /// Index of the first request that got it.
    pub first: u32,
}

impl Default for Statuses {
    fn default() -> Statuses {
        Statuses { counts: [0; KINDS], first: [0; KINDS] }
    }
}

impl Statuses {
    /// Counts an answer to request `which`, if its status is in 400..600.
    #[inline]
    pub fn add(&mut self, status: u16, which: u32) {
        let at = usize::from(status.wrapping_sub(FIRST));
        if let (Some(count), Some(first)) = (self.counts.get_mut(at), self.first.get_mut(at)) {
            if *count == 0 {
                *first = which;
            }
            *count += 1;
        }
    }

    /// Adds the counts of `other`. For a status that both have, the first request stays that of `self`.
    pub fn merge(&mut self, other: &Statuses) {
        for (at, theirs) in other.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            if self.counts[at] == 0 {
                self.first[at] = other.first[at];
            }
            self.counts[at] += theirs;
        }
    }

    /// The statuses that occurred, ascending.
    pub fn seen(&self) -> impl Iterator<Item = Met> + '_ {
        let all = (FIRST..).zip(self.counts).zip(self.first);
        all.filter(|((_, count), _)| *count > 0).map(|((status, count), first)| Met { status, count, first })
    }

    /// The number of answers with any of these statuses.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

impl From<Statuses> for Vec<Met> {
    fn from(statuses: Statuses) -> Vec<Met> {
        statuses.seen().collect()
    }
}

impl TryFrom<Vec<Met>> for Statuses {
    type Error = &'static str;

    fn try_from(all: Vec<Met>) -> Result<Statuses, &'static str> {
        let mut statuses = Statuses::default();
        for met in all {
            let at = usize::from(met.status.wrapping_sub(FIRST));
            let count = statuses.counts.get_mut(at).ok_or("a status that is not a failure")?;
            if *count > 0 || met.count == 0 || met.count > MOST {
                return Err("impossible counts of statuses");
            }
            (*count, statuses.first[at]) = (met.count, met.first);
        }
        Ok(statuses)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_counted_with_the_first_request_of_each() {
        let (mut one, mut other) = (Statuses::default(), Statuses::default());
        for (status, which) in [(404, 3), (404, 1), (503, 2), (200, 9), (600, 9), (0, 9)] {
            one.add(status, which);
        }
        other.add(404, 7);
        other.add(599, 8);
        one.merge(&other);
        let seen: Vec<_> = one.seen().map(|met| (met.status, met.count, met.first)).collect();
        assert_eq!((seen, one.total()), (vec![(404, 3, 3), (503, 1, 2), (599, 1, 8)], 5));
        let bytes = postcard::to_stdvec(&one).unwrap();
        assert_eq!(postcard::from_bytes::<Statuses>(&bytes).unwrap(), one);
    }

    #[test]
    fn statuses_that_nobody_can_have_counted_are_refused() {
        let met = |status, count| Met { status, count, first: 0 };
        for bad in
            [vec![met(200, 1)], vec![met(404, 0)], vec![met(404, 1), met(404, 1)], vec![met(500, 1 << 51)]]
        {
            assert!(Statuses::try_from(bad.clone()).is_err(), "{bad:?}");
        }
    }
}
