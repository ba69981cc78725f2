//! Requests over time as finely as a bounded number of buckets allows: by second in a short log, by day in a long one.
//!
//! Kept beside an aggregate where it is asked for. The step is the finest one at which the buckets that hold something
//! are few enough, which no order of lines and no cut into pieces changes; so timelines merge exactly. Requests without
//! a time are in no bucket. Times in ns, to 3 %.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::bounded::{AtMost, Merge};
use super::failed::FailedStrata;
use super::slot::LATEST;
use super::sums::ratio_of;
use super::{CoarseTimes, Strata, size};
use crate::scan::Record;
use crate::scan::clock::At;

/// Seconds of a bucket; each is a multiple of the one before. Buckets begin where the log's own clock shows a multiple.
pub const STEPS: [i64; 9] = [1, 5, 15, 60, 300, 900, 3600, 21_600, 86_400];
/// Buckets that are told apart.
const MOST: usize = 4096;

/// Counts of one bucket of time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bucket {
    pub strata: Strata,
    /// The failed ones of these.
    pub failed: FailedStrata,
    pub times: CoarseTimes,
    /// Requests with a status from 400 on, and from 500 on.
    pub client_errors: u64,
    pub server_errors: u64,
}

impl Merge for Bucket {
    fn merge(&mut self, other: &Bucket) {
        self.strata.merge(&other.strata);
        self.failed.merge(&other.failed);
        Merge::merge(&mut self.times, &other.times);
        self.client_errors = self.client_errors.saturating_add(other.client_errors);
        self.server_errors = self.server_errors.saturating_add(other.server_errors);
    }
}

/// Where a bucket begins by the log's own clock (seconds since 1970), and that clock's zone in quarter hours.
type Place = (i64, i8);

/// Buckets by time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct Timeline {
    /// Index into [`STEPS`].
    step: usize,
    buckets: HashMap<Place, Box<Bucket>>,
    overflowed: bool,
}

/// The start of the step that a second is in.
fn start(local: i64, step: usize) -> i64 {
    let step = STEPS.get(step).copied().unwrap_or(1);
    local.div_euclid(step) * step
}

impl Timeline {
    /// Adds a request.
    pub fn add(&mut self, record: &Record<'_>) {
        let Some(at) = record.at else { return };
        let Some(bucket) = self.at((start(at.local(), self.step), at.zone)) else { return };
        let (bytes, time_ns) = (record.bytes, record.time_ns);
        bucket.strata.0[size::class_of(bytes)].add(bytes, time_ns, ratio_of(bytes, time_ns));
        bucket.failed.add(record);
        if let Some(time_ns) = time_ns {
            bucket.times.record(time_ns);
        }
        let status = record.status.unwrap_or(0);
        bucket.client_errors += u64::from((400..500).contains(&status));
        bucket.server_errors += u64::from(status >= 500);
    }

    /// The bucket of a place; coarser steps are taken until there is room for a new one.
    fn at(&mut self, mut place: Place) -> Option<&mut Bucket> {
        while !self.overflowed && !self.buckets.contains_key(&place) && self.buckets.len() >= MOST {
            self.coarsen(self.step + 1);
            place.0 = start(place.0, self.step);
        }
        if self.overflowed {
            return None;
        }
        Some(self.buckets.entry(place).or_default())
    }

    /// To at least this step.
    fn coarsen(&mut self, step: usize) {
        if step >= STEPS.len() {
            *self = Timeline { overflowed: true, ..Timeline::default() };
        }
        if self.overflowed || step <= self.step {
            return;
        }
        self.step = step;
        for ((local, zone), bucket) in std::mem::take(&mut self.buckets) {
            self.buckets.entry((start(local, step), zone)).or_default().merge(&bucket);
        }
    }

    /// Seconds of a bucket; none where there are too many days.
    pub fn step(&self) -> Option<i64> {
        if self.overflowed { None } else { STEPS.get(self.step).copied() }
    }

    /// Buckets in the order of their beginnings, each with the time at which it begins.
    pub fn sorted(&self) -> Vec<(At, &Bucket)> {
        let at = |place: &Place| At { seconds: place.0 - i64::from(place.1) * 900, zone: place.1 };
        let mut all: Vec<(At, &Bucket)> =
            self.buckets.iter().map(|(place, bucket)| (at(place), bucket.as_ref())).collect();
        all.sort_unstable_by_key(|(at, _)| *at);
        all
    }
}

impl Merge for Timeline {
    fn merge(&mut self, other: &Timeline) {
        self.coarsen(if other.overflowed { STEPS.len() } else { other.step });
        for (place, theirs) in &other.buckets {
            let place = (start(place.0, self.step), place.1);
            if let Some(mine) = self.at(place) {
                mine.merge(theirs);
            }
        }
    }
}

/// The step and the buckets in the order of their places; nothing where there were too many.
#[derive(Serialize, Deserialize)]
struct Stored(Option<(u8, Placed)>);

