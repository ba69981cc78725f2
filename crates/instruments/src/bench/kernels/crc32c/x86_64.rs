//! CRC-32C on x86-64: folding by carry-less multiplication, and three interleaved chains of the instruction.
//!
//! Folding keeps several 128-bit pieces whose sum, each moved on to the end of the message, has the same
//! checksum as the message so far. The state before the message is moved past it by one multiplication
//! beside the folding, so that successive calls overlap although each needs the result of the one before.

use std::arch::x86_64::*;

use super::shift::{Run, fold_by, skip_by};

pub use super::x86::chain;

/// Every way that this processor has, the fastest first.
pub fn ways() -> Vec<(&'static str, Run)> {
    let sse = is_x86_feature_detected!("sse4.2") && is_x86_feature_detected!("pclmulqdq");
    let vector = sse && is_x86_feature_detected!("vpclmulqdq");
    let mut ways: Vec<(&'static str, Run)> = Vec::new();
    if vector && is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
        ways.push(("avx512", call_avx512));
    }
    if vector && is_x86_feature_detected!("avx2") {
        ways.push(("avx2", call_avx2));
    }
    if sse {
        ways.push(("three-way", call_three_way));
    }
    ways.extend(chain().map(|run| ("chain", run)));
    ways
}

#[expect(unsafe_code, reason = "the processor's features are asked at run time")]
fn call_avx512(state: u32, data: &[u8]) -> u32 {
    // SAFETY: this function is handed out only where its features were found.
    unsafe { avx512(state, data) }
}

#[expect(unsafe_code, reason = "the processor's features are asked at run time")]
fn call_avx2(state: u32, data: &[u8]) -> u32 {
    // SAFETY: this function is handed out only where its features were found.
    unsafe { avx2(state, data) }
}

#[expect(unsafe_code, reason = "the processor's features are asked at run time")]
fn call_three_way(state: u32, data: &[u8]) -> u32 {
    // SAFETY: this function is handed out only where its features were found.
    unsafe { three_way(state, data) }
}

/// The blocks that a call moves its state past at once.
const BLOCK: usize = 64;
/// Up to 4 KiB; longer messages move their state past that much and then go on from there.
static SKIP_BLOCKS: [u32; 64] = skip_by(BLOCK);

/// `state` moved on, as eight bytes that the CRC instruction has yet to take.
#[inline]
#[target_feature(enable = "pclmulqdq")]
#[expect(clippy::cast_sign_loss, reason = "a bit pattern")]
fn skipped(state: u32, factor: u32) -> u64 {
    let product = _mm_clmulepi64_si128::<0x00>(
        _mm_set_epi64x(0, i64::from(state)),
        _mm_set_epi64x(0, i64::from(factor)),
    );
    _mm_cvtsi128_si64(product) as u64
}

/// The checksum of a 128-bit piece from state 0, with eight bytes added to its second half.
#[inline]
#[target_feature(enable = "sse4.2")]
#[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "bit patterns")]
fn finish(piece: __m128i, more: u64) -> u32 {
    let first = _mm_crc32_u64(0, _mm_cvtsi128_si64(piece) as u64);
    _mm_crc32_u64(first, _mm_extract_epi64::<1>(piece) as u64 ^ more) as u32
}

/// Fewer bytes than a block: the instruction, by eight, four, two and one.
#[inline]
#[target_feature(enable = "sse4.2")]
#[expect(clippy::cast_possible_truncation, reason = "the instruction clears the upper half of its result")]
fn tail(state: u32, data: &[u8]) -> u32 {
    let (chunks, mut rest) = data.as_chunks::<8>();
    let wide =
        chunks.iter().fold(u64::from(state), |state, chunk| _mm_crc32_u64(state, u64::from_le_bytes(*chunk)));
    let mut state = wide as u32;
    if let Some((word, after)) = rest.split_first_chunk::<4>() {
        state = _mm_crc32_u32(state, u32::from_le_bytes(*word));
        rest = after;
    }
    if let Some((half, after)) = rest.split_first_chunk::<2>() {
        state = _mm_crc32_u16(state, u16::from_le_bytes(*half));
        rest = after;
    }
    if let Some(byte) = rest.first() {
        state = _mm_crc32_u8(state, *byte);
    }
    state
}

/// Words that one round of three chains gives each chain, at most.
const ROUND: usize = 128;
static SKIP_WORDS: [u32; 2 * ROUND] = skip_by(8);

