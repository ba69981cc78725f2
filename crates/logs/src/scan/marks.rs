//! Search for the marks that end a path, `?` and `#`, and for bytes among sixteen.
//!
//! Sixteen bytes at a time by vectors on x86-64, where every processor has those, and eight at a time elsewhere. The
//! compiler would make a branch for each byte of it.

/// True if the text has no mark. A text of less than [`LEAST`] bytes is not searched.
#[inline(always)]
pub fn has_none(text: &[u8]) -> bool {
    let (Some(first), Some(last)) = (text.first_chunk::<LEAST>(), text.last_chunk::<LEAST>()) else {
        return false;
    };
    let mut found = or(marks(first), marks(last));
    if text.len() > 2 * LEAST {
        for some in text.as_chunks::<LEAST>().0 {
            found = or(found, marks(some));
        }
    }
    is_nothing(found)
}

/// A bit for each byte of a text that is a mark, the first of them lowest.
#[inline(always)]
pub fn places(text: &[u8; 32]) -> u32 {
    let of = |some: &[[u8; 16]]| some.first().map_or(0, |some| bits(some, b'?', b'#'));
    let (low, high) = text.as_chunks().0.split_at(1);
    of(low) | of(high) << 16
}

#[cfg(target_arch = "x86_64")]
pub use vectors::bits;
#[cfg(target_arch = "x86_64")]
use vectors::{LEAST, is_nothing, marks, or};
#[cfg(not(target_arch = "x86_64"))]
pub use words::bits;
#[cfg(not(target_arch = "x86_64"))]
use words::{LEAST, is_nothing, marks, or};

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::{__m128i, _mm_cmpeq_epi8, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8};

    pub const LEAST: usize = 16;

    /// Something in each byte that is one.
    #[expect(unsafe_code, reason = "a vector of any bytes")]
    #[inline(always)]
    pub fn marks(some: &[u8; LEAST]) -> __m128i {
        // SAFETY: both are 16 bytes, of which any are a vector; every x86-64 has SSE2.
        unsafe {
            let bytes: __m128i = std::mem::transmute(*some);
            let queries = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'?' as i8));
            _mm_or_si128(queries, _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'#' as i8)))
        }
    }

    /// A bit for each byte that is the one or the other, the first of them lowest.
    #[expect(unsafe_code, reason = "a vector of any bytes")]
    #[inline(always)]
    pub fn bits(some: &[u8; 16], one: u8, other: u8) -> u32 {
        // SAFETY: both are 16 bytes, of which any are a vector; every x86-64 has SSE2.
        unsafe {
            let bytes: __m128i = std::mem::transmute(*some);
            let ones = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(one as i8));
            let others = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(other as i8));
            _mm_movemask_epi8(_mm_or_si128(ones, others)) as u32
        }
    }

    #[expect(unsafe_code, reason = "vectors that every x86-64 has")]
    #[inline(always)]
    pub fn or(a: __m128i, b: __m128i) -> __m128i {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_or_si128(a, b) }
    }

    #[expect(unsafe_code, reason = "vectors that every x86-64 has")]
    #[inline(always)]
    pub fn is_nothing(found: __m128i) -> bool {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_movemask_epi8(found) == 0 }
    }
}

/// The same in words.
#[cfg(any(test, not(target_arch = "x86_64")))]
mod words {
    use crate::scan::word;

    pub const LEAST: usize = 8;

    /// A high bit at least in the first byte that is one.
    #[inline(always)]
    pub fn marks(some: &[u8; LEAST]) -> u64 {
        let word = u64::from_le_bytes(*some);
        let equal = |byte: u8| word::zeros(word ^ (word::ONES * u64::from(byte)));
        equal(b'?') | equal(b'#')
    }

    /// A bit for each byte that is the one or the other, the first of them lowest.
    pub fn bits(some: &[u8; 16], one: u8, other: u8) -> u32 {
        let bit = |byte: &u8| u32::from(*byte == one || *byte == other);
        some.iter().rev().fold(0, |bits, byte| bits << 1 | bit(byte))
    }

    #[inline(always)]
    pub fn or(a: u64, b: u64) -> u64 {
        a | b
    }

    #[inline(always)]
    pub fn is_nothing(found: u64) -> bool {
        found == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn marks_are_found_wherever_they_stand(
            text in proptest::collection::vec(
                prop_oneof![40 => b'a'..=b'z', 1 => Just(b'?'), 1 => Just(b'#'), 4 => any::<u8>()],
                0..70,
            ),
        ) {
            let is_plain = |text: &[u8]| !text.iter().any(|byte| matches!(byte, b'?' | b'#'));
            prop_assert_eq!(has_none(&text), text.len() >= LEAST && is_plain(&text));
            for sixteen in text.as_chunks().0 {
                prop_assert_eq!(bits(sixteen, b'?', b'#'), words::bits(sixteen, b'?', b'#'));
                prop_assert_eq!(bits(sixteen, b'x', b'x'), words::bits(sixteen, b'x', b'x'));
            }
            for some in text.as_chunks().0 {
                let first = some.iter().position(|byte| matches!(byte, b'?' | b'#'));
                prop_assert_eq!(places(some).trailing_zeros() as usize, first.unwrap_or(32));
            }
            for eight in text.as_chunks().0 {
                prop_assert_eq!(words::is_nothing(words::or(0, words::marks(eight))), is_plain(eight));
            }
        }
    }
}
