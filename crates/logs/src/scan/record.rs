//! The record of a line, and the reasons for which a line has none.
//!
//! Bytes, nanoseconds. A field that a line lacks is `None`.

use serde::{Deserialize, Serialize};

use super::clock::At;
use super::request::Method;

/// More bytes than any answer has.
pub const MOST_BYTES: u64 = 1 << 50;
/// A year: longer than any request takes.
pub const LONGEST_NS: u64 = 366 * 86_400 * 1_000_000_000;

model::words! {
    /// Why a line was not read.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Skip as name {
        Empty = "empty",
        TooLong = "too-long",
        Nul = "nul",
        Shape = "shape",
        Clock = "clock",
        Status = "status",
        Bytes = "bytes",
        Duration = "duration",
    }
}

impl Skip {
    /// Description of the reason, for people.
    pub fn says(self) -> &'static str {
        match self {
            Skip::Empty => "nothing in the line",
            Skip::TooLong => "longer than 256 KiB",
            Skip::Nul => "NUL bytes, as a crash or a truncated rotation leaves them",
            Skip::Shape => "not of the format: cut short, or written in another one",
            Skip::Clock => "a time of day that does not exist, or lies before 1990 or after 2199",
            Skip::Status => "a status that is no number of three digits",
            Skip::Bytes => "a size that is no number, or beyond 1 PiB",
            Skip::Duration => "a time that is no number, below 0 or beyond a year",
        }
    }
}

/// One request, as its line tells it. Texts are as they stand in the line, escapes included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record<'l> {
    pub client: Option<&'l [u8]>,
    pub vhost: Option<&'l [u8]>,
    pub method: Option<Method>,
    /// Without the query.
    pub path: Option<&'l [u8]>,
    pub query: Option<&'l [u8]>,
    pub protocol: Option<&'l [u8]>,
    pub referer: Option<&'l [u8]>,
    pub agent: Option<&'l [u8]>,
    pub cache: Option<&'l [u8]>,
    pub status: Option<u16>,
    pub bytes: Option<u64>,
    pub time_ns: Option<u64>,
    /// True if the time, as it is written, is a whole number of thousands.
    pub is_whole_thousands: bool,
    pub at: Option<At>,
    /// True if the connection had carried a request before.
    pub reused: Option<bool>,
    /// Where the line begins in its file.
    pub offset: u64,
}

/// A text of a line; `None` for nothing and for a lone dash.
#[inline]
pub fn present(text: &[u8]) -> Option<&[u8]> {
    // Both sides are computed: which one it is cannot be foreseen.
    let is_dash = text.first().is_none_or(|first| *first == b'-') & (text.len() <= 1);
    if is_dash { None } else { Some(text) }
}
