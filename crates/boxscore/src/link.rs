//! The way to a measuring child: a process with frames on its pipes. On this host the same binary, elsewhere
//! whatever command the user gave, with `agent --stdio` behind it.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use harness::conductor::Link;
use harness::worker::{Event, pump};
use model::frame::{self, Frame};
use model::plan::Via;

use crate::error::CliError;

/// What exec says of a program for another processor.
const ENOEXEC: i32 = 8;

/// Last lines that a child said on stderr: shown when it is lost.
const LAST_LINES: usize = 5;

/// How long a child may take to end once its pipe is closed.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long its last words are waited for: something that it started may hold its stderr open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Bytes of such a line that are kept.
const LINE: usize = 400;

/// Frames that wait to be dealt with; who sends more waits.
const WAITING: usize = 4;

/// After this many bytes on stderr a child is listened to at leisure, so that a flood takes no CPU from the takes.
const MUCH: usize = 1 << 20;
const LEISURE: Duration = Duration::from_millis(20);

pub struct ChildLink {
    to: Option<To>,
    child: Child,
}

/// How frames get to a child.
enum To {
    Pipe(ChildStdin),
    /// By a thread, so that one that does not read holds nobody up: it is lost by its silence.
    Post(Sender<Vec<u8>>),
}

impl To {
    fn post(mut pipe: ChildStdin) -> To {
        let (post, frames) = channel::<Vec<u8>>();
        // Ends with the sender, or with the pipe, whose other one says why.
        std::thread::spawn(move || {
            frames.into_iter().try_for_each(|bytes| pipe.write_all(&bytes).and_then(|()| pipe.flush()))
        });
        To::Post(post)
    }

    fn write(&mut self, bytes: Vec<u8>) -> std::io::Result<()> {
        match self {
            To::Pipe(pipe) => pipe.write_all(&bytes).and_then(|()| pipe.flush()),
            To::Post(post) => post.send(bytes).map_err(|_| ErrorKind::BrokenPipe.into()),
        }
    }
}

impl Link for ChildLink {
    fn send(&mut self, frame: &Frame) -> Result<(), String> {
        let bytes = frame::encode(frame).map_err(|error| error.to_string())?;
        let Some(to) = &mut self.to else { return Err("its pipe was closed".to_owned()) };
        match to.write(bytes) {
            // The pipe the other way says so too, with the child's last words.
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            sent => sent.map_err(|error| error.to_string()),
        }
    }

    fn hang_up(&mut self) -> Option<String> {
        self.to = None;
        // A child whose pipe broke ends within moments; one that hangs is not waited for here.
        self.ended_within(Duration::from_millis(500)).map(how_it_ended)
    }
}

impl ChildLink {
    fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        const PAUSE: Duration = Duration::from_millis(5);
        let until_ns = sys::clock::now_ns() + u64::try_from(patience.as_nanos()).unwrap_or(u64::MAX);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if sys::clock::now_ns() < until_ns => std::thread::sleep(PAUSE),
                _ => return None,
            }
        }
    }
}

/// What a shell says of a command that it could not start has codes of its own.
fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(127), _) => "exit code 127: the command was not found".to_owned(),
        (Some(126), _) => "exit code 126: the command could not be executed".to_owned(),
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(9)) => "killed by signal 9 (KILL: by somebody, or for want of memory)".to_owned(),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}

impl Drop for ChildLink {
    /// Closing its stdin ends the child, which ends what it started.
    fn drop(&mut self) {
        self.to = None;
        if self.ended_within(PATIENCE).is_some() {
            return;
        }
        // It does not end by itself: only then is its whole group killed (a shell may stand before it), and what
        // happened shows in the run's status.
        const SIGKILL: i32 = 9;
        let group = i32::try_from(self.child.id()).unwrap_or(0);
        if sys::process::signal_group(group, SIGKILL).is_err() {
            drop(self.child.kill());
        }
        drop(self.child.wait());
    }
}

/// Events of all children, numbered by machine.
pub type Events = Receiver<(usize, Event)>;

/// The ways to the children of a study.
#[derive(Default)]
pub struct Links {
    pub machines: Vec<Box<dyn Link>>,
    pub generators: Vec<Box<dyn Link>>,
}