type Placed = AtMost<(Place, Box<Bucket>), MOST>;

impl From<Timeline> for Stored {
    fn from(from: Timeline) -> Stored {
        if from.overflowed {
            return Stored(None);
        }
        let mut all: Vec<(Place, Box<Bucket>)> = from.buckets.into_iter().collect();
        all.sort_unstable_by_key(|(place, _)| *place);
        Stored(Some((from.step as u8, AtMost(all))))
    }
}

impl TryFrom<Stored> for Timeline {
    type Error = &'static str;

    fn try_from(stored: Stored) -> Result<Timeline, &'static str> {
        let Some((step, AtMost(all))) = stored.0 else {
            return Ok(Timeline { overflowed: true, ..Timeline::default() });
        };
        let step = usize::from(step);
        if all.iter().any(|((local, _), _)| local.unsigned_abs() > LATEST) {
            return Err("a bucket of no year");
        }
        if step >= STEPS.len() || all.iter().any(|((local, _), _)| start(*local, step) != *local) {
            return Err("buckets of no step");
        }
        if !all.is_sorted_by(|a, b| a.0 < b.0) {
            return Err("buckets out of order");
        }
        Ok(Timeline { step, buckets: all.into_iter().collect(), overflowed: false })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn record(seconds: i64, zone: i8) -> Record<'static> {
        let at = Some(At { seconds, zone });
        Record { at, bytes: Some(1000), time_ns: Some(2_000_000), status: Some(200), ..Record::default() }
    }

    fn of(times: &[(i64, i8)]) -> Timeline {
        let mut all = Timeline::default();
        times.iter().for_each(|(seconds, zone)| all.add(&record(*seconds, *zone)));
        all
    }

    fn requests(all: &Timeline) -> u64 {
        all.sorted().iter().map(|(_, bucket)| bucket.strata.total().requests).sum()
    }

    #[test]
    fn the_step_grows_with_what_is_covered() {
        const T: i64 = 1_700_000_000;
        for (seconds, stride, step) in
            [(60, 1, Some(1)), (86_400, 1, Some(60)), (604_800, 7, Some(300)), (1 << 33, 80_000, None)]
        {
            let times: Vec<(i64, i8)> = (0..seconds / stride).map(|n| (T + n * stride, 4)).collect();
            let all = of(&times);
            assert_eq!(all.step(), step, "{seconds}");
            assert!(step.is_none() || requests(&all) == times.len() as u64);
        }
    }

    #[test]
    fn hours_are_those_of_the_logs_clock() {
        // Nepal is 5 h 45 min ahead: its hours begin at 15 past.
        let mut all = of(&[(1_700_000_000, 23)]);
        all.coarsen(6);
        assert_eq!(all.sorted()[0].0.local() % 3600, 0);
        assert_eq!(all.sorted()[0].0.seconds % 3600, 900);
    }

    #[test]
    fn errors_are_counted_apart() {
        let mut all = Timeline::default();
        for status in [200, 404, 499, 500, 503] {
            all.add(&Record { status: Some(status), ..record(1_700_000_000, 0) });
        }
        all.add(&Record { at: None, ..record(0, 0) });
        let sorted = all.sorted();
        assert_eq!((sorted.len(), sorted[0].1.client_errors, sorted[0].1.server_errors), (1, 2, 2));
    }

    #[test]
    fn buckets_that_cannot_be_are_refused() {
        let read = |step: u8, places: &[Place]| {
            let all: Vec<(Place, Bucket)> = places.iter().map(|place| (*place, Bucket::default())).collect();
            let bytes = postcard::to_stdvec(&Some((step, all))).unwrap();
            postcard::from_bytes::<Timeline>(&bytes).is_ok()
        };
        assert!(read(3, &[(60, 0), (60, 1), (120, 0)]));
        for (step, places) in
            [(9, &[(0, 0)][..]), (3, &[(61, 0)]), (3, &[(60, 0), (0, 0)]), (0, &[(i64::MIN, 0)])]
        {
            assert!(!read(step, places), "{step} {places:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn the_parts_are_the_whole(
            start in 1_000_000_000i64..2_000_000_000,
            stride in 1i64..4000,
            n in 0i64..9000,
            cut in 0.0f64..1.0,
        ) {
            let times: Vec<(i64, i8)> = (0..n).map(|i| (start + i * stride, (i % 2) as i8 * 4)).collect();
            let (left, right) = times.split_at((times.len() as f64 * cut) as usize);
            let (mut one, mut two) = (of(left), of(right));
            one.merge(&of(right));
            two.merge(&of(left));
            let whole = of(&times);
            prop_assert!(one == whole && two == whole);
            let bytes = postcard::to_stdvec(&one).unwrap();
            let back: Timeline = postcard::from_bytes(&bytes).unwrap();
            prop_assert!(back == whole && postcard::to_stdvec(&two).unwrap() == bytes);
        }
    }
}
