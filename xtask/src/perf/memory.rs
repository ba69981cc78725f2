//! Memory kernels beside lmbench's and STREAM's own programs, which are given by path, and beside STREAM's loops as
//! `gcc -O2` makes them (`perf/triad.c`).
//!
//! Each side is a fresh process on the same CPU, so that both have the same luck with their pages. The two
//! credit bytes alike: bw_mem the buffer once, STREAM two or three arrays; MB are 10^6 bytes. Summaries
//! within a process follow the other program: median of bw_mem's repetitions, best of STREAM's, least of
//! lat_mem_rd's.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::options::Options;
use super::pairs::{Outcome, comparison, in_turns, load};
use super::{bound, generators};
use crate::shell;

/// A run that lasts longer is stuck.
const LIMIT: Duration = Duration::from_secs(300);
/// Where the machine reports no cache.
const WITHOUT_CACHE_MIB: u64 = 256;
/// Takes and repetitions of one process.
const TAKES: usize = 3;
/// Microseconds of a repetition, as long as our takes; by itself lmbench may calibrate for ever on a busy machine.
const ENOUGH: &str = "ENOUGH=50000";
/// MiB of the largest chain, and the MiB that are compared; all may be kept warm.
const CHAIN: &str = "16";
const CHAINS: [(&str, &str); 3] = [("16KiB", "0.01562"), ("1MiB", "1.00000"), ("16MiB", "16.00000")];

/// MiB of an array: four times the last-level cache.
pub fn size(options: &Options) -> u64 {
    let text = (0..5).rev().find_map(|index| {
        std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size")).ok()
    });
    let kib = text.and_then(|text| text.trim().strip_suffix('K').and_then(|kib| kib.parse::<u64>().ok()));
    options.size.unwrap_or_else(|| kib.map_or(WITHOUT_CACHE_MIB, |kib| kib.div_ceil(256)))
}

/// Our values, one a take; `repeats` 0 means as many passes as fill a take.
fn ours(options: &Options, peers: &str, name: &str, set: &str, repeats: u64) -> Result<Vec<f64>> {
    let (cpu, takes, repeats) = (options.cpu.to_string(), TAKES.to_string(), repeats.to_string());
    let words = [peers, "take", name, set, &cpu, &takes, &repeats];
    let (out, _) = bound::on_cpu(options.cpu, &words, LIMIT)?;
    serde_json::from_str(&out).with_context(|| format!("peers printed {out}"))
}

fn highest(values: &[f64]) -> Result<f64> {
    values.iter().copied().reduce(f64::max).context("no takes")
}

pub fn bandwidth(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let Some(bw_mem) = &options.bw_mem else {
        outcome.skip("mem-bandwidth beside bw_mem", "--bw-mem not given");
        return Ok(());
    };
    for mib in [1, size(options)] {
        for (op, theirs_op) in [("read", "rd"), ("write", "wr"), ("copy", "cp")] {
            let before = load();
            let set = format!("op={op};size={mib}MiB");
            let pairs = in_turns(
                options.pairs,
                mib,
                || stats::median(&ours(options, peers, "mem-bandwidth", &set, 0)?).context("no takes"),
                || {
                    let takes = TAKES.to_string();
                    let words = ["env", ENOUGH, bw_mem.as_str(), "-N", &takes, &format!("{mib}m"), theirs_op];
                    let (_, err) = bound::on_cpu(options.cpu, &words, LIMIT)?;
                    second_column(&err).with_context(|| format!("bw_mem printed {err}"))
                },
            )?;
            let pairs: Vec<(f64, f64)> = pairs.iter().map(|(ours, mb)| (ours / 1e9, mb / 1e3)).collect();
            let what = format!("mem-bandwidth {set}");
            outcome.keep(comparison(&what, "bw_mem", "GB/s", &pairs, false, before)?);
        }
    }
    Ok(())
}

/// The MB/s of "size MB/s".
fn second_column(text: &str) -> Option<f64> {
    text.lines().rev().find_map(|line| {
        let (_, value) = line.trim().split_once(' ')?;
        value.trim().parse().ok()
    })
}

