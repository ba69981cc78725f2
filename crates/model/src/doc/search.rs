//! Searches for the largest load that keeps a percentile within a limit, and what their steps say of the rate found.
//!
//! Requests per second, seconds. A search estimates the rate beyond which the limit breaks, which is as likely too high
//! as too low. What is said to be kept is a rate that was tried, with which most loads held.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::finding::generator_bound::rate;
use crate::format::{self, Kind, Scale};
use crate::params::Params;
use crate::unit::Unit;

/// The search for the largest load that holds: its steps, of all takes together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchDoc {
    pub instrument: String,
    pub params: Params,
    pub arm: String,
    /// The percentile of response times that has a limit, and the limit in seconds.
    pub percentile: String,
    pub limit: Option<f64>,
    /// The rate that is as likely too high as too low: the median of the takes, each of which is a search of its own.
    pub found: Option<f64>,
    /// Its interval over the takes.
    #[serde(default)]
    pub low: Option<f64>,
    #[serde(default)]
    pub high: Option<f64>,
    /// The steps within 3 % of it; absent where none was made there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tried: Option<TriedDoc>,
    /// The largest rate up to it that was tried and with which two thirds of the steps held, as most of those up to
    /// 10 % below it did; with the steps at about this rate. Absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<TriedDoc>,
    /// By rising rate; steps of rates that lie close are one.
    pub steps: Vec<SearchStepDoc>,
}

/// Steps of a search at about one rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchStepDoc {
    /// Requests per second that were offered. This and the next three are medians of the steps.
    pub offered: f64,
    /// Requests that came due in a step.
    pub requests: f64,
    /// The share of them that had a good answer while the step lasted.
    pub answered: Option<f64>,
    /// Seconds of the percentile; `null` where it fell on a failed request in most of them.
    pub time: Option<f64>,
    /// Steps that held, and those that broke.
    pub held: u64,
    pub broken: u64,
    /// These are the steps at the rate that is said to be kept, which is `offered`.
    #[serde(default)]
    pub kept: bool,
}

/// Steps at about one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TriedDoc {
    pub rate: f64,
    /// Steps that held, and those that broke.
    pub held: u64,
    pub broken: u64,
}

impl TriedDoc {
    /// All of them.
    const fn steps(&self) -> u64 {
        self.held + self.broken
    }

    /// More of them held than broke.
    pub const fn mostly_held(&self) -> bool {
        self.held > self.broken
    }

    /// `in 4 of 5 loads`.
    pub fn share(&self) -> String {
        let loads = format::count(usize::try_from(self.steps()).unwrap_or(usize::MAX), "load");
        format!("in {} of {loads}", self.held)
    }
}

impl SearchDoc {
    /// The rate that the steps prove.
    pub const fn proof(&self) -> Proof {
        match self.kept {
            Some(kept) => Proof::Kept(kept),
            None if self.steps.is_empty() => Proof::Untold,
            None => Proof::Broken(self.tried),
        }
    }

    /// How requests arrive in a step. Runs of before it could be chosen have no such parameter.
    pub fn arrivals(&self) -> &'static str {
        match self.params.get("arrivals") {
            Some("constant") => "evenly spaced (arrivals=constant)",
            _ => "at random times (arrivals=poisson)",
        }
    }

    /// `p99 within 20ms`, as it was asked for.
    fn goal(&self) -> String {
        let limit = self.params.get("limit").map_or_else(String::new, |limit| format!(" within {limit}"));
        format!("{}{limit}", self.percentile)
    }

    /// `344 /s keeps p99 within 50ms, in 3 of 3 loads; loads break from about 369 /s (340 to 381) on`. `None` where
    /// nothing was found.
    pub fn says(&self) -> Option<String> {
        let found = self.found?;
        let scale = Scale::common(&[found], Kind::for_unit(Unit::PerSec));
        let ends = self.low.zip(self.high).and_then(|(low, high)| scale.interval(low, high));
        let interval = ends.map_or_else(String::new, |(low, high)| format!(" ({low} to {high})"));
        let found = format!("{}{interval}", rate(found));
        Some(self.proof().says(&self.goal(), &found, rate, "keeps"))
    }
}

/// The rate that the loads of a search prove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Proof {
    /// This rate was tried and kept.
    Kept(TriedDoc),
    /// No rate was kept in most of its loads; those at the rate found, if there were any.
    Broken(Option<TriedDoc>),
    /// No load was recorded.
    Untold,
}

impl Proof {
    /// The sentence about a goal, with the rate found as text.
    pub fn says(&self, goal: &str, found: &str, text: impl Fn(f64) -> String, keeps: &str) -> String {
        match self {
            Proof::Untold => format!("{found} {keeps} {goal}"),
            Proof::Kept(kept) => {
                let (rate, share) = (text(kept.rate), kept.share());
                match found.starts_with(&rate) {
                    true => format!("{found} {keeps} {goal}, {share}"),
                    false => format!("{rate} {keeps} {goal}, {share}; loads break from about {found} on"),
                }
            }
            Proof::Broken(tried) => {
                let share = tried.map_or_else(String::new, |tried| format!(", which did {}", tried.share()));
                format!("no rate kept {goal} in most of its loads; the search ended at {found}{share}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_be_kept_was_tried() {
        let tried = |rate, held, broken| Some(TriedDoc { rate, held, broken });
        let mut search = SearchDoc {
            params: Params::parse("limit=50ms;arrivals=constant").unwrap(),
            percentile: "p99".to_owned(),
            found: Some(369.0),
            low: Some(340.0),
            high: Some(381.0),
            ..SearchDoc::default()
        };
        let says = "369 /s (340 to 381) keeps p99 within 50ms";
        assert_eq!(search.says().as_deref(), Some(says), "a figure without steps");
        search.steps.push(SearchStepDoc::default());
        search.tried = tried(369.0, 2, 3);
        search.kept = tried(344.0, 2, 0);
        assert_eq!(
            search.says().unwrap(),
            "344 /s keeps p99 within 50ms, in 2 of 2 loads; loads break from about 369 /s (340 to 381) on"
        );
        search.kept = None;
        assert_eq!(
            search.says().unwrap(),
            "no rate kept p99 within 50ms in most of its loads; the search ended at 369 /s (340 to 381), which did in 2 \
             of 5 loads"
        );
        (search.kept, search.low) = (tried(369.0, 3, 0), None);
        assert_eq!(search.says().unwrap(), "369 /s keeps p99 within 50ms, in 3 of 3 loads");
        assert!(search.arrivals().starts_with("evenly spaced"));
        search.found = None;
        assert_eq!(search.says(), None);
    }
}
