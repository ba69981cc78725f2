//! `boxscore report`: one self-contained HTML file of one run or several.

use std::path::PathBuf;

use model::doc::DoneDoc;

use crate::cli::Global;
use crate::error::CliError;
use crate::present::{self, Shown};
use crate::resolve::Resolver;
use crate::{out, paths, ratios};

const AFTER: &str = "\
Examples:
  boxscore report                        of the newest run, beside the store
  boxscore report latest~1 latest -o two.html
  boxscore report box1 --open            and show it in the browser";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct Args {
    /// Runs of the store: ids, latest, latest~N, labels (each of their runs), machines (`.` is this one; their runs of
    /// the newest configuration) [default: latest]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Where to write [default: RUN.html beside the store; RUN-RUN.html of several]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Open it in the browser
    #[arg(long)]
    pub open: bool,
}

pub fn run(args: &Args, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let mut resolver = Resolver::new(global)?;
    let names = if args.runs.is_empty() { vec!["latest".to_owned()] } else { args.runs.clone() };
    let mut shown: Vec<Shown> = Vec::new();
    if resolver.store().is_none() {
        return Err(CliError::data(format!("there is no store at {}", path.display()))
            .hint("`boxscore run --quick` measures this machine"));
    }
    for name in &names {
        for id in resolver.run_ids(name)? {
            if !shown.iter().any(|one| one.doc.run == id) {
                shown.push(present::shown(&id, "boxscore.run/1", false, &mut resolver)?);
            }
        }
    }
    let versus = present::versus(&shown, &mut resolver)?;
    let ratios = ratios::of_report(&shown, &resolver)?;
    let ids: Vec<&str> = shown.iter().map(|one| one.doc.run.as_str()).collect();
    let to = args.output.clone().unwrap_or_else(|| present::default_report(&path, &ids));
    let written = present::write_report(&shown, (versus, ratios), &to)?;
    if args.open {
        open(&written)?;
    }
    if global.json {
        out::json(&DoneDoc {
            schema: "boxscore.report/1".to_owned(),
            ok: true,
            paths: vec![written.display().to_string()],
            run: shown.first().map(|one| one.doc.run.clone()),
        });
    } else {
        out::print(&format!("{}\n", written.display()));
    }
    Ok(0)
}

/// Hands the file to the desktop's opener; what that opener does is not waited for.
fn open(path: &std::path::Path) -> Result<(), CliError> {
    let started = std::process::Command::new("xdg-open").arg(path).spawn();
    started.map(|_| ()).map_err(|error| {
        CliError::data(format!("no browser could be opened (xdg-open: {error})"))
            .hint(format!("open {} yourself", path.display()))
    })
}
