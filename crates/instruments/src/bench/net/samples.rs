//! The round trips of one take, in whole nanoseconds, with the lost ones, which count as longer than any.
//!
//! Quantiles are samples themselves (nearest rank), not taken from a histogram. A quantile that falls on a lost round
//! trip, or that has fewer than ten beyond it, is missing.

use model::histogram::has_percentile;
use model::{Better, Fault, Histogram, Metric, MetricInfo, Ratio, Record, RecordExt, Seconds};

#[derive(Clone, Debug, Default)]
pub struct Samples {
    ns: Vec<u64>,
    answered: usize,
    pub lost: u64,
    /// Answers to lost round trips that arrived after all.
    pub late: u64,
}

impl Samples {
    /// Empties the list and makes room for `count`. The memory is touched now, not while measuring.
    pub fn clear(&mut self, count: u64) {
        self.ns.clear();
        self.ns.resize(usize::try_from(count).unwrap_or(usize::MAX), 1);
        (self.answered, self.lost, self.late) = (0, 0, 0);
    }

    #[inline]
    pub fn add(&mut self, ns: u64) {
        if let Some(place) = self.ns.get_mut(self.answered) {
            *place = ns;
            self.answered += 1;
        }
    }

    pub fn sent(&self) -> u64 {
        self.answered as u64 + self.lost
    }

    pub fn answered(&self) -> u64 {
        self.answered as u64
    }

    fn sort(&mut self) {
        self.ns.truncate(self.answered);
        self.ns.sort_unstable();
    }

    /// A quantile of sorted samples. `None` if it falls on a lost one or there are too few.
    fn quantile(&self, q: f64) -> Option<u64> {
        if !has_percentile(self.sent(), q) {
            return None;
        }
        let sent = self.sent() as f64;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rank below the count")]
        let rank = (q * sent).ceil().max(1.0) as usize;
        self.ns.get(rank - 1).copied()
    }
}

/// After this many losses in a row the far end counts as unreachable.
const LOST_IN_A_ROW: u64 = 20;
/// Longest time that a take waits for lost answers, in total.
const WAITED_NS: u64 = 5_000_000_000;

/// Counts lost answers and the time spent waiting for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silence {
    in_a_row: u64,
    waited_ns: u64,
}

impl Silence {
    #[inline]
    pub fn end(&mut self) {
        self.in_a_row = 0;
    }

    /// Counts one loss. Fails with the number in a row once nothing gets through any more.
    pub fn goes_on(&mut self, took_ns: u64) -> Result<(), u64> {
        self.in_a_row += 1;
        self.waited_ns += took_ns;
        if self.in_a_row < LOST_IN_A_ROW { Ok(()) } else { Err(self.in_a_row) }
    }

    /// True once a take has waited long enough for lost answers.
    pub fn is_long(&self) -> bool {
        self.waited_ns > WAITED_NS
    }
}

pub const RTT_P99: Metric<Seconds> =
    Metric::new("rtt-p99", Better::Lower, "99th percentile of the take's round trips");
pub const RTT_P999: Metric<Seconds> =
    Metric::new("rtt-p999", Better::Lower, "99.9th percentile of the take's round trips");
pub const ONE_WAY_P99: Metric<Seconds> =
    Metric::new("one-way-p99", Better::Neither, "half of the 99th percentile of round trips");
pub const ONE_WAY_P999: Metric<Seconds> =
    Metric::new("one-way-p999", Better::Neither, "half of the 99.9th percentile of round trips");

/// The metrics as which round trips are pushed.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    pub median: Metric<Seconds>,
    pub p99: Metric<Seconds>,
    pub p999: Metric<Seconds>,
    pub all: MetricInfo,
    /// `None` for tests in which a lost message ends the take.
    pub lost: Option<Metric<Ratio>>,
}

/// The metrics for one way: half of each round trip.
#[derive(Clone, Copy, Debug)]
pub struct Halves {
    pub median: Metric<Seconds>,
    pub p99: Metric<Seconds>,
    pub p999: Metric<Seconds>,
}

impl Samples {
    /// Sorts the samples and pushes quantiles, all samples, and the share of lost ones. Fails when there is no sample.
    pub fn push(
        &mut self,
        names: &Names,
        halves: Option<&Halves>,
        record: &mut dyn Record,
    ) -> Result<(), Fault> {
        self.sort();
        let pairs = [
            (0.5, &names.median, halves.map(|halves| &halves.median)),
            (0.99, &names.p99, halves.map(|halves| &halves.p99)),
            (0.999, &names.p999, halves.map(|halves| &halves.p999)),
        ];
        for (q, whole, half) in pairs {
            // The median of a single round trip is that one.
            let ns = if q == 0.5 && self.lost == 0 { self.median() } else { self.quantile(q) };
            let Some(ns) = ns else { continue };
            record.push(whole, Seconds::from_ns(ns));
            if let Some(half) = half {
                record.push(half, Seconds::from_ns(ns) / 2.0);
            }
        }
        let mut histogram = Histogram::default();
        self.ns.iter().for_each(|ns| histogram.record(*ns));
        record.histogram(&names.all, histogram);
        if let Some(lost) = &names.lost {
            record.push(lost, Ratio(self.lost as f64 / self.sent().max(1) as f64));
        }
        if self.lost > 0 {
            record.remark(
                "lost",
                &format!(
                    "{} of {} had no answer in time ({} of them were answered later); they count as longer than any",
                    self.lost,
                    self.sent(),
                    self.late
                ),
            );
        }
        if self.answered == 0 {
            return Err(Fault::new(format!("none of {} messages was answered in time", self.sent())));
        }
        Ok(())
    }

    fn median(&self) -> Option<u64> {
        self.ns.get(self.ns.len().saturating_sub(1) / 2).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(ns: &[u64], lost: u64) -> Samples {
        let mut samples = Samples::default();
        samples.clear(ns.len() as u64);
        ns.iter().for_each(|ns| samples.add(*ns));
        samples.lost = lost;
        samples.sort();
        samples
    }

    #[test]
    fn quantiles_are_samples_and_lost_ones_count_as_the_longest() {
        let thousand: Vec<u64> = (1..=1_000).rev().collect();
        let all = samples(&thousand, 0);
        assert_eq!((all.quantile(0.5), all.quantile(0.99)), (Some(500), Some(990)));
        // Ten beyond it, or none.
        assert_eq!((all.quantile(0.999), samples(&thousand[..999], 0).quantile(0.99)), (None, None));
        assert_eq!(samples(&thousand, 10).quantile(0.99), Some(1_000));
        assert_eq!(samples(&thousand, 11).quantile(0.99), None);
        assert_eq!(samples(&[5], 0).median(), Some(5));
    }

    #[test]
    fn more_than_there_is_room_for_is_not_kept() {
        let mut samples = Samples::default();
        samples.clear(1);
        samples.add(7);
        samples.add(8);
        assert_eq!((samples.sent(), samples.answered()), (1, 1));
    }
}
