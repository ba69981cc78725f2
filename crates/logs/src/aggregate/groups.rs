//! Groups of `--by`, whatever their number: with percentiles while they are few, with exact sums while they are not too
//! many, and the largest of any number.
//!
//! Each step merges exactly: whether there are more groups than a step holds does not depend on their order. Of any
//! number, amounts are estimates that are never too low; how much too high is said by
//! [`CountMin::ERROR`](super::sketch::CountMin::ERROR).

use model::log_linear::{LogLinear, highest_of};
use serde::{Deserialize, Serialize};

use super::bounded::{Bounded, Merge};
use super::paths::{By, Paths, Top};
use super::sums::{self, Sums};
use crate::scan::Record;

/// Times of a group, to 0.8 %, and ratios, to 3 %.
pub type GroupTimes = LogLinear<6, { highest_of(42) }>;
type GroupRatios = LogLinear<4, { highest_of(63) }>;

/// Groups whose distributions are kept.
pub const MOST_GROUPS: usize = 4096;
/// Groups whose sums are kept.
pub const MOST_SUMMED: usize = 100_000;

/// Sums over the requests of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupSums {
    pub sums: Sums,
    /// Requests with a status from 400 on, and from 500 on.
    pub client_errors: u64,
    pub server_errors: u64,
}

impl GroupSums {
    fn add(&mut self, record: &Record<'_>, ratio: Option<u64>) {
        self.sums.add(record.bytes, record.time_ns, ratio);
        let status = record.status.unwrap_or(0);
        self.client_errors += u64::from((400..500).contains(&status));
        self.server_errors += u64::from(status >= 500);
    }
}

impl Merge for GroupSums {
    fn merge(&mut self, other: &GroupSums) {
        self.sums.merge(&other.sums);
        self.client_errors = self.client_errors.saturating_add(other.client_errors);
        self.server_errors = self.server_errors.saturating_add(other.server_errors);
    }
}

/// The distributions of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spread {
    pub times: GroupTimes,
    pub ratios: GroupRatios,
}

impl Merge for Spread {
    fn merge(&mut self, other: &Spread) {
        LogLinear::merge(&mut self.times, &other.times);
        LogLinear::merge(&mut self.ratios, &other.ratios);
    }
}

/// A group by its key; without distributions where there are too many groups.
pub type Group<'g> = (&'g [u8], &'g GroupSums, Option<&'g Spread>);

/// The groups of many requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Groups {
    spreads: Bounded<Vec<u8>, Spread, MOST_GROUPS>,
    sums: Bounded<Vec<u8>, GroupSums, MOST_SUMMED>,
    /// None until there is a group.
    top: Option<Box<Paths>>,
}

impl Groups {
    /// Empty ones, to be filled at the same time and then merged with these.
    pub fn beside(&self) -> Groups {
        Groups { top: self.top.as_ref().map(|top| Box::new(top.beside())), ..Groups::default() }
    }

    /// Adds a request to the group of this key.
    pub fn add(&mut self, key: &Vec<u8>, record: &Record<'_>) {
        let ratio = sums::ratio_of(record.bytes, record.time_ns);
        if let Some(group) = self.sums.at(key) {
            group.add(record, ratio);
        }
        if let Some(spread) = self.spreads.at(key) {
            if let Some(time_ns) = record.time_ns {
                spread.times.record(time_ns);
            }
            if let Some(ratio) = ratio {
                spread.ratios.record(ratio);
            }
        }
        let [bytes, time_ns] = [record.bytes, record.time_ns].map(Option::unwrap_or_default);
        let top = self.top.get_or_insert_default();
        let hash = top.offer(key, record.offset, bytes, time_ns);
        top.add(hash, &[1, bytes, time_ns]);
    }

    /// The groups in the order of their keys; none at all where there are more than are summed.
    pub fn sorted(&self) -> Option<Vec<Group<'_>>> {
        let sums = self.sums.sorted()?;
        let Some(spreads) = self.spreads.sorted() else {
            return Some(sums.into_iter().map(|(key, sums)| (&key[..], sums, None)).collect());
        };
        // Both have the same keys.
        let both = sums.into_iter().zip(spreads);
        Some(both.map(|((key, sums), (_, spread))| (&key[..], sums, Some(spread))).collect())
    }

    /// The groups with the most requests, of any number of groups.
    pub fn top(&self, most: usize) -> Vec<Top<'_>> {
        self.top.as_ref().map_or_else(Vec::new, |top| top.top(By::Requests, most))
    }

    /// True if there are too many groups for their distributions to be kept, and too many for their sums.
    pub fn overflowed(&self) -> (bool, bool) {
        (self.spreads.overflowed(), self.sums.overflowed())
    }

    pub fn count(&self) -> Option<usize> {
        (!self.sums.overflowed()).then(|| self.sums.len())
    }
}

impl Merge for Groups {
    fn merge(&mut self, other: &Groups) {
        self.spreads.merge(&other.spreads);
        self.sums.merge(&other.sums);
        match (&mut self.top, &other.top) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `different` clients, of which the first asks every tenth time.
    fn of(numbers: std::ops::Range<u64>, different: u64) -> Groups {
        let mut all = Groups::default();
        for n in numbers {
            let client = if n % 10 == 0 { 0 } else { crate::hash::mix(n, 3) % different };
            let record = Record {
                bytes: Some(n % 1000),
                time_ns: Some(1 + n % 77),
                status: Some(if n % 50 == 0 { 503 } else { 200 }),
                offset: n * 80,
                ..Record::default()
            };
            all.add(&format!("10.0.0.{client}").into_bytes(), &record);
        }
        all
    }

    #[test]
    fn few_have_percentiles_more_have_sums_and_of_any_number_the_largest_are_known() {
        let (few, more, many) = (of(0..20_000, 900), of(0..30_000, 20_000), of(0..300_000, u64::MAX));
        let first = |all: &Groups| {
            let sorted = all.sorted()?;
            let (_, sums, spread) = *sorted.iter().find(|(key, ..)| *key == b"10.0.0.0")?;
            Some((sums.sums.requests, sums.server_errors, spread.map(|spread| spread.times.total())))
        };
        let (requests, failed, timed) = first(&few).unwrap();
        assert!(requests >= 2000 && timed == Some(requests) && failed == 400, "{requests} {failed}");
        let (requests, failed, timed) = first(&more).unwrap();
        assert!(requests >= 3000 && timed.is_none() && failed == 600, "{requests} {failed}");
        assert_eq!((first(&many), many.count(), many.overflowed()), (None, None, (true, true)));
        let top = many.top(3);
        assert_eq!(top[0].path, b"10.0.0.0");
        assert!((30_000..30_200).contains(&top[0].requests), "{top:?}");
    }

    #[test]
    fn order_and_cuts_change_nothing() {
        let bytes = |all: &Groups| postcard::to_stdvec(all).unwrap();
        for different in [50, 20_000, u64::MAX] {
            let whole = of(0..130_000, different);
            for cut in [1, 60_000] {
                let (one, two) = (of(0..cut, different), of(cut..130_000, different));
                let mut merged = two.clone();
                merged.merge(&one);
                assert!(bytes(&merged) == bytes(&whole), "{different} {cut}");
                let mut beside = whole.beside();
                beside.merge(&one);
                beside.merge(&two);
                assert!(bytes(&beside) == bytes(&whole), "{different} {cut}");
            }
            let back: Groups = postcard::from_bytes(&bytes(&whole)).unwrap();
            assert!(bytes(&back) == bytes(&whole));
        }
    }
}
