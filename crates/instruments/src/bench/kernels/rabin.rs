//! A rolling hash by polynomial division over GF(2): the value of the bytes read as one long polynomial,
//! modulo 0x92d42091a28158a5 (degree 63).
//!
//! For each byte: `sum = (sum << 8 | byte) ^ T[sum >> 55]`, one table look-up that depends on the one
//! before; this is the way of the 2010 benchmarks, and its serial look-up is what is measured.

/// The polynomial. Its top bit is the term x^63.
pub const POLY: u64 = 0x92d4_2091_a281_58a5;

/// Reduction of the bits that a shift by eight pushes to x^63 and beyond: `T[i]` cancels `i * x^63` and
/// adds what it is modulo the polynomial.
static TABLE: [u64; 256] = table();

const fn table() -> [u64; 256] {
    let mut table = [0; 256];
    let mut high = 0;
    while high < 256 {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the part of i * x^63 that is left after the shift"
        )]
        let cancelled = ((high as u128) << 63) as u64;
        table[high] = remainder((high as u128) << 63) ^ cancelled;
        high += 1;
    }
    table
}

/// `value` modulo the polynomial, bit by bit.
const fn remainder(mut value: u128) -> u64 {
    let mut bit = 127;
    while bit >= 63 {
        if value >> bit & 1 == 1 {
            value ^= (POLY as u128) << (bit - 63);
        }
        bit -= 1;
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 2^63 after the division")]
    let rest = value as u64;
    rest
}

/// Rolls `data` into `sum`.
pub fn roll(mut sum: u64, data: &[u8]) -> u64 {
    for byte in data {
        let high = sum >> 55;
        // `sum` is below 2^63, so `high` is below 256; the mask saves the bounds check.
        sum = (sum << 8 | u64::from(*byte)) ^ TABLE[(high & 0xff) as usize];
    }
    sum
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Straight from the definition: eight steps of long division a byte.
    fn slow(sum: u64, data: &[u8]) -> u64 {
        let step = |sum: u64, byte: &u8| remainder(u128::from(sum) << 8 | u128::from(*byte));
        data.iter().fold(sum, step)
    }

    #[test]
    fn short_inputs_are_their_own_remainder() {
        assert_eq!(roll(0, &[]), 0);
        assert_eq!(roll(0, &[1, 2, 3]), 0x010203);
        assert_eq!(roll(0, &POLY.to_be_bytes()), 0);
        assert_eq!(roll(0, &(POLY ^ 5).to_be_bytes()), 5);
    }

    proptest! {
        #[test]
        fn the_table_divides(start in 0u64..1 << 63, data: Vec<u8>) {
            prop_assert_eq!(roll(start, &data), slow(start, &data));
        }

        #[test]
        fn the_sum_is_linear(a: [u8; 40], b: [u8; 40]) {
            let both: Vec<u8> = a.iter().zip(&b).map(|(x, y)| x ^ y).collect();
            prop_assert_eq!(roll(0, &both), roll(0, &a) ^ roll(0, &b));
        }
    }
}
