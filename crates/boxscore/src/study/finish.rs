//! Output at the end of a study, and the exit code.

use std::path::Path;

use harness::conductor::{Ended, Outcome, SinkError};
use model::data::Status;
use model::plan::Plan;

use super::attempt::Measured;
use super::outages;
use crate::cli::{Global, Layout};
use crate::error::{CliError, Kind};
use crate::lookup::ids::{short, told_apart};
use crate::lookup::paths;
use crate::out;
use crate::show::{after_run, page};

/// The form in which a run is shown.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Write the HTML report beside the store.
    pub report: bool,
    pub telemetry_only: bool,
    pub layout: Layout,
}

/// Shows the box score and writes the report; the exit code says how it ended. However a run was cut, and even when
/// nothing can be shown, the last lines say why it ended and what is stored.
pub fn finish(
    measured: &Measured,
    path: &Path,
    global: &Global,
    Shape { report, telemetry_only, layout }: Shape,
) -> Result<u8, CliError> {
    let Measured { outcome, runs, .. } = measured;
    let nothing = nothing(outcome, telemetry_only);
    if let Some(Nothing::Taken(why)) = &nothing {
        // It is the result: it stands first, where the result stands. A document has it in its figures.
        let line = format!("nothing was measured: {why}");
        if global.json { out::say(&line) } else { out::print(&format!("{line}\n\n")) }
    }
    // What the threads of many machines freed would stand beside what all their runs need.
    sys::heap::keep_little();
    let shown = if telemetry_only && !global.json {
        recorded(runs, path, global, report)
    } else {
        after_run::after_run(runs, path, global, report, layout)
    };
    if measured.waits {
        out::say(&format!("warning: {}", waiting(path)));
    }
    if shown.is_err() {
        let ids = told_apart(&runs.iter().map(String::as_str).collect::<Vec<_>>());
        out::say(&format!("finished takes are stored in {} as run {}", path.display(), ids.join(", ")));
    }
    match (shown, cut(measured)) {
        (Ok(()), None) => {}
        (Err(error), None) => return Err(error),
        (Err(error), Some(cut)) => {
            out::say(&error.to_string());
            return Err(cut);
        }
        (Ok(()), Some(cut)) => {
            // Its document is on stdout already, and is the only one there.
            match cut.kind {
                Kind::Interrupted => out::say(&cut.message),
                _ => out::say(&cut.to_string()),
            }
            return Ok(cut.kind.exit_code());
        }
    }
    match nothing {
        Some(Nothing::Fits) => {
            // The run's own document is on stdout already, and is the only one there.
            let error = CliError::data("nothing was measured: no instrument of this run can run here")
                .hint("the lines above say why; `boxscore list` says what can");
            out::say(&error.to_string());
            return Ok(error.kind.exit_code());
        }
        Some(Nothing::Taken(_)) => return Ok(Kind::Faults.exit_code()),
        None => {}
    }
    if outcome.faults > 0 {
        advise(runs, path)?;
    }
    if outcome.faults > 0 || outcome.statuses.contains(&Status::Interrupted) {
        return Ok(Kind::Faults.exit_code());
    }
    Ok(0)
}

/// The last takes, which the store could not take.
fn waiting(path: &Path) -> String {
    let (store, journal) = (path.display(), paths::journal(path));
    if store::is_server(path) {
        return format!("the last takes wait in {journal}, and go into {store} with the next run from here");
    }
    let when = "and go in with the next run once there is some";
    format!("{store} has no room for the last takes: they wait in {journal}, {when}")
}

/// Says of each run with an outage how it gets the figures that it lacks.
fn advise(runs: &[String], path: &Path) -> Result<(), CliError> {
    let store = paths::open(path)?;
    for run in runs {
        if let Some(advice) = outages::advice(&store.load_light(run)?) {
            out::say(&format!("hint: {advice}"));
        }
    }
    Ok(())
}

