//! The order of a job: how all its mappers read, and the label and format of each file. It travels as a file beside
//! the program.

use std::path::Path;

use logs::parts::Made;
use serde::{Deserialize, Serialize};

use crate::error::CliError;

/// One file of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderFile {
    /// Its path, without the file system.
    pub path: String,
    pub label: String,
    /// The place of its label among all.
    pub place: u32,
    pub format: String,
    /// True where its bytes come as they lie there, and are unpacked by the mapper.
    pub is_packed: bool,
}

/// What mappers do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    pub made: Made,
    pub files: Vec<OrderFile>,
}

impl Order {
    /// Reads an order. Fails if the file cannot be read, or is none.
    pub fn read(path: &Path) -> Result<Order, CliError> {
        let wrong = |what: String| CliError::data(format!("--order {}: {what}", path.display()));
        let bytes = std::fs::read(path).map_err(|error| wrong(error.to_string()))?;
        serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))
    }

    /// The file that a mapper's split is of.
    pub fn of(&self, path: &str) -> Result<&OrderFile, CliError> {
        let found = self.files.iter().find(|file| file.path == path);
        found.ok_or_else(|| CliError::data(format!("{path}: the order of this job has no such file")))
    }
}
