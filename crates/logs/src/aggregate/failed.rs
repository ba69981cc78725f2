//! Sums of failed requests by class of size, those with a status from 400 to 499 apart from those from 500 on: how long a
//! failure takes says nothing of how fast good answers are served.
//!
//! Times in ns, sizes in B. Failures are few, so that only the classes that occur are kept.

use std::collections::BTreeMap;

use model::traffic::{self, StatusClass};
use serde::{Deserialize, Serialize};

use super::Strata;
use super::bounded::Merge;
use super::size;
use super::sums::{Sums, ratio_of};
use crate::scan::Record;

/// The class of a status; what a line does not tell is no failure.
pub fn status_class(status: Option<u16>) -> StatusClass {
    match status {
        Some(500..) => StatusClass::Server,
        Some(400..) => StatusClass::Client,
        _ => StatusClass::Good,
    }
}

/// The class of work of a class of status and one of size.
fn work_class(status: StatusClass, size: usize) -> u32 {
    traffic::work_class(status, u32::try_from(size).ok().filter(|_| size != size::UNKNOWN))
}

/// Sums of failed requests by class of work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedStrata(BTreeMap<u32, Sums>);

impl FailedStrata {
    /// Adds a request that failed; any other is not added.
    pub fn add(&mut self, record: &Record<'_>) {
        let status = status_class(record.status);
        if status != StatusClass::Good {
            let ratio = ratio_of(record.bytes, record.time_ns);
            let class = work_class(status, size::class_of(record.bytes));
            self.0.entry(class).or_default().add(record.bytes, record.time_ns, ratio);
        }
    }

    /// All sizes of a class of status together.
    pub fn total(&self, status: StatusClass) -> Sums {
        let mut total = Sums::default();
        let of = self.0.iter().filter(|(class, _)| traffic::status_of(**class) == status);
        of.for_each(|(_, sums)| total.merge(sums));
        total
    }

    /// The classes of work of `all` requests, these among them.
    pub fn parted(&self, all: &Strata) -> Vec<(u32, Sums)> {
        let mut good = all.0;
        for (class, sums) in &self.0 {
            let size = traffic::size_of(*class).map_or(size::UNKNOWN, |size| size as usize);
            if let Some(of_size) = good.get_mut(size) {
                of_size.take(sums);
            }
        }
        let good = good.into_iter().enumerate();
        let good = good.map(|(size, sums)| (work_class(StatusClass::Good, size), sums));
        let failed = self.0.iter().map(|(class, sums)| (*class, *sums));
        good.chain(failed).filter(|(_, sums)| sums.requests > 0).collect()
    }
}

impl Merge for FailedStrata {
    fn merge(&mut self, other: &FailedStrata) {
        for (class, sums) in &other.0 {
            self.0.entry(*class).or_default().merge(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_and_failed_requests_are_all_requests() {
        let (mut all, mut failed) = (Strata::default(), FailedStrata::default());
        for (status, bytes, time_ns) in [
            (Some(200), Some(100), Some(7)),
            (Some(404), Some(100), Some(1)),
            (Some(503), Some(100), Some(30_000)),
            (Some(503), None, Some(5)),
            (None, Some(5000), None),
        ] {
            let record = Record { status, bytes, time_ns, ..Record::default() };
            all.0[size::class_of(bytes)].add(bytes, time_ns, ratio_of(bytes, time_ns));
            failed.add(&record);
        }
        let parted = failed.parted(&all);
        let of = |status, size| {
            let class = traffic::work_class(status, size);
            parted.iter().find(|(known, _)| *known == class).map(|(_, sums)| (sums.requests, sums.time_ns))
        };
        assert_eq!(parted.len(), 5);
        assert_eq!(of(StatusClass::Good, Some(1)), Some((1, 7)));
        assert_eq!(of(StatusClass::Client, Some(1)), Some((1, 1)));
        assert_eq!(of(StatusClass::Server, Some(1)), Some((1, 30_000)));
        assert_eq!(of(StatusClass::Server, None), Some((1, 5)));
        assert_eq!(failed.total(StatusClass::Server).time_ns, 30_005);
    }
}
