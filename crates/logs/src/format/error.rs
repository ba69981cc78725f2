//! The error of a format string, with its place.

use std::fmt;

/// A format string that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct FormatError {
    /// The column (from 1, in characters) of what is wrong.
    pub column: usize,
    pub what: String,
}

impl fmt::Display for FormatError {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.column {
            0 => write!(to, "{}", self.what),
            column => write!(to, "column {column}: {}", self.what),
        }
    }
}

impl FormatError {
    pub(super) fn new(text: &str, byte: usize, what: impl Into<String>) -> FormatError {
        let before = text.get(..byte).map_or(byte, |before| before.chars().count());
        FormatError { column: before + 1, what: what.into() }
    }

    /// One that has no place.
    pub(super) fn whole(what: impl Into<String>) -> FormatError {
        FormatError { column: 0, what: what.into() }
    }
}
