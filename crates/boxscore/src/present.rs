//! The output after a run: the box score, the path of the report, and what to do next.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use model::data::{RunData, Status};
use model::doc::{CompareDoc, FactDoc, RatioDoc, RunDoc};
use model::plan::{Level, Plan};
use report::html::ReportInput;
use report::text::score::{Advice, Tail, score};
use store::StoreError;
use verdict::compare::{CompareOptions, Side, compare};
use verdict::{RunContext, run_doc};

use crate::cli::Global;
use crate::cli::agent::BUILD;
use crate::error::CliError;
use crate::ids::short;
use crate::resolve::{self, Loaded, Resolver};
use crate::runs::is_whole;
use crate::{out, paths, ratios};

/// The store's error as an error of the command line.
#[must_use]
pub fn store_error(error: StoreError) -> CliError {
    let hint = error.hint();
    let plain = CliError::data(error.to_string());
    match hint {
        Some(hint) => plain.hint(hint),
        None => plain,
    }
}

/// One run with its document.
pub struct Shown {
    pub doc: RunDoc,
    pub data: RunData,
    pub earlier: Vec<RunData>,
}

/// Loads a run with all that its document needs. Fails when the store does not have it or cannot be read.
pub fn shown(run: &str, schema: &str, with_takes: bool, resolver: &mut Resolver) -> Result<Shown, CliError> {
    let store = resolver.store().ok_or_else(|| CliError::data("there is no store"))?;
    let data = store.load(run).map_err(store_error)?;
    let earlier = resolver.earlier(&data.head, &[run.to_owned()], std::slice::from_ref(&data))?;
    let cards = instruments::cards();
    let context = RunContext {
        earlier: &earlier,
        cards,
        siblings: resolver.siblings(&data.head),
        command: logs_command(&data).unwrap_or_else(|| command(&data.plan, run)),
        with_takes,
    };
    let doc = RunDoc { schema: schema.to_owned(), ..run_doc(&data, &context) };
    Ok(Shown { doc, data, earlier })
}

/// The command that repeats a run.
fn command(plan: &Plan, run: &str) -> String {
    let plain =
        plan.machines.iter().all(|via| via.command.is_none()) && plan.cpus.is_none() && plan.fake.is_none();
    match plan.level {
        Level::Quick if plain => "boxscore run --quick".to_owned(),
        Level::Default if plain => "boxscore run".to_owned(),
        Level::Full if plain => "boxscore run --full".to_owned(),
        _ => format!("boxscore run --plan {}", short(run)),
    }
}

/// The command that repeats a run of logs, with FILE for each file, since a run does not name its files.
fn logs_command(data: &RunData) -> Option<String> {
    let labels = |names: &mut dyn Iterator<Item = &str>| {
        names.map(|name| word(&format!("{name}=FILE"))).collect::<Vec<_>>().join(" ")
    };
    Some(match &data.traffic.as_ref()?.cut {
        Some(cut) => {
            format!("boxscore logs {} --cut {}", labels(&mut [cut.of.as_str()].into_iter()), word(&cut.given))
        }
        None => {
            let mut names = data.plan.machines.iter().map(|one| one.name.as_str());
            format!("boxscore logs {}", labels(&mut names))
        }
    })
}

