//! The `boxscore` program: parses, dispatches, and turns errors into words and exit codes. The only crate that prints.

mod access_logs;
mod cli;
mod decide;
mod error;
mod fleet;
mod hadoop;
mod import;
mod load;
mod lookup;
mod node;
mod out;
mod plan;
mod prove;
mod show;
mod studies;
mod study;

use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use cli::{Cli, Global, Verb};
use error::CliError;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A panic is a bug of ours.
const EXIT_BUG: u8 = 70;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|info| {
        out::say(&format!(
            "boxscore: a bug in boxscore, not in what you did: {info}\n\
             Nothing that was stored is lost. Please report this line, with the version {}.",
            cli::agent::BUILD
        ));
    }));
    // A child that is started through /proc/self/exe would be called `exe`. Where the kernel does not take the name, it
    // keeps that one.
    let _named = sys::process::set_name(c"boxscore");
    // In a machine that `lab boot` booted.
    if let Some(code) = node::role() {
        return ExitCode::from(code);
    }
    // What a run would start is also asked for before it, by the program that only plans.
    instruments::workload::guard::set_program("/proc/self/exe");
    // Without a home there is no data of the user's.
    if let Ok(dir) = lookup::paths::data_dir() {
        instruments::workload::hadoop::cluster::set_data_dir(dir);
    }
    match std::panic::catch_unwind(dispatch) {
        Ok(code) => ExitCode::from(whole(code)),
        Err(_) => ExitCode::from(EXIT_BUG),
    }
}

/// The exit code, made at least 1 when output was lost because stdout failed.
fn whole(code: u8) -> u8 {
    let Some(error) = out::lost() else { return code };
    out::say(&format!(
        "error: the output is incomplete: stdout: {error}\n hint: make room there and run the command again"
    ));
    if code == 0 { 1 } else { code }
}

fn dispatch() -> u8 {
    let json = std::env::args_os().any(|arg| arg == "--json");
    let cli = match Cli::from_words(std::env::args_os()) {
        Ok(mut cli) => {
            // From here on nothing can show a password in it.
            cli.global.store = cli.global.store.map(|path| lookup::paths::named(&path));
            cli
        }
        Err(error) => return usage(&error, json),
    };
    out::colour(cli.global.color);
    match verb(&cli) {
        Ok(code) => code,
        Err(error) => {
            fail(&error, &cli.global);
            error.kind.exit_code()
        }
    }
}

/// Prints clap's text: help and version are data on stdout, anything else is a usage error (exit 2).
fn usage(error: &clap::Error, json: bool) -> u8 {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            out::print(&error.render().ansi().to_string());
            0
        }
        _ if json => {
            let text = error.render().to_string();
            let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let wrong = CliError::usage(message);
            let wrong = match foreign(error) {
                Some((_, says)) => wrong.hint(says),
                None => wrong,
            };
            out::json(&wrong.document());
            2
        }
        _ if let Some((flag, says)) = foreign(error) => {
            out::say(&CliError::usage(format!("boxscore load has no {flag}")).hint(says).to_string());
            2
        }
        _ => {
            out::say(error.render().ansi().to_string().trim_end());
            2
        }
    }
}

/// A flag of another load generator given to `load`, and what does the same here.
fn foreign(error: &clap::Error) -> Option<(String, &'static str)> {
    let is_load = std::env::args_os()
        .skip(1)
        .find(|arg| !arg.as_encoded_bytes().starts_with(b"-"))
        .is_some_and(|verb| verb == "load");
    match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if is_load && error.kind() == ErrorKind::UnknownArgument => {
            Some((flag.clone(), cli::foreign::hint(flag)?))
        }
        _ => None,
    }
}

fn fail(error: &CliError, global: &Global) {
    if global.json {
        out::json(&error.document());
    } else {
        out::say(&error.to_string());
    }
}

fn verb(cli: &Cli) -> Result<u8, CliError> {
    let global = &cli.global;
    match &cli.verb {
        Verb::Inspect(args) => cli::inspect::run(args, global),
        Verb::List(args) => cli::list::run(args, global),
        Verb::Run(args) => study::run(args, global),
        Verb::Aa(args) => study::aa(args, global),
        Verb::Study(args) => studies::run(args, global),
        Verb::Detect(args) => cli::detect::run(args, global),
        Verb::Peer(args) => cli::peer::run(args),
        Verb::Load(args) => load::run(args, global),
        Verb::Logs(args) => cli::logs::run(args, global),
        Verb::Compare(args) => cli::compare::run(args, global),
        Verb::Decide(args) => decide::run(args, global),
        Verb::Report(args) => cli::report::run(args, global),
        Verb::History(args) => cli::history::run(args, global),
        Verb::Show(args) => cli::show::run(args, global),
        Verb::Note(args) => cli::note::run(args, global),
        Verb::Store(args) => cli::store::run(args, global),
        Verb::Remove(args) => cli::remove::run(args, global),
        Verb::Hide(args) => cli::hide::run(args, global),
        Verb::Resume(args) => cli::resume::run(args, global),
        Verb::Export(args) => cli::export::run(args, global),
        Verb::Import(args) => cli::import::run(args, global),
        Verb::Lab(args) => cli::lab::run(args, global),
        Verb::Hadoop(args) => cli::hadoop::run(args, global),
        Verb::Doctor(args) => cli::doctor::run(args, global),
        Verb::Schema(args) => cli::schema::run(args),
        Verb::Agent(args) => cli::agent::run(args),
        Verb::Guard(args) => cli::guard::run(args),
        Verb::Dial(args) => cli::dial::run(args),
        Verb::ServeBuiltin(args) => cli::serve_builtin::run(args),
        Verb::ShuffleLink(args) => cli::shuffle_link::run(args),
        Verb::Docs(args) => cli::docs::run(args),
    }
}
