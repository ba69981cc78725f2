//! Integer parts: sorting, block cipher arithmetic, Huffman coding, dictionary compression.
//!
//! - `sort`: 4096 random 32-bit numbers by quicksort (median of three, insertion below 16); one operation is
//!   one of the n log2 n comparisons that sorting needs.
//! - `idea`: the IDEA cipher, 4 KiB encrypted and decrypted; one operation is one multiplication modulo 65537.
//! - `huffman`: 8 KiB of text: count, build the code, encode, decode; one operation is one symbol coded or
//!   decoded.
//! - `dictionary`: 8 KiB of text through a small LZ77 and back; one operation is one byte in or out.

use model::Fault;

use super::{Part, digest, huffman, text};
use crate::bench::kernels::random::Random;
use crate::bench::kernels::{copy, wipe};

/// The integer parts. Fails when a part's result is wrong.
pub fn parts(seed: u64) -> Result<Vec<Part>, Fault> {
    Ok(vec![sort(seed)?, idea(seed)?, huffman(seed)?, dictionary(seed)?])
}

fn sort(seed: u64) -> Result<Part, Fault> {
    const COUNT: usize = 4096;
    let mut random = Random::new(seed);
    let start: Vec<u64> = (0..COUNT).map(|_| random.next() >> 32).collect();
    let mut numbers = start.clone();
    quicksort(&mut numbers);
    let sum = |numbers: &[u64]| numbers.iter().sum::<u64>();
    let proof = numbers.is_sorted() && sum(&numbers) == sum(&start);
    let work = Box::new(move || {
        copy(&mut numbers, &start);
        quicksort(&mut numbers);
        digest(numbers.iter().step_by(64).copied())
    });
    Part::proved("sort", 4096.0 * 12.0, 5, work, proof)
}

fn quicksort<T: Ord + Copy>(items: &mut [T]) {
    quicksort_by(items, &|a, b| a < b);
}

/// In place, by `less`. The longer half is left to the loop, so that the depth stays logarithmic.
pub fn quicksort_by<T: Copy>(mut items: &mut [T], less: &impl Fn(T, T) -> bool) {
    while items.len() > 16 {
        let (low, high) = partition(items, less);
        if low.len() < high.len() {
            quicksort_by(low, less);
            items = high;
        } else {
            quicksort_by(high, less);
            items = low;
        }
    }
    for sorted in 1..items.len() {
        let item = items[sorted];
        let mut at = sorted;
        while at > 0 && less(item, items[at - 1]) {
            items[at] = items[at - 1];
            at -= 1;
        }
        items[at] = item;
    }
}

/// Around the median of three: what is not above it, and what is not below it. Needs three items or more.
fn partition<'a, T: Copy>(items: &'a mut [T], less: &impl Fn(T, T) -> bool) -> (&'a mut [T], &'a mut [T]) {
    let (last, middle) = (items.len() - 1, items.len() / 2);
    for (a, b) in [(0, middle), (0, last), (middle, last)] {
        if less(items[b], items[a]) {
            items.swap(a, b);
        }
    }
    let pivot = items[middle];
    let (mut left, mut right) = (0, last);
    loop {
        while less(items[left], pivot) {
            left += 1;
        }
        while less(pivot, items[right]) {
            right -= 1;
        }
        if left >= right {
            return items.split_at_mut(right + 1);
        }
        items.swap(left, right);
        left += 1;
        right -= 1;
    }
}

type IdeaKeys = [u16; 52];

fn idea(seed: u64) -> Result<Part, Fault> {
    const BLOCKS: usize = 512;
    let mut random = Random::new(seed);
    let key = u128::from(random.next()) << 64 | u128::from(random.next());
    let encrypting = idea_keys(key);
    let decrypting = idea_inverse(&encrypting);
    let plain: Vec<[u16; 4]> = (0..BLOCKS).map(|_| words(random.next())).collect();
    let proof = plain.iter().all(|block| idea_block(idea_block(*block, &encrypting), &decrypting) == *block);
    let work = Box::new(move || {
        let mut sum = 0u64;
        for block in &plain {
            let secret = idea_block(*block, &encrypting);
            let back = idea_block(secret, &decrypting);
            sum = sum.rotate_left(5) ^ joined(secret) ^ joined(back);
        }
        sum
    });
    Part::proved("idea", 2.0 * 34.0 * 512.0, 16, work, proof)
}

