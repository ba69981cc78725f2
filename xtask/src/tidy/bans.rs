//! Calls and types that have a home: outside it they are banned, and the message names what to use instead.

use super::code::first_test_line;
use super::source::{Complaint, Source, finds, lines};

struct Ban {
    what: &'static str,
    /// Where the ban holds: prefixes of paths; empty means everywhere.
    inside: &'static [&'static str],
    /// Where it does not: the homes.
    homes: &'static [&'static str],
    /// True if tests may do it.
    tests: bool,
    instead: &'static str,
}

const PURE: &[&str] =
    &["crates/model/", "crates/stats/", "crates/verdict/", "crates/report/", "crates/logs/"];
const DATA: &[&str] = &["crates/model/", "crates/stats/", "crates/verdict/", "crates/report/"];

const BANS: &[Ban] = &[
    Ban {
        what: "Instant::now",
        inside: &["crates/"],
        homes: &["crates/sys/"],
        tests: true,
        instead: "use sys::clock (tests can fake it)",
    },
    Ban {
        what: "SystemTime",
        inside: &["crates/"],
        // Ids and the names of backups hold the wall-clock time.
        homes: &["crates/sys/", "crates/store/src/open.rs"],
        tests: true,
        instead: "use sys::clock, or take the time as a value",
    },
    Ban {
        what: "Instant",
        inside: PURE,
        homes: &[],
        tests: true,
        instead: "take the time as a value (nanoseconds since the run's start)",
    },
    Ban {
        what: "Command::new",
        inside: &["crates/"],
        homes: &[
            "crates/sys/",
            "crates/boxscore/",
            "crates/lab/",
            "crates/instruments/src/workload/",
            "crates/instruments/src/bench/runtime/",
        ],
        tests: true,
        instead: "read sysfs or /proc, or spawn from sys, boxscore, lab, instruments/src/workload or bench/runtime",
    },
    Ban {
        what: "fs::write",
        inside: &["crates/"],
        // What a build makes is of that build.
        homes: &["crates/sys/", "crates/instruments/build.rs"],
        tests: true,
        instead: "use sys::files, which writes a new file and renames it",
    },
    Ban {
        what: "File::create",
        inside: &["crates/"],
        homes: &["crates/sys/", "crates/store/"],
        tests: true,
        instead: "use sys::files, which writes a new file and renames it",
    },
    Ban {
        what: "std::fs",
        inside: DATA,
        homes: &[],
        tests: true,
        instead: "data in, text out: the caller reads and writes files",
    },
    Ban {
        what: "std::net",
        inside: &["crates/"],
        homes: &["crates/sys/", "crates/boxscore/", "crates/instruments/", "crates/lab/"],
        tests: true,
        instead: "this crate has no network",
    },
    Ban {
        what: "std::env",
        inside: PURE,
        homes: &[],
        tests: true,
        instead: "the caller reads the environment and passes a value",
    },
    Ban {
        what: ".unwrap()",
        inside: &["crates/", "xtask/"],
        homes: &[],
        tests: true,
        instead: "use `?`, a default with a reason, or `.expect(\"why it cannot fail\")`",
    },
    Ban {
        // With a reason it may stand: some lints fire on one target only.
        what: "#[allow(",
        inside: &[],
        homes: &[],
        tests: false,
        instead: "use #[expect(..., reason = \"...\")], which fails once it is no longer needed",
    },
    Ban {
        what: "#![allow(",
        inside: &[],
        homes: &[],
        // A module that several tests share is used by each in part.
        tests: true,
        instead: "use #![expect(..., reason = \"...\")], which fails once it is no longer needed",
    },
    Ban {
        what: "#[ignore",
        inside: &[],
        homes: &[],
        tests: false,
        instead: "make the test pass, or delete it",
    },
];

/// A path whose whole file is a test or an example.
pub fn is_test_file(path: &str) -> bool {
    ["/tests/", "/examples/", "/benches/"].iter().any(|part| path.contains(part))
        || path.starts_with("tests/")
}

/// A file and its code before its tests.
pub type Production<'a> = (&'a Source, &'a str);

