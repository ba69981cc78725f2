//! `generator-delay`: response times that hold the time in which the generator had not yet read the answers.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{percent, quantity};
use crate::unit::Unit;

/// Times in s, shares 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub enum GeneratorDelay {
    Unknown,
    /// The kernel stamped the arrivals; so long the answers then lay unread, on average, at most.
    Stamped {
        unread: f64,
    },
    /// Nobody stamped the arrivals, and the generator's busiest core worked so much of its time.
    Busy {
        share: f64,
    },
}

const REMEDY: &str = "spread the load over more generators, or ask for less";

impl Conclusion for GeneratorDelay {
    fn kind(&self) -> &str {
        "generator-delay"
    }

    fn state(&self) -> Validity {
        match self {
            GeneratorDelay::Unknown => Validity::Unknown,
            GeneratorDelay::Stamped { .. } => Validity::Ok,
            GeneratorDelay::Busy { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            GeneratorDelay::Unknown => "how long answers lay unread in the generator is not known".to_owned(),
            GeneratorDelay::Stamped { unread } => format!(
                "the kernel stamped each answer's arrival; it lay unread for {} on average, which no response time holds",
                quantity(*unread, Unit::Second)
            ),
            GeneratorDelay::Busy { share } => format!(
                "its response times hold the generator's delay, which was not recorded: its busiest core worked {} of \
                 its time; {REMEDY}",
                percent(*share)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (share, ..) = all.worst(|one| match one {
            GeneratorDelay::Busy { share } => Some(*share),
            _ => None,
        })?;
        Some(format!(
            "response times hold the generator's delay, which was not recorded: its busiest core worked up to {} of its \
             time, in {}; {REMEDY}",
            percent(share),
            all.figures
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        all.rules()
            .any(|one| matches!(one, GeneratorDelay::Busy { .. }))
            .then(|| "response times hold the generator's own delay, which is not known".to_owned())
    }

    fn evidence(&self) -> Evidence {
        match self {
            GeneratorDelay::Unknown => Evidence::new(),
            GeneratorDelay::Stamped { unread } => evidence([("late_read", *unread)]),
            GeneratorDelay::Busy { share } => evidence([("generator_share", *share)]),
        }
    }
}
