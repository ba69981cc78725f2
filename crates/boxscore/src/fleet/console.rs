//! `boxscore lab console`: the console of a node on this terminal, or as a stream of bytes.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

use lab::bmc::{Bmcs, Failure, accesses};
use lab::console::{End, Ends, Line, connect};
use lab::inventory::Node;
use lab::stop::Stop;
use model::format::duration;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;
use sys::terminal::Raw;

use super::{bmc, reach};
use crate::cli::Global;
use crate::cli::lab::console::ConsoleArgs;
use crate::cli::lab::select::SelectArgs;
use crate::error::{CliError, Kind};
use crate::out;

pub fn run(args: &ConsoleArgs, global: &Global) -> Result<u8, CliError> {
    if global.json {
        return Err(CliError::usage("a console has no document").hint("--log FILE keeps what it says"));
    }
    let length = args.length.as_deref().map(|text| reach::span("--for", text)).transpose()?;
    let select = SelectArgs { inventory: args.inventory.clone(), ..SelectArgs::default() };
    let nodes = bmc::Nodes::select(std::slice::from_ref(&args.node), &select)?;
    let node = nodes.only()?;
    let mut log = args.log.as_ref().map(|path| Log::open(path, &node.name)).transpose()?;
    let stop = stop()?;
    let mut line = open(node, &nodes, args.take, &stop)?;
    let (stdin, stdout) = (std::io::stdin(), std::io::stdout());
    let is_terminal = stdin.is_terminal() && stdout.is_terminal();
    let how = match (is_terminal, length) {
        (true, _) => "~. at the start of a line leaves it".to_owned(),
        (false, None) => "Ctrl-C ends it".to_owned(),
        (false, Some(length)) => format!("its time is {}", duration(length.as_secs_f64())),
    };
    out::say(&format!("console of {}: {how}", node.name));
    let mut shown = stdout.lock();
    let mut outputs: Vec<&mut dyn Write> = vec![&mut shown];
    if let Some(log) = &mut log {
        log.mark("opened")?;
        outputs.push(&mut log.file);
    }
    let raw = match is_terminal {
        true => Some(Raw::enter(&stdin).map_err(|error| CliError::data(error.to_string()))?),
        false => None,
    };
    let ends = Ends { input: Some(stdin.as_fd()), outputs, has_escapes: is_terminal };
    let end = line.carry(ends, &stop, length);
    // The terminal is as it was before anything more is said on it.
    drop(raw);
    drop(line);
    if is_terminal {
        out::say("");
    }
    if let Some(log) = &mut log {
        log.mark("closed")?;
    }
    match end {
        End::Left => Ok(0),
        End::Time => {
            out::say(&format!("console of {}: its time was up (--for)", node.name));
            Ok(0)
        }
        End::Interrupted => Ok(Kind::Interrupted.exit_code()),
        End::Closed(why) => Err(CliError::data(format!("the console of {} ended: {why}", node.name))),
        End::Failed(why) => Err(CliError::data(format!("the console of {} is left: {why}", node.name))),
    }
}

/// Opens the console that the inventory names, else that of the BMC.
fn open(node: &Node, nodes: &bmc::Nodes, take: bool, stop: &Stop) -> Result<Line, CliError> {
    let name = &node.name;
    if let Some(console) = &node.console {
        if take {
            return Err(CliError::usage(format!("--take: {console} has no sessions that could be ended")));
        }
        return connect(console).map_err(|why| CliError::data(format!("{name}: no console: {why}")));
    }
    let opened = accesses(&[node], nodes.base()).pop().unwrap_or(Err(Failure::NoBmc));
    let opened = opened.and_then(|access| Bmcs::new(None, false, stop).console(&access, take));
    opened.map_err(|failure| {
        let hint = match &failure {
            Failure::NoBmc | Failure::Kind { .. } => {
                Some("console = \"tcp://HOST:PORT\" in the inventory names another way to it".to_owned())
            }
            other => other.hint(),
        };
        let kind = if failure == Failure::Interrupted { Kind::Interrupted } else { Kind::Data };
        CliError { kind, ..CliError::data(format!("{name}: no console: {failure}")).maybe_hint(hint) }
    })
}

/// A stop that every signal requests which would end the program: a terminal must get its mode back.
fn stop() -> Result<Arc<Stop>, CliError> {
    let failed = |error: std::io::Error| CliError::data(format!("signals cannot be caught: {error}"));
    let stop = Arc::new(Stop::new().map_err(failed)?);
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGQUIT]).map_err(failed)?;
    let told = Arc::clone(&stop);
    std::thread::spawn(move || signals.forever().for_each(|_| told.request()));
    Ok(stop)
}

/// A file that keeps what a console says.
struct Log {
    file: File,
    path: String,
    node: String,
}

impl Log {
    fn open(path: &std::path::Path, node: &str) -> Result<Log, CliError> {
        let name = path.display().to_string();
        let file = File::options().append(true).create(true).open(path);
        let file = file.map_err(|error| CliError::data(format!("--log {name}: {error}")))?;
        Ok(Log { file, path: name, node: node.to_owned() })
    }

    /// A line with the time.
    fn mark(&mut self, what: &str) -> Result<(), CliError> {
        let now = report::text::date_time(sys::clock::wall_ns() as f64 / 1e9);
        let line = format!("\n--- console of {} {what} {now} ---\n", self.node);
        self.file
            .write_all(line.as_bytes())
            .map_err(|error| CliError::data(format!("--log {}: {error}", self.path)))
    }
}
