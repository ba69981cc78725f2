//! Own cost: CPU time that boxscore itself used of the run's machine. The agent counts around the takes, the telemetry
//! and the controller beside them; together they must stay under 1 % of one core.
//!
//! CPU seconds over the seconds of the sittings that told; the controller notes its part in those alone. The measured
//! work is not counted; nor is the controller while no take was under way, nor towards the limit where it may be on
//! another machine (`--via`). Where it did not note its part, the share is a lower bound.

use model::finding::OwnCost;
use model::{NoteBody, Validity};

use crate::ruling::Ruling;
use crate::run_index::RunIndex;
use crate::run_index::noted_seconds;

const MOST: f64 = 0.01;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let Some(cost) = index.run.own_cost.filter(|cost| cost.seconds > 0.0) else {
        return vec![Ruling::of_run(OwnCost::NotEnded)];
    };
    if index.run.takes.is_empty() {
        return vec![Ruling::of_run(OwnCost::NoTakes)];
    }
    let controller = noted_seconds(index.run, |note| match note {
        NoteBody::ControllerTakesCpu(seconds) => Some(*seconds),
        _ => None,
    });
    let elsewhere = index.run.plan.machines.iter().any(|via| via.command.is_some());
    let here = if elsewhere { Some(0.0) } else { controller };
    let share = (cost.telemetry_cpu_seconds + here.unwrap_or(0.0)) / cost.seconds;
    let state = match here {
        _ if share > MOST => Validity::Doubtful,
        None => Validity::Unknown,
        Some(_) => Validity::Ok,
    };
    let (agent, telemetry) = (cost.agent_cpu_seconds, cost.telemetry_cpu_seconds);
    let seconds = cost.seconds;
    vec![Ruling::of_run(OwnCost::Used { state, share, agent, telemetry, controller, seconds })]
}
