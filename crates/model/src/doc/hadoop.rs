//! Documents of `boxscore hadoop`: a Hadoop that was fetched, old names, and a configuration in today's names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `boxscore hadoop fetch`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HadoopFetchDoc {
    pub schema: String,
    pub version: String,
    /// The folder that it is in; its jars are in `lib`.
    pub folder: String,
    pub jars: u64,
    pub bytes: u64,
    /// False if it was there already; it was verified all the same.
    pub fetched: bool,
    pub seconds: f64,
    /// The Java that runs it.
    pub java: HadoopJavaDoc,
}

/// A Java runtime.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HadoopJavaDoc {
    /// 8, 11, 17.
    pub version: u32,
    pub home: String,
}

crate::words! {
    /// The kind of thing that has a name.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum HadoopKind as word {
        Program = "program",
        File = "file",
        Command = "command",
        Port = "port",
        /// Of the environment.
        Variable = "variable",
        Property = "property",
    }
}

crate::words! {
    /// Where a name of earlier versions went.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum HadoopFate as word {
        /// It has the same name.
        Same = "same",
        /// It has a new name, and the old one still works.
        Renamed = "renamed",
        /// Something else does this; the old name does nothing.
        Replaced = "replaced",
        /// Nothing does this, and the name does nothing.
        Gone = "gone",
        /// No version has this name, as far as is known here.
        Unknown = "unknown",
    }
}

/// A name and the one of today.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HadoopNameDoc {
    pub name: String,
    pub kind: HadoopKind,
    pub fate: HadoopFate,
    /// The names of today; empty where it is the same, gone or unknown.
    pub today: Vec<String>,
    /// Where each of them belongs, or all of them: a file, a folder, of ports a property.
    pub place: Vec<String>,
    /// One remark.
    pub why: Option<String>,
}

/// `boxscore hadoop explain` and `boxscore hadoop explain NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HadoopNamesDoc {
    pub schema: String,
    pub names: Vec<HadoopNameDoc>,
}

/// `boxscore hadoop explain DIR`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HadoopConfigDoc {
    pub schema: String,
    pub folder: String,
    /// The files that were read.
    pub files: Vec<HadoopFileDoc>,
    /// In the order of files and lines.
    pub lines: Vec<HadoopLineDoc>,
    /// Doubts about something that is in no line.
    pub missing: Vec<HadoopDoubtDoc>,
    /// Files that cannot be read: path, line and why. Nothing of them is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
}

/// A file of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HadoopFileDoc {
    /// Its name in the folder.
    pub name: String,
    pub today: HadoopNameDoc,
}

/// A setting, a variable or a host in a file of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HadoopLineDoc {
    pub file: String,
    /// From 1.
    pub line: u64,
    /// Empty for a host in `masters`, `slaves` or `workers`.
    pub name: String,
    pub value: String,
    /// Where the name went; of a host, that of the file.
    pub today: HadoopNameDoc,
    pub doubts: Vec<HadoopDoubtDoc>,
}

/// Something about a value that looks wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HadoopDoubtDoc {
    /// `localhost`, `replication`, ...
    pub rule: String,
    pub says: String,
}

impl HadoopConfigDoc {
    /// Lines whose name went this way.
    pub fn count(&self, fate: HadoopFate) -> usize {
        self.lines.iter().filter(|line| line.today.fate == fate).count()
    }

    /// Doubts about lines, and about what is missing.
    pub fn doubts(&self) -> usize {
        self.lines.iter().map(|line| line.doubts.len()).sum::<usize>() + self.missing.len()
    }
}
