//! A tool of the system, run to its end: what it is told on stdin, its output, its exit code, and a limit.

use std::fs::File;
use std::io::{ErrorKind, PipeReader, Read, Seek, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use sys::process::{Exit, Interest, ProcessGroup, Start};

use crate::stop::{Cut, Limit};

/// Bytes of each stream that are kept.
const MOST: usize = 4 << 20;

/// Bytes that a pipe takes without a reader, on every kernel.
const MOST_INPUT: usize = 4096;

/// How often a tool that has closed its streams is looked for.
const LOOK: Duration = Duration::from_millis(5);

/// A tool that has ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
}

/// Why a tool gave no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoResult {
    NotStarted(String),
    Cut(Cut),
}

/// Runs a tool, which reads `input` on its stdin. It is killed where the limit is reached or the user stops.
pub(crate) fn run(command: Command, input: &[u8], limit: Limit<'_>) -> Result<Ended, NoResult> {
    let input = filled(input).map_err(|error| NoResult::NotStarted(error.to_string()))?;
    run_from(command, input.into(), limit)
}

/// The same with a stdin of any length.
pub(crate) fn run_from(mut command: Command, input: Stdio, limit: Limit<'_>) -> Result<Ended, NoResult> {
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = ProcessGroup::spawn(command, Start::default())
        .map_err(|error| NoResult::NotStarted(error.to_string()))?;
    let mut streams = [
        Stream::new(child.child.stdout.take().map(OwnedFd::from)),
        Stream::new(child.child.stderr.take().map(OwnedFd::from)),
    ];
    while streams.iter().any(|stream| stream.pipe.is_some()) {
        let open: Vec<usize> = (0..streams.len()).filter(|place| streams[*place].pipe.is_some()).collect();
        let interests: Vec<Interest<'_>> =
            streams.iter().filter_map(|stream| Some(Interest::Read(stream.pipe.as_ref()?.as_fd()))).collect();
        let ready = limit.wait(&interests).map_err(NoResult::Cut)?;
        for (place, _) in open.iter().zip(&ready).filter(|(_, one)| one.readable || one.closed) {
            streams[*place].read();
        }
    }
    let exit = end_of(&mut child, limit)?;
    let [stdout, stderr] = streams.map(|stream| String::from_utf8_lossy(&stream.bytes).into_owned());
    Ok(Ended { status: exit.status, stdout, stderr })
}

/// A pipe that holds the input and then ends.
fn filled(input: &[u8]) -> std::io::Result<PipeReader> {
    if input.len() > MOST_INPUT {
        return Err(std::io::Error::new(ErrorKind::InvalidInput, "the input is too long"));
    }
    let (reader, mut writer) = std::io::pipe()?;
    writer.write_all(input)?;
    Ok(reader)
}

/// A file without a name that holds these bytes, read from its start.
pub(crate) fn in_memory(bytes: &[u8]) -> std::io::Result<File> {
    let made = rustix::fs::memfd_create(c"boxscore", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = File::from(made);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

fn end_of(child: &mut ProcessGroup, limit: Limit<'_>) -> Result<Exit, NoResult> {
    loop {
        let failed = |error: sys::Error| NoResult::Cut(Cut::Failed(error.to_string()));
        if let Some(exit) = child.try_wait().map_err(failed)? {
            return Ok(exit);
        }
        limit.pause(LOOK).map_err(NoResult::Cut)?;
    }
}

struct Stream {
    /// Closed once it has ended.
    pipe: Option<File>,
    bytes: Vec<u8>,
}

impl Stream {
    fn new(pipe: Option<OwnedFd>) -> Stream {
        Stream { pipe: pipe.map(File::from), bytes: Vec::new() }
    }

    fn read(&mut self) {
        let Some(pipe) = &mut self.pipe else { return };
        let mut chunk = [0; 8192];
        match pipe.read(&mut chunk) {
            Ok(count) if count > 0 => {
                let kept = count.min(MOST.saturating_sub(self.bytes.len()));
                self.bytes.extend_from_slice(&chunk[..kept]);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => self.pipe = None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stop::Stop;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_tool_is_told_heard_to_its_end_and_killed_at_its_limit() {
        let stop = Stop::new().unwrap();
        let all = Limit::from_now(&stop, None);
        let ended = run(shell("cat; echo err >&2; exit 3"), b"in\n", all).unwrap();
        let said = (ended.status.code(), ended.stdout.as_str(), ended.stderr.as_str());
        assert_eq!(said, (Some(3), "in\n", "err\n"));
        assert!(run(shell("true"), b"not read", all).unwrap().status.success());
        for script in ["sleep 1000", "exec >&- 2>&-; sleep 1000"] {
            let short = Limit::from_now(&stop, Some(Duration::from_millis(30)));
            assert_eq!(run(shell(script), b"", short).unwrap_err(), NoResult::Cut(Cut::TimedOut), "{script}");
        }
        assert!(matches!(run(Command::new("/no/such"), b"", all), Err(NoResult::NotStarted(_))));
        assert!(matches!(run(shell("true"), &[b'x'; MOST_INPUT + 1], all), Err(NoResult::NotStarted(_))));
        stop.request();
        assert_eq!(run(shell("sleep 1000"), b"", all).unwrap_err(), NoResult::Cut(Cut::Interrupted));
    }
}
