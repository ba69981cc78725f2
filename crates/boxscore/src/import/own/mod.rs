//! boxscore's own export (`boxscore.export/1`): whole runs with every take, written and read back without loss.
//!
//! Values are in base units and exact: a number that JSON has no word for stands as its bits, a histogram as its
//! bytes in hexadecimal. Summaries are not in it; they are recomputed. Facts added to a machine by hand are not either.

use std::collections::BTreeMap;
use std::path::Path;

use model::data::{
    ClockOffset, Origin, Point, Price, RunData, RunHead, Series, Status, TakeHead, machine_id,
};
use model::exact;
use model::frame::{OwnCost, Segment, TargetTelemetry};
use model::plan::Plan;
use model::reading::SeriesKey;
use model::traffic::Traffic;
use model::{Better, Fact, Note, Params, Unit};
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::import::check;

/// Raised when a field is renamed or removed.
pub const SCHEMA: &str = "boxscore.export/1";

/// Lines by which an access log is known.
const ACCESS_LOG: usize = 20;

/// Error in an exported text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OwnError {
    #[error("{name}:{line}:{column}: {what}")]
    Malformed { name: String, line: usize, column: usize, what: String },
    #[error("{name}: the document is `{schema}`, not `{SCHEMA}`")]
    Schema { name: String, schema: String },
    #[error("{name}: a JSON document without `schema`, so not an export of boxscore")]
    Foreign { name: String },
    #[error("{name}: run {run}: {what}")]
    Run { name: String, run: String, what: String },
}

impl From<OwnError> for CliError {
    fn from(error: OwnError) -> CliError {
        let text = error.to_string();
        let plain = CliError::data(text);
        match error {
            OwnError::Schema { schema, .. } if schema.starts_with("boxscore.export/") => {
                plain.hint("a newer boxscore wrote it: use that one")
            }
            OwnError::Schema { .. } | OwnError::Foreign { .. } => {
                plain.hint("`boxscore export RUN -o FILE` writes what can be read back")
            }
            OwnError::Malformed { .. } | OwnError::Run { .. } => {
                plain.hint("the file is damaged or was changed: export it again where it was measured")
            }
        }
    }
}

/// The runs of an exported file.
pub fn read(path: &Path) -> Result<Vec<RunData>, CliError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| CliError::data(format!("{name}: {error}")))?;
    parse(&name, &text).map_err(|error| match is_access_log(&text) {
        true => CliError::data(format!("{name}: an access log, and no export of boxscore")).hint(format!(
            "`boxscore logs {}` reads it; `boxscore logs a=FILE b=FILE` compares two",
            model::shell::word(&name)
        )),
        false => error,
    })
}

/// True for a text whose first lines are of a format of access logs.
fn is_access_log(text: &str) -> bool {
    let lines: Vec<&[u8]> = text.lines().take(ACCESS_LOG).map(str::as_bytes).collect();
    !text.trim_start().starts_with('{') && logs::format::detect::detect(&lines).is_ok()
}

/// The runs of an exported text; `name` is for errors.
pub fn parse(name: &str, text: &str) -> Result<Vec<RunData>, CliError> {
    let runs = document(name, text)?;
    checked(name, &runs)?;
    Ok(runs)
}

/// Refuses runs that do not hold together; `name` is the file that they stand in.
pub fn checked(name: &str, runs: &[RunData]) -> Result<(), CliError> {
    let cards = instruments::cards();
    for run in runs {
        check::run(run, cards).map_err(|what| refused(name, run, what))?;
    }
    Ok(())
}

/// The refusal of one run of a file.
pub fn refused(name: &str, run: &RunData, what: String) -> CliError {
    OwnError::Run { name: name.to_owned(), run: run.head.id.clone(), what }.into()
}

fn document(name: &str, text: &str) -> Result<Vec<RunData>, OwnError> {
    let malformed = |error: serde_json::Error| OwnError::Malformed {
        name: name.to_owned(),
        line: error.line(),
        column: error.column(),
        what: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
    };
    let head: Head = serde_json::from_str(text).map_err(malformed)?;
    match head.schema {
        Some(schema) if schema == SCHEMA => {}
        Some(schema) => return Err(OwnError::Schema { name: name.to_owned(), schema }),
        None => return Err(OwnError::Foreign { name: name.to_owned() }),
    }
    let document: Document = serde_json::from_str(text).map_err(malformed)?;
    Ok(document.runs.into_iter().map(RunData::from).collect())
}

/// The text of these runs, one run a line. It is also the verb's document, so it has that one's fields.
pub fn write(runs: &[RunData]) -> Result<String, CliError> {
    let wrong =
        |what: &str, error: serde_json::Error| CliError::data(format!("{what} cannot be written: {error}"));
    let first = serde_json::to_string(&runs.first().map(|run| &run.head.id));
    let first = first.map_err(|error| wrong("the run's id", error))?;
    let mut text =
        format!("{{\"schema\": \"{SCHEMA}\", \"ok\": true, \"paths\": [], \"run\": {first}, \"runs\": [");
    for (index, run) in runs.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        let json = serde_json::to_string(&Run::from(run));
        let json = json.map_err(|error| wrong(&format!("run {}", run.head.id), error))?;
        text.push_str(&json);
    }
    text.push_str("\n]}\n");
    Ok(text)
}

