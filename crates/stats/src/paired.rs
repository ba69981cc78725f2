//! Two arms of one interleaved study, compared block by block.
//!
//! Input: d = ln(arm / base), one value a block. Estimate: Hodges-Lehmann. Interval: the signed-rank
//! test turned round. p: exact signed-rank. Pairing removes whatever both arms of a block share
//! (clock, neighbours, temperature); it assumes that d is symmetric around its centre when nothing
//! differs, which random order within a block gives. Nothing is said here about other runs.

use crate::distributions::{student_p, student_quantile};
use crate::effect::{Effect, Interval};
use crate::hodges_lehmann::Walsh;
use crate::signed_rank::{Counting, signed_rank, walsh_ranks};
use crate::unfit::{Unfit, check, check_positive};
use crate::{ALPHA, MIN_N, describe};

/// The test that a p-value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Test {
    SignedRank(Counting),
    /// Student's t over sittings.
    Sittings,
    /// Paired t, because no exact p from so few blocks survives a family of this size.
    PairedT,
}

impl Test {
    /// The test's name as printed and stored.
    pub fn name(self) -> &'static str {
        match self {
            Self::SignedRank(Counting::Exact) => "signed-rank, exact",
            Self::SignedRank(Counting::Permutation) => "signed-rank, exact with ties",
            Self::SignedRank(Counting::Normal) => "signed-rank, normal approximation",
            Self::PairedT => "paired t",
            Self::Sittings => "t over sittings",
        }
    }
}

/// Comparison of two arms of one study.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    /// Replicates: blocks, or sittings.
    pub n: usize,
    /// Blocks that they hold.
    pub blocks: usize,
    /// Hodges-Lehmann estimate of ln(arm / base).
    pub estimate: f64,
    /// Signed-rank interval; its level is exact when no two differences tie, else at least that.
    pub interval: Option<Interval>,
    /// Why there is no interval.
    pub why: Option<Unfit>,
    /// The p-value for Holm, from `test`.
    pub p: f64,
    pub test: Test,
    /// p of the exact test, even where `p` comes from another.
    pub exact_p: f64,
    /// The smallest p that the exact test could have given here.
    pub min_p: f64,
    /// Standard error of the mean difference; `None` for one block.
    pub se: Option<f64>,
}

impl Paired {
    /// The estimate with its interval and standard error, for combining; `None` without an interval.
    pub fn effect(&self) -> Option<Effect> {
        Some(Effect {
            estimate: self.estimate,
            interval: self.interval?,
            se: self.se?,
            dof: self.n as f64 - 1.0,
        })
    }

    /// The same spread around another estimate, such as that of all events together; p by Student's t.
    #[must_use]
    pub fn around(mut self, estimate: f64) -> Self {
        self.interval = self.interval.map(|i| Interval::around(estimate, (i.high - i.low) / 2.0));
        self.estimate = estimate;
        self.p = match self.se {
            Some(se) if se > 0.0 => student_p(estimate / se, self.n as f64 - 1.0),
            _ if estimate == 0.0 => 1.0,
            _ => 0.0,
        };
        self.exact_p = self.p;
        self
    }
}

/// Compares two arms given d = ln(arm / base) of each block. `family` is the number of rows that
/// Holm's correction will cover; it decides, before looking at the signs, whether the exact test
/// could ever reach 0.05 / family, and only if it cannot, p is the paired t's.
pub fn paired(d: &[f64], family: usize) -> Result<Paired, Unfit> {
    check(d)?;
    let n = d.len();
    let exact = signed_rank(d)?;
    let walsh = Walsh::new(d).ok_or(Unfit::Empty)?;
    let interval = walsh_ranks(n).map(|(k, level)| Interval {
        low: walsh.kth(k),
        high: walsh.kth(walsh.count() + 1 - k),
        level,
    });
    let why = interval.is_none().then_some(Unfit::TooFew { have: n, need: MIN_N });
    let se = describe::standard_deviation(d).map(|sd| sd / (n as f64).sqrt());
    let reachable = exact.min_p <= ALPHA / family.max(1) as f64;
    let t_test = if reachable { None } else { paired_t(d, se) };
    let (p, test) = match t_test {
        Some(p) => (p, Test::PairedT),
        None => (exact.p, Test::SignedRank(exact.counting)),
    };
    Ok(Paired {
        n,
        blocks: n,
        estimate: walsh.median(),
        interval,
        why,
        p,
        test,
        exact_p: exact.p,
        min_p: exact.min_p,
        se,
    })
}

