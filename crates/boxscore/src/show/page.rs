//! The HTML report: its place, its runs, and writing it.

use std::path::{Path, PathBuf};

use model::data::RunData;
use model::doc::{CompareDoc, RatioDoc, RunDoc};
use report::html::{Cover, ReportInput};

use crate::cli::Global;
use crate::cli::agent::BUILD;
use crate::error::CliError;
use crate::lookup::ids::told_apart;
use crate::lookup::paths;
use crate::lookup::resolve::Resolver;
use crate::show::shown;
use crate::show::shown::Shown;

/// The comparisons in a report: with other machines or arms, and ratios of runtimes.
pub type Beside = (Option<CompareDoc>, Vec<RatioDoc>);

pub fn beside(runs: &[Shown], others: Beside, path: &Path) -> Result<Option<PathBuf>, CliError> {
    let recorded = |data: &RunData| data.plan.telemetry_only && !data.telemetry.is_empty();
    let taken = |doc: &RunDoc| !doc.series.is_empty() && !report::text::score::is_unbegun(doc);
    let visible = runs.iter().any(|one| taken(&one.doc) || recorded(&one.data));
    match runs.first().filter(|_| visible) {
        Some(first) => write_report(runs, others, &default_report(path, &[&first.doc.run])).map(Some),
        None => Ok(None),
    }
}

/// Writes the report of these runs beside the store; `None` if there is nothing to show in one. Fails when it cannot
/// be written.
pub fn report_after(runs: &[String], path: &Path, global: &Global) -> Result<Option<PathBuf>, CliError> {
    let mut resolver = Resolver::new(global)?;
    let each = runs.iter().map(|run| shown::shown(run, "boxscore.run/1", false, &mut resolver));
    let shown: Vec<Shown> = each.collect::<Result<_, _>>()?;
    beside(&shown, (None, Vec::new()), path)
}

/// The path of a run's report, beside its store.
pub fn default_report(store: &Path, runs: &[&str]) -> PathBuf {
    /// Most runs that are named in a file name.
    const NAMED: usize = 8;
    let mut name: Vec<String> = told_apart(runs).into_iter().take(NAMED).map(str::to_owned).collect();
    if let more @ 1.. = runs.len().saturating_sub(NAMED) {
        name.push(format!("and-{more}-more"));
    }
    paths::beside(store).join(format!("{}.html", name.join("-")))
}

/// Writes the report, completely or not at all. Fails when the file cannot be written.
pub fn write_report(runs: &[Shown], beside: Beside, to: &Path) -> Result<PathBuf, CliError> {
    let ids = told_apart(&runs.iter().map(|one| one.doc.run.as_str()).collect::<Vec<_>>());
    let names: Vec<String> = ids.into_iter().map(str::to_owned).collect();
    write_covered(runs, beside, to, Cover::default(), &names)
}

/// The same with what its author adds, of runs that were asked for by these names. Fails when the file cannot be
/// written.
pub fn write_covered(
    runs: &[Shown],
    (compare, ratios): Beside,
    to: &Path,
    cover: Cover,
    names: &[String],
) -> Result<PathBuf, CliError> {
    let started = runs.iter().map(|one| one.doc.started).fold(0.0, f64::max);
    let input = ReportInput {
        runs: runs.iter().map(|one| (one.doc.clone(), one.data.clone())).collect(),
        compare,
        ratios,
        version: BUILD.to_owned(),
        command: format!("boxscore report {}", names.join(" ")),
        generated: report::text::date_time(started),
        cover,
    };
    let html = report::html::report(&input);
    paths::write(to, html.as_bytes())?;
    Ok(to.to_path_buf())
}
