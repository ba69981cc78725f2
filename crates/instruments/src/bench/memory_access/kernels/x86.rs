//! Full kernels for x86 with SSE2, AVX2 and AVX-512, chosen at run time; streaming stores go around the
//! caches and are fenced before the kernel returns.
//!
//! Multiplication and addition stay separate instructions, so that every width gives the same bits.

#![expect(unsafe_code, reason = "vector intrinsics on raw addresses")]

#[cfg(target_arch = "x86")]
use std::arch::x86 as arch;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as arch;

use super::operation::{BLOCK, FACTOR, Isa, Kernel, Op, Store, WRITTEN};

pub(super) fn available(op: Op, store: Store) -> Vec<(Isa, Kernel)> {
    let mut found = Vec::new();
    if is_x86_feature_detected!("sse2") {
        found.push((Isa::Sse2, sse2::kernel(op, store)));
    }
    if is_x86_feature_detected!("avx2") {
        found.push((Isa::Avx2, avx2::kernel(op, store)));
    }
    if is_x86_feature_detected!("avx512f") {
        found.push((Isa::Avx512, avx512::kernel(op, store)));
    }
    let copies = matches!(op, Op::FullCopy | Op::StreamCopy);
    if copies && store == Store::Streaming && is_x86_feature_detected!("avx2") {
        found.push((Isa::Avx2Pages, copy_four_pages));
    }
    found
}

/// Words of a 4 KiB page, and pages that are copied side by side.
const PAGE: usize = 512;
const PAGES: usize = 4;

/// A streaming copy that works on four pages at a time, two lines of each in turn: more banks of the
/// memory are open at once, and the prefetchers have four streams.
fn copy_four_pages(dst: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    let whole = dst.len().min(a.len()) / (PAGE * PAGES) * (PAGE * PAGES);
    let (to, to_rest) = dst.split_at_mut(whole);
    let (from, from_rest) = a.split_at(whole);
    assert!(to.as_ptr().addr().is_multiple_of(64) || to.is_empty(), "arrays are aligned to 64 bytes");
    // SAFETY: handed out only after AVX2 was detected.
    unsafe { four_pages(to, from) };
    (avx2::kernel(Op::FullCopy, Store::Streaming))(to_rest, from_rest, b)
}

/// `dst` is aligned to 64 bytes; both are whole groups of pages and equally long.
#[target_feature(enable = "avx2")]
fn four_pages(dst: &mut [u64], a: &[u64]) {
    use arch::{_MM_HINT_T0, _mm_prefetch, _mm_sfence, _mm256_loadu_si256, _mm256_stream_si256};
    /// Words of two lines, the step within a page, and how far ahead it fetches.
    const STEP: usize = 16;
    let (to, from) = (dst.as_mut_ptr(), a.as_ptr());
    for group in (0..dst.len().min(a.len())).step_by(PAGE * PAGES) {
        for within in (0..PAGE).step_by(STEP) {
            for page in 0..PAGES {
                let at = group + page * PAGE + within;
                // SAFETY: `at + STEP` is inside both slices, which are whole groups; fetching ahead
                // of an address faults nowhere, and the caller vouches for AVX2 and the alignment.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at + STEP).cast());
                    _mm_prefetch::<_MM_HINT_T0>(from.wrapping_add(at + STEP + 8).cast());
                    let load = |i: usize| _mm256_loadu_si256(from.add(at + 4 * i).cast());
                    let four = [load(0), load(1), load(2), load(3)];
                    for (i, vector) in four.into_iter().enumerate() {
                        _mm256_stream_si256(to.add(at + 4 * i).cast(), vector);
                    }
                }
            }
        }
    }
    _mm_sfence();
}

