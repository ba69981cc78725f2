//! What boxscore itself used during the run: telemetry must stay under 1 % of one core.
//!
//! CPU seconds over the run's seconds; the measured work itself is not counted as telemetry.

use model::{Finding, Validity};

use super::{Look, Ruling, unknown};
use crate::say;

const KIND: &str = "own-cost";
const MOST: f64 = 0.01;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let Some(cost) = look.run.own_cost.filter(|cost| cost.seconds > 0.0) else {
        return unknown(KIND, "the run did not end by itself, so its own cost is not known");
    };
    let share = cost.telemetry_cpu_seconds / cost.seconds;
    let state = if share > MOST { Validity::Doubtful } else { Validity::Ok };
    let shown = say::percent(share);
    let text = match state {
        Validity::Ok => format!("own CPU {shown} of one core"),
        _ => {
            format!("telemetry used {shown} of one core: figures that need every core are that much too low")
        }
    };
    let finding = Finding::new(KIND, state, text).evidence("share", share);
    let finding = finding.evidence("agent_cpu_seconds", cost.agent_cpu_seconds);
    vec![Ruling { finding, reach: Vec::new() }]
}
