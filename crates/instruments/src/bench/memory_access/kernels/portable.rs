//! Full kernels in plain Rust, vectorised by the compiler for the baseline of the target (NEON on
//! AArch64). Stores go through the caches.

use std::sync::atomic::{Ordering, compiler_fence};

use super::operation::{BLOCK, FACTOR, Kernel, Op, WRITTEN};

pub(super) fn kernel(op: Op) -> Kernel {
    match op {
        Op::FullWrite | Op::Write | Op::ReadWrite => write,
        Op::FullCopy | Op::StreamCopy | Op::Copy => copy,
        Op::Scale => scale,
        Op::Add => add,
        Op::Triad => triad,
        Op::FullRead | Op::Read => read,
    }
}

fn read(_: &mut [u64], a: &[u64], _: &[u64]) -> u64 {
    let mut sums = [0u64; 8];
    for block in a.as_chunks::<BLOCK>().0 {
        for eight in block.as_chunks::<8>().0 {
            for (sum, &word) in sums.iter_mut().zip(eight) {
                *sum = sum.wrapping_add(word);
            }
        }
    }
    sums.iter().fold(0, |sum, &lane| sum.wrapping_add(lane))
}

/// `element` for every word, a line at a time. The fence is no instruction: it only keeps the compiler from
/// putting the C library's copy or fill here.
#[inline(always)]
fn each(dst: &mut [u64], a: &[u64], b: &[u64], element: impl Fn(u64, u64) -> u64) {
    let blocks = a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0);
    for (to, (x, y)) in dst.as_chunks_mut::<8>().0.iter_mut().zip(blocks) {
        *to = std::array::from_fn(|i| element(x[i], y[i]));
        compiler_fence(Ordering::SeqCst);
    }
}

fn write(dst: &mut [u64], _: &[u64], _: &[u64]) -> u64 {
    for to in dst.as_chunks_mut::<8>().0 {
        *to = [WRITTEN; 8];
        compiler_fence(Ordering::SeqCst);
    }
    0
}

fn copy(dst: &mut [u64], a: &[u64], _: &[u64]) -> u64 {
    each(dst, a, a, |x, _| x);
    0
}

fn scale(dst: &mut [u64], a: &[u64], _: &[u64]) -> u64 {
    each(dst, a, a, |x, _| (FACTOR * f64::from_bits(x)).to_bits());
    0
}

fn add(dst: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    each(dst, a, b, |x, y| (f64::from_bits(x) + f64::from_bits(y)).to_bits());
    0
}

fn triad(dst: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    each(dst, a, b, |x, y| (f64::from_bits(x) + FACTOR * f64::from_bits(y)).to_bits());
    0
}
