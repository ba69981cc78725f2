//! `boxscore remove`: takes runs out of the store, with every take, for good. It says which, and asks; where nobody can
//! be asked, `--yes` is the answer. Reports that were written of them stay.

use std::io::{BufRead, IsTerminal};
use std::path::Path;

use model::data::RunHead;
use model::doc::RunsDoc;
use model::format::count;
use store::{Mode, Store};

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::{paths, runs};
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
    let heads = runs::ended(&args.runs, &store, ("remove", "removed"))?;
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
        out::say(&format!("  {}", runs::in_one_line(head, store)?));
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
    let report = page::default_report(store, &head.id);
    if report.is_file() {
        out::say(&format!("its report stays: {}", paths::tilde(&report)));
    }
}
