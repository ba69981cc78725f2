//! Writes the report of the tests' invented run, to look at: `sample FILE.html [two]`.

#[path = "../tests/common/mod.rs"]
mod common;

use report::html::{ReportInput, report};

fn main() -> std::io::Result<()> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "sample.html".to_owned());
    let several = std::env::args().nth(2).is_some();
    let mut input = ReportInput {
        runs: vec![(common::run(), common::data(12, 16, 112))],
        compare: Some(if several { common::three() } else { common::compare() }),
        version: "0.1.0".to_owned(),
        command: "boxscore report latest".to_owned(),
        generated: "2026-11-21 06:30 UTC".to_owned(),
    };
    if several {
        let mut other = common::run();
        other.machine.name = "nano-2".to_owned();
        input.runs.push((other, common::data(12, 4, 60)));
    }
    std::fs::write(file, report(&input))
}
