//! One run of a command in a guarded process group: how it ended, what it used, the end of what it said.
//!
//! Time runs from just before the start of the program until it has ended; where that is a shell, it contains the
//! shell's own start. Output is read meanwhile, which takes CPU time from the command where it has no CPU to spare.
//! Processes that the command leaves in the background are killed when its leader ends, and their output after that is
//! not read.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, waitpgid};
use sys::process::{Exit, Start, poll_read, signal_group};
use sys::{affinity, clock};

use super::guard::Guarded;

const SIGKILL: i32 = 9;
/// The most of its output that is kept: the end of it.
pub const STDOUT_BYTES: usize = 16 << 20;
pub(super) const STDERR_BYTES: usize = 256 << 10;
/// How long a pipe may stay open after the command's whole group has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// How lines begin that name the cause of a failure, in small letters.
const CAUSES: [&str; 4] = ["error:", "error[", "fatal:", "fatal error:"];
/// Lines of what a command said last that are shown.
const SHOWN_LINES: usize = 3;
/// Characters of a line that is shown.
const MOST_LINE: usize = 200;

/// The last bytes of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    bytes: Vec<u8>,
    limit: usize,
    /// Bytes that were dropped from its start.
    dropped: u64,
}

impl Tail {
    pub(super) fn new(limit: usize) -> Tail {
        Tail { bytes: Vec::new(), limit, dropped: 0 }
    }

    pub(super) fn add(&mut self, more: &[u8]) {
        self.bytes.extend_from_slice(more);
        // Cut seldom, so that each byte is moved about once.
        if self.bytes.len() > self.limit.saturating_mul(2) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let excess = self.bytes.len().saturating_sub(self.limit);
        self.bytes.drain(..excess);
        self.dropped = self.dropped.saturating_add(excess as u64);
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The first line that begins as errors do: the cause, where a backtrace or further errors follow. `None` of a few
    /// lines, which are shown whole.
    pub fn cause(&self) -> Option<String> {
        let text = self.text();
        if text.lines().filter(|line| !line.trim().is_empty()).count() <= SHOWN_LINES {
            return None;
        }
        let tells = |line: &&str| CAUSES.iter().any(|word| line.to_ascii_lowercase().starts_with(word));
        let line = text.lines().map(str::trim).find(tells)?;
        Some(line.chars().take(MOST_LINE).collect())
    }

    /// The last lines that are not empty, joined by ` | `.
    pub fn last_lines(&self, count: usize) -> String {
        let text = self.text();
        let mut lines: Vec<&str> =
            text.lines().rev().map(str::trim).filter(|line| !line.is_empty()).take(count).collect();
        lines.reverse();
        let short = |line: &&str| line.chars().take(MOST_LINE).collect::<String>();
        lines.iter().map(short).collect::<Vec<_>>().join(" | ")
    }
}

/// A run that has ended.
#[derive(Debug)]
pub struct Ended {
    pub exit: Exit,
    pub wall_ns: u64,
    pub stdout: Tail,
    pub stderr: Tail,
    pub timed_out: bool,
    /// Processes of its group were still there when it had ended; they were killed.
    pub left_behind: bool,
}

impl Ended {
    /// `None` when it did what it should, else how it failed and what it said last.
    pub fn failure(&self, timeout: Duration) -> Option<String> {
        let how = if self.timed_out {
            format!("did not end within {} s and was killed", timeout.as_secs())
        } else if self.exit.status.success() {
            return None;
        } else {
            format!("ended with {}", self.exit.status)
        };
        if let Some(cause) = self.stderr.cause() {
            return Some(format!("{how}: {cause}"));
        }
        let said = match self.stderr.last_lines(SHOWN_LINES) {
            said if said.is_empty() => self.stdout.last_lines(3),
            said => said,
        };
        Some(if said.is_empty() { how } else { format!("{how}; its last words: {said}") })
    }
}

/// Runs `command`, without input, on `cpus` and waits for its end, at most `timeout`; both of its outputs are read.
/// Fails when it cannot be started.
pub fn run_command(
    mut command: Command,
    start: Start,
    cpus: &[usize],
    timeout: Duration,
) -> Result<Ended, String> {
    command.stdin(Stdio::null());
    run_as_given(command, None, start, cpus, timeout)
}

/// Runs `command`, whose input was chosen, on `cpus` and waits for its end, at most `timeout`. Its error output is
/// read, and its output too where `stdout` is `None`. Fails when it cannot be started.
pub fn run_as_given(
    mut command: Command,
    stdout: Option<Stdio>,
    start: Start,
    cpus: &[usize],
    timeout: Duration,
) -> Result<Ended, String> {
    let (err, its_err) = Pipe::open(STDERR_BYTES)?;
    let (out, its_out) = match stdout {
        Some(given) => (Pipe::closed(STDOUT_BYTES), given),
        None => Pipe::open(STDOUT_BYTES).map(|(pipe, its)| (pipe, its.into()))?,
    };
    command.stdout(its_out);
    let mut pipes = [out, err];
    let mut chunk = vec![0u8; CHUNK];
    let (mut group, start_ns) = on(cpus, || match start == Start::default() {
        true => Guarded::spawn_cheaply(command, its_err),
        false => {
            command.stderr(its_err);
            let start_ns = clock::now_ns();
            Ok((Guarded::spawn(command, start)?, start_ns))
        }
    })?;
    let (exit, end_ns, timed_out) = follow(&mut group, &mut pipes, timeout, &mut chunk)?;
    reap(group.pgid());
    // Of a group that was killed as a whole the last ones may still be on their way out.
    let left_behind = !timed_out && group.is_alive()?;
    group.end();
    drain(&mut pipes, &mut chunk)?;
    let [stdout, stderr] = pipes.map(Pipe::end);
    Ok(Ended { exit, wall_ns: end_ns.saturating_sub(start_ns), stdout, stderr, timed_out, left_behind })
}

/// Waits for members of a group that have ended and became children of this process, which are nobody's left work.
fn reap(group: i32) {
    let Some(group) = Pid::from_raw(group) else { return };
    while let Ok(Some(_)) = waitpgid(group, WaitOptions::NOHANG) {}
}

/// An output of a command, read as far as it has come.
struct Pipe {
    /// `None` once it has ended, and where the output goes elsewhere.
    from: Option<File>,
    /// Another end to write to. While it is open the command's end can close without an event: a command closes its
    /// outputs on its way out, and whoever is woken then takes time from the rest of its way.
    to: Option<OwnedFd>,
    tail: Tail,
}

impl Pipe {
    /// A pipe, and the end that is the command's. Fails when there can be none.
    fn open(limit: usize) -> Result<(Pipe, OwnedFd), String> {
        let failed = |error: std::io::Error| format!("cannot make a pipe: {error}");
        let (from, its) = std::io::pipe().map_err(failed)?;
        let to = its.try_clone().map_err(failed)?;
        let from = Some(File::from(OwnedFd::from(from)));
        Ok((Pipe { from, to: Some(to.into()), tail: Tail::new(limit) }, its.into()))
    }

