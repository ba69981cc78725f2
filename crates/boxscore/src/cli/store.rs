//! `boxscore store copy`: runs from one store to another, of whatever kind each is. A second copy changes nothing.

use std::path::{Path, PathBuf};

use model::data::Status;
use model::doc::{NotCopiedDoc, StoreCopyDoc};
use model::format::count;
use store::{Copied, Filter, Store, StoreError};

use crate::cli::Global;
use crate::error::{CliError, Kind};
use crate::lookup::{paths, runs};
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore store copy ~/.local/share/boxscore/store.db postgres://lab@db/boxscore
  boxscore store copy postgres://lab@db/boxscore mine.db --run 01a2c3d4";

#[derive(Clone, Debug, clap::Args)]
pub struct StoreArgs {
    #[command(subcommand)]
    pub verb: StoreVerb,
}

#[derive(Clone, Debug, clap::Subcommand)]
pub enum StoreVerb {
    /// Copy runs from one store to another, with everything of them
    Copy(CopyArgs),
}

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct CopyArgs {
    /// The store that is read: a database file, or the URL of a PostgreSQL database
    #[arg(value_name = "FROM")]
    pub from: PathBuf,
    /// The store that is written; it is made where it is missing
    #[arg(value_name = "TO")]
    pub to: PathBuf,
    /// Only these runs: an id or its beginning, a label of one run, latest, latest~N [default: all, with the sheets
    /// and facts of machines]
    #[arg(long = "run", value_name = "RUN", num_args = 1..)]
    pub runs: Vec<String>,
}

pub fn run(args: &StoreArgs, global: &Global) -> Result<u8, CliError> {
    let StoreVerb::Copy(args) = &args.verb;
    copy(args, global)
}

fn copy(args: &CopyArgs, global: &Global) -> Result<u8, CliError> {
    let (from, to) = (paths::named(&args.from), paths::named(&args.to));
    if is_same(&from, &to) {
        return Err(CliError::usage(format!("{} is both stores", from.display())));
    }
    let source = paths::open(&from)?;
    let chosen = chosen(args, &source)?;
    let mut target = paths::create(&to)?;
    let mut document = StoreCopyDoc {
        schema: "boxscore.store-copy/1".to_owned(),
        from: from.display().to_string(),
        to: to.display().to_string(),
        copied: 0,
        completed: 0,
        unchanged: 0,
        takes: 0,
        left_out: Vec::new(),
    };
    for (run, status) in &chosen {
        one(run, *status, &source, &mut target, &mut document)?;
    }
    if args.runs.is_empty() {
        target.copy_machines(&source)?;
    }
    target.close()?;
    if global.json {
        out::json(&document);
    } else {
        tell(&document);
    }
    Ok(if document.left_out.is_empty() { 0 } else { Kind::Faults.exit_code() })
}

/// True for two names of one file, or of one server's database.
fn is_same(from: &Path, to: &Path) -> bool {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    from == to || real(from) == real(to)
}

/// Runs by the order in which they were stored.
fn chosen(args: &CopyArgs, source: &Store) -> Result<Vec<(String, Status)>, CliError> {
    let mut heads = source.heads(&Filter { as_stored: true, ..Filter::default() })?;
    if !args.runs.is_empty() {
        let asked: Vec<String> =
            args.runs.iter().map(|run| runs::run_id(run, source)).collect::<Result<_, _>>()?;
        heads.retain(|head| asked.contains(&head.id));
    }
    Ok(heads.into_iter().map(|head| (head.id, head.status)).collect())
}

/// Copies a run whole, or leaves it out and says why.
fn one(
    run: &str,
    status: Status,
    source: &Store,
    target: &mut Store,
    document: &mut StoreCopyDoc,
) -> Result<(), CliError> {
    let left_out = |error: &StoreError| NotCopiedDoc {
        run: run.to_owned(),
        kind: error.kind().to_owned(),
        why: error.to_string(),
    };
    if status == Status::Running {
        document.left_out.push(left_out(&StoreError::Busy { run: run.to_owned() }));
        return Ok(());
    }
    match target.copy(&source.load(run)?) {
        Ok(Copied { is_new: true, takes, .. }) => {
            document.copied += 1;
            document.takes += takes;
        }
        Ok(Copied { takes: 0, notes: 0, .. }) => document.unchanged += 1,
        Ok(Copied { takes, .. }) => {
            document.completed += 1;
            document.takes += takes;
        }
        Err(error @ (StoreError::Differs { .. } | StoreError::Busy { .. })) => {
            document.left_out.push(left_out(&error));
        }
        Err(error) => {
            let kept = count(document.copied as usize, "run");
            let failed = CliError::from(error);
            let message = format!("{}; {kept} were copied before run {run}", failed.message);
            return Err(CliError { message, ..failed });
        }
    }
    Ok(())
}

fn tell(document: &StoreCopyDoc) {
    let StoreCopyDoc { from, to, copied, completed, unchanged, takes, left_out, .. } = document;
    for one in left_out {
        out::say(&format!("warning: run {} was left out: {}", one.run, one.why));
    }
    if *copied == 0 && *completed == 0 {
        let there = count(*unchanged as usize, "run");
        out::print(&format!("nothing to copy: {to} has {there} of {from} already\n"));
        return;
    }
    let mut parts = vec![format!("{} copied", count(*copied as usize, "run"))];
    if *completed > 0 {
        parts.push(format!("{} completed", count(*completed as usize, "run")));
    }
    if *unchanged > 0 {
        parts.push(format!("{} there already", count(*unchanged as usize, "run")));
    }
    out::print(&format!("{}; {} are new in {to}\n", parts.join(", "), count(*takes as usize, "take")));
}
