//! The logs that are to be read, and how.

use std::io::Read;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use super::source::Source;
use super::tally::Wants;
use crate::aggregate::Settings;
use crate::format::Format;

/// One log.
pub struct Input {
    /// The group of servers it belongs to.
    pub label: String,
    /// Its name in faults and samples.
    pub name: String,
    pub source: Source,
    pub format: Arc<Format>,
    /// The lines that begin in this part of a plain file are read, or all. A stream begins where the part does (where
    /// its first key says, if it has keys), and is read to its end.
    pub part: Option<Range<u64>>,
}

impl Input {
    /// A file, by its path.
    pub fn file(label: &str, path: PathBuf, format: Arc<Format>) -> Input {
        Input {
            label: label.to_owned(),
            name: path.display().to_string(),
            source: Source::File(path),
            format,
            part: None,
        }
    }

    /// A stream, such as standard input.
    pub fn stream(label: &str, name: &str, stream: Box<dyn Read + Send>, format: Arc<Format>) -> Input {
        let source = Source::Stream(stream);
        Input { label: label.to_owned(), name: name.to_owned(), source, format, part: None }
    }
}

/// How the logs are read.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub settings: Settings,
    /// At least one is taken.
    pub threads: usize,
    /// Stop at the first line that cannot be read.
    pub strict: bool,
    /// Bytes of the pieces of a plain file; none: 32 MiB, fewer towards its end.
    pub piece: Option<u64>,
    /// The optional results.
    pub wants: Wants,
}

/// Something about an input that kept some or all of it from being read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    pub file: String,
    pub what: String,
}
