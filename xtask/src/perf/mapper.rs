//! The mapper of logs as a job, as Hadoop Streaming feeds it, beside the reader of a file (that of the library, which
//! writes nothing, and `boxscore logs`), all of one label, and beside three mappers of mawk's: one of three sums, one
//! of a part of what ours tells (requests, bytes and times by hour and status), and one that tells the most of it (by
//! path too; still without clients, agents, referrers, quarter hours and skipped lines).
//!
//! Times of whole processes on one CPU. The log is a half of that of `logs` (5 million lines, 1 GB); the mappers have
//! it on standard input, each line with its offset and a tab before it, out of the page cache. What a job costs besides
//! (containers, the task's JVM and its pipe) is the same for any mapper and is not counted.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;

use anyhow::Result;

use super::logs::{Peer, compare, made, words};
use super::options::Options;
use super::pairs::Outcome;
use crate::shell;

const LINES: u64 = 5_000_000;
/// Three sums, as one would write them; the first field is the offset.
const SUMS: &str = "{ n++; b += $11; t += $NF } END { print \"k\\t\" n, b, t }";
/// Requests and bytes by hour and class of status, and a histogram of times in tenths of their logarithm.
const BY_HOUR: &str = "{ k = substr($5, 2, 14) \" \" int($10 / 100); n[k]++; b[k] += $11; d[int(log($NF + 1) * 10)]++ } \
                       END { for (k in n) print k \"\\t\" n[k], b[k]; for (x in d) print \"d\" x \"\\t\" d[x] }";

/// The same, a histogram of sizes, and requests, bytes and times by path.
const BY_PATH: &str = "{ k = substr($5, 2, 14) \" \" int($10 / 100); n[k]++; b[k] += $11; t[k] += $NF; \
                       d[int(log($NF + 1) * 10)]++; z[int(log($11 + 1) * 10)]++; \
                       p[$8]++; q[$8] += $11; r[$8] += $NF } \
                       END { for (k in n) print k \"\\t\" n[k], b[k], t[k]; for (x in d) print \"d\" x \"\\t\" d[x]; \
                       for (x in z) print \"z\" x \"\\t\" z[x]; for (x in p) print x \"\\t\" p[x], q[x], r[x] }";

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let lines = options.log_lines.unwrap_or(LINES);
    let (log, _) = made(peers, lines)?;
    let keyed = format!("{log}.keyed");
    if !Path::new(&keyed).exists() {
        let unready = format!("{log}.keying");
        key(&log, &unready)?;
        fs::rename(&unready, &keyed)?;
    }
    // The page cache is filled.
    shell::output("wc", &["-l", &log, &keyed])?;
    let peer = |name, script: &str, arguments: &[&str]| Peer {
        name,
        words: [words(&["sh", "-c", script, "sh"]), words(arguments)].concat(),
        cpus: options.cpu.to_string(),
        scale: 1.0,
    };
    let product = options.product();
    let ours = peer(
        "logs map",
        "exec \"$1\" logs map --format combined+D --name a.log --one-label --keyed < \"$2\"",
        &[&product, &keyed],
    );
    let reader = peer("logs-read", "exec \"$@\"", &[peers, "logs-read", &log, "1"]);
    let local = peer(
        "boxscore logs",
        "exec \"$1\" logs --format combined+D --threads 1 --no-store \"$2\"",
        &[&product, &log],
    );
    let mawk = |name, program| peer(name, "exec mawk \"$1\" < \"$2\"", &[program, &keyed]);
    let what = format!("logs map --one-label of {lines} lines with offsets");
    compare(&what, &ours, &reader, options, outcome)?;
    compare(&what, &ours, &local, options, outcome)?;
    match shell::output("sh", &["-c", "command -v mawk"]) {
        Ok(_) => {
            compare(&what, &ours, &mawk("mawk, three sums", SUMS), options, outcome)?;
            compare(&what, &ours, &mawk("mawk, by hour and status", BY_HOUR), options, outcome)?;
            compare(&what, &ours, &mawk("mawk, by hour, status, path", BY_PATH), options, outcome)
        }
        Err(error) => {
            outcome.skip("logs map beside mawk", &format!("{error:#}"));
            Ok(())
        }
    }
}

/// The lines of a file with their offsets before them, as Hadoop gives them.
fn key(from: &str, to: &str) -> Result<()> {
    let (mut from, mut to) = (BufReader::new(File::open(from)?), BufWriter::new(File::create(to)?));
    let (mut line, mut offset) = (Vec::new(), 0);
    // Ends with the file.
    loop {
        line.clear();
        let bytes = from.read_until(b'\n', &mut line)?;
        if bytes == 0 {
            return Ok(to.flush()?);
        }
        write!(to, "{offset}\t")?;
        to.write_all(&line)?;
        offset += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_get_their_offsets() {
        let dir = std::env::temp_dir().join(format!("boxscore-perf-mapper-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = |name: &str| dir.join(name).display().to_string();
        fs::write(path("a"), "one\n\nthree").unwrap();
        key(&path("a"), &path("b")).unwrap();
        assert_eq!(fs::read_to_string(path("b")).unwrap(), "0\tone\n4\t\n5\tthree");
        fs::remove_dir_all(&dir).unwrap();
    }
}
