//! Intervals by resampling, for statistics that have no interval of their own.
//!
//! Values are resampled as independent: takes or blocks, never requests of one take. Seeded, so that
//! the same data give the same interval. For a median of few takes use [`crate::summary()`] instead: a
//! bootstrap covers only 91 to 94 % there.

use crate::distributions::{normal_cdf, normal_quantile, student_quantile};
use crate::effect::Interval;
use crate::rng::Rng;
use crate::unfit::{Unfit, check};
use crate::{ALPHA, LEVEL, MIN_N, describe};

/// Resamples that are enough for two-digit ends.
pub const RESAMPLES: usize = 2_000;
/// The acceleration of BCa is estimated by leaving out one of at most this many groups of values.
const JACKKNIFE_GROUPS: usize = 500;

/// A statistic with its bootstrap interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bootstrap {
    pub estimate: f64,
    pub interval: Interval,
    /// Standard deviation of the resampled statistic.
    pub se: f64,
}

/// Percentile bootstrap, widened for small n as the t quantile is wider than the normal one.
///
/// `statistic` gets resampled values and returns `None` where it does not exist.
pub fn percentile(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    resamples: usize,
    rng: &mut Rng,
) -> Result<Bootstrap, Unfit> {
    check(values)?;
    let drawn = by_index(values.len(), resamples, rng, picked(values, &statistic))?;
    finish(estimate(values, &statistic)?, drawn, expanded(values.len()))
}

/// Bias-corrected and accelerated bootstrap (Efron).
pub fn bca(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> Option<f64>,
    resamples: usize,
    rng: &mut Rng,
) -> Result<Bootstrap, Unfit> {
    check(values)?;
    let estimate = estimate(values, &statistic)?;
    let drawn = by_index(values.len(), resamples, rng, picked(values, &statistic))?;
    let below = drawn.iter().filter(|d| **d < estimate).count() as f64;
    let equal = drawn.iter().filter(|d| **d == estimate).count() as f64;
    let bias = normal_quantile((below + equal / 2.0) / drawn.len() as f64);
    let a = acceleration(values, &statistic);
    let end = |z: f64| normal_cdf(bias + (bias + z) / (1.0 - a * (bias + z)));
    let z = normal_quantile(1.0 - ALPHA / 2.0);
    let ends = (end(-z), end(z));
    let usable = bias.is_finite() && ends.0 < ends.1;
    finish(estimate, drawn, if usable { ends } else { expanded(values.len()) })
}

/// Resamples positions 0..n and collects the statistic of each; for statistics of things that are
/// not single numbers (histograms, blocks). Fails if the statistic is missing in any resample.
pub(crate) fn by_index(
    n: usize,
    resamples: usize,
    rng: &mut Rng,
    mut statistic: impl FnMut(&[usize]) -> Option<f64>,
) -> Result<Vec<f64>, Unfit> {
    if n < MIN_N {
        return Err(Unfit::TooFew { have: n, need: MIN_N });
    }
    if resamples < 100 {
        return Err(Unfit::Argument("fewer than 100 resamples give no interval"));
    }
    let mut picks = vec![0; n];
    let mut drawn = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        picks.fill_with(|| rng.below(n));
        let value = statistic(&picks).filter(|v| v.is_finite());
        drawn.push(value.ok_or(Unfit::Argument("the statistic is missing in a resample"))?);
    }
    Ok(drawn)
}

/// Estimate and drawn statistics become an interval between the two shares.
pub(crate) fn finish(estimate: f64, mut drawn: Vec<f64>, ends: (f64, f64)) -> Result<Bootstrap, Unfit> {
    drawn.sort_unstable_by(f64::total_cmp);
    let end = |share: f64| describe::quantile_sorted(&drawn, share).ok_or(Unfit::Empty);
    let interval = Interval { low: end(ends.0)?, high: end(ends.1)?, level: LEVEL };
    let se = describe::standard_deviation(&drawn).ok_or(Unfit::Empty)?;
    Ok(Bootstrap { estimate, interval, se })
}

