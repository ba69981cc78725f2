//! `heat`: the clock fell over the run, and stayed there.

use super::{Conclusion, Evidence, Validity, evidence};
use crate::format::quantity;
use crate::unit::Unit;

/// Clocks in Hz: the level at the start, and the one that is kept.
#[derive(Clone, Debug, PartialEq)]
pub enum Heat {
    Unread,
    Steady {
        start: f64,
        end: f64,
        /// Length of the run.
        seconds: f64,
    },
    Fell {
        start: f64,
        end: f64,
        /// Time until the new level was reached.
        seconds: f64,
    },
}

impl Conclusion for Heat {
    fn kind(&self) -> &str {
        "heat"
    }

    fn state(&self) -> Validity {
        match self {
            Heat::Unread => Validity::Unknown,
            Heat::Steady { .. } => Validity::Ok,
            Heat::Fell { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Heat::Unread => "too few readings of the true clock to see it fall".to_owned(),
            Heat::Steady { seconds, .. } => {
                format!("no sustained fall of the clock in {}", quantity(*seconds, Unit::Second))
            }
            Heat::Fell { start, end, seconds } => format!(
                "figures taken early are not sustained ones: clock fell {} -> {} within {:.0} s of load; repeat them on the \
                 warm machine",
                bare(*start),
                quantity(*end, Unit::Hertz),
                seconds.max(1.0)
            ),
        }
    }

    fn evidence(&self) -> Evidence {
        match self {
            Heat::Unread => Evidence::new(),
            Heat::Steady { start, end, .. } => evidence([("start", *start), ("end", *end)]),
            Heat::Fell { start, end, seconds } => {
                evidence([("start", *start), ("end", *end), ("seconds", *seconds)])
            }
        }
    }
}

/// The number without its unit, which follows the second figure.
fn bare(hertz: f64) -> String {
    quantity(hertz, Unit::Hertz).split(' ').next().unwrap_or_default().to_owned()
}
