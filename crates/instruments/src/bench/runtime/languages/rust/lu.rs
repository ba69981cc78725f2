//! Factors a dense square matrix into a lower and an upper triangle, with partial pivoting. One cycle is a copy of the
//! matrix and its factors.
//!
//! SciMark2 counts 2/3 N^3 operations a cycle; the copy takes time and is not counted.

use crate::check::Check;
use crate::kernel::{Kernel, Size, SEED};
use crate::memory::{self, Matrix};
use crate::random::Random;

pub struct Lu {
    matrix: Matrix,
    lu: Matrix,
    pivots: Vec<usize>,
}

impl Lu {
    pub fn new(size: &Size) -> Result<Self, String> {
        let side = size.lu_side;
        let matrix = Random::new(SEED).matrix(side, side)?;
        Ok(Self { matrix, lu: memory::matrix(side, side)?, pivots: memory::vector(side, 0)? })
    }
}

impl Kernel for Lu {
    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            for (to, from) in self.lu.iter_mut().zip(&self.matrix) {
                to.copy_from_slice(from);
            }
            factor(&mut self.lu, &mut self.pivots);
        }
    }

    fn check(&mut self, check: &mut Check) {
        self.run(1);
        check.digest("lu", self.lu.iter().map(Vec::as_slice));
        check.whole("pivot.0", self.pivots[0] as u64);
        check.whole("pivot.sum", self.pivots.iter().sum::<usize>() as u64);
        check.whole("pivot.weighted", (1..).zip(&self.pivots).map(|(i, pivot)| i * *pivot as u64).sum());
    }

    fn sum(&self) -> f64 {
        self.lu.iter().flatten().sum()
    }
}

fn factor(a: &mut Matrix, pivots: &mut [usize]) {
    let side = a.len();
    for k in 0..side {
        let pivot = largest(a, k);
        pivots[k] = pivot;
        assert!(a[pivot][k] != 0.0, "lu: the matrix is singular");
        a.swap(k, pivot);
        let (done, below) = a.split_at_mut(k + 1);
        let upper = &done[k];
        let reciprocal = 1.0 / upper[k];
        for row in below.iter_mut() {
            row[k] *= reciprocal;
        }
        for row in below {
            let multiple = row[k];
            for (value, above) in row[k + 1..].iter_mut().zip(&upper[k + 1..]) {
                *value -= multiple * above;
            }
        }
    }
}

/// The row, from `column` down, of the column's largest element; the first of equal ones.
fn largest(a: &Matrix, column: usize) -> usize {
    let mut row = column;
    let mut most = a[column][column].abs();
    for (i, candidate) in a.iter().enumerate().skip(column + 1) {
        let size = candidate[column].abs();
        if size > most {
            row = i;
            most = size;
        }
    }
    row
}
