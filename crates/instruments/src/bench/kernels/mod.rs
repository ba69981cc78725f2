//! The work itself, apart from how it is timed and reported: own code, tested against known answers.

pub mod aes;
pub mod buffer;
pub mod corpus;
pub mod crc32c;
pub mod gf2;
pub mod index;
pub mod ladder;
pub mod rabin;
pub mod random;
pub mod segments;
pub mod serial;
pub mod table;
pub mod vmac;

use std::hint::black_box;

/// Copies item by item: a plain loop would become a call of the C library's `memcpy`.
pub fn copy<T: Copy>(to: &mut [T], from: &[T]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = black_box(*from);
    }
}

/// Sets every item, without the C library's `memset`.
pub fn wipe<T: Copy>(items: &mut [T], value: T) {
    for item in items {
        *item = black_box(value);
    }
}

/// Copies `min(to.len(), from.len())` bytes in steps of 16. The writes are volatile, so that the compiler cannot make a
/// `memcpy` of the loop.
#[inline]
#[expect(unsafe_code, reason = "volatile writes")]
pub fn copy_bytes(to: &mut [u8], from: &[u8]) {
    let (to_chunks, to_rest) = to.as_chunks_mut::<16>();
    let (from_chunks, from_rest) = from.as_chunks::<16>();
    for (to, from) in to_chunks.iter_mut().zip(from_chunks) {
        // SAFETY: `to` is a reference to initialised bytes that nobody else holds.
        unsafe { std::ptr::write_volatile(to, *from) };
    }
    copy(to_rest, from_rest);
}

/// Asks the caches for the line of `item`; a hint that changes no result.
#[inline]
pub fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "a prefetch of a live reference")]
        // SAFETY: SSE is part of x86-64, and a prefetch reads nothing that a program can see.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
        }
    }
    #[cfg(target_arch = "aarch64")]
    {
        #[expect(unsafe_code, reason = "a prefetch of a live reference")]
        // SAFETY: the instruction is a hint, which reads nothing that a program can see.
        unsafe {
            std::arch::asm!("prfm pldl1keep, [{0}]", in(reg) item, options(nostack, preserves_flags, readonly));
        }
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _no_hint_here = item;
}