    fn closed(limit: usize) -> Pipe {
        Pipe { from: None, to: None, tail: Tail::new(limit) }
    }

    /// Reads once what is there; the pipe must be ready.
    fn read(&mut self, chunk: &mut [u8]) {
        let Some(from) = &mut self.from else { return };
        match from.read(chunk) {
            Ok(count) if count > 0 => self.tail.add(chunk.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A pipe that breaks is a pipe that ended.
            Ok(_) | Err(_) => self.from = None,
        }
    }

    fn end(mut self) -> Tail {
        self.tail.cut();
        self.tail
    }
}

/// Bytes that are read of a pipe at once.
const CHUNK: usize = 64 << 10;
/// How often a kernel that cannot tell of an end (before Linux 5.3) is asked.
const ASK: Duration = Duration::from_millis(1);

/// Waits for the end of the leader and reads the pipes meanwhile, in this thread alone; kills the group when the time
/// is over. Returns how and when it ended, and whether it had to be killed.
fn follow(
    group: &mut Guarded,
    pipes: &mut [Pipe],
    timeout: Duration,
    chunk: &mut [u8],
) -> Result<(Exit, u64, bool), String> {
    let told = |error: sys::Error| error.to_string();
    let pid = Pid::from_raw(group.pgid());
    let ended = pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    let until_ns = clock::now_ns().saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
    let mut timed_out = false;
    loop {
        let left = Duration::from_nanos(until_ns.saturating_sub(clock::now_ns()));
        let left = if timed_out { None } else { Some(left) };
        let left = if ended.is_none() { Some(left.map_or(ASK, |left| left.min(ASK))) } else { left };
        let open: Vec<usize> = (0..pipes.len()).filter(|at| pipes[*at].from.is_some()).collect();
        let fds = pipes.iter().filter_map(|pipe| pipe.from.as_ref()).map(AsFd::as_fd);
        let fds: Vec<BorrowedFd<'_>> = fds.chain(ended.as_ref().map(AsFd::as_fd)).collect();
        let ready = poll_read(&fds, left).map_err(told)?;
        // Its end is told before it is reaped, which is no work of its own.
        let told_ns = clock::now_ns();
        let may_have_ended = ended.is_none() || ready.last() == Some(&true);
        if may_have_ended && let Some(exit) = group.try_wait()? {
            return Ok((exit, told_ns, timed_out));
        }
        for (at, _) in open.into_iter().zip(&ready).filter(|(_, is_ready)| **is_ready) {
            pipes[at].read(chunk);
        }
        if !timed_out && told_ns >= until_ns {
            timed_out = true;
            // A group that is gone is what was wanted.
            let _gone = signal_group(group.pgid(), SIGKILL);
        }
    }
}

/// Reads what the pipes of a command that has ended still hold, until their end or for a moment: a process outside the
/// group may keep one open.
fn drain(pipes: &mut [Pipe], chunk: &mut [u8]) -> Result<(), String> {
    let until_ns = clock::now_ns().saturating_add(u64::try_from(DRAIN.as_nanos()).unwrap_or(u64::MAX));
    for pipe in pipes {
        pipe.to = None;
        while let Some(from) = &pipe.from {
            let left = Duration::from_nanos(until_ns.saturating_sub(clock::now_ns()));
            let ready = poll_read(&[from.as_fd()], Some(left)).map_err(|error| error.to_string())?;
            if ready.first() != Some(&true) {
                break;
            }
            pipe.read(chunk);
        }
    }
    Ok(())
}

/// Starts something that inherits the affinity of this thread. Fails when the kernel refuses these CPUs, and when
/// `start` does.
pub(super) fn on<T>(cpus: &[usize], start: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let former = affinity::allowed().map_err(|error| error.to_string())?;
    if former == cpus {
        return start();
    }
    affinity::set_allowed(cpus).map_err(|error| error.to_string())?;
    let started = start();
    affinity::set_allowed(&former).map_err(|error| error.to_string())?;
    started
}

/// A pipe that is being read by a thread of ours.
#[derive(Debug)]
pub(crate) struct Stream {
    tail: Arc<Mutex<Tail>>,
    done: Receiver<()>,
}

impl Stream {
    /// Reads a pipe to its end in a thread, and keeps its last `limit` bytes. Fails when no thread can be started.
    pub(crate) fn read(mut pipe: impl Read + Send + 'static, limit: usize) -> Result<Stream, String> {
        let tail = Arc::new(Mutex::new(Tail::new(limit)));
        let (say_done, done) = channel();
        let shared = Arc::clone(&tail);
        let body = move || {
            let mut chunk = vec![0u8; 64 << 10];
            // A pipe that breaks is a pipe that ended.
            while let Ok(count) = pipe.read(&mut chunk) {
                let Some(more) = chunk.get(..count).filter(|more| !more.is_empty()) else { break };
                shared.lock().unwrap_or_else(PoisonError::into_inner).add(more);
            }
            // Nobody listens any more when a process outside the group kept the pipe open.
            let _nobody_waits = say_done.send(());
        };
        let named = thread::Builder::new().name("cmd-output".to_owned());
        named.spawn(body).map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Stream { tail, done })
    }

    /// Waits for the end of the pipe, a moment at most: for a process that has ended.
    pub(crate) fn drain(&self) {
        // Both outcomes leave what there is to read.
        let _ended_or_late = self.done.recv_timeout(DRAIN);
    }

    pub(crate) fn so_far(&self) -> Tail {
        let mut tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tail.cut();
        tail
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_is_the_end() {
        let mut tail = Tail::new(10);
        for _ in 0..100 {
            tail.add(b"abc\n");
        }
        tail.add(b"x\n\n end \n");
        tail.cut();
        assert_eq!(tail.bytes.len(), 10);
        assert_eq!(tail.dropped(), 400 + 9 - 10);
        assert_eq!(tail.last_lines(2), "x | end");
        assert_eq!(Tail::new(10).last_lines(3), "");
        let mut broken = Tail::new(1000);
        broken.add(b"\nerror: no default is configured.\nStack backtrace:\n  0: main\nerror: 2\n");
        assert_eq!(broken.cause().as_deref(), Some("error: no default is configured."));
        assert_eq!(tail.cause(), None);
    }
}
