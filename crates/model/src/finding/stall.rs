//! `stall`: a time in which a server answered nobody, though requests waited, and then went on.

use super::{Conclusion, Evidence, Several, Validity, known};
use crate::format::{count, quantity};
use crate::unit::Unit;

/// Advice.
pub const ADVICE: &str = "see what the server does now and then: garbage collection, a checkpoint, a flush of logs, a reload, a lock";

/// The longest stall of a load's takes. Times in s, from the start of the load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    pub at: f64,
    pub long: f64,
    /// Requests in flight at its end, and those that came due meanwhile in an open loop.
    pub in_flight: Option<f64>,
    pub due: Option<f64>,
    /// Takes that had one, of how many.
    pub takes: usize,
    pub of: usize,
}

impl Stall {
    /// `no answer for 980 ms from 3.20 s on, while about 980 requests came due`.
    pub fn text(&self) -> String {
        let seconds = |seconds: f64| quantity(seconds, Unit::Second);
        let waited = match (self.due, self.in_flight) {
            (Some(due), _) => format!(", while about {due:.0} requests came due"),
            (None, Some(waiting)) => format!(", while {} waited", count(waiting as usize, "request")),
            (None, None) => String::new(),
        };
        let often = match self.of {
            0 | 1 => String::new(),
            of => format!(" (in {} of {of} takes; the longest)", self.takes),
        };
        format!("no answer for {} from {} on{waited}{often}", seconds(self.long), seconds(self.at))
    }
}

impl Conclusion for Stall {
    fn kind(&self) -> &str {
        "stall"
    }

    fn state(&self) -> Validity {
        Validity::Doubtful
    }

    fn one(&self) -> String {
        format!("its figures hold a stall of the server: {}; {ADVICE}", self.text())
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (long, ..) = all.worst(|one| Some(one.long))?;
        Some(format!("its figures hold a stall: no answer for up to {}", quantity(long, Unit::Second)))
    }

    fn evidence(&self) -> Evidence {
        known([
            ("seconds", Some(self.long)),
            ("at", Some(self.at)),
            ("takes", Some(self.takes as f64)),
            ("in_flight", self.in_flight),
            ("due", self.due),
        ])
    }
}
