//! Stops by vectors: with AVX-512 places are made of bits eight at a time, with AVX2 one by one.

use std::arch::x86_64::{
    __m256i, __m512i, _mm256_add_epi32, _mm256_cmpeq_epi8, _mm256_cvtepu8_epi32, _mm256_movemask_epi8,
    _mm256_or_si256, _mm256_set1_epi8, _mm256_set1_epi32, _mm512_castsi512_si128, _mm512_cmpeq_epi8_mask,
    _mm512_maskz_compress_epi8, _mm512_set1_epi8,
};

use super::{CHUNK, each, keep};

/// Which byte of a chunk each is.
const NUMBERS: [u8; CHUNK] = {
    let mut numbers = [0; CHUNK];
    let mut at = 0;
    while at < CHUNK {
        numbers[at] = at as u8;
        at += 1;
    }
    numbers
};

/// Places that are written at once; mostly there are no more in a chunk.
const MANY: usize = 8;

/// As many as there are; none where the processor has no such vectors.
#[expect(unsafe_code, reason = "the processor's features are asked at run time")]
pub fn find(text: &[u8], places: &mut [u32]) -> Option<usize> {
    if has_wide() {
        // SAFETY: the features were just found.
        return Some(unsafe { find_wide(text, places) });
    }
    // SAFETY: the features were just found.
    has_half().then(|| unsafe { find_half(text, places) })
}

fn has_wide() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vbmi2")
        && has_half()
}

fn has_half() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("popcnt")
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2,bmi1,popcnt")]
fn find_wide(text: &[u8], places: &mut [u32]) -> usize {
    each(text, places, |places, count, base, chunk| wide(places, count, base, chunk))
}

#[target_feature(enable = "avx2,bmi1,popcnt")]
fn find_half(text: &[u8], places: &mut [u32]) -> usize {
    each(text, places, |places, count, base, chunk| keep(places, count, base, bits(chunk)))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,avx2,bmi1,popcnt")]
fn wide(places: &mut [u32], count: usize, base: u32, chunk: &[u8; CHUNK]) -> usize {
    let bytes = vector(chunk);
    let bits = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'"' as i8))
        | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\n' as i8));
    let found = bits.count_ones() as usize;
    if found > MANY {
        return keep(places, count, base, bits);
    }
    let numbers = _mm512_castsi512_si128(_mm512_maskz_compress_epi8(bits, vector(&NUMBERS)));
    let found_at = _mm256_add_epi32(_mm256_cvtepu8_epi32(numbers), _mm256_set1_epi32(base as i32));
    // There is room for all bytes of the text, and then for those of a chunk.
    places[count..count + MANY].copy_from_slice(&numbers_of(found_at));
    count + found
}

/// A bit for each byte that is one.
#[inline]
#[target_feature(enable = "avx2,bmi1,popcnt")]
fn bits(chunk: &[u8; CHUNK]) -> u64 {
    let of = |bytes| {
        let quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
        let breaks = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\n' as i8));
        u64::from(_mm256_movemask_epi8(_mm256_or_si256(quotes, breaks)) as u32)
    };
    let [low, high] = halves(chunk);
    of(low) | of(high) << 32
}

/// The bytes as vectors; put together of words they would be shuffled.
#[expect(unsafe_code, reason = "vectors of any bytes")]
#[inline]
#[target_feature(enable = "avx2")]
fn halves(chunk: &[u8; CHUNK]) -> [__m256i; 2] {
    // SAFETY: both are 64 bytes, of which any are vectors.
    unsafe { std::mem::transmute(*chunk) }
}

#[expect(unsafe_code, reason = "a vector of any bytes")]
#[inline]
#[target_feature(enable = "avx512f")]
fn vector(chunk: &[u8; CHUNK]) -> __m512i {
    // SAFETY: both are 64 bytes, of which any are a vector.
    unsafe { std::mem::transmute(*chunk) }
}

#[expect(unsafe_code, reason = "numbers of any vector")]
#[inline]
#[target_feature(enable = "avx2")]
fn numbers_of(vector: __m256i) -> [u32; MANY] {
    // SAFETY: both are 32 bytes, of which any are numbers.
    unsafe { std::mem::transmute(vector) }
}

/// The result of every implementation that this processor can run.
#[cfg(test)]
#[expect(unsafe_code, reason = "the processor's features are asked at run time")]
pub fn by_each(text: &[u8]) -> Vec<Vec<u32>> {
    let mut found = Vec::new();
    let mut places = vec![7; text.len() + CHUNK];
    if has_wide() {
        // SAFETY: the features were just found.
        let count = unsafe { find_wide(text, &mut places) };
        found.push(places[..count].to_vec());
    }
    if has_half() {
        // SAFETY: the features were just found.
        let count = unsafe { find_half(text, &mut places) };
        found.push(places[..count].to_vec());
    }
    found
}
