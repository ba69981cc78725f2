//! `clock-step`: steps of the wall clock against the monotonic one during a take.

use super::{Conclusion, Evidence, Several, Validity, evidence};
use crate::format::quantity;
use crate::unit::Unit;

#[derive(Clone, Debug, PartialEq)]
pub enum ClockStep {
    Unread,
    None,
    Stepped { seconds: f64 },
}

impl Conclusion for ClockStep {
    fn kind(&self) -> &str {
        "clock-step"
    }

    fn state(&self) -> Validity {
        match self {
            ClockStep::Unread => Validity::Unknown,
            // Figures are timed by the monotonic clock.
            ClockStep::None | ClockStep::Stepped { .. } => Validity::Ok,
        }
    }

    fn one(&self) -> String {
        match self {
            ClockStep::Unread => "wall and monotonic clock were not compared".to_owned(),
            ClockStep::None => "no clock step".to_owned(),
            ClockStep::Stepped { seconds } => format!(
                "the wall clock moved by {} against the monotonic one during a take; figures are timed by the monotonic \
                 clock",
                quantity(*seconds, Unit::Second)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (seconds, ..) = all.worst(|step| match step {
            ClockStep::Stepped { seconds } => Some(*seconds),
            _ => None,
        })?;
        Some(format!(
            "the wall clock moved by up to {} against the monotonic one during takes of {}; figures are timed by the \
             monotonic clock",
            quantity(seconds.abs(), Unit::Second),
            all.figures
        ))
    }

    fn evidence(&self) -> Evidence {
        match self {
            ClockStep::Unread => Evidence::new(),
            ClockStep::None => evidence([("seconds", 0.0)]),
            ClockStep::Stepped { seconds } => evidence([("seconds", *seconds)]),
        }
    }
}
