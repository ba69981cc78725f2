//! Whether a mark that ends a path, `?` or `#`, stands in a text; where it stands is for others to see.
//!
//! Sixteen bytes at a time by vectors on x86-64, where every processor has those, and eight at a time elsewhere. The
//! compiler would make a branch for each byte of it.

/// Whether the text has none; a text of less than [`LEAST`] bytes is not looked at.
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

#[cfg(target_arch = "x86_64")]
use vectors::{LEAST, is_nothing, marks, or};
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
            for eight in text.as_chunks().0 {
                prop_assert_eq!(words::is_nothing(words::or(0, words::marks(eight))), is_plain(eight));
            }
        }
    }
}
