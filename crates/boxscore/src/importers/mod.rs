//! Formats that are read in: one file a format, told apart by content. Other tools' formats go beside these.
//!
//! | format | told by | file |
//! | --- | --- | --- |
//! | boxscore's own export | JSON with `"schema": "boxscore.export/..."` | `own` |
//! | another store | SQLite's magic bytes | here |
//! | machine sheet | CSV whose header has a column `machine` | `sheet` |

pub mod own;
pub mod sheet;

use std::path::Path;

use model::data::RunData;
use store::{Filter, MachineSheet};

use crate::error::CliError;
use crate::{present, resolve};

const SQLITE: &[u8] = b"SQLite format 3\0";

/// What a file held.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    pub runs: Vec<RunData>,
    pub machines: Vec<MachineSheet>,
}

/// Reads a file of any known format.
pub fn read(path: &Path) -> Result<Read, CliError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| CliError::data(format!("{name}: {error}")))?;
    if bytes.starts_with(SQLITE) {
        return store(path);
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| unknown(&name))?;
    parse(&name, text)
}

/// Reads a text of any known format; `name` is for errors.
pub fn parse(name: &str, text: &str) -> Result<Read, CliError> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim_start().starts_with('{') {
        return Ok(Read { runs: own::parse(name, text)?, machines: Vec::new() });
    }
    if sheet::is_sheet(text) {
        let machines = sheet::parse(name, text).map_err(|error| CliError::data(error.to_string()))?;
        return Ok(Read { runs: Vec::new(), machines });
    }
    Err(unknown(name))
}

fn unknown(name: &str) -> CliError {
    CliError::data(format!("{name}: the format is not known")).hint(
        "known are runs that `boxscore export` wrote (JSON), stores, and machine sheets (CSV with a column `machine`)",
    )
}

/// Every run and sheet of another store.
fn store(path: &Path) -> Result<Read, CliError> {
    let store = resolve::open(path)?;
    let heads = store.heads(&Filter::default()).map_err(present::store_error)?;
    let ids: Vec<String> = heads.into_iter().map(|head| head.id).collect();
    let runs = store.load_many(&ids).map_err(present::store_error)?;
    Ok(Read { runs, machines: store.sheets().map_err(present::store_error)? })
}
