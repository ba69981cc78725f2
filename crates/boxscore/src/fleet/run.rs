//! `boxscore lab run`: a command on many hosts, its outputs folded, a line for each way in which it ended.

use std::io::IsTerminal;

use lab::ssh::{Exit, Failure, Host, Outcome, command, fold};
use model::doc::{LabExitDoc, LabHostDoc, LabRunDoc, LabTextDoc};
use report::text::lab_hosts as text;

use super::reach::{self, Progress};
use super::select;
use crate::cli::Global;
use crate::cli::lab::run::LabRunArgs;
use crate::error::CliError;
use crate::out;

pub fn run(args: &LabRunArgs, global: &Global) -> Result<u8, CliError> {
    let hosts = select::hosts(&args.expressions, &args.select, &args.reach)?;
    let options = reach::options(&args.reach)?;
    let command = args.command.join(" ");
    if command.trim().is_empty() {
        return Err(CliError::usage("the command is empty"));
    }
    if args.reach.dry_run {
        out::print(&reach::plan(&hosts, &options, &format!("would run: {command}"))?);
        return Ok(0);
    }
    let (sockets, stop) = reach::begin()?;
    let in_lines = !global.json && (args.lines || (!args.fold && !std::io::stdout().is_terminal()));
    let mut progress = Progress::begin(&hosts, global.json);
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(hosts.len());
    let done = |outcome: Outcome| {
        progress.done(&outcome.host, || {
            if in_lines {
                print_lines(&outcome);
            }
        });
        outcomes.push(outcome);
    };
    let went = command::run(&hosts, &command, &options, &sockets, &stop, done);
    drop(progress);
    went.map_err(reach::no_thread)?;
    outcomes.sort_by_key(|outcome| outcome.index);
    let document = document(&command, &outcomes, stop.is_requested());
    if global.json {
        out::json(&document);
    } else {
        if !in_lines {
            out::print(&text::folded(&document.stdout, ""));
            out::say_all(&text::folded(&document.stderr, ", stderr"));
        }
        out::say_all(&text::exits(&document));
    }
    Ok(reach::code(document.is_ok(), document.interrupted))
}

fn print_lines(outcome: &Outcome) {
    let host = outcome.host.to_string();
    out::print(&text::lines(&host, &String::from_utf8_lossy(&outcome.stdout.bytes)));
    out::say_all(&text::lines(&host, &String::from_utf8_lossy(&outcome.stderr.bytes)));
}

fn document(command: &str, outcomes: &[Outcome], interrupted: bool) -> LabRunDoc {
    let hosts: Vec<LabHostDoc> = outcomes.iter().map(host).collect();
    let texts = |of: fn(&LabHostDoc) -> &str| {
        let said = outcomes.iter().zip(&hosts).filter(|(_, doc)| !of(doc).is_empty());
        let groups = fold::by_text(said.map(|(outcome, doc)| (of(doc).to_owned(), &outcome.host)));
        groups
            .into_iter()
            .map(|(text, hosts)| LabTextDoc { count: hosts.len(), hosts: reach::folded(hosts), text })
            .collect()
    };
    LabRunDoc {
        schema: "boxscore.lab-run/1".to_owned(),
        command: command.to_owned(),
        stdout: texts(|host| &host.stdout),
        stderr: texts(|host| &host.stderr),
        exits: exits(outcomes),
        interrupted,
        hosts,
    }
}

/// How a command ended, in the order of the table: by exit code, then failures.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    Exit(Exit),
    Failed(String),
}

const KILLED: &str = "the command ended without an exit code, as one that a signal killed";

fn exits(outcomes: &[Outcome]) -> Vec<LabExitDoc> {
    let key = |outcome: &Outcome| match &outcome.result {
        Ok(exit) => End::Exit(*exit),
        Err(failure) => End::Failed(failure.to_string()),
    };
    let mut groups = fold::by_text(outcomes.iter().map(|outcome| (key(outcome), outcome)));
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    let one = |(_, outcomes): (End, Vec<&Outcome>)| {
        let hosts: Vec<&Host> = outcomes.iter().map(|outcome| &outcome.host).collect();
        let plain = |exit: Option<u32>, why: Option<&str>| LabExitDoc {
            count: hosts.len(),
            hosts: reach::folded(hosts.iter().copied()),
            exit,
            failure: why.map(|_| "signal".to_owned()),
            why: why.map(str::to_owned),
            hint: None,
        };
        Some(match &outcomes.first()?.result {
            Ok(Exit::Code(code)) => plain(Some(*code), None),
            Ok(Exit::Signal) => plain(None, Some(KILLED)),
            Err(failure) => reach::failed(failure, &hosts),
        })
    };
    groups.into_iter().filter_map(one).collect()
}

fn host(outcome: &Outcome) -> LabHostDoc {
    let (exit, failure, why) = match &outcome.result {
        Ok(Exit::Code(code)) => (Some(*code), None, None),
        Ok(Exit::Signal) => (None, Some("signal"), Some(KILLED.to_owned())),
        Err(failure) => (None, Some(Failure::word(failure)), Some(failure.to_string())),
    };
    LabHostDoc {
        host: outcome.host.to_string(),
        ok: exit == Some(0),
        exit,
        failure: failure.map(str::to_owned),
        why,
        stdout: String::from_utf8_lossy(&outcome.stdout.bytes).into_owned(),
        stderr: String::from_utf8_lossy(&outcome.stderr.bytes).into_owned(),
        cut: outcome.stdout.cut.saturating_add(outcome.stderr.cut),
        greeting: outcome.greeting.clone(),
        marked: outcome.is_marked,
        reused: outcome.reused,
        seconds: outcome.seconds,
    }
}
