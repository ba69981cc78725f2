//! `boxscore study`: arguments of a study that a file describes.

use std::path::PathBuf;

use model::params::parse_span;

use crate::cli::lab::on::OnArgs;
use crate::error::CliError;
use crate::study::quiet::WaitIdle;

const AFTER: &str = "\
Examples:
  boxscore study                         the studies that there are
  boxscore study atom-2009 --dry-run     what it would run, and how long
  boxscore study atom-2009               run it, then its tables with this machine beside
  boxscore study atom-2009 --show        the tables again, from stored runs
  boxscore study atom-2009 --write my.toml
  boxscore study my.toml --quick         a study of your own
  boxscore study my.toml --on @rack1 --for 8h --budget 20
                                         on nodes of lab.toml, at most 8 hours, for at most 20 of their currency
Each run of a study is an ordinary run with the label STUDY.RUN: `history` lists it, `resume` completes it, and
`study --rest` completes what was cut and measures what the store does not have yet.";

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
    /// Complete runs that were cut, and measure those that the store does not have yet
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
    /// End all of it after this long; what is left is for --rest
    #[arg(long = "for", value_name = "SPAN", conflicts_with_all = ["show", "write"])]
    pub span: Option<String>,
    /// End once the nodes have cost so much, by their prices by time in the inventory
    #[arg(long, value_name = "AMOUNT", conflicts_with_all = ["show", "write"])]
    pub budget: Option<String>,
    #[command(flatten)]
    pub wait: WaitIdle,
    #[command(flatten)]
    pub lab: OnArgs,
}

impl StudyArgs {
    /// Seconds of --for.
    pub fn most(&self) -> Result<Option<f64>, CliError> {
        let read = |text: &String| {
            let wrong =
                || CliError::usage(format!("--for {text}: no length of time")).hint("--for 8h, --for 90m");
            parse_span(text).ok_or_else(wrong)
        };
        self.span.as_ref().map(read).transpose()
    }

    /// The amount of --budget.
    pub fn budget(&self) -> Result<Option<f64>, CliError> {
        let read = |text: &String| {
            let amount: Option<f64> =
                text.parse().ok().filter(|amount: &f64| amount.is_finite() && *amount > 0.0);
            amount.ok_or_else(|| CliError::usage(format!("--budget {text}: no amount")).hint("--budget 20"))
        };
        self.budget.as_ref().map(read).transpose()
    }
}
