//! `boxscore decide` over many sides, from the command to the answer and its page, beside the limit that we set
//! ourselves. No other tool says how many boxes a measurement asks for, so that there is nobody to compare with.
//!
//! The sides are planted: a few runs of one box, and copies of them under the names of the others. Their values are
//! alike and their prices are not.

use std::fmt::Write as _;
use std::process::Stdio;

use anyhow::{Context, Result};
use serde_json::Value;

use super::limits::{Scratch, keep, middle};
use super::options::Options;
use super::pairs::Outcome;
use crate::shell;

const SIDES: u32 = 100;
/// Runs of each side.
const RUNS: u32 = 3;
const TURNS: usize = 5;
const MOST_MS: f64 = 2000.0;

/// Instruments of each side, and the needs that they answer; the memory is a fact of the planted box.
const MEASURED: [&str; 4] = ["web-slo", "kv-slo", "crc32c", "mem-bandwidth"];
const NEEDS: [&str; 5] = [
    "web 200k/s p99<10ms",
    "kv 100k/s p99<10ms",
    "crc32c 20kB/s impl=fast size=16KiB threads=1",
    "mem-bandwidth 30kB/s op=read threads=1 cpus=auto pages=default",
    "memory 2TiB",
];

pub fn run(options: &Options, outcome: &mut Outcome) -> Result<()> {
    let binary = options.product();
    let store = Scratch::new("decide")?;
    if let Err(error) = fill(&store, &binary) {
        outcome.skip("a store of 100 sides", &format!("{error:#}"));
        return Ok(());
    }
    let words = words();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let took = middle(|| store.command(&binary, &words), TURNS).map(|cost| cost.ms);
    keep(outcome, "boxscore decide, 100 sides, 5 needs", took, MOST_MS, "ms");
    Ok(())
}

/// The question, with all that has a price: 10,000 draws are the default.
fn words() -> Vec<String> {
    let mut words = vec!["decide".to_owned()];
    words.extend(NEEDS.iter().flat_map(|need| ["--need".to_owned(), (*need).to_owned()]));
    words.push("--from".to_owned());
    words.extend((0..SIDES).map(side));
    let money = ["--prices", PRICES, "--kwh", "0.20..0.40", "--utilisation", "60..80%", "--spare", "n+1"];
    words.extend(money.map(str::to_owned));
    words
}

const PRICES: &str = "prices.csv";

/// The label and the box of a side.
fn side(number: u32) -> String {
    format!("side-{number:03}")
}

fn machine(number: u32) -> String {
    format!("box-{number:03}")
}

fn fill(store: &Scratch, binary: &str) -> Result<()> {
    let mut prices = "name,price,currency,watts\n".to_owned();
    for number in 0..SIDES {
        writeln!(prices, "{},{},EUR,{}", side(number), 900 + number, 40 + number % 20)?;
    }
    std::fs::write(store.file(PRICES), prices)?;
    let world = store.file("world.json");
    for seed in 1..=RUNS {
        std::fs::write(&world, planted(seed))?;
        let shown = world.display().to_string();
        let words = ["run", "--quick", "--takes", "8", "--no-report", "--fake", &shown, "--label", &side(0)];
        shell::must(&mut store.command(binary, &[&words[..], &MEASURED].concat()))?;
    }
    let mut export = store.command(binary, &["export", "--all"]);
    let export = shell::must_output(export.stdout(Stdio::piped()))?;
    let file = store.file("sides.json");
    std::fs::write(&file, copies(&export)?)?;
    shell::must(&mut store.command(binary, &["import", &file.display().to_string()]))
}

fn planted(seed: u32) -> String {
    let facts = serde_json::json!({"machine.id": machine(0), "machine.name": machine(0)});
    let series = serde_json::json!([{"instrument": "*", "median": 1000.0, "spread": 0.01, "between": 0.02}]);
    serde_json::json!({"seed": seed, "machines": {"": {"facts": facts}}, "series": series}).to_string()
}

/// An export of one side's runs as those of all others.
fn copies(export: &str) -> Result<String> {
    let mut document: Value = serde_json::from_str(export).context("an export is no JSON")?;
    let runs = document["runs"].as_array().context("an export without runs")?.clone();
    let mut all = Vec::new();
    for number in 1..SIDES {
        for run in &runs {
            all.push(copy(run, number)?);
        }
    }
    document["runs"] = Value::Array(all);
    Ok(document.to_string())
}

/// A run under the label and on the box of another side.
fn copy(run: &Value, number: u32) -> Result<Value> {
    let mut text = run.to_string().replace(&machine(0), &machine(number)).replace(&side(0), &side(number));
    for key in ["run", "study"] {
        let id = run[key].as_str().with_context(|| format!("a run without its {key}"))?;
        // The last digits of an id are random.
        let stem = id.get(..24).with_context(|| format!("{id} is no id"))?;
        text = text.replace(id, &format!("{stem}{number:08x}"));
    }
    Ok(serde_json::from_str(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_runs_of_their_own() {
        let (run, study) = ("0".repeat(32), "1".repeat(32));
        let export = serde_json::json!({
            "schema": "x", "runs": [{"run": run, "study": study, "label": side(0), "machine": machine(0)}]
        });
        let all: Value = serde_json::from_str(&copies(&export.to_string()).unwrap()).unwrap();
        let runs = all["runs"].as_array().unwrap();
        assert_eq!(runs.len(), 99);
        assert_eq!(runs[6]["label"], "side-007");
        assert_eq!(runs[6]["machine"], "box-007");
        assert_eq!(runs[6]["run"], format!("{}00000007", "0".repeat(24)));
        assert_ne!(runs[6]["study"], runs[7]["study"]);
        assert!(copies("{}").is_err() && copies("x").is_err());
    }

    #[test]
    fn every_side_is_asked_for() {
        let words = words();
        assert_eq!(words.iter().filter(|word| word.starts_with("side-")).count(), 100);
        assert_eq!(words.iter().filter(|word| *word == "--need").count(), 5);
    }
}
