//! `generator-delay`: response times that hold the time in which answers lay ready and the generator had not read them.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::{percent, quantity};
use crate::unit::Unit;

/// Times in s, shares 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub enum GeneratorDelay {
    Unknown,
    /// The largest share of a response time that the delay is, at most.
    Small {
        share: f64,
    },
    Delayed {
        /// The figure's quantile: 0.5 or 0.99.
        quantile: f64,
        delay: f64,
        time: f64,
    },
    /// The delay was not recorded, and the generator's busiest core worked so much of its time.
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
            GeneratorDelay::Small { .. } => Validity::Ok,
            GeneratorDelay::Delayed { .. } | GeneratorDelay::Busy { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            GeneratorDelay::Unknown => "how long answers lay unread in the generator is not known".to_owned(),
            GeneratorDelay::Small { share } => {
                format!("answers lay unread for at most {} of the response times", percent(*share))
            }
            GeneratorDelay::Delayed { quantile, delay, time } => format!(
                "its response times hold the generator's delay: answers lay ready and unread for up to {}, {} of the \
                 p{:.0}; {REMEDY}",
                quantity(*delay, Unit::Second),
                percent(delay / time),
                quantile * 100.0
            ),
            GeneratorDelay::Busy { share } => format!(
                "its response times hold the generator's delay, which was not recorded: its busiest core worked {} of \
                 its time; {REMEDY}",
                percent(*share)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let busiest = all.worst(|one| match one {
            GeneratorDelay::Busy { share } => Some(*share),
            _ => None,
        });
        if let Some((share, ..)) = busiest {
            return Some(format!(
                "response times hold the generator's delay, which was not recorded: its busiest core worked up to {} of \
                 its time, in {}; {REMEDY}",
                percent(share),
                all.figures
            ));
        }
        let (share, ..) = all.worst(|one| match one {
            GeneratorDelay::Delayed { delay, time, .. } => Some(delay / time),
            _ => None,
        })?;
        let (delay, ..) = all.worst(|one| match one {
            GeneratorDelay::Delayed { delay, .. } => Some(*delay),
            _ => None,
        })?;
        Some(format!(
            "response times hold the generator's delay: answers lay ready and unread for up to {}, up to {} of a figure, \
             in {}; {REMEDY}",
            quantity(delay, Unit::Second),
            percent(share),
            all.figures
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let delay = all.worst(|one| match one {
            GeneratorDelay::Delayed { delay, .. } => Some(*delay),
            _ => None,
        });
        let Some((delay, ..)) = delay else {
            let is_busy = all.rules().any(|one| matches!(one, GeneratorDelay::Busy { .. }));
            return is_busy
                .then(|| "response times hold the generator's own delay, which is not known".to_owned());
        };
        let delay = quantity(delay, Unit::Second);
        Some(format!("response times hold up to {delay} of the generator's own delay"))
    }

    fn evidence(&self) -> Evidence {
        match self {
            GeneratorDelay::Unknown => Evidence::new(),
            GeneratorDelay::Small { share } => evidence([("share", *share)]),
            GeneratorDelay::Delayed { delay, time, .. } => evidence([("delay", *delay), ("time", *time)]),
            GeneratorDelay::Busy { share } => evidence([("generator_share", *share)]),
        }
    }
}
