//! Files of the user's in TOML: tables whose keys are known, each value with its line, and the error with a way out.
//!
//! Study files, decisions and inventories are read by these. Pure: text in, values or an error out.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::nearest::nearest;

/// Why a file cannot be used, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// From 1 on.
    pub line: usize,
    pub what: String,
    /// The way out.
    pub hint: String,
}

impl FileError {
    pub fn new(line: usize, what: impl Into<String>, hint: impl Into<String>) -> FileError {
        FileError { line, what: what.into(), hint: hint.into() }
    }

    /// The error of a text that is no TOML, or not of the shape that it must have.
    pub fn of_toml(text: &str, error: &toml::de::Error, hint: &str) -> FileError {
        let line = error.span().map_or(1, |span| line_of(text, &span));
        FileError::new(line, error.message().trim(), hint)
    }

    /// The error of a key that is none of `known`: it names the nearest, else all.
    pub fn unknown_key(line: usize, key: &str, known: &[&str]) -> FileError {
        let hint = match nearest(key, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the keys are {}", known.join(", ")),
        };
        FileError::new(line, format!("unknown key `{}`", key.escape_debug()), hint)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.line, self.what)
    }
}

impl std::error::Error for FileError {}

/// The line, from 1 on, at which a part of the text begins.
pub fn line_of(text: &str, span: &Range<usize>) -> usize {
    let before = text.as_bytes().get(..span.start.min(text.len())).unwrap_or_default();
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

/// A value and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At<T> {
    pub line: usize,
    pub value: T,
}

/// A table of a file.
#[derive(Clone, Copy, Debug)]
pub struct TableText<'t> {
    text: &'t str,
    line: usize,
    table: &'t DeTable<'t>,
}

/// Parses a text and hands its table to `read`.
pub fn with_table<T>(
    text: &str,
    hint: &str,
    read: impl FnOnce(TableText<'_>) -> Result<T, FileError>,
) -> Result<T, FileError> {
    let table = DeTable::parse(text).map_err(|error| FileError::of_toml(text, &error, hint))?;
    read(TableText { text, line: 1, table: table.get_ref() })
}

impl<'t> TableText<'t> {
    /// The line at which it begins.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Fails for the first key that is none of `known`.
    pub fn only(&self, known: &[&str]) -> Result<(), FileError> {
        let is_unknown = |key: &&Spanned<std::borrow::Cow<'_, str>>| !known.contains(&key.get_ref().as_ref());
        match self.table.keys().filter(is_unknown).min_by_key(|key| key.span().start) {
            None => Ok(()),
            Some(key) => {
                Err(FileError::unknown_key(line_of(self.text, &key.span()), key.get_ref().as_ref(), known))
            }
        }
    }

    /// The keys in the order of the file.
    pub fn keys(&self) -> Vec<At<String>> {
        let mut keys: Vec<_> = self.table.keys().collect();
        keys.sort_by_key(|key| key.span().start);
        let at = |key: &Spanned<std::borrow::Cow<'_, str>>| At {
            line: line_of(self.text, &key.span()),
            value: key.get_ref().clone().into_owned(),
        };
        keys.into_iter().map(at).collect()
    }

    /// The line of a key.
    pub fn line_of_key(&self, key: &str) -> Option<usize> {
        self.table.get_key_value(key).map(|(key, _)| line_of(self.text, &key.span()))
    }

    /// A text; `write` is how its line looks.
    pub fn string(&self, key: &str, write: &str) -> Result<Option<At<String>>, FileError> {
        self.typed(key, write, |value| value.as_str().map(str::to_owned))
    }

    /// A text that must be there.
    pub fn needed(&self, key: &str, write: &str) -> Result<At<String>, FileError> {
        let missing = || FileError::new(self.line, format!("`{key}` is missing"), format!("write {write}"));
        self.string(key, write)?.ok_or_else(missing)
    }

    /// A text or a number, as a text.
    pub fn plain(&self, key: &str, write: &str) -> Result<Option<At<String>>, FileError> {
        self.typed(key, write, plain)
    }

    /// True or false.
    pub fn switch(&self, key: &str, write: &str) -> Result<Option<At<bool>>, FileError> {
        let read = |value: &DeValue<'_>| match value {
            DeValue::Boolean(is_on) => Some(*is_on),
            _ => None,
        };
        self.typed(key, write, read)
    }

    /// A whole number from `least` to `most`.
    pub fn whole(
        &self,
        key: &str,
        (least, most): (u64, u64),
        write: &str,
    ) -> Result<Option<At<u64>>, FileError> {
        let Some(At { line, value: text }) = self.plain(key, write)? else { return Ok(None) };
        match text.parse::<u64>().ok().filter(|value| (least..=most).contains(value)) {
            Some(value) => Ok(Some(At { line, value })),
            None => {
                let what =
                    format!("{key}: {} is not a whole number from {least} to {most}", text.escape_debug());
                Err(FileError::new(line, what, format!("write {write}")))
            }
        }
    }

    /// A text, or several.
    pub fn strings(&self, key: &str, write: &str) -> Result<Vec<At<String>>, FileError> {
        let Some(value) = self.table.get(key) else { return Ok(Vec::new()) };
        let wrong = || self.wrong(key, value, write);
        let one = |value: &Spanned<DeValue<'_>>| {
            let line = line_of(self.text, &value.span());
            plain(value.get_ref()).map(|value| At { line, value })
        };
        match value.get_ref().as_array() {
            Some(all) => all.iter().map(|value| one(value).ok_or_else(wrong)).collect(),
            None => one(value).map(|one| vec![one]).ok_or_else(wrong),
        }
    }

    pub fn table(&self, key: &str, write: &str) -> Result<Option<TableText<'t>>, FileError> {
        let Some((name, value)) = self.table.get_key_value(key) else { return Ok(None) };
        let line = line_of(self.text, &name.span());
        let table = value.get_ref().as_table().ok_or_else(|| self.wrong(key, value, write))?;
        Ok(Some(TableText { text: self.text, line, table }))
    }

    /// The tables of `[[key]]`, or of a list of them.
    pub fn tables(&self, key: &str, write: &str) -> Result<Vec<TableText<'t>>, FileError> {
        let Some(value) = self.table.get(key) else { return Ok(Vec::new()) };
        let wrong = || self.wrong(key, value, write);
        let all = value.get_ref().as_array().ok_or_else(wrong)?;
        let one = |value: &'t Spanned<DeValue<'t>>| {
            let table = value.get_ref().as_table().ok_or_else(wrong)?;
            Ok(TableText { text: self.text, line: line_of(self.text, &value.span()), table })
        };
        all.iter().map(one).collect()
    }

    fn typed<T>(
        &self,
        key: &str,
        write: &str,
        read: impl FnOnce(&DeValue<'_>) -> Option<T>,
    ) -> Result<Option<At<T>>, FileError> {
        let Some(value) = self.table.get(key) else { return Ok(None) };
        let line = line_of(self.text, &value.span());
        match read(value.get_ref()) {
            Some(value) => Ok(Some(At { line, value })),
            None => Err(self.wrong(key, value, write)),
        }
    }

    fn wrong(&self, key: &str, value: &Spanned<DeValue<'_>>, write: &str) -> FileError {
        let what = format!("{key}: not a value of it");
        FileError::new(line_of(self.text, &value.span()), what, format!("write {write}"))
    }
}

