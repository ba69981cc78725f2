//! Jacobi's successive over-relaxation of a square grid, omega 1.25. One cycle is one sweep over the inner points.
//!
//! SciMark2 counts 6 (N - 1)^2 operations a sweep, though a sweep updates (N - 2)^2 points.

use crate::check::Check;
use crate::kernel::{Kernel, Size, SEED};
use crate::memory::Matrix;
use crate::random::Random;

const OMEGA: f64 = 1.25;

pub struct Sor {
    points: Matrix,
}

impl Sor {
    pub fn new(size: &Size) -> Result<Self, String> {
        Ok(Self { points: Random::new(SEED).matrix(size.sor_side, size.sor_side)? })
    }
}

impl Kernel for Sor {
    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            sweep(&mut self.points);
        }
    }

    /// A hundred sweeps of a large grid would take longer than a take.
    fn check(&mut self, check: &mut Check) {
        let most = if self.points.len() > 100 { 1 } else { 100 };
        let mut done = 0;
        for sweeps in [1, 10, 100].into_iter().filter(|sweeps| *sweeps <= most) {
            self.run(sweeps - done);
            done = sweeps;
            check.digest(&format!("sweep{sweeps}"), self.points.iter().map(Vec::as_slice));
        }
    }

    fn sum(&self) -> f64 {
        self.points.iter().flatten().sum()
    }
}

fn sweep(points: &mut Matrix) {
    let weight_around = OMEGA * 0.25;
    let weight_own = 1.0 - OMEGA;
    let last = points.len() - 1;
    for i in 1..last {
        let (before, rest) = points.split_at_mut(i);
        let (own, after) = rest.split_at_mut(1);
        let (above, row, below) = (&before[i - 1][..=last], &mut own[0][..=last], &after[0][..=last]);
        for j in 1..last {
            row[j] = weight_around * (above[j] + below[j] + row[j - 1] + row[j + 1]) + weight_own * row[j];
        }
    }
}
