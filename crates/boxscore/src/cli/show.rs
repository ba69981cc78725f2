//! `boxscore show`: one run, its figures recomputed from the stored takes; or its figures as one line to paste.

use std::path::Path;
use std::rc::Rc;

use model::data::RunHead;
use model::doc::{CompareDoc, RunDoc, SeriesDoc};
use model::shell::word;
use report::text::score::{Advice, Tail, score};
use store::Store;
use verdict::{RunContext, run_doc};

use crate::cli::{Global, Layout};
use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::names::Machine;
use crate::lookup::resolve::Resolver;
use crate::lookup::{names, paths, runs};
use crate::show::shown::{Shown, Stored};
use crate::show::{after_run, nodes, page, shown, versus};
use crate::{import, out};

const SCHEMA: &str = "boxscore.show/1";

const AFTER: &str = "\
Examples:
  boxscore show                    the newest complete run
  boxscore show latest~1 --all     the one before, every figure
  boxscore show box1 --line        one line that `boxscore compare . 'bx1:...'` accepts
  boxscore show box1.json          a run that `boxscore export` wrote
  boxscore show latest --format clusterperf
                                   figures of a key-value store as clusterperf prints them
  boxscore show 019d2f --takes     every measured value, in time order";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct ShowArgs {
    /// A run (id, label, latest, latest~N), a machine's newest run (`.` is this one), or an exported file
    #[arg(value_name = "RUN", default_value = "latest")]
    pub run: String,
    /// Print the headline figures as one line to paste
    #[arg(long, conflicts_with_all = ["takes", "all", "json"])]
    pub line: bool,
    /// Print every measured value too, in base units
    #[arg(long)]
    pub takes: bool,
    /// Print every figure, not the headline ones alone, and of loads how all requests ended and their times
    #[arg(long)]
    pub all: bool,
    /// How to print the figures
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "text", conflicts_with_all = ["line", "takes",
        "all", "json"])]
    pub format: Layout,
}

pub fn run(args: &ShowArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let is_file = Path::new(&args.run).is_file();
    let mut resolver = if is_file { None } else { Some(Resolver::new(global)?) };
    let shown = match &mut resolver {
        None => of_file(&args.run, args.takes)?,
        Some(resolver) => {
            let id = run_id(&args.run, resolver.store()?)?;
            let mut shown = shown::shown(&id, SCHEMA, args.takes, resolver)?;
            Rc::make_mut(&mut shown.doc).nodes = nodes::of_runs(std::slice::from_ref(&shown), resolver)?;
            shown
        }
    };
    if args.format == Layout::Clusterperf {
        out::print(&after_run::clusterperf(&shown)?);
    } else if args.line {
        out::print(&format!("{}\n", report::text::line::line(&shown.doc)));
    } else if global.json {
        out::json(&shown.doc);
    } else {
        let report = page::default_report(&path, &shown.doc.run);
        let report = report.is_file().then(|| paths::tilde(&report));
        let shown = [shown];
        let (mut versus, mut advice) = (None, Vec::new());
        if let Some(resolver) = &mut resolver {
            advice = beside(&shown[0], resolver);
            if after_run::is_of_commands(&shown) {
                versus = versus::versus(&[&shown[0].stored], resolver)?;
            }
        }
        let [shown] = shown;
        out::print(&text(&shown, versus.as_ref(), args, (report, advice)));
    }
    Ok(0)
}

/// The newest run of an exported file or another store, without earlier runs beside it.
fn of_file(name: &str, with_takes: bool) -> Result<Shown, CliError> {
    let runs = import::read(Path::new(name), &import::clusterperf::About::default())?.runs;
    let data = runs.into_iter().max_by_key(|run| run.head.started_ns);
    let data = data.ok_or_else(|| CliError::data(format!("{name}: no run in it")))?;
    let cards = instruments::cards();
    let command = format!("boxscore import {name} && boxscore run --plan {}", short(&data.head.id));
    let context = RunContext { cards, command, with_takes, ..RunContext::default() };
    let doc = RunDoc { schema: SCHEMA.to_owned(), ..run_doc(&data, &context) };
    Ok(Shown { doc: Rc::new(doc), stored: Stored { data: Rc::new(data), earlier: Vec::new() } })
}

