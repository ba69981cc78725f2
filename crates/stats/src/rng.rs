//! Seeded random numbers: xoshiro256++ (Blackman and Vigna), filled by SplitMix64.
//!
//! The same seed and key give the same stream on every platform; `normal` and `exponential` go
//! through the platform's logarithm, whose last bit may differ. Not for secrets.

use std::f64::consts::TAU;

/// A stream of random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rng {
    state: [u64; 4],
}

fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Rng {
    /// The stream of this seed.
    pub fn new(seed: u64) -> Self {
        let mut s = seed;
        Self { state: std::array::from_fn(|_| splitmix(&mut s)) }
    }

    /// A stream of its own for `key`, so that adding a series changes no other series' numbers.
    pub fn derive(seed: u64, key: &str) -> Self {
        let mut hash = 0xCBF2_9CE4_8422_2325_u64; // FNV-1a, 64 bit
        for byte in key.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
        let mut s = seed;
        Self::new(splitmix(&mut s) ^ hash)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        let s = &mut self.state;
        let out = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        out
    }

    /// Uniform in [0, 1), 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
    }

    /// Uniform integer in 0..n without bias; 0 when `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        if n == 0 {
            return 0;
        }
        // Lemire's multiplication; the low part below the threshold would favour some results.
        let threshold = n.wrapping_neg() % n;
        loop {
            let wide = u128::from(self.bits()) * u128::from(n);
            if (wide as u64) >= threshold {
                return (wide >> 64) as usize;
            }
        }
    }

    /// Standard normal (Box and Muller's transform, one of the pair).
    pub fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }

    /// Exponential with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    /// Student's t with so many degrees of freedom, which need not be whole; the normal distribution where they are
    /// without end.
    pub fn student(&mut self, dof: f64) -> f64 {
        let z = self.normal();
        if !dof.is_finite() {
            return z;
        }
        // A chi-square variable is twice a gamma variable of half the degrees of freedom.
        z / (2.0 * self.gamma(dof / 2.0) / dof).sqrt()
    }

    /// Gamma with this shape and scale 1 (Marsaglia and Tsang 2000); of a shape below 1 by that of one more.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            return self.gamma(shape + 1.0) * (1.0 - self.uniform()).powf(1.0 / shape);
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let z = self.normal();
            let v = (1.0 + c * z).powi(3);
            if v <= 0.0 {
                continue;
            }
            let u = 1.0 - self.uniform();
            if u.ln() < 0.5 * z * z + d * (1.0 - v + v.ln()) {
                return d * v;
            }
        }
    }

    /// Random order, in place (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::{mean, standard_deviation};

    #[test]
    fn splitmix_known_answer() {
        let mut s = 0;
        assert_eq!(splitmix(&mut s), 0xE220_A839_7B1D_CDAF);
    }

    #[test]
    fn xoshiro_known_answers() {
        let mut r = Rng { state: [1, 2, 3, 4] };
        let want = [41_943_041, 58_720_359, 3_588_806_011_781_223, 3_591_011_842_654_386];
        assert_eq!(want.map(|_| r.bits()), want);
    }

    #[test]
    fn keys_and_seeds_give_streams_of_their_own() {
        let first = |mut r: Rng| r.bits();
        let all = [
            first(Rng::derive(1, "a")),
            first(Rng::derive(1, "b")),
            first(Rng::derive(2, "a")),
            first(Rng::new(1)),
        ];
        for i in 0..all.len() {
            for j in 0..i {
                assert_ne!(all[i], all[j]);
            }
        }
        assert_eq!(first(Rng::derive(1, "a")), all[0]);
    }

    #[test]
    fn student_draws_have_the_distribution() {
        for dof in [1.5, 4.0, 30.0, f64::INFINITY] {
            let mut r = Rng::derive(3, &dof.to_string());
            let n = 40_000;
            let draws: Vec<f64> = (0..n).map(|_| r.student(dof)).collect();
            for p in [0.025, 0.2, 0.5, 0.9, 0.975] {
                let at =
                    if dof.is_finite() { crate::student_quantile(p, dof) } else { crate::normal_quantile(p) };
                let below = draws.iter().filter(|t| **t <= at).count() as f64 / f64::from(n);
                assert!(
                    (below - p).abs() < 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt(),
                    "{dof} {p}: {below}"
                );
            }
        }
    }

    #[test]
    fn moments_are_right() {
        let mut r = Rng::new(7);
        let n = 100_000;
        let (u, z, e): (Vec<f64>, Vec<f64>, Vec<f64>) =
            (0..n).map(|_| (r.uniform(), r.normal(), r.exponential())).collect();
        for (values, m, sd) in [(u, 0.5, (1f64 / 12.0).sqrt()), (z, 0.0, 1.0), (e, 1.0, 1.0)] {
            assert!((mean(&values).unwrap_or(f64::NAN) - m).abs() < 0.015);
            assert!((standard_deviation(&values).unwrap_or(f64::NAN) - sd).abs() < 0.015);
        }
    }

    #[test]
    fn below_is_uniform_and_bounded() {
        let mut r = Rng::new(3);
        let mut count = [0_u32; 6];
        for _ in 0..60_000 {
            count[r.below(6)] += 1;
        }
        assert!(count.iter().all(|c| (9_600..10_400).contains(c)), "{count:?}");
        assert_eq!((r.below(0), r.below(1)), (0, 0));
    }

    #[test]
    fn shuffle_reaches_every_order_equally() {
        let mut r = Rng::new(11);
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..6_000 {
            let mut v = [0, 1, 2];
            r.shuffle(&mut v);
            *seen.entry(v).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|c| (850..1150).contains(c)), "{seen:?}");
    }
}
