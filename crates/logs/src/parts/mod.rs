//! Aggregates of parts of logs: what one reader of many makes, to be merged by others, in any order and in any number
//! of steps, into what one reader of everything would have made.
//!
//! A part has a key: a label and a side of a cut. It knows which bytes of which files it is of, so that what is missing
//! or there twice is noticed, and in which format these were read, so that a file that was taken for two formats is
//! refused. `line` writes parts as lines of text, `all` holds many of them, `whole` makes labels of them.

mod all;
mod files;
mod key;
mod line;
mod read;
mod whole;

use serde::{Deserialize, Serialize};

pub use all::Parts;
pub use files::{Files, Read};
pub use key::{Key, Of};
pub use line::LONGEST;
pub use read::LineError;
pub use whole::{FileRead, Whole};

use crate::aggregate::bounded::Merge;
use crate::aggregate::skips::Skips;
use crate::read::tally::Side;

/// Why lines or parts cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PartError {
    #[error("no line of `boxscore logs map`: a key, a tab and an aggregate are expected")]
    Foreign,
    #[error("made by another version (its parts are version {theirs}, these are {ours}): map the logs again")]
    Version { ours: String, theirs: String },
    #[error("damaged: {0}; map the logs again")]
    Damaged(String),
    /// The reason that a mapper or a reducer gave in place of a part.
    #[error("{0}")]
    Failed(String),
    #[error("too large: {0}")]
    TooLarge(String),
    #[error("made with other settings ({theirs}) than the others ({ours}): only equal ones can be merged")]
    Settings { ours: String, theirs: String },
    #[error(
        "{file} was read as {one} and as {other}: give the format to every mapper with --format (`boxscore logs format \
         FILE` prints it)"
    )]
    Formats { file: String, one: String, other: String },
    #[error("{file}: the bytes from {from} to {to} are there twice")]
    Twice { file: String, from: u64, to: u64 },
    #[error(
        "{file}: the bytes from {from} to {to} are missing: the part of the mapper that read them is not there"
    )]
    Missing { file: String, from: u64, to: u64 },
    #[error("made for one label (--one-label), and there are {}: map the logs again without it", .0.join(", "))]
    Labels(Vec<String>),
    #[error("{label}: {what}: some of the output of mappers or reducers is missing, or there twice")]
    Torn { label: String, what: String },
}

/// The settings that parts were made with. Only equal ones merge.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// Properties of groups and conditions, as they were given, each once.
    pub by: Vec<String>,
    pub conditions: Vec<String>,
    /// The moment of a cut, as it was given.
    pub cut: Option<String>,
    /// True if the mix of requests is in it.
    pub mix: bool,
    /// True if all logs are of one label: what labels are compared by is not in it.
    pub one_label: bool,
}

impl std::fmt::Display for Made {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |of: &[String]| if of.is_empty() { "none".to_owned() } else { of.join(", ") };
        write!(to, "groups by: {}; conditions: {}", list(&self.by), list(&self.conditions))?;
        if let Some(cut) = &self.cut {
            write!(to, "; cut at {cut}")?;
        }
        if self.mix {
            to.write_str("; with the mix")?;
        }
        if self.one_label { to.write_str("; for one label") } else { Ok(()) }
    }
}

/// The aggregate of one key over some of the lines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Part {
    pub made: Made,
    /// The place of its label among the others; the lowest of all parts counts.
    pub place: u32,
    /// Of the whole: the files and their lines. The sides of a cut have none.
    pub files: Files,
    /// Without lines that were skipped: those are with their file.
    pub side: Side,
}

impl Part {
    /// Takes in another one of the same key. Fails if they do not go together; this one is then of no use any more.
    pub fn merge(&mut self, other: &Part) -> Result<(), PartError> {
        if self.made != other.made {
            return Err(PartError::Settings { ours: self.made.to_string(), theirs: other.made.to_string() });
        }
        self.place = self.place.min(other.place);
        self.files.merge(&other.files)?;
        self.side.merge(&other.side);
        Ok(())
    }

    /// Fails for numbers that no counting can give.
    fn check(&self, key: &Key) -> Result<(), PartError> {
        let all = &self.side.aggregate;
        let has_own = key.of == Of::Whole || self.files.is_empty();
        if !all.is_sound() || all.skipped() > 0 || !has_own || !self.files.is_sound() {
            return Err(PartError::Damaged(format!("the lines of {key} do not add up")));
        }
        Ok(())
    }
}

/// A line in place of a part, by which the reason comes to whoever reads the parts.
pub fn failure(what: &str) -> String {
    line::failure(what)
}

/// Takes the lines that were skipped out of an aggregate.
pub fn take_skips(side: &mut Side) -> Skips {
    let skips = std::mem::take(&mut side.aggregate.skips);
    side.aggregate.lines = side.aggregate.lines.saturating_sub(skips.total());
    skips
}

#[cfg(test)]
mod tests;
