//! Rules that the code does not keep everywhere yet: how many breaches each crate, or all together, may still have.
//!
//! The numbers only go down. One over its limit is an error; `cargo xtask tidy --lower` writes lower ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::source::{Complaint, Place, Source, crate_of};
use super::{bans, circle, own_text, prose};

/// Lines `RULE CRATE NUMBER`; `#` starts a remark.
pub const LIMITS: &str = "xtask/tidy-ratchets.txt";

/// The name of all crates together.
const ALL: &str = "all";

/// A rule in one crate: how often it is broken now, what may be done instead, and where it is broken.
pub struct Count {
    pub rule: &'static str,
    pub krate: String,
    pub now: usize,
    /// What may be without a line in [`LIMITS`].
    pub free: usize,
    pub says: String,
    pub places: Vec<String>,
}

/// Every rule in every crate that breaks it.
pub fn counts(sources: &[Source]) -> Vec<Count> {
    let files = &bans::production(sources);
    let mut counts = by_crate("own-text", own_text::INSTEAD, own_text::places(files));
    counts.extend(everywhere("doc-what", prose::DOC, prose::docs(files)));
    counts.extend(everywhere("vague-name", prose::NAME, prose::names(files)));
    counts.extend(circle::largest(files).into_iter().map(|(krate, circle)| Count {
        rule: "circle",
        krate,
        now: circle.len(),
        free: circle::MOST,
        says: format!("files import each other in a circle; {} are the most", circle::MOST),
        places: circle.iter().map(|(path, targets)| arrows(path, targets)).collect(),
    }));
    counts
}

/// One count over all crates, between which code may move.
fn everywhere(rule: &'static str, says: &str, places: Vec<Place>) -> Option<Count> {
    let places: Vec<String> = places.iter().map(|place| format!("{}:{}", place.path, place.line)).collect();
    let (now, krate, says) = (places.len(), ALL.to_owned(), says.to_owned());
    (now > 0).then_some(Count { rule, krate, now, free: 0, says, places })
}

fn by_crate(rule: &'static str, says: &str, places: Vec<Place>) -> Vec<Count> {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for place in places {
        let shown = format!("{}:{}", place.path, place.line);
        found.entry(crate_of(&place.path).to_owned()).or_default().push(shown);
    }
    let count = |(krate, places): (String, Vec<String>)| Count {
        rule,
        krate,
        now: places.len(),
        free: 0,
        says: says.to_owned(),
        places,
    };
    found.into_iter().map(count).collect()
}

/// `path -> targets`, the targets from the `src` of the crate.
fn arrows(path: &str, targets: &[String]) -> String {
    let root = path.find("/src/").map_or(0, |at| at + "/src/".len());
    let targets: Vec<&str> = targets.iter().map(|target| target.get(root..).unwrap_or(target)).collect();
    format!("{path} -> {}", targets.join(", "))
}

/// What is over its limit.
pub fn check(counts: &[Count], limits: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for count in counts {
        let limit = limit(limits, count.rule, &count.krate).unwrap_or(0).max(count.free);
        if count.now > limit {
            let mut what =
                format!("{} {}: {}, may be {limit}: {}", count.rule, count.krate, count.now, count.says);
            for place in &count.places {
                let _ = write!(what, "\n    {place}");
            }
            complaints.push(Complaint::new(LIMITS, 0, what));
        }
    }
    complaints
}

/// The limits lowered to what is broken now; lines that nothing needs are left out. No limit is raised or added.
pub fn lowered(counts: &[Count], limits: &str) -> String {
    let mut text = String::new();
    for line in limits.lines() {
        let Some((rule, krate, was)) = entry(line) else {
            let _ = writeln!(text, "{line}");
            continue;
        };
        let count = counts.iter().find(|count| count.rule == rule && count.krate == krate);
        if let Some(count) = count.filter(|count| count.now > count.free) {
            let _ = writeln!(text, "{rule} {krate} {}", count.now.min(was));
        }
    }
    text
}

fn limit(limits: &str, rule: &str, krate: &str) -> Option<usize> {
    limits.lines().filter_map(entry).find(|entry| entry.0 == rule && entry.1 == krate).map(|entry| entry.2)
}

fn entry(line: &str) -> Option<(&str, &str, usize)> {
    let mut words = line.split_whitespace();
    let (rule, krate, number) = (words.next()?, words.next()?, words.next()?);
    (!rule.starts_with('#')).then_some((rule, krate, number.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(times: usize) -> Vec<Count> {
        let text = "why.contains(x);\n".repeat(times);
        counts(&[Source::new("crates/verdict/src/x.rs", text)])
    }

    #[test]
    fn a_limit_holds_and_only_goes_down() {
        let limits = "# why\nown-text verdict 2\n";
        assert_eq!(check(&broken(2), limits), []);
        let found = check(&broken(3), limits);
        assert!(found[0].what.starts_with("own-text verdict: 3, may be 2: decide from"), "{found:?}");
        assert!(found[0].what.contains("crates/verdict/src/x.rs:3"), "{found:?}");
        assert_eq!(check(&broken(1), "").len(), 1);
        assert_eq!(lowered(&broken(1), limits), "# why\nown-text verdict 1\n");
        assert_eq!(lowered(&broken(3), limits), limits);
        assert_eq!(lowered(&broken(0), limits), "# why\n");
    }
}
