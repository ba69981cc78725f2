//! Bytes and times of requests as far as their log tells them: missing where it does not, never 0.
//!
//! Bytes, seconds; the sums have nanoseconds.

use logs::aggregate::sums::Sums;
use model::log_linear::LogLinear;

/// Nanoseconds in a second.
pub const NS: f64 = 1e9;

/// The reason why there are no times; `None` if there are. A clock that showed 0 for every request measured none.
pub fn untimed(sums: &Sums) -> Option<&'static str> {
    match sums.requests - sums.untimed.min(sums.requests) {
        _ if sums.requests == 0 => Some("no requests"),
        0 => Some("no line says how long its request took"),
        timed if timed == sums.zero_time => Some("the log says 0 for every time: its clock is too coarse"),
        _ => None,
    }
}

pub fn seconds(sums: &Sums) -> Option<f64> {
    untimed(sums).is_none().then_some(sums.time_ns as f64 / NS)
}

pub fn mean_time(sums: &Sums) -> Option<f64> {
    sums.mean_seconds().filter(|_| untimed(sums).is_none())
}

/// Bytes of the requests whose lines say them, where there are any.
pub fn bytes(sums: &Sums) -> Option<f64> {
    (sums.requests > sums.unsized_).then_some(sums.bytes as f64)
}

/// A percentile; one among times that are not told apart is the least that they are ([`limit`]).
pub fn of_times<const BITS: u32, const HIGHEST: u64>(
    times: &LogLinear<BITS, HIGHEST>,
    sums: &Sums,
    share: f64,
) -> Option<f64> {
    let is_known = model::histogram::has_percentile(times.total(), share) || share == 0.5;
    let ns = times.quantile(share).filter(|_| is_known && untimed(sums).is_none())?;
    Some(ns as f64 / NS)
}

/// The time above which times are not told apart, where there were any.
pub fn limit<const BITS: u32, const HIGHEST: u64>(times: &LogLinear<BITS, HIGHEST>) -> Option<f64> {
    (times.saturated() > 0).then_some(HIGHEST as f64 / NS)
}
