//! VMAC (Krovetz and Dai, draft-krovetz-vmac-01): a message authentication code whose work is 64-bit
//! multiplication, with AES-128 for the keys and the pad; 64- and 128-bit digests.
//!
//! A message is cut into blocks of 128 bytes. Each is compressed to 128 bits by NH (sums of products of
//! 64-bit words and key words); these are the coefficients of a polynomial modulo 2^127 - 1; its value is
//! hashed once more to 64 bits and added to the encrypted nonce. A 128-bit digest does all this twice.

use super::aes::Aes128;

const BLOCK: usize = 128;
const WORDS: usize = BLOCK / 8;
/// 2^127 - 1.
const P127: u128 = (1 << 127) - 1;
/// 2^64 - 257.
const P64: u64 = u64::MAX - 256;

/// A key made ready for digests of up to 128 bits.
#[derive(Clone)]
pub struct Vmac {
    aes: Aes128,
    nh: [u64; WORDS + 2],
    poly: [u128; 2],
    last: [(u64, u64); 2],
}

/// The two 64-bit halves of the `index`th block that `aes` derives for the purpose `label`.
fn derive(aes: &Aes128, label: u8, index: u8) -> (u64, u64) {
    let mut block = [0; 16];
    block[0] = label;
    block[15] = index;
    let wide = u128::from_be_bytes(aes.encrypt(block));
    (high(wide), low(wide))
}

#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
const fn low(wide: u128) -> u64 {
    wide as u64
}

const fn high(wide: u128) -> u64 {
    low(wide >> 64)
}

impl Vmac {
    pub fn new(key: &[u8; 16]) -> Vmac {
        Vmac::with(Aes128::new(key))
    }

    /// The same key without the processor's AES instruction.
    pub fn by_table(key: &[u8; 16]) -> Vmac {
        Vmac::with(Aes128::by_table(key))
    }

    fn with(aes: Aes128) -> Vmac {
        const POLY_MASK: u64 = 0x1fff_ffff_1fff_ffff;
        let mut nh = [0; WORDS + 2];
        for (index, pair) in (0u8..).zip(nh.as_chunks_mut::<2>().0) {
            let (a, b) = derive(&aes, 0x80, index);
            *pair = [a, b];
        }
        let poly = [0, 1].map(|index| {
            let (a, b) = derive(&aes, 0xc0, index);
            u128::from(a & POLY_MASK) << 64 | u128::from(b & POLY_MASK)
        });
        // Pairs of which one is not below P64 are passed over.
        let mut fitting =
            (0..=u8::MAX).map(|index| derive(&aes, 0xe0, index)).filter(|(a, b)| *a < P64 && *b < P64);
        let last = [fitting.next().unwrap_or((1, 1)), fitting.next().unwrap_or((1, 1))];
        Vmac { aes, nh, poly, last }
    }

    /// The digest of 64 bits.
    pub fn digest_64(&self, nonce: &[u8; 16], message: &[u8]) -> u64 {
        let [hash] = self.hash::<1>(message);
        // One encryption serves two successive nonces.
        let mut even = *nonce;
        even[15] &= !1;
        let pad = u128::from_be_bytes(self.aes.encrypt(even));
        hash.wrapping_add(if nonce[15] & 1 == 0 { high(pad) } else { low(pad) })
    }

    /// The digest of 128 bits.
    pub fn digest_128(&self, nonce: &[u8; 16], message: &[u8]) -> u128 {
        let [first, second] = self.hash::<2>(message);
        let pad = u128::from_be_bytes(self.aes.encrypt(*nonce));
        u128::from(first.wrapping_add(high(pad))) << 64 | u128::from(second.wrapping_add(low(pad)))
    }

    fn hash<const N: usize>(&self, message: &[u8]) -> [u64; N] {
        let (blocks, rest) = message.as_chunks::<BLOCK>();
        let mut sums = [0u128; N];
        let mut started = false;
        for block in blocks {
            let parts = nh_sums::<N>(&self.nh, block.as_chunks::<16>().0);
            self.step(&mut sums, parts.map(|sum| sum & NH_MASK), &mut started);
        }
        if !rest.is_empty() {
            let (pairs, odd) = rest.as_chunks::<16>();
            let mut parts = nh_sums::<N>(&self.nh, pairs);
            if !odd.is_empty() {
                add_products(&mut parts, &self.nh, pairs.len(), padded(odd));
            }
            self.step(&mut sums, parts.map(|sum| sum & NH_MASK), &mut started);
        }
        let mut hashes = [0; N];
        for (index, hash) in hashes.iter_mut().enumerate() {
            // No block at all is a polynomial without terms: the value 1 times the key.
            let sum = if started { sums[index] } else { self.poly[index] };
            *hash = finish(sum, self.last[index], rest.len() as u64 * 8);
        }
        hashes
    }

