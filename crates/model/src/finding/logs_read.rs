//! Oddities of the logs themselves: `file-shared`, `format-short`, `zero-time`, `time-unit`, `time-limit`, `groups`,
//! `span`, `no-such-value`.

use std::fmt;

use super::{Conclusion, Validity};
use crate::format::{count, fixed, percent};

#[derive(Clone, Debug, PartialEq)]
pub enum LogsRead {
    /// A file that another label has too, under another name or the same.
    FileShared {
        name: String,
        other: Option<String>,
        with: String,
    },
    /// A format that `over` of `of` lines exceed.
    FormatShort {
        name: String,
        over: usize,
        of: usize,
        format: String,
    },
    /// Why there are no times.
    NoTimes(String),
    /// Why there is no mean of ratios.
    NoMean(String),
    TimeUnit(TimeUnit),
    /// Requests that took longer than is told apart.
    TimeLimit {
        requests: usize,
        seconds: f64,
    },
    /// More groups than distributions are kept of.
    SummedGroups {
        most: u64,
    },
    /// More groups than sums are kept of: the largest are told, too high by at most this share of all.
    LargestGroups {
        most: u64,
        error: f64,
    },
    TooLong,
    /// No request has the value that a condition names.
    NoSuchValue {
        property: String,
        value: String,
        nearest: Option<String>,
    },
}

/// Why the unit of a log's times is doubted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Half of the requests took less: milliseconds or seconds are written where a smaller unit is said.
    TooFast { median_ns: u64 },
    /// Half of the requests took longer: a smaller unit is written than is said.
    TooSlow { median_ns: u64 },
    /// Nearly all times are whole thousands: the clock is a thousand times coarser than the unit.
    WholeThousands { percent: u64 },
}

fn shown(ns: u64) -> String {
    let scaled = |unit: u64| ns as f64 / unit as f64;
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{:.1} us", scaled(1_000)),
        1_000_000..1_000_000_000 => format!("{:.1} ms", scaled(1_000_000)),
        _ => format!("{:.1} s", scaled(1_000_000_000)),
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TimeUnit::TooFast { median_ns } => write!(
                to,
                "times may be too small: half of the requests took less than {}; they may be written in a larger unit than the format says",
                shown(*median_ns)
            ),
            TimeUnit::TooSlow { median_ns } => write!(
                to,
                "times may be too large: half of the requests took more than {}; they may be written in a smaller unit than the format says",
                shown(*median_ns)
            ),
            TimeUnit::WholeThousands { percent } => write!(
                to,
                "times are a thousand times coarser than their unit: {percent} % of them are whole thousands of it"
            ),
        }
    }
}

impl Conclusion for LogsRead {
    fn kind(&self) -> &str {
        match self {
            LogsRead::FileShared { .. } => "file-shared",
            LogsRead::FormatShort { .. } => "format-short",
            LogsRead::NoTimes(_) | LogsRead::NoMean(_) => "zero-time",
            LogsRead::TimeUnit(_) => "time-unit",
            LogsRead::TimeLimit { .. } => "time-limit",
            LogsRead::SummedGroups { .. } | LogsRead::LargestGroups { .. } => "groups",
            LogsRead::TooLong => "span",
            LogsRead::NoSuchValue { .. } => "no-such-value",
        }
    }

    fn state(&self) -> Validity {
        match self {
            LogsRead::TooLong => Validity::Invalid,
            LogsRead::SummedGroups { .. } => Validity::Ok,
            LogsRead::FileShared { .. }
            | LogsRead::FormatShort { .. }
            | LogsRead::NoTimes(_)
            | LogsRead::NoMean(_)
            | LogsRead::TimeUnit(_)
            | LogsRead::TimeLimit { .. }
            | LogsRead::LargestGroups { .. }
            | LogsRead::NoSuchValue { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            LogsRead::FileShared { name, other, with } => {
                let same = other.as_ref().map_or_else(String::new, |other| format!(", there as {other}"));
                format!("the lines of {name} are compared with themselves: {with} has the file too{same}")
            }
            LogsRead::FormatShort { name, over, of, format } => format!(
                "the last field takes the rest of the line: {over} of the first {} of {name} would fit {format} without \
                 their last word too, so the format has fewer fields than the lines; name every field",
                count(*of, "line")
            ),
            LogsRead::NoTimes(why) => format!("no times, no speed: {why}"),
            LogsRead::NoMean(why) => format!("no mean of ratios: {why}"),
            LogsRead::TimeUnit(unit) => unit.to_string(),
            LogsRead::TimeLimit { requests, seconds } => format!(
                "a percentile this high is a lower bound: {} took longer than {seconds:.0} s, and how much longer is not \
                 told apart",
                count(*requests, "request")
            ),
            LogsRead::SummedGroups { most } => format!(
                "groups have no percentiles: there are more than {}; their sums are exact; --where narrows them",
                fixed(*most as f64, 0)
            ),
            LogsRead::LargestGroups { most, error } => format!(
                "only the largest groups are shown, too high by up to {} of all requests, bytes and time: there are more \
                 than {}; use a coarser --by, or --where",
                percent(*error),
                fixed(*most as f64, 0)
            ),
            LogsRead::NoSuchValue { property, value, nearest } => {
                let like = nearest.as_ref().map_or_else(
                    || format!("`--by {property}` lists the values"),
                    |nearest| format!("did you mean {nearest:?}?"),
                );
                format!("--where names what does not occur: no request has {property} {value:?}; {like}")
            }
            LogsRead::TooLong => {
                "days and the comparison by time are left out: the lines span more than a year; use --where"
                    .to_owned()
            }
        }
    }
}
