//! CRC-32C of one message by us and by two crates, in turns; ns a message, the state carried on where the
//! library lets one, results compared before anything is timed.

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

use instruments::bench::kernels::buffer::Buffer;
use instruments::bench::kernels::crc32c;
use instruments::bench::kernels::random::Random;
use serde_json::{Value, json};

/// How long one side works in a pair.
const SLICE: Duration = Duration::from_millis(10);

type Sum = Box<dyn Fn(&[u8]) -> u32>;

pub fn run(size: &str, cpu: &str, pairs: &str, seed: &str) -> Result<String, Box<dyn Error>> {
    let (size, pairs, seed): (usize, usize, u64) = (size.parse()?, pairs.parse()?, seed.parse()?);
    let _pinned = sys::affinity::pin(cpu.parse()?)?;
    let data = Buffer::random(size, seed);
    let ours = crc32c::fast();
    let theirs: [(&str, Sum); 2] =
        [("crc-fast", Box::new(crc_fast::crc32_iscsi)), ("crc32c", Box::new(crc32c_crate::crc32c))];
    let ours: Sum = Box::new(move |data| !ours(!0, data));
    let mut lines = Vec::new();
    let mut random = Random::new(seed);
    for (name, sum) in &theirs {
        if sum(&data) != ours(&data) {
            return Err(format!("{name} and we differ on {size} bytes").into());
        }
        let calls = calls(&ours, &data).min(calls(sum, &data));
        for _ in 0..pairs {
            let ours_first = random.below(2) == 0;
            let (mut a, mut b) = (0.0, 0.0);
            if ours_first {
                a = time(&ours, &data, calls);
            }
            b += time(sum, &data, calls);
            if !ours_first {
                a = time(&ours, &data, calls);
            }
            lines.push(json!({"peer": name, "ours": a, "theirs": b}));
        }
    }
    Ok(Value::Array(lines).to_string())
}

/// How many messages a slice holds, found by doubling.
fn calls(sum: &Sum, data: &[u8]) -> u64 {
    let mut calls = 1u64;
    loop {
        let took = Duration::from_nanos((time(sum, data, calls) * calls as f64) as u64);
        if took >= SLICE || calls >= 1 << 40 {
            return calls;
        }
        calls *= 2;
    }
}

/// Nanoseconds a message, one call after another, the result of each waited for by nobody.
fn time(sum: &Sum, data: &[u8], calls: u64) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        black_box(sum(black_box(data)));
    }
    start.elapsed().as_nanos() as f64 / calls as f64
}
