//! Strided kernels in bw_mem's manner: the first 4 of every 16 bytes, in scalar code.
//!
//! Every cache line moves; only a quarter of its bytes passes through a register. Volatile accesses keep
//! the compiler from widening or merging them.

use super::operation::{BLOCK, Kernel, Op, WRITTEN};

/// Words between two touched ones.
const STEP: usize = 2;

pub(super) fn kernel(op: Op) -> Kernel {
    match op {
        Op::Write => write,
        Op::ReadWrite => read_write,
        Op::Copy => copy,
        _ => read,
    }
}

/// `old` with its first four bytes in memory taken from `new`.
#[cfg(test)]
pub(super) fn low_half(old: u64, new: u64) -> u64 {
    let (mut old, new) = (old.to_ne_bytes(), new.to_ne_bytes());
    old[..4].copy_from_slice(&new[..4]);
    u64::from_ne_bytes(old)
}

#[expect(unsafe_code, reason = "a volatile load is what the definition asks for")]
#[inline(always)]
fn load(word: &u64) -> u32 {
    // SAFETY: the pointer comes from a reference to 8 readable, aligned bytes; any bits are a u32.
    unsafe { std::ptr::from_ref(word).cast::<u32>().read_volatile() }
}

#[expect(unsafe_code, reason = "a volatile store is what the definition asks for")]
#[inline(always)]
fn store(word: &mut u64, value: u32) {
    // SAFETY: the pointer comes from an exclusive reference to 8 writable, aligned bytes.
    unsafe { std::ptr::from_mut(word).cast::<u32>().write_volatile(value) }
}

/// The first four bytes in memory of a word.
pub(super) fn first_half(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

fn read(_: &mut [u64], a: &[u64], _: &[u64]) -> u64 {
    // Two sums: one would be a chain of additions, slower than the caches.
    let mut sums = [0u32; 2];
    for block in a.as_chunks::<BLOCK>().0 {
        for i in (0..BLOCK).step_by(2 * STEP) {
            sums[0] = sums[0].wrapping_add(load(&block[i]));
            sums[1] = sums[1].wrapping_add(load(&block[i + STEP]));
        }
    }
    u64::from(sums[0].wrapping_add(sums[1]))
}

fn write(dst: &mut [u64], _: &[u64], _: &[u64]) -> u64 {
    let value = first_half(WRITTEN);
    for block in dst.as_chunks_mut::<BLOCK>().0 {
        for i in (0..BLOCK).step_by(STEP) {
            store(&mut block[i], value);
        }
    }
    0
}

fn read_write(dst: &mut [u64], _: &[u64], _: &[u64]) -> u64 {
    let (mut sum, value) = (0u32, first_half(WRITTEN));
    for block in dst.as_chunks_mut::<BLOCK>().0 {
        for i in (0..BLOCK).step_by(STEP) {
            sum = sum.wrapping_add(load(&block[i]));
            store(&mut block[i], value);
        }
    }
    u64::from(sum)
}

fn copy(dst: &mut [u64], a: &[u64], _: &[u64]) -> u64 {
    for (to, from) in dst.as_chunks_mut::<BLOCK>().0.iter_mut().zip(a.as_chunks::<BLOCK>().0) {
        for i in (0..BLOCK).step_by(STEP) {
            store(&mut to[i], load(&from[i]));
        }
    }
    0
}
