//! The inventory of the lab: the file that was named, else `lab.toml` here, else that of the configuration directory.

use std::path::{Path, PathBuf};

use lab::inventory::{FILE, Inventory, read};
use model::format;
use model::toml_file::FileError;

use super::paths;
use crate::error::CliError;

/// An inventory and where it was found.
pub struct Found {
    pub path: PathBuf,
    pub inventory: Inventory,
}

impl Found {
    /// The folder that relative paths in it start from.
    pub fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// Says which inventory was read.
    pub fn sentence(&self) -> String {
        let nodes = format::count(self.inventory.nodes().len(), "node");
        format!("inventory: {} ({nodes})", paths::tilde(&self.path))
    }
}

/// The inventory; `None` where none was named and there is none in the usual places.
pub fn find(given: Option<&Path>) -> Result<Option<Found>, CliError> {
    if let Some(path) = given {
        return open(path.to_path_buf()).map(Some);
    }
    usual().into_iter().find(|path| path.exists()).map(open).transpose()
}

/// The places where an inventory is looked for.
pub fn usual() -> Vec<PathBuf> {
    let here = Path::new(".").join(FILE);
    std::iter::once(here).chain(paths::config_dir().map(|dir| dir.join(FILE))).collect()
}

fn open(path: PathBuf) -> Result<Found, CliError> {
    let text = file(&path)?;
    let inventory = read(&text).map_err(|error| at(&path.display().to_string(), &error))?;
    Ok(Found { path, inventory })
}

/// The text of a file of the user's.
pub fn file(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|error| CliError::data(format!("{}: {error}", path.display())))
}

/// `FILE:LINE: what is wrong`, and what to do.
pub fn at(name: &str, error: &FileError) -> CliError {
    CliError::data(format!("{name}:{error}")).hint(error.hint.clone())
}
