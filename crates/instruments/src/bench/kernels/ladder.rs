//! The ladder of message sizes of the 2010 benchmarks, each size timed by itself.
//!
//! Sizes 1 to 127 one by one, then 128 B doubling to 16 MiB; 100 runs of each size below 4 KiB, else 1; one
//! pass before to warm. A unit of work is three climbs; a size's time is the median of a take's climbs, so that
//! one interruption does not make a size the slowest. Times are in nanoseconds.

use std::hint::black_box;

use model::{Bytes, BytesPerSec, Fault, Label, ParamKind, ParamSpec, Seconds};
use sys::clock;

use super::buffer::Buffer;
use crate::bench::kernel::{Kernel, Tally, float};

/// The values of a `size` parameter.
const SIZES: &[&str] = &[
    "worst", "best", "1", "7", "15", "31", "63", "127", "128", "256", "512", "1KiB", "2KiB", "4KiB", "8KiB",
    "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB", "8MiB", "16MiB",
];

/// The `size` parameter of what is measured over the ladder.
pub const SIZE: ParamSpec = ParamSpec::new(
    "size",
    ParamKind::Choice(SIZES),
    "1KiB",
    "bytes in a message; worst and best: the extremes over a ladder of 145 sizes",
)
.label(Label::Bytes);

pub const LARGEST: usize = 16 << 20;

/// The sizes up to `largest`.
pub fn sizes(largest: usize) -> Vec<usize> {
    let doubling = std::iter::successors(Some(128usize), |size| size.checked_mul(2));
    (1..128).chain(doubling.take_while(|size| *size <= LARGEST)).filter(|size| *size <= largest).collect()
}

/// Runs of a size in one climb.
const fn runs(size: usize) -> u32 {
    if size < 4096 { 100 } else { 1 }
}

/// The work on a message; the result only keeps it from being optimised away.
pub type Work = Box<dyn FnMut(&[u8]) -> u64>;

/// One thread's ladder, climbed once by each of `works` in a unit.
pub struct Ladder {
    sizes: Vec<usize>,
    data: Buffer,
    works: Vec<Work>,
}

impl Ladder {
    pub fn new(largest: usize, seed: u64, works: Vec<Work>) -> Ladder {
        Ladder { sizes: sizes(largest), data: Buffer::random(largest, seed), works }
    }
}

const CLIMBS: u64 = 3;

/// A size, and how long its runs took in each climb.
pub type Rung = (usize, Vec<u64>);

fn climb(work: &mut Work, data: &[u8], rungs: &mut [Rung]) {
    for (size, times) in rungs {
        let data = data.get(..*size).unwrap_or_default();
        let start = clock::now_ns();
        for _ in 0..runs(*size) {
            black_box(work(black_box(data)));
        }
        times.push(clock::now_ns().saturating_sub(start));
    }
}

impl Kernel for Ladder {
    /// One ladder after the other.
    type Out = Vec<Rung>;

    fn run(&mut self, repeats: u64) -> Result<Self::Out, Fault> {
        let ladder = self.sizes.iter().map(|size| (*size, Vec::new()));
        let mut rungs: Vec<Rung> = self.works.iter().flat_map(|_| ladder.clone()).collect();
        for _ in 0..repeats.saturating_mul(CLIMBS) {
            for (work, rungs) in self.works.iter_mut().zip(rungs.chunks_mut(self.sizes.len())) {
                climb(work, &self.data, rungs);
            }
        }
        Ok(rungs)
    }
}

/// Bytes per second of one rung, by its median climb; 0 when the clock did not see it.
fn rate(size: usize, times: &[u64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_unstable();
    match times.get(times.len() / 2) {
        Some(&median) if median > 0 => {
            (Bytes(float(size) * f64::from(runs(size))) / Seconds::from_ns(median)).0
        }
        _ => 0.0,
    }
}

/// The throughput, all threads together, of the size and work that `pick` prefers. Sizes too fast for the clock are
/// left out. Fails when none is left.
pub fn extreme(tally: &Tally<Vec<Rung>>, pick: fn(f64, f64) -> f64) -> Result<BytesPerSec, Fault> {
    let mut rates: Vec<f64> = Vec::new();
    for rungs in tally.outs() {
        rates.resize(rungs.len(), 0.0);
        for ((size, times), sum) in rungs.iter().zip(&mut rates) {
            *sum += rate(*size, times);
        }
    }
    let found = rates.into_iter().filter(|rate| *rate > 0.0).reduce(pick);
    found.map(BytesPerSec).ok_or_else(|| Fault::new("no size of the ladder took any time"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ladder_is_the_old_one() {
        let all = sizes(LARGEST);
        assert_eq!(all.len(), 127 + 18);
        assert_eq!((all.first(), all.last()), (Some(&1), Some(&LARGEST)));
        assert_eq!(sizes(4096).last(), Some(&4096));
        assert_eq!((runs(2048), runs(4096)), (100, 1));
    }

    #[test]
    fn every_size_is_run_as_often_as_stated() {
        use std::cell::RefCell;
        use std::rc::Rc;
        let seen = Rc::new(RefCell::new(Vec::new()));
        let log = Rc::clone(&seen);
        let work: Work = Box::new(move |data| {
            log.borrow_mut().push(data.len());
            0
        });
        let mut ladder = Ladder::new(8192, 1, vec![work, Box::new(|_| 0)]);
        let times = ladder.run(2).unwrap();
        assert_eq!(times.len(), 2 * (127 + 7));
        let count = |size: usize| seen.borrow().iter().filter(|len| **len == size).count();
        assert_eq!((count(1), count(2048), count(4096), count(8192)), (600, 600, 6, 6));
    }

    #[test]
    fn an_interruption_does_not_count() {
        let close = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(close(rate(8192, &[1000, 1_000_000, 900]), 8.192e9));
        assert!(close(rate(10, &[1000]), 1e9));
        assert!(close(rate(10, &[0, 0, 5]) + 1.0, 1.0));
    }
}