/// The text as one word of a shell command, quoted if needed.
#[must_use]
pub fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=~@%+,".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A comparison beside a run: with its own arms, with the other machines of its study, or with a reference machine.
/// Fails when a stored run cannot be read.
pub fn versus(runs: &[Shown], resolver: &mut Resolver) -> Result<Option<CompareDoc>, CliError> {
    let whole: Vec<&Shown> = runs.iter().filter(|one| is_whole(&one.data.head)).collect();
    let cards = instruments::cards();
    let options = CompareOptions { cards, ..CompareOptions::default() };
    let loaded: Vec<Loaded> = match whole.as_slice() {
        [] => return Ok(None),
        [one] if one.data.plan.arms.len() > 1 => resolver.arms(&one.data.head.id)?,
        [one] => match resolver.reference()? {
            // A planted world is beside no real machine.
            Some(reference)
                if reference.machine.id != one.data.head.machine_id && one.data.plan.fake.is_none() =>
            {
                let own = crate::resolve::of_runs(vec![one.data.clone()], &one.doc.machine.name)?;
                let own = Loaded { name: one.doc.machine.name.clone(), earlier: one.earlier.clone(), ..own };
                vec![reference, own]
            }
            _ => return Ok(None),
        },
        several => {
            // Two runs must not be called alike.
            let all: Vec<_> = several.iter().map(|one| report::section::called(&one.doc)).collect();
            let each = several.iter().zip(model::id::apart(&all)).map(|(one, name)| {
                let own = crate::resolve::of_runs(vec![one.data.clone()], &one.doc.machine.name)?;
                // The same noise as `compare` takes: other runs of the machine, whichever are shown here.
                Ok(Loaded { name, earlier: one.earlier.clone(), ..own })
            });
            each.collect::<Result<_, CliError>>()?
        }
    };
    resolve::distinct(&loaded)?;
    let sides: Vec<Side<'_>> = loaded.iter().map(Loaded::side).collect();
    let document = compare(&sides, &options);
    Ok((!document.rows.is_empty()).then_some(document))
}

/// How figures are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Layout {
    #[default]
    Text,
    /// That of RAMCloud's clusterperf; runs of key-value stores alone have it
    Clusterperf,
}

/// A run in clusterperf's layout. Fails when the run has other tests.
pub fn clusterperf(one: &Shown) -> Result<String, CliError> {
    report::text::clusterperf::lines(&one.doc, &one.data).ok_or_else(|| {
        CliError::data(format!("run {} has no figure of a key-value store", short(&one.doc.run)))
            .hint("--format clusterperf is for runs of kv; without --format every figure is shown")
    })
}

/// Prints the result of a run, on the screen or as JSON, and writes the report. Fails when the store or the report
/// cannot be used.
pub fn after_run(
    runs: &[String],
    path: &Path,
    global: &Global,
    report: bool,
    layout: Layout,
) -> Result<(), CliError> {
    let mut resolver = Resolver::new(global)?;
    let schema = "boxscore.run/1";
    let each = runs.iter().map(|run| shown(run, schema, false, &mut resolver));
    let shown: Vec<Shown> = each.collect::<Result<_, _>>()?;
    let versus = versus(&shown, &mut resolver)?;
    let ratios = ratios::of_report(&shown, &resolver)?;
    let written = if report { beside(&shown, (versus.clone(), ratios.clone()), path) } else { Ok(None) };
    // The figures are shown, whatever becomes of the report.
    let (written, failed) = match written {
        Ok(written) => (written, Ok(())),
        Err(error) if global.json => return Err(error),
        Err(error) => (None, Err(error)),
    };
    if global.json {
        shown.iter().take(1).for_each(|one| out::json(&one.doc));
        return Ok(());
    }
    if layout == Layout::Clusterperf {
        for one in &shown {
            out::print(&clusterperf(one)?);
        }
        return failed;
    }
    for document in &ratios {
        out::print(&format!("{}\n", report::text::ratio::table(document, out::look())));
    }
    let study = shown.len() > 1 || shown.iter().any(|one| one.data.plan.arms.len() > 1);
    if let (true, Some(document)) = (study, &versus) {
        out::print(&report::text::compare::table(document, false, out::look()));
        for one in &shown {
            out::print(&report::text::notes::tools(&one.doc, out::look()));
        }
        if let Some(written) = &written {
            out::print(&format!("\nreport  {}\n", paths::tilde(written)));
        }
        return failed;
    }
    for one in &shown {
        let facts: Vec<FactDoc> = one.data.facts.iter().map(FactDoc::from).collect();
        out::print(&score(
            &one.doc,
            &facts,
            versus.as_ref(),
            &tail(one, versus.as_ref(), written.as_deref()),
            out::look(),
        ));
    }
    failed
}

/// Writes the report of these runs beside the store; `None` if there is nothing to show in one. Fails when it cannot
/// be written.
pub fn report_after(runs: &[String], path: &Path, global: &Global) -> Result<Option<PathBuf>, CliError> {
    let mut resolver = Resolver::new(global)?;
    let each = runs.iter().map(|run| shown(run, "boxscore.run/1", false, &mut resolver));
    let shown: Vec<Shown> = each.collect::<Result<_, _>>()?;
    beside(&shown, (None, Vec::new()), path)
}

