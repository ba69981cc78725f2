//! The interface of a kernel, and SciMark2's problem sizes.

use crate::check::Check;

/// The seed of all data; Monte Carlo's samples have their own.
pub const SEED: i32 = 101_010;

pub struct Size {
    pub name: &'static str,
    pub fft_points: usize,
    pub sor_side: usize,
    pub sparse_rows: usize,
    pub sparse_nonzeros: usize,
    pub lu_side: usize,
}

pub const SIZES: [Size; 3] = [
    Size { name: "tiny", fft_points: 16, sor_side: 10, sparse_rows: 10, sparse_nonzeros: 50, lu_side: 10 },
    Size {
        name: "small",
        fft_points: 1024,
        sor_side: 100,
        sparse_rows: 1000,
        sparse_nonzeros: 5000,
        lu_side: 100,
    },
    Size {
        name: "large",
        fft_points: 1_048_576,
        sor_side: 1000,
        sparse_rows: 100_000,
        sparse_nonzeros: 1_000_000,
        lu_side: 1000,
    },
];

/// One kernel. Its data come from a fresh generator and carry on from one run to the next.
pub trait Kernel {
    fn run(&mut self, cycles: u64);

    /// Does a known number of cycles on fresh data and notes what came out.
    fn check(&mut self, check: &mut Check);

    /// Depends on all that was computed.
    fn sum(&self) -> f64;
}
