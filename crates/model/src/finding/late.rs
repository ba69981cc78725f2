//! `late`: an open loop whose requests left later than they should.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::quantity;
use crate::unit::Unit;

/// Times in s.
#[derive(Clone, Debug, PartialEq)]
pub enum Late {
    Unknown,
    InTime {
        p99: f64,
    },
    Late {
        p99: f64,
        /// The most that is trusted.
        most: f64,
        /// The machine's own gaps, where they are what is trusted.
        gap: Option<f64>,
    },
}

fn seconds(seconds: f64) -> String {
    quantity(seconds, Unit::Second)
}

impl Conclusion for Late {
    fn kind(&self) -> &str {
        "late"
    }

    fn state(&self) -> Validity {
        match self {
            Late::Unknown => Validity::Unknown,
            Late::InTime { .. } => Validity::Ok,
            Late::Late { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Late::Unknown => "how late the requests were sent is not known".to_owned(),
            Late::InTime { p99 } => format!("sends at most {} late (p99)", seconds(*p99)),
            Late::Late { p99, most, gap } => {
                let beside = match gap {
                    Some(gap) => format!("more than this machine's own gaps of {} explain", seconds(*gap)),
                    None => format!("the most to be trusted is {}", seconds(*most)),
                };
                format!(
                    "its response times hold the generator's delay: 1 in 100 requests was sent {} late or more, {beside}; \
                     give the generator a core of its own, or less load",
                    seconds(*p99)
                )
            }
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (p99, ..) = all.worst(|one| match one {
            Late::Late { p99, .. } => Some(*p99),
            _ => None,
        })?;
        Some(format!(
            "response times hold the generator's delay: 1 in 100 requests was sent up to {} late or more in {}; give the \
             generator a core of its own, or less load",
            seconds(p99),
            all.figures
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (p99, ..) = all.worst(|one| match one {
            Late::Late { p99, .. } => Some(*p99),
            _ => None,
        })?;
        Some(format!(
            "response times hold the generator's delay: 1 in 100 sent {} late or more",
            seconds(p99)
        ))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Late::Unknown => Evidence::new(),
            Late::InTime { p99 } => evidence([("late_p99", *p99)]),
            Late::Late { p99, most, .. } => evidence([("late_p99", *p99), ("most", *most)]),
        }
    }
}