/// A text or a number as the command line has it.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

/// A text as TOML writes it between quotation marks.
pub fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if c.is_control() => out.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read<T>(text: &str, read: impl FnOnce(TableText<'_>) -> Result<T, FileError>) -> Result<T, FileError> {
        with_table(text, "a hint", read)
    }

    #[test]
    fn values_have_the_lines_at_which_they_stand() {
        let text = "\nname = \"a\"\n[defaults]\nport = 22\n\n[[nodes]]\nroles = [\"x\",\n \"y\"]\n\
                    [[nodes]]\nroles = 'z'\n";
        let found = read(text, |table| {
            table.only(&["name", "defaults", "nodes"])?;
            let name = table.needed("name", "name = \"a\"")?;
            assert_eq!((name.line, name.value.as_str()), (2, "a"));
            let defaults = table.table("defaults", "[defaults]")?.expect("a table");
            assert_eq!(defaults.whole("port", (1, 65_535), "port = 22")?, Some(At { line: 4, value: 22 }));
            let nodes = table.tables("nodes", "[[nodes]]")?;
            let roles: Result<Vec<_>, _> =
                nodes.iter().map(|node| node.strings("roles", "roles = []")).collect();
            Ok(roles?
                .concat()
                .into_iter()
                .map(|one| format!("{} {}", one.line, one.value))
                .collect::<Vec<_>>())
        });
        assert_eq!(found.expect("values"), ["7 x", "8 y", "10 z"]);
    }

    #[test]
    fn what_is_wrong_has_its_line_and_a_way_out() {
        let error = read("a = 1\nnmae = 2\n", |table| table.only(&["a", "name"])).unwrap_err();
        assert_eq!(error, FileError::new(2, "unknown key `nmae`", "did you mean `name`?"));
        let error = read("\n\na = [1\n", |_| Ok(())).unwrap_err();
        assert!(error.line >= 3 && error.hint == "a hint", "{error:?}");
        let error =
            read("\nport = 70000\n", |table| table.whole("port", (1, 65_535), "port = 22")).unwrap_err();
        assert_eq!(error.line, 2);
        let error = read("\nname = 5\n", |table| table.string("name", "name = \"a\"")).unwrap_err();
        assert_eq!((error.line, error.hint.as_str()), (2, "write name = \"a\""));
        assert!(read("a = 1", |table| table.needed("b", "b = \"c\"")).is_err());
    }

    proptest! {
        #[test]
        fn a_quoted_text_comes_back(text in any::<String>()) {
            let file = format!("a = {}", quoted(&text));
            let back = read(&file, |table| table.needed("a", "a = \"b\""));
            prop_assert_eq!(back.map(|at| at.value), Ok(text));
        }
    }
}
