//! `clock`: the true clock around the takes, against the run's median and the processor's limits.

use super::{Conclusion, Evidence, Several, Validity, evidence, known};
use crate::format::{percent, quantity};
use crate::unit::Unit;

/// Clocks in Hz; `apart` is the relative difference to the median that is farthest from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Clock {
    Unread,
    Steady {
        median: Option<f64>,
        apart: f64,
    },
    /// More than 3 % from the median in `takes` of `of` takes.
    Moved {
        median: f64,
        apart: f64,
        takes: usize,
        of: usize,
        /// Other processes were busy meanwhile.
        busy: bool,
    },
    AboveHighest {
        median: f64,
        max: f64,
    },
    BelowBase {
        median: f64,
        base: f64,
    },
}

fn hertz(clock: f64) -> String {
    quantity(clock, Unit::Hertz)
}

const fn way(apart: f64) -> &'static str {
    if apart < 0.0 { "below" } else { "above" }
}

/// Only a clock that fell on a quiet machine may be heat.
const fn advice(busy: bool, apart: f64) -> &'static str {
    match (busy, apart < 0.0) {
        (true, _) => "other processes were busy meanwhile: repeat without them",
        (false, true) => "repeat with a fixed clock or a cooler machine",
        (false, false) => "repeat with a fixed clock",
    }
}

impl Conclusion for Clock {
    fn kind(&self) -> &str {
        "clock"
    }

    fn state(&self) -> Validity {
        match self {
            Clock::Unread => Validity::Unknown,
            Clock::Steady { .. } => Validity::Ok,
            Clock::Moved { .. } | Clock::AboveHighest { .. } | Clock::BelowBase { .. } => Validity::Doubtful,
        }
    }

    fn one(&self) -> String {
        match self {
            Clock::Unread => "the true clock was not read around the takes".to_owned(),
            Clock::Steady { median: Some(median), .. } => {
                format!("true clock {}, every figure near it", hertz(*median))
            }
            Clock::Steady { median: None, .. } => "true clock steady".to_owned(),
            Clock::Moved { median, apart, takes, of, busy } => format!(
                "may be off by up to {}: the CPU clock was more than 3 % from the run's median of {} during {} (worst {} {}); {}",
                percent(apart.abs()),
                hertz(*median),
                if *of == 1 { "its take".to_owned() } else { format!("{takes} of {of} takes") },
                percent(apart.abs()),
                way(*apart),
                advice(*busy, *apart)
            ),
            Clock::AboveHighest { median, max } => format!(
                "the clock is not to be trusted: the true clock of {} is above the highest of {}, so that one of the two \
                 is wrong",
                hertz(*median),
                hertz(*max)
            ),
            Clock::BelowBase { median, base } => format!(
                "the machine may do better: its true clock of {} is below its base clock of {}; look at the governor, the \
                 power limit and the temperature",
                hertz(*median),
                hertz(*base)
            ),
        }
    }

    fn many(all: &Several<'_, Self>) -> Option<String> {
        let (_, worst, name) = all.worst(|clock| match clock {
            Clock::Moved { apart, .. } => Some(*apart),
            _ => None,
        })?;
        let Clock::Moved { median, apart, busy, .. } = worst else { return None };
        Some(format!(
            "may be off by up to {}: the CPU clock was more than 3 % from the run's median of {} during takes of {} \
             (worst {} {}: {name}); {}",
            percent(apart.abs()),
            hertz(*median),
            all.figures,
            percent(apart.abs()),
            way(*apart),
            advice(*busy, *apart)
        ))
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let (apart, ..) = all.worst(|one| match one {
            Clock::Moved { apart, .. } => Some(*apart),
            _ => None,
        })?;
        Some(format!("may be off by up to {}: the CPU clock moved", percent(apart.abs())))
    }

    fn evidence(&self) -> Evidence {
        match self {
            Clock::Unread => Evidence::new(),
            Clock::Steady { median, apart } => known([("apart", Some(*apart)), ("median", *median)]),
            Clock::Moved { median, apart, takes, of, .. } => evidence([
                ("median", *median),
                ("apart", *apart),
                ("takes", *takes as f64),
                ("of", *of as f64),
            ]),
            Clock::AboveHighest { median, max } => evidence([("median", *median), ("max", *max)]),
            Clock::BelowBase { median, base } => evidence([("median", *median), ("base", *base)]),
        }
    }
}
