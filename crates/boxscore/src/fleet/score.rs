//! A quick score of nodes, side by side: each is measured for itself, and what was measured of it is one run.

use lab::fan_out;
use model::data::RunData;
use model::plan::{Plan, Via};

use super::reach;
use crate::cli::lab::score::ScoreArgs;
use crate::cli::run::{RunArgs, Usual};
use crate::error::CliError;
use crate::lookup::paths::Scratch;
use crate::study;
use crate::study::stop_signal::StopSignal;

/// The arguments of the run that each node makes.
pub fn asked(args: &ScoreArgs) -> RunArgs {
    let usual = Usual {
        names: args.measure.clone(),
        quick: args.takes.is_none() && args.span.is_none(),
        takes: args.takes,
        span: args.span.clone(),
        sets: args.sets.clone(),
        ..Usual::default()
    };
    RunArgs { usual, via: vec!["node=true".to_owned()], no_report: true, ..RunArgs::default() }
}

/// The result of each node, in the order in which they were done.
pub type Results<T> = Vec<(T, Result<RunData, CliError>)>;

/// Measures the plan on each node, at most `width` at once, in a store of its own that is thrown away; `done` is told
/// of each as it comes. Fails where this machine has no room or no thread for it.
pub fn each<T: Clone + Send + Sync>(
    nodes: &[(T, Via)],
    plan: &Plan,
    width: usize,
    stop: &StopSignal,
    mut done: impl FnMut(&T, &Result<RunData, CliError>),
) -> Result<Results<T>, CliError> {
    let folder = Scratch::new("score")?;
    let work = |at: usize, (node, via): &(T, Via)| {
        let plan = Plan { machines: [via.clone()].into(), ..plan.clone() };
        (node.clone(), study::aside(&plan, &folder.path().join(format!("{at}.db")), stop))
    };
    let mut all = Results::new();
    let took = |one: (T, Result<RunData, CliError>)| {
        done(&one.0, &one.1);
        all.push(one);
    };
    fan_out::each(nodes, width, work, took).map_err(reach::no_thread)?;
    Ok(all)
}