/// Starts a child for each machine, and one for each generator, whose events are numbered after those of the machines.
pub fn start(machines: &[Via], generators: &[Via]) -> Result<(Links, Events), CliError> {
    let (give, events) = sync_channel(WAITING);
    let mut links = Links::default();
    for (index, via) in machines.iter().enumerate() {
        links.machines.push(Box::new(spawn(index, via, give.clone())?));
    }
    for (index, via) in generators.iter().enumerate() {
        let mut link = spawn(machines.len() + index, via, give.clone())?;
        link.to = match link.to.take() {
            Some(To::Pipe(pipe)) => Some(To::post(pipe)),
            other => other,
        };
        links.generators.push(Box::new(link));
    }
    Ok((links, events))
}

fn spawn(index: usize, via: &Via, give: SyncSender<(usize, Event)>) -> Result<ChildLink, CliError> {
    let mut command = command(via)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // A group of its own: Ctrl-C reaches only this program, which lets the take finish.
    command.process_group(0);
    let started = command.spawn();
    let mut child = started.map_err(|error| {
        let name = if via.name.is_empty() { "the measuring child" } else { &via.name };
        let failed = CliError::data(format!("{name} could not be started: {error}"));
        match error.raw_os_error() {
            Some(ENOEXEC) => failed.hint(
                "under an emulator, let the kernel start such programs by it (binfmt; Debian: qemu-user-static), \
                 or use --via 'NAME=qemu-aarch64-static ./boxscore'",
            ),
            _ => failed,
        }
    })?;
    let said = Arc::new(Mutex::new(Vec::<String>::new()));
    let listened = child.stderr.take().map(|stderr| {
        let said = Arc::clone(&said);
        let (done, listened) = channel::<()>();
        std::thread::spawn(move || {
            // Dropped at the end: that is the message.
            let _done = done;
            listen(stderr, &said);
        });
        listened
    });
    let Some(stdout) = child.stdout.take() else {
        return Err(CliError::data("the measuring child has no stdout"));
    };
    std::thread::spawn(move || {
        pump(stdout, |event| {
            let event = match event {
                Event::Lost(why) => {
                    if let Some(listened) = &listened {
                        // Either way they are taken as far as they came.
                        let _ended = listened.recv_timeout(LAST_WORDS);
                    }
                    Event::Lost(with_last_words(&why, &said))
                }
                frame => frame,
            };
            give.send((index, event)).is_ok()
        });
    });
    Ok(ChildLink { to: child.stdin.take().map(To::Pipe), child })
}

/// Keeps the last lines of what a child says, each cut where it is too long to be read.
fn listen(mut from: impl Read, said: &Mutex<Vec<String>>) {
    let mut chunk = [0u8; 16 << 10];
    let (mut line, mut length, mut heard) = (Vec::new(), 0usize, 0usize);
    let keep = |line: &mut Vec<u8>, length: &mut usize| {
        if *length == 0 {
            return;
        }
        let mut text = String::from_utf8_lossy(line).trim_end().to_owned();
        if *length > line.len() {
            text.push_str(" ... (cut: the line is longer)");
        }
        line.clear();
        *length = 0;
        if let Ok(mut said) = said.lock() {
            said.push(text);
            let surplus = said.len().saturating_sub(LAST_LINES);
            said.drain(..surplus);
        }
    };
    loop {
        let count = match from.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            // It cannot be heard any more; that it is lost shows on its other pipe.
            Err(_) => break,
        };
        for part in chunk[..count].split_inclusive(|byte| *byte == b'\n') {
            length += part.len();
            let room = LINE.saturating_sub(line.len());
            line.extend_from_slice(&part[..part.len().min(room)]);
            if part.ends_with(b"\n") {
                keep(&mut line, &mut length);
            }
        }
        heard = heard.saturating_add(count);
        if heard > MUCH {
            std::thread::sleep(LEISURE);
        }
    }
    keep(&mut line, &mut length);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_the_last_are_kept() {
        let said = Mutex::new(Vec::new());
        let text: String = (0..9).map(|n| format!("line {n}\n")).collect();
        listen(text.as_bytes(), &said);
        assert_eq!(*said.lock().unwrap(), ["line 4", "line 5", "line 6", "line 7", "line 8"]);
        let endless = std::io::repeat(b'x').take(300_000).chain(&b"\nthe end"[..]);
        listen(endless, &said);
        let lines = said.into_inner().unwrap();
        assert_eq!(lines.len(), LAST_LINES);
        assert_eq!(lines[3], format!("{} ... (cut: the line is longer)", "x".repeat(LINE)));
        assert_eq!(lines[4], "the end");
    }
}
