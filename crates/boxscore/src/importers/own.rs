//! boxscore's own export, read back.

use std::path::Path;

use model::data::RunData;

use crate::error::CliError;

/// The runs of an exported file.
pub fn read(path: &Path) -> Result<Vec<RunData>, CliError> {
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| CliError::data(format!("{name}: {error}")))?;
    parse(&name, &text)
}

/// The runs of an exported text; `name` is for errors.
pub fn parse(name: &str, _text: &str) -> Result<Vec<RunData>, CliError> {
    Err(CliError::data(format!("{name}: not an export of boxscore")))
}
