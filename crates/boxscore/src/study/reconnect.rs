//! A node that was lost on the way is reached again, at most twice, and the rest of its takes measured as `resume`
//! would. What stays lost then is left to `boxscore resume`.

use std::time::Duration;

use harness::conductor::Ended;
use lab::ranges::fold;
use model::data::Status;
use model::plan::Plan;
use store::Store;

use super::attempt::{Measured, Watch, interaction_of, measure_rest};
use super::display::Display;
use super::stop_signal::StopSignal;
use crate::cli::Global;
use crate::error::CliError;
use crate::out;

/// How often a node is reached again.
const TRIES: u32 = 2;

/// A node that was started anew, or whose network went, needs some time.
const PAUSE: Duration = Duration::from_secs(3);

/// How a study of nodes is shown.
#[derive(Clone, Copy)]
pub(super) struct Shown<'a> {
    pub global: &'a Global,
    pub takes: bool,
    pub readings: Option<&'a str>,
}

/// The study after its lost nodes were reached again. Fails when the store cannot be read.
pub(super) fn again(
    mut measured: Measured,
    plan: &Plan,
    store: &mut Store,
    path: &std::path::Path,
    stop: &StopSignal,
    shown: Shown<'_>,
) -> Result<Measured, CliError> {
    for _ in 0..TRIES {
        let Some(names) = lost(&measured, plan).filter(|_| !stop.is_requested()) else { return Ok(measured) };
        out::say(&format!("note: lost on the way: {names}; reached again in {} s", PAUSE.as_secs()));
        std::thread::sleep(PAUSE);
        let mut display = Display::new(plan, shown.global.json, shown.takes);
        let interaction = interaction_of(plan);
        let watch = Watch { screen: &mut display, stop, interaction, readings: shown.readings };
        let study = measured.study.clone();
        let rest = measure_rest(&study, plan, store, path, watch)?;
        // Takes that failed before stay failed.
        let (faults, unfit) = (measured.outcome.faults, measured.outcome.unfit.clone());
        measured = rest;
        measured.outcome.faults = measured.outcome.faults.max(faults);
        if measured.outcome.unfit.is_empty() {
            measured.outcome.unfit = unfit;
        }
    }
    if let Some(names) = lost(&measured, plan).filter(|_| !stop.is_requested()) {
        out::say(&format!(
            "skipped: {names}: lost and not reached again; `boxscore resume` measures the rest once they are back"
        ));
    }
    Ok(measured)
}

/// The nodes whose runs are not whole because they were lost.
fn lost(measured: &Measured, plan: &Plan) -> Option<String> {
    if matches!(measured.outcome.ended, Ended::Interrupted | Ended::Refused) {
        return None;
    }
    let machines = plan.machines.iter().zip(&measured.outcome.statuses);
    let lost =
        machines.filter(|(_, status)| **status == Status::Interrupted).map(|(via, _)| via.name.as_str());
    let names: Vec<&str> = lost.collect();
    (!names.is_empty()).then(|| fold(names))
}