    /// One step of the polynomial's evaluation, for each digest word. The first multiplies the key by 1.
    #[inline]
    fn step<const N: usize>(&self, sums: &mut [u128; N], parts: [u128; N], started: &mut bool) {
        for ((sum, part), key) in sums.iter_mut().zip(parts).zip(self.poly) {
            *sum = if *started { times_key(*sum, key) } else { key };
            *sum = reduced(*sum + part);
        }
        *started = true;
    }
}

const NH_MASK: u128 = (1 << 126) - 1;

/// For each digest word: the sum of products of pairs of message and key words. The second digest word's key
/// starts two words later.
#[inline]
fn nh_sums<const N: usize>(keys: &[u64; WORDS + 2], pairs: &[[u8; 16]]) -> [u128; N] {
    let mut sums = [0u128; N];
    for (index, pair) in pairs.iter().enumerate() {
        add_products(&mut sums, keys, index, u128::from_le_bytes(*pair));
    }
    sums
}

#[inline]
fn add_products<const N: usize>(sums: &mut [u128; N], keys: &[u64; WORDS + 2], index: usize, pair: u128) {
    let (first, second) = (low(pair), high(pair));
    for (shift, sum) in sums.iter_mut().enumerate() {
        let at = 2 * (index + shift);
        let (Some(a), Some(b)) = (keys.get(at), keys.get(at + 1)) else { continue };
        let product = u128::from(first.wrapping_add(*a)) * u128::from(second.wrapping_add(*b));
        *sum = sum.wrapping_add(product);
    }
}

/// Fewer than 16 bytes as a pair of words, the rest 0, by eight, four, two and one.
fn padded(odd: &[u8]) -> u128 {
    let (mut pair, mut shift, mut rest) = (0u128, 0, odd);
    if let Some((bytes, after)) = rest.split_first_chunk::<8>() {
        pair |= u128::from(u64::from_le_bytes(*bytes));
        (shift, rest) = (64, after);
    }
    if let Some((bytes, after)) = rest.split_first_chunk::<4>() {
        pair |= u128::from(u32::from_le_bytes(*bytes)) << shift;
        (shift, rest) = (shift + 32, after);
    }
    if let Some((bytes, after)) = rest.split_first_chunk::<2>() {
        pair |= u128::from(u16::from_le_bytes(*bytes)) << shift;
        (shift, rest) = (shift + 16, after);
    }
    rest.first().map_or(pair, |byte| pair | u128::from(*byte) << shift)
}

/// Once around: below 2^127 + 1, not fully reduced.
#[inline]
const fn reduced(x: u128) -> u128 {
    (x & P127) + (x >> 127)
}

/// `x * key` modulo 2^127 - 1, nearly reduced; `key` has no bits where the partial sums would overflow.
#[inline]
fn times_key(x: u128, key: u128) -> u128 {
    let (x1, x0) = (high(x), low(x));
    let (k1, k0) = (high(key), low(key));
    let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
    // x = x1 2^64 + x0, and 2^128 = 2 modulo 2^127 - 1. Key halves are below 2^61.
    let middle = wide(x1, k0) + wide(x0, k1);
    let outer = 2 * wide(x1, k1) + 2 * (middle >> 64);
    let lowest = wide(x0, k0);
    let sum = reduced(lowest) + reduced(u128::from(low(middle)) << 64);
    reduced(reduced(sum) + reduced(outer))
}

/// The last hash: the polynomial's value with the length of the unfilled block, in bits, to 64 bits.
fn finish(sum: u128, (k1, k2): (u64, u64), bits: u64) -> u64 {
    let with_length = reduced(reduced(sum) + (u128::from(bits) << 64));
    let value = if with_length >= P127 { with_length - P127 } else { with_length };
    let (quotient, remainder) = split(value);
    let (a, b) = (plus(quotient, k1), plus(remainder, k2));
    modulo_p64(u128::from(a) * u128::from(b))
}

