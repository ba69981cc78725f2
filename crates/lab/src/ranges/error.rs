//! Why an expression cannot be read, with the column and a way out.

use std::fmt;

/// The most names that an expression may give, at any point of its reading.
pub const MOST: usize = 65_536;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RangeError {
    /// From 1 on, in characters.
    pub column: usize,
    pub what: String,
    /// The way out.
    pub hint: String,
}

impl RangeError {
    pub fn new(column: usize, what: impl Into<String>, hint: impl Into<String>) -> RangeError {
        RangeError { column, what: what.into(), hint: hint.into() }
    }

    /// More names than are allowed.
    pub fn too_many(column: usize) -> RangeError {
        RangeError::new(column, format!("more than {MOST} names"), "name fewer at once")
    }
}

impl fmt::Display for RangeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "column {}: {}", self.column, self.what)
    }
}

impl std::error::Error for RangeError {}
