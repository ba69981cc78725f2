//! `own-cost`: what boxscore itself used of the machine beside the takes.

use super::{Conclusion, Evidence, Several, Validity, known};
use crate::format::{percent, quantity};
use crate::unit::Unit;

/// CPU time of boxscore itself. All times are in seconds; `seconds` is the length of the sittings that were counted.
#[derive(Clone, Debug, PartialEq)]
pub enum OwnCost {
    NotEnded,
    NoTakes,
    Used {
        state: Validity,
        /// Of one core, beside the takes.
        share: f64,
        agent: f64,
        telemetry: f64,
        /// `None` where the controller did not note it.
        controller: Option<f64>,
        seconds: f64,
    },
}

impl Conclusion for OwnCost {
    fn kind(&self) -> &str {
        "own-cost"
    }

    fn state(&self) -> Validity {
        match self {
            OwnCost::NotEnded | OwnCost::NoTakes => Validity::Unknown,
            OwnCost::Used { state, .. } => *state,
        }
    }

    fn one(&self) -> String {
        let (state, share, each) = match self {
            OwnCost::NotEnded => {
                return "the run did not end by itself, so its own cost is not known".to_owned();
            }
            OwnCost::NoTakes => return "no take was made".to_owned(),
            OwnCost::Used { state, share, agent, telemetry, controller, seconds } => {
                let time = |seconds: f64| quantity(seconds, Unit::Second);
                let each = format!(
                    "agent {}, telemetry {}, controller {} of CPU time in {}",
                    time(*agent),
                    time(*telemetry),
                    controller.map_or_else(|| "unknown".to_owned(), time),
                    time(*seconds)
                );
                (state, percent(*share), each)
            }
        };
        match state {
            Validity::Ok => format!("boxscore used {share} of one core beside the takes: {each}"),
            Validity::Unknown => {
                format!("boxscore used {share} of one core or more beside the takes: {each}")
            }
            Validity::Doubtful | Validity::Invalid => format!(
                "figures that need every core are that much too low: boxscore used {share} of one core beside the takes: \
                 {each}"
            ),
        }
    }

    fn brief(all: &Several<'_, Self>) -> Option<String> {
        let share = |one: &OwnCost| match one {
            OwnCost::Used { share, .. } => Some(*share),
            OwnCost::NotEnded | OwnCost::NoTakes => None,
        };
        let (share, ..) = all.worst(share)?;
        Some(format!("figures of every core are up to {} too low: boxscore's own CPU time", percent(share)))
    }

    fn evidence(&self) -> Evidence {
        match self {
            OwnCost::NotEnded | OwnCost::NoTakes => Evidence::new(),
            OwnCost::Used { share, agent, telemetry, controller, .. } => known([
                ("share", Some(*share)),
                ("agent_cpu_seconds", Some(*agent)),
                ("telemetry_cpu_seconds", Some(*telemetry)),
                ("controller_cpu_seconds", *controller),
            ]),
        }
    }
}
