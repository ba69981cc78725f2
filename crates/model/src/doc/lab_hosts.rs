//! Documents of commands on many hosts and of copies to and from them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `boxscore lab run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabRunDoc {
    pub schema: String,
    /// The command, as the shells of the hosts read it.
    pub command: String,
    /// In the order in which they were named.
    pub hosts: Vec<LabHostDoc>,
    /// Outputs that were the same, together; the most frequent first.
    pub stdout: Vec<LabTextDoc>,
    pub stderr: Vec<LabTextDoc>,
    /// Hosts by how their command ended.
    pub exits: Vec<LabExitDoc>,
    /// True if the user stopped before all hosts had answered.
    pub interrupted: bool,
}

impl LabRunDoc {
    /// True if the command ended with 0 on every host.
    pub fn is_ok(&self) -> bool {
        self.hosts.iter().all(|host| host.ok)
    }
}

/// One host of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabHostDoc {
    pub host: String,
    /// True if the command ended with 0.
    pub ok: bool,
    /// The exit code of the command; null where there is none.
    pub exit: Option<u32>,
    /// The kind of the failure, where the command has no exit code: `refused`, `host-key-changed`, `timeout`, `signal`
    /// ...
    pub failure: Option<String>,
    /// Why there is no exit code, in words.
    pub why: Option<String>,
    /// Its output; bytes that are no UTF-8 are replaced.
    pub stdout: String,
    pub stderr: String,
    /// Bytes of both that are left out, behind the first MiB of each.
    pub cut: u64,
    /// Output of its shell before the command.
    pub greeting: Option<String>,
    /// False if the mark before the output did not come: a forced command or a shell of another kind answered.
    pub marked: bool,
    /// True if a connection was used that an earlier command had left open.
    pub reused: bool,
    pub seconds: f64,
}

/// One text of several hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabTextDoc {
    pub count: usize,
    /// The hosts in folded form: `atom[001-130]`.
    pub hosts: String,
    pub text: String,
}

/// Hosts whose command ended alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabExitDoc {
    pub count: usize,
    /// The hosts in folded form.
    pub hosts: String,
    /// The exit code; null where there is none.
    pub exit: Option<u32>,
    pub failure: Option<String>,
    pub why: Option<String>,
    pub hint: Option<String>,
}

/// `boxscore lab push` and `boxscore lab pull`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabCopyDoc {
    pub schema: String,
    /// The files: of this side for `push`, of the hosts for `pull`.
    pub files: Vec<String>,
    /// The folder that they go to.
    pub to: String,
    pub hosts: Vec<LabCopiedDoc>,
    /// Failures that were the same, together.
    pub failures: Vec<LabExitDoc>,
    pub interrupted: bool,
}

/// One host of a copy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabCopiedDoc {
    pub host: String,
    /// True if all files are whole at their place.
    pub ok: bool,
    /// How they were held against the originals: `sha256`, or `size` where the host cannot hash; null where one failed.
    pub verified: Option<String>,
    pub failure: Option<String>,
    pub why: Option<String>,
    /// Files that are whole at their place.
    pub files: usize,
    pub bytes: u64,
    /// The files of a tree that were sent (`push --content`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent: Option<LabSentDoc>,
    pub seconds: f64,
}

/// Files of a tree that a host had not got.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LabSentDoc {
    pub files: usize,
    pub bytes: u64,
    /// `rsync` or `tar`; null where nothing was to be sent.
    pub by: Option<String>,
    /// Files there that the tree does not have. They stay.
    pub others: usize,
}
