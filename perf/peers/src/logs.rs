//! Access logs: a made one, our reading of it, and the least that any reading of fields costs.
//!
//! The log is Apache's combined with %D, about 200 bytes a line; the same seed makes the same bytes.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use logs::aggregate::paths::By;
use logs::format::Format;
use logs::read::{Input, Options, Watch, read};
use stats::Rng;

type Said = Result<String, Box<dyn Error>>;

/// A hundred agents and referrers of lengths that real ones have.
fn texts(random: &mut Rng) -> (Vec<String>, Vec<String>) {
    let agent = |n: usize, random: &mut Rng| {
        let version = 60 + random.below(70);
        format!("Mozilla/5.0 (X11; Linux x86_64; rv:{version}.{n}) Gecko/20100101 Firefox/{version}.0")
    };
    let agents = (0..100).map(|n| agent(n, random)).collect();
    let referer = |n: usize| if n % 3 == 0 { "-".to_owned() } else { format!("https://www.example.org/p/{n}") };
    (agents, (0..100).map(referer).collect())
}

/// Writes so many lines of so many clients; times and sizes are log-normal, paths few and many.
pub fn make(path: &str, lines: &str, clients: &str, seed: &str) -> Said {
    let (lines, clients): (u64, usize) = (lines.parse()?, clients.parse()?);
    let mut random = Rng::new(seed.parse()?);
    let (agents, referers) = texts(&mut random);
    let mut to = BufWriter::with_capacity(1 << 20, File::create(path)?);
    for line in 0..lines {
        // A hundred a second, from 10 October 2023 on.
        let second = line / 100;
        let (day, clock) = (10 + second / 86_400, second % 86_400);
        let client = random.below(clients);
        // Few paths have most of the requests.
        let path = (100_000.0 * random.uniform().powi(4)) as u64;
        let status = [200, 200, 200, 200, 200, 200, 200, 304, 404, 500][random.below(10)];
        let bytes = (8.5 + 2.0 * random.normal()).exp() as u64;
        let time_us = (6.0 + 1.5 * random.normal()).exp() as u64 + 50;
        writeln!(
            to,
            "{}.{}.{}.{} - - [{day:02}/Oct/2023:{:02}:{:02}:{:02} +0200] \"GET /content/{}/item-{path:06}.html HTTP/1.1\" \
             {status} {bytes} \"{}\" \"{}\" {time_us}",
            10 + (client >> 24), (client >> 16) & 255, (client >> 8) & 255, client & 255,
            clock / 3600, clock / 60 % 60, clock % 60,
            path % 50,
            referers[random.below(100)],
            agents[random.below(100)],
        )?;
    }
    to.flush()?;
    Ok(format!("[{lines},{}]", std::fs::metadata(path)?.len()))
}

/// Every default aggregate of a log; prints some, so that nothing is left out.
pub fn ours(path: &str, threads: &str) -> Said {
    let format = Arc::new(Format::parse("combined+D")?);
    let options = Options { threads: threads.parse()?, ..Options::default() };
    let outcome = read(vec![Input::file("a", PathBuf::from(path), format)], &options, &Watch::default());
    if let Some(fault) = outcome.faults.first() {
        return Err(format!("{}: {}", fault.file, fault.what).into());
    }
    let all = outcome.labels.labels.get("a").ok_or("no lines")?;
    let totals = all.totals();
    let top = all.paths.top(By::Requests, 10);
    Ok(format!(
        "[{},{},{},{},{:.0},{},{}]",
        all.parsed,
        all.skipped(),
        totals.bytes,
        totals.time_ns / 1000,
        all.clients.estimate(),
        all.times.quantile(0.99).unwrap_or(0),
        top.first().map_or(0, |top| top.requests)
    ))
}

/// Finds the fields of every line by memchr, adds three of them up, and does nothing else.
pub fn bare(path: &str) -> Said {
    let file = File::open(path)?;
    let mut block = vec![0; 512 << 10];
    let (mut at, mut filled, mut sums) = (0u64, 0, [0u64; 3]);
    loop {
        let count = file.read_at(&mut block[filled..], at)?;
        if count == 0 {
            return Ok(format!("[{},{},{}]", sums[0], sums[1], sums[2]));
        }
        at += count as u64;
        filled += count;
        let mut rest = &block[..filled];
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if let Some((bytes, time)) = fields(&rest[..end]) {
                sums = [sums[0] + 1, sums[1] + number(bytes), sums[2] + number(time)];
            }
            rest = &rest[end + 1..];
        }
        let left = rest.len();
        block.copy_within(filled - left..filled, 0);
        filled = left;
    }
}

/// Size and time of a line, each field looked for in its turn.
fn fields(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = line;
    let mut until = |byte: u8, skip: usize| {
        let end = memchr::memchr(byte, rest)?;
        let field = &rest[..end];
        rest = rest.get(end + 1 + skip..)?;
        Some(field)
    };
    until(b' ', 0)?;
    until(b' ', 0)?;
    until(b' ', 1)?;
    until(b']', 2)?;
    until(b'"', 1)?;
    until(b' ', 0)?;
    let bytes = until(b' ', 1)?;
    until(b'"', 2)?;
    until(b'"', 1)?;
    Some((bytes, rest))
}

fn number(text: &[u8]) -> u64 {
    text.iter().fold(0, |sum, byte| sum * 10 + u64::from(byte.wrapping_sub(b'0')))
}