/// The Rust files that are not wholly tests.
pub fn production(sources: &[Source]) -> Vec<Production<'_>> {
    let tests = super::dead::test_only(sources);
    let is_test = |source: &Source| is_test_file(&source.path) || tests.contains(&source.path);
    let files = sources.iter().filter(|source| source.is_rust() && !is_test(source));
    files.map(|source| (source, before_tests(&source.code))).collect()
}

fn before_tests(code: &str) -> &str {
    let from = first_test_line(code).saturating_sub(1);
    let end: usize = code.split_inclusive('\n').take(from).map(str::len).sum();
    &code[..end]
}

pub fn check(sources: &[Source]) -> Vec<Complaint> {
    let tests = super::dead::test_only(sources);
    let is_test = |source: &Source| is_test_file(&source.path) || tests.contains(&source.path);
    sources.iter().filter(|source| source.is_rust()).flat_map(|source| one(source, is_test(source))).collect()
}

fn one(source: &Source, is_test: bool) -> Vec<Complaint> {
    let starts = |list: &[&str]| list.iter().any(|prefix| source.path.starts_with(prefix));
    let tests_from = if is_test { 0 } else { first_test_line(&source.code) };
    let mut complaints = Vec::new();
    for ban in BANS.iter().filter(|ban| (ban.inside.is_empty() || starts(ban.inside)) && !starts(ban.homes)) {
        for (number, line) in lines(&source.code) {
            let reasoned = ban.what.starts_with("#[allow") && line.contains("reason =");
            if finds(line, ban.what).is_some() && !reasoned && !(ban.tests && number >= tests_from) {
                let what = format!("{} is banned here: {}", ban.what, ban.instead);
                complaints.push(Complaint::new(&source.path, number, what));
            }
        }
    }
    complaints
}

/// `path:line` of each place outside sys that expects unsafe code.
pub fn unsafe_homes(sources: &[Source]) -> Vec<String> {
    let mut homes = Vec::new();
    for source in sources.iter().filter(|source| source.is_rust() && !source.path.starts_with("crates/sys/"))
    {
        for (number, line) in lines(&source.code) {
            if line.contains("expect(") && finds(line, "unsafe_code").is_some() {
                homes.push(format!("{}:{number}", source.path));
            }
        }
    }
    homes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(path: &str, text: &str) -> Vec<String> {
        check(&[Source::new(path, text)]).iter().map(Complaint::to_string).collect()
    }

    #[test]
    fn a_banned_call_is_named_with_its_line_and_the_replacement() {
        let found = complaints("crates/instruments/src/bench/x.rs", "//! x\nlet t = Instant::now();\n");
        assert_eq!(
            found,
            [
                "crates/instruments/src/bench/x.rs:2: Instant::now is banned here: use sys::clock (tests can fake it)"
            ]
        );
    }

    #[test]
    fn homes_tests_comments_and_strings_are_free() {
        assert!(complaints("crates/sys/src/clock.rs", "Instant::now()").is_empty());
        assert!(complaints("crates/harness/src/a.rs", "// Instant::now\n\"Instant::now\"").is_empty());
        let text = "#[cfg(test)]\nmod tests {\n Instant::now();\n}\n";
        assert!(complaints("crates/harness/src/a.rs", text).is_empty());
        assert!(complaints("crates/harness/tests/a.rs", "Instant::now()").is_empty());
    }

    #[test]
    fn an_attribute_that_silences_is_banned_even_in_tests() {
        let text = "#[cfg(test)]\nmod tests {\n #[allow(dead_code)]\n fn a() {}\n}\n";
        assert_eq!(complaints("crates/sys/src/a.rs", text).len(), 1);
        assert!(complaints("crates/sys/src/a.rs", "#[allow(dead_code, reason = \"32 bits\")]").is_empty());
    }

    #[test]
    fn pure_crates_read_no_file() {
        assert_eq!(complaints("crates/report/src/a.rs", "use std::fs;").len(), 1);
        assert!(complaints("crates/boxscore/src/a.rs", "use std::fs;").is_empty());
    }

    #[test]
    fn unsafe_homes_are_listed() {
        let text = "//! x\n#[expect(unsafe_code, reason = \"simd\")]\nfn f() {}\n";
        let sources =
            [Source::new("crates/instruments/src/a.rs", text), Source::new("crates/sys/src/a.rs", text)];
        assert_eq!(unsafe_homes(&sources), ["crates/instruments/src/a.rs:2"]);
    }
}
