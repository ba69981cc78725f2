//! The data of the compression benchmark: text, an access log and binary records, always the same bytes.
//!
//! Made by a fixed generator, so no file has to be shipped or fetched. Sizes are bytes.

use std::io::Write as _;

use super::index::text;
use super::random::Random;

/// Part of the benchmark's definition.
const SEED: u64 = 1;

/// `size` bytes: three eighths text, three eighths log lines, the rest records.
pub fn corpus(size: usize) -> Vec<u8> {
    let share = size / 8 * 3;
    let mut corpus = text(share, SEED);
    corpus.extend(log(share));
    corpus.extend(records(size - corpus.len()));
    corpus
}

/// Lines as a web server writes them: few hosts and pages are frequent, times rise.
fn log(size: usize) -> Vec<u8> {
    const PAGES: [&str; 8] = [
        "/",
        "/index.html",
        "/img/logo.png",
        "/css/site.css",
        "/search?q=",
        "/api/v1/items/",
        "/news/",
        "/feed",
    ];
    const STATUS: [u16; 8] = [200, 200, 200, 200, 200, 304, 404, 500];
    let mut random = Random::new(SEED + 1);
    let mut out = Vec::with_capacity(size + 256);
    let mut seconds = 36_000u64;
    while out.len() < size {
        seconds += random.below(3);
        let host = random.below(40) * random.below(40);
        let page = PAGES[pick(&mut random, PAGES.len())];
        let status = STATUS[pick(&mut random, STATUS.len())];
        let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
        let (item, bytes) = (random.below(2000), 200 + random.below(1 << 14));
        let line = writeln!(
            out,
            "10.{}.{}.{host} - - [21/Nov/2026:{hour:02}:{minute:02}:{second:02} +0000] \"GET {page}{item} \
             HTTP/1.1\" {status} {bytes} \"-\" \"Mozilla/5.0 (X11; Linux x86_64)\"",
            host % 7,
            host % 31,
        );
        // Writing to memory cannot fail.
        debug_assert!(line.is_ok());
    }
    out.truncate(size);
    out
}

fn pick(random: &mut Random, count: usize) -> usize {
    usize::try_from(random.below(count as u64)).unwrap_or(0)
}

/// Little-endian records of 32 bytes: a rising number, a rising time, two small numbers, noise.
fn records(size: usize) -> Vec<u8> {
    let mut random = Random::new(SEED + 2);
    let mut out = Vec::with_capacity(size + 32);
    let (mut number, mut time) = (0u32, 1_700_000_000_000u64);
    while out.len() < size {
        number += 1;
        time += random.below(1000);
        out.extend(number.to_le_bytes());
        out.extend(time.to_le_bytes());
        out.extend(random.below(100).to_le_bytes());
        out.extend((random.below(1 << 20) * random.below(4)).to_le_bytes());
        out.extend(&random.next().to_le_bytes()[..4]);
    }
    out.truncate(size);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::kernels::crc32c;

    #[test]
    fn the_corpus_has_the_size_asked_for() {
        for size in [0, 1, 100, 65_536] {
            assert_eq!(corpus(size).len(), size);
        }
    }

    /// These bytes are the definition: when they change, the card's `definition` must rise.
    #[test]
    fn the_corpus_is_always_the_same() {
        assert_eq!(!crc32c::table(!0, &corpus(1 << 20)), 2_371_609_057);
    }
}
