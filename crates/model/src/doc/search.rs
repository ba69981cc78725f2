//! Searches for the largest load that keeps a percentile within a limit, and what their steps say of the rate found.
//!
//! Requests per second, seconds. A search estimates the rate beyond which the limit breaks, which is as likely too high
//! as too low. Where most of the steps at that rate broke, it is no rate that holds: the largest one that most steps
//! kept is told in its place.

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
    /// The largest rate up to it with which most steps held, going by those up to 10 % below it as well. Absent where
    /// there is none.
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

    /// `in 4 of 5 steps`.
    pub fn share(&self) -> String {
        let steps = format::count(usize::try_from(self.steps()).unwrap_or(usize::MAX), "step");
        format!("in {} of {steps}", self.held)
    }
}

impl SearchDoc {
    /// Most of the steps at the rate that was found broke: the steps there, and the rate that was kept, if any.
    pub fn broke(&self) -> Option<(TriedDoc, Option<TriedDoc>)> {
        let tried = self.tried.filter(|tried| tried.broken > tried.held)?;
        Some((tried, self.kept))
    }

    /// `p99 within 20ms`, as it was asked for.
    fn goal(&self) -> String {
        let limit = self.params.get("limit").map_or_else(String::new, |limit| format!(" within {limit}"));
        format!("{}{limit}", self.percentile)
    }

    /// `61.5 k/s keeps p99 within 20ms (58.2 to 63.0)`; where most steps there broke, the rate that was kept:
    /// `344 /s kept p99 within 50ms (in 2 of 2 steps); the search ended at 369 /s, which did in 2 of 5 steps`. `None`
    /// where nothing was found.
    pub fn says(&self) -> Option<String> {
        let found = self.found?;
        let scale = Scale::common(&[found], Kind::for_unit(Unit::PerSec));
        let ends = self.low.zip(self.high).and_then(|(low, high)| scale.interval(low, high));
        let interval = ends.map_or_else(String::new, |(low, high)| format!(" ({low} to {high})"));
        let (goal, end) = (self.goal(), format!("the search ended at {}{interval}", rate(found)));
        Some(match self.broke() {
            None => format!("{} keeps {goal}{interval}", rate(found)),
            Some((tried, Some(kept))) => {
                format!(
                    "{} kept {goal} ({}); {end}, which did {}",
                    rate(kept.rate),
                    kept.share(),
                    tried.share()
                )
            }
            Some((tried, None)) => {
                format!("no rate kept {goal} in most of its steps; {end}, which did {}", tried.share())
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_its_own_steps_broke_is_not_said_to_hold() {
        let tried = |rate, held, broken| Some(TriedDoc { rate, held, broken });
        let mut search = SearchDoc {
            params: Params::parse("limit=50ms").unwrap(),
            percentile: "p99".to_owned(),
            found: Some(369.0),
            low: Some(340.0),
            high: Some(381.0),
            ..SearchDoc::default()
        };
        let says = "369 /s keeps p99 within 50ms (340 to 381)";
        assert_eq!(search.says().as_deref(), Some(says), "where no step was made nothing speaks against it");
        search.tried = tried(369.0, 2, 2);
        assert_eq!(search.says().as_deref(), Some(says));
        search.tried = tried(369.0, 2, 3);
        search.kept = tried(344.0, 2, 0);
        assert_eq!(
            search.says().unwrap(),
            "344 /s kept p99 within 50ms (in 2 of 2 steps); the search ended at 369 /s (340 to 381), which did in 2 of 5 \
             steps"
        );
        search.kept = None;
        assert_eq!(
            search.says().unwrap(),
            "no rate kept p99 within 50ms in most of its steps; the search ended at 369 /s (340 to 381), which did in 2 \
             of 5 steps"
        );
        search.found = None;
        assert_eq!(search.says(), None);
    }
}
