//! SciMark2's kernels in C as the instrument runs them, beside the same files in a bare loop
//! (`perf/kernels.c`).
//!
//! The difference is the cost of measuring: results that are checked first, batches with two clocks read around each,
//! a supervisor that waits. Both sides are built by the same compiler with the same flags, and the functions that
//! are timed begin with a line of the cache in either, so that it is not the linker that is compared. Speeds in
//! MFLOPS by CPU time. Not counted: building, checking, and the batches that are not scored.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

use super::options::Options;
use super::pairs::{Outcome, comparison, in_turns, load};
use super::{bound, generators};
use crate::shell;

/// Kernels of the small size, and the operations that SciMark2 credits a cycle.
const KERNELS: [(&str, f64); 5] = [
    ("fft", 53_230.0),
    ("sor", 58_806.0),
    ("monte-carlo", 4.0),
    ("sparse", 10_000.0),
    ("lu", 2_000_000.0 / 3.0),
];
/// Least CPU time of the batch that counts.
const SECONDS: &str = "0.3";
const SOURCES: &str = "crates/instruments/src/bench/runtime/languages/c";
const FLAGS: &str = "-O2";
const LIMIT: Duration = Duration::from_secs(120);

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    if shell::output("which", &["gcc"]).is_err() {
        outcome.skip("runtime", "gcc is not installed (apt install gcc libc6-dev)");
        return Ok(());
    }
    let folder = generators::folder("runtime")?;
    let bare = built(&folder)?;
    for (kernel, operations) in KERNELS {
        let before = load();
        let set = format!("lang=c;cc=gcc {FLAGS};kernel={kernel};size=small;seconds={SECONDS}");
        let cpu = options.cpu.to_string();
        let ours = || {
            let words = [peers, "take", "scimark", &set, &cpu, "1", "1"];
            let (out, _) = bound::on_cpu(options.cpu, &words, LIMIT)?;
            serde_json::from_str::<[f64; 1]>(&out).with_context(|| format!("peers printed {out}"))
        };
        let theirs = || {
            let (out, _) = bound::on_cpu(options.cpu, &[&bare, kernel, SECONDS], LIMIT)?;
            out.trim().parse::<f64>().with_context(|| format!("{bare} printed {out}"))
        };
        let pairs = in_turns(options.pairs, 17, ours, theirs)?;
        let pairs: Vec<(f64, f64)> =
            pairs.iter().map(|([flops], cycles)| (flops / 1e6, cycles * operations / 1e6)).collect();
        let what = format!("scimark lang=c {kernel}, gcc {FLAGS}");
        outcome.keep(comparison(&what, "bare loop", "Mflop", &pairs, false, before)?);
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// The bare program, of every file of the language but its own main.
fn built(folder: &Path) -> Result<String> {
    let root = shell::root();
    let program = folder.join("kernels").display().to_string();
    let sources = root.join(SOURCES).display().to_string();
    let main = root.join("perf/kernels.c").display().to_string();
    let mut files = Vec::new();
    for entry in fs::read_dir(&sources).with_context(|| sources.clone())? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "c")
            && path.file_name().is_some_and(|name| name != "main.c")
        {
            files.push(path.display().to_string());
        }
    }
    files.sort();
    let mut words = vec![FLAGS, "-I", &sources, "-o", &program, &main];
    words.extend(files.iter().map(String::as_str));
    words.push("-lm");
    shell::run("gcc", &words)?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bare_program_has_every_kernel() {
        let folder = generators::folder("runtime-test").unwrap();
        let bare = built(&folder).unwrap();
        for (kernel, _) in KERNELS {
            let rate: f64 = shell::output(&bare, &[kernel, "0"]).unwrap().trim().parse().unwrap();
            assert!(rate > 0.0, "{kernel}: {rate}");
        }
        assert!(shell::output(&bare, &["quicksort", "0"]).is_err());
        fs::remove_dir_all(folder).unwrap();
    }
}
