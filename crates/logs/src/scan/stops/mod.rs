//! Where quotation marks and line breaks stand in a stretch of text: one pass, 64 bytes at a time, on x86-64 with
//! AVX-512 or AVX2 where there is any.
//!
//! Only places are told: which quotation mark begins or ends a field, and which one a backslash makes a plain byte, is
//! for [`quick`](super::quick) to see.

#[cfg(target_arch = "x86_64")]
mod x86;

/// The places in rising order.
#[derive(Clone, Debug, Default)]
pub struct Stops {
    /// Longer than what was found last.
    places: Vec<u32>,
}

/// Bytes that are looked at together.
const CHUNK: usize = 64;

impl Stops {
    /// Of a text of less than 4 GiB.
    pub fn find(&mut self, text: &[u8]) -> &[u32] {
        // Room for all of its bytes, and for what is written beyond the last place.
        if self.places.len() < text.len() + CHUNK {
            self.places.resize(text.len() + CHUNK, 0);
        }
        #[cfg(target_arch = "x86_64")]
        let found = x86::find(text, &mut self.places);
        #[cfg(not(target_arch = "x86_64"))]
        let found = None;
        let count = found.unwrap_or_else(|| each(text, &mut self.places, by_words));
        &self.places[..count]
    }
}

/// Keeps the places of a text's stops and says how many there are; `one` does so for a chunk that begins at `base`,
/// behind the first `count`, and says how many there are then.
#[inline(always)]
fn each(
    text: &[u8],
    places: &mut [u32],
    one: impl Fn(&mut [u32], usize, u32, &[u8; CHUNK]) -> usize,
) -> usize {
    // Chunks that begin where lines of the cache do are read in half the time.
    let head = text.as_ptr().align_offset(CHUNK).min(text.len());
    let (head, body) = text.split_at(head);
    let (chunks, rest) = body.as_chunks::<CHUNK>();
    let (mut count, mut base) = (0, head.len() as u32);
    for (at, byte) in (0..).zip(head) {
        if matches!(byte, b'"' | b'\n') {
            places[count] = at;
            count += 1;
        }
    }
    for chunk in chunks {
        count = one(places, count, base, chunk);
        base += CHUNK as u32;
    }
    // Few of many, so that `one` is called in one place and compiled into this one.
    for (at, byte) in (base..).zip(rest) {
        if matches!(byte, b'"' | b'\n') {
            places[count] = at;
            count += 1;
        }
    }
    count
}

/// On any processor.
fn by_words(places: &mut [u32], count: usize, base: u32, chunk: &[u8; CHUNK]) -> usize {
    keep(places, count, base, words(chunk))
}

/// Places that are written without asking, since mostly there are no more in a chunk.
const FEW: usize = 4;

/// Keeps the places of the bits that are set behind the first `count`; how many there are then.
#[inline(always)]
fn keep(places: &mut [u32], count: usize, base: u32, mut bits: u64) -> usize {
    let after = count + bits.count_ones() as usize;
    // There is room for all bytes of the text, and then for those of a chunk.
    for place in &mut places[count..count + FEW] {
        *place = base + bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
    }
    if bits != 0 {
        keep_more(&mut places[count + FEW..after], base, bits);
    }
    after
}

/// The places of bits of which there are as many as there is room.
fn keep_more(room: &mut [u32], base: u32, mut bits: u64) {
    for place in room {
        *place = base + bits.trailing_zeros();
        bits &= bits.wrapping_sub(1);
    }
}

/// A bit for each byte that is one, eight bytes at a time.
#[inline(always)]
fn words(chunk: &[u8; CHUNK]) -> u64 {
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
            prop_assert_eq!(stops.find(&text), &expected[..]);
            let mut places = vec![7; text.len() + CHUNK];
            let mut plainly = |text: &[u8]| {
                let count = each(text, &mut places, by_words);
                places[..count].to_vec()
            };
            prop_assert_eq!(plainly(&text), &expected[..]);
            // A shorter text after a longer one.
            let half = text.len() / 2;
            let before = expected.partition_point(|at| (*at as usize) < half);
            prop_assert_eq!(stops.find(&text[..half]), &expected[..before]);
            prop_assert_eq!(plainly(&text[..half]), &expected[..before]);
            for chunk in text.as_chunks::<CHUNK>().0 {
                let bits = chunk.iter().rev().fold(0, |bits, byte| bits << 1 | u64::from(matches!(byte, b'"' | b'\n')));
                prop_assert_eq!(words(chunk), bits);
            }
            #[cfg(target_arch = "x86_64")]
            for found in x86::by_each(&text) {
                prop_assert_eq!(found, &expected[..]);
            }
        }
    }

    #[test]
    fn a_text_of_nothing_else() {
        let text = vec![b'"'; 1000];
        let expected: Vec<u32> = (0..1000).collect();
        assert_eq!(Stops::default().find(&text), &expected[..]);
        assert_eq!(Stops::default().find(b""), &[0u32; 0][..]);
        #[cfg(target_arch = "x86_64")]
        for found in x86::by_each(&text) {
            assert_eq!(found, expected);
        }
    }
}
