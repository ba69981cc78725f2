//! Access logs of nodes: each node reads its own, and what it counted comes here, where it is merged exactly. No line
//! of a log leaves its node.

use std::path::{Path, PathBuf};

use lab::ssh::{Exit, Host, Outcome};
use logs::aggregate::file::Labels;
use model::shell::word;

use super::on::{self, Nodes};
use crate::access_logs::UNLABELLED;
use crate::cli::logs::LogsArgs;
use crate::error::{CliError, Kind};
use crate::lookup::paths::Scratch;
use crate::out;
use crate::study::stop_signal::StopSignal;

/// Runs what follows its file, and notes its process beside the file.
const READ: &str = "echo $$ > \"$0.pid\"; exec \"$@\" > /dev/null";
const REMOVE: &str = "rm -f \"$0\" \"$0.pid\"";
/// Ends that process too, if it still is the one that was noted, and removes what it has begun to write.
const END: &str = "p=$(cat \"$0.pid\") && grep -qF \"$0\" \"/proc/$p/cmdline\" && kill -9 \"$p\"; \
                   rm -f \"$0\"* \"${0%/*}/.${0##*/}\"*";

/// Aggregates of nodes, as files that are gone with this.
pub struct Read {
    _folder: Scratch,
    pub files: Vec<PathBuf>,
    nodes: Nodes,
    is_whole: bool,
}

impl Read {
    /// Has the nodes of `--on` read the files that were named. A file without a label gets its node's name for one.
    /// Says of each node that failed why. Fails where none of them read anything.
    pub fn on_nodes(args: &LogsArgs) -> Result<Read, CliError> {
        fits(args)?;
        let stop = StopSignal::listen_with_message("ended at once")?;
        let nodes = on::ready(&args.lab, &stop)?;
        let folder = Scratch::new("logs")?;
        let name = format!("{}-{}.agg", std::process::id(), sys::clock::wall_ns());
        let to = |path: &str| format!("{path}-{name}");
        let words = words(args);
        let command = |path: &str| {
            let file = word(&to(path));
            format!("sh -c {} {file} {} logs --out {file} {words}", word(READ), word(path))
        };
        let outcomes = nodes.run(&stop, command)?;
        if stop.is_requested() {
            return Err(stopped(&nodes, to)?);
        }
        let mut readers = Vec::new();
        for outcome in outcomes {
            readers.extend(has_read(&outcome).then_some(outcome.host));
        }
        let mut files = Vec::new();
        let pulled = nodes.pull(&stop, to, folder.path())?;
        if stop.is_requested() {
            return Err(stopped(&nodes, to)?);
        }
        for copied in pulled {
            match copied.result {
                Ok(_) => files.push(copied.host),
                // Of one that has read nothing it was said why.
                Err(failure) if readers.contains(&copied.host) => {
                    out::say(&format!("{}: what it read could not be fetched: {failure}", copied.host));
                }
                Err(_) => {}
            }
        }
        let is_whole = files.len() == nodes.ready.len();
        let kept = nodes.run_anyway(|path| format!("sh -c {} {}", word(REMOVE), word(&to(path))))?;
        say_kept(&kept, to);
        let path = |host: Host| -> Result<PathBuf, CliError> {
            let own = folder.path().join(host.to_string());
            let found = std::fs::read_dir(&own).and_then(|mut all| all.next().transpose());
            let found = found.map_err(|error| CliError::data(format!("{}: {error}", own.display())))?;
            let file = found.ok_or_else(|| CliError::data(format!("{host}: nothing came")))?.path();
            call_after(&file, host.name())?;
            Ok(file)
        };
        let files = files.into_iter().map(path).collect::<Result<Vec<_>, _>>()?;
        nodes.end(true)?;
        match files.is_empty() {
            true => Err(CliError::data("no node has read anything").hint("the lines above say why")),
            false => Ok(Read { _folder: folder, files, nodes, is_whole }),
        }
    }

