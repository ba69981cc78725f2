//! Document of `boxscore store copy`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The changes of a copy from one store to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StoreCopyDoc {
    pub schema: String,
    /// The store that was read, without its password.
    pub from: String,
    /// The store that was written, without its password.
    pub to: String,
    /// Runs that are new in it.
    pub copied: u64,
    /// Runs that were in it and got takes or notes.
    pub completed: u64,
    /// Runs that were in it with all that they have.
    pub unchanged: u64,
    /// Takes that are new in it.
    pub takes: u64,
    /// Runs that were not copied.
    pub left_out: Vec<NotCopiedDoc>,
}

/// A run that was not copied.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotCopiedDoc {
    pub run: String,
    /// Kind of the error: `run-busy` while a process writes it, `run-differs` where its content is another one there.
    pub kind: String,
    pub why: String,
}
