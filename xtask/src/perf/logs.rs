//! Reading an access log beside what else reads one: the time of the whole process, in turns.
//!
//! The log is made once (10 million lines, 2 GB, combined with %D, a million clients, seed 7) and lies in the page
//! cache. One thread on one CPU unless said; `--logs-peers mawk,duckdb,goaccess` asks for the slow ones, of which the
//! last reads a fortieth of the log and its time is scaled up.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::options::Options;
use super::pairs::{Outcome, comparison, in_turns, load};
use crate::shell;

const LINES: u64 = 10_000_000;
const CLIENTS: &str = "1000000";
const SEED: &str = "7";
/// The share of the log that GoAccess reads.
const PART: u64 = 40;

/// Three sums, as one would write them: requests, bytes and time.
const MAWK: &str = "{ n++; b += $10; t += $NF } END { print n, b, t }";

/// One that is compared: its name, its command, and how much of the log it reads.
pub struct Peer {
    pub name: &'static str,
    pub words: Vec<String>,
    pub cpus: String,
    pub scale: f64,
}

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let lines = options.log_lines.unwrap_or(LINES);
    let (log, part) = made(peers, lines)?;
    // The page cache is filled, and the peer's pages are too.
    shell::output("wc", &["-l", &log])?;
    let cpu = options.cpu.to_string();
    let reading = |threads: &str| vec![peers.to_owned(), "logs-read".into(), log.clone(), threads.into()];
    let ours = Peer { name: "boxscore", words: reading("1"), cpus: cpu.clone(), scale: 1.0 };
    let mut others = vec![
        Peer { name: "wc -l", words: words(&["wc", "-l", &log]), cpus: cpu.clone(), scale: 1.0 },
        Peer {
            name: "memchr fields",
            words: words(&[peers, "logs-bare", &log]),
            cpus: cpu.clone(),
            scale: 1.0,
        },
    ];
    for name in &options.logs_peers {
        match asked(name, &log, &part, &cpu) {
            Ok(peer) => others.push(peer),
            Err(why) => outcome.skip(&format!("logs beside {name}"), &why.to_string()),
        }
    }
    let what = format!("logs, {lines} lines, all aggregates");
    for other in &others {
        compare(&what, &ours, other, options, outcome)?;
    }
    if std::thread::available_parallelism().map_or(1, std::num::NonZero::get) < 2 {
        outcome.skip("logs on two threads", "there is one CPU");
        return Ok(());
    }
    let two = Peer { name: "boxscore", words: reading("2"), cpus: "0,1".into(), scale: 1.0 };
    let one = Peer { name: "one thread", ..ours };
    compare(&format!("logs, {lines} lines, two threads"), &two, &one, options, outcome)
}

pub fn compare(
    what: &str,
    ours: &Peer,
    theirs: &Peer,
    options: &Options,
    outcome: &mut Outcome,
) -> Result<()> {
    let before = load();
    let pairs = in_turns(options.pairs, 11, || seconds(ours), || seconds(theirs))?;
    outcome.keep(comparison(what, theirs.name, "s", &pairs, true, before)?);
    Ok(())
}

pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// How long one run of it takes.
fn seconds(peer: &Peer) -> Result<f64> {
    let mut command = Command::new("taskset");
    command.args(["-c", &peer.cpus]).args(&peer.words);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let start = Instant::now();
    let out = command.output().with_context(|| format!("cannot start {}", peer.name))?;
    let took = start.elapsed().as_secs_f64() * peer.scale;
    if !out.status.success() {
        bail!("{} failed: {}", peer.name, String::from_utf8_lossy(&out.stderr).trim());
    }
    Ok(took)
}

/// The log and the first part of it, made where they are not there yet.
pub fn made(peers: &str, lines: u64) -> Result<(String, String)> {
    let folder = shell::root().join("target/perf-logs");
    fs::create_dir_all(&folder)?;
    let make = |lines: u64| -> Result<PathBuf> {
        let path = folder.join(format!("{lines}.log"));
        if !path.exists() {
            // Under another name until it is whole.
            let unready = folder.join(format!("{lines}.making"));
            let shown = unready.display().to_string();
            shell::output(peers, &["logs-make", &shown, &lines.to_string(), CLIENTS, SEED])?;
            fs::rename(&unready, &path)?;
        }
        Ok(path)
    };
    let shown = |path: &Path| path.display().to_string();
    Ok((shown(&make(lines)?), shown(&make(lines / PART)?)))
}

/// A peer that was asked for by name.
fn asked(name: &str, log: &str, part: &str, cpu: &str) -> Result<Peer> {
    let (name, program, arguments, scale) = match name {
        "mawk" => ("mawk", "mawk", words(&[MAWK, log]), 1.0),
        "duckdb" => ("DuckDB", "duckdb", words(&["-c", &duckdb(log)]), 1.0),
        "goaccess" => {
            let format =
                ["--log-format=%h %^[%d:%t %^] \"%r\" %s %b \"%R\" \"%u\" %D", "--date-format=%d/%b/%Y"];
            let out = format!("{part}.json");
            let rest = ["--time-format=%T", "--no-progress", "-o", &out, part];
            ("GoAccess", "goaccess", words(&[&format[..], &rest[..]].concat()), PART as f64)
        }
        other => bail!("{other}: known are mawk, duckdb and goaccess"),
    };
    shell::must_have(program)?;
    let words = [vec![program.to_owned()], arguments].concat();
    Ok(Peer { name, words, cpus: cpu.to_owned(), scale })
}

/// The same three sums by DuckDB's CSV reader, on one thread.
fn duckdb(log: &str) -> String {
    format!(
        "SET threads=1; SELECT count(*), sum(try_cast(column07 AS BIGINT)), sum(try_cast(column10 AS BIGINT)) FROM \
         read_csv('{log}', delim=' ', quote='\"', header=false, all_varchar=true, ignore_errors=true);"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_known_or_not_there_is_said() {
        assert!(asked("perl", "a", "b", "0").err().unwrap().to_string().contains("known are"));
        assert!(duckdb("/x").contains("'/x'"));
        let fails = Peer { name: "f", words: words(&["false"]), cpus: "0".into(), scale: 1.0 };
        assert!(seconds(&fails).is_err());
        let part = Peer { name: "t", words: words(&["true"]), cpus: "0".into(), scale: 2.0 };
        assert!(seconds(&part).unwrap() > 0.0);
    }
}