#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    runs: Vec<Run>,
}

/// A run in the order and with the names of the export. What follows from the rest is left out of it.
#[derive(Serialize, Deserialize)]
struct Run {
    run: String,
    study: String,
    status: Status,
    machine_id: String,
    machine: String,
    label: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    hidden: bool,
    started_ns: i64,
    #[serde(with = "exact")]
    seconds: Option<f64>,
    build: String,
    origin: Origin,
    clock_offsets: Vec<ClockOffset>,
    price: Option<Price>,
    #[serde(with = "exact")]
    watts: Option<f64>,
    /// CPU seconds of the child and of its telemetry, and the seconds of both.
    #[serde(with = "exact")]
    own_cost: Option<[f64; 3]>,
    plan: Plan,
    facts: Vec<Fact>,
    notes: Vec<Note>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    traffic: Option<Traffic>,
    takes: Vec<TakeHead>,
    series: Vec<SeriesText>,
    telemetry: Vec<Segment>,
    /// Of the hosts of targets.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    target_telemetry: Vec<TargetTelemetry>,
}

/// A series with its key's fields among its own.
#[derive(Serialize, Deserialize)]
struct SeriesText {
    instrument: String,
    metric: String,
    unit: Unit,
    better: Better,
    params: Params,
    arm: String,
    definition: u32,
    points: Vec<Point>,
}

impl From<&RunData> for Run {
    fn from(run: &RunData) -> Run {
        let RunData { head, origin, clock_offsets, plan, facts, series, takes, .. } = run.clone();
        // What still runs is, as far as this copy knows it, cut here.
        let status = if head.status == Status::Running { Status::Interrupted } else { head.status };
        let cost = |cost: OwnCost| [cost.agent_cpu_seconds, cost.telemetry_cpu_seconds, cost.seconds];
        Run {
            run: head.id,
            study: head.study,
            status,
            machine_id: head.machine_id,
            machine: head.machine,
            label: head.label,
            hidden: head.hidden,
            started_ns: head.started_ns,
            seconds: head.seconds,
            build: head.build,
            origin,
            clock_offsets,
            price: head.price,
            watts: head.watts,
            own_cost: run.own_cost.map(cost),
            plan: plan.into_value(),
            facts,
            notes: run.notes.clone(),
            traffic: run.traffic.clone(),
            takes,
            series: series.into_iter().map(SeriesText::from).collect(),
            telemetry: run.telemetry.clone(),
            target_telemetry: run.target_telemetry.clone(),
        }
    }
}

impl From<Run> for RunData {
    fn from(run: Run) -> RunData {
        let sittings: BTreeMap<u64, u32> = run.takes.iter().map(|take| (take.seq, take.sitting)).collect();
        let series = run.series.into_iter().map(|text| {
            let mut series = Series::from(text);
            for point in &mut series.points {
                point.sitting = sittings.get(&point.seq).copied().unwrap_or_default();
            }
            series
        });
        let cost = |[agent_cpu_seconds, telemetry_cpu_seconds, seconds]: [f64; 3]| OwnCost {
            agent_cpu_seconds,
            telemetry_cpu_seconds,
            seconds,
        };
        // Older exports have the name in it only where the study had several machines.
        let is_via = run.plan.machines.iter().any(|via| via.name == run.machine && via.command.is_some());
        let machine_id = machine_id(&run.machine_id, if is_via { &run.machine } else { "" });
        let mut data = RunData {
            head: RunHead {
                id: run.run,
                study: run.study,
                status: run.status,
                machine_id,
                machine: run.machine,
                label: run.label,
                started_ns: run.started_ns,
                seconds: run.seconds,
                build: run.build.clone(),
                config_class: model::fact::config_class(&run.facts),
                price: run.price,
                watts: run.watts,
                takes: run.takes.len() as u64,
                faults: 0,
                measured: run.takes.iter().filter(|take| take.is_measured()).count() as u64,
                hidden: run.hidden,
            },
            origin: Origin { build: run.build, ..run.origin },
            clock_offsets: run.clock_offsets,
            plan: run.plan.into(),
            facts: run.facts,
            series: series.collect(),
            takes: run.takes,
            notes: run.notes,
            traffic: run.traffic,
            telemetry: run.telemetry,
            target_telemetry: run.target_telemetry,
            own_cost: run.own_cost.map(cost),
        };
        data.head.faults = data.failures().count() as u64;
        data
    }
}

impl From<Series> for SeriesText {
    fn from(Series { key, better, points }: Series) -> SeriesText {
        let SeriesKey { instrument, metric, unit, params, arm, definition } = key;
        SeriesText { instrument, metric, unit, better, params, arm, definition, points }
    }
}

impl From<SeriesText> for Series {
    fn from(series: SeriesText) -> Series {
        let SeriesText { instrument, metric, unit, better, params, arm, definition, points } = series;
        Series { key: SeriesKey { instrument, metric, unit, params, arm, definition }, better, points }
    }
}

#[cfg(test)]
mod tests;
