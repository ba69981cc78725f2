//! Times of one take's requests in the order in which they were made, and clusterperf's percentiles of them.
//!
//! Whole nanoseconds. A percentile is a sample itself: of n sorted ones the median is number n/2, the 90th percentile
//! number n - round(n/10), and so on (from 0, halves rounded up). With fewer than ten beyond it, there is no
//! percentile.

use model::histogram::has_percentile;
use model::{Better, BytesPerSec, Histogram, Metric, MetricInfo, PerSec, Record, RecordExt, Seconds};

#[derive(Clone, Debug, Default)]
pub struct Times {
    ns: Vec<u64>,
    count: usize,
}

impl Times {
    /// Empty, with room for `count`, whose memory is touched now.
    pub fn clear(&mut self, count: usize) {
        self.ns.clear();
        self.ns.resize(count, 1);
        self.count = 0;
    }

    /// `false` once there is no room left.
    #[inline]
    pub fn add(&mut self, ns: u64) -> bool {
        if let Some(place) = self.ns.get_mut(self.count) {
            *place = ns;
            self.count += 1;
        }
        self.count < self.ns.len()
    }

    /// How many more there is room for.
    pub fn room(&self) -> usize {
        self.ns.len().saturating_sub(self.count)
    }

    pub fn count(&self) -> u64 {
        self.count as u64
    }

    pub fn as_slice(&self) -> &[u64] {
        self.ns.get(..self.count).unwrap_or_default()
    }

    pub fn sum_ns(&self) -> u64 {
        self.as_slice().iter().sum()
    }

    pub fn histogram(&self) -> Histogram {
        let mut histogram = Histogram::default();
        self.as_slice().iter().for_each(|ns| histogram.record(*ns));
        histogram
    }

    /// Sorted from here on.
    pub fn sort(&mut self) {
        self.ns.truncate(self.count);
        self.ns.sort_unstable();
    }

    /// Of sorted ones.
    pub fn median(&self) -> Option<u64> {
        self.ns.get(self.count / 2).copied()
    }

    /// Of sorted ones: the one that only 1 in `beyond` (10, 100, ...) exceeds; `None` with fewer than ten that do.
    pub fn beyond(&self, beyond: usize) -> Option<u64> {
        let above = (self.count + beyond / 2) / beyond;
        let is_known = has_percentile(self.count(), 1.0 - 1.0 / beyond as f64);
        is_known.then(|| self.ns.get(self.count - above).copied()).flatten()
    }
}

/// The lines that clusterperf prints of one figure.
#[derive(Clone, Copy, Debug)]
pub struct FigureMetrics {
    /// The median, or where a definition says so the mean.
    pub middle: Metric<Seconds>,
    pub min: Metric<Seconds>,
    pub p90: Metric<Seconds>,
    pub p99: Metric<Seconds>,
    pub p999: Metric<Seconds>,
    pub bandwidth: Metric<BytesPerSec>,
    /// Requests per second of the one client, which clusterperf does not print.
    pub rate: Metric<PerSec>,
    pub all: Metric<Seconds>,
}

/// Metrics of a [`FigureMetrics`].
pub const LINES: usize = 8;

impl FigureMetrics {
    /// The words behind its middle in the answer of a run.
    #[must_use]
    pub const fn answering(mut self, words: &'static str) -> FigureMetrics {
        self.middle = self.middle.answering(words);
        self
    }

    pub const fn infos(&self) -> [MetricInfo; LINES] {
        [
            self.middle.info(),
            self.min.info(),
            self.p90.info(),
            self.p99.info(),
            self.p999.info(),
            self.bandwidth.info(),
            self.rate.info(),
            self.all.info(),
        ]
    }

    /// All lines of a figure of medians, in the order in which they are printed.
    pub fn push(&self, lines: &Lines, record: &mut dyn Record) {
        let times = [
            (&self.middle, lines.middle),
            (&self.min, lines.min),
            (&self.p90, lines.p90),
            (&self.p99, lines.p99),
            (&self.p999, lines.p999),
        ];
        record.histogram(&self.all.info(), lines.all.clone());
        for (metric, time) in times {
            record.push_if(metric, time);
        }
        record.push_if(&self.bandwidth, lines.bandwidth);
        record.push_if(&self.rate, lines.rate);
    }
}

/// The values of one figure; `None` where there were too few requests.
#[derive(Clone, Debug)]
pub struct Lines {
    pub all: Histogram,
    pub middle: Option<Seconds>,
    pub min: Option<Seconds>,
    pub p90: Option<Seconds>,
    pub p99: Option<Seconds>,
    pub p999: Option<Seconds>,
    pub bandwidth: Option<BytesPerSec>,
    pub rate: Option<PerSec>,
}

impl Lines {
    /// Of requests that were timed one by one, with values of so many bytes; sorts them.
    pub fn from_times(times: &mut Times, bytes: usize) -> Lines {
        let all = times.histogram();
        let (count, sum) = (times.count() as f64, Seconds::from_ns(times.sum_ns()));
        times.sort();
        let time = |ns: Option<u64>| ns.map(Seconds::from_ns);
        Lines {
            all,
            middle: time(times.median()),
            min: time(times.as_slice().first().copied()),
            p90: time(times.beyond(10)),
            p99: time(times.beyond(100)),
            p999: time(times.beyond(1000)),
            bandwidth: (sum.0 > 0.0).then(|| BytesPerSec(bytes as f64 * count / sum.0)),
            rate: (sum.0 > 0.0).then(|| PerSec(count / sum.0)),
        }
    }
}

