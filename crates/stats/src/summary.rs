//! One series of takes: its median with an interval that assumes no distribution, its mean beside it.
//!
//! Values are in time order and in whatever unit the caller uses. The median's interval runs between
//! two order statistics and reaches the exact level stated in it, for any continuous distribution.
//! Not counted: noise between runs (see [`mod@crate::between`]), since one run cannot show it.

use crate::autocorrelation::{self, effective_n};
use crate::distributions::{coin_cdf, student_quantile};
use crate::effect::Interval;
use crate::unfit::{Unfit, check};
use crate::{ALPHA, LEVEL, MIN_N, describe};
/// Effective values below which nothing is known.
const FEWEST: f64 = 2.0;
/// Share of the median within which takes count as equal.
const FLAT: f64 = 1e-4;

/// A reason to doubt a series although its figures could be computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Doubt {
    /// Successive takes resemble each other: lag-1 autocorrelation and the number they stand for.
    Autocorrelated { lag1: f64, effective_n: f64 },
}

/// The figures of one series of takes.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    pub n: usize,
    pub median: f64,
    /// Interval of the median, at least 95 %; its `level` is the exact one.
    pub interval: Option<Interval>,
    /// Why there is no interval.
    pub why: Option<Unfit>,
    pub mean: f64,
    /// Student's t interval of the mean; wrong for strongly skewed takes, which the median's is not.
    pub mean_interval: Option<Interval>,
    pub sd: Option<f64>,
    pub min: f64,
    pub max: f64,
    /// Degrees of freedom of `sd`: n - 1.
    pub dof: usize,
    /// Lag-1 autocorrelation in time order.
    pub lag1: Option<f64>,
    /// Sittings that the takes lie in, as far as the interval counts them.
    pub sittings: usize,
    /// Name of the method behind `interval`.
    pub method: &'static str,
    /// Number of independent takes that would tell as much.
    pub effective_n: f64,
    pub doubts: Vec<Doubt>,
}

impl Summary {
    /// The method for sittings: see [`mod@crate::sittings`].
    pub const BY_SITTING: &'static str = "random effects, takes in sittings";
    /// The method for one sitting.
    pub const METHOD: &'static str = "binomial order statistics";

    /// Half the width of the median's interval as a share of the median.
    pub fn relative_half_width(&self) -> Option<f64> {
        let i = self.interval?;
        let share = (i.high - i.low) / 2.0 / self.median.abs();
        share.is_finite().then_some(share)
    }
}

/// Summarises values that are in time order. Fails when there is none, or one is not a number.
pub fn summary(values: &[f64]) -> Result<Summary, Unfit> {
    check(values)?;
    let n = values.len();
    let sorted = describe::sorted(values).ok_or(Unfit::Empty)?;
    let median = describe::median_sorted(&sorted).ok_or(Unfit::Empty)?;
    let mean = describe::mean(values).ok_or(Unfit::Empty)?;
    let sd = describe::standard_deviation(values);
    // Takes that differ by less than any output shows have no order to tell anything from.
    let flat = sorted[n - 1] - sorted[0] <= median.abs() * FLAT;
    let lag1 = if flat { None } else { autocorrelation::lag1(values) };
    let effective = effective_n(n, lag1);
    let (interval, why) = match median_interval(&sorted, effective, lag1) {
        Ok(i) => (Some(i), None),
        Err(why) => (None, Some(why)),
    };
    let mean_interval = sd.map(|sd| {
        let t = student_quantile(1.0 - ALPHA / 2.0, (n - 1) as f64);
        Interval::around(mean, t * sd / (n as f64).sqrt())
    });
    let doubts = match lag1 {
        Some(lag1) if lag1 > autocorrelation::WIDENED && autocorrelation::beyond_chance(lag1, n) => {
            vec![Doubt::Autocorrelated { lag1, effective_n: effective }]
        }
        _ => Vec::new(),
    };
    Ok(Summary {
        n,
        median,
        interval,
        why,
        mean,
        mean_interval,
        sd,
        min: sorted[0],
        max: sorted[n - 1],
        dof: n - 1,
        lag1,
        sittings: 1,
        method: Summary::METHOD,
        effective_n: effective,
        doubts,
    })
}

/// The rank k (from one) with which order statistics k and n + 1 - k hold the median at least 95 %
/// of the time, and the exact level; `None` below six values.
pub fn median_ranks(n: usize) -> Option<(usize, f64)> {
    let level = |k: usize| 1.0 - 2.0 * coin_cdf(k - 1, n);
    if n < MIN_N || level(1) < LEVEL {
        return None;
    }
    // The level falls as k rises: halve between one that holds and one that does not.
    let (mut holds, mut fails) = (1, n / 2 + 1);
    while fails - holds > 1 {
        let k = holds.midpoint(fails);
        if level(k) >= LEVEL { holds = k } else { fails = k }
    }
    Some((holds, level(holds)))
}

