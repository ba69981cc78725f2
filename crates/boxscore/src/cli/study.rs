//! `boxscore study`: arguments of a study that a file describes.

use std::path::PathBuf;

use crate::study::quiet::WaitIdle;

const AFTER: &str = "\
Examples:
  boxscore study                         the studies that there are
  boxscore study atom-2009 --dry-run     what it would run, and how long
  boxscore study atom-2009               run it, then its tables with this machine beside
  boxscore study atom-2009 --show        the tables again, from stored runs
  boxscore study atom-2009 --write my.toml
  boxscore study my.toml --quick         a study of your own
Each run of a study is an ordinary run with the label STUDY.RUN: `history` lists it, `resume` completes it, and
`study --rest` measures what the store does not have yet.";

#[derive(Clone, Debug, Default, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct StudyArgs {
    /// A study of the catalogue, or a study file (docs/guide/studies.md)
    #[arg(value_name = "NAME|FILE")]
    pub name: Option<String>,
    /// Say what would be run and how long, and measure nothing
    #[arg(long, conflicts_with_all = ["show", "rest", "write", "markdown"])]
    pub dry_run: bool,
    /// Measure nothing: the tables from stored runs
    #[arg(long, conflicts_with_all = ["rest", "write", "quick"])]
    pub show: bool,
    /// Measure only runs that the store does not have yet
    #[arg(long, conflicts_with = "write")]
    pub rest: bool,
    /// Fewer takes in less time, for a trial
    #[arg(long, conflicts_with = "write")]
    pub quick: bool,
    /// Only this table, and the runs that it needs; repeatable
    #[arg(long = "table", value_name = "TABLE", conflicts_with = "write")]
    pub tables: Vec<String>,
    /// Print the tables as a Markdown page
    #[arg(long, conflicts_with_all = ["json", "write"])]
    pub markdown: bool,
    /// Write the study's file there, to be changed for a study of your own
    #[arg(long, value_name = "FILE")]
    pub write: Option<PathBuf>,
    #[command(flatten)]
    pub wait: WaitIdle,
}
