//! Figures of an aggregate that are read off its sums: ratios, hours and days, and what the times' unit looks like.

use std::collections::BTreeMap;

use model::traffic::StatusClass;

use super::sums::Sums;
use super::{Aggregate, CoarseTimes, Slot, Strata};
use crate::aggregate::bounded::Merge;

/// Why there is no mean of ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Unrated {
    /// No request has both a size and a time above 0.
    Nothing,
    /// So large a share of the lines has a time of 0 that the others stand for nothing.
    ZeroTime { share: f64 },
}

impl std::fmt::Display for Unrated {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Unrated::Nothing => to.write_str("no request has both a size and a time above 0"),
            Unrated::ZeroTime { share } => {
                write!(
                    to,
                    "{:.1} % of the requests took a time of 0: the clock of the log is too coarse",
                    share * 100.0
                )
            }
        }
    }
}

/// A share of requests with a time of 0 above which the mean of ratios says nothing.
const MOST_ZERO: f64 = 0.01;

/// Some hours or days and what was in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// Seconds since 1970 that the log's own clock showed when it began.
    pub local: i64,
    pub strata: Strata,
}

impl Aggregate {
    /// All requests together.
    pub fn totals(&self) -> Sums {
        self.classes.total()
    }

    /// Lines that were not read.
    pub fn skipped(&self) -> u64 {
        self.skips.total()
    }

    /// Mean of the per-request ratios in B/s, or why there is none.
    pub fn mean_of_ratios(&self) -> Result<f64, Unrated> {
        let totals = self.totals();
        let share = totals.zero_time as f64 / totals.requests.max(1) as f64;
        if share > MOST_ZERO {
            return Err(Unrated::ZeroTime { share });
        }
        totals.mean_of_ratios().ok_or(Unrated::Nothing)
    }

    /// All bytes over all time in B/s, of the requests that tell both.
    pub fn ratio_of_totals(&self) -> Option<f64> {
        let totals = self.totals();
        let bytes = totals.bytes.saturating_sub(self.untimed_bytes);
        let time_ns = totals.time_ns.saturating_sub(self.unsized_ns);
        let told = totals.untimed < totals.requests && totals.unsized_ < totals.requests;
        (told && time_ns > 0).then(|| bytes as f64 / (time_ns as f64 / 1e9))
    }

    /// All requests that the server did not fail (5xx).
    pub fn good(&self) -> Sums {
        let mut good = self.totals();
        good.take(&self.failed.total(StatusClass::Server));
        good
    }

    /// The ratio of totals of the requests that the server did not fail. Missing where failed and good ones lack a size
    /// or a time: what they told of the other is known of both together only.
    pub fn good_ratio_of_totals(&self) -> Option<f64> {
        let failed = self.failed.total(StatusClass::Server);
        if failed.requests == 0 {
            return self.ratio_of_totals();
        }
        let good = self.good();
        if failed.unsized_ > 0 || failed.untimed > 0 {
            return good.ratio_of_totals();
        }
        let bytes = good.bytes.saturating_sub(self.untimed_bytes);
        let time_ns = good.time_ns.saturating_sub(self.unsized_ns);
        let told = good.untimed < good.requests && good.unsized_ < good.requests;
        (told && time_ns > 0).then(|| bytes as f64 / (time_ns as f64 / 1e9))
    }

    /// The times as the histogram that is stored: ns, what took over an hour counted as saturated.
    pub fn histogram(&self) -> model::Histogram {
        let mut histogram = model::Histogram::default();
        self.times.bins().for_each(|bin| histogram.record_n(bin.low, bin.count));
        histogram
    }

    /// Requests by hour of the log's own clock; none where the log covers too many.
    pub fn hourly(&self) -> Option<Vec<Period>> {
        self.periods(3600)
    }

    /// Requests by day of the log's own clock; none where the log covers too many.
    pub fn daily(&self) -> Option<Vec<Period>> {
        self.periods(86_400)
    }

    fn periods(&self, seconds: i64) -> Option<Vec<Period>> {
        let mut all: BTreeMap<i64, Strata> = BTreeMap::new();
        for (slot, strata) in self.slots.sorted()? {
            let local = slot.local().div_euclid(seconds) * seconds;
            all.entry(local).or_default().merge(strata);
        }
        Some(all.into_iter().map(|(local, strata)| Period { local, strata }).collect())
    }

    /// Times by the slot with which an hour of the log's own clock begins; none where the log covers too many.
    pub fn times_by_hour(&self) -> Option<Vec<(&Slot, &CoarseTimes)>> {
        self.hours.sorted()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Settings, Writer};
    use super::*;
    use crate::scan::Record;

    /// Status, bytes and milliseconds of requests.
    fn of(requests: &[(u16, Option<u64>, Option<u64>)]) -> Aggregate {
        let (mut all, settings) = (Aggregate::default(), Settings::default());
        let mut writer = Writer::new(&mut all, &settings);
        for (n, (status, bytes, ms)) in requests.iter().enumerate() {
            let time_ns = ms.map(|ms| ms * 1_000_000);
            let (status, offset) = (Some(*status), n as u64 * 90);
            writer.add(&Record { status, bytes: *bytes, time_ns, offset, ..Record::default() });
        }
        drop(writer);
        all
    }

    #[test]
    fn failures_are_left_out_of_the_good_speed() {
        let good = [(200, Some(4000), Some(10)), (404, Some(1000), Some(10))];
        let speeds = |more: &[(u16, Option<u64>, Option<u64>)]| {
            let all = of(&[&good[..], more].concat());
            (all.ratio_of_totals(), all.good_ratio_of_totals(), all.good().requests)
        };
        assert_eq!(speeds(&[]), (Some(250e3), Some(250e3), 2));
        assert_eq!(speeds(&[(504, Some(0), Some(980))]), (Some(5e3), Some(250e3), 2));
        // A failure without a time or a size is in neither.
        assert_eq!(speeds(&[(502, Some(100), None)]), (Some(250e3), Some(250e3), 2));
        // So is a good request; its bytes are then in no speed.
        assert_eq!(speeds(&[(504, Some(0), Some(980)), (200, Some(7), None)]).1, Some(250e3));
        // What told a part only is known of good and failed ones together.
        assert_eq!(speeds(&[(502, Some(100), None), (200, Some(7), None)]).1, None);
        assert_eq!(of(&[(500, Some(100), Some(5))]).good_ratio_of_totals(), None);
    }
}
