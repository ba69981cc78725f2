//! The commands of a run, each with the spread that the layout of its memory makes.

use model::data::RunData;
use model::doc::CommandDoc;
use model::metrics::command::WALL;

/// The commands by arm; none in a run of instruments.
pub fn of_run(run: &RunData) -> Vec<CommandDoc> {
    let doc = |arm: &model::Arm| {
        let command = run.plan.command_of(arm)?;
        let spread = spread(run, &arm.name);
        Some(CommandDoc {
            arm: arm.name.clone(),
            run: command.run,
            dir: command.dir,
            layout: spread.map(|spread| spread.between),
            relinked: command.relink.is_some(),
            takes: spread.map(|spread| spread.within),
        })
    };
    run.plan.arms.iter().filter_map(doc).collect()
}

/// Of the logarithms of its wall times, so that both are shares.
fn spread(run: &RunData, arm: &str) -> Option<stats::Spread> {
    let is_wall = |key: &model::SeriesKey| key.metric == WALL.name() && key.arm == arm;
    let series = run.rows().find(|series| is_wall(&series.key))?;
    let log = |values: Vec<f64>| values.into_iter().filter(|value| *value > 0.0).map(f64::ln).collect();
    let logs: Vec<Vec<f64>> = series.by_sitting().into_iter().map(log).collect();
    stats::spread(&logs.iter().map(Vec::as_slice).collect::<Vec<_>>())
}
