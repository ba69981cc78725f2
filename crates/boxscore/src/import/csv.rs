//! Tables as spreadsheets write them: rows by column name, and errors with file and line.

use std::collections::BTreeMap;

/// Error in a table, with its line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}: {what}")]
pub struct CsvError {
    pub file: String,
    pub line: u64,
    pub what: String,
}

/// One row, by column name. Empty cells are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CsvRow {
    pub line: u64,
    pub cells: BTreeMap<String, String>,
}

impl CsvRow {
    pub fn get(&self, column: &str) -> Option<&str> {
        self.cells.get(column).map(String::as_str)
    }

    /// The cell as a finite number.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.get(column)?.parse().ok().filter(|number: &f64| number.is_finite())
    }
}

/// Parses a whole table; the first line names the columns.
pub fn parse(file: &str, text: &str) -> Result<Vec<CsvRow>, CsvError> {
    let wrong = |line: u64, what: String| CsvError { file: file.to_owned(), line, what };
    let mut reader =
        ::csv::ReaderBuilder::new().flexible(true).trim(::csv::Trim::Headers).from_reader(text.as_bytes());
    let header = reader.headers().map_err(|error| wrong(1, error.to_string()))?.clone();
    if header.is_empty() {
        return Err(wrong(1, "empty: the first line must name the columns".to_owned()));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| {
            let line = error.position().map_or(1, ::csv::Position::line);
            wrong(line, error.to_string())
        })?;
        let line = record.position().map_or(1, |at| at.line() + blank_lines(text, at.byte()));
        if record.len() > header.len() {
            return Err(wrong(
                line,
                format!("{} cells, but the header names {}", record.len(), header.len()),
            ));
        }
        let filled = header.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        rows.push(CsvRow {
            line,
            cells: filled.map(|(name, cell)| (name.to_owned(), cell.to_owned())).collect(),
        });
    }
    Ok(rows)
}

/// A record's position is where reading it began: before the blank lines that stand in front of it.
fn blank_lines(text: &str, at: u64) -> u64 {
    let rest = usize::try_from(at).ok().and_then(|at| text.get(at..)).unwrap_or_default();
    let blank = rest.len() - rest.trim_start_matches(['\r', '\n']).len();
    rest[..blank].matches('\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_commas_and_lines() {
        let rows = parse("x.csv", "a,b\n\"1, \"\"2\"\"\",3\n\n4,\n").unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].get("a"), rows[0].get("b")), (Some("1, \"2\""), Some("3")));
        assert_eq!((rows[1].line, rows[1].get("b")), (4, None));
    }

    #[test]
    fn errors_name_the_line() {
        assert_eq!(
            parse("x.csv", "a\n1,2\n").unwrap_err().to_string(),
            "x.csv:2: 2 cells, but the header names 1"
        );
        assert!(parse("x.csv", "").is_err());
    }
}
