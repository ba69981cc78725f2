//! The ladder of message sizes of the 2010 benchmarks, each size timed by itself.
//!
//! Sizes 1 to 127 one by one, then 128 B doubling to 16 MiB; 100 runs of each size below 4 KiB, else 1; one
//! pass before to warm. A unit of work is one climb. Times are kept in nanoseconds a size.

use std::hint::black_box;

use model::{Bytes, BytesPerSec, Fault, Seconds};
use sys::clock;

use super::buffer::Buffer;
use crate::bench::kernel::{Kernel, Tally, float};

/// What a `size` parameter may be.
pub const SIZES: &[&str] = &[
    "worst", "best", "1", "7", "15", "31", "63", "127", "128", "256", "512", "1KiB", "2KiB", "4KiB", "8KiB",
    "16KiB", "32KiB", "64KiB", "128KiB", "256KiB", "512KiB", "1MiB", "2MiB", "4MiB", "8MiB", "16MiB",
];

pub const LARGEST: usize = 16 << 20;

/// The sizes up to `largest`.
#[must_use]
pub fn sizes(largest: usize) -> Vec<usize> {
    let doubling = std::iter::successors(Some(128usize), |size| size.checked_mul(2));
    (1..128).chain(doubling.take_while(|size| *size <= LARGEST)).filter(|size| *size <= largest).collect()
}

/// How often a size is run in one climb.
const fn runs(size: usize) -> u32 {
    if size < 4096 { 100 } else { 1 }
}

/// What is done with a message; the result only keeps the work from being optimised away.
pub type Work = Box<dyn FnMut(&[u8]) -> u64>;

/// One thread's ladder, climbed once by each of `works` in a unit.
pub struct Ladder {
    sizes: Vec<usize>,
    data: Buffer,
    works: Vec<Work>,
}

impl Ladder {
    #[must_use]
    pub fn new(largest: usize, seed: u64, works: Vec<Work>) -> Ladder {
        Ladder { sizes: sizes(largest), data: Buffer::random(largest, seed), works }
    }
}

fn climb(work: &mut Work, data: &[u8], times: &mut [(usize, u64)]) {
    for (size, total) in times {
        let data = data.get(..*size).unwrap_or_default();
        let start = clock::now_ns();
        for _ in 0..runs(*size) {
            black_box(work(black_box(data)));
        }
        *total += clock::now_ns().saturating_sub(start);
    }
}

impl Kernel for Ladder {
    /// Nanoseconds a size, over all climbs; one ladder after the other.
    type Out = Vec<(usize, u64)>;

    fn run(&mut self, repeats: u64) -> Result<Self::Out, Fault> {
        let ladder = self.sizes.iter().map(|size| (*size, 0));
        let mut times: Vec<(usize, u64)> = self.works.iter().flat_map(|_| ladder.clone()).collect();
        for _ in 0..repeats {
            for (work, times) in self.works.iter_mut().zip(times.chunks_mut(self.sizes.len())) {
                climb(work, &self.data, times);
            }
        }
        Ok(times)
    }
}

/// The throughput, all threads together, of the size and work that `pick` prefers; sizes that the clock did
/// not see are left out.
pub fn extreme(tally: &Tally<Vec<(usize, u64)>>, pick: fn(f64, f64) -> f64) -> Result<BytesPerSec, Fault> {
    let mut rates: Vec<f64> = Vec::new();
    let climbs = tally.units() / float(tally.threads());
    for times in tally.outs() {
        rates.resize(times.len(), 0.0);
        for ((size, ns), sum) in times.iter().zip(&mut rates) {
            if *ns > 0 {
                let bytes = Bytes(float(*size) * f64::from(runs(*size)) * climbs);
                *sum += (bytes / Seconds::from_ns(*ns)).0;
            }
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
        assert_eq!((count(1), count(2048), count(4096), count(8192)), (200, 200, 2, 2));
    }
}
