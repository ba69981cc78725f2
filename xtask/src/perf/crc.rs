//! CRC-32C beside two crates: one process, slices of 10 ms in turns; ns a message, times not speeds.

use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::bound;
use super::options::Options;
use super::pairs::{Outcome, comparison, load};

/// Bytes of a message.
const SIZES: [usize; 3] = [64, 1024, 65_536];
const LIMIT: Duration = Duration::from_secs(120);

pub fn run(options: &Options, peers: &str, outcome: &mut Outcome) -> Result<()> {
    for size in SIZES {
        let before = load();
        let (size_word, cpu, pairs) = (size.to_string(), options.cpu.to_string(), options.pairs.to_string());
        let (out, _) = bound::on_cpu(options.cpu, &[peers, "crc32c", &size_word, &cpu, &pairs, "7"], LIMIT)?;
        let lines: Vec<Value> = serde_json::from_str(&out)?;
        for peer in ["crc-fast", "crc32c"] {
            let pairs = of_peer(&lines, peer).context("peers printed something else")?;
            let what = format!("crc32c impl=fast size={size}");
            outcome.keep(comparison(&what, &format!("crate {peer}"), "ns", &pairs, true, before)?);
        }
    }
    Ok(())
}

fn of_peer(lines: &[Value], peer: &str) -> Option<Vec<(f64, f64)>> {
    let of = |line: &&Value| line["peer"].as_str() == Some(peer);
    lines.iter().filter(of).map(|line| Some((line["ours"].as_f64()?, line["theirs"].as_f64()?))).collect()
}
