//! What boxscore itself used of the run's machine: the agent around the takes, and beside them the telemetry and the
//! controller, which together must stay under 1 % of one core.
//!
//! CPU seconds over the seconds of the sittings that told; the controller notes its part in those alone. The measured
//! work is not counted; nor is the controller while no take was under way, nor towards the limit where it may be on
//! another machine (`--via`). Where it did not note its part, the share is a lower bound.

use model::{Finding, NoteBody, Unit, Validity};

use super::{Look, Ruling, unknown};
use crate::run::noted_seconds;
use crate::say;

pub const KIND: &str = "own-cost";
const MOST: f64 = 0.01;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let Some(cost) = look.run.own_cost.filter(|cost| cost.seconds > 0.0) else {
        return unknown(KIND, "the run did not end by itself, so its own cost is not known");
    };
    if look.run.takes.is_empty() {
        return unknown(KIND, "no take was made");
    }
    let controller = noted_seconds(look.run, |note| match note {
        NoteBody::ControllerTakesCpu(seconds) => Some(*seconds),
        _ => None,
    });
    let elsewhere = look.run.plan.machines.iter().any(|via| via.command.is_some());
    let here = if elsewhere { Some(0.0) } else { controller };
    let share = (cost.telemetry_cpu_seconds + here.unwrap_or(0.0)) / cost.seconds;
    let state = match here {
        _ if share > MOST => Validity::Doubtful,
        None => Validity::Unknown,
        Some(_) => Validity::Ok,
    };
    let seconds = |seconds: f64| say::quantity(seconds, Unit::Second);
    let controller_text = controller.map_or_else(|| "unknown".to_owned(), seconds);
    let each = format!(
        "agent {}, telemetry {}, controller {controller_text} of CPU time in {}",
        seconds(cost.agent_cpu_seconds),
        seconds(cost.telemetry_cpu_seconds),
        seconds(cost.seconds)
    );
    let shown = say::percent(share);
    let text = match state {
        Validity::Ok => format!("boxscore used {shown} of one core beside the takes: {each}"),
        Validity::Unknown => format!("boxscore used {shown} of one core or more beside the takes: {each}"),
        _ => format!(
            "boxscore used {shown} of one core beside the takes, so figures that need every core are that much too \
             low: {each}"
        ),
    };
    let finding = Finding::new(KIND, state, text)
        .evidence("share", share)
        .evidence("agent_cpu_seconds", cost.agent_cpu_seconds)
        .evidence("telemetry_cpu_seconds", cost.telemetry_cpu_seconds);
    let finding = match controller {
        Some(seconds) => finding.evidence("controller_cpu_seconds", seconds),
        None => finding,
    };
    vec![Ruling { finding, reach: Vec::new() }]
}
