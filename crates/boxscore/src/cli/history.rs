//! `boxscore history`: the runs in the store, newest first. Reads heads and notes; readings only of a load that the
//! user ended before its time, to say how long it lasted.

use model::data::RunHead;
use model::doc::{HistoryDoc, HistoryRow};
use model::older::Older;
use model::plan::Plan;
use model::{Arm, NoteBody, Shared, SubjectDoc};
use store::{Filter, Store};

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::{paths, what};
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore history
  boxscore history --limit 5
  boxscore history --label before --json
  boxscore history --all          hidden runs too";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct HistoryArgs {
    /// At most so many runs, the newest [default: 500 on the screen, all in JSON]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Only runs of this label
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// Only runs of this machine
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
    /// Hidden runs too
    #[arg(long)]
    pub all: bool,
}

pub fn run(args: &HistoryArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    // Before the first run there is no store; that is an empty history, not an error.
    let most = args.limit.map_or(if global.json { usize::MAX } else { LISTED }, |limit| limit as usize);
    let Listed { runs, hidden: left_out, older } = match paths::existing(&path)? {
        Some(store) => rows(args, &store, most)?,
        None => Listed::default(),
    };
    let document = HistoryDoc { schema: "boxscore.history/1".to_owned(), runs };
    if global.json {
        out::json(&document);
        return Ok(0);
    }
    if document.runs.is_empty() && (args.label.is_some() || args.machine.is_some() || left_out > 0) {
        out::print("no run matches\n");
    } else {
        out::print(&report::text::history::table(&document, out::columns()));
        report::text::history::older(&document).iter().for_each(|line| out::say(line));
    }
    if older > 0 && args.limit.is_none() {
        let older = model::format::count(older, "older run");
        out::say(&format!("{older}: `boxscore history --limit N` lists more"));
    }
    if left_out > 0 {
        out::say(&format!(
            "{} hidden: `boxscore history --all` lists them",
            model::format::count(left_out, "run")
        ));
    }
    Ok(0)
}

/// Most runs on a screen that was not told how many.
const LISTED: usize = 500;

/// The rows of the list, and how many runs are left out.
#[derive(Default)]
struct Listed {
    runs: Vec<HistoryRow>,
    hidden: usize,
    older: usize,
}

/// At most so many of the runs that the arguments ask for, that which was stored last first, as `latest` counts.
fn rows(args: &HistoryArgs, store: &Store, most: usize) -> Result<Listed, CliError> {
    let filter = Filter { label: args.label.clone(), as_stored: true, ..Filter::default() };
    let mut heads = store.heads(&filter)?;
    heads.retain(|head| {
        args.machine.as_ref().is_none_or(|name| *name == head.machine || *name == head.machine_id)
    });
    let all = heads.len();
    heads.retain(|head| args.all || !head.hidden);
    let hidden = all - heads.len();
    let older = heads.len().saturating_sub(most);
    let chosen: Vec<&RunHead> = heads.iter().rev().take(most).collect();
    let mut rows = Vec::with_capacity(chosen.len());
    let mut known: Option<(String, Planned)> = None;
    for head in chosen {
        // Machines of one study share its plan.
        let planned = match known.take() {
            Some((study, planned)) if study == head.study => planned,
            _ => Planned::of(store.plan(&head.study)?),
        };
        known = Some((head.study.clone(), planned.clone()));
        let noted = store.notes(&head.id)?;
        let cut = match noted.iter().any(|note| matches!(note.body, NoteBody::Cut(_))) {
            true => verdict::cut_short(&store.load(&head.id)?, instruments::cards()),
            false => None,
        };
        let measured = store.definitions(&head.id)?;
        let measured = measured.iter().map(|(instrument, definition)| (instrument.as_str(), *definition));
        let older = Older::among(measured, instruments::cards());
        rows.push(HistoryRow { cut, older, ..row(head, planned) });
    }
    Ok(Listed { runs: rows, hidden, older })
}

/// The parts of a plan that the list shows.
#[derive(Clone)]
struct Planned {
    level: String,
    instruments: Vec<String>,
    what: String,
    plan: Shared<Plan>,
}

impl Planned {
    fn of(plan: Shared<Plan>) -> Planned {
        let mut instruments: Vec<String> = Vec::new();
        for cell in &plan.cells {
            if !instruments.contains(&cell.instrument) {
                instruments.push(cell.instrument.clone());
            }
        }
        let what = what::what(&plan, instruments::cards());
        Planned { level: plan.level.word().to_owned(), instruments, what, plan }
    }
}

fn row(head: &RunHead, Planned { level, instruments, what, plan }: Planned) -> HistoryRow {
    let subject =
        |arm: &Arm| SubjectDoc::of_arm(&plan, &arm.name, &head.machine, ::instruments::cards()).of_target();
    let mut subjects: Vec<SubjectDoc> = Vec::new();
    for one in plan.arms.iter().filter_map(subject) {
        if !subjects.contains(&one) {
            subjects.push(one);
        }
    }
    HistoryRow {
        run: head.id.clone(),
        study: head.study.clone(),
        label: head.label.clone(),
        machine: head.machine.clone(),
        status: head.status,
        started: head.started_ns as f64 / 1e9,
        seconds: head.seconds,
        level,
        instruments,
        what,
        subjects,
        hidden: head.hidden,
        planted: plan.fake.is_some(),
        takes: head.takes,
        faults: head.faults,
        cut: None,
        older: Vec::new(),
    }
}
