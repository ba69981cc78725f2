//! One run of a command in a guarded process group: how it ended, what it used, the end of what it said.
//!
//! Time runs from just before the start of `sh` until it has ended; it contains the start of the shell. Output is read
//! meanwhile by two threads of ours, which take CPU time from the command where it has no CPU to spare. What the
//! command leaves in the background is killed when `sh` ends, and its output after that is not read.

use std::io::Read;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use sys::process::{Exit, Start, signal_group};
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
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    run_as_given(command, start, cpus, timeout)
}

/// Runs `command`, whose input and output were chosen, on `cpus` and waits for its end, at most `timeout`. Its error
/// output is read, and its output where it is a pipe. Fails when it cannot be started.
pub fn run_as_given(
    mut command: Command,
    start: Start,
    cpus: &[usize],
    timeout: Duration,
) -> Result<Ended, String> {
    command.stderr(Stdio::piped());
    let start_ns = clock::now_ns();
    let mut group = on(cpus, || Guarded::spawn(command, start))?;
    let stdout = group.child().stdout.take().map(|pipe| Stream::read(pipe, STDOUT_BYTES)).transpose()?;
    let stderr = group.child().stderr.take().ok_or("the command has no stderr")?;
    let stderr = Stream::read(stderr, STDERR_BYTES)?;
    let watchdog = Watchdog::start(group.pgid(), timeout)?;
    let exit = group.wait()?;
    let wall_ns = clock::now_ns().saturating_sub(start_ns);
    let timed_out = watchdog.stop();
    // Of a group that was killed as a whole the last ones may still be on their way out.
    let left_behind = !timed_out && group.is_alive()?;
    group.end();
    let stdout = stdout.map_or_else(Tail::default, Stream::end);
    Ok(Ended { exit, wall_ns, stdout, stderr: stderr.end(), timed_out, left_behind })
}

/// Starts something that inherits the affinity of this thread. Fails when the kernel refuses these CPUs, and when
/// `start` does.
pub(super) fn on<T>(cpus: &[usize], start: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let former = affinity::allowed().map_err(|error| error.to_string())?;
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

    fn end(self) -> Tail {
        self.drain();
        self.so_far()
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

/// Kills a group that runs for too long.
struct Watchdog {
    thread: thread::JoinHandle<()>,
    stop: std::sync::mpsc::Sender<()>,
    fired: Arc<AtomicBool>,
}

impl Watchdog {
    fn start(pgid: i32, timeout: Duration) -> Result<Watchdog, String> {
        let (stop, stopped) = channel::<()>();
        let fired = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&fired);
        let body = move || {
            if stopped.recv_timeout(timeout) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Release);
                // A group that is gone is what was wanted.
                let _gone = signal_group(pgid, SIGKILL);
            }
        };
        let named = thread::Builder::new().name("cmd-timeout".to_owned());
        let thread = named.spawn(body).map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Watchdog { thread, stop, fired })
    }

    /// Ends the watch; true if it had to kill.
    fn stop(self) -> bool {
        drop(self.stop);
        // The thread cannot panic; its flag says what it did.
        let _ended = self.thread.join();
        self.fired.load(Ordering::Acquire)
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
