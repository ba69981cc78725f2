//! Words that must not stay in a file: notes of unfinished work, addresses of package registries, and a second spelling
//! of a unit.
//!
//! `BOXSCORE_TIDY_WORDS` adds words of one's own, separated by commas.

use super::source::{Complaint, Source, finds, lines};

/// Notes of unfinished work; macros of the kind are lints as well.
const LEFT: &[&str] = &["FIXME", "XXX", "TODO", "todo!", "unimplemented!", "dbg!"];
/// Registries move and are mirrored: only `Cargo.lock` names one.
const HOSTS: &[&str] = &["crates.io", "pypi.org", "pythonhosted.org", "npmjs.com", "npmjs.org"];
/// Micro, in both of its characters: some terminals show neither, and one unit has one spelling.
const MICRO: [&str; 2] = ["\u{b5}", "\u{3bc}"];
/// The lists above must stand somewhere.
const SELF: &str = "xtask/src/tidy/words.rs";

pub fn check(sources: &[Source], extra: &str) -> Vec<Complaint> {
    let extra: Vec<&str> = extra.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.path != SELF) {
        for (number, line) in lines(&source.text) {
            for word in LEFT.iter().filter(|word| finds(line, word).is_some()) {
                let what = format!("{word}: finish it now, or open an issue and drop the note");
                complaints.push(Complaint::new(&source.path, number, what));
            }
            for word in HOSTS.iter().filter(|word| line.contains(*word)) {
                let what = format!("{word}: name the package, not its registry");
                complaints.push(Complaint::new(&source.path, number, what));
            }
            if MICRO.iter().any(|sign| line.contains(sign)) {
                complaints.push(Complaint::new(&source.path, number, "the micro sign: write us"));
            }
            for word in extra.iter().filter(|word| line.contains(*word)) {
                complaints.push(Complaint::new(
                    &source.path,
                    number,
                    format!("{word}: say it without this word"),
                ));
            }
        }
    }
    complaints
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leftovers_and_hosts_are_named() {
        let text = "a FIXME\nmktemp /tmp/x.XXXXXX\nhttps://crates.io/x\ndbg!(x)\n";
        let found: Vec<usize> = check(&[Source::new("a.rs", text)], "").iter().map(|c| c.line).collect();
        assert_eq!(found, [1, 3, 4]);
    }

    #[test]
    fn microseconds_have_one_spelling() {
        let sources = [Source::new("a.rs", "3 us\n3 \u{b5}s\n3 \u{3bc}s\n")];
        let found: Vec<usize> = check(&sources, "").iter().map(|c| c.line).collect();
        assert_eq!(found, [2, 3]);
    }

    #[test]
    fn words_can_be_added() {
        let sources = [Source::new("a.md", "all is quiet\n")];
        assert_eq!(check(&sources, "").len(), 0);
        assert_eq!(check(&sources, "noise, quiet").len(), 1);
    }
}
