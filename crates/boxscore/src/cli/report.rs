//! `boxscore report`: one self-contained HTML file of one run or several.

use std::path::PathBuf;
use std::process::Stdio;
use std::rc::Rc;

use model::shell::word;
use report::html::Cover;

use crate::cli::Global;
use crate::error::CliError;
use crate::lookup::ids::short;
use crate::lookup::paths;
use crate::lookup::resolve::Resolver;
use crate::out;
use crate::show::shown::Shown;
use crate::show::versus::Named;
use crate::show::{nodes, page, ratios, shown, versus};

const AFTER: &str = "\
Examples:
  boxscore report                        of the newest run, beside the store
  boxscore report latest~1 latest -o two.html
  boxscore report box1 box2              two machines beside each other, each with all of its runs, as in compare
  boxscore report box1 --open            and show it in the browser
  boxscore report box1 --summary --title 'Which box?' --note 'for the shop, 3 May'";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct ReportArgs {
    /// Runs of the store: ids, latest, latest~N, labels (each of their runs), machines (`.` is this one; their runs of
    /// the newest configuration) [default: latest]
    #[arg(value_name = "RUN")]
    pub runs: Vec<String>,
    /// Where to write [default: beside the store: RUN.html, of several NAME-NAME-ID.html; a summary ends in
    /// -summary.html]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// One page: the answer, the figures and what to believe of them
    #[arg(long)]
    pub summary: bool,
    /// A title above it
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// A note below the title, such as what was tried and by whom
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Open it in the browser
    #[arg(long)]
    pub open: bool,
}

pub fn run(args: &ReportArgs, global: &Global) -> Result<u8, CliError> {
    let path = paths::store(global)?;
    let mut resolver = Resolver::new(global)?;
    let typed = if args.runs.is_empty() { vec!["latest".to_owned()] } else { args.runs.clone() };
    resolver.store()?;
    let mut named: Vec<Named> = Vec::new();
    for name in typed {
        let runs = resolver.run_ids(&name)?;
        if named.iter().all(|known| known.runs != runs) {
            named.push(Named { name, runs });
        }
    }
    let mut shown: Vec<Shown> = Vec::new();
    for id in named.iter().flat_map(|one| &one.runs) {
        if !shown.iter().any(|one| one.doc.run == *id) {
            shown.push(shown::shown(id, "boxscore.run/1", false, &mut resolver)?);
        }
    }
    let in_order = nodes::of_runs(&shown, &mut resolver)?;
    shown.iter_mut().take(1).for_each(|one| Rc::make_mut(&mut one.doc).nodes.clone_from(&in_order));
    let versus = versus::of_names(&named, &shown, &mut resolver)?;
    let ratios = ratios::of_report(&shown, &resolver)?;
    let names: Vec<String> = named.iter().map(|one| lasting(one, &shown)).collect();
    let ids: Vec<&str> = shown.iter().map(|one| one.doc.run.as_str()).collect();
    let to = args.output.clone().unwrap_or_else(|| page::report_of(&path, &names, &ids, args.summary));
    let cover = Cover { title: args.title.clone(), note: args.note.clone(), summary: args.summary };
    let written = page::write_covered(&shown, (versus.map(Into::into), ratios), &to, cover, &names)?;
    if args.open {
        open(&written)?;
    }
    if global.json {
        out::done("report", [&written], shown.first().map(|one| one.doc.run.clone()));
    } else {
        out::print(&format!("{}\n", written.display()));
    }
    Ok(0)
}

/// The name by which the same runs are found later: `latest` is another run then.
fn lasting(named: &Named, shown: &[Shown]) -> String {
    let one = named.runs.as_slice();
    let run = shown.iter().find(|run| [run.doc.run.as_str()] == *one);
    let is_own =
        |run: &&Shown| [Some(&run.doc.machine.name), run.doc.label.as_ref()].contains(&Some(&named.name));
    match run.filter(|run| !is_own(run)) {
        Some(run) => short(&run.doc.run).to_owned(),
        None => word(&named.name),
    }
}

/// Hands the file to the desktop's opener; what that opener does is not waited for.
fn open(path: &std::path::Path) -> Result<(), CliError> {
    let mut opener = std::process::Command::new("xdg-open");
    // It may speak long after this program has ended.
    let started = opener.arg(path).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    started.map(|_| ()).map_err(|error| {
        CliError::data(format!("no browser could be opened (xdg-open: {error})"))
            .hint(format!("open {} yourself", path.display()))
    })
}
