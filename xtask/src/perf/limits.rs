//! Our own size, start-up, and what a long history costs, beside the limits that we set ourselves.
//!
//! Times are medians of wall milliseconds from spawn to exit. Memory is the largest resident size that
//! /proc showed, polled each millisecond: the last moments of a short process may be missed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::options::Options;
use super::pairs::{Limit, Outcome};
use crate::shell;

/// Runs in the store when its costs are measured.
const RUNS: usize = 1000;
const TURNS: usize = 21;

pub fn run(options: &Options, outcome: &mut Outcome) -> Result<()> {
    let binary = options.product();
    let store = Scratch::new("limits")?;
    #[expect(clippy::cast_precision_loss, reason = "a file's size is far below 2^53")]
    let megabytes = std::fs::metadata(&binary)?.len() as f64 / 1e6;
    keep(outcome, "size of the binary", Ok(megabytes), 15.0, "MB");
    let timed = |words: &[&str], turns| middle(|| store.command(&binary, words), turns).map(|cost| cost.ms);
    keep(outcome, "boxscore --version", timed(&["--version"], TURNS), 10.0, "ms");
    keep(outcome, "boxscore inspect", timed(&["inspect"], TURNS), 200.0, "ms");
    if let Err(error) = store.fill(&binary) {
        outcome.skip("a store of 1,000 runs", &format!("{error:#}"));
        return Ok(());
    }
    keep(outcome, "boxscore history, 1,000 runs", timed(&["history"], 5), 1000.0, "ms");
    let compare = timed(&["compare", "latest~1", "latest"], 5);
    keep(outcome, "boxscore compare, 1,000 runs", compare, 1000.0, "ms");
    let peak = middle(|| store.fake_run(&binary), 3).map(|cost| cost.peak_megabytes());
    keep(outcome, "memory of a run, 1,000 runs in the store", peak, 100.0, "MB");
    Ok(())
}

/// Shows and keeps a value with its limit; a verb that fails is skipped, visibly.
pub fn keep(outcome: &mut Outcome, what: &'static str, value: Result<f64>, most: f64, unit: &'static str) {
    match value {
        Ok(value) => {
            let mark = if value <= most { "holds" } else { "BROKEN" };
            println!("{what:<44} {value:>10.2} {unit} of {most} {unit}: {mark}");
            outcome.limits.push(Limit { what, value, most, unit });
        }
        Err(error) => outcome.skip(what, &format!("{error:#}")),
    }
}

/// A folder of its own, with a store, that goes when this does.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Result<Scratch> {
        let path = shell::root().join("target").join(format!("perf-{name}"));
        if path.exists() {
            std::fs::remove_dir_all(&path)?;
        }
        std::fs::create_dir_all(&path)?;
        Ok(Scratch(path))
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn command(&self, binary: &str, words: &[&str]) -> Command {
        let mut command = shell::command(binary, words);
        command.env("BOXSCORE_STORE", self.0.join("store.db")).current_dir(&self.0);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    fn fake_run(&self, binary: &str) -> Command {
        let world = shell::root().join(WORLD).display().to_string();
        self.command(binary, &["run", "--quick", "--takes", "8", "--fake", &world])
    }

    /// Planted runs: nothing is measured, everything is stored as in earnest.
    fn fill(&self, binary: &str) -> Result<()> {
        for _ in 0..RUNS {
            let status = self.fake_run(binary).status()?;
            if !status.success() {
                bail!("a planted run failed ({status})");
            }
        }
        Ok(())
    }
}

/// The planted world that fills the store.
const WORLD: &str = "perf/world.json";

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that stays is only untidy.
        let _left = std::fs::remove_dir_all(&self.0);
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Cost {
    pub ms: f64,
    peak_kib: f64,
}

impl Cost {
    /// The largest resident size.
    pub fn peak_megabytes(&self) -> f64 {
        self.peak_kib * 1.024e-3
    }
}

/// Median time and largest memory of several runs; a failure is an error.
pub fn middle(make: impl Fn() -> Command, turns: usize) -> Result<Cost> {
    let costs = (0..turns).map(|_| cost(&mut make())).collect::<Result<Vec<Cost>>>()?;
    let times: Vec<f64> = costs.iter().map(|cost| cost.ms).collect();
    let peak_kib = costs.iter().map(|cost| cost.peak_kib).fold(0.0, f64::max);
    Ok(Cost { ms: stats::median(&times).context("no turns")?, peak_kib })
}

fn cost(command: &mut Command) -> Result<Cost> {
    let start = Instant::now();
    let mut child = command.spawn().with_context(|| format!("cannot start {}", shell::shown(command)))?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak_kib = 0.0f64;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        let text = std::fs::read_to_string(&status_file).unwrap_or_default();
        peak_kib = peak_kib.max(high_water(&text).unwrap_or(0.0));
        std::thread::sleep(Duration::from_micros(200));
    };
    let ms = start.elapsed().as_secs_f64() * 1e3;
    if !status.success() {
        bail!("failed ({status}): {}", shell::shown(command));
    }
    Ok(Cost { ms, peak_kib })
}

/// KiB of the largest resident size.
fn high_water(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_read() {
        assert_eq!(high_water("Name:\tx\nVmHWM:\t    5120 kB\n"), Some(5120.0));
        assert_eq!(high_water(""), None);
        let cost = middle(|| Command::new("true"), 3).unwrap();
        assert!(cost.ms > 0.0);
        assert!(middle(|| Command::new("false"), 1).is_err());
        let limit = Limit { what: "x", value: 2.0, most: 1.0, unit: "ms" };
        assert_eq!(limit.kept()["held"], false);
    }
}
