//! Which kernel of an operation is the fastest here: they are run in turns over the arrays before the first take.
//!
//! The widest vectors are not the fastest everywhere. One core of a Zen 4 that adds two arrays into a third reads 26.7
//! GB/s with vectors of 16 bytes, 24.8 with 32 and 22.0 with 64.
//! Compilers use 16 bytes unless they are told otherwise. The race is part of no take.

use model::{Fault, Seconds};

use super::kernels::{Isa, Kernel};
use crate::bench::median::median;

/// Turns of each kernel.
const TURNS: usize = 11;
/// Bytes of each array that one turn passes over.
pub const TURN_BYTES: usize = 16 << 20;

/// The fastest of several kernels, and what it was faster than.
#[derive(Clone, Debug)]
pub struct Winner {
    pub isa: Isa,
    pub kernel: Kernel,
    /// Of the others: their speed as a share of the winner's.
    pub others: Vec<(Isa, f64)>,
}

impl Winner {
    /// `SSE2 code (AVX2 0.96, AVX-512 0.74 of it)`.
    pub fn sentence(&self) -> String {
        let others: Vec<String> =
            self.others.iter().map(|(isa, share)| format!("{} {share:.2}", isa.name())).collect();
        match others.is_empty() {
            true => format!("{} code", self.isa.name()),
            false => format!("{} code ({} of it)", self.isa.name(), others.join(", ")),
        }
    }
}

/// Runs all `kernels` in turns, each time beginning with another one; `time` passes a kernel over the next part of the
/// arrays. The least median time wins, the later kernel where two are equal. Fails when a pass fails, or there is none.
pub fn fastest(
    kernels: &[(Isa, Kernel)],
    mut time: impl FnMut(Kernel) -> Result<Seconds, Fault>,
) -> Result<Winner, Fault> {
    let mut times: Vec<Vec<f64>> = vec![Vec::new(); kernels.len()];
    let turns = if kernels.len() > 1 { TURNS } else { 0 };
    for turn in 0..turns {
        for place in 0..kernels.len() {
            let index = (turn + place) % kernels.len();
            times[index].push(time(kernels[index].1)?.0);
        }
    }
    let medians: Vec<f64> = times.iter().map(|times| median(times).unwrap_or_default()).collect();
    let best = (0..kernels.len()).rev().min_by(|&a, &b| medians[a].total_cmp(&medians[b]));
    let best = best.ok_or_else(|| Fault::new("no kernel to choose from"))?;
    let others = (0..kernels.len()).filter(|&index| index != best);
    let others = others.map(|index| (kernels[index].0, medians[best] / medians[index])).collect();
    Ok(Winner { isa: kernels[best].0, kernel: kernels[best].1, others })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(_: &mut [u64], _: &[u64], _: &[u64]) -> u64 {
        1
    }
    fn two(_: &mut [u64], _: &[u64], _: &[u64]) -> u64 {
        2
    }

    /// Times by the kernel's own result, with a stall in every fourth pass.
    fn race(first: f64, second: f64) -> Winner {
        let mut passes = 0;
        let kernels: [(Isa, Kernel); 2] = [(Isa::Sse2, one), (Isa::Avx512, two)];
        let time = |kernel: Kernel| {
            passes += 1;
            let stall = if passes % 4 == 0 { 9.0 } else { 1.0 };
            Ok(Seconds(stall * if kernel(&mut [], &[], &[]) == 1 { first } else { second }))
        };
        fastest(&kernels, time).unwrap()
    }

    #[test]
    fn the_fastest_wins_whatever_its_width() {
        let narrow = race(0.75, 1.0);
        assert_eq!((narrow.isa, narrow.others), (Isa::Sse2, vec![(Isa::Avx512, 0.75)]));
        assert_eq!(race(1.0, 0.5).isa, Isa::Avx512);
        assert_eq!(race(1.0, 1.0).isa, Isa::Avx512);
        assert_eq!(race(0.75, 1.0).sentence(), "SSE2 code (AVX-512 0.75 of it)");
    }

    #[test]
    fn one_kernel_runs_no_race() {
        let alone: [(Isa, Kernel); 1] = [(Isa::Scalar, one)];
        let winner = fastest(&alone, |_| Err(Fault::new("nobody runs"))).unwrap();
        assert_eq!(winner.sentence(), "scalar code");
        assert!(fastest(&[], |_| Ok(Seconds(1.0))).is_err());
    }
}
