//! What a user sees after a run: the box score, and where the report is.

use std::path::Path;

use store::{Store, StoreError};

use crate::cli::Global;
use crate::error::CliError;
use crate::out;

/// The store's refusal as a user meets it.
#[must_use]
pub fn store_error(error: StoreError) -> CliError {
    let hint = error.hint();
    let plain = CliError::data(error.to_string());
    match hint {
        Some(hint) => plain.hint(hint),
        None => plain,
    }
}

pub fn after_run(
    runs: &[String],
    _store: &mut Store,
    _path: &Path,
    _global: &Global,
    _report: bool,
) -> Result<(), CliError> {
    out::print(&format!("{}\n", runs.join(" ")));
    Ok(())
}
