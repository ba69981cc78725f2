//! Process groups that never outlive this program, not even a `kill -9` of it.
//!
//! Each group that is started here is told to a guard: a child in a group of its own that holds the read end of a
//! pipe. When the pipe closes, because this program ended in whatever way, the guard kills every group it was told of
//! and not told to forget. It does not reach processes that left their group (`setsid`).

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use sys::process::{Exit, Group, Start, signal_group};

/// The same number on every Linux.
const SIGKILL: i32 = 9;

static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
static BOOK: Mutex<Book> = Mutex::new(Book { groups: BTreeSet::new(), guard: None });

/// The groups under way, and the guard that knows of them.
#[derive(Debug)]
struct Book {
    groups: BTreeSet<i32>,
    guard: Option<(Group, ChildStdin)>,
}

/// Names the program that acts as the guard when its only argument is `guard`: it must call [`serve`] with its stdin.
/// The first call counts.
pub fn set_program(program: impl Into<PathBuf>) {
    // A second call finds the first one's choice, as it says above.
    let _first_stays = PROGRAM.set(program.into());
}

/// Whether groups can be started here, else why not.
pub fn available() -> Result<(), String> {
    match PROGRAM.get() {
        Some(_) => Ok(()),
        None => Err("this program has no guard that would end what it starts".to_owned()),
    }
}

/// That program: it also acts as other children of ours.
pub(crate) fn program() -> Option<&'static PathBuf> {
    PROGRAM.get()
}

/// The guard's whole life: reads `+PGID` and `-PGID` lines until the pipe closes, then kills what is left.
pub fn serve(input: impl Read) {
    let mut groups = BTreeSet::new();
    for line in BufReader::new(input).split(b'\n') {
        // A pipe that breaks is a pipe that closed.
        let Ok(line) = line else { break };
        note(&mut groups, &line);
    }
    kill(&groups);
}

fn note(groups: &mut BTreeSet<i32>, line: &[u8]) {
    let text = String::from_utf8_lossy(line);
    let number = |digits: &str| digits.parse::<i32>().ok().filter(|pgid| *pgid > 1);
    if let Some(pgid) = text.strip_prefix('+').and_then(number) {
        groups.insert(pgid);
    } else if let Some(pgid) = text.strip_prefix('-').and_then(number) {
        groups.remove(&pgid);
    }
}

fn kill(groups: &BTreeSet<i32>) {
    for pgid in groups {
        // A group that is gone is what was wanted, and there is nobody to tell of another failure.
        let _gone = signal_group(*pgid, SIGKILL);
    }
}

fn book() -> MutexGuard<'static, Book> {
    BOOK.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Book {
    /// Tells the guard; starts one if there is none or it has died.
    fn tell(&mut self, line: &str) -> Result<(), String> {
        let told = |pipe: &mut ChildStdin, text: &str| pipe.write_all(text.as_bytes());
        if let Some((group, pipe)) = &mut self.guard
            && matches!(group.try_wait(), Ok(None))
            && told(pipe, line).is_ok()
        {
            return Ok(());
        }
        let program = PROGRAM.get().ok_or("no guard program is set")?;
        let mut command = Command::new(program);
        command.arg("guard").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut group = Group::spawn(command, Start::default()).map_err(|error| error.to_string())?;
        let mut pipe = group.child.stdin.take().ok_or("the guard has no stdin")?;
        let known: String = self.groups.iter().map(|pgid| format!("+{pgid}\n")).collect();
        told(&mut pipe, &format!("{known}{line}")).map_err(|error| format!("the guard died: {error}"))?;
        self.guard = Some((group, pipe));
        Ok(())
    }

    fn add(&mut self, pgid: i32) -> Result<(), String> {
        self.tell(&format!("+{pgid}\n"))?;
        self.groups.insert(pgid);
        Ok(())
    }

    fn remove(&mut self, pgid: i32) {
        if self.groups.remove(&pgid) {
            // Without its guard the next start makes a new one, which hears of living groups only.
            let _told = self.tell(&format!("-{pgid}\n"));
        }
    }
}

/// A child that leads a process group which dies with this program. Dropping it kills the group.
#[derive(Debug)]
pub struct Guarded {
    group: Group,
}

impl Guarded {
    /// Starts `command`. Its leader also dies with the calling thread, which covers the moment before the guard knows.
    pub fn spawn(command: Command, start: Start) -> Result<Guarded, String> {
        available()?;
        let mut book = book();
        // The guard must run before there is something to guard.
        book.tell("")?;
        let start = Start { die_with_parent: true, ..start };
        let group = Group::spawn(command, start).map_err(|error| error.to_string())?;
        book.add(group.pgid())?;
        Ok(Guarded { group })
    }

    #[must_use]
    pub fn pgid(&self) -> i32 {
        self.group.pgid()
    }

    /// The leader, to take its pipes.
    pub fn child(&mut self) -> &mut std::process::Child {
        &mut self.group.child
    }

    /// Waits for the leader to end.
    pub fn wait(&mut self) -> Result<Exit, String> {
        self.group.wait().map_err(|error| error.to_string())
    }

    /// Whether the leader has ended by now.
    pub fn try_wait(&mut self) -> Result<Option<Exit>, String> {
        self.group.try_wait().map_err(|error| error.to_string())
    }

    /// Sends `signal` to every process of the group; `false` if none is left.
    pub fn signal(&self, signal: i32) -> Result<bool, String> {
        self.group.signal(signal).map_err(|error| error.to_string())
    }

    /// Kills what is left of the group: processes that the leader left behind.
    pub fn end(&mut self) {
        let mut book = book();
        if book.groups.contains(&self.group.pgid()) {
            kill(&BTreeSet::from([self.group.pgid()]));
            book.remove(self.group.pgid());
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.end();
    }
}

/// Kills every group that was started here: for a program that is about to end in the middle of its work.
pub fn end_all() {
    let mut book = book();
    kill(&book.groups);
    book.groups.clear();
    // Closing the pipe ends the guard, which kills them once more.
    drop(book.guard.take().map(|(group, pipe)| {
        drop(pipe);
        group
    }));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hears_only_what_makes_sense() {
        let mut groups = BTreeSet::new();
        for line in [&b"+12"[..], b"+13", b"-12", b"+1", b"+0", b"+-5", b"x", b"", b"+99999999999", b"\xff+7"]
        {
            note(&mut groups, line);
        }
        assert_eq!(groups, BTreeSet::from([13]));
    }

    #[test]
    fn nothing_starts_without_a_guard() {
        if PROGRAM.get().is_none() {
            let why = Guarded::spawn(Command::new("/bin/true"), Start::default()).unwrap_err();
            assert!(why.contains("guard"), "{why}");
        }
    }
}
