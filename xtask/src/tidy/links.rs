//! Relative links in Markdown must lead to a file of the tree, and source files that its code spans name must exist:
//! `curve.rs`, `verdict/src/curve.rs`. Addresses elsewhere are not followed, nor placeholders such as `NAME.rs`.

use super::source::{Complaint, Source, lines};

pub fn check(sources: &[Source], exists: &dyn Fn(&str) -> bool) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for source in sources.iter().filter(|source| source.path.ends_with(".md")) {
        let folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let mut fenced = false;
        for (number, line) in lines(&source.text) {
            if line.trim_start().starts_with("```") {
                fenced = !fenced;
            }
            if fenced {
                continue;
            }
            for span in line.split('`').skip(1).step_by(2).filter(|span| is_source(span)) {
                let is_there =
                    |source: &Source| source.path == *span || source.path.ends_with(&format!("/{span}"));
                if !sources.iter().any(is_there) {
                    let what = format!("there is no `{span}`");
                    complaints.push(Complaint::new(&source.path, number, what));
                }
            }
            for target in targets(line) {
                let path = resolved(folder, target);
                if !exists(&path) {
                    let what = format!("the link to `{target}` leads nowhere; there is no {path}");
                    complaints.push(Complaint::new(&source.path, number, what));
                }
            }
        }
    }
    complaints
}

/// True for the name of a Rust file, with or without folders.
fn is_source(span: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-/.".contains(c);
    span.len() > 3 && span.ends_with(".rs") && span.chars().all(is_plain) && !span.starts_with("..")
}

/// The relative targets of the links in a line, without anchor and title.
fn targets(line: &str) -> Vec<&str> {
    // Code spans are not links: only the parts outside of back quotes count.
    let outside = line.split('`').step_by(2);
    let mut found = Vec::new();
    for part in outside {
        for (at, _) in part.match_indices("](") {
            let rest = &part[at + 2..];
            let Some(end) = rest.find([')', ' ']) else { continue };
            let target = rest[..end].split('#').next().unwrap_or_default();
            if !target.is_empty() && !target.contains(':') {
                found.push(target);
            }
        }
    }
    found
}

fn resolved(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_nothing_is_named() {
        let text = "See [a](../README.md#x) and [b](gone.md \"t\"), [c](https://example.org), [d](#here).\n";
        let found = check(&[Source::new("docs/x.md", text)], &|path| path == "README.md");
        assert_eq!(found.len(), 1);
        assert!(found[0].to_string().starts_with("docs/x.md:1: the link to `gone.md`"), "{found:?}");
    }

    #[test]
    fn a_source_file_that_is_gone_is_named() {
        let text = "In `stats/src/holm.rs`, `holm.rs`, `NAME.rs` and `first.rs`; `cargo run x.rs`.\n";
        let sources = [Source::new("docs/x.md", text), Source::new("crates/stats/src/holm.rs", "")];
        let found: Vec<String> = check(&sources, &|_| true).iter().map(ToString::to_string).collect();
        assert_eq!(found, ["docs/x.md:1: there is no `first.rs`"]);
    }

    #[test]
    fn code_holds_no_links() {
        let text = "`[a](no.md)`\n```\n[a](no.md)\n```\n";
        assert_eq!(check(&[Source::new("x.md", text)], &|_| false), []);
    }
}
