//! Bandwidth kernels: one pass over arrays of 64-bit words, our own code on every platform.
//!
//! Two styles. The strided operations (`read`, `write`, `rdwr`, `copy` counted as bw_mem does) touch the
//! first 4 of every 16 bytes, so that every cache line moves while the core executes little. The full
//! ones (`fread`, `fwrite`, `fcopy` and the STREAM four) touch every byte, with the widest vectors that
//! this core has. Counted bytes are the definition's; write-allocate traffic is never counted.

mod operation;
mod portable;
mod strided;
#[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
mod x86;

pub use operation::{BLOCK, FACTOR, Isa, Kernel, Op, Store, WRITTEN};

/// The best kernel for this core; `None` when `store` is not possible with the operation here.
pub fn best(op: Op, store: Store) -> Option<(Isa, Kernel)> {
    available(op, store).into_iter().next_back()
}

/// Every kernel that this core can run, the preferred one last.
pub fn available(op: Op, store: Store) -> Vec<(Isa, Kernel)> {
    if op.strided() {
        return if store == Store::Temporal { vec![(Isa::Scalar, strided::kernel(op))] } else { Vec::new() };
    }
    #[cfg_attr(not(any(target_arch = "x86_64", target_arch = "x86")), expect(unused_mut))]
    let mut found = match store {
        Store::Temporal => vec![(Isa::Portable, portable::kernel(op))],
        Store::Streaming if !op.writes() => return Vec::new(),
        Store::Streaming => Vec::new(),
    };
    #[cfg(any(target_arch = "x86_64", target_arch = "x86"))]
    found.extend(x86::available(op, store));
    found
}

/// The expected element of the written array for given elements of the sources; for spot checks.
pub fn expected(op: Op, a: u64, b: u64) -> u64 {
    let (x, y) = (f64::from_bits(a), f64::from_bits(b));
    match op {
        Op::Write | Op::ReadWrite | Op::FullWrite => WRITTEN,
        Op::Copy | Op::FullCopy | Op::StreamCopy | Op::Read | Op::FullRead => a,
        Op::Scale => (FACTOR * x).to_bits(),
        Op::Add => (x + y).to_bits(),
        Op::Triad => (x + FACTOR * y).to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use sys::pages::{Advice, Pages};

    use super::*;

    fn words(blocks: usize, seed: u64) -> Vec<u64> {
        let value = |i: usize| (1.0 + ((i as u64).wrapping_mul(seed | 1) % 1000) as f64).to_bits();
        (0..blocks * BLOCK).map(value).collect()
    }

    /// Runs a kernel on a page-aligned copy of `dst`, as the arena's arrays are.
    fn run(kernel: Kernel, dst: &[u64], a: &[u64], b: &[u64]) -> Vec<u64> {
        let mut pages = Pages::new(size_of_val(dst).max(8), Advice::Default).unwrap();
        let words = &mut pages.as_mut_slice()[..dst.len()];
        words.copy_from_slice(dst);
        kernel(words, a, b);
        words.to_vec()
    }

    fn check(op: Op, store: Store, blocks: usize, seed: u64) {
        let count = blocks * BLOCK;
        let (a, b, before) = (words(blocks, seed), words(blocks, seed ^ 0x55), words(blocks, 7));
        for (isa, kernel) in available(op, store) {
            let dst = run(kernel, &before, &a, &b);
            for i in 0..count {
                let full = expected(op, a[i], b[i]);
                let wanted = match op {
                    _ if !op.writes() => before[i],
                    _ if !op.strided() => full,
                    _ if i % 2 == 0 => strided::low_half(before[i], full),
                    _ => before[i],
                };
                assert_eq!(dst[i], wanted, "{op:?} {store:?} {isa:?} word {i}");
            }
        }
    }

    proptest! {
        #[test]
        fn every_kernel_writes_what_its_definition_says(blocks in 0usize..80, seed in any::<u64>()) {
            for op in Op::ALL {
                check(op, Store::Temporal, blocks, seed);
                check(op, Store::Streaming, blocks, seed);
            }
        }

        #[test]
        fn reads_add_up(blocks in 0usize..6, seed in any::<u64>()) {
            let a = words(blocks, seed);
            let all = a.iter().fold(0u64, |sum, &word| sum.wrapping_add(word));
            for (isa, kernel) in available(Op::FullRead, Store::Temporal) {
                prop_assert_eq!(kernel(&mut [], &a, &[]), all, "{:?}", isa);
            }
            let first = |sum: u32, &word: &u64| sum.wrapping_add(strided::first_half(word));
            let low = a.iter().step_by(2).fold(0u32, first);
            let (_, read) = best(Op::Read, Store::Temporal).unwrap();
            prop_assert_eq!(read(&mut [], &a, &[]), u64::from(low));
        }
    }

    #[test]
    fn strided_operations_have_no_streaming_form() {
        assert!(best(Op::Copy, Store::Streaming).is_none());
        assert!(best(Op::FullRead, Store::Streaming).is_none());
        assert!(Op::ALL.into_iter().all(|op| best(op, Store::Temporal).is_some()));
    }
}