    /// The exit code: 3 where a node could not read its logs.
    pub fn code(&self, code: u8) -> u8 {
        if code == 0 && !self.is_whole { Kind::Faults.exit_code() } else { self.nodes.code(code) }
    }
}

/// Ends the readers, and takes away what they left; the error of a command that was stopped.
fn stopped(nodes: &Nodes, to: impl Fn(&str) -> String) -> Result<CliError, CliError> {
    let kept = nodes.run_anyway(|path| format!("sh -c {} {}", word(END), word(&to(path))))?;
    say_kept(&kept, to);
    nodes.end(true)?;
    Ok(CliError::interrupted("stopped; nothing was stored"))
}

/// Names the nodes on which something is left.
fn say_kept(kept: &[(String, Host)], to: impl Fn(&str) -> String) {
    for (path, host) in kept {
        let file = to(path);
        out::say(&format!("warning: {host}: a reader may go on there, and {file} may be left"));
    }
}

/// Refuses what cannot be merged from aggregates.
fn fits(args: &LogsArgs) -> Result<(), CliError> {
    let refused = [
        ("--follow", args.follow),
        ("--cut", args.cut.is_some()),
        ("--telemetry", !args.telemetry.is_empty()),
        ("--profile-out", args.profile_out.is_some()),
    ];
    match refused.iter().find(|(_, is_given)| *is_given) {
        Some((flag, _)) => {
            Err(CliError::usage(format!("{flag} needs the lines of a log, which stay on the nodes"))
                .hint("run boxscore there (`boxscore lab run`), or fetch the logs (`boxscore lab pull`)"))
        }
        None => Ok(()),
    }
}

/// The words behind `logs --out FILE` on a node.
fn words(args: &LogsArgs) -> String {
    let mut words: Vec<String> = vec!["--no-store".to_owned()];
    let mut option = |flag: &str, value: Option<String>| {
        words.extend(value.into_iter().flat_map(|value| [flag.to_owned(), value]));
    };
    option("--format", args.format.clone());
    option("--config", args.config.as_ref().map(|path| path.display().to_string()));
    option("--by", (!args.by.is_empty()).then(|| args.by.join(",")));
    option("--threads", args.threads.map(|threads| threads.to_string()));
    args.conditions.iter().for_each(|text| option("--where", Some(text.clone())));
    words.extend(args.strict.then(|| "--strict".to_owned()));
    words.push("--".to_owned());
    words.extend(args.files.iter().cloned());
    words.iter().map(|one| word(one)).collect::<Vec<_>>().join(" ")
}

/// True if a node has read all of its logs. Says what it said where it has not.
fn has_read(outcome: &Outcome) -> bool {
    let why = match &outcome.result {
        Ok(Exit::Code(0)) => return true,
        Ok(Exit::Code(_)) => String::from_utf8_lossy(&outcome.stderr.bytes).into_owned(),
        Ok(Exit::Signal) => "boxscore was killed by a signal".to_owned(),
        Err(failure) => failure.to_string(),
    };
    why.lines().for_each(|line| out::say(&format!("{}: {}", outcome.host, line.escape_debug())));
    false
}

/// Calls the group of the files without a label after their node.
fn call_after(file: &Path, node: &str) -> Result<(), CliError> {
    let wrong = |what: String| CliError::data(format!("{node}: {what}"));
    let bytes = std::fs::read(file).map_err(|error| wrong(error.to_string()))?;
    let mut labels = Labels::from_bytes(&bytes).map_err(|error| wrong(error.to_string()))?;
    if let Some(own) = labels.labels.remove(UNLABELLED) {
        labels.labels.insert(node.to_owned(), own);
    }
    let bytes = labels.to_bytes().map_err(|error| wrong(error.to_string()))?;
    sys::files::atomic_write(file, &bytes, 0o600).map_err(|error| wrong(error.to_string()))
}
