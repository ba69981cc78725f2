//! Relative links in Markdown must lead to a file of the tree. Addresses elsewhere are not followed.

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
    fn code_holds_no_links() {
        let text = "`[a](no.md)`\n```\n[a](no.md)\n```\n";
        assert_eq!(check(&[Source::new("x.md", text)], &|_| false), []);
    }
}
