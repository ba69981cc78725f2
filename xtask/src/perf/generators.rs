//! Load generators beside each other on one server: CPU time for each answer, and throughput, in rounds of random
//! order.
//!
//! CPU time is that of the generator's whole process and its children, their start included, in microseconds for each
//! good answer. Ours is `boxscore load` as users call it, with a store of its own, which it writes to.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};

use super::bound;
use super::options::Options;
use super::pairs::{Outcome, comparison, load};
use crate::shell;

pub const OURS: &str = "boxscore";
pub const FLOOR: &str = "floor";
/// How long a generator sends, in seconds: as long as `boxscore load` does by itself.
pub const SECONDS: &str = "10";
const LIMIT: Duration = Duration::from_secs(120);

/// An empty folder for a comparison.
pub fn folder(what: &str) -> Result<PathBuf> {
    // Servers that give up root can read it here.
    let folder = std::env::temp_dir().join(format!("boxscore-perf-{what}-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// The program of a C source under `perf/`, built in `folder`.
pub fn built(folder: &Path, name: &str) -> Result<String> {
    let program = folder.join(name).display().to_string();
    let source = shell::root().join(format!("perf/{name}.c")).display().to_string();
    shell::run("cc", &["-O2", "-D_GNU_SOURCE", "-o", &program, &source])?;
    Ok(program)
}

/// Result of one run of a generator.
#[derive(Debug, Clone, Copy)]
struct Seen {
    cpu_us: f64,
    per_s: f64,
}

/// Good answers of a run: all of them, and a second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Answered {
    pub all: f64,
    pub per_s: f64,
}

impl Answered {
    /// From the document of `boxscore load --json`; none where a request failed.
    pub fn of_product(out: &str) -> Option<Answered> {
        let doc: serde_json::Value = serde_json::from_str(out).ok()?;
        let is_good = doc["errors"].as_object()?.is_empty();
        is_good.then_some(Answered { all: doc["good"].as_f64()?, per_s: doc["throughput"].as_f64()? })
    }

    /// Of a generator that sends for `SECONDS`.
    pub fn in_time(all: f64) -> Option<Answered> {
        Some(Answered { all, per_s: all / SECONDS.parse::<f64>().ok()? })
    }
}

/// The words of `boxscore load`.
pub fn product(options: &Options, url: &str, connections: &str, more: &[&str]) -> Vec<String> {
    let (program, cpu) = (options.product(), options.cpu.to_string());
    let words =
        [&program, "load", url, "-c", connections, "-t", "1", "-d", SECONDS, "--cpus", &cpu, "--json"];
    words.iter().chain(more).map(|word| (*word).to_owned()).collect()
}

/// A comparison of generators, and the commands that start them.
pub trait Match {
    /// First words of the rows.
    fn what(&self) -> &'static str;
    /// The file in which our side stores its runs.
    fn store(&self) -> &Path;
    /// The program and its arguments.
    fn words(&self, name: &str, connections: u32) -> Vec<String>;
    /// Good answers of a run, from what the generator prints.
    fn answered(&self, name: &str, out: &str) -> Option<Answered>;
}

/// Those of `names` that are installed, behind the floor.
pub fn installed<'a>(what: &str, names: &[&'a str], outcome: &mut Outcome) -> Vec<&'a str> {
    let mut found = vec![FLOOR];
    for name in names {
        match shell::output("which", &[name]) {
            Ok(_) => found.push(name),
            Err(_) => outcome.skip(&format!("{what} beside {name}"), "not installed"),
        }
    }
    found
}

/// Runs one generator; its CPU time is what the shell counts for it.
fn take(options: &Options, game: &dyn Match, name: &str, connections: u32) -> Result<Seen> {
    let words = game.words(name, connections);
    let timed = "export BOXSCORE_STORE=\"$1\"; shift; TIMEFORMAT='cpu %U %S'; time \"$@\"";
    let store = game.store().display().to_string();
    let mut all = vec!["bash", "-c", timed, "_", &store];
    all.extend(words.iter().map(String::as_str));
    let (out, err) = bound::on_cpu(options.cpu, &all, LIMIT)?;
    let cpu_s = cpu_seconds(&err).with_context(|| format!("no CPU time in {err}"))?;
    let answered = game.answered(name, &out).filter(|answered| answered.all >= 1.0);
    let Answered { all, per_s } = answered.with_context(|| format!("{name} printed {out}{err}"))?;
    Ok(Seen { cpu_us: 1e6 * cpu_s / all, per_s })
}

fn cpu_seconds(err: &str) -> Option<f64> {
    let (user, system) = err.lines().rev().find_map(|line| line.strip_prefix("cpu ")?.split_once(' '))?;
    Some(user.parse::<f64>().ok()? + system.trim().parse::<f64>().ok()?)
}

/// All generators in turns, `options.pairs` times.
pub fn compare(
    options: &Options,
    game: &dyn Match,
    names: &[&str],
    connections: u32,
    outcome: &mut Outcome,
) -> Result<()> {
    let before = load();
    let mut random = stats::Rng::new(u64::from(connections));
    let mut rounds: Vec<Vec<(&str, Seen)>> = Vec::new();
    for _ in 0..options.pairs {
        let mut order = [&[OURS], names].concat();
        for last in (1..order.len()).rev() {
            order.swap(last, random.below(last + 1));
        }
        let round: Result<Vec<(&str, Seen)>> =
            order.iter().map(|&name| Ok((name, take(options, game, name, connections)?))).collect();
        rounds.push(round?);
    }
    let of = |round: &[(&str, Seen)], name: &str| {
        round.iter().find(|(one, _)| *one == name).map(|(_, seen)| *seen)
    };
    for (what, unit, times) in [("CPU per request", "us", true), ("throughput", "k/s", false)] {
        for name in names {
            let value = |seen: Seen| if times { seen.cpu_us } else { seen.per_s / 1e3 };
            let pairs: Option<Vec<(f64, f64)>> =
                rounds.iter().map(|round| Some((value(of(round, OURS)?), value(of(round, name)?)))).collect();
            let pairs = pairs.context("a round misses a generator")?;
            let what = format!("{}: {what}, {connections} conn.", game.what());
            outcome.keep(comparison(&what, name, unit, &pairs, times, before)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shells_count_is_read() {
        assert_eq!(cpu_seconds("x\ncpu 0.250 1.500\n"), Some(1.75));
        assert_eq!(cpu_seconds("cpu 0.250\n"), None);
    }

    #[test]
    fn the_document_of_a_load_is_read() {
        let doc = |errors: &str| format!("{{\"good\":30,\"throughput\":9.5,\"errors\":{errors}}}");
        assert_eq!(Answered::of_product(&doc("{}")), Some(Answered { all: 30.0, per_s: 9.5 }));
        assert_eq!(Answered::of_product(&doc("{\"timeout\":1}")), None);
    }
}
