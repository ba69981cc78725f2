//! Seeded pseudo-random numbers for inputs: the same on every machine, target and build.
//!
//! SplitMix64 (Steele, Lea, Flood 2014). Not for secrets.

/// A stream of numbers that the seed fixes.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub const fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`, which must not be 0; uneven by less than `bound` / 2^64.
    pub const fn below(&mut self, bound: u64) -> u64 {
        let wide = self.next() as u128 * bound as u128;
        (wide >> 64) as u64
    }

    /// A number from 0 to below 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub const fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let number = self.next().to_le_bytes();
            for (byte, random) in chunk.iter_mut().zip(number) {
                *byte = random;
            }
        }
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.fill(&mut bytes);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_published_one() {
        let mut random = Random::new(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut random = Random::new(7);
        for bound in [1, 2, 3, 1000, u64::MAX] {
            assert!((0..1000).all(|_| random.below(bound) < bound));
        }
        assert!((0..1000).map(|_| random.unit()).all(|x| (0.0..1.0).contains(&x)));
    }
}
