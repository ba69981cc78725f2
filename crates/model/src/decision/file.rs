//! A decision's file: TOML with the keys of the command line. Values stay text; what they mean is read where those of
//! the command line are.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use super::{Key, Shape};
use crate::toml_file::{FileError, line_of};

/// The values of a key, and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub line: usize,
    pub key: Key,
    /// As the command line takes them: `0.19/h`, `box-a=0.19/h`.
    pub values: Vec<String>,
}

const HINT: &str = "docs/guide/decide.md says what a decision's file holds";

/// Reads the file. The error is the first thing that is wrong in it; of an unknown key it names the nearest.
pub fn read(text: &str) -> Result<Vec<Entry>, FileError> {
    let table: BTreeMap<Spanned<String>, Spanned<Value>> =
        toml::from_str(text).map_err(|error| FileError::of_toml(text, &error, HINT))?;
    let mut entries = Vec::new();
    for (key, value) in table {
        let line = line_of(text, &key.span());
        let key = key.into_inner();
        let Some(known) = Key::parse(&key) else {
            return Err(FileError::unknown_key(line, &key, Key::WORDS));
        };
        entries.push(Entry { line, key: known, values: values(known, value.into_inner(), line)? });
    }
    entries.sort_by_key(|entry| entry.line);
    Ok(entries)
}

fn values(key: Key, value: Value, line: usize) -> Result<Vec<String>, FileError> {
    let word = key.word();
    let wrong = |hint: String| FileError::new(line, format!("{word}: not a value of it"), hint);
    match (key.shape(), value) {
        (Shape::Several, Value::Array(all)) => {
            let hint = || wrong(format!("write {word} = [\"...\", \"...\"]"));
            let texts: Option<Vec<String>> = all.into_iter().map(plain).collect();
            let texts = texts.ok_or_else(hint)?;
            if texts.is_empty() { Err(hint()) } else { Ok(texts) }
        }
        (Shape::Named, Value::Table(all)) => {
            let named = |(name, value): (String, Value)| Some(format!("{name}={}", plain(value)?));
            let texts: Option<Vec<String>> = all.into_iter().map(named).collect();
            texts.ok_or_else(|| wrong(format!("write {word} = {{ NAME = \"...\" }}")))
        }
        (_, value) => match plain(value) {
            Some(text) => Ok(vec![text]),
            None => Err(wrong(format!("write {word} = \"...\""))),
        },
    }
}

/// A text or a number as the command line has it.
fn plain(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_the_keys_of_the_command_line() {
        let text = "# which box\nneed = [\"web 20000/s p99<20ms\", 'memory 2TiB']\nfrom = \"box-*\"\nlife = \"4y\"\n\
                    kwh = 0.3\n\n[price]\nbox-a = \"0.19/h\"\nbox-b = 429\n";
        let entries = read(text).unwrap();
        let shown: Vec<String> = entries
            .iter()
            .map(|entry| format!("{} {} {}", entry.line, entry.key.word(), entry.values.join("|")))
            .collect();
        let wanted = [
            "2 need web 20000/s p99<20ms|memory 2TiB",
            "3 from box-*",
            "4 life 4y",
            "5 kwh 0.3",
            "7 price box-a=0.19/h|box-b=429",
        ];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn what_is_wrong_has_its_line() {
        let cases = [
            ("need = \"web 1/s\"\nnead = \"x\"\n", 2, "unknown key `nead`"),
            ("life = \n", 1, ""),
            ("a = 1\na = 2\n", 2, ""),
            ("\nlife = [1]\n", 2, "life: not a value of it"),
            ("need = []", 1, "need: not a value of it"),
            ("need = [[1]]", 1, "need: not a value of it"),
            ("[price]\na = true\n", 1, "price: not a value of it"),
            ("life = { a = 1 }\n", 1, "life: not a value of it"),
        ];
        for (text, line, what) in cases {
            let error = read(text).expect_err(text);
            assert_eq!(error.line, line, "{text}: {error}");
            assert!(error.what.contains(what) && !error.hint.is_empty(), "{text}: {error}");
        }
    }
}
