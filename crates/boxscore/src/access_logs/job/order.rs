//! The order of a job: how all its mappers read, and the label and format of each file. It travels as a file beside
//! the program.

use std::path::Path;

use logs::parts::Made;
use serde::{Deserialize, Serialize};

use crate::error::CliError;

/// One file of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderFile {
    /// Its path, without the file system; in the user's folder where it does not begin with a slash.
    pub path: String,
    pub label: String,
    /// The place of its label among all.
    pub place: u32,
    pub format: String,
    /// How its format was found.
    pub how: String,
}

/// The work of all mappers of a job.
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
    pub fn file(&self, path: &str) -> Result<&OrderFile, CliError> {
        let is_it = |file: &&OrderFile| match path.strip_suffix(file.path.as_str()) {
            Some(before) => before.is_empty() || before.ends_with('/') && !file.path.starts_with('/'),
            None => false,
        };
        let found = self.files.iter().filter(is_it).max_by_key(|file| file.path.len());
        found.ok_or_else(|| CliError::data(format!("{path}: the order of this job has no such file")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_split_has_its_file() {
        let file = |path: &str| OrderFile {
            path: path.to_owned(),
            label: path.to_owned(),
            place: 0,
            format: "common".to_owned(),
            how: "given".to_owned(),
        };
        let files = ["/logs/a.log", "a.log", "old/a.log"].map(file).to_vec();
        let order = Order { files, ..Order::default() };
        let of = |path: &str| order.file(path).map(|file| file.label.clone()).ok();
        assert_eq!(of("/logs/a.log").as_deref(), Some("/logs/a.log"));
        assert_eq!(of("/user/me/a.log").as_deref(), Some("a.log"));
        assert_eq!(of("/user/me/old/a.log").as_deref(), Some("old/a.log"));
        assert_eq!((of("/user/me/ba.log"), of("/x/logs/b.log")), (None, None));
        assert!(order.file("/b.log").unwrap_err().message.contains("/b.log: the order of this job"));
    }
}