#[expect(clippy::cast_possible_truncation, reason = "the four quarters of a word")]
const fn words(wide: u64) -> [u16; 4] {
    [(wide >> 48) as u16, (wide >> 32) as u16, (wide >> 16) as u16, wide as u16]
}

fn joined(block: [u16; 4]) -> u64 {
    block.iter().fold(0, |sum, word| sum << 16 | u64::from(*word))
}

/// Multiplication modulo 65537, where 0 stands for 65536.
#[inline]
fn times(a: u16, b: u16) -> u16 {
    let product = u32::from(a) * u32::from(b);
    if product == 0 {
        return 1u16.wrapping_sub(a).wrapping_sub(b);
    }
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of a word")]
    let (low, high) = (product as u16, (product >> 16) as u16);
    low.wrapping_sub(high).wrapping_add(u16::from(low < high))
}

/// The inverse of [`times`] by Fermat: a^65535.
fn inverse(a: u16) -> u16 {
    (0..15).fold(a, |power, _| times(times(power, power), a))
}

fn idea_keys(key: u128) -> IdeaKeys {
    let mut keys = [0; 52];
    let mut rotated = key;
    for eight in keys.chunks_mut(8) {
        for (index, slot) in eight.iter_mut().enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "sixteen bits are meant")]
            let word = (rotated >> (112 - 16 * index)) as u16;
            *slot = word;
        }
        rotated = rotated.rotate_left(25);
    }
    keys
}

fn idea_inverse(keys: &IdeaKeys) -> IdeaKeys {
    let mut back = [0; 52];
    for round in 0..9 {
        let (to, from) = (6 * round, 48 - 6 * round);
        back[to] = inverse(keys[from]);
        back[to + 3] = inverse(keys[from + 3]);
        // The middle words change places in all rounds but the first and the last.
        let crossed = usize::from(round > 0 && round < 8);
        back[to + 1] = keys[from + 1 + crossed].wrapping_neg();
        back[to + 2] = keys[from + 2 - crossed].wrapping_neg();
        if round < 8 {
            back[to + 4] = keys[from - 2];
            back[to + 5] = keys[from - 1];
        }
    }
    back
}

fn idea_block(block: [u16; 4], keys: &IdeaKeys) -> [u16; 4] {
    let [mut a, mut b, mut c, mut d] = block;
    let (rounds, _) = keys.as_chunks::<6>();
    for [k1, k2, k3, k4, k5, k6] in rounds {
        a = times(a, *k1);
        b = b.wrapping_add(*k2);
        c = c.wrapping_add(*k3);
        d = times(d, *k4);
        let e = times(a ^ c, *k5);
        let f = times((b ^ d).wrapping_add(e), *k6);
        let e = e.wrapping_add(f);
        (a, b, c, d) = (a ^ f, c ^ f, b ^ e, d ^ e);
    }
    let [.., k1, k2, k3, k4] = *keys;
    [times(a, k1), c.wrapping_add(k2), b.wrapping_add(k3), times(d, k4)]
}

fn huffman(seed: u64) -> Result<Part, Fault> {
    const BYTES: usize = 8192;
    let plain = text(BYTES, seed);
    let mut coder = huffman::Coder::new(BYTES);
    let coded_bits = coder.encode(&plain);
    let proof = coder.decode() == plain && coded_bits < 8 * BYTES;
    let work = Box::new(move || {
        let bits = coder.encode(&plain);
        let back = coder.decode();
        digest(back.iter().step_by(61).map(|byte| u64::from(*byte)).chain([bits as u64]))
    });
    Part::proved("huffman", 2.0 * 8192.0, 5, work, proof)
}

