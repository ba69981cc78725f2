//! Wilcoxon's signed-rank test on differences: exact, and conditional on the ranks when they tie.
//!
//! Zeros are ranked with the rest and then carry no sign (Pratt), so that a coarse clock cannot make
//! a difference look more certain. The null hypothesis is symmetry around zero; nothing is assumed of
//! the shape. Up to [`EXACT_MAX`] values every sign pattern is counted; above that the normal
//! approximation with tie and continuity corrections is used and said.

use crate::distributions::normal_cdf;
use crate::unfit::{Unfit, check};

/// Most values for which the null distribution is counted exactly.
pub const EXACT_MAX: usize = 300;

/// Values closer than this share of the largest one are the same value: rounding, not measurement.
const TIE: f64 = 1e-10;

/// How a p-value was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counting {
    /// No ties: the classical exact distribution.
    Exact,
    /// Ties or zeros: all sign patterns of the midranks at hand.
    Permutation,
    /// Too many values to count: normal approximation.
    Normal,
}

/// Outcome of a signed-rank test.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignedRank {
    pub n: usize,
    /// Sum of the (mid)ranks of the positive values.
    pub w_plus: f64,
    /// Two-sided p-value.
    pub p: f64,
    /// The smallest p that these values could have given.
    pub min_p: f64,
    pub counting: Counting,
}

/// The smallest two-sided p that `n` non-zero values can give: 2 / 2^n, at most 1.
pub fn min_p(n: usize) -> f64 {
    0.5_f64.powf(n as f64 - 1.0).min(1.0)
}

/// Two-sided signed-rank test of differences. Fails when a difference is not a number, or there is none.
pub fn signed_rank(d: &[f64]) -> Result<SignedRank, Unfit> {
    check(d)?;
    let ranked = Ranked::new(d);
    let p = if d.len() > EXACT_MAX { ranked.normal_p() } else { ranked.exact_p() };
    let counting = match (d.len() > EXACT_MAX, ranked.tied) {
        (true, _) => Counting::Normal,
        (false, true) => Counting::Permutation,
        (false, false) => Counting::Exact,
    };
    let w_plus = ranked.plus as f64 / 2.0;
    Ok(SignedRank { n: d.len(), w_plus, p, min_p: min_p(ranked.weights.len()), counting })
}

/// Twice the midranks of the non-zero values, so that all are whole.
struct Ranked {
    weights: Vec<usize>,
    /// Sum of the weights of positive values.
    plus: usize,
    tied: bool,
}

impl Ranked {
    fn new(d: &[f64]) -> Self {
        let largest = d.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let same = TIE * largest;
        let mut by_size: Vec<f64> = d.to_vec();
        by_size.sort_unstable_by(|a, b| a.abs().total_cmp(&b.abs()));
        let mut out = Self { weights: Vec::with_capacity(d.len()), plus: 0, tied: false };
        let mut start = 0;
        while start < by_size.len() {
            let mut end = start + 1;
            while end < by_size.len() && by_size[end].abs() - by_size[end - 1].abs() <= same {
                end += 1;
            }
            let zero = by_size[start].abs() <= same;
            out.tied |= zero || end - start > 1;
            let weight = start + 1 + end; // twice the mean of the ranks start + 1 ..= end
            if !zero {
                for v in &by_size[start..end] {
                    out.weights.push(weight);
                    out.plus += if *v > 0.0 { weight } else { 0 };
                }
            }
            start = end;
        }
        out
    }

    fn exact_p(&self) -> f64 {
        let total: usize = self.weights.iter().sum();
        // Symmetric, so that both tails are twice the farther one.
        let far = self.plus.max(total - self.plus);
        let null = null_distribution(&self.weights);
        let scale = unit(&self.weights);
        (2.0 * null[far / scale..].iter().rev().sum::<f64>()).min(1.0)
    }

    fn normal_p(&self) -> f64 {
        let total: f64 = self.weights.iter().map(|w| *w as f64).sum();
        let squares: f64 = self.weights.iter().map(|w| (*w as f64).powi(2)).sum();
        if squares == 0.0 {
            return 1.0;
        }
        // Half of a rank is 1 here (weights are doubled): the continuity correction.
        let away = ((self.plus as f64 - total / 2.0).abs() - 1.0).max(0.0);
        (2.0 * normal_cdf(-away / (squares.sqrt() / 2.0))).min(1.0)
    }
}

/// 2 if all weights are even, else 1: without ties the doubled ranks need not be kept doubled.
fn unit(weights: &[usize]) -> usize {
    if weights.iter().all(|w| w % 2 == 0) { 2 } else { 1 }
}

/// Probability of each sum of a random half of the weights (in [`unit`]s), every sign pattern alike.
fn null_distribution(weights: &[usize]) -> Vec<f64> {
    let scale = unit(weights);
    let total: usize = weights.iter().sum::<usize>() / scale;
    let mut p = vec![0.0; total + 1];
    p[0] = 1.0;
    let mut reached = 0;
    for w in weights.iter().map(|w| w / scale) {
        reached += w;
        for s in (0..=reached).rev() {
            let with = if s >= w { p[s - w] } else { 0.0 };
            p[s] = 0.5 * (p[s] + with);
        }
    }
    p
}

