//! What a name on the command line means: a run, a label, a machine, a published machine, a file.

use std::path::Path;

use store::{Mode, Store};

use crate::error::CliError;
use crate::present;

/// Opens the store for reading.
pub fn open(path: &Path) -> Result<Store, CliError> {
    Store::open(path, Mode::ReadOnly).map_err(present::store_error)
}

/// The id of the run that a name means.
pub fn run_id(name: &str, store: &Store) -> Result<String, CliError> {
    store.resolve(name).map_err(present::store_error)
}