/// One module a width. `$zero`, `$iload`, `$iadd` are the integer forms that `fread` sums with.
macro_rules! width {
    ($name:ident, $feature:literal, $lanes:literal, $ivec:ident,
     $load:ident, $store:ident, $stream:ident, $set:ident, $add:ident, $mul:ident,
     $iload:ident, $izero:ident, $iadd:ident) => {
        mod $name {
            use super::arch::*;
            use super::*;

            pub(super) fn kernel(op: Op, store: Store) -> Kernel {
                match (op, store) {
                    (Op::FullWrite, Store::Temporal) => write_temporal,
                    (Op::FullWrite, Store::Streaming) => write_streaming,
                    (Op::FullCopy | Op::StreamCopy, Store::Temporal) => copy_temporal,
                    (Op::FullCopy | Op::StreamCopy, Store::Streaming) => copy_streaming,
                    (Op::Scale, Store::Temporal) => scale_temporal,
                    (Op::Scale, Store::Streaming) => scale_streaming,
                    (Op::Add, Store::Temporal) => add_temporal,
                    (Op::Add, Store::Streaming) => add_streaming,
                    (Op::Triad, Store::Temporal) => triad_temporal,
                    (Op::Triad, Store::Streaming) => triad_streaming,
                    _ => read,
                }
            }

            fn read(_: &mut [u64], a: &[u64], _: &[u64]) -> u64 {
                // SAFETY: this module's kernels are only handed out after its feature was detected.
                unsafe { sum(a) }
            }

            #[target_feature(enable = $feature)]
            fn sum(a: &[u64]) -> u64 {
                let mut sums = [$izero(); 4];
                for block in a.as_chunks::<BLOCK>().0 {
                    for four in block.as_chunks::<{ 4 * $lanes }>().0 {
                        for lane in 0..4 {
                            // SAFETY: `lane` stays inside the chunk of four vectors.
                            let vector = unsafe { $iload(four.as_ptr().add(lane * $lanes).cast()) };
                            sums[lane] = $iadd(sums[lane], vector);
                        }
                    }
                }
                let mut words = [[0u64; $lanes]; 4];
                for (to, from) in words.iter_mut().zip(sums) {
                    // SAFETY: the vector and the array have the same size and hold plain integers.
                    *to = unsafe { std::mem::transmute::<$ivec, [u64; $lanes]>(from) };
                }
                words.as_flattened().iter().fold(0, |sum, &word| sum.wrapping_add(word))
            }

            width!(@writer $feature $lanes write_temporal, $store, [],
                |_x, _y| $set(f64::from_bits(WRITTEN)), $load);
            width!(@writer $feature $lanes write_streaming, $stream, [],
                |_x, _y| $set(f64::from_bits(WRITTEN)), $load);
            width!(@writer $feature $lanes copy_temporal, $store, [a], |x, _y| x, $load);
            width!(@writer $feature $lanes copy_streaming, $stream, [a], |x, _y| x, $load);
            width!(@writer $feature $lanes scale_temporal, $store, [a], |x, _y| $mul($set(FACTOR), x), $load);
            width!(@writer $feature $lanes scale_streaming, $stream, [a], |x, _y| $mul($set(FACTOR), x), $load);
            width!(@writer $feature $lanes add_temporal, $store, [a b], |x, y| $add(x, y), $load);
            width!(@writer $feature $lanes add_streaming, $stream, [a b], |x, y| $add(x, y), $load);
            width!(@writer $feature $lanes triad_temporal, $store, [a b],
                |x, y| $add(x, $mul($set(FACTOR), y)), $load);
            width!(@writer $feature $lanes triad_streaming, $stream, [a b],
                |x, y| $add(x, $mul($set(FACTOR), y)), $load);
        }
    };
    (@writer $feature:literal $lanes:literal $name:ident, $put:ident, [$($source:ident)*],
     |$x:ident, $y:ident| $value:expr, $load:ident) => {
        fn $name(dst: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
            #[target_feature(enable = $feature)]
            fn pass(dst: &mut [u64], _a: &[u64], _b: &[u64]) {
                let words = width!(@shortest dst _a _b [$($source)*]) / BLOCK * BLOCK;
                let to = dst.as_mut_ptr().cast::<f64>();
                let (_pa, _pb) = (_a.as_ptr().cast::<f64>(), _b.as_ptr().cast::<f64>());
                let mut at = 0;
                while at < words {
                    for lane in 0..4 {
                        let i = at + lane * $lanes;
                        // SAFETY: `i + $lanes <= words`, which is no longer than any slice in use
                        // (BLOCK is a multiple of four vectors); `dst` is 64-byte aligned when the
                        // store demands it, which the caller of `pass` has checked.
                        unsafe {
                            let ($x, $y) = width!(@load $load _pa _pb i [$($source)*]);
                            $put(to.add(i), $value);
                        }
                    }
                    // SAFETY: no instructions; it only keeps the compiler from recognising a copy loop
                    // and putting the C library's memcpy here.
                    unsafe { std::arch::asm!("", options(nostack, preserves_flags)) };
                    at += 4 * $lanes;
                }
                _mm_sfence();
            }
            assert!(dst.as_ptr().addr() % 64 == 0 || dst.is_empty(), "arrays are aligned to 64 bytes");
            // SAFETY: this module's kernels are only handed out after its feature was detected.
            unsafe { pass(dst, a, b) };
            0
        }
    };
    (@shortest $dst:ident $a:ident $b:ident []) => { $dst.len() };
    (@shortest $dst:ident $a:ident $b:ident [a]) => { $dst.len().min($a.len()) };
    (@shortest $dst:ident $a:ident $b:ident [a b]) => { $dst.len().min($a.len()).min($b.len()) };
    (@load $load:ident $a:ident $b:ident $i:ident []) => { ((), ()) };
    (@load $load:ident $a:ident $b:ident $i:ident [a]) => { ($load($a.add($i)), ()) };
    (@load $load:ident $a:ident $b:ident $i:ident [a b]) => { ($load($a.add($i)), $load($b.add($i))) };
}

width!(
    sse2,
    "sse2",
    2,
    __m128i,
    _mm_loadu_pd,
    _mm_storeu_pd,
    _mm_stream_pd,
    _mm_set1_pd,
    _mm_add_pd,
    _mm_mul_pd,
    _mm_loadu_si128,
    _mm_setzero_si128,
    _mm_add_epi64
);
width!(
    avx2,
    "avx2",
    4,
    __m256i,
    _mm256_loadu_pd,
    _mm256_storeu_pd,
    _mm256_stream_pd,
    _mm256_set1_pd,
    _mm256_add_pd,
    _mm256_mul_pd,
    _mm256_loadu_si256,
    _mm256_setzero_si256,
    _mm256_add_epi64
);
width!(
    avx512,
    "avx512f",
    8,
    __m512i,
    _mm512_loadu_pd,
    _mm512_storeu_pd,
    _mm512_stream_pd,
    _mm512_set1_pd,
    _mm512_add_pd,
    _mm512_mul_pd,
    _mm512_loadu_si512,
    _mm512_setzero_si512,
    _mm512_add_epi64
);
