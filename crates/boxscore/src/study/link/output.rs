//! Keeps what a child writes beside its frames, for the message when it is lost: the first line of a stdout without
//! frames, the last lines of its stderr, how it ended, and what the user may do.
//!
//! Lines are made printable and cut. A flood is read slowly. Nothing is shown while the child works.

use std::io::{ErrorKind, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use harness::conductor::Parting;

/// Lines of stderr that are kept.
const LAST_LINES: usize = 5;

/// Bytes that are kept of a line, and of a stdout that begins without a frame.
const LINE: usize = 400;

/// Characters of that line that are shown.
const SHOWN: usize = 100;

/// Bytes of stderr that are read at once: little where 1,000 children say little.
const CHUNK: usize = 2 << 10;

/// After this many bytes of stderr a child is read slowly, so that a flood takes no CPU from the takes: with a pause
/// after each read, of more bytes.
const MUCH: usize = 1 << 20;
const MUCH_AT_ONCE: usize = 16 << 10;
const LEISURE: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
pub(super) struct ChildOutput {
    /// True once it has sent a frame.
    speaks: AtomicBool,
    /// True once its stdout has ended, which happens when it ends or is about to.
    is_over: AtomicBool,
    /// The beginning of its stdout, until the first frame.
    stdout: Mutex<Vec<u8>>,
    stderr: Mutex<Vec<String>>,
}

/// Its stdout, of which the beginning is kept.
pub(super) struct RecordedStdout<R> {
    from: R,
    output: Arc<ChildOutput>,
    kept: usize,
}

impl<R> RecordedStdout<R> {
    pub(super) fn new(from: R, output: Arc<ChildOutput>) -> RecordedStdout<R> {
        RecordedStdout { from, output, kept: 0 }
    }
}

impl<R: Read> Read for RecordedStdout<R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.from.read(into)?;
        if count == 0 {
            self.output.is_over.store(true, Ordering::Relaxed);
        }
        if self.kept < LINE {
            let some = &into[..count.min(LINE - self.kept)];
            self.kept += some.len();
            self.output.stdout.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(some);
        }
        Ok(count)
    }
}

impl ChildOutput {
    pub(super) fn speaks(&self) {
        self.speaks.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Reads stderr to its end and keeps the last lines; long lines are cut.
    pub(super) fn listen(&self, mut from: impl Read) {
        let mut chunk = vec![0u8; CHUNK];
        let (mut line, mut length, mut heard) = (Vec::new(), 0usize, 0usize);
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
                    self.keep(&mut line, &mut length);
                }
            }
            heard = heard.saturating_add(count);
            if heard > MUCH {
                chunk.resize(MUCH_AT_ONCE, 0);
                std::thread::sleep(LEISURE);
            }
        }
        self.keep(&mut line, &mut length);
    }

    fn keep(&self, line: &mut Vec<u8>, length: &mut usize) {
        let mut text = printable(line, LINE);
        if *length > line.len() {
            text.push_str(" ... (cut: the line is longer)");
        }
        line.clear();
        *length = 0;
        if text.is_empty() {
            return;
        }
        let mut output = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        output.push(text);
        let surplus = output.len().saturating_sub(LAST_LINES);
        output.drain(..surplus);
    }

    /// The first line of a stdout without frames.
    fn on_stdout(&self) -> Option<String> {
        let stdout = self.stdout.lock().unwrap_or_else(PoisonError::into_inner);
        let mut lines = stdout.split(|byte| *byte == b'\n');
        lines.find(|line| !line.trim_ascii().is_empty()).map(|line| printable(line, SHOWN))
    }

    /// How the child ended; `command` is the user's command that started it.
    pub(super) fn parting(&self, status: Option<ExitStatus>, command: Option<&str>) -> Parting {
        let speaks = self.speaks.load(Ordering::Relaxed);
        let stdout = if speaks { None } else { self.on_stdout() };
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner).join(" | ");
        let hint = command.filter(|_| !speaks).map(|command| hint(command, stdout.is_some(), status));
        let parts = [
            stdout.map(|line| format!("its stdout began with: {line}")),
            Some(stderr).filter(|lines| !lines.is_empty()).map(|lines| format!("it said: {lines}")),
            status.map(how_it_ended),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        Parting { how: (!parts.is_empty()).then(|| parts.join("; ")), hint }
    }
}

