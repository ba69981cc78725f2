//! Starts children and links to them: processes with frames on their pipes. On this host a child is the same binary;
//! elsewhere it is `agent --stdio` behind whatever command the user gave.
//!
//! In: the machines and generators of a plan. Out: one link for each, and one channel of events.

mod output;

use std::io::{ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use harness::conductor::{Link, NoLink, Part, Parting};
use harness::worker::{Event, pump};
use model::format::count;
use model::frame::{self, Frame};
use model::login::{PASSWORD, USER};
use model::plan::Via;

use crate::error::CliError;
use output::{ChildOutput, RecordedStdout};

/// The error of exec for a program of another processor architecture.
const ENOEXEC: i32 = 8;

/// How long a child may take to end after a pipe to it is closed.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long to wait for the end of a child that is dropped but still holds its pipe.
const LITTLE_PATIENCE: Duration = Duration::from_millis(500);

/// How long to wait for its last output: something that it started may hold its stderr open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Frames that may wait to be handled; a child that sends more is blocked.
const WAITING: usize = 4;

pub struct ChildLink {
    to: Option<To>,
    child: Child,
    /// The user's command that started it; `None` is this program.
    command: Option<String>,
    output: Arc<ChildOutput>,
    /// Disconnected when its stderr has ended.
    listened: Option<Receiver<()>>,
}

/// How frames reach a child.
enum To {
    Pipe(ChildStdin),
    /// Through a thread, so that a child that does not read blocks nobody; it is then lost by its silence.
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

    fn hang_up(&mut self) -> Parting {
        self.to = None;
        // A child whose pipe broke is about to end, however busy its host; one that hangs is not waited for here.
        let status = self.ended_within(if self.output.is_over() { PATIENCE } else { LITTLE_PATIENCE });
        if let (Some(_), Some(listened)) = (status, self.listened.take()) {
            // Either way they are taken as far as they came.
            let _ended = listened.recv_timeout(LAST_WORDS);
        }
        self.output.parting(status, self.command.as_deref())
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

impl Drop for ChildLink {
    /// Closes its stdin, which ends the child and what it started.
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

/// Events of all children, with the number of the machine.
pub type Events = Receiver<(usize, Event)>;

/// The links to the children of a study.
#[derive(Default)]
pub struct Links {
    pub machines: Vec<Box<dyn Link>>,
    pub generators: Vec<Box<dyn Link>>,
    /// On the hosts of targets.
    pub agents: Vec<Box<dyn Link>>,
}

/// Starts a child for each machine that takes part, one for each generator and one on the host of each target that has
/// a way to it, whose events are numbered in this order. Fails when a command cannot be started.
pub fn start(
    machines: &[Via],
    parts: &[Part],
    generators: &[Via],
    agents: &[Via],
) -> Result<(Links, Events), CliError> {
    let (give, events) = sync_channel(WAITING);
    // In areas of their own, the threads of 1,000 agents keep 25 MB that they freed.
    sys::heap::use_one_area();
    allow_files(machines.len() + generators.len() + agents.len())?;
    let mut links = Links::default();
    for (index, via) in machines.iter().enumerate() {
        links.machines.push(match parts.get(index) {
            None | Some(Part::Measured) => Box::new(spawn(index, via, give.clone())?),
            Some(Part::Unreached | Part::Ended(_)) => Box::new(NoLink),
        });
    }
    let helper = |index: usize, via: &Via| -> Result<Box<dyn Link>, CliError> {
        let mut link = spawn(machines.len() + index, via, give.clone())?;
        link.to = match link.to.take() {
            Some(To::Pipe(pipe)) => Some(To::post(pipe)),
            other => other,
        };
        Ok(Box::new(link))
    };
    for (index, via) in generators.iter().enumerate() {
        links.generators.push(helper(index, via)?);
    }
    for (index, via) in agents.iter().enumerate() {
        links.agents.push(helper(generators.len() + index, via)?);
    }
    Ok((links, events))
}

/// Lets this program have the pipes of so many children. The usual limit is enough for 300.
fn allow_files(children: usize) -> Result<(), CliError> {
    /// Pipes to a child, and both ends of them while it is started.
    const PIPES: u64 = 3;
    const SPARE: u64 = 64;
    let allowed = sys::system::allow_more_files(children as u64 * PIPES + SPARE);
    allowed.map_err(|why| CliError::data(format!("{}: {why}", count(children, "agent"))))
}

fn spawn(index: usize, via: &Via, give: SyncSender<(usize, Event)>) -> Result<ChildLink, CliError> {
    let mut command = command(via)?;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // It is told who to ask a store as over its pipe, where it has to know: what it starts does not.
    command.env_remove(PASSWORD).env_remove(USER);
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
    let output = Arc::new(ChildOutput::default());
    let listened = child.stderr.take().map(|stderr| {
        let output = Arc::clone(&output);
        let (done, listened) = channel::<()>();
        std::thread::spawn(move || {
            // Dropped at the end: that is the message.
            let _done = done;
            output.listen(stderr);
        });
        listened
    });
    let Some(stdout) = child.stdout.take() else {
        return Err(CliError::data("the measuring child has no stdout"));
    };
    let overheard = RecordedStdout::new(stdout, Arc::clone(&output));
    let heard = Arc::clone(&output);
    std::thread::spawn(move || {
        pump(overheard, |event| {
            if matches!(event, Event::Frame(_)) {
                heard.speaks();
            }
            give.send((index, event)).is_ok()
        });
    });
    let to = child.stdin.take().map(To::Pipe);
    Ok(ChildLink { to, child, command: via.command.clone(), output, listened })
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
