//! boxscore's own export (`boxscore.export/1`): whole runs with every take, written and read back without loss.
//!
//! Values are in base units and exact: a number that JSON has no word for stands as its bits, a histogram as its
//! bytes in hexadecimal. Summaries are not in it; they are recomputed. Facts added to a machine by hand are not either.

use std::path::Path;

use model::data::{ClockOffset, Origin, Point, Price, RunData, RunHead, Series, Status, TakeHead};
use model::finding::FindingDoc;
use model::frame::{OwnCost, Segment};
use model::plan::Plan;
use model::reading::{Phase, SeriesKey, Value};
use model::traffic::Traffic;
use model::{Better, Fact, FactValue, Fault, FaultKind, Finding, Histogram, Note, Params, Unit, Validity};
use serde::{Deserialize, Serialize};

use crate::error::CliError;
use crate::importers::check;

/// Raised when a field is renamed or removed.
pub const SCHEMA: &str = "boxscore.export/1";

/// What is wrong with an exported text.
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
    parse(&name, &text)
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
    let back = |run: Run| {
        let id = run.run.clone();
        run.back().map_err(|what| OwnError::Run { name: name.to_owned(), run: id, what })
    };
    document.runs.into_iter().map(back).collect()
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
        let json = serde_json::to_string(&Run::of(run));
        let json = json.map_err(|error| wrong(&format!("run {}", run.head.id), error))?;
        text.push_str(&json);
    }
    text.push_str("\n]}\n");
    Ok(text)
}

/// A float with every bit: what JSON cannot say stands as `{"bits": "7ff8000000000000"}`.
#[derive(Clone, Copy)]
struct Exact(f64);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ExactText {
    Number(f64),
    Bits { bits: String },
}

impl Serialize for Exact {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Exact(number) = *self;
        if number.is_finite() {
            ExactText::Number(number).serialize(to)
        } else {
            ExactText::Bits { bits: format!("{:016x}", number.to_bits()) }.serialize(to)
        }
    }
}

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Exact, D::Error> {
        match ExactText::deserialize(from)? {
            ExactText::Number(number) => Ok(Exact(number)),
            ExactText::Bits { bits } => u64::from_str_radix(&bits, 16)
                .map(|bits| Exact(f64::from_bits(bits)))
                .map_err(|_| serde::de::Error::custom(format!("`{bits}` are not the bits of a number"))),
        }
    }
}

#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
}

#[derive(Deserialize)]
struct Document {
    runs: Vec<Run>,
}

#[derive(Serialize, Deserialize)]
struct Run {
    run: String,
    study: String,
    status: String,
    machine_id: String,
    machine: String,
    label: Option<String>,
    started_ns: i64,
    seconds: Option<Exact>,
    build: String,
    origin: OriginText,
    clock_offsets: Vec<(u64, i64, u64)>,
    price: Option<Cost>,
    watts: Option<Exact>,
    own_cost: Option<[Exact; 3]>,
    plan: Plan,
    facts: Vec<FactText>,
    notes: Vec<Note>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    traffic: Option<Traffic>,
    takes: Vec<TakeText>,
    series: Vec<SeriesText>,
    telemetry: Vec<SegmentText>,
}

