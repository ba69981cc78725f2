//! Where quotation marks and line breaks stand in a stretch of text: one pass, 64 bytes at a time, on x86-64 with AVX2
//! where there is any.
//!
//! Only places are told: which quotation mark begins or ends a field, and which one a backslash makes a plain byte, is
//! for [`quick`](super::quick) to see.

/// The places in rising order.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    /// Longer than what was found last.
    places: Vec<u32>,
    count: usize,
}

/// Bytes that are looked at together.
pub const CHUNK: usize = 64;

impl Stops {
    /// Of a text of less than 4 GiB; `bits` has a bit for each byte that is one ([`words`], [`vectors`]).
    #[inline(always)]
    pub fn find(&mut self, text: &[u8], bits: impl Fn(&[u8; CHUNK]) -> u64) -> &[u32] {
        self.count = 0;
        // Room for all of its bytes, and for what is written beyond the last place.
        if self.places.len() < text.len() + CHUNK {
            self.places.resize(text.len() + CHUNK, 0);
        }
        let (chunks, rest) = text.as_chunks::<CHUNK>();
        for (number, chunk) in chunks.iter().enumerate() {
            self.keep((number * CHUNK) as u32, bits(chunk));
        }
        let base = (text.len() - rest.len()) as u32;
        let mut last = [0; CHUNK];
        last[..rest.len()].copy_from_slice(rest);
        self.keep(base, bits(&last));
        &self.places[..self.count]
    }

    /// Keeps the places of the bits that are set; mostly there are few, so four are written without asking.
    #[inline(always)]
    fn keep(&mut self, base: u32, mut bits: u64) {
        let Some(room) = self.places.get_mut(self.count..).and_then(|rest| rest.first_chunk_mut::<CHUNK>())
        else {
            return;
        };
        self.count += bits.count_ones() as usize;
        for four in room.as_chunks_mut::<4>().0 {
            for place in four {
                *place = base + bits.trailing_zeros();
                bits &= bits.wrapping_sub(1);
            }
            if bits == 0 {
                break;
            }
        }
    }
}

/// A bit for each byte that is one.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "avx2")]
pub fn vectors(chunk: &[u8; CHUNK]) -> u64 {
    use std::arch::x86_64::{
        _mm256_cmpeq_epi8, _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_epi64x, _mm256_set1_epi8,
    };
    let half = |start: usize| {
        let word = |at: usize| {
            let mut eight = [0; 8];
            eight.copy_from_slice(&chunk[start + at..start + at + 8]);
            i64::from_le_bytes(eight)
        };
        let bytes = _mm256_set_epi64x(word(24), word(16), word(8), word(0));
        let quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'"' as i8));
        let breaks = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(b'\n' as i8));
        u64::from(_mm256_movemask_epi8(_mm256_or_si256(quotes, breaks)) as u32)
    };
    half(0) | half(32) << 32
}

/// The same on any processor, eight bytes at a time.
#[inline(always)]
pub fn words(chunk: &[u8; CHUNK]) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The high bit of each byte that is 0; nothing is carried from one byte to the next.
    let zeros = |word: u64| !(((word & LOW) + LOW) | word | LOW);
    let mut bits = 0;
    for (place, eight) in chunk.as_chunks::<8>().0.iter().enumerate() {
        let word = u64::from_le_bytes(*eight);
        let found = zeros(word ^ (0x0101_0101_0101_0101 * u64::from(b'"')))
            | zeros(word ^ (0x0101_0101_0101_0101 * u64::from(b'\n')));
        // The eight high bits gathered in the highest byte.
        bits |= ((found >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * place);
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_place_is_found_and_no_other(
            text in proptest::collection::vec(
                prop_oneof![4 => Just(b'"'), 2 => Just(b'\n'), 4 => any::<u8>(), 30 => Just(b'x'), 2 => Just(b'#')],
                0..300,
            ),
        ) {
            let expected: Vec<u32> =
                (0u32..).zip(&text).filter(|(_, byte)| matches!(byte, b'"' | b'\n')).map(|(at, _)| at).collect();
            let mut stops = Stops::default();
            prop_assert_eq!(stops.find(&text, words), &expected[..]);
            // A shorter text after a longer one.
            let half = text.len() / 2;
            let before = expected.partition_point(|at| (*at as usize) < half);
            prop_assert_eq!(stops.find(&text[..half], words), &expected[..before]);
            for chunk in text.as_chunks::<CHUNK>().0 {
                let bits = chunk.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(matches!(byte, b'"' | b'\n')));
                prop_assert_eq!(words(chunk), bits);
                #[cfg(target_arch = "x86_64")]
                if let Some(found) = by_vectors(chunk) {
                    prop_assert_eq!(found, bits);
                }
            }
        }
    }

    /// None where the processor has no such vectors.
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "the processor's features are asked at run time")]
    fn by_vectors(chunk: &[u8; CHUNK]) -> Option<u64> {
        // SAFETY: the feature was just found.
        is_x86_feature_detected!("avx2").then(|| unsafe { vectors(chunk) })
    }

    #[test]
    fn a_text_of_nothing_else() {
        let text = vec![b'"'; 1000];
        let expected: Vec<u32> = (0..1000).collect();
        assert_eq!(Stops::default().find(&text, words), &expected[..]);
        assert_eq!(Stops::default().find(b"", words), &[0u32; 0][..]);
    }
}
