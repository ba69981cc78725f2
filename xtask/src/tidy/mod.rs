//! House rules that no compiler knows: who may depend on whom, banned calls, size, dead files, leftovers, links.
//!
//! Every rule is a pure function from text to complaints, tested beside it. A complaint says what to do.

mod arrows;
mod bans;
mod code;
mod dead;
mod links;
mod size;
mod words;

use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::shell;

/// Folders that hold nothing of ours.
const SKIPPED: &[&str] = &[".git", "target", "dist", "corpus", "artifacts", "node_modules"];
/// The files that are read.
const READ: &[&str] = &["rs", "toml", "md", "sh", "yml", "yaml"];

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

/// Checks the working tree and prints every complaint, then where unsafe code lives.
pub fn run() -> Result<()> {
    let root = shell::root();
    let mut sources = Vec::new();
    collect(&root, &root, &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    let exceptions = fs::read_to_string(root.join(size::EXCEPTIONS)).unwrap_or_default();
    let metadata = shell::output(&shell::cargo(), &["metadata", "--no-deps", "--format-version", "1"])?;
    let mut complaints = arrows::check(&arrows::parse(&metadata)?);
    complaints.extend(bans::check(&sources));
    complaints.extend(size::check(&sources, &exceptions));
    complaints.extend(dead::check(&sources));
    complaints.extend(links::check(&sources, &|path| root.join(path).exists()));
    complaints.extend(words::check(&sources, &std::env::var("BOXSCORE_TIDY_WORDS").unwrap_or_default()));
    complaints.sort();
    println!("unsafe code outside crates/sys:");
    for home in bans::unsafe_homes(&sources) {
        println!("  {home}");
    }
    for complaint in &complaints {
        println!("{complaint}");
    }
    if !complaints.is_empty() {
        bail!("{} to put right", complaints.len());
    }
    Ok(())
}

fn collect(root: &Path, folder: &Path, found: &mut Vec<Source>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            if !SKIPPED.contains(&name.as_ref()) {
                collect(root, &path, found)?;
            }
        } else if name == "Makefile" || READ.iter().any(|end| path.extension().is_some_and(|e| e == *end)) {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            found.push(Source::new(path.strip_prefix(root)?.to_string_lossy(), text));
        }
    }
    Ok(())
}

/// The lines of `text` with numbers from 1.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(index, line)| (index + 1, line))
}

/// Where `word` stands in `line`, not as a part of a longer identifier.
fn finds(line: &str, word: &str) -> Option<usize> {
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
