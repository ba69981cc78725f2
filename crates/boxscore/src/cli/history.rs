//! `boxscore history`: the runs in the store, newest first. Reads heads and notes; readings only of a load that the
//! user ended before its time, to say how long it lasted.

use model::NoteBody;
use model::data::RunHead;
use model::doc::{HistoryDoc, HistoryRow};
use model::plan::Plan;
use store::{Filter, Store};

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::paths;
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore history
  boxscore history --limit 5
  boxscore history --label before --json";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct HistoryArgs {
    /// At most so many runs, the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Only runs of this label
    #[arg(long, value_name = "LABEL")]
    pub label: Option<String>,
    /// Only runs of this machine
    #[arg(long, value_name = "NAME")]
    pub machine: Option<String>,
}

pub fn run(args: &HistoryArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    // Before the first run there is no store; that is an empty history, not an error.
    let runs = if path.exists() { rows(args, &paths::open(&path)?)? } else { Vec::new() };
    let document = HistoryDoc { schema: "boxscore.history/1".to_owned(), runs };
    if global.json {
        out::json(&document);
    } else if document.runs.is_empty() && (args.label.is_some() || args.machine.is_some()) {
        out::print("no run matches\n");
    } else {
        out::print(&report::text::history::table(&document, out::columns()));
    }
    Ok(0)
}

/// The runs that the arguments ask for, newest first.
fn rows(args: &HistoryArgs, store: &Store) -> Result<Vec<HistoryRow>, CliError> {
    let filter = Filter { label: args.label.clone(), ..Filter::default() };
    let heads = store.heads(&filter)?;
    let wanted = |head: &&RunHead| {
        args.machine.as_ref().is_none_or(|name| *name == head.machine || *name == head.machine_id)
    };
    let most = args.limit.map_or(usize::MAX, |limit| limit as usize);
    let chosen: Vec<&RunHead> = heads.iter().rev().filter(wanted).take(most).collect();
    let mut rows = Vec::with_capacity(chosen.len());
    let mut known: Option<(String, Planned)> = None;
    for head in chosen {
        // Machines of one study share its plan.
        let planned = match known.take() {
            Some((study, planned)) if study == head.study => planned,
            _ => Planned::of(&store.plan(&head.study)?),
        };
        known = Some((head.study.clone(), planned.clone()));
        let noted = store.notes(&head.id)?;
        let cut = match noted.iter().any(|note| matches!(note.body, NoteBody::Cut(_))) {
            true => verdict::cut_short(&store.load(&head.id)?, instruments::cards()),
            false => None,
        };
        rows.push(HistoryRow { cut, ..row(head, planned) });
    }
    Ok(rows)
}

/// The parts of a plan that the list shows.
#[derive(Clone)]
struct Planned {
    level: String,
    instruments: Vec<String>,
}

impl Planned {
    fn of(plan: &Plan) -> Planned {
        let mut instruments: Vec<String> = Vec::new();
        for cell in &plan.cells {
            if !instruments.contains(&cell.instrument) {
                instruments.push(cell.instrument.clone());
            }
        }
        Planned { level: plan.level.word().to_owned(), instruments }
    }
}

fn row(head: &RunHead, Planned { level, instruments }: Planned) -> HistoryRow {
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
        takes: head.takes,
        faults: head.faults,
        cut: None,
    }
}