pub fn stream(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let folder = generators::folder("stream")?;
    let plain = plain_loops(&folder, size(options))?;
    for path in options.stream.iter().chain([&plain]) {
        let name = path.rsplit('/').next().unwrap_or(path);
        let before = load();
        // A first run says how long its arrays are, so that ours are the same.
        let (out, _) = bound::on_cpu(options.cpu, &[path], LIMIT)?;
        let elements = elements(&out).with_context(|| format!("{path} does not name its array size"))?;
        let bytes = elements * 8;
        if bytes % 4096 != 0 {
            bail!("{path}: arrays of {elements} elements are not whole pages");
        }
        for (op, store, theirs_op) in
            [("copy", "temporal", "Copy"), ("copy", "streaming", "Copy"), ("triad", "temporal", "Triad")]
        {
            let set = format!("op={op};counting=stream;store={store};size={bytes}");
            let pairs = in_turns(
                options.pairs,
                elements,
                || highest(&ours(options, peers, "mem-bandwidth", &set, 1)?),
                || {
                    let (out, _) = bound::on_cpu(options.cpu, &[path], LIMIT)?;
                    best_rate(&out, theirs_op).with_context(|| format!("{path} printed no {theirs_op}"))
                },
            )?;
            let pairs: Vec<(f64, f64)> = pairs.iter().map(|(ours, mb)| (ours / 1e9, mb / 1e3)).collect();
            let what = format!("mem-bandwidth stream {op} {store} {} MiB", bytes >> 20);
            outcome.keep(comparison(&what, name, "GB/s", &pairs, false, before)?);
        }
    }
    Ok(std::fs::remove_dir_all(&folder)?)
}

/// STREAM's loops of plain C, over arrays of so many MiB.
fn plain_loops(folder: &Path, mib: u64) -> Result<String> {
    let program = folder.join("gcc-O2").display().to_string();
    let (source, length) =
        (shell::root().join("perf/triad.c").display().to_string(), format!("-DN={}L", (mib << 20) / 8));
    shell::run("gcc", &["-O2", "-mcmodel=large", &length, "-o", &program, &source])?;
    Ok(program)
}

fn elements(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("Array size = "))?;
    line.split_whitespace().next()?.parse().ok()
}

fn best_rate(text: &str, op: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(op)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

pub fn latency(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let Some(lat_mem_rd) = &options.lat_mem_rd else {
        outcome.skip("mem-latency beside lat_mem_rd", "--lat-mem-rd not given");
        return Ok(());
    };
    for (mode, flag) in [("stride", None), ("random", Some("-t"))] {
        let before = load();
        let words: Vec<&str> = [
            Some("env"),
            Some(ENOUGH),
            Some(lat_mem_rd.as_str()),
            flag,
            Some("-N"),
            Some("1"),
            Some(CHAIN),
            Some("512"),
        ]
        .into_iter()
        .flatten()
        .collect();
        let all_ours = || -> Result<Vec<f64>> {
            let one = |(size, _): &(&str, &str)| {
                let set = format!("mode={mode};stride=512;size={size}");
                let values = ours(options, peers, "mem-latency", &set, 0)?;
                values.into_iter().reduce(f64::min).context("no takes")
            };
            CHAINS.iter().map(one).collect()
        };
        let all_theirs = || -> Result<BTreeMap<String, f64>> {
            let (_, err) = bound::on_cpu(options.cpu, &words, LIMIT)?;
            Ok(columns(&err))
        };
        let done = in_turns(options.pairs, 11, all_ours, all_theirs)?;
        for (i, (size, key)) in CHAINS.iter().enumerate() {
            let pair = |(ours, theirs): &(Vec<f64>, BTreeMap<String, f64>)| {
                Some((ours.get(i)? * 1e9, *theirs.get(*key)?))
            };
            let pairs: Option<Vec<(f64, f64)>> = done.iter().map(pair).collect();
            let pairs = pairs.with_context(|| format!("{}: no range {key}", words.join(" ")))?;
            let what = format!("mem-latency mode={mode} stride=512 {size}");
            outcome.keep(comparison(&what, "lat_mem_rd", "ns", &pairs, true, before)?);
        }
    }
    Ok(())
}

/// "range latency" lines, by range.
fn columns(text: &str) -> BTreeMap<String, f64> {
    let pair = |line: &str| {
        let (range, ns) = line.trim().split_once(' ')?;
        Some((range.to_owned(), ns.trim().parse().ok()?))
    };
    text.lines().filter_map(pair).collect()
}

/// Name of the CPU; the architecture if it has none.
pub fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with("model name"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    name.or_else(|| shell::output("uname", &["-m"]).ok().map(|text| text.trim().into())).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_others_print_is_read() {
        assert_eq!(second_column("2013.27 16170.09\n"), Some(16170.09));
        assert_eq!(second_column("usage: x\n"), None);
        let stream =
            "Array size = 1000 (elements), Offset = 0\nCopy:  23734.5  0.1 0.1 0.1\nTriad: 5.5 1 1 1\n";
        assert_eq!(elements(stream), Some(1000));
        assert_eq!(best_rate(stream, "Triad"), Some(5.5));
        assert_eq!(best_rate(stream, "Add"), None);
        let found = columns("\"stride=512\n0.01562 1.526\n16.00000 29.852\n\n");
        assert_eq!(found.get("16.00000"), Some(&29.852));
        assert_eq!(found.len(), 2);
    }
}