/// The run that a name means; a machine means its newest complete run.
fn run_id(name: &str, store: &Store) -> Result<String, CliError> {
    let machine = match names::machine(name, Some(store))? {
        Some(Machine::This(machine, _) | Machine::Measured(machine)) => machine,
        Some(Machine::Sheet(_) | Machine::Published(_)) => {
            return Err(CliError::data(format!("{name} has a sheet but no run"))
                .hint(format!("boxscore inspect {name}")));
        }
        Some(Machine::Reference(_)) | None => return runs::one_run(name, store),
    };
    let heads = names::runs_of(&machine, store)?;
    let whole: Vec<&RunHead> = heads.iter().filter(|head| runs::is_whole(head) && !head.hidden).collect();
    let Some(newest) = whole.last() else {
        return Err(CliError::data(format!("{} has no complete run in the store", machine.name))
            .hint("`boxscore run --quick` measures this machine; `boxscore history` lists the runs"));
    };
    if whole.len() > 1 {
        out::say(&format!(
            "note: this is the newest of {} runs of {}: {} (`boxscore history --machine {}` lists them, `compare` \
             pools them)",
            whole.len(),
            machine.name,
            short(&newest.id),
            word(&newest.machine)
        ));
    }
    Ok(newest.id.clone())
}

/// Of a machine of a study: how to see the others. With all of their runs where one of them has several.
fn beside(shown: &Shown, resolver: &Resolver) -> Vec<Advice> {
    let run = &shown.doc;
    let others = run.siblings.iter().count();
    let machines: Vec<&str> = shown.data.plan.machines.iter().map(|via| via.name.as_str()).collect();
    let (command, says) = match others {
        0 => return Vec::new(),
        _ if resolver.are_pooled(&machines) => {
            let names: Vec<String> = machines.iter().map(|name| word(name)).collect();
            (names.join(" "), "all runs of the machines of its study".to_owned())
        }
        1 => (short(&run.run).to_owned(), "beside the other one of its study".to_owned()),
        many => (short(&run.run).to_owned(), format!("beside the {many} others of its study")),
    };
    let command = format!("boxscore compare {command}");
    vec![Advice { word: "study".to_owned(), command, says, is_needed: false }]
}

fn text(
    shown: &Shown,
    versus: Option<&CompareDoc>,
    args: &ShowArgs,
    (report, advice): (Option<String>, Vec<Advice>),
) -> String {
    let tail = Tail { report, advice };
    let mut doc = RunDoc::clone(&shown.doc);
    if args.all {
        doc.series.iter_mut().for_each(|series| series.headline = true);
    }
    let look = out::look().with_all(args.all);
    let facts = &shown.data.facts;
    let mut text = match versus {
        Some(_) => report::text::commands::screen(&doc, facts, versus, &tail, look),
        None => score(&doc, facts, None, &tail, look),
    };
    if args.all {
        text.push_str(&report::text::load::requests(
            &verdict::requests(&shown.data, instruments::cards()),
            look,
        ));
    }
    if args.takes {
        text.push_str(&takes(&doc));
    }
    text
}

/// The measured values of each series in time order, unrounded, with the hardware counters of each take.
fn takes(doc: &RunDoc) -> String {
    let mut out = String::new();
    for series in doc.series.iter().filter(|series| !series.takes.is_empty()) {
        let arm = if series.arm.is_empty() { String::new() } else { format!(" [{}]", series.arm) };
        out.push_str(&format!("\n{}{arm}, {}\n", title(series), series.unit.symbol()));
        for (at, value) in series.takes.iter().enumerate() {
            let counted = series.counters.iter().filter_map(|(metric, counts)| {
                Some(format!(", {metric} {}", counts.get(at).copied().flatten()?))
            });
            out.push_str(&format!("  {value}{}\n", counted.collect::<String>()));
        }
    }
    out
}

fn title(series: &SeriesDoc) -> String {
    format!("{} {} {}", series.instrument, series.metric, series.params).trim_end().to_owned()
}
