//! The commands of a run, and how far the layout of their memory moves them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command of the user's as one arm has it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CommandDoc {
    /// Name of the arm; empty in a run of one command.
    pub arm: String,
    /// The command with its placeholders filled.
    pub run: String,
    pub dir: Option<String>,
    /// Standard deviation of its wall time between sittings beyond that of takes, as a share: each sitting has an
    /// environment of another size, and with `relinked` another order of object files. 0 where takes explain all of
    /// it; null with fewer than 3 sittings of 2 takes.
    pub layout: Option<f64>,
    /// Each sitting built it anew, with its object files linked in another order.
    pub relinked: bool,
    /// Standard deviation of its takes within a sitting, as a share.
    pub takes: Option<f64>,
}
