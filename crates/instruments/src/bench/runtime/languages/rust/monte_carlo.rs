//! Points of the unit square that fall into the quarter circle, which estimates pi. One cycle is one point.
//!
//! SciMark2 counts 4 operations a point and nothing for its two random numbers, which take nearly all of the time. Each
//! run starts the generator afresh, from a seed of its own. The size changes nothing.

use crate::check::Check;
use crate::kernel::Kernel;
use crate::random::Random;

const SAMPLE_SEED: i32 = 113;

#[derive(Default)]
pub struct MonteCarlo {
    hits: u64,
}

impl Kernel for MonteCarlo {
    fn run(&mut self, cycles: u64) {
        self.hits += hits_among(cycles);
    }

    fn check(&mut self, check: &mut Check) {
        check.whole("hits.1000", hits_among(1000));
        check.whole("hits.100000", hits_among(100_000));
    }

    fn sum(&self) -> f64 {
        self.hits as f64
    }
}

fn hits_among(samples: u64) -> u64 {
    let mut random = Random::new(SAMPLE_SEED);
    let mut hits = 0;
    for _ in 0..samples {
        let x = random.next();
        let y = random.next();
        if x * x + y * y <= 1.0 {
            hits += 1;
        }
    }
    hits
}
