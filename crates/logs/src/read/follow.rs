//! A log that grows: each call reads what was appended since the one before.
//!
//! The last line is read once its line break is there. A file that became shorter was truncated or rotated in place,
//! and is read from its start again; that a path names a new file is for the caller to see.

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use super::worker::Adder;
use crate::aggregate::{Aggregate, Settings};
use crate::format::Format;
use crate::scan::lines::{Cutter, Run};

/// One growing file.
pub struct Follower {
    name: String,
    file: File,
    format: Arc<Format>,
    cutter: Cutter,
    /// Lines before the last truncation.
    before: u64,
}

/// What a call found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grown {
    pub bytes: u64,
    pub truncated: bool,
}

impl Follower {
    /// From this offset on, which must be the start of a line.
    #[must_use]
    pub fn new(name: &str, file: File, format: Arc<Format>, from: u64) -> Follower {
        Follower { name: name.to_owned(), file, format, cutter: Cutter::new(from, false), before: 0 }
    }

    /// Reads what is new into `aggregate`.
    pub fn poll(&mut self, aggregate: &mut Aggregate, settings: &Settings) -> io::Result<Grown> {
        let mut grown = Grown::default();
        if self.file.metadata()?.len() < self.cutter.position() {
            self.before += self.cutter.lines();
            self.cutter = Cutter::new(0, false);
            grown.truncated = true;
        }
        let mut adder = Adder::new(&self.format, aggregate, settings);
        let mut each = |run: Run<'_>| adder.run(run, u64::MAX, |_| ControlFlow::Continue(()));
        let read = loop {
            let at = self.cutter.position();
            let count = match self.file.read_at(self.cutter.room(), at) {
                Ok(0) => break Ok(grown),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // What was read before is counted all the same.
                Err(error) => break Err(error),
            };
            grown.bytes += count as u64;
            // Nothing stops it.
            _ = self.cutter.took(count, &mut each);
        };
        let (_, skips) = adder.done();
        aggregate.add_skips(&skips.settle(&self.name, self.before));
        read
    }
}
