//! A ratio of two values of a parameter, as a part of an answer.

use std::fmt::Write as _;

use super::AnsweredDoc;
use crate::doc::VerdictWord;
use crate::format;
use crate::unit::Unit;

/// A ratio of two values of a parameter, and what it tells. `ratio` is `over` / `under`.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    pub over: String,
    pub under: String,
    pub of: String,
    pub ratio: f64,
    pub low: Option<f64>,
    pub high: Option<f64>,
    pub verdict: VerdictWord,
    /// The figure at which `over` does worst beside `under`, with its ratio.
    pub worst: Option<(String, f64)>,
}

impl Beside {
    /// `0.96 to 1.08`
    fn interval(&self) -> Option<String> {
        let (low, high) = self.low.zip(self.high)?;
        Some(format::ratio_interval(low, high))
    }

    /// `Java computes at 1.02 times the speed of C here (1.00 to 1.04); slowest: sparse, 0.71`
    pub(super) fn speed(&self) -> String {
        let ends = self.interval().map_or_else(|| " (no interval)".to_owned(), |ends| format!(" ({ends})"));
        let ratio = format::ratio(self.ratio);
        let mut out =
            format!("{} computes at {ratio} times the speed of {} here{ends}", self.over, self.under);
        if let Some((name, ratio)) = &self.worst {
            let _ = write!(out, "; slowest: {name}, {}", format::ratio(*ratio));
        }
        out
    }

    /// `Redis is faster than Memcached (read 100 B: 0.92 times the time, 0.90 to 0.94)`
    pub(super) fn compared(&self) -> String {
        let Beside { over, under, of, .. } = self;
        let ends = self.interval().map_or_else(String::new, |ends| format!(", {ends}"));
        let times = format!("{of}: {} times the time{ends}", format::ratio(self.ratio));
        match self.verdict {
            VerdictWord::Better => format!("{over} is faster than {under} ({times})"),
            VerdictWord::Worse => format!("{over} is slower than {under} ({times})"),
            VerdictWord::Tie => format!("{over} is as fast as {under} ({times})"),
            VerdictWord::CannotTell | VerdictWord::Invalid => {
                format!("faster than {under}? cannot tell ({times})")
            }
        }
    }

    pub(super) fn doc(&self) -> AnsweredDoc {
        let Beside { over, under, of, ratio, low, high, verdict, .. } = self;
        let name = format!("{over} / {under}, {of}");
        let verdict = Some(*verdict);
        AnsweredDoc { name, unit: Unit::Ratio, value: *ratio, low: *low, high: *high, verdict, least: false }
    }
}
