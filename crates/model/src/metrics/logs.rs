//! Metrics of the hours of an access log.

use crate::{Better, Bytes, BytesPerSec, Count, Metric, Ratio, Seconds};

pub const MEAN_OF_RATIOS: Metric<BytesPerSec> = Metric::new(
    "mean_of_ratios",
    Better::Higher,
    "mean over requests of bytes sent over time taken, failed ones (5xx) too; requests that took no time are outside",
)
.label("mean speed, all answers");
pub const RATIO_OF_TOTALS_GOOD: Metric<BytesPerSec> = Metric::new(
    "ratio_of_totals.good",
    Better::Higher,
    "bytes sent by all requests that the server did not fail (5xx) over the time that these took: how long a failure takes \
     says nothing of how fast it serves",
)
.label("speed of totals, no 5xx");
pub const RATIO_OF_TOTALS: Metric<BytesPerSec> = Metric::new(
    "ratio_of_totals",
    Better::Higher,
    "bytes sent by all requests over the time that all took, failed ones (5xx) too",
)
.label("speed of totals, all answers");
pub const RATIO_MEDIAN: Metric<BytesPerSec> = Metric::new(
    "ratio_median",
    Better::Higher,
    "median over requests of bytes sent over time taken, failed ones (5xx) too",
)
.label("median speed, all answers");
pub const TIME_MEAN_GOOD: Metric<Seconds> = Metric::new(
    "time.mean.good",
    Better::Lower,
    "time in the server of the mean request that it did not fail (5xx)",
)
.label("time.mean, no 5xx");
pub const TIME_MEAN: Metric<Seconds> = Metric::new(
    "time.mean",
    Better::Lower,
    "time that the mean request took in the server, failed ones (5xx) too",
)
.label("time.mean, all answers");
pub const TIME_P50: Metric<Seconds> = Metric::new(
    "time.p50",
    Better::Lower,
    "time that half of the requests took at most, failed ones (5xx) too",
)
.label("time.p50, all answers");
pub const TIME_P90: Metric<Seconds> = Metric::new(
    "time.p90",
    Better::Lower,
    "time that 90 in 100 requests took at most, failed ones (5xx) too",
)
.label("time.p90, all answers");
pub const TIME_P99: Metric<Seconds> = Metric::new(
    "time.p99",
    Better::Lower,
    "time that 99 in 100 requests took at most, failed ones (5xx) too",
)
.label("time.p99, all answers");
pub const SIZE_MEAN: Metric<Bytes> =
    Metric::neither("size.mean", "bytes of the mean request's answer, headers not counted with %B");
pub const REQUESTS: Metric<Count> = Metric::neither("requests", "requests of the hour");
pub const BYTES: Metric<Bytes> = Metric::neither("bytes", "bytes sent in the hour");
/// A share of failed requests that differs by less is the same.
pub const SAME_ERRORS: f64 = 0.001;
pub const ERROR_RATE: Metric<Ratio> = Metric::new(
    "error-rate",
    Better::Lower,
    "the share of requests with a status from 500 on, quarter hour by quarter hour; judged by the difference, of which \
     0.1 % is none",
)
.label("failed (5xx)")
.share()
.percent();
