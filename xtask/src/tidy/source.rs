//! A file of ours as the rules read it, and what they say of it.

use std::fmt;

use super::code;

/// One text file; the path is relative to the root, with `/`.
#[derive(Clone, Debug)]
pub struct Source {
    pub path: String,
    pub text: String,
    /// The text with comments, strings and characters blanked (Rust only; else the text).
    pub code: String,
}

impl Source {
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Source {
        let (path, text) = (path.into(), text.into());
        let code = if path.ends_with(".rs") { code::blanked(&text) } else { text.clone() };
        Source { path, text, code }
    }

    pub fn is_rust(&self) -> bool {
        // A language's own sources are measured, and are no part of this program.
        let is_ours = !["/fixtures/", "/runtime/languages/"].iter().any(|part| self.path.contains(part));
        self.path.ends_with(".rs") && is_ours
    }
}

/// One thing to put right.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Complaint {
    pub path: String,
    /// From 1; 0 where the whole file is meant.
    pub line: usize,
    pub what: String,
}

impl Complaint {
    pub fn new(path: &str, line: usize, what: impl Into<String>) -> Complaint {
        Complaint { path: path.into(), line, what: what.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.what),
            line => write!(f, "{}:{line}: {}", self.path, self.what),
        }
    }
}

/// The crate of a path: `crates/NAME/...`, or the first folder.
pub fn crate_of(path: &str) -> &str {
    let mut parts = path.split('/');
    match parts.next() {
        Some("crates") => parts.next().unwrap_or(""),
        first => first.unwrap_or(""),
    }
}

/// The lines of `text` with numbers from 1.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Where `word` stands in `line`, not as a part of a longer identifier.
pub fn finds(line: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let guarded_start = word.starts_with(is_part);
    let guarded_end = word.ends_with(is_part);
    line.match_indices(word)
        .find(|(at, _)| {
            let before = line[..*at].chars().next_back();
            let after = line[at + word.len()..].chars().next();
            !(guarded_start && before.is_some_and(is_part) || guarded_end && after.is_some_and(is_part))
        })
        .map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_only_whole() {
        assert_eq!(finds("a = Instant::now();", "Instant::now"), Some(4));
        assert_eq!(finds("MyInstant::now()", "Instant::now"), None);
        assert_eq!(finds("Instant::nowhere()", "Instant::now"), None);
        assert_eq!(finds("x.unwrap()", ".unwrap()"), Some(1));
    }

    #[test]
    fn a_complaint_reads_as_path_line_what() {
        assert_eq!(Complaint::new("a.rs", 3, "no").to_string(), "a.rs:3: no");
        assert_eq!(Complaint::new("a.rs", 0, "no").to_string(), "a.rs: no");
    }
}