/// Interval between the order statistics of the median, drawn out from it where values resemble each other: by what
/// fewer values are less certain, and by what Student's quantile of so few is larger. On the scale of logarithms where
/// all values are positive. `sorted` is ascending and not empty.
fn median_interval(sorted: &[f64], effective: f64, lag1: Option<f64>) -> Result<Interval, Unfit> {
    let n = sorted.len();
    let Some((k, level)) = median_ranks(n) else {
        return Err(Unfit::TooFew { have: n, need: MIN_N });
    };
    let (low, high) = (sorted[k - 1], sorted[n - k]);
    let count = n as f64;
    if effective >= count || low == high {
        return Ok(Interval { low, high, level });
    }
    if effective < FEWEST {
        return Err(Unfit::Dependent { n, effective, lag1: lag1.unwrap_or(0.0) });
    }
    let t = |dof: f64| student_quantile(1.0 - ALPHA / 2.0, dof);
    // The spread of values that resemble each other is itself seen too small.
    let hidden = ((count - 1.0) / (count - count / effective)).max(1.0);
    let by = (count / effective * hidden).sqrt() * t(effective - 1.0) / t(count - 1.0);
    let centre = describe::median_sorted(sorted).ok_or(Unfit::Empty)?;
    let end = |value: f64| match sorted[0] > 0.0 {
        true => centre * (value / centre).powf(by),
        false => centre + (value - centre) * by,
    };
    Ok(Interval { low: end(low), high: end(high), level })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn ranks_of_the_textbook() {
        // k and level for n = 5 .. 12, from the binomial with p = 1/2.
        assert_eq!(median_ranks(5), None);
        let want = [
            (6, 1, 0.96875),
            (8, 1, 0.9921875),
            (9, 2, 0.9609375),
            (10, 2, 0.978515625),
            (12, 3, 0.96142578125),
        ];
        for (n, k, level) in want {
            let got = median_ranks(n).unwrap_or((0, 0.0));
            assert_eq!(got.0, k, "n {n}");
            assert!((got.1 - level).abs() < 1e-12, "n {n}: {}", got.1);
        }
        assert!(median_ranks(100_000).is_some_and(|(k, l)| k > 49_000 && (0.95..0.951).contains(&l)));
    }

    #[test]
    fn too_few_says_so_and_keeps_the_rest() {
        let s = summary(&[9.1, 9.3, 9.2]).expect("three finite values");
        assert_eq!((s.n, s.median, s.interval, s.dof), (3, 9.2, None, 2));
        assert_eq!(s.why, Some(Unfit::TooFew { have: 3, need: 6 }));
        assert!(s.mean_interval.is_some());
        let one = summary(&[4.0]).expect("one finite value");
        assert_eq!((one.median, one.sd, one.mean_interval, one.lag1), (4.0, None, None, None));
    }

    #[test]
    fn bad_input_is_refused() {
        assert_eq!(summary(&[]), Err(Unfit::Empty));
        assert_eq!(summary(&[1.0, f64::NAN]), Err(Unfit::OutOfRange { index: 1 }));
        assert_eq!(summary(&[f64::INFINITY]), Err(Unfit::OutOfRange { index: 0 }));
    }

    #[test]
    fn equal_values_have_a_point_interval() {
        let s = summary(&[7.0; 10]).expect("finite");
        assert_eq!(s.interval.map(|i| (i.low, i.high)), Some((7.0, 7.0)));
        assert_eq!(s.relative_half_width(), Some(0.0));
        assert!(s.doubts.is_empty());
        // A step of 20 ns that creeps by a millionth is no trend.
        let creeping: Vec<f64> = (0..8).map(|n| 20.0 + f64::from(n) * 2e-6).collect();
        let s = summary(&creeping).expect("finite");
        assert!(s.doubts.is_empty() && s.interval.is_some());
    }

    #[test]
    fn resemblance_widens_or_removes_the_interval() {
        let drifting: Vec<f64> = (0..30).map(|i| 100.0 + f64::from(i)).collect();
        let s = summary(&drifting).expect("finite");
        assert!(s.lag1.is_some_and(|r| r > 0.8) && s.effective_n < 4.0);
        assert!(matches!(s.why, Some(Unfit::Dependent { n: 30, .. })), "{:?}", s.why);
        assert_eq!(s.doubts.len(), 1);

        let mut rng = Rng::new(5);
        let mut level = 0.0;
        let series: Vec<f64> = (0..200)
            .map(|_| {
                level = 0.6 * level + rng.normal();
                100.0 + level
            })
            .collect();
        let s = summary(&series).expect("finite");
        let (plain, _) = median_ranks(200).expect("enough");
        let mut sorted = series.clone();
        sorted.sort_by(f64::total_cmp);
        let i = s.interval.expect("enough even so");
        assert!(i.high - i.low > 1.4 * (sorted[200 - plain] - sorted[plain - 1]));
    }

    #[test]
    fn zero_median_has_no_relative_width() {
        let s = summary(&[-3.0, -2.0, -1.0, 1.0, 2.0, 3.0]).expect("finite");
        assert_eq!(s.relative_half_width(), None);
    }
}