/// Advice for a command that started no child of ours.
fn hint(command: &str, printed: bool, status: Option<ExitStatus>) -> String {
    let command = printable(command.as_bytes(), LINE);
    let code = status.and_then(|status| status.code());
    let remedy = match (printed, code) {
        (true, _) => {
            "what it starts must be boxscore, of this version, and nothing may print before it (a greeting in a \
             shell's start file)"
        }
        (false, Some(127)) => "give the path that boxscore has there; copy this binary there if it has none",
        (false, Some(126)) => "what it names must be boxscore, executable (chmod +x) and for that processor",
        (false, Some(255)) => "if that is ssh's own code: it must reach the host and log in without asking",
        (false, None) if status.is_none() => "it runs and says nothing: it may wait for a password",
        _ => "what it starts must be boxscore, which then waits to be spoken to",
    };
    format!(
        "{remedy}; try `{command} --version`, which must print just the line that `boxscore --version` does"
    )
}

/// The exit status in words; a shell has codes of its own for a command that it could not start.
fn how_it_ended(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(127), _) => "exit code 127: the command was not found".to_owned(),
        (Some(126), _) => "exit code 126: the command could not be executed".to_owned(),
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(9)) => "killed by signal 9 (KILL: by somebody, or for lack of memory)".to_owned(),
        (None, Some(signal)) => format!("killed by signal {signal}"),
        (None, None) => "it ended".to_owned(),
    }
}

/// Bytes as one line without control characters, of at most `most` characters.
fn printable(bytes: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim();
    let shown: String = text.chars().take(most).flat_map(plain).collect();
    if text.chars().nth(most).is_some() { shown + "..." } else { shown }
}

fn plain(letter: char) -> impl Iterator<Item = char> {
    let escaped = letter.is_control().then(|| letter.escape_default());
    let itself = escaped.is_none().then_some(letter);
    escaped.into_iter().flatten().chain(itself)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_the_last_are_kept() {
        let output = ChildOutput::default();
        let text: String = (0..9).map(|n| format!("line {n}\n")).collect();
        output.listen(text.as_bytes());
        assert_eq!(*output.stderr.lock().unwrap(), ["line 4", "line 5", "line 6", "line 7", "line 8"]);
        let endless = std::io::repeat(b'x').take(300_000).chain(&b"\nthe end"[..]);
        output.listen(endless);
        let lines = output.stderr.into_inner().unwrap();
        assert_eq!(lines.len(), LAST_LINES);
        assert_eq!(lines[3], format!("{} ... (cut: the line is longer)", "x".repeat(LINE)));
        assert_eq!(lines[4], "the end");
    }

    fn heard(stdout: &[u8], stderr: &[u8]) -> ChildOutput {
        let output = Arc::new(ChildOutput::default());
        let mut overheard = RecordedStdout::new(stdout, Arc::clone(&output));
        std::io::copy(&mut overheard, &mut std::io::sink()).unwrap();
        drop(overheard);
        output.listen(stderr);
        Arc::into_inner(output).unwrap()
    }

    fn exit(code: i32) -> Option<ExitStatus> {
        Some(ExitStatus::from_raw(code << 8))
    }

    #[test]
    fn what_a_command_said_is_told_in_a_form_that_changes_no_terminal() {
        let output = heard(b"\n \x1b[31mWelcome\x07 \xff\r\nmore\n", b"\x1b]0;title\n\n");
        let parting = output.parting(exit(0), Some("motd\t; x"));
        let says =
            "its stdout began with: \\u{1b}[31mWelcome\\u{7} \u{fffd}; it said: \\u{1b}]0;title; exit code 0";
        assert_eq!(parting.how.as_deref(), Some(says));
        let hint = parting.hint.unwrap();
        assert!(hint.starts_with("what it starts must be boxscore, of this version"), "{hint}");
        assert!(hint.contains("try `motd\\t; x --version`"), "{hint}");
        let long = heard("ä".repeat(300).as_bytes(), b"").parting(None, None);
        assert_eq!(long.how, Some(format!("its stdout began with: {}...", "ä".repeat(SHOWN))));
        assert_eq!(long.hint, None, "this program itself is not the user's to try");
    }

    #[test]
    fn each_end_has_its_remedy_and_who_spoke_frames_needs_none() {
        for (status, says) in [
            (exit(127), "give the path that boxscore has there"),
            (exit(126), "executable (chmod +x)"),
            (exit(255), "log in without asking"),
            (exit(1), "which then waits to be spoken to"),
            (Some(ExitStatus::from_raw(9)), "which then waits to be spoken to"),
            (None, "it may wait for a password"),
        ] {
            let parting = heard(b"", b"").parting(status, Some("ssh box"));
            assert!(parting.hint.as_ref().is_some_and(|hint| hint.contains(says)), "{parting:?}");
        }
        let output = heard(b"\x05\0\0\0abcde", b"last\n");
        output.speaks();
        let parting = output.parting(exit(2), Some("ssh box"));
        assert_eq!((parting.how.as_deref(), parting.hint), (Some("it said: last; exit code 2"), None));
    }
}
