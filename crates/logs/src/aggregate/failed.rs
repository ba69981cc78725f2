//! Sums of failed requests by class of size, those with a status from 400 to 499 apart from those from 500 on: how long
//! a failure takes says nothing of how fast good answers are served.
//!
//! Times in ns, sizes in B. Failures are few, so that only the classes that occur are kept.

use std::collections::BTreeMap;

use model::traffic::{self, StatusClass};
use serde::{Deserialize, Serialize};

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
pub fn work_class(status: StatusClass, size: usize) -> u32 {
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

    /// The sums by class of work.
    pub fn by_class(&self) -> impl Iterator<Item = (u32, &Sums)> {
        self.0.iter().map(|(class, sums)| (*class, sums))
    }
}

impl Merge for FailedStrata {
    fn merge(&mut self, other: &FailedStrata) {
        for (class, sums) in &other.0 {
            self.0.entry(*class).or_default().merge(sums);
        }
    }
}