const HASH_BITS: u32 = 10;

/// A literal byte, or a match: how far back, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token {
    Literal(u8),
    Match { back: u16, length: u16 },
}

fn dictionary(seed: u64) -> Result<Part, Fault> {
    const BYTES: usize = 8192;
    let plain = text(BYTES, seed);
    let mut tokens = Vec::with_capacity(BYTES);
    let mut back = Vec::with_capacity(BYTES);
    let mut latest = vec![0; 1 << HASH_BITS];
    compress(&plain, &mut latest, &mut tokens);
    expand(&tokens, &mut back);
    let proof = back == plain && tokens.len() < BYTES;
    let work = Box::new(move || {
        compress(&plain, &mut latest, &mut tokens);
        expand(&tokens, &mut back);
        digest(back.iter().step_by(61).map(|byte| u64::from(*byte)).chain([tokens.len() as u64]))
    });
    Part::proved("dictionary", 2.0 * 8192.0, 18, work, proof)
}

/// `latest` is where each hash of four bytes was last seen.
fn compress(plain: &[u8], latest: &mut [u16], tokens: &mut Vec<Token>) {
    const LONGEST: usize = 255;
    tokens.clear();
    wipe(latest, 0);
    let mut at = 0;
    while at < plain.len() {
        let found = plain[at..].first_chunk::<4>().and_then(|four| {
            let slot = (u32::from_le_bytes(*four).wrapping_mul(0x9e37_79b1) >> (32 - HASH_BITS)) as usize;
            let candidate = usize::from(latest[slot]);
            latest[slot] = u16::try_from(at).ok()?;
            let length =
                plain[candidate..].iter().zip(&plain[at..]).take(LONGEST).take_while(|(a, b)| a == b);
            let length = u16::try_from(length.count()).ok()?;
            let back = u16::try_from(at - candidate).ok()?;
            (candidate < at && length >= 4).then_some(Token::Match { back, length })
        });
        let token = found.unwrap_or(Token::Literal(plain[at]));
        at += if let Token::Match { length, .. } = token { usize::from(length) } else { 1 };
        tokens.push(token);
    }
}

fn expand(tokens: &[Token], plain: &mut Vec<u8>) {
    plain.clear();
    for token in tokens {
        match *token {
            Token::Literal(byte) => plain.push(byte),
            Token::Match { back, length } => {
                for _ in 0..length {
                    plain.push(plain[plain.len() - usize::from(back)]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The published example of the cipher.
    #[test]
    fn idea_gives_the_known_answer() {
        let key = 0x0001_0002_0003_0004_0005_0006_0007_0008;
        let secret = idea_block([0, 1, 2, 3], &idea_keys(key));
        assert_eq!(secret, [0x11fb, 0xed2b, 0x0198, 0x6de5]);
    }

    #[test]
    fn inverses_multiply_to_one() {
        assert!((0..=u16::MAX).all(|a| times(a, inverse(a)) == 1));
    }

    proptest! {
        #[test]
        fn quicksort_sorts(mut items: Vec<u16>) {
            let mut expected = items.clone();
            expected.sort_unstable();
            quicksort(&mut items);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn quicksort_bears_few_values(mut items in proptest::collection::vec(0u8..3, 0..500)) {
            let mut expected = items.clone();
            expected.sort_unstable();
            quicksort(&mut items);
            prop_assert_eq!(items, expected);
        }

        #[test]
        fn idea_decrypts(key: u128, block: [u16; 4]) {
            let keys = idea_keys(key);
            prop_assert_eq!(idea_block(idea_block(block, &keys), &idea_inverse(&keys)), block);
        }

        #[test]
        fn the_dictionary_expands_back(plain in proptest::collection::vec(0u8..4, 0..3000)) {
            let (mut tokens, mut back) = (Vec::new(), Vec::new());
            compress(&plain, &mut vec![0; 1 << HASH_BITS], &mut tokens);
            expand(&tokens, &mut back);
            prop_assert_eq!(back, plain);
        }
    }
}
