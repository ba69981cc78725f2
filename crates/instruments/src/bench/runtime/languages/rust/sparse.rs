//! A sparse matrix in compressed rows times a vector. One cycle is one product.
//!
//! SciMark2 counts two operations for each element that is not zero. Rows have equally many of them, spread from the
//! first column to the diagonal.

use crate::check::Check;
use crate::kernel::{Kernel, Size, SEED};
use crate::memory;
use crate::random::Random;

pub struct Sparse {
    x: Vec<f64>,
    y: Vec<f64>,
    values: Vec<f64>,
    columns: Vec<u32>,
    starts: Vec<u32>,
}

impl Sparse {
    pub fn new(size: &Size) -> Result<Self, String> {
        let mut random = Random::new(SEED);
        let rows = size.sparse_rows;
        let in_row = size.sparse_nonzeros / rows;
        let x = random.vector(rows)?;
        let values = random.vector(in_row * rows)?;
        let mut columns = memory::vector(values.len(), 0)?;
        let mut starts = memory::vector(rows + 1, 0)?;
        for row in 0..rows {
            let step = (row / in_row).max(1);
            starts[row + 1] = ((row + 1) * in_row) as u32;
            for i in 0..in_row {
                columns[row * in_row + i] = (i * step) as u32;
            }
        }
        Ok(Self { y: memory::vector(rows, 0.0)?, x, values, columns, starts })
    }
}

impl Kernel for Sparse {
    fn run(&mut self, cycles: u64) {
        for _ in 0..cycles {
            self.multiply();
        }
    }

    fn check(&mut self, check: &mut Check) {
        self.run(1);
        check.digest("y", [&self.y[..]]);
        check.whole("row.last", self.starts[self.starts.len() - 1].into());
        check.whole("col.last", self.columns[self.columns.len() - 1].into());
        check.whole("col.sum", self.columns.iter().copied().map(u64::from).sum());
    }

    fn sum(&self) -> f64 {
        self.y.iter().sum()
    }
}

impl Sparse {
    fn multiply(&mut self) {
        for (y, ends) in self.y.iter_mut().zip(self.starts.windows(2)) {
            let row = ends[0] as usize..ends[1] as usize;
            let mut total = 0.0;
            for (value, column) in self.values[row.clone()].iter().zip(&self.columns[row]) {
                total += self.x[*column as usize] * value;
            }
            *y = total;
        }
    }
}
