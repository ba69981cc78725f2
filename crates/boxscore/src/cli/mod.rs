//! The command line: one verb a file. Parsing is pure; each verb's `run` touches the machine.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue};
use clap::{Arg, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use model::Family;

pub mod aa;
pub mod agent;
pub mod commands;
mod common;
pub mod compare;
pub mod costs;
pub mod decide;
pub mod detect;
pub mod dial;
pub mod docs;
pub mod doctor;
pub mod export;
pub mod fields;
pub mod flags;
pub mod foreign;
pub mod guard;
pub mod hadoop;
pub mod hide;
pub mod history;
pub mod import;
pub mod inspect;
pub mod lab;
pub mod list;
pub mod load;
pub mod logs;
pub mod note;
pub mod peer;
pub mod remove;
pub mod report;
pub mod resume;
pub mod run;
pub mod schema;
pub mod serve_builtin;
pub mod show;
pub mod shuffle_link;
pub mod store;
pub mod study;
pub mod targets;

use crate::error::nearest;
pub use common::{Color, Global, Layout, Quoted, check_watts, parse_price, price_note};

const AFTER: &str = "\
Examples:
  boxscore run --quick           the box score of this machine, in two minutes
  boxscore compare . xeon-e5620  this machine beside a published one
  boxscore inspect               the spec sheet
  boxscore help run web          what loads on a web server take
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
    /// Parses a command line; its first word is the program's name. Fails as clap does.
    pub fn from_words<W: Into<OsString> + Clone>(
        words: impl IntoIterator<Item = W>,
    ) -> Result<Cli, clap::Error> {
        let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
        let text: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let asks_help = text.iter().any(|word| word == "--help" || word == "-h");
        let families = if asks_help { flags::named(&text) } else { Family::ALL.to_vec() };
        let names_nodes = text.iter().any(|word| word == "--on" || word.starts_with("--on="));
        let mut command = below_zero(with_help_of(&families, !asks_help || names_nodes));
        let matches = match command.try_get_matches_from_mut(words.clone()) {
            Ok(matches) => matches,
            Err(error) => match worded(&error, words) {
                Some(words) => return Cli::from_words(words),
                None => return Err(suggested(error, &command)),
            },
        };
        Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
    }
}

/// `help VERB` as `VERB --help`, and `version` as `--version`; `None` for words that clap refused for another reason.
fn worded(error: &clap::Error, mut words: Vec<OsString>) -> Option<Vec<OsString>> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return None };
    let flag = match typed.as_str() {
        "help" => "--help",
        "version" => "--version",
        _ => return None,
    };
    let place = words.iter().position(|word| word == typed.as_str())?;
    words.remove(place);
    words.push(flag.into());
    Some(words)
}

/// Names the verb that was meant, where clap found none like it; what is measured has its help in that of `run`.
fn suggested(mut error: clap::Error, command: &Command) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return error };
    if is_measured(typed) {
        let tip =
            format!("`boxscore run {typed} --help` says what it takes, `boxscore run {typed}` measures it");
        error.remove(ContextKind::SuggestedSubcommand);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
        return error;
    }
    let verbs = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let near = nearest(typed, verbs.map(Command::get_name)).map(str::to_owned);
    if let (None, Some(near)) = (error.get(ContextKind::SuggestedSubcommand), near) {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(vec![near]));
    }
    error
}

/// True for the name of a family or an instrument.
fn is_measured(word: &str) -> bool {
    !flags::named(&[word.to_owned()]).is_empty()
}

/// The whole command. The help of `run` has the options of these families; where they are all, those of nodes too.
pub fn command(families: &[Family]) -> Command {
    with_help_of(families, families.len() == Family::ALL.len())
}

fn with_help_of(families: &[Family], names_nodes: bool) -> Command {
    Cli::command().mut_subcommand("run", |run| run::completed(run, families, names_nodes))
}

/// Lets flags take negative numbers as values, so that the error names the flag.
fn below_zero(command: Command) -> Command {
    let takes = |arg: &Arg| arg.get_action().takes_values() && !arg.is_positional();
    command
        .mut_args(|arg| if takes(&arg) { arg.allow_negative_numbers(true) } else { arg })
        .mut_subcommands(below_zero)
}

