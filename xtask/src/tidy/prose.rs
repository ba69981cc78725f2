//! Doc comments that begin as a riddle does, and names that say nothing.

use super::bans::Production;
use super::source::{Complaint, lines};

const DOC: &str = "say what the thing is, not \"What ...\" or \"Whether ...\"";
const NAME: &str = "name a public function by what it gives, not `of`, `said` or `told`";

const OPENINGS: &[&str] = &["What", "Whether"];
const VAGUE: &[&str] = &["of", "said", "told"];

/// A doc comment: its first line (from 1) and its text without the slashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc {
    pub line: usize,
    pub text: String,
}

/// The doc comments of a file before its tests.
pub fn doc_comments((source, code): &Production<'_>) -> Vec<Doc> {
    let mut found: Vec<Doc> = Vec::new();
    let mut last = 0;
    for (number, line) in lines(&source.text).take(code.lines().count()) {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        match found.last_mut().filter(|_| last + 1 == number) {
            Some(doc) => doc.text = format!("{}\n{}", doc.text, text.trim()),
            None => found.push(Doc { line: number, text: text.trim().to_owned() }),
        }
        last = number;
    }
    found
}

/// Doc comments that open with one of the words, and are no question.
pub fn docs(files: &[Production<'_>]) -> Vec<Complaint> {
    let is_riddle = |doc: &Doc| {
        let first = doc.text.split("\n\n").next().unwrap_or("");
        let word = first.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
        OPENINGS.contains(&word) && !first.contains('?')
    };
    let inside = |file: &Production<'_>| {
        let docs: Vec<Doc> = doc_comments(file).into_iter().filter(is_riddle).collect();
        docs.into_iter().map(|doc| Complaint::new(&file.0.path, doc.line, DOC)).collect::<Vec<_>>()
    };
    files.iter().flat_map(inside).collect()
}

/// Public functions with a vague name.
pub fn names(files: &[Production<'_>]) -> Vec<Complaint> {
    let is_vague = |line: &str| public_function(line).is_some_and(|name| VAGUE.contains(&name));
    let inside = |(source, code): &Production<'_>| {
        let found = lines(code).filter(|(_, line)| is_vague(line));
        found.map(|(number, _)| Complaint::new(&source.path, number, NAME)).collect::<Vec<_>>()
    };
    files.iter().flat_map(inside).collect()
}

/// The name in `pub fn name(`, with `pub(crate)`, `const` or `unsafe` too.
fn public_function(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let (before, rest) = line.split_once("fn ")?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    before.starts_with("pub").then_some(&rest[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::Source;
    use crate::tidy::bans::production;

    fn count(rule: fn(&[Production<'_>]) -> Vec<Complaint>, text: &str) -> usize {
        rule(&production(&[Source::new("crates/a/src/x.rs", text)])).len()
    }

    #[test]
    fn a_riddle_is_found_and_a_question_is_not() {
        let text = "//! x\n\n/// What is said where nothing can run.\nfn a() {}\n/// Whether it is,\n/// or not.\nfn b() {}\n";
        let sources = [Source::new("crates/a/src/x.rs", text)];
        let found: Vec<usize> = docs(&production(&sources)).into_iter().map(|place| place.line).collect();
        assert_eq!(found, [3, 5]);
        for free in ["/// What is a take?\n", "/// Whatever.\n", "/// A take.\n/// What else\n", "// What\n"]
        {
            assert!(count(docs, free) == 0, "{free}");
        }
        assert!(docs(&production(&[Source::new("crates/a/tests/x.rs", "/// What\n")])).is_empty());
    }

    #[test]
    fn a_vague_public_name_is_found() {
        for planted in ["pub fn of(a: u8) {}", "    pub(crate) const fn said() {}", "pub fn told<T>() {}"] {
            assert_eq!(count(names, planted), 1, "{planted}");
        }
        for free in ["fn of() {}", "pub fn often() {}", "pub fn p99_of() {}"] {
            assert!(count(names, free) == 0, "{free}");
        }
    }
}
