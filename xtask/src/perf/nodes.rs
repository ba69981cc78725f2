//! Memory of the program that controls a study of 1,000 machines, beside the limit that we set ourselves.
//!
//! The machines are processes of this host that measure nothing: their figures are planted. What is counted is the
//! largest resident size of the controller, not that of its agents.

use super::limits::{Scratch, keep, middle};
use super::options::Options;
use super::pairs::Outcome;
use crate::shell;

use anyhow::Result;

const MACHINES: usize = 1000;
const MOST_MB: f64 = 200.0;

pub fn run(options: &Options, outcome: &mut Outcome) -> Result<()> {
    let binary = options.product();
    let folder = Scratch::new("nodes")?;
    let world = shell::root().join("perf/world.json").display().to_string();
    let vias: Vec<String> = (1..=MACHINES).map(|number| format!("--via=node{number}={binary}")).collect();
    let words: Vec<&str> = ["run", "--quick", "--takes", "3", "--no-report", "--fake", &world]
        .into_iter()
        .chain(vias.iter().map(String::as_str))
        .collect();
    let peak = middle(|| folder.command(&binary, &words), 1).map(|cost| cost.peak_megabytes());
    keep(outcome, "memory of a study of 1,000 machines", peak, MOST_MB, "MB");
    Ok(())
}