/// Two-sided p of the paired t; without any spread it is 0 for a difference and 1 for none.
fn paired_t(d: &[f64], se: Option<f64>) -> Option<f64> {
    let (mean, se) = (describe::mean(d)?, se?);
    if se == 0.0 {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    Some(student_p(mean / se, d.len() as f64 - 1.0))
}

/// Student's t interval of the mean difference: the paired t's own, for showing beside it.
pub fn paired_t_interval(d: &[f64]) -> Option<Interval> {
    let (mean, sd) = (describe::mean(d)?, describe::standard_deviation(d)?);
    let n = d.len() as f64;
    Some(Interval::around(mean, student_quantile(1.0 - ALPHA / 2.0, n - 1.0) * sd / n.sqrt()))
}

/// ln(arm / base) of values that belong together by position.
pub fn log_ratios(arm: &[f64], base: &[f64]) -> Result<Vec<f64>, Unfit> {
    if arm.len() != base.len() {
        return Err(Unfit::Unequal { left: arm.len(), right: base.len() });
    }
    check_positive(arm)?;
    check_positive(base)?;
    Ok(arm.iter().zip(base).map(|(a, b)| (a / b).ln()).collect())
}

/// ln(arm / base) of each block that both arms have, in block order; several values of one block
/// count as their geometric mean. Blocks that one arm lost to a fault are left out.
pub fn pair_blocks(arm: &[(u64, f64)], base: &[(u64, f64)]) -> Result<Vec<f64>, Unfit> {
    let (arm, base) = (by_block(arm)?, by_block(base)?);
    let d: Vec<f64> = arm.iter().filter_map(|(block, a)| base.get(block).map(|b| (a / b).ln())).collect();
    if d.is_empty() { Err(Unfit::Empty) } else { Ok(d) }
}

/// Geometric mean of each block; a lone value stays as it is, so that equal ratios stay equal.
pub(crate) fn by_block(values: &[(u64, f64)]) -> Result<std::collections::BTreeMap<u64, f64>, Unfit> {
    let plain: Vec<f64> = values.iter().map(|(_, v)| *v).collect();
    check_positive(&plain)?;
    let mut lists = std::collections::BTreeMap::<u64, Vec<f64>>::new();
    for (block, v) in values {
        lists.entry(*block).or_default().push(*v);
    }
    let centre = |list: &[f64]| if let [only] = list { Some(*only) } else { describe::geometric_mean(list) };
    Ok(lists.into_iter().filter_map(|(block, list)| Some((block, centre(&list)?))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_clear_difference() {
        let d: Vec<f64> = (0..12).map(|i| 0.10 + 0.001 * f64::from(i)).collect();
        let c = paired(&d, 1).expect("finite");
        let i = c.interval.expect("twelve blocks");
        assert!(i.low > 0.1 && i.high < 0.112 && i.level > 0.95);
        assert_eq!((c.test, c.p), (Test::SignedRank(Counting::Exact), 2.0 / 4096.0));
        assert!((c.estimate - 0.1055).abs() < 1e-12);
    }

    #[test]
    fn a_large_family_needs_the_t_test_and_says_so() {
        let d = [0.010, 0.012, 0.011, 0.013, 0.009, 0.0105, 0.0125, 0.0115];
        let alone = paired(&d, 1).expect("finite");
        assert_eq!((alone.test, alone.p), (Test::SignedRank(Counting::Exact), alone.exact_p));
        let many = paired(&d, 15).expect("finite"); // 2 / 256 > 0.05 / 15
        assert_eq!(many.test, Test::PairedT);
        assert!(many.p < 1e-5 && many.exact_p == 2.0 / 256.0);
        assert_eq!(many.test.name(), "paired t");
    }

    #[test]
    fn few_blocks_give_no_interval() {
        let c = paired(&[0.1, 0.2], 15).expect("finite");
        assert_eq!((c.interval, c.why), (None, Some(Unfit::TooFew { have: 2, need: 6 })));
        let one = paired(&[0.1], 15).expect("finite");
        assert_eq!((one.p, one.se, one.effect()), (1.0, None, None));
    }

    #[test]
    fn no_difference_at_all() {
        let c = paired(&[0.0; 10], 15).expect("finite");
        assert_eq!((c.estimate, c.p), (0.0, 1.0));
        assert_eq!(c.interval.map(|i| (i.low, i.high)), Some((0.0, 0.0)));
        let same = paired(&[0.1; 8], 15).expect("finite");
        assert!(same.p < 1e-9, "{}", same.p);
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(paired(&[], 1), Err(Unfit::Empty));
        assert_eq!(paired(&[0.0, f64::NAN], 1), Err(Unfit::OutOfRange { index: 1 }));
        assert_eq!(log_ratios(&[1.0], &[]), Err(Unfit::Unequal { left: 1, right: 0 }));
        assert_eq!(log_ratios(&[1.0, 0.0], &[1.0, 1.0]), Err(Unfit::NotPositive { index: 1 }));
        assert_eq!(pair_blocks(&[(0, 1.0)], &[(1, 1.0)]), Err(Unfit::Empty));
    }

    #[test]
    fn blocks_pair_by_number() {
        let arm = [(0, 2.0), (2, 8.0), (1, 5.0)];
        let base = [(2, 4.0), (0, 1.0), (0, 4.0)];
        let d = pair_blocks(&arm, &base).expect("positive");
        assert_eq!(d.len(), 2);
        assert!(d[0].abs() < 1e-12 && (d[1] - 2f64.ln()).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn interval_holds_the_estimate(d in prop::collection::vec(-0.5..0.5_f64, 6..60)) {
            let c = paired(&d, 1).expect("finite");
            let i = c.interval.expect("enough");
            prop_assert!(i.contains(c.estimate));
            // The interval is the test turned round: zero is outside exactly when p is below 1 - level.
            let rejected = c.p <= 1.0 - i.level + 1e-12;
            prop_assert_eq!(!i.contains(0.0), rejected);
        }
    }
}