/// Prints a run that only recorded telemetry: its sources, their ticks, and the report.
fn recorded(runs: &[String], path: &Path, global: &Global, report: bool) -> Result<(), CliError> {
    let store = paths::open(path)?;
    for id in runs {
        let run = store.load(id)?;
        let mut ticks: std::collections::BTreeMap<&str, usize> = std::collections::BTreeMap::new();
        for segment in &run.telemetry {
            *ticks.entry(segment.source.as_str()).or_default() += segment.at_ns.len();
        }
        let span = model::format::duration(run.head.seconds.unwrap_or_default());
        out::print(&format!("recorded {} for {span} as run {}\n", run.head.machine, short(id)));
        for (source, count) in &ticks {
            out::print(&format!("  {source}: {count} ticks\n"));
        }
        if ticks.is_empty() {
            out::print("  nothing: no source can be read here\n");
        }
    }
    let Some(first) = runs.first() else { return Ok(()) };
    if report && let Some(written) = page::report_after(runs, path, global)? {
        out::print(&format!("\nreport  {}\n", paths::tilde(&written)));
    } else {
        out::print(&format!("\nreport  boxscore report {}\n", short(first)));
    }
    Ok(())
}

/// True if it ended before its plan was done.
const fn is_cut(outcome: &Outcome) -> bool {
    matches!(outcome.ended, Ended::Interrupted | Ended::Lost | Ended::Refused)
}

/// The error of a run that ended early: why, and that its takes are stored.
pub fn cut(measured: &Measured) -> Option<CliError> {
    const KEPT: &str = "finished takes are stored; `boxscore resume` continues";
    let outcome = &measured.outcome;
    let error = match outcome.ended {
        Ended::Interrupted => {
            let text = "interrupted: every take that was shown is stored; `boxscore resume` continues";
            CliError::interrupted(text)
        }
        Ended::Lost if measured.runs.len() == 1 => {
            CliError::data("the measuring child was lost before the plan was done").hint(KEPT)
        }
        Ended::Lost => CliError::data("every machine was lost before the plan was done").hint(KEPT),
        Ended::Refused => {
            let why = refused(outcome);
            let text = format!("the run was ended, since nothing more could be stored: {why}");
            let safe = match measured.kept {
                0 => "no take was stored".to_owned(),
                1 => "1 take is safe".to_owned(),
                many => format!("{many} takes are safe, every one that was shown"),
            };
            CliError::data(text).hint(format!("{safe}; then `boxscore resume` continues"))
        }
        Ended::Count | Ended::Target | Ended::Budget => return None,
    };
    Some(error)
}

/// Why the store refused a take; its own hint follows on a line of its own.
pub fn refused(outcome: &Outcome) -> String {
    match &outcome.refused {
        Some(SinkError { why, hint: Some(hint) }) => format!("{why}\n hint: {hint}"),
        Some(SinkError { why, hint: None }) => why.clone(),
        None => "it gave no reason".to_owned(),
    }
}

/// Why a run that ended by itself has no figure.
enum Nothing {
    /// No cell of it can run here.
    Fits,
    /// No measured take without a fault; in words.
    Taken(&'static str),
}

/// `None` if something was measured, or was not to be.
fn nothing(outcome: &Outcome, telemetry_only: bool) -> Option<Nothing> {
    if outcome.measured > 0 || telemetry_only || is_cut(outcome) {
        return None;
    }
    if outcome.takes == 0 && !outcome.unfit.is_empty() {
        return Some(Nothing::Fits);
    }
    Some(Nothing::Taken(match outcome.ended {
        Ended::Budget => "the time was over before the first measured take ended: give it more with --for",
        _ if outcome.faults > 0 => "every measured take failed",
        _ => "no measured take was begun",
    }))
}

/// Refuses clusterperf's layout for a plan without key-value stores.
pub fn fits_layout(plan: &Plan, layout: Layout) -> Result<(), CliError> {
    if layout == Layout::Text
        || plan
            .cells
            .iter()
            .any(|cell| report::text::clusterperf::is_kv(&cell.instrument, instruments::cards()))
    {
        return Ok(());
    }
    Err(CliError::usage("--format clusterperf is for runs of key-value stores, and none is in this one"))
}
