//! The cost of verbs on a store of 100,000 runs: 132 nodes that are measured nightly for two years. It is filled by
//! `perf/store.sql`, which the engine's own command-line program runs: copies of one planted run.
//!
//! Each verb has the limit that we set ourselves. No other tool keeps runs so that there is somebody to compare with.

use std::io::Write as _;
use std::process::Stdio;

use anyhow::{Context, Result};

use super::limits::{Scratch, keep, middle};
use super::options::Options;
use super::pairs::Outcome;
use crate::shell;

const RUNS: u32 = 100_000;
const TURNS: usize = 5;
const MOST_MS: f64 = 1000.0;

const VERBS: [(&str, &[&str]); 3] = [
    ("boxscore history, 100,000 runs", &["history"]),
    ("boxscore compare, 100,000 runs", &["compare", "node1", "node2"]),
    ("boxscore show, 100,000 runs", &["show", "latest"]),
];

pub fn run(options: &Options, outcome: &mut Outcome) -> Result<()> {
    let binary = options.product();
    let store = Scratch::new("store")?;
    if let Err(error) = fill(&store, &binary) {
        outcome.skip("a store of 100,000 runs", &format!("{error:#}"));
        return Ok(());
    }
    for (what, words) in VERBS {
        let took = middle(|| store.command(&binary, words), TURNS).map(|cost| cost.ms);
        keep(outcome, what, took, MOST_MS, "ms");
    }
    Ok(())
}

fn fill(store: &Scratch, binary: &str) -> Result<()> {
    let world = shell::root().join("perf/world.json").display().to_string();
    let words = ["run", "--quick", "--takes", "8", "--no-report", "--fake", &world];
    shell::must(&mut store.command(binary, &words))?;
    let file = store.file("store.db").display().to_string();
    let mut count = shell::command("sqlite3", &[&file, "SELECT max(no) FROM series"]);
    let series = shell::must_output(count.stdout(Stdio::piped()))?.trim().parse()?;
    let sql = std::fs::read_to_string(shell::root().join("perf/store.sql"))?;
    let mut child = shell::command("sqlite3", &["-bail", &file]).stdin(Stdio::piped()).spawn()?;
    child.stdin.take().context("no input")?.write_all(filled(&sql, series).as_bytes())?;
    anyhow::ensure!(child.wait()?.success(), "sqlite3 could not fill the store");
    Ok(())
}

/// The statements with their numbers.
fn filled(sql: &str, series: u32) -> String {
    let statements = sql.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
    statements.replace("RUNS", &RUNS.to_string()).replace("SERIES", &series.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_number() {
        let sql = include_str!("../../../perf/store.sql");
        let filled = filled(sql, 7);
        assert!(filled.starts_with("BEGIN;") && filled.contains("no + i * 7"));
        assert!(!filled.contains("RUNS") && !filled.contains("SERIES"));
    }
}
