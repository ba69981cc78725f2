//! The way to a measuring child: a process with frames on its pipes. On this host the same binary, elsewhere
//! whatever command the user gave, with `agent --stdio` behind it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use harness::conductor::Link;
use harness::worker::{Event, pump};
use model::frame::{self, Frame};
use model::plan::Via;

use crate::error::CliError;

/// Last lines that a child said on stderr: shown when it is lost.
const LAST_LINES: usize = 5;

pub struct ChildLink {
    to: Option<ChildStdin>,
    child: Child,
}

impl Link for ChildLink {
    fn send(&mut self, frame: &Frame) -> Result<(), String> {
        let bytes = frame::encode(frame).map_err(|error| error.to_string())?;
        let Some(to) = &mut self.to else { return Err("its pipe was closed".to_owned()) };
        to.write_all(&bytes).and_then(|()| to.flush()).map_err(|error| error.to_string())
    }
}

impl Drop for ChildLink {
    /// Closing its stdin ends the child, which ends what it started.
    fn drop(&mut self) {
        self.to = None;
        const PATIENCE: u32 = 100;
        for _ in 0..PATIENCE {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        // It does not end by itself: only then is it killed, and what happened shows in the run's status.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Events of all children, numbered by machine.
pub type Events = Receiver<(usize, Event)>;

/// Starts one child for each machine.
pub fn start(machines: &[Via]) -> Result<(Vec<Box<dyn Link>>, Events), CliError> {
    let (give, events) = channel();
    let mut links: Vec<Box<dyn Link>> = Vec::new();
    for (index, via) in machines.iter().enumerate() {
        links.push(Box::new(spawn(index, via, give.clone())?));
    }
    Ok((links, events))
}

fn spawn(index: usize, via: &Via, give: Sender<(usize, Event)>) -> Result<ChildLink, CliError> {
    let mut command = command(via)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: Ctrl-C reaches only this program, which lets the take finish.
    command.process_group(0);
    let started = command.spawn();
    let mut child = started.map_err(|error| {
        let name = if via.name.is_empty() { "the measuring child" } else { &via.name };
        CliError::data(format!("{name} could not be started: {error}"))
    })?;
    let said = Arc::new(Mutex::new(Vec::<String>::new()));
    let listener = child.stderr.take().map(|stderr| {
        let said = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if let Ok(mut said) = said.lock() {
                    said.push(line);
                    let surplus = said.len().saturating_sub(LAST_LINES);
                    said.drain(..surplus);
                }
            }
        })
    });
    let Some(stdout) = child.stdout.take() else {
        return Err(CliError::data("the measuring child has no stdout"));
    };
    std::thread::spawn(move || {
        let mut listener = listener;
        pump(stdout, |event| {
            let event = match event {
                Event::Lost(why) => {
                    if let Some(listener) = listener.take() {
                        drop(listener.join());
                    }
                    Event::Lost(with_last_words(&why, &said))
                }
                frame => frame,
            };
            give.send((index, event)).is_ok()
        });
    });
    Ok(ChildLink { to: child.stdin.take(), child })
}

fn with_last_words(why: &str, said: &Mutex<Vec<String>>) -> String {
    match said.lock() {
        Ok(said) if !said.is_empty() => format!("{why}; it said: {}", said.join(" | ")),
        _ => why.to_owned(),
    }
}

fn command(via: &Via) -> Result<Command, CliError> {
    match &via.command {
        None => {
            let this = std::env::current_exe()
                .map_err(|error| CliError::data(format!("the path of this program is not known: {error}")))?;
            let mut command = Command::new(this);
            command.args(["agent", "--stdio"]);
            Ok(command)
        }
        Some(text) => {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("{text} agent --stdio")]);
            Ok(command)
        }
    }
}
