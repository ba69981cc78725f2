//! Formats that are read in: one file a format, told apart by content. Other tools' formats go beside these.
//!
//! | format | told by | file |
//! | --- | --- | --- |
//! | boxscore's own export | JSON with `"schema": "boxscore.export/..."` | `own` |
//! | another store | SQLite's magic bytes | here |
//! | clusterperf's output | its headings, or lines such as `basic.read100  5.1 us ...` | `clusterperf` |
//! | machine sheet | CSV whose header has a column `machine` | `sheet` |

pub mod check;
pub mod clusterperf;
pub mod csv;
pub mod own;
pub mod sheet;

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::data::RunData;
use store::{Filter, MachineSheet};

use crate::error::CliError;
use crate::lookup::paths;
use clusterperf::About;

const SQLITE: &[u8] = b"SQLite format 3\0";

/// The content of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Read {
    pub runs: Vec<RunData>,
    pub machines: Vec<MachineSheet>,
    /// Lines about the parts of the file that are not read.
    pub said: Vec<String>,
    /// The text does not say when it was measured: the start is that of its file.
    pub undated: bool,
}

/// Reads a file of any known format; `about` is what the call says of texts that do not say it themselves.
pub fn read(path: &Path, about: &About) -> Result<Read, CliError> {
    let name = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| CliError::data(format!("{name}: {error}")))?;
    if bytes.starts_with(SQLITE) {
        refuse(&name, about)?;
        return store(path);
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| unknown(&name))?;
    parse(&name, text, written(path), about)
}

/// When a file was last written, in ns since 1970; now, where its file system does not say.
fn written(path: &Path) -> i64 {
    let ns = |known: Metadata| known.mtime().checked_mul(1_000_000_000)?.checked_add(known.mtime_nsec());
    let now = || i64::try_from(sys::clock::wall_ns()).unwrap_or(i64::MAX);
    path.metadata().ok().and_then(ns).unwrap_or_else(now)
}

/// Reads a text of any known format; `name` is for errors, `written_ns` is since 1970.
pub fn parse(name: &str, text: &str, written_ns: i64, about: &About) -> Result<Read, CliError> {
    let text = text.trim_start_matches('\u{feff}');
    if instruments::clusterperf::is_output(text) {
        let (run, said) = clusterperf::parse(name, text, written_ns, about)?;
        return Ok(Read { runs: vec![run], said, undated: true, ..Read::default() });
    }
    refuse(name, about)?;
    if text.trim_start().starts_with('{') {
        return Ok(Read { runs: own::parse(name, text)?, ..Read::default() });
    }
    if sheet::is_sheet(text) {
        let machines = sheet::parse(name, text)?;
        return Ok(Read { machines, ..Read::default() });
    }
    Err(unknown(name))
}

/// These formats name their machines themselves.
fn refuse(name: &str, about: &About) -> Result<(), CliError> {
    if about.is_empty() {
        return Ok(());
    }
    let text =
        format!("{name}: --machine, --label and --set are for clusterperf's output, which this is not");
    Err(CliError::usage(text).hint("import it in a call of its own"))
}

fn unknown(name: &str) -> CliError {
    CliError::data(format!("{name}: the format is not known")).hint(
        "known are runs that `boxscore export` wrote (JSON), stores, machine sheets (CSV with a column `machine`), and \
         what clusterperf prints",
    )
}

/// Every run and sheet of another store.
fn store(path: &Path) -> Result<Read, CliError> {
    let store = paths::open(path)?;
    let heads = store.heads(&Filter::default())?;
    let ids: Vec<String> = heads.into_iter().map(|head| head.id).collect();
    let runs = store.load_many(&ids)?;
    own::checked(&path.display().to_string(), &runs)?;
    Ok(Read { runs, machines: store.sheets()?, ..Read::default() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(name: &str, text: &str) -> Result<Read, CliError> {
        super::parse(name, text, 0, &About::default())
    }

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