/// Three chains side by side over thirds of the message hide the instruction's latency of three cycles.
#[target_feature(enable = "sse4.2,pclmulqdq")]
#[expect(clippy::cast_possible_truncation, reason = "the instruction clears the upper half of its result")]
fn three_way(mut state: u32, data: &[u8]) -> u32 {
    let (mut words, rest) = data.as_chunks::<8>();
    loop {
        let each = (words.len() / 3).min(ROUND);
        if each < 2 {
            break;
        }
        let (first, others) = words.split_at(each);
        let (second, others) = others.split_at(each);
        let (third, others) = others.split_at(each);
        let (mut a, mut b, mut c) = (u64::from(state), 0, 0);
        let mut last = 0;
        for ((x, y), z) in first.iter().zip(second).zip(third) {
            // The third chain stays a word behind, so that the others can be added to its last one.
            c = _mm_crc32_u64(c, last);
            a = _mm_crc32_u64(a, u64::from_le_bytes(*x));
            b = _mm_crc32_u64(b, u64::from_le_bytes(*y));
            last = u64::from_le_bytes(*z);
        }
        let a = skipped(a as u32, SKIP_WORDS[2 * each - 1]);
        let b = skipped(b as u32, SKIP_WORDS[each - 1]);
        state = _mm_crc32_u64(c, last ^ a ^ b) as u32;
        words = others;
    }
    tail(tail(state, words.as_flattened()), rest)
}

/// Factors for each 128-bit lane of a vector of `N / 2` lanes, whose last one is moved by `bits`.
const fn lanes<const N: usize>(bits: usize) -> [u64; N] {
    let mut factors = [0; N];
    let mut lane = 0;
    while lane < N / 2 {
        let distance = bits + (N / 2 - 1 - lane) * 128;
        // A lane that stays where it is is added without multiplication.
        if distance > 0 {
            let [first, second] = fold_by(distance);
            factors[2 * lane] = first;
            factors[2 * lane + 1] = second;
        }
        lane += 1;
    }
    factors
}

/// The same factors in each lane: all move by `bits`.
const fn all_lanes<const N: usize>(bits: usize) -> [u64; N] {
    let mut factors = [0; N];
    let mut index = 0;
    while index < N {
        factors[index] = fold_by(bits)[index % 2];
        index += 1;
    }
    factors
}

/// The first 32 bits of a vector, the rest 0.
#[inline]
#[target_feature(enable = "sse4.2")]
#[expect(clippy::cast_possible_wrap, reason = "a bit pattern")]
fn first_bits(state: u32) -> __m128i {
    _mm_cvtsi32_si128(state as i32)
}

/// Whole blocks by `$fold`, the state moved past them beside it; then the tail.
macro_rules! by_blocks {
    ($fold:ident, $state:expr, $data:expr) => {{
        let data = $data;
        if data.len() > SKIP_BLOCKS.len() * BLOCK {
            // A long message is worth a start at a cache line.
            let (odd, lines) = data.split_at(data.as_ptr().align_offset(BLOCK).min(data.len()));
            let (blocks, rest) = lines.as_chunks::<BLOCK>();
            let state = finish($fold(tail($state, odd), blocks), 0);
            return tail(state, rest);
        }
        let (blocks, rest) = data.as_chunks::<BLOCK>();
        let Some(count) = blocks.len().checked_sub(1) else {
            return tail($state, rest);
        };
        tail(finish($fold(0, blocks), skipped($state, SKIP_BLOCKS[count])), rest)
    }};
}

static BY_2048: [u64; 8] = all_lanes(2048);
static BY_512: [u64; 8] = all_lanes(512);
/// Factors that move each lane of four vectors in a row to the end of the last.
static GATHER_512: [[u64; 8]; 4] = [lanes(1536), lanes(1024), lanes(512), lanes(0)];

