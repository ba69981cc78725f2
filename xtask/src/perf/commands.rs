//! `boxscore run --cmd` beside hyperfine and `perf stat`: what each says that the same program takes.
//!
//! Of `true` that is mostly the cost of starting it as the tool does: wall time, and CPU time of the child. Of a
//! program that spins for a known time it is how far the tool's time is off. All start the program without a shell, on
//! one CPU, with its output thrown away; each value is the median of a run.

use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::generators::{built, folder};
use super::options::Options;
use super::pairs::{Outcome, comparison, in_turns, load};
use crate::shell;

/// Runs of `true` in a turn, and of the spin.
const STARTS: &str = "200";
const SPINS: &str = "10";
const SPIN_US: &str = "100000";

/// Medians of a tool's run, in microseconds.
#[derive(Clone, Copy)]
struct Took {
    wall: f64,
    cpu: f64,
}

pub fn run(options: &Options, outcome: &mut Outcome) -> Result<()> {
    let folder = folder("commands")?;
    let done = compare(options, outcome, &folder);
    std::fs::remove_dir_all(&folder)?;
    done
}

fn compare(options: &Options, outcome: &mut Outcome, folder: &std::path::Path) -> Result<()> {
    let before = load();
    let hyperfine = options.hyperfine.clone().unwrap_or_else(|| "hyperfine".to_owned());
    let spin = format!("{} {SPIN_US}", built(folder, "spin")?);
    let (store, export) = (folder.join("s.db").display().to_string(), folder.join("h.json"));
    let ours = |command: &str, takes| product(options, &store, command, takes);
    let theirs = |command: &str, takes| peer(options, &hyperfine, command, takes, &export);
    match in_turns(options.pairs, 11, || ours("true", STARTS), || theirs("true", STARTS)) {
        Ok(pairs) => {
            let wall: Vec<_> = pairs.iter().map(|(ours, theirs)| (ours.wall, theirs.wall)).collect();
            outcome.keep(comparison("run --cmd true: wall time", "hyperfine", "us", &wall, true, before)?);
            let cpu: Vec<_> = pairs.iter().map(|(ours, theirs)| (ours.cpu, theirs.cpu)).collect();
            outcome.keep(comparison("run --cmd true: CPU time", "hyperfine", "us", &cpu, true, before)?);
        }
        Err(error) => outcome.skip("run --cmd true beside hyperfine", &format!("{error:#}")),
    }
    match in_turns(options.pairs, 12, || ours(&spin, SPINS), || perf(options, &spin)) {
        Ok(pairs) => {
            let wall: Vec<_> = pairs.iter().map(|(ours, theirs)| (ours.wall, *theirs)).collect();
            outcome.keep(comparison(
                "run --cmd, a spin of 100 ms: wall time",
                "perf stat",
                "us",
                &wall,
                true,
                before,
            )?);
        }
        Err(error) => outcome.skip("run --cmd beside perf stat", &format!("{error:#}")),
    }
    Ok(())
}

/// The outputs of a tool, run on the CPU of the options.
fn printed(options: &Options, program: &str, words: &[&str]) -> Result<(String, String)> {
    let cpu = options.cpu.to_string();
    let mut command = shell::command("taskset", &[&["-c", &cpu, program], words].concat());
    let output =
        command.stdin(Stdio::null()).output().with_context(|| format!("{program} cannot be started"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if !output.status.success() {
        bail!("{program}: {}: {}", output.status, text(&output.stderr).trim());
    }
    Ok((text(&output.stdout), text(&output.stderr)))
}

fn product(options: &Options, store: &str, command: &str, takes: &str) -> Result<Took> {
    let words = [
        "--store",
        store,
        "run",
        "--cmd",
        command,
        "--shell",
        "none",
        "--output",
        "null",
        "--takes",
        takes,
        "--warm",
        "0",
        "--no-report",
        "--json",
    ];
    let doc: Value = serde_json::from_str(&printed(options, &options.product(), &words)?.0)?;
    let median = |metric: &str| {
        let all = doc["series"].as_array()?;
        all.iter().find(|one| one["metric"] == metric)?["median"].as_f64().map(|seconds| seconds * 1e6)
    };
    Ok(Took { wall: median("wall").context("no wall time")?, cpu: median("cpu").context("no CPU time")? })
}

fn peer(
    options: &Options,
    program: &str,
    command: &str,
    takes: &str,
    export: &std::path::Path,
) -> Result<Took> {
    let path = export.display().to_string();
    printed(
        options,
        program,
        &["-N", "-r", takes, "-w", "0", "--style", "none", "--export-json", &path, command],
    )?;
    let doc: Value = serde_json::from_str(&std::fs::read_to_string(export)?)?;
    let one = &doc["results"][0];
    let seconds = |name: &str| one[name].as_f64().with_context(|| format!("hyperfine gave no {name}"));
    // It has the medians of wall times alone; its CPU times are means.
    Ok(Took { wall: seconds("median")? * 1e6, cpu: (seconds("user")? + seconds("system")?) * 1e6 })
}

/// The mean wall time by `perf stat`, in microseconds.
fn perf(options: &Options, command: &str) -> Result<f64> {
    let words: Vec<&str> = ["stat", "-r", SPINS, "-e", "duration_time", "-x", ","]
        .into_iter()
        .chain(command.split(' '))
        .collect();
    let (_, said) = printed(options, "perf", &words)?;
    let line = said
        .lines()
        .find(|line| line.contains("duration_time"))
        .context("perf stat gave no duration_time")?;
    let ns: f64 =
        line.split(',').next().unwrap_or_default().trim().parse().context("its duration is no number")?;
    Ok(ns / 1e3)
}
