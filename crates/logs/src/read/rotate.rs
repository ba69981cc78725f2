//! A log by its name: the file that is there, the next one when it is rotated, and one that appears later.
//!
//! When the name stands for another file, the old one is read on for some calls, since a server writes to it until it
//! was told; then its last line counts, ended or not. Truncation in place is `follow`'s. At most four old files are
//! held. Not seen: a file that came and went between two calls.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::follow::{Follower, Target};
use super::source::{self, Packed};
use crate::format::Format;

/// Calls without anything new after which an old file is left.
const IDLE: u32 = 40;
const MOST_OLD: usize = 4;
/// Calls until an old file that still grows, and fast, is left all the same.
const MOST_CALLS: u32 = 10_000;

/// A change of the file behind a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The file appeared.
    Appeared,
    /// The name stands for another file.
    Rotated,
    /// The file was truncated or written anew in place.
    Truncated,
    /// No file is there any more.
    Gone,
}

/// Result of one look at the name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    pub bytes: u64,
    pub more: bool,
    pub events: Vec<Event>,
}

/// A log by its name.
pub struct Named {
    name: String,
    path: PathBuf,
    format: Option<Arc<Format>>,
    current: Option<Follower>,
    /// Files that had the name, with the calls since they grew.
    old: Vec<(Follower, u32)>,
    was_there: bool,
    looked: bool,
}

impl Named {
    /// Nothing is opened yet; without a format nothing is read until there is one.
    pub fn new(name: &str, path: PathBuf, format: Option<Arc<Format>>) -> Named {
        let name = name.to_owned();
        Named { name, path, format, current: None, old: Vec::new(), was_there: false, looked: false }
    }

    /// The first whole lines, to tell a format from; none where one is known or nothing is there yet. Fails if the file
    /// cannot be read.
    pub fn wants_format(&self) -> Result<Option<Vec<Vec<u8>>>, String> {
        if self.format.is_some() || !self.path.exists() {
            return Ok(None);
        }
        let (mut file, _, packed) = source::open(&self.path)?;
        plain(packed)?;
        let mut start = Vec::new();
        let read = (&mut file).take(source::HEAD_BYTES as u64).read_to_end(&mut start);
        read.map_err(|error| error.to_string())?;
        let lines = source::whole_lines(&start, false);
        Ok((!lines.is_empty()).then_some(lines))
    }

    /// True if a file was ever opened.
    pub fn is_open(&self) -> bool {
        self.current.is_some()
    }

    pub fn set_format(&mut self, format: Arc<Format>) {
        self.format = Some(format);
    }

    /// Reads what is new in the file of this name, and in those that had it. Fails if a file cannot be read, or is
    /// packed.
    pub fn poll(&mut self, into: &mut Target<'_>) -> Result<Step, String> {
        let mut step = Step::default();
        let Some(format) = self.format.clone() else {
            self.looked |= !self.path.exists();
            return Ok(step);
        };
        self.poll_old(into)?;
        let there = match std::fs::metadata(&self.path) {
            Ok(about) => Some(about),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error.to_string()),
        };
        self.settle(there, format, into, &mut step)?;
        if let Some(follower) = &mut self.current {
            let grown = follower.poll(into).map_err(|error| error.to_string())?;
            (step.bytes, step.more) = (grown.bytes, grown.more);
            step.events.extend(grown.truncated.then_some(Event::Truncated));
        }
        self.looked = true;
        Ok(step)
    }

    /// Opens what the name stands for now, where that is another file.
    fn settle(
        &mut self,
        there: Option<Metadata>,
        format: Arc<Format>,
        into: &mut Target<'_>,
        step: &mut Step,
    ) -> Result<(), String> {
        let Some(there) = there else {
            if std::mem::take(&mut self.was_there) {
                step.events.push(Event::Gone);
            }
            return Ok(());
        };
        self.was_there = true;
        if let Some(current) = &self.current {
            let mine = current.file().metadata().map_err(|error| error.to_string())?;
            if same(&mine, &there) {
                return Ok(());
            }
        }
        let (file, _, packed) = source::open(&self.path)?;
        plain(packed)?;
        let new = Follower::new(&self.name, file, format);
        match self.current.replace(new) {
            Some(old) => {
                self.old.push((old, 0));
                step.events.push(Event::Rotated);
                if self.old.len() > MOST_OLD {
                    let (mut oldest, _) = self.old.remove(0);
                    ended(&mut oldest, into)?;
                }
            }
            None if self.looked => step.events.push(Event::Appeared),
            None => {}
        }
        Ok(())
    }

    fn poll_old(&mut self, into: &mut Target<'_>) -> Result<(), String> {
        for (old, idle) in &mut self.old {
            let grown = old.poll(into).map_err(|error| error.to_string())?;
            *idle = if grown.bytes > 0 { 0 } else { *idle + 1 };
            if *idle >= IDLE {
                old.finish(into);
            }
        }
        self.old.retain(|(_, idle)| *idle < IDLE);
        Ok(())
    }

    /// No more calls: the old files are read to their ends. Says how many bytes of a line without an end are left over.
    pub fn end(mut self, into: &mut Target<'_>) -> Result<u64, String> {
        for (old, _) in &mut self.old {
            ended(old, into)?;
        }
        Ok(self.current.as_ref().map_or(0, Follower::pending))
    }
}

/// Everything that is there, and the last line whether ended or not.
fn ended(follower: &mut Follower, into: &mut Target<'_>) -> Result<(), String> {
    for _ in 0..MOST_CALLS {
        if !follower.poll(into).map_err(|error| error.to_string())?.more {
            break;
        }
    }
    follower.finish(into);
    Ok(())
}

fn same(one: &Metadata, other: &Metadata) -> bool {
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Refuses a packed file, which does not grow by lines.
fn plain(packed: Packed) -> Result<(), String> {
    let kind = match packed {
        Packed::Plain => return Ok(()),
        Packed::Gzip => "gzip",
        Packed::Zstd => "zstd",
    };
    Err(format!(
        "{kind}: a packed log does not grow line by line, so it cannot be followed; read it without --follow"
    ))
}

/// Opens a file to see whether it can be followed; one that is not there yet can. Fails if it is packed or may not be
/// read.
pub fn check(path: &std::path::Path) -> Result<Option<File>, String> {
    if !path.exists() {
        return Ok(None);
    }
    let (file, _, packed) = source::open(path)?;
    plain(packed)?;
    Ok(Some(file))
}
