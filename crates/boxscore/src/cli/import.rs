//! `boxscore import`: exported runs, other stores and machine sheets into this store; all of them or nothing.
//!
//! Formats are told by their content; each has its file in `importers`. Importing twice changes nothing.

use std::path::{Path, PathBuf};

use model::doc::DoneDoc;
use store::{Mode, Options, Store};

use crate::cli::Global;
use crate::error::CliError;
use crate::importers::{self, Read};
use crate::{out, paths, present};

const AFTER: &str = "\
Examples:
  boxscore import box1.json            runs that `boxscore export` wrote
  boxscore import other/store.db       every run of another store
  boxscore import machines.csv         spec sheets: a column `machine`, then facts (cpu, cores, ram_gb, cpu.mhz.max)
A file that is wrong says where, and then nothing of any file is imported.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct Args {
    /// Exported runs (JSON), machine sheets (CSV), or other stores
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

pub fn run(args: &Args, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let mut all = Read::default();
    for file in &args.files {
        if same_file(file, &path) {
            return Err(CliError::usage(format!("{} is the store itself", file.display())));
        }
        let read = importers::read(file)?;
        all.runs.extend(read.runs);
        all.machines.extend(read.machines);
    }
    let options = Options { owner: paths::owner(), ..Options::new(Mode::Create) };
    let mut store = Store::open_with(&path, &options).map_err(present::store_error)?;
    let done = store.import(&all.runs).map_err(present::store_error)?;
    for machine in &all.machines {
        store.put_sheet(machine).map_err(present::store_error)?;
    }
    if global.json {
        out::json(&DoneDoc {
            schema: "boxscore.import/1".to_owned(),
            ok: true,
            paths: args.files.iter().map(|file| file.display().to_string()).collect(),
            run: all.runs.first().map(|run| run.head.id.clone()),
        });
        return Ok(0);
    }
    if !all.runs.is_empty() {
        let there = all.runs.len() as u64 - done.runs.min(all.runs.len() as u64);
        out::say(&format!("runs: {} added with {} takes, {there} were there", done.runs, done.takes));
    }
    if !all.machines.is_empty() {
        let names: Vec<&str> = all.machines.iter().map(|machine| machine.name.as_str()).collect();
        out::say(&format!("machines: {}", names.join(", ")));
    }
    Ok(0)
}

fn same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}