#[inline]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "a vector load")]
fn load_512(block: &[u8; BLOCK]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read; any alignment will do.
    unsafe { _mm512_loadu_si512(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
#[expect(unsafe_code, reason = "a vector load")]
fn factors_512(factors: &[u64; 8]) -> __m512i {
    // SAFETY: the array has the 64 bytes that are read; any alignment will do.
    unsafe { _mm512_loadu_si512(factors.as_ptr().cast()) }
}

/// `piece`, moved on by what `factors` say, plus `more`.
#[inline]
#[target_feature(enable = "avx512f,vpclmulqdq")]
fn fold_512(piece: __m512i, factors: __m512i, more: __m512i) -> __m512i {
    let first = _mm512_clmulepi64_epi128::<0x00>(piece, factors);
    let second = _mm512_clmulepi64_epi128::<0x11>(piece, factors);
    _mm512_ternarylogic_epi64::<0x96>(first, second, more)
}

/// The sum of four lanes.
#[inline]
#[target_feature(enable = "avx512f,avx512vl")]
fn sum_512(vector: __m512i) -> __m128i {
    let [a, b] = [_mm512_extracti64x4_epi64::<0>(vector), _mm512_extracti64x4_epi64::<1>(vector)];
    let half = _mm256_xor_si256(a, b);
    _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256::<1>(half))
}

/// One vector as a 128-bit piece at its end.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,vpclmulqdq")]
fn gather_512(last: __m512i, more: __m512i) -> __m128i {
    let stays = _mm512_maskz_mov_epi64(0b1100_0000, last);
    let [_, _, _, factors] = &GATHER_512;
    sum_512(_mm512_xor_si512(fold_512(last, factors_512(factors), stays), more))
}

/// The 128-bit piece at the end of `blocks` that stands for all of them; there must be one at least.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,vpclmulqdq,sse4.2,pclmulqdq")]
fn folded_512(state: u32, blocks: &[[u8; BLOCK]]) -> __m128i {
    let start = _mm512_zextsi128_si512(first_bits(state));
    let (quads, singles) = blocks.as_chunks::<4>();
    let step = factors_512(&BY_512);
    let Some(([a, b, c, d], quads)) = quads.split_first() else {
        let mut piece = start;
        for (index, block) in singles.iter().enumerate() {
            let next = load_512(block);
            piece = if index == 0 { _mm512_xor_si512(piece, next) } else { fold_512(piece, step, next) };
        }
        return gather_512(piece, _mm512_setzero_si512());
    };
    let (mut a, mut b, mut c, mut d) =
        (_mm512_xor_si512(load_512(a), start), load_512(b), load_512(c), load_512(d));
    let far = factors_512(&BY_2048);
    for [next_a, next_b, next_c, next_d] in quads {
        a = fold_512(a, far, load_512(next_a));
        b = fold_512(b, far, load_512(next_b));
        c = fold_512(c, far, load_512(next_c));
        d = fold_512(d, far, load_512(next_d));
    }
    if singles.is_empty() {
        let [by_a, by_b, by_c, _] = &GATHER_512;
        let zero = _mm512_setzero_si512();
        let a = fold_512(a, factors_512(by_a), zero);
        let b = fold_512(b, factors_512(by_b), a);
        return gather_512(d, fold_512(c, factors_512(by_c), b));
    }
    let mut piece = fold_512(fold_512(fold_512(a, step, b), step, c), step, d);
    for block in singles {
        piece = fold_512(piece, step, load_512(block));
    }
    gather_512(piece, _mm512_setzero_si512())
}

#[target_feature(enable = "avx512f,avx512vl,vpclmulqdq,sse4.2,pclmulqdq")]
fn avx512(state: u32, data: &[u8]) -> u32 {
    by_blocks!(folded_512, state, data)
}

static BY_1024_256: [u64; 4] = all_lanes(1024);
static BY_256: [u64; 4] = all_lanes(256);
static GATHER_256: [u64; 4] = lanes(0);

#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "a vector load")]
fn load_256(half: &[u8; BLOCK / 2]) -> __m256i {
    // SAFETY: the array has the 32 bytes that are read; any alignment will do.
    unsafe { _mm256_loadu_si256(half.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
#[expect(unsafe_code, reason = "a vector load")]
fn factors_256(factors: &[u64; 4]) -> __m256i {
    // SAFETY: the array has the 32 bytes that are read; any alignment will do.
    unsafe { _mm256_loadu_si256(factors.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,vpclmulqdq")]
fn fold_256(piece: __m256i, factors: __m256i, more: __m256i) -> __m256i {
    let first = _mm256_clmulepi64_epi128::<0x00>(piece, factors);
    let second = _mm256_clmulepi64_epi128::<0x11>(piece, factors);
    _mm256_xor_si256(_mm256_xor_si256(first, second), more)
}

/// As [`folded_512`], in halves of blocks.
#[inline]
#[target_feature(enable = "avx2,vpclmulqdq,sse4.2,pclmulqdq")]
fn folded_256(state: u32, blocks: &[[u8; BLOCK]]) -> __m128i {
    let start = _mm256_zextsi128_si256(first_bits(state));
    let (halves, _) = blocks.as_flattened().as_chunks::<{ BLOCK / 2 }>();
    let (quads, pair) = halves.as_chunks::<4>();
    let step = factors_256(&BY_256);
    let mut piece = start;
    let mut fresh = true;
    if let Some(([a, b, c, d], quads)) = quads.split_first() {
        let (mut a, mut b, mut c, mut d) =
            (_mm256_xor_si256(load_256(a), start), load_256(b), load_256(c), load_256(d));
        let far = factors_256(&BY_1024_256);
        for [next_a, next_b, next_c, next_d] in quads {
            a = fold_256(a, far, load_256(next_a));
            b = fold_256(b, far, load_256(next_b));
            c = fold_256(c, far, load_256(next_c));
            d = fold_256(d, far, load_256(next_d));
        }
        piece = fold_256(fold_256(fold_256(a, step, b), step, c), step, d);
        fresh = false;
    }
    for half in pair {
        let next = load_256(half);
        piece = if fresh { _mm256_xor_si256(piece, next) } else { fold_256(piece, step, next) };
        fresh = false;
    }
    let last = _mm256_inserti128_si256::<0>(piece, _mm_setzero_si128());
    let sum = fold_256(piece, factors_256(&GATHER_256), last);
    _mm_xor_si128(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum))
}

#[target_feature(enable = "avx2,vpclmulqdq,sse4.2,pclmulqdq")]
fn avx2(state: u32, data: &[u8]) -> u32 {
    by_blocks!(folded_256, state, data)
}