#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Show the spec sheet of this machine or of others
    Inspect(inspect::InspectArgs),
    /// List the instruments: what each measures and whether it can run here
    List(list::ListArgs),
    /// Measure this machine, or several
    Run(Box<run::RunArgs>),
    /// Measure this machine against itself: the differences that its runs can tell
    Aa(aa::AaArgs),
    /// Run a published study on this machine, or one of your own, and print its tables
    Study(study::StudyArgs),
    /// Say what a difference costs to tell, in runs, takes and minutes, by what is stored
    Detect(detect::DetectArgs),
    /// Serve as the far end of network tests that are run elsewhere
    Peer(peer::PeerArgs),
    /// Load a web server that runs already: rate, response times, failures
    Load(Box<load::LoadArgs>),
    /// Say what access logs tell: serving speed, times, mix; groups of servers beside each other
    Logs(Box<logs::LogsArgs>),
    /// Compare machines, runs or labels: ratios, intervals, verdicts
    Compare(compare::CompareArgs),
    /// Say which boxes do a work, how many, at what cost, and what would change that
    Decide(Box<decide::DecideArgs>),
    /// Write the HTML report
    Report(report::ReportArgs),
    /// List the runs in the store
    History(history::HistoryArgs),
    /// Show one run
    Show(show::ShowArgs),
    /// Add a note, price, watts or fact to a run or machine
    Note(note::NoteArgs),
    /// Remove runs from the store, with every take, for good
    Remove(remove::RemoveArgs),
    /// Keep runs, but leave them out of noise, pools, `latest` and `history`
    Hide(hide::HideArgs),
    /// Continue an interrupted run
    Resume(resume::ResumeArgs),
    /// Write runs as JSON, CSV or Go benchmark text
    Export(export::ExportArgs),
    /// Read exported runs, or machine sheets as CSV
    Import(import::ImportArgs),
    /// Copy runs from one store to another
    Store(store::StoreArgs),
    /// Many machines: names and addresses, commands and copies by ssh
    Lab(lab::LabArgs),
    /// Apache Hadoop: assemble one to measure with; what old names and configurations are today
    Hadoop(hadoop::HadoopArgs),
    /// Say what about this host would spoil measurements, and how to change it
    Doctor(doctor::DoctorArgs),
    /// Print the JSON Schema of a verb's document
    Schema(schema::SchemaArgs),
    /// Serve as the measuring child over stdin and stdout
    #[command(hide = true)]
    Agent(agent::AgentArgs),
    /// End what the measuring child started when that child is gone
    #[command(hide = true)]
    Guard(guard::GuardArgs),
    /// Speak with the measuring child of a node that was booted from the network
    #[command(hide = true)]
    Dial(dial::DialArgs),
    /// Serve files, as a web server that a study starts
    #[command(hide = true)]
    ServeBuiltin(serve_builtin::ServeBuiltinArgs),
    /// Link with object files in another order, as the linker that a build starts
    #[command(hide = true)]
    ShuffleLink(shuffle_link::ShuffleLinkArgs),
    /// Write the generated documents
    #[command(hide = true)]
    Docs(docs::DocsArgs),
}

#[cfg(test)]
mod tests {
    use clap::error::ErrorKind;

    use super::*;

    fn refused(words: &[&str]) -> clap::Error {
        Cli::from_words([&["boxscore"], words].concat()).unwrap_err()
    }

    #[test]
    fn help_is_a_verb_too() {
        for (asked, same) in [
            (vec!["help"], vec!["--help"]),
            (vec!["help", "load"], vec!["load", "--help"]),
            (vec!["help", "run", "web"], vec!["run", "web", "--help"]),
            (vec!["--store", "x", "help", "load"], vec!["--store", "x", "load", "--help"]),
        ] {
            let (asked, same) = (refused(&asked), refused(&same));
            assert_eq!(asked.kind(), ErrorKind::DisplayHelp);
            assert_eq!(asked.to_string(), same.to_string());
        }
        assert_eq!(refused(&["version"]).kind(), ErrorKind::DisplayVersion);
    }

    #[test]
    fn the_name_of_what_is_measured_points_to_its_help() {
        for (typed, said) in [
            ("help web", "`boxscore run web --help`"),
            ("help mem-latency", "`boxscore run mem-latency --help`"),
            ("kv", "`boxscore run kv --help`"),
        ] {
            let words: Vec<&str> = typed.split(' ').collect();
            let error = refused(&words).to_string();
            assert!(error.contains(said), "{typed}: {error}");
        }
    }

    #[test]
    fn a_mistyped_verb_is_told_the_one_that_is_near() {
        for (typed, near) in [("rnu", "'run'"), ("compair", "'compare'"), ("help lod", "load")] {
            let words: Vec<&str> = typed.split(' ').collect();
            let error = refused(&words).to_string();
            assert!(error.contains(near), "{typed}: {error}");
        }
        assert!(!refused(&["frobnicate"]).to_string().contains("similar"));
    }
}