/// A figure of that name; the bandwidth's name and what is done are literals too.
macro_rules! kv_figure {
    ($name:literal, $bandwidth:literal, $middle:literal, $what:literal) => {
        $crate::bench::kv::times::FigureMetrics {
            middle: $crate::bench::kv::times::lower(
                $name,
                concat!($middle, " of the take's times to ", $what),
            )
            .label($what),
            min: $crate::bench::kv::times::aside(concat!($name, ".min"), concat!("shortest time to ", $what)),
            p90: $crate::bench::kv::times::aside(
                concat!($name, ".9"),
                concat!("90th percentile of times to ", $what),
            ),
            p99: $crate::bench::kv::times::lower(
                concat!($name, ".99"),
                concat!("99th percentile of times to ", $what),
            )
            .label(concat!($what, " p99"))
            .beside($name, "p99"),
            p999: $crate::bench::kv::times::aside(
                concat!($name, ".999"),
                concat!("99.9th percentile of times to ", $what, ""),
            ),
            bandwidth: $crate::bench::kv::times::rate(
                $bandwidth,
                concat!("bytes of values, without keys, by the sum of the times to ", $what),
            ),
            rate: $crate::bench::kv::times::one_by_one(
                concat!($name, $crate::bench::kv::times::rate_end!()),
                "one client with one request at a time: 1 over the mean time of its requests",
            )
            .label(concat!($what, " rate"))
            .beside($name, "op/s"),
            all: $crate::bench::kv::times::aside(
                concat!($name, ".all"),
                concat!("every time to ", $what, " of the take, in era1 means of 10 in a row"),
            ),
        }
    };
}
pub(crate) use kv_figure;

pub const fn lower(name: &'static str, says: &'static str) -> Metric<Seconds> {
    Metric::new(name, Better::Lower, says)
}

pub const fn aside(name: &'static str, says: &'static str) -> Metric<Seconds> {
    Metric::new(name, Better::Neither, says)
}

pub const fn rate(name: &'static str, says: &'static str) -> Metric<BytesPerSec> {
    Metric::new(name, Better::Neither, says).binary()
}

/// `KV_RATE` as a literal.
macro_rules! rate_end {
    () => {
        ".rate"
    };
}
pub(crate) use rate_end;

pub const fn one_by_one(name: &'static str, says: &'static str) -> Metric<PerSec> {
    Metric::new(name, Better::Higher, says).per("op").detail()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn times(ns: &[u64]) -> Times {
        let mut times = Times::default();
        times.clear(ns.len());
        ns.iter().for_each(|ns| {
            times.add(*ns);
        });
        times.sort();
        times
    }

    #[test]
    fn percentiles_are_clusterperfs() {
        let many: Vec<u64> = (0..10_000).rev().collect();
        let of = times(&many);
        assert_eq!(
            (of.median(), of.beyond(10), of.beyond(100), of.beyond(1000)),
            (Some(5_000), Some(9_000), Some(9_900), Some(9_990))
        );
        // From 1,000 on there is a 99th percentile, from 10,000 on a 99.9th.
        assert_eq!((times(&many[..999]).beyond(100), times(&many[..1_000]).beyond(100)), (None, Some(9_990)));
        assert_eq!(times(&many[..9_999]).beyond(1000), None);
        assert_eq!((times(&[]).median(), times(&[]).beyond(10), times(&[7]).median()), (None, None, Some(7)));
    }

    #[test]
    fn there_is_room_for_so_many_and_no_more() {
        let mut times = Times::default();
        times.clear(2);
        assert_eq!((times.room(), times.add(5), times.room()), (2, true, 1));
        assert_eq!((times.add(6), times.add(7), times.room()), (false, false, 0));
        assert_eq!((times.count(), times.sum_ns()), (2, 11));
    }

    #[test]
    fn one_client_does_as_many_as_its_mean_time_allows() {
        let mut of = times(&[1_000, 3_000]);
        let lines = Lines::from_times(&mut of, 100);
        assert_eq!(
            (lines.rate.map(|rate| rate.0), lines.bandwidth.map(|rate| rate.0)),
            (Some(5e5), Some(5e7))
        );
        assert!(rate_end!() == model::names::instrument::KV_RATE);
        assert!(Lines::from_times(&mut times(&[]), 100).rate.is_none());
    }

    proptest! {
        #[test]
        fn percentiles_are_samples(ns in proptest::collection::vec(0u64..1000, 0..2000)) {
            let of = times(&ns);
            for q in [of.median(), of.beyond(10), of.beyond(100), of.beyond(1000)].into_iter().flatten() {
                prop_assert!(ns.contains(&q));
            }
            prop_assert!(of.beyond(10) <= of.beyond(100) || of.beyond(100).is_none());
        }
    }
}
