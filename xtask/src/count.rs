//! `cargo xtask count`: lines of each crate by kind; `cargo xtask sample-docs`: doc comments drawn at random.
//!
//! A line counts once: as blank, as documentation (`///`, `//!`), as another comment, or as code. Code below a
//! `#[cfg(test)] mod`, in a file that only tests compile, and in `tests/`, `examples/` and `benches/` is test code.
//! Sources of measured languages, fixtures and other files than Rust are left out.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use crate::tidy;
use crate::tidy::bans::production;
use crate::tidy::prose::doc_comments;
use crate::tidy::source::{Source, crate_of};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lines {
    files: usize,
    code: usize,
    tests: usize,
    docs: usize,
    comments: usize,
    blank: usize,
}

impl Lines {
    fn add(&mut self, other: Lines) {
        self.files += other.files;
        self.code += other.code;
        self.tests += other.tests;
        self.docs += other.docs;
        self.comments += other.comments;
        self.blank += other.blank;
    }

    fn row(&self, name: &str) -> String {
        let Lines { files, code, tests, docs, comments, blank } = self;
        let sum = code + tests + docs + comments + blank;
        format!("{name:<12} {files:>6} {code:>8} {tests:>8} {docs:>8} {comments:>9} {blank:>8} {sum:>8}")
    }
}

/// Prints a table of the lines of each crate, the largest first.
pub fn run() -> Result<()> {
    println!(
        "{:<12} {:>6} {:>8} {:>8} {:>8} {:>9} {:>8} {:>8}",
        "crate", "files", "code", "tests", "docs", "comments", "blank", "sum"
    );
    let mut crates: Vec<(String, Lines)> = by_crate(&tidy::sources()?).into_iter().collect();
    crates.sort_by_key(|(_, lines)| std::cmp::Reverse(lines.code));
    let mut all = Lines::default();
    for (name, lines) in &crates {
        println!("{}", lines.row(name));
        all.add(*lines);
    }
    println!("{}", all.row("all"));
    Ok(())
}

fn by_crate(sources: &[Source]) -> BTreeMap<String, Lines> {
    let production: BTreeMap<&str, usize> = production(sources)
        .iter()
        .map(|(source, code)| (source.path.as_str(), code.lines().count()))
        .collect();
    let mut crates: BTreeMap<String, Lines> = BTreeMap::new();
    for source in sources.iter().filter(|source| source.is_rust()) {
        let until = production.get(source.path.as_str()).copied().unwrap_or(0);
        crates.entry(crate_of(&source.path).to_owned()).or_default().add(lines_of(source, until));
    }
    crates
}

/// The lines of a file whose tests begin after so many lines.
fn lines_of(source: &Source, until: usize) -> Lines {
    let mut lines = Lines { files: 1, ..Lines::default() };
    for (index, (text, code)) in source.text.lines().zip(source.code.lines()).enumerate() {
        let text = text.trim();
        let kind = match text {
            "" => &mut lines.blank,
            text if text.starts_with("///") || text.starts_with("//!") => &mut lines.docs,
            text if code.trim().is_empty() && text.starts_with("//") => &mut lines.comments,
            _ if index < until => &mut lines.code,
            _ => &mut lines.tests,
        };
        *kind += 1;
    }
    lines
}

/// Prints doc comments of production code, drawn at random; the seed makes the draw repeatable.
pub fn sample_docs(words: &[&str]) -> Result<()> {
    let (mut seed, mut count) = (1_u64, 20_usize);
    for pair in words.chunks(2) {
        match pair {
            ["--seed", value] => seed = value.parse().context("--seed N: a whole number")?,
            ["--count", value] => count = value.parse().context("--count N: a whole number")?,
            _ => bail!("sample-docs [--seed N] [--count N], not `{}`", pair.join(" ")),
        }
    }
    let sources = tidy::sources()?;
    let mut docs = Vec::new();
    for file in production(&sources) {
        docs.extend(doc_comments(&file).into_iter().map(|doc| (&file.0.path, doc)));
    }
    for index in drawn(docs.len(), count, seed) {
        let (path, doc) = &docs[index];
        println!("{path}:{}\n    {}\n", doc.line, doc.text.replace('\n', "\n    "));
    }
    Ok(())
}

/// So many different numbers below `of`, in the order in which they were drawn (SplitMix64).
fn drawn(of: usize, count: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let mut found = Vec::new();
    while found.len() < count.min(of) {
        let index = (next() % of as u64) as usize;
        if !found.contains(&index) {
            found.push(index);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_counts_once_and_tests_count_apart() {
        let text = "//! x\n\n/// a\nfn a() {\n    // why\n    b();\n}\n#[cfg(test)]\nmod tests {\n}\n";
        let sources = [
            Source::new("crates/a/src/x.rs", text),
            Source::new("crates/a/tests/y.rs", "//! y\nfn b() {}\n"),
            Source::new("crates/a/README.md", "x"),
        ];
        let lines = by_crate(&sources)["a"];
        assert_eq!(lines, Lines { files: 2, code: 3, tests: 4, docs: 3, comments: 1, blank: 1 });
    }

    #[test]
    fn a_seed_draws_the_same_again() {
        assert_eq!(drawn(1000, 20, 7), drawn(1000, 20, 7));
        assert_ne!(drawn(1000, 20, 7), drawn(1000, 20, 8));
        let mut all = drawn(5, 20, 1);
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }
}
