//! A log that grows: each call reads what was appended since the one before.
//!
//! The last line is read once its line break is there. A file that became shorter, or whose bytes before the place that
//! was read up to are others, was truncated or written anew, and is read from its start again; that a path names a new
//! file is seen by `rotate`. Not seen: bytes that were written and truncated away between two calls.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::tally::{Tally, Wants};
use super::worker::Adder;
use crate::aggregate::Settings;
use crate::format::Format;
use crate::scan::lines::{Cutter, Run, Took};

/// Where requests are added, and how.
pub struct Target<'a> {
    pub tally: &'a mut Tally,
    pub settings: &'a Settings,
    pub wants: Wants,
}

/// Bytes that a call reads at most, so that its caller can look up between.
const MOST: u64 = 64 << 20;
/// Bytes before the place that was read up to by which the file is known again.
const KNOWN: usize = 64;

/// Result of one look at the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grown {
    pub bytes: u64,
    pub truncated: bool,
    /// More is there already.
    pub more: bool,
}

/// Lines of one file or stream, in the order in which they are written.
pub struct Lines {
    name: String,
    format: Arc<Format>,
    cutter: Cutter,
    /// Lines before the last truncation.
    before: u64,
}

impl Lines {
    pub fn new(name: &str, format: Arc<Format>) -> Lines {
        Lines { name: name.to_owned(), format, cutter: Cutter::new(0, false), before: 0 }
    }

    /// Adds the lines that these bytes end.
    pub fn feed(&mut self, mut bytes: &[u8], into: &mut Target<'_>) {
        while !bytes.is_empty() {
            let room = self.cutter.room();
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            bytes = &bytes[count..];
            self.took(count, into);
        }
    }

    /// Nothing more comes: what stands behind the last line break is a line too.
    pub fn finish(&mut self, into: &mut Target<'_>) {
        self.each(into, |cutter, adder| {
            _ = cutter.finish(&mut |run: Run<'_>| all(adder, run));
        });
    }

    /// Bytes of a line whose end is not there yet.
    pub fn pending(&self) -> u64 {
        self.cutter.pending()
    }

    fn took(&mut self, count: usize, into: &mut Target<'_>) {
        self.each(into, |cutter, adder| {
            _ = cutter.took(count, &mut |run: Run<'_>| all(adder, run));
        });
    }

    fn each(&mut self, into: &mut Target<'_>, act: impl FnOnce(&mut Cutter, &mut Adder<'_>)) {
        let mut adder = Adder::new(&self.format, into.tally, into.settings, into.wants);
        act(&mut self.cutter, &mut adder);
        let (_, skips) = adder.done();
        if skips.total() > 0 {
            into.tally.whole.aggregate.add_skips(&skips.settle(&self.name, self.before));
        }
    }

    /// The file begins anew.
    fn restart(&mut self, into: &mut Target<'_>) {
        self.finish(into);
        self.before += self.cutter.lines();
        self.cutter = Cutter::new(0, false);
    }
}

/// Nothing stops it.
fn all(adder: &mut Adder<'_>, run: Run<'_>) -> Took {
    adder.run(run, u64::MAX, || ControlFlow::Continue(()))
}

/// One growing file.
pub struct Follower {
    lines: Lines,
    file: File,
    /// The last bytes that were read.
    known: Vec<u8>,
}

impl Follower {
    /// From the start of the file.
    pub fn new(name: &str, file: File, format: Arc<Format>) -> Follower {
        Follower { lines: Lines::new(name, format), file, known: Vec::new() }
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Reads what is new, up to 64 MiB of it. Fails if the file cannot be read.
    pub fn poll(&mut self, into: &mut Target<'_>) -> io::Result<Grown> {
        let mut grown = Grown::default();
        if self.was_cut()? {
            self.lines.restart(into);
            self.known.clear();
            grown.truncated = true;
        }
        while grown.bytes < MOST {
            let at = self.lines.cutter.position();
            let room = self.lines.cutter.room();
            let count = match self.file.read_at(room, at) {
                Ok(0) => return Ok(grown),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.known.extend_from_slice(&room[count.saturating_sub(KNOWN)..count]);
            self.known.drain(..self.known.len().saturating_sub(KNOWN));
            grown.bytes += count as u64;
            self.lines.took(count, into);
        }
        grown.more = true;
        Ok(grown)
    }

    /// True if the file is shorter than before, or its beginning has changed.
    fn was_cut(&self) -> io::Result<bool> {
        let at = self.lines.cutter.position();
        if self.file.metadata()?.len() < at {
            return Ok(true);
        }
        let mut now = vec![0; self.known.len()];
        match self.file.read_exact_at(&mut now, at.saturating_sub(self.known.len() as u64)) {
            Ok(()) => Ok(now != self.known),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Nothing more comes.
    pub fn finish(&mut self, into: &mut Target<'_>) {
        self.lines.finish(into);
    }

    /// Bytes of a line whose end is not there yet.
    pub fn pending(&self) -> u64 {
        self.lines.pending()
    }
}
