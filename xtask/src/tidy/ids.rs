//! Names of instruments and metrics as string literals, in crates that must take them from constants and cards.
//!
//! A name with a mark in it (`mem-latency`, `size.mean`) is found wherever it stands. A plain word (`timer`, `load`) is
//! as often a heading or a parameter, so it counts only in a line that speaks of an instrument or a metric.

use std::collections::BTreeSet;

use super::bans::{Production, production};
use super::source::{Complaint, Source, finds, lines};

const INSIDE: &[&str] = &["crates/verdict/src/", "crates/report/src/"];
/// The layout of another program, which has names of its own.
const HOMES: &[&str] = &["crates/report/src/text/clusterperf"];
/// Code before the literal that names an instrument or a metric.
const DEFINE: &[&str] = &["Metric::new(", "Metric::neither(", "Scan::new(", "Card {\n    name:"];
/// Files of constants that are such names.
const CONSTANTS: &[&str] = &["crates/model/src/names/instrument.rs", "crates/model/src/traffic.rs"];
/// Words of a line that speaks of an instrument or a metric.
const SPEAKS: &[&str] = &["instrument", "metric", "INSTRUMENT", "METRIC", "figures_of", "source"];

/// Every such literal in production code.
pub fn check(sources: &[Source]) -> Vec<Complaint> {
    let files = production(sources);
    let names: BTreeSet<&str> = files.iter().flat_map(|(source, _)| defined(source)).collect();
    let is_inside = |(source, _): &&Production<'_>| {
        INSIDE.iter().any(|folder| source.path.starts_with(folder))
            && !HOMES.iter().any(|home| source.path.starts_with(home))
    };
    files.iter().filter(is_inside).flat_map(|(source, code)| inside(source, code, &names)).collect()
}

/// Names of instruments and metrics that a file defines.
fn defined(source: &Source) -> Vec<&str> {
    if !["crates/instruments/src/", "crates/model/src/"].iter().any(|home| source.path.starts_with(home)) {
        return Vec::new();
    }
    let constants = CONSTANTS.contains(&source.path.as_str()).then_some(&": &str =");
    let literal = |rest: &'static str| {
        let after = |(at, found): (usize, &str)| {
            source.text[at + found.len()..].trim_start().strip_prefix('"')?.split('"').next()
        };
        source.text.match_indices(rest).filter_map(after)
    };
    DEFINE.iter().chain(constants).flat_map(|call| literal(call)).filter(|name| !name.is_empty()).collect()
}

fn inside(source: &Source, code: &str, names: &BTreeSet<&str>) -> Vec<Complaint> {
    let mut found = Vec::new();
    for ((number, line), code) in lines(&source.text).zip(code.lines()) {
        let speaks = SPEAKS.iter().any(|word| finds(code, word).is_some());
        let is_plain = |name: &str| name.chars().all(|c| c.is_ascii_lowercase());
        for name in literals(line, code) {
            if names.contains(name) && (speaks || !is_plain(name)) {
                let what = format!(
                    "`{name}` names an instrument or a metric: take it from model::names::instrument, model::metrics \
                     or a card"
                );
                found.push(Complaint::new(&source.path, number, what));
            }
        }
    }
    found
}

/// The string literals of a line, but for names of parameters that are read. `code` is the line without literals and
/// comments.
fn literals<'a>(line: &'a str, code: &str) -> Vec<&'a str> {
    if line.trim_start().starts_with("//") || code.trim().is_empty() && !line.contains('"') {
        return Vec::new();
    }
    let parts: Vec<&str> = line.split('"').collect();
    let quoted = parts.windows(2).step_by(2).filter(|pair| !pair[0].ends_with(".get("));
    quoted.map(|pair| pair[1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEFINED: [(&str, &str); 3] = [
        ("crates/instruments/src/a.rs", "static CARD: Card = Card {\n    name: \"mem-latency\",\n};\n"),
        (
            "crates/model/src/metrics/a.rs",
            "pub const A: Metric<Count> =\n    Metric::neither(\n    \"load\", \"\");\n",
        ),
        ("crates/model/src/names/instrument.rs", "pub const TIMER: &str = \"timer\";\n"),
    ];

    fn numbers(path: &str, text: &str) -> Vec<usize> {
        let sources: Vec<Source> =
            DEFINED.into_iter().chain([(path, text)]).map(|(path, text)| Source::new(path, text)).collect();
        check(&sources).into_iter().map(|complaint| complaint.line).collect()
    }

    #[test]
    fn a_name_as_a_literal_is_found() {
        for planted in [
            "key.instrument == \"timer\"",
            "matches!(name, \"x\" | \"mem-latency\")",
            "const METRIC: &str = \"load\"",
            "one.metric.as_str() != \"load\"",
        ] {
            let text = format!("//! x\nfn f() {{\n    {planted};\n}}\n");
            assert_eq!(numbers("crates/verdict/src/x.rs", &text), [3], "{planted}");
            assert_eq!(numbers("crates/report/src/x.rs", &text), [3], "{planted}");
            assert!(numbers("crates/boxscore/src/x.rs", &text).is_empty());
            assert!(numbers("crates/report/src/text/clusterperf/x.rs", &text).is_empty());
            let test = format!("//! x\n#[cfg(test)]\nmod tests {{\n    {planted};\n}}\n");
            assert!(numbers("crates/verdict/src/x.rs", &test).is_empty());
        }
    }

    #[test]
    fn headings_parameters_and_comments_are_free() {
        for free in [
            "params.get(\"load\").or(key.metric)",
            "let head = [\"timer\", \"load\"]",
            "key.instrument == \"other\"",
            "// of \"mem-latency\"",
            "\"a mem-latency\"",
        ] {
            assert!(numbers("crates/verdict/src/x.rs", &format!("{free};\n")).is_empty(), "{free}");
        }
    }
}
