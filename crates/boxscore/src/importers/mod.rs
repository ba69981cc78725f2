//! Formats that are read in: one file a format, told apart by content. Other tools' formats go beside these.
//!
//! | format | told by | file |
//! | --- | --- | --- |
//! | boxscore's own export | JSON with `"schema": "boxscore.export/..."` | `own` |
//! | another store | SQLite's magic bytes | here |
//! | machine sheet | CSV whose header has a column `machine` | `sheet` |

pub mod check;
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
    own::checked(&path.display().to_string(), &runs)?;
    Ok(Read { runs, machines: store.sheets().map_err(present::store_error)? })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_read_or_refused_with_its_name(text in any::<String>()) {
            if let Err(error) = parse("some.file", &text) {
                prop_assert!(error.message.starts_with("some.file:"), "{}", error.message);
            }
        }

        #[test]
        fn any_cells_are_machines_or_an_error_with_a_line(
            cells in proptest::collection::vec("[ -~]{0,12}", 3),
            column in "(cpu|cores|ram_gb|crc32_instruction|cpu\\.mhz\\.max|memory\\.bytes|[a-z.]{1,8})",
        ) {
            let text = format!("machine,{column},note\n{}\n", cells.join(","));
            match parse("m.csv", &text) {
                Ok(read) => prop_assert!(read.runs.is_empty() && !read.machines.is_empty()),
                Err(error) => prop_assert!(error.message.starts_with("m.csv:"), "{}", error.message),
            }
        }
    }

    #[test]
    fn formats_are_told_by_content() {
        let sheet = parse("x", "\u{feff}cores,machine\n4,box\n").unwrap();
        assert_eq!((sheet.runs.len(), sheet.machines[0].name.as_str()), (0, "box"));
        assert_eq!(parse("x", "").unwrap_err().message, "x: the format is not known");
        let none = parse("x", "{\"schema\": \"boxscore.export/1\", \"runs\": []}").unwrap();
        assert_eq!(none, Read::default());
    }
}