/// The comparisons in a report: with other machines or arms, and ratios of runtimes.
type Beside = (Option<CompareDoc>, Vec<RatioDoc>);

fn beside(runs: &[Shown], others: Beside, path: &Path) -> Result<Option<PathBuf>, CliError> {
    let recorded = |data: &RunData| data.plan.telemetry_only && !data.telemetry.is_empty();
    let taken = |doc: &RunDoc| !doc.series.is_empty() && !report::text::score::is_unbegun(doc);
    let visible = runs.iter().any(|one| taken(&one.doc) || recorded(&one.data));
    match runs.first().filter(|_| visible) {
        Some(first) => write_report(runs, others, &default_report(path, &[&first.doc.run])).map(Some),
        None => Ok(None),
    }
}

/// The advice below a box score.
fn tail(one: &Shown, versus: Option<&CompareDoc>, written: Option<&Path>) -> Tail {
    let advice = |word: &str, command: String, says: &str| Advice {
        word: word.to_owned(),
        command,
        says: says.to_owned(),
    };
    let whole = is_whole(&one.data.head);
    let cut = one.data.head.status == Status::Interrupted;
    let again = match cut {
        true => advice("again", format!("boxscore resume {}", short(&one.doc.run)), &left(&one.data)),
        false if one.data.head.measured == 0 => {
            advice("again", one.doc.command.clone(), "once what stands above is mended")
        }
        false => advice("again", one.doc.command.clone(), "each further run replaces assumed noise"),
    };
    let mut list = vec![again];
    let reference =
        versus.and_then(|document| document.arms.first()).map_or("xeon-e5620", |arm| arm.name.as_str());
    // What others measured, too: the figures that every usual run has.
    let usual = matches!(one.data.plan.level, Level::Quick | Level::Default | Level::Full);
    if usual && whole && one.data.plan.fake.is_none() {
        let command = format!("boxscore compare . {reference} xeon-x3470");
        list.push(advice("versus", command, "beside other machines"));
    }
    if whole {
        let command = "boxscore show latest --line".to_owned();
        list.push(advice("share", command, "one line that others paste into compare"));
    }
    Tail { report: written.map(paths::tilde), advice: list }
}

/// The takes that an interrupted run still lacks.
fn left(run: &RunData) -> String {
    let all = run.plan.cells.len() * run.plan.arms.len();
    let taken: BTreeSet<(u32, u32)> =
        run.takes.iter().filter(|take| take.is_measured()).map(|take| (take.cell, take.arm)).collect();
    match all.saturating_sub(taken.len()) {
        0 => "completes this run: every figure has takes, not all that were planned".to_owned(),
        1 if all == 1 => "completes this run: its figure has no take yet".to_owned(),
        none => format!("completes this run: {none} of {all} figures have no take yet"),
    }
}

/// The path of a run's report, beside its store.
#[must_use]
pub fn default_report(store: &Path, runs: &[&str]) -> PathBuf {
    /// Most runs that are named in a file name.
    const NAMED: usize = 8;
    let mut name: Vec<String> = runs.iter().take(NAMED).map(|run| short(run).to_owned()).collect();
    if let more @ 1.. = runs.len().saturating_sub(NAMED) {
        name.push(format!("and-{more}-more"));
    }
    paths::beside(store).join(format!("{}.html", name.join("-")))
}

/// Writes the report, completely or not at all. Fails when the file cannot be written.
pub fn write_report(runs: &[Shown], (compare, ratios): Beside, to: &Path) -> Result<PathBuf, CliError> {
    let ids: Vec<&str> = runs.iter().map(|one| short(&one.doc.run)).collect();
    let started = runs.iter().map(|one| one.doc.started).fold(0.0, f64::max);
    let input = ReportInput {
        runs: runs.iter().map(|one| (one.doc.clone(), one.data.clone())).collect(),
        compare,
        ratios,
        version: BUILD.to_owned(),
        command: format!("boxscore report {}", ids.join(" ")),
        generated: report::text::date_time(started),
    };
    let html = report::html::report(&input);
    paths::write(to, html.as_bytes())?;
    Ok(to.to_path_buf())
}
