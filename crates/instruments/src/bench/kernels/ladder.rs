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

/// One thread's ladder over `work`, whose results are kept from being optimised away.
pub struct Ladder {
    sizes: Vec<usize>,
    data: Buffer,
    work: Box<dyn FnMut(&[u8]) -> u64>,
}

impl Ladder {
    #[must_use]
    pub fn new(largest: usize, seed: u64, work: Box<dyn FnMut(&[u8]) -> u64>) -> Ladder {
        Ladder { sizes: sizes(largest), data: Buffer::random(largest, seed), work }
    }

    fn climb(&mut self, times: &mut [(usize, u64)]) {
        for (size, total) in times {
            let data = &self.data[..*size];
            let start = clock::now_ns();
            for _ in 0..runs(*size) {
                black_box((self.work)(black_box(data)));
            }
            *total += clock::now_ns().saturating_sub(start);
        }
    }
}

impl Kernel for Ladder {
    /// Nanoseconds a size, over all climbs.
    type Out = Vec<(usize, u64)>;

    fn run(&mut self, repeats: u64) -> Result<Self::Out, Fault> {
        let mut times: Vec<(usize, u64)> = self.sizes.iter().map(|size| (*size, 0)).collect();
        for _ in 0..repeats {
            self.climb(&mut times);
        }
        Ok(times)
    }
}

/// Bytes per second by size, all threads together; sizes too short for the clock are left out.
#[must_use]
pub fn rates(tally: &Tally<Vec<(usize, u64)>>) -> Vec<(usize, BytesPerSec)> {
    let mut rates: Vec<(usize, BytesPerSec)> = Vec::new();
    let climbs = tally.units() / float(tally.threads());
    for times in tally.outs() {
        for (index, (size, ns)) in times.iter().enumerate() {
            let bytes = Bytes(float(*size) * f64::from(runs(*size)) * climbs);
            let rate = if *ns == 0 { BytesPerSec(0.0) } else { bytes / Seconds::from_ns(*ns) };
            match rates.get_mut(index) {
                Some((_, sum)) => *sum = *sum + rate,
                None => rates.push((*size, rate)),
            }
        }
    }
    rates.retain(|(_, rate)| rate.0 > 0.0);
    rates
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
        let mut ladder = Ladder::new(
            8192,
            1,
            Box::new(move |data| {
                log.borrow_mut().push(data.len());
                0
            }),
        );
        let times = ladder.run(2).unwrap();
        assert_eq!(times.len(), 127 + 7);
        let count = |size: usize| seen.borrow().iter().filter(|len| **len == size).count();
        assert_eq!((count(1), count(2048), count(4096), count(8192)), (200, 200, 2, 2));
    }
}