/// The rank k (from one) among the n (n + 1) / 2 sorted pairwise means with which means k and
/// n (n + 1) / 2 + 1 - k hold the centre at least 95 % of the time, and the level; `None` below six.
pub(crate) fn walsh_ranks(n: usize) -> Option<(u64, f64)> {
    if n < crate::MIN_N {
        return None;
    }
    let half = crate::ALPHA / 2.0;
    if n > EXACT_MAX {
        let count = n as f64;
        let mean = count * (count + 1.0) / 4.0;
        let sd = (mean * (2.0 * count + 1.0) / 6.0).sqrt();
        let k = (mean - crate::distributions::normal_quantile(1.0 - half) * sd - 0.5).floor();
        return Some((k.max(1.0) as u64, crate::LEVEL));
    }
    let ranks: Vec<usize> = (1..=n).map(|r| 2 * r).collect();
    let null = null_distribution(&ranks);
    let (mut below, mut k) = (0.0, 0);
    while below + null[k] <= half {
        below += null[k];
        k += 1;
    }
    (k > 0).then_some((k as u64, 1.0 - 2.0 * below))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, pattern by pattern.
    fn brute(d: &[f64]) -> f64 {
        let r = Ranked::new(d);
        let total: usize = r.weights.iter().sum();
        let away = |plus: usize| (2 * plus).abs_diff(total);
        let patterns = 1_u32 << r.weights.len();
        let as_far = (0..patterns)
            .filter(|bits| {
                let plus =
                    r.weights.iter().enumerate().filter(|(i, _)| bits >> i & 1 == 1).map(|(_, w)| w).sum();
                away(plus) >= away(r.plus)
            })
            .count();
        as_far as f64 / f64::from(patterns)
    }

    #[test]
    fn textbook_case() {
        // All of six values positive: 2 / 64.
        let t = signed_rank(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).expect("finite");
        assert_eq!((t.w_plus, t.p, t.min_p, t.counting), (21.0, 0.03125, 0.03125, Counting::Exact));
    }

    #[test]
    fn zeros_carry_no_evidence() {
        let t = signed_rank(&[0.0; 8]).expect("finite");
        assert_eq!((t.p, t.min_p, t.counting), (1.0, 1.0, Counting::Permutation));
        let some = signed_rank(&[0.0, 0.0, 0.0, 1.0, 2.0]).expect("finite");
        assert_eq!((some.p, some.min_p), (0.5, 0.5));
    }

    #[test]
    fn rounding_does_not_break_ties() {
        let t = signed_rank(&[0.1 + 0.2, -0.3, 0.7, 0.9, 1.1, 1.3]).expect("finite");
        assert_eq!(t.counting, Counting::Permutation);
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(signed_rank(&[]).map(|t| t.p), Err(Unfit::Empty));
        assert_eq!(signed_rank(&[f64::NAN]).map(|t| t.p), Err(Unfit::OutOfRange { index: 0 }));
    }

    #[test]
    fn counting_and_approximation_meet() {
        let mut rng = crate::Rng::new(1);
        let d: Vec<f64> = (0..EXACT_MAX).map(|_| rng.normal() + 0.12).collect();
        let (exact, approximate) = (Ranked::new(&d).exact_p(), Ranked::new(&d).normal_p());
        assert!((exact - approximate).abs() < 0.02 * exact, "{exact} {approximate}");
        let (k, level) = walsh_ranks(EXACT_MAX).expect("enough");
        let (more, _) = walsh_ranks(EXACT_MAX + 1).expect("enough");
        assert!(k < more && more < k + 200 && (0.95..0.951).contains(&level), "{k} {more} {level}");
    }

    #[test]
    fn min_p_is_two_over_patterns() {
        assert_eq!([0, 1, 2, 6, 10].map(min_p), [1.0, 1.0, 0.5, 0.03125, 1.0 / 512.0]);
        assert!(min_p(100_000) >= 0.0);
    }

    proptest! {
        #[test]
        fn counts_every_pattern(d in prop::collection::vec(-4_i32..=4, 1..11)) {
            let d: Vec<f64> = d.into_iter().map(f64::from).collect();
            let t = signed_rank(&d).expect("finite");
            prop_assert!((t.p - brute(&d)).abs() < 1e-12);
            prop_assert!(t.p >= t.min_p - 1e-15);
        }

        #[test]
        fn swapping_the_arms_changes_nothing(d in prop::collection::vec(-1.0..1.0_f64, 1..40)) {
            let back: Vec<f64> = d.iter().map(|v| -v).collect();
            let (a, b) = (signed_rank(&d).expect("finite"), signed_rank(&back).expect("finite"));
            prop_assert!((a.p - b.p).abs() < 1e-12);
        }
    }
}
