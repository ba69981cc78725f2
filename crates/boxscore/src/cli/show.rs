//! `boxscore show`: one run, its figures recomputed from the stored takes; or its figures as one line to paste.

use model::doc::{FactDoc, RunDoc, SeriesDoc};
use report::text::score::{Tail, score};

use crate::cli::Global;
use crate::error::CliError;
use crate::present::{self, Shown};
use crate::resolve::{self, Resolver};
use crate::{out, paths};

const AFTER: &str = "\
Examples:
  boxscore show                    the newest complete run
  boxscore show latest~1 --all     the one before, every figure
  boxscore show box1 --line        one line that `boxscore compare . 'bx1:...'` accepts
  boxscore show 019d2f --takes     every measured value, in time order";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct Args {
    /// A run's id or its beginning, a label, latest, latest~N
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Print the headline figures as one line to paste
    #[arg(long, conflicts_with_all = ["takes", "all", "json"])]
    pub line: bool,
    /// Print every measured value too, in base units
    #[arg(long)]
    pub takes: bool,
    /// Print every figure, not the headline ones alone
    #[arg(long)]
    pub all: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let mut resolver = Resolver::new(global)?;
    let store = resolver.store().ok_or_else(|| {
        CliError::data(format!("there is no store at {}", path.display()))
            .hint("`boxscore run --quick` measures this machine")
    })?;
    let id = resolve::run_id(&args.run, store)?;
    let shown = present::shown(&id, "boxscore.show/1", args.takes, &mut resolver)?;
    if args.line {
        out::print(&format!("{}\n", report::text::line::line(&shown.doc)));
    } else if global.json {
        out::json(&shown.doc);
    } else {
        let report = present::default_report(&path, &shown.doc.run);
        let report = report.is_file().then(|| paths::tilde(&report));
        out::print(&text(&shown, args, report));
    }
    Ok(0)
}

fn text(shown: &Shown, args: &Args, report: Option<String>) -> String {
    let facts: Vec<FactDoc> = shown.data.facts.iter().map(FactDoc::from).collect();
    let tail = Tail { report, advice: Vec::new() };
    let mut doc = shown.doc.clone();
    if args.all {
        doc.series.iter_mut().for_each(|series| series.headline = true);
    }
    let mut text = score(&doc, &facts, None, &tail, out::look());
    if args.takes {
        text.push_str(&takes(&doc));
    }
    text
}

/// The measured values of each series in time order, unrounded.
fn takes(doc: &RunDoc) -> String {
    let mut out = String::new();
    for series in doc.series.iter().filter(|series| !series.takes.is_empty()) {
        let arm = if series.arm.is_empty() { String::new() } else { format!(" [{}]", series.arm) };
        out.push_str(&format!("\n{}{arm}, {}\n", title(series), series.unit.symbol()));
        for value in &series.takes {
            out.push_str(&format!("  {value}\n"));
        }
    }
    out
}

fn title(series: &SeriesDoc) -> String {
    format!("{} {} {}", series.instrument, series.metric, series.params).trim_end().to_owned()
}
