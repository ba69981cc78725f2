//! Requests for one object that are all the same, and clusterperf's mean over blocks of 10 of them.

use std::time::Duration;

use model::{BytesPerSec, PerSec, Seconds};
use sys::clock;

use super::client::Client;
use super::ramcloud::RamCloud;
use super::times::{Lines, Times};
use super::wire::{Answer, Failure};
use crate::bench::kernels::random::Random;

/// Requests between two looks at the clock.
pub const BLOCK: u64 = 10;
/// How long a mean is taken over at least, in nanoseconds.
pub const MEAN_NS: u64 = 100_000_000;
/// No mean has more blocks.
const MOST_BLOCKS: usize = 1 << 20;

/// One object.
#[derive(Clone, Copy, Debug)]
pub struct Hot<'a> {
    pub key: &'a [u8],
    pub value: &'a [u8],
    pub replicas: u32,
}

impl Hot<'_> {
    pub fn ask_read(&self, to: &mut Client) {
        to.ask_get(self.key);
    }

    pub fn ask_write(&self, to: &mut Client) {
        to.ask_set(self.key, self.value, self.replicas);
    }

    /// Writes the object. Fails when the store does not take it.
    pub fn write_once(&self, to: &mut Client) -> Result<(), Failure> {
        self.ask_write(to);
        is_one(&to.turn()?, 0)
    }

    /// Fails unless the store hands back what was written, byte by byte.
    pub fn check(&self, to: &mut Client) -> Result<(), Failure> {
        self.ask_read(to);
        let answer = to.turn()?;
        is_one(&answer, self.value.len())?;
        match to.came(&answer) == self.value {
            true => Ok(()),
            false => Err(Failure::missing("the value that came back is another one")),
        }
    }
}

/// Fails unless the answer is of one object with a value of this many bytes (0 where none was asked for).
#[inline]
pub fn is_one(answer: &Answer, bytes: usize) -> Result<(), Failure> {
    if answer.count == 1 && answer.bytes == bytes as u64 { Ok(()) } else { Err(unlike(answer, bytes)) }
}

#[cold]
fn unlike(answer: &Answer, bytes: usize) -> Failure {
    Failure::missing(match answer.count {
        0 => "a key has no value: was it evicted, or removed by somebody else?".to_owned(),
        _ => format!("a value of {} B came where one of {bytes} B was written", answer.bytes),
    })
}

/// A number below `count`, or 0.
#[inline]
pub fn below(random: &mut Random, count: u32) -> u32 {
    u32::try_from(random.below(u64::from(count.max(1)))).unwrap_or(0)
}

/// The count and time of blocks of the same request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mean {
    pub count: u64,
    pub ns: u64,
}

impl Mean {
    pub fn seconds(&self) -> Seconds {
        Seconds::from_ns(self.ns) / self.count.max(1) as f64
    }

    /// The mean, the means of the blocks, and the bandwidth that follows.
    pub fn lines(&self, blocks: &Times, bytes: usize) -> Lines {
        let mean = self.seconds();
        let bandwidth = (mean.0 > 0.0).then(|| BytesPerSec(bytes as f64 / mean.0));
        let rate = (mean.0 > 0.0).then(|| PerSec(1.0 / mean.0));
        let (min, p90, p99, p999) = (None, None, None, None);
        Lines { all: blocks.histogram(), middle: Some(mean), min, p90, p99, p999, bandwidth, rate }
    }
}

/// Repeats the request in blocks of 10 until `at_least_ns` have passed, after one that does not count. `blocks` gets
/// the mean of each block. Fails on the first answer that is not right.
pub fn mean(
    to: &mut Client,
    blocks: &mut Times,
    at_least_ns: u64,
    is_right: impl Fn(&Answer) -> Result<(), Failure>,
) -> Result<Mean, Failure> {
    blocks.clear(usize::try_from(at_least_ns / 10_000).unwrap_or(MOST_BLOCKS).clamp(1, MOST_BLOCKS));
    to.turn()?;
    if let Client::RamCloud(to) = to {
        return mean_of_rows(to, blocks, at_least_ns, &is_right);
    }
    let begun_ns = clock::now_ns();
    let (mut from_ns, mut count) = (begun_ns, 0);
    loop {
        for _ in 0..BLOCK {
            is_right(&to.turn()?)?;
        }
        let now_ns = clock::now_ns();
        count += BLOCK;
        blocks.add((now_ns - from_ns) / BLOCK);
        from_ns = now_ns;
        if now_ns - begun_ns >= at_least_ns {
            return Ok(Mean { count, ns: now_ns - begun_ns });
        }
    }
}

/// The same by a client that times rows of requests itself: the time is that within the rows.
fn mean_of_rows(
    to: &mut RamCloud,
    blocks: &mut Times,
    at_least_ns: u64,
    is_right: &dyn Fn(&Answer) -> Result<(), Failure>,
) -> Result<Mean, Failure> {
    let mut mean = Mean { count: 0, ns: 0 };
    loop {
        let left = Duration::from_nanos(at_least_ns.saturating_sub(mean.ns));
        let row = to.again(u32::try_from(BLOCK).unwrap_or(1), left)?;
        let mut from_ns = row.first().map_or(0, |first| first.begin_ns);
        for block in row.chunks(usize::try_from(BLOCK).unwrap_or(1)) {
            for outcome in block {
                is_right(&to.answer(outcome)?)?;
            }
            let to_ns = block.last().map_or(from_ns, |last| last.end_ns);
            let ns = to_ns.saturating_sub(from_ns);
            blocks.add(ns / block.len().max(1) as u64);
            mean = Mean { count: mean.count + block.len() as u64, ns: mean.ns + ns };
            from_ns = to_ns;
        }
        if mean.ns >= at_least_ns {
            return Ok(mean);
        }
    }
}
