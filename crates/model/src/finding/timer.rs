//! `timer`: two clocks of this machine must agree on how long a second is.

use super::{Conclusion, Evidence, Validity, evidence};
use crate::format::percent;

/// Relative differences of the two clocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Timer {
    Unread,
    Agree {
        share: f64,
    },
    Disagree {
        share: f64,
    },
    /// So far apart that every time is wrong.
    Broken {
        share: f64,
    },
}

impl Conclusion for Timer {
    fn kind(&self) -> &str {
        "timer"
    }

    fn state(&self) -> Validity {
        match self {
            Timer::Unread => Validity::Unknown,
            Timer::Agree { .. } => Validity::Ok,
            Timer::Disagree { .. } => Validity::Doubtful,
            Timer::Broken { .. } => Validity::Invalid,
        }
    }

    fn one(&self) -> String {
        match self {
            Timer::Unread => "the clock was not checked against a second one (run `timer`)".to_owned(),
            Timer::Agree { share } => format!("two clocks agree within {}", percent(*share)),
            Timer::Disagree { share } | Timer::Broken { share } => format!(
                "every time is off by {}: two clocks of this machine disagree by that much",
                percent(*share)
            ),
        }
    }

    fn evidence(&self) -> Evidence {
        match self {
            Timer::Unread => Evidence::new(),
            Timer::Agree { share } | Timer::Disagree { share } | Timer::Broken { share } => {
                evidence([("share", *share)])
            }
        }
    }
}