#[derive(Serialize, Deserialize)]
struct OriginText {
    hostname: String,
    boot_id: Option<String>,
    target: String,
    clock_source: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Cost {
    amount: Exact,
    hourly: bool,
    currency: String,
}

#[derive(Serialize, Deserialize)]
struct FactText {
    key: String,
    value: Option<Scalar>,
    unit: Option<Unit>,
    source: String,
    why: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Flag(bool),
    Text(String),
    Number(Exact),
}

#[derive(Serialize, Deserialize)]
struct TakeText {
    seq: u64,
    block: u32,
    phase: String,
    cell: u32,
    arm: u32,
    start_ns: u64,
    end_ns: u64,
    repeats: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
    #[serde(default, skip_serializing_if = "FaultKind::is_other")]
    fault_kind: FaultKind,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refusals: Vec<Refusal>,
}

#[derive(Serialize, Deserialize)]
struct Refusal {
    kind: String,
    state: Validity,
    subject: String,
    text: String,
    evidence: Vec<(String, Exact)>,
}

#[derive(Serialize, Deserialize)]
struct SeriesText {
    instrument: String,
    metric: String,
    unit: Unit,
    better: Better,
    params: Params,
    arm: String,
    definition: u32,
    /// Take, block, phase, start, window (both ns), value.
    points: Vec<(u64, u32, String, u64, u64, ValueText)>,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum ValueText {
    Number(Exact),
    Histogram { histogram: String },
}

#[derive(Serialize, Deserialize)]
struct SegmentText {
    source: String,
    columns: Vec<(String, String)>,
    at_ns: Vec<u64>,
    rows: Vec<Vec<Option<Exact>>>,
}

impl Run {
    fn of(run: &RunData) -> Run {
        let head = run.head.clone();
        // What still runs is, as far as this copy knows it, cut here.
        let status = if head.status == Status::Running { Status::Interrupted } else { head.status };
        let price = |price: Price| Cost {
            amount: Exact(price.amount),
            hourly: price.hourly,
            currency: price.currency,
        };
        let cost =
            |cost: OwnCost| [cost.agent_cpu_seconds, cost.telemetry_cpu_seconds, cost.seconds].map(Exact);
        Run {
            run: head.id,
            study: head.study,
            status: status.word().to_owned(),
            machine_id: head.machine_id,
            machine: head.machine,
            label: head.label,
            started_ns: head.started_ns,
            seconds: head.seconds.map(Exact),
            build: head.build,
            origin: OriginText {
                hostname: run.origin.hostname.clone(),
                boot_id: run.origin.boot_id.clone(),
                target: run.origin.target.clone(),
                clock_source: run.origin.clock_source.clone(),
            },
            clock_offsets: run.clock_offsets.iter().map(|o| (o.at_ns, o.offset_ns, o.error_ns)).collect(),
            price: head.price.map(price),
            watts: head.watts.map(Exact),
            own_cost: run.own_cost.map(cost),
            plan: run.plan.clone(),
            facts: run.facts.iter().map(fact_text).collect(),
            notes: run.notes.clone(),
            traffic: run.traffic.clone(),
            takes: run.takes.iter().map(take_text).collect(),
            series: run.series.iter().map(series_text).collect(),
            telemetry: run.telemetry.iter().map(segment_text).collect(),
        }
    }

