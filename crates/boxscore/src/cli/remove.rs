//! `boxscore remove`: takes runs out of the store, with every take, for good. It says which, and asks; where nobody can
//! be asked, `--yes` is the answer. Reports that were written of them stay.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use model::data::{RunHead, Status};
use model::doc::RunsDoc;
use model::format::count;
use store::{Mode, Store};

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::{paths, runs, what};
use crate::out;
use crate::show::page;

const AFTER: &str = "\
Examples:
  boxscore remove 01a2c3d4
  boxscore remove latest spoiled --yes
A run that is only not to count: boxscore hide RUN.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct RemoveArgs {
    /// Runs: an id or its beginning, a label of one run, latest, latest~N
    #[arg(value_name = "RUN", required = true)]
    pub runs: Vec<String>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

pub fn run(args: &RemoveArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let mut store = Store::open(&path, Mode::ReadWrite)?;
    let heads = named(&args.runs, &store)?;
    if let Some(head) = heads.iter().find(|head| head.status == Status::Running) {
        return Err(CliError::data(format!(
            "run {} is in progress, so nothing was removed",
            short(&head.id)
        ))
        .hint("wait until it ends, or stop it with Ctrl-C; then remove it"));
    }
    if !args.yes {
        ask(&heads, &store, global)?;
    }
    for head in &heads {
        store.remove(&head.id)?;
    }
    if global.json {
        let runs = runs::ids_of(&heads);
        out::json(&RunsDoc {
            schema: "boxscore.remove/1".to_owned(),
            ok: true,
            paths: vec![path.display().to_string()],
            runs,
            hidden: None,
        });
        return Ok(0);
    }
    out::say(&format!("removed {}", count(heads.len(), "run")));
    heads.iter().for_each(|head| tell_report(&path, head));
    Ok(0)
}

/// The runs that names mean, each once. Fails where one means none, or several.
pub fn named(names: &[String], store: &Store) -> Result<Vec<RunHead>, CliError> {
    let all = store.heads(&store::Filter::default())?;
    let mut heads: Vec<RunHead> = Vec::new();
    for name in names {
        let id = runs::run_id(name, store)?;
        let head = all.iter().find(|head| head.id == id);
        heads.extend(head.filter(|_| !heads.iter().any(|known| known.id == id)).cloned());
    }
    Ok(heads)
}

/// `01a2c3d4e5f6  2026-11-24 17:13  vm  `sleep 0.05`  24 takes  [label]`
pub fn in_one_line(head: &RunHead, store: &Store) -> Result<String, CliError> {
    let what = what::what(&store.plan(&head.study)?, instruments::cards());
    let label = head.label.as_ref().map(|label| format!("  [{label}]")).unwrap_or_default();
    let started = report::text::date_time(head.started_ns as f64 / 1e9);
    let (run, machine) = (short(&head.id), &head.machine);
    let takes = count(usize::try_from(head.takes).unwrap_or(usize::MAX), "take");
    Ok(format!("{run}  {started}  {machine}  {what}  {takes}{label}"))
}

/// Says what will be deleted and waits for a yes. Fails where the answer is another one, or nobody can be asked.
fn ask(heads: &[RunHead], store: &Store, global: &Global) -> Result<(), CliError> {
    if !std::io::stdin().is_terminal() || !out::talks_to_a_person() || global.json {
        return Err(CliError::usage(format!(
            "{} would be deleted with all takes, and nobody can be asked here: nothing was removed",
            count(heads.len(), "run")
        ))
        .hint("say --yes, or use `boxscore hide RUN`, which keeps it"));
    }
    out::say("This deletes for good, with every take:");
    for head in heads {
        out::say(&format!("  {}", in_one_line(head, store)?));
    }
    out::say("Delete? [y/N]");
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer);
    match read {
        Ok(_) if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") => Ok(()),
        _ => {
            Err(CliError::data("nothing was removed")
                .hint("answer y to remove; `boxscore hide RUN` keeps it"))
        }
    }
}

/// A report of a run that is gone is a file of its own, which may have been sent to somebody.
fn tell_report(store: &Path, head: &RunHead) {
    let report = page::default_report(store, &[&head.id]);
    if report.is_file() {
        out::say(&format!("its report stays: {}", paths::tilde(&report)));
    }
}
