//! Calls that take a finding's, a note's, a row's or a fault's words apart to decide something.
//!
//! Words are for people; what a program decides from is a variant or a field. The rule knows a text by the name of its
//! field or variable, so what it finds is few and certain rather than everything.

use super::bans::Production;
use super::source::{Complaint, Source, finds, lines};

/// Crates that make or show what was concluded.
const INSIDE: &[&str] = &["crates/verdict/src/", "crates/report/src/", "crates/boxscore/src/"];
/// Importers of foreign formats, which have nothing but text.
const HOMES: &[&str] = &["crates/boxscore/src/import/"];
/// Fields that hold words of ours.
const FIELDS: &[&str] =
    &["text", "why", "says", "sentence", "message", "advice", "paragraph", "lead", "title"];
/// Variables that hold them.
const VARIABLES: &[&str] = &[
    "why",
    "says",
    "said",
    "sentence",
    "note",
    "finding",
    "fault",
    "advice",
    "hint",
    "clause",
    "paragraph",
    "lead",
    "title",
];
/// Calls that may stand between a text and the one that reads it.
const PASSED: &[&str] = &[
    "to_string()",
    "to_owned()",
    "to_lowercase()",
    "clone()",
    "as_str()",
    "as_deref()",
    "as_ref()",
    "trim()",
    "trim_start()",
    "trim_end()",
];
const CALLS: &[&str] = &[
    "split_once",
    "rsplit_once",
    "split",
    "rsplit",
    "strip_prefix",
    "strip_suffix",
    "contains",
    "starts_with",
    "ends_with",
    "find",
    "rfind",
    "splitn",
    "rsplitn",
    "replacen",
    "matches",
    "match_indices",
    "eq_ignore_ascii_case",
];

const INSTEAD: &str = "decide from a variant or a field, not from our own words";

/// Every such call in production code.
pub fn check(files: &[Production<'_>]) -> Vec<Complaint> {
    let is_inside = |(source, _): &&Production<'_>| {
        INSIDE.iter().any(|folder| source.path.starts_with(folder))
            && !HOMES.iter().any(|folder| source.path.starts_with(folder))
    };
    files.iter().filter(is_inside).flat_map(|(source, code)| inside(source, code)).collect()
}

fn inside(source: &Source, code: &str) -> Vec<Complaint> {
    let mut found = Vec::new();
    // A chain may go on in the next line.
    let mut chain = String::new();
    for (number, line) in lines(code) {
        let line = line.trim();
        if !line.starts_with('.') {
            chain.clear();
        }
        let known = calls(&chain);
        chain.push_str(line);
        found.extend((known..calls(&chain)).map(|_| Complaint::new(&source.path, number, INSTEAD)));
    }
    found
}

/// How many calls in this code read a text of ours.
fn calls(code: &str) -> usize {
    let fields = FIELDS.iter().map(|name| (format!(".{name}"), true));
    let names = fields.chain(VARIABLES.iter().map(|name| ((*name).to_owned(), false)));
    names.map(|(name, is_field)| after(code, &name, is_field).filter(|rest| reads(rest)).count()).sum()
}

/// The code behind each use of a name, as a field or as a variable.
fn after<'a>(code: &'a str, name: &'a str, is_field: bool) -> impl Iterator<Item = &'a str> {
    code.match_indices(name).filter_map(move |(at, _)| {
        let is_whole = finds(&code[at..], name) == Some(0);
        let before = code[..at].chars().next_back();
        let is_part = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.');
        (is_whole && (is_field || !is_part)).then_some(&code[at + name.len()..])
    })
}

/// The text is taken apart, or compared with words. A field may be a method: `finding.text()`.
fn reads(rest: &str) -> bool {
    let mut rest = rest.strip_prefix("()").unwrap_or(rest);
    loop {
        rest = rest.trim_start().trim_start_matches('?');
        if ["==", "!="].iter().any(|sign| rest.strip_prefix(sign).is_some_and(is_literal)) {
            return true;
        }
        let Some(chained) = rest.strip_prefix('.') else { return false };
        match PASSED.iter().find_map(|call| chained.strip_prefix(call)) {
            Some(further) => rest = further,
            None => return CALLS.iter().any(|call| finds(chained, call) == Some(0) && called(chained, call)),
        }
    }
}

/// A string literal of at least one letter, which is blanked here.
fn is_literal(rest: &str) -> bool {
    rest.len() - rest.trim_start_matches(' ').len() > " \"\"".len()
}

fn called(chained: &str, call: &str) -> bool {
    chained[call.len()..].starts_with('(')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(path: &str, text: &str) -> Vec<usize> {
        let sources = [Source::new(path, text)];
        check(&super::super::bans::production(&sources)).into_iter().map(|place| place.line).collect()
    }

    #[test]
    fn reading_our_own_words_is_found() {
        for planted in [
            "finding.text.split_once(\": \")",
            "rows.iter().any(|row| row.why.iter().any(|why| why.contains(\"assumed\")))",
            "note.text.trim().strip_prefix(status)?",
            "fact.why.as_deref().contains(x)",
            "match note { note if note.starts_with(\"W\") => 1 }",
            "found\n    .text\n    .ends_with(\"!\")",
            "finding.text().to_string().starts_with(\"x\")",
            "if said == \"in a pasted line\" { 1 } else { 2 }",
            "doc.paragraph.rfind('.')",
        ] {
            let text = format!("//! x\nfn f() {{\n    {planted};\n}}\n");
            assert_eq!(numbers("crates/verdict/src/x.rs", &text).len(), 1, "{planted}");
        }
        assert_eq!(numbers("crates/report/src/x.rs", "//! x\nlet a = why.split(\"; \");\n"), [2]);
    }

    #[test]
    fn other_text_tests_and_importers_are_free() {
        let planted = "why.contains(\"assumed\");\n";
        assert!(numbers("crates/boxscore/src/import/own.rs", planted).is_empty());
        assert!(numbers("crates/logs/src/x.rs", planted).is_empty());
        assert!(numbers("crates/verdict/tests/x.rs", planted).is_empty());
        let test = format!("#[cfg(test)]\nmod tests {{\n{planted}}}\n");
        assert!(numbers("crates/verdict/src/x.rs", &test).is_empty());
        for free in [
            "// why.contains(x)",
            "text.split_once('=')",
            "notes.contains(&a)",
            "row.why.clone()",
            "why.is_some()",
            "why == \"\"",
            "finding.text()",
        ] {
            assert!(numbers("crates/verdict/src/x.rs", free).is_empty(), "{free}");
        }
    }
}