    fn back(self) -> Result<RunData, String> {
        let facts: Vec<Fact> = self.facts.into_iter().map(fact_back).collect();
        let takes: Vec<TakeHead> = self.takes.into_iter().map(take_back).collect::<Result<_, _>>()?;
        let series: Vec<Series> = self.series.into_iter().map(series_back).collect::<Result<_, _>>()?;
        let status = Status::parse(&self.status).ok_or_else(|| format!("no status is `{}`", self.status))?;
        let price =
            |cost: Cost| Price { amount: cost.amount.0, hourly: cost.hourly, currency: cost.currency };
        let own_cost = self.own_cost.map(|[agent, telemetry, seconds]| OwnCost {
            agent_cpu_seconds: agent.0,
            telemetry_cpu_seconds: telemetry.0,
            seconds: seconds.0,
        });
        let offset = |(at_ns, offset_ns, error_ns)| ClockOffset { at_ns, offset_ns, error_ns };
        let origin = Origin {
            hostname: self.origin.hostname,
            boot_id: self.origin.boot_id,
            build: self.build.clone(),
            target: self.origin.target,
            clock_source: self.origin.clock_source,
        };
        Ok(RunData {
            head: RunHead {
                id: self.run,
                study: self.study,
                status,
                machine_id: self.machine_id,
                machine: self.machine,
                label: self.label,
                started_ns: self.started_ns,
                seconds: self.seconds.map(|Exact(seconds)| seconds),
                build: self.build,
                config_class: model::fact::config_class(&facts),
                price: self.price.map(price),
                watts: self.watts.map(|Exact(watts)| watts),
                takes: takes.len() as u64,
                faults: takes.iter().filter(|take| take.fault.is_some()).count() as u64,
                measured: takes.iter().filter(|take| take.is_measured()).count() as u64,
            },
            origin,
            clock_offsets: self.clock_offsets.into_iter().map(offset).collect(),
            plan: self.plan,
            facts,
            series,
            takes,
            notes: self.notes,
            traffic: self.traffic,
            telemetry: self.telemetry.into_iter().map(segment_back).collect::<Result<_, _>>()?,
            own_cost,
        })
    }
}

fn fact_text(fact: &Fact) -> FactText {
    let value = |value: &FactValue| match value {
        FactValue::Text(text) => Scalar::Text(text.clone()),
        FactValue::Number(number) => Scalar::Number(Exact(*number)),
        FactValue::Flag(flag) => Scalar::Flag(*flag),
    };
    FactText {
        key: fact.key.clone(),
        value: fact.value.as_ref().map(value),
        unit: fact.unit,
        source: fact.source.clone(),
        why: fact.why.clone(),
    }
}

fn fact_back(fact: FactText) -> Fact {
    let value = |value| match value {
        Scalar::Text(text) => FactValue::Text(text),
        Scalar::Number(Exact(number)) => FactValue::Number(number),
        Scalar::Flag(flag) => FactValue::Flag(flag),
    };
    Fact { key: fact.key, value: fact.value.map(value), unit: fact.unit, source: fact.source, why: fact.why }
}

fn phase_back(word: &str) -> Result<Phase, String> {
    Phase::parse(word).ok_or_else(|| format!("no phase is `{word}`"))
}

fn take_text(take: &TakeHead) -> TakeText {
    let refusal = |finding: &Finding| {
        let FindingDoc { kind, state, subject, text, evidence } = finding.clone().into();
        let evidence = evidence.into_iter().map(|(name, value)| (name, Exact(value))).collect();
        Refusal { kind, state, subject, text, evidence }
    };
    TakeText {
        seq: take.seq,
        block: take.block,
        phase: take.phase.word().to_owned(),
        cell: take.cell,
        arm: take.arm,
        start_ns: take.start_ns,
        end_ns: take.end_ns,
        repeats: take.repeats,
        fault: take.fault.as_ref().map(|fault| fault.text.clone()),
        fault_kind: take.fault.as_ref().map(|fault| fault.kind.clone()).unwrap_or_default(),
        refusals: take.refusals.iter().map(refusal).collect(),
    }
}

fn take_back(take: TakeText) -> Result<TakeHead, String> {
    let finding = |refusal: Refusal| -> Finding {
        let Refusal { kind, state, subject, text, evidence } = refusal;
        let evidence = evidence.into_iter().map(|(name, Exact(value))| (name, value)).collect();
        FindingDoc { kind, state, subject, text, evidence }.into()
    };
    Ok(TakeHead {
        seq: take.seq,
        block: take.block,
        phase: phase_back(&take.phase)?,
        cell: take.cell,
        arm: take.arm,
        start_ns: take.start_ns,
        end_ns: take.end_ns,
        repeats: take.repeats,
        fault: take.fault.map(|text| Fault { kind: take.fault_kind, text }),
        refusals: take.refusals.into_iter().map(finding).collect(),
    })
}

fn series_text(series: &Series) -> SeriesText {
    let value = |value: &Value| match value {
        Value::Number(number) => ValueText::Number(Exact(*number)),
        Value::Histogram(histogram) => ValueText::Histogram { histogram: hex(&histogram.to_bytes()) },
    };
    let point = |point: &Point| {
        let phase = point.phase.word().to_owned();
        (point.seq, point.block, phase, point.at_ns, point.window_ns, value(&point.value))
    };
    SeriesText {
        instrument: series.key.instrument.clone(),
        metric: series.key.metric.clone(),
        unit: series.key.unit,
        better: series.better,
        params: series.key.params.clone(),
        arm: series.key.arm.clone(),
        definition: series.key.definition,
        points: series.points.iter().map(point).collect(),
    }
}

fn series_back(series: SeriesText) -> Result<Series, String> {
    let value = |value| match value {
        ValueText::Number(Exact(number)) => Ok(Value::Number(number)),
        ValueText::Histogram { histogram } => {
            let bytes = unhex(&histogram).ok_or("a histogram's bytes are not hexadecimal")?;
            Histogram::from_bytes(&bytes).map(Value::Histogram).map_err(|error| error.to_string())
        }
    };
    let point = |(seq, block, phase, at_ns, window_ns, given): (u64, u32, String, u64, u64, ValueText)| {
        Ok(Point { seq, block, phase: phase_back(&phase)?, at_ns, window_ns, value: value(given)? })
    };
    Ok(Series {
        key: SeriesKey {
            instrument: series.instrument,
            metric: series.metric,
            unit: series.unit,
            params: series.params,
            arm: series.arm,
            definition: series.definition,
        },
        better: series.better,
        points: series.points.into_iter().map(point).collect::<Result<_, String>>()?,
    })
}

fn segment_text(segment: &Segment) -> SegmentText {
    let row = |row: &Vec<Option<f64>>| row.iter().map(|value| value.map(Exact)).collect();
    SegmentText {
        source: segment.source.clone(),
        columns: segment.columns.clone(),
        at_ns: segment.at_ns.clone(),
        rows: segment.rows.iter().map(row).collect(),
    }
}

fn segment_back(segment: SegmentText) -> Result<Segment, String> {
    let whole = segment.rows.len() == segment.at_ns.len()
        && segment.rows.iter().all(|row| row.len() == segment.columns.len());
    if !whole {
        return Err(format!("telemetry of {}: rows, times and columns do not agree", segment.source));
    }
    let row = |row: Vec<Option<Exact>>| row.into_iter().map(|value| value.map(|Exact(v)| v)).collect();
    Ok(Segment {
        source: segment.source,
        columns: segment.columns,
        at_ns: segment.at_ns,
        rows: segment.rows.into_iter().map(row).collect(),
    })
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |[high, low]: &[u8; 2]| u8::try_from(digit(high)? * 16 + digit(low)?).ok();
    if rest.is_empty() { pairs.iter().map(byte).collect() } else { None }
}

#[cfg(test)]
mod tests;
