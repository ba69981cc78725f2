//! The mapper of logs as a job, as `logs --hadoop` feeds it, beside the reader of a file (that of the library, which
//! writes nothing, and `boxscore logs`), all of one label, and beside three mappers of mawk's: one of three sums, one
//! of a part of what ours tells (requests, bytes and times by hour and status), and one that tells what `logs` shows
//! (by path, client, referrer and agent too; still without quarter hours and skipped lines).
//!
//! Times of whole processes on one CPU. The log is a half of that of `logs` (5 million lines, 1 GB); the mappers have
//! it on standard input, ours in blocks, mawk's as lines, out of the page cache. What a job costs besides is in
//! `log_job`.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use anyhow::Result;

use super::logs::{Peer, compare, made, words};
use super::options::Options;
use super::pairs::Outcome;
use crate::shell;

const LINES: u64 = 5_000_000;
/// Bytes of a block, as the input format makes them.
const BLOCK: usize = 256 << 10;
/// Three sums, as one would write them.
const SUMS: &str = "{ n++; b += $10; t += $NF } END { print \"k\\t\" n, b, t }";
/// Requests and bytes by hour and class of status, and a histogram of times in tenths of their logarithm.
pub const BY_HOUR: &str = "{ k = substr($4, 2, 14) \" \" int($9 / 100); n[k]++; b[k] += $10; \
                           d[int(log($NF + 1) * 10)]++ } \
                           END { for (k in n) print k \"\\t\" n[k], b[k]; for (x in d) print \"d\" x \"\\t\" d[x] }";

/// The tables that `logs` shows by default, as far as a short program can: the same, a histogram of sizes, requests,
/// bytes and times by path, and requests by client, referrer and agent.
pub const TABLES: &str = "{ k = substr($4, 2, 14) \" \" int($9 / 100); n[k]++; b[k] += $10; t[k] += $NF; \
                          d[int(log($NF + 1) * 10)]++; z[int(log($10 + 1) * 10)]++; \
                          p[$7]++; q[$7] += $10; r[$7] += $NF; \
                          c[$1]++; f[$11]++; split($0, u, \"\\\"\"); a[u[6]]++ } \
                          END { for (k in n) print k \"\\t\" n[k], b[k], t[k]; \
                          for (x in d) print \"d\" x \"\\t\" d[x]; \
                          for (x in z) print \"z\" x \"\\t\" z[x]; \
                          for (x in p) print x \"\\t\" p[x], q[x], r[x]; \
                          for (x in c) print \"c\" x \"\\t\" c[x]; \
                          for (x in f) print \"f\" x \"\\t\" f[x]; \
                          for (x in a) print \"a\" x \"\\t\" a[x] }";

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    let lines = options.log_lines.unwrap_or(LINES);
    let (log, _) = made(peers, lines)?;
    let in_blocks = format!("{log}.blocks");
    if !Path::new(&in_blocks).exists() {
        let unready = format!("{log}.unready");
        blocks(&log, &unready)?;
        fs::rename(&unready, &in_blocks)?;
    }
    // The page cache is filled.
    shell::output("wc", &["-l", &log, &in_blocks])?;
    let peer = |name, script: &str, arguments: &[&str]| Peer {
        name,
        words: [words(&["sh", "-c", script, "sh"]), words(arguments)].concat(),
        cpus: options.cpu.to_string(),
        scale: 1.0,
    };
    let product = options.product();
    let ours = peer(
        "logs map",
        "exec \"$1\" logs map --format combined+D --name a.log --one-label --blocks < \"$2\"",
        &[&product, &in_blocks],
    );
    let reader = peer("logs-read", "exec \"$@\"", &[peers, "logs-read", &log, "1"]);
    let local = peer(
        "boxscore logs",
        "exec \"$1\" logs --format combined+D --threads 1 --no-store \"$2\"",
        &[&product, &log],
    );
    let mawk = |name, program| peer(name, "exec mawk \"$1\" < \"$2\"", &[program, &log]);
    let what = format!("logs map --one-label of {lines} lines in blocks");
    compare(&what, &ours, &reader, options, outcome)?;
    compare(&what, &ours, &local, options, outcome)?;
    match shell::must_have("mawk") {
        Ok(()) => {
            compare(&what, &ours, &mawk("mawk, three sums", SUMS), options, outcome)?;
            compare(&what, &ours, &mawk("mawk, by hour and status", BY_HOUR), options, outcome)?;
            compare(&what, &ours, &mawk("mawk, the same tables", TABLES), options, outcome)
        }
        Err(error) => {
            outcome.skip("logs map beside mawk", &format!("{error:#}"));
            Ok(())
        }
    }
}

/// A file in blocks, each behind its offset, as the input format gives it to a mapper.
fn blocks(from: &str, to: &str) -> Result<()> {
    let (mut from, mut to) = (File::open(from)?, BufWriter::new(File::create(to)?));
    let mut offset: u64 = 0;
    // Ends with the file.
    loop {
        let mut block = Vec::new();
        (&mut from).take(BLOCK as u64).read_to_end(&mut block)?;
        if block.is_empty() {
            return Ok(to.flush()?);
        }
        to.write_all(&8_u32.to_be_bytes())?;
        to.write_all(&offset.to_be_bytes())?;
        to.write_all(&u32::try_from(block.len())?.to_be_bytes())?;
        to.write_all(&block)?;
        offset += block.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_get_their_offsets() {
        let dir = std::env::temp_dir().join(format!("boxscore-perf-mapper-{}", std::process::id()));
        fs::create_dir_all(&dir).unwrap();
        let path = |name: &str| dir.join(name).display().to_string();
        let text = [vec![b'x'; BLOCK], b"one\n".to_vec()].concat();
        fs::write(path("a"), &text).unwrap();
        blocks(&path("a"), &path("b")).unwrap();
        let made = fs::read(path("b")).unwrap();
        assert_eq!(made.len(), text.len() + 32);
        assert_eq!(made[..16], [0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0]);
        assert_eq!(made[16 + BLOCK..], *b"\0\0\0\x08\0\0\0\0\0\x04\0\0\0\0\0\x04one\n");
        fs::remove_dir_all(&dir).unwrap();
    }
}
