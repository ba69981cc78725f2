//! The commands of a run: how far the layout of their memory moves them, and what they take without their shell.

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
    /// Its wall time without the start of its shell or container; null where none was started.
    pub without_shell: Option<WithoutShellDoc>,
}

/// Wall time of a command, each take less what an empty command took in its sitting. The readings of `wall` are as
/// measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WithoutShellDoc {
    /// Seconds that an empty command takes: the median of the sittings.
    pub shell: f64,
    /// Seconds: the median of the takes. Null where that is no longer than the start of the shell is uncertain.
    pub seconds: Option<f64>,
    /// Ends of the 95 % interval of `seconds`, in which the uncertainty of the shell's start is contained. Null with
    /// few takes.
    pub low: Option<f64>,
    pub high: Option<f64>,
    /// Why `seconds` is null.
    pub why: Option<String>,
}