/// Shares of the bootstrap distribution at which the ends are read: a percentile interval is narrow
/// by sqrt((n - 1) / n) and by z against t, and this takes both back.
pub(crate) fn expanded(n: usize) -> (f64, f64) {
    let n = n as f64;
    let z = student_quantile(1.0 - ALPHA / 2.0, n - 1.0) * (n / (n - 1.0)).sqrt();
    (normal_cdf(-z), normal_cdf(z))
}

fn estimate(values: &[f64], statistic: &impl Fn(&[f64]) -> Option<f64>) -> Result<f64, Unfit> {
    statistic(values).filter(|v| v.is_finite()).ok_or(Unfit::Argument("the statistic does not exist"))
}

/// The statistic of the values at the picked positions.
fn picked(values: &[f64], statistic: &impl Fn(&[f64]) -> Option<f64>) -> impl FnMut(&[usize]) -> Option<f64> {
    let mut sample = Vec::with_capacity(values.len());
    move |picks| {
        sample.clear();
        sample.extend(picks.iter().map(|i| values[*i]));
        statistic(&sample)
    }
}

/// Skewness of the statistic as single values (or groups of neighbours, above 500) are left out.
fn acceleration(values: &[f64], statistic: &impl Fn(&[f64]) -> Option<f64>) -> f64 {
    let n = values.len();
    let groups = n.min(JACKKNIFE_GROUPS);
    let without: Vec<f64> = (0..groups)
        .filter_map(|g| {
            let (from, to) = (g * n / groups, (g + 1) * n / groups);
            statistic(&[&values[..from], &values[to..]].concat())
        })
        .collect();
    let Some(mean) = describe::mean(&without) else {
        return 0.0;
    };
    let sum = |power: i32| without.iter().map(|v| (mean - v).powi(power)).sum::<f64>();
    let a = sum(3) / (6.0 * sum(2).powf(1.5));
    if a.is_finite() { a } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::{mean, median};

    #[test]
    fn same_seed_same_interval() {
        let v: Vec<f64> = (0..20).map(f64::from).collect();
        let run = |seed| percentile(&v, mean, 500, &mut Rng::new(seed)).expect("fit");
        assert_eq!(run(1), run(1));
        assert_ne!(run(1).interval, run(2).interval);
    }

    #[test]
    fn both_bracket_the_mean() {
        let mut rng = Rng::new(4);
        let v: Vec<f64> = (0..40).map(|_| rng.exponential()).collect();
        let plain = percentile(&v, mean, 4_000, &mut rng).expect("fit");
        let skewed = bca(&v, mean, 4_000, &mut rng).expect("fit");
        for b in [plain, skewed] {
            assert!(b.interval.contains(b.estimate) && b.se > 0.0);
        }
        assert!(skewed.interval.high > plain.interval.high - 0.05, "skewed to the right");
        assert!(skewed.interval.low > plain.interval.low);
    }

    #[test]
    fn unfit_input() {
        let few = percentile(&[1.0; 5], mean, 500, &mut Rng::new(1));
        assert_eq!(few, Err(Unfit::TooFew { have: 5, need: 6 }));
        assert!(percentile(&[1.0; 9], mean, 5, &mut Rng::new(1)).is_err());
        assert!(bca(&[1.0; 9], |_| None, 500, &mut Rng::new(1)).is_err());
        assert!(bca(&[f64::NAN; 9], mean, 500, &mut Rng::new(1)).is_err());
    }

    #[test]
    fn equal_values_have_a_point_interval() {
        let b = bca(&[3.0; 8], median, 500, &mut Rng::new(1)).expect("fit");
        assert_eq!((b.interval.low, b.interval.high, b.se), (3.0, 3.0, 0.0));
    }
}
