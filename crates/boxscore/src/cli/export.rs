//! `boxscore export`: runs as JSON that can be imported again, as CSV, or as Go benchmark text.
//!
//! Values are in base units and unrounded. The default place is stdout.

use std::path::PathBuf;

use model::data::{RunData, Series};
use model::reading::{Phase, Value};
use model::unit::Unit;
use store::{Filter, Store, StoreError};

use crate::cli::Global;
use crate::error::{CliError, Kind};
use crate::import::own;
use crate::lookup::resolve::Resolver;
use crate::lookup::{paths, runs};
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore export -o box1.json                    the newest run, whole; `boxscore import` reads it
  boxscore export --all -o everything.json
  boxscore export latest --format csv > takes.csv one line a reading
  boxscore export before --format bench > a.txt   for benchstat a.txt b.txt";

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Whole runs, which `import` reads back
    Json,
    /// One line a reading
    Csv,
    /// Go benchmark text
    Bench,
}

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct ExportArgs {
    /// Runs of the store: ids, latest, latest~N, labels (each of their runs), machines (`.` is this one; their runs of
    /// the newest configuration) [default: latest]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Every run of the store; of a damaged one, those that can be read (exit 3)
    #[arg(long, conflicts_with = "runs")]
    pub all: bool,
    /// json, csv or bench
    #[arg(long, short, value_name = "FORMAT", default_value = "json")]
    pub format: Format,
    /// Write to this file [default: stdout]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

pub fn run(args: &ExportArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    if global.json && args.output.is_none() && args.format != Format::Json {
        return Err(CliError::usage("--json prints a document on stdout, and so does the export")
            .hint("name a file with -o"));
    }
    let store = paths::open(&path)?;
    let ids: Vec<String> = if args.all {
        let heads = store.heads(&Filter::default())?;
        heads.into_iter().map(|head| head.id).collect()
    } else if args.runs.is_empty() {
        vec![runs::run_id("latest", &store)?]
    } else {
        let mut ids: Vec<String> = Vec::new();
        let mut resolver = Resolver::new(global)?;
        for name in &args.runs {
            let more = resolver.run_ids(name)?;
            ids.extend(more.into_iter().filter(|id| !ids.contains(id)).collect::<Vec<_>>());
        }
        ids
    };
    let (runs, code) = if args.all { readable(&store, &ids)? } else { (store.load_many(&ids)?, 0) };
    let text = match args.format {
        Format::Json => own::write(&runs)?,
        Format::Csv => csv(&runs)?,
        Format::Bench => bench(&runs),
    };
    let Some(to) = &args.output else {
        out::print(&text);
        return Ok(code);
    };
    paths::write(to, text.as_bytes())?;
    if global.json {
        out::done("export", [to], runs.first().map(|run| run.head.id.clone()));
    } else {
        out::say(&format!("{}: {}", to.display(), counted(runs.len())));
    }
    Ok(code)
}

/// Every run that can be read, and the exit code: of a damaged store the others are left out, which is said.
fn readable(store: &Store, ids: &[String]) -> Result<(Vec<RunData>, u8), CliError> {
    let (mut runs, mut code) = (Vec::new(), 0);
    for id in ids {
        match store.load(id) {
            Ok(run) => runs.push(run),
            Err(error @ (StoreError::Corrupt { .. } | StoreError::Data { .. })) => {
                out::say(&format!("warning: run {id} is left out: {error}"));
                code = Kind::Faults.exit_code();
            }
            Err(error) => return Err(CliError::from(error)),
        }
    }
    if runs.is_empty() && code != 0 {
        return Err(CliError::data("no run of the store can be read").hint("restore a backup"));
    }
    Ok((runs, code))
}

fn counted(runs: usize) -> String {
    if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") }
}

const COLUMNS: [&str; 19] = [
    "run",
    "study",
    "machine",
    "label",
    "instrument",
    "metric",
    "unit",
    "better",
    "params",
    "definition",
    "arm",
    "take",
    "block",
    "sitting",
    "phase",
    "at_ns",
    "window_ns",
    "value",
    "histogram",
];

/// One line a reading; a histogram's bytes in hexadecimal.
fn csv(runs: &[RunData]) -> Result<String, CliError> {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    let wrong = |what: String| CliError::data(format!("the table cannot be written: {what}"));
    writer.write_record(COLUMNS).map_err(|error| wrong(error.to_string()))?;
    for run in runs {
        for series in &run.series {
            for point in &series.points {
                let (value, histogram) = match &point.value {
                    Value::Number(number) => (number.to_string(), String::new()),
                    Value::Histogram(histogram) => (String::new(), histogram.hex()),
                };
                let key = &series.key;
                let record = [
                    run.head.id.clone(),
                    run.head.study.clone(),
                    run.head.machine.clone(),
                    run.head.label.clone().unwrap_or_default(),
                    key.instrument.clone(),
                    key.metric.clone(),
                    key.unit.symbol().to_owned(),
                    series.better.word().to_owned(),
                    key.params.to_string(),
                    key.definition.to_string(),
                    key.arm.clone(),
                    point.seq.to_string(),
                    point.block.to_string(),
                    point.sitting.to_string(),
                    point.phase.word().to_owned(),
                    point.at_ns.to_string(),
                    point.window_ns.to_string(),
                    value,
                    histogram,
                ];
                writer.write_record(&record).map_err(|error| wrong(error.to_string()))?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(|error| wrong(error.to_string()))?;
    String::from_utf8(bytes).map_err(|error| wrong(error.to_string()))
}

/// Go's benchmark format: a block of configuration a run, a line a measured take. Conditions, warm-up takes and
/// histograms are not in it.
fn bench(runs: &[RunData]) -> String {
    let mut out = units(runs);
    for run in runs {
        let fact = |key: &str| run.fact(key).and_then(|fact| fact.value.as_ref()).map(model::FactValue::text);
        let lines = [
            ("machine", Some(run.head.machine.clone())),
            ("cpu", fact("cpu.model")),
            ("kernel", fact("kernel.release")),
            ("label", run.head.label.clone()),
            ("run", Some(run.head.id.clone())),
            ("boxscore", Some(run.head.build.clone())),
        ];
        for (key, value) in lines {
            // An empty value unsets what the run before set.
            out.push_str(format!("{key}: {}", one_line(&value.unwrap_or_default())).trim_end());
            out.push('\n');
        }
        out.push('\n');
        for series in run.rows() {
            let measured = series.points.iter().filter(|point| point.phase == Phase::Measured);
            for value in measured.filter_map(model::data::Point::number) {
                out.push_str(&format!("{} 1 {value} {}\n", name(series), unit(series.key.unit)));
            }
        }
        out.push('\n');
    }
    out
}

/// Which way is better, for the units whose series agree on it.
fn units(runs: &[RunData]) -> String {
    let rows: Vec<&Series> = runs.iter().flat_map(RunData::rows).collect();
    let mut out = String::new();
    for of in Unit::ALL {
        let mut ways: Vec<&str> =
            rows.iter().filter(|row| row.key.unit == of).map(|row| row.better.word()).collect();
        ways.sort_unstable();
        ways.dedup();
        if let [way] = ways.as_slice() {
            out.push_str(&format!("Unit {} better={way}\n", unit(of)));
        }
    }
    out
}

/// `BenchmarkMemBandwidth/metric=bandwidth/op=read/threads=1`.
fn name(series: &Series) -> String {
    let key = &series.key;
    let mut name = "Benchmark".to_owned();
    for part in key.instrument.split(['-', '_']) {
        let mut letters = part.chars();
        name.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        name.push_str(letters.as_str());
    }
    name.push_str(&format!("/metric={}", word(&key.metric)));
    let params = key.params.to_string();
    for pair in params.split(';').filter(|pair| !pair.is_empty()) {
        name.push_str(&format!("/{}", word(pair)));
    }
    if !key.arm.is_empty() {
        name.push_str(&format!("/arm={}", word(&key.arm)));
    }
    name
}

/// Without what ends a part of a name.
fn word(text: &str) -> String {
    text.chars().map(|c| if c.is_whitespace() || c == '/' { '_' } else { c }).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The spelling that Go's tools scale.
const fn unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Second => "sec/op",
        Unit::Byte => "B",
        Unit::Count => "count",
        Unit::Ratio => "ratio",
        Unit::PerSec => "op/s",
        other => other.symbol(),
    }
}
