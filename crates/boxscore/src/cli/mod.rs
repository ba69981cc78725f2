//! The command line: one verb a file. Parsing is pure; each verb's `run` touches the machine.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, Command, CommandFactory, FromArgMatches, Parser, Subcommand};

pub mod agent;
pub mod compare;
pub mod docs;
pub mod doctor;
pub mod export;
pub mod foreign;
pub mod guard;
pub mod history;
pub mod import;
pub mod inspect;
pub mod list;
pub mod load;
pub mod logs;
pub mod note;
pub mod peer;
pub mod report;
pub mod resume;
pub mod run;
pub mod schema;
pub mod serve_builtin;
pub mod show;

const AFTER: &str = "\
Examples:
  boxscore run --quick           the box score of this machine, in two minutes
  boxscore compare . xeon-e5620  this machine beside a published one
  boxscore inspect               the spec sheet
Exit codes: 0 done, 1 your data or host, 2 usage, 3 finished with faults, 130 interrupted.";

/// Which box for my work, how many, set up how, and what holds it back.
#[derive(Debug, Parser)]
#[command(name = "boxscore", version = env!("BOXSCORE_BUILD"), after_long_help = AFTER, max_term_width = 100)]
#[command(propagate_version = false, arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub verb: Verb,
}

impl Cli {
    /// What the words say, the program's name first.
    pub fn from_words<W: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Cli, clap::Error> {
        let mut command = below_zero(Cli::command());
        let matches = command.try_get_matches_from_mut(words)?;
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// A number below 0 is a value, so that the error is that of its flag.
fn below_zero(command: Command) -> Command {
    let takes = |arg: &Arg| arg.get_action().takes_values() && !arg.is_positional();
    command
        .mut_args(|arg| if takes(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(below_zero)
}

/// What every verb takes.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Global {
    /// Database file [default: that of the environment's BOXSCORE_STORE, else boxscore/store.db in the XDG data
    /// directory]
    // Not read by the parser: it would call the variable an argument that was given.
    #[arg(long, global = true, value_name = "FILE")]
    pub store: Option<PathBuf>,
    /// Print one JSON document on stdout
    #[arg(long, global = true)]
    pub json: bool,
    /// Use colour: auto, always or never (NO_COLOR is obeyed)
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    pub color: Color,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show the spec sheet of this machine or of others
    Inspect(inspect::Args),
    /// List the instruments: what each measures and whether it can run here
    List(list::Args),
    /// Measure this machine, or several
    Run(Box<run::Args>),
    /// Serve as the far end of network tests that are run elsewhere
    Peer(peer::Args),
    /// Load a web server that runs already: rate, response times, failures
    Load(Box<load::Args>),
    /// Say what access logs tell: serving speed, times, mix; groups of servers beside each other
    Logs(Box<logs::Args>),
    /// Compare machines, runs or labels: ratios, intervals, verdicts
    Compare(compare::Args),
    /// Write the HTML report
    Report(report::Args),
    /// List the runs in the store
    History(history::Args),
    /// Show one run
    Show(show::Args),
    /// Add a note, price, watts or fact to a run or machine
    Note(note::Args),
    /// Continue an interrupted run
    Resume(resume::Args),
    /// Write runs as JSON, CSV or Go benchmark text
    Export(export::Args),
    /// Read exported runs, or machine sheets as CSV
    Import(import::Args),
    /// Say what about this host would spoil measurements, and how to change it
    Doctor(doctor::Args),
    /// Print the JSON Schema of a verb's document
    Schema(schema::Args),
    /// Serve as the measuring child over stdin and stdout
    #[command(hide = true)]
    Agent(agent::Args),
    /// End what the measuring child started when that child is gone
    #[command(hide = true)]
    Guard(guard::Args),
    /// Serve files, as a web server that a study starts
    #[command(hide = true)]
    ServeBuiltin(serve_builtin::Args),
    /// Write the generated documents
    #[command(hide = true)]
    Docs(docs::Args),
}