/// Quotient and remainder by 2^64 - 2^32, by way of digits to the base 2^32.
const fn split(value: u128) -> (u64, u64) {
    const BASE: u64 = 1 << 32;
    let digits = value >> 32;
    let (top, middle, bottom) = (high(digits), low(digits) >> 32, low(digits) & (BASE - 1));
    // With D = 2^32 - 1 and 2^32 = D + 1: digits = D (top 2^32 + top + middle) + (top + middle + bottom).
    let rest = top + middle + bottom;
    let (extra, rest) = (rest / (BASE - 1), rest % (BASE - 1));
    let quotient = top * BASE + top + middle + extra;
    (quotient, rest << 32 | low(value) & (BASE - 1))
}

/// The sum modulo P64 of a number below 2^64 and one below P64.
const fn plus(a: u64, b: u64) -> u64 {
    modulo_p64(a as u128 + b as u128)
}

/// 2^64 = 257 modulo P64.
const fn modulo_p64(x: u128) -> u64 {
    let x = (x >> 64) * 257 + low(x) as u128;
    let x = (x >> 64) * 257 + low(x) as u128;
    let x = low(x);
    if x >= P64 { x - P64 } else { x }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nonce() -> [u8; 16] {
        let mut nonce = [0; 16];
        nonce[8..].copy_from_slice(b"bcdefghi");
        nonce
    }

    /// The test vectors of the draft: key `abcdefghijklmnop`, nonce `bcdefghi`, `abc` so many times.
    #[test]
    fn known_answers() {
        let cases: [(&str, usize, u64, u128); 5] = [
            ("", 1, 0x2576_BE1C_56D8_B81B, 0x4727_66C7_0F74_ED23_481D_6D7D_E4E8_0DAC),
            ("abc", 1, 0x2D37_6CF5_B181_3CE5, 0x4EE8_15A0_6A1D_71ED_D36F_C75D_5118_8A42),
            ("abc", 16, 0xE842_1F61_D573_D298, 0x09F2_C80C_8E10_07A0_C12F_AE19_FE45_04AE),
            ("abc", 100, 0x4492_DF6C_5CAC_1BBE, 0x6643_8817_1548_50C6_1D8A_4121_6480_3BCB),
            ("abc", 1_000_000, 0x09BA_597D_D760_1113, 0x2B6B_0228_8FFC_461B_7548_5DE8_93C6_29DC),
        ];
        let vmac = Vmac::new(b"abcdefghijklmnop");
        for (text, times, short, long) in cases {
            let message = text.repeat(times);
            assert_eq!(vmac.digest_64(&nonce(), message.as_bytes()), short, "{times} times {text:?}");
            assert_eq!(vmac.digest_128(&nonce(), message.as_bytes()), long, "{times} times {text:?}");
        }
    }

    proptest! {
        #[test]
        fn padding_adds_zeros(odd in proptest::collection::vec(any::<u8>(), 0..16)) {
            let mut wide = [0; 16];
            wide[..odd.len()].copy_from_slice(&odd);
            prop_assert_eq!(padded(&odd), u128::from_le_bytes(wide));
        }

        #[test]
        fn splitting_divides(value in 0u128..1 << 127) {
            let divisor = (1u128 << 64) - (1 << 32);
            let (quotient, remainder) = split(value);
            prop_assert_eq!((u128::from(quotient), u128::from(remainder)), (value / divisor, value % divisor));
        }

        #[test]
        fn the_small_prime_reduces(x: u128) {
            prop_assert_eq!(u128::from(modulo_p64(x)), x % u128::from(P64));
        }

        #[test]
        fn the_large_prime_multiplies(x in 0u128..=P127 + 1, key: u128) {
            let key = key & 0x1fff_ffff_1fff_ffff_1fff_ffff_1fff_ffff;
            // Double and add, reduced at each step.
            let mut expected = 0u128;
            for bit in (0..127).rev() {
                expected = expected * 2 % P127;
                if key >> bit & 1 == 1 {
                    expected = (expected + x % P127) % P127;
                }
            }
            let got = times_key(x, key);
            prop_assert!(got <= P127 + 1);
            prop_assert_eq!(got % P127, expected);
        }
    }
}
