//! Quantiles of events inside takes (latencies), with an interval over whole takes.
//!
//! Requests of one take share its conditions, so takes are resampled, never requests. Each take is a list of (value,
//! count), as read from a histogram or with count 1 for raw values; counts are added up over takes, quantiles are
//! never averaged. Unit: the values' own.
//!
//! Of a positive figure the interval is estimate times exp(+- t se), with the bootstrap's standard error of its
//! logarithm and n - 1 degrees of freedom: with six to ten takes of skewed values it covers about 95 % where
//! percentiles of the bootstrap cover 92 %. Quantiles with fewer than ten values beyond them get no interval, and the
//! p99 of takes that differ by half covers less.

use crate::ALPHA;
use crate::bootstrap::{Bootstrap, by_index, expanded, finish};
use crate::describe::standard_deviation;
use crate::distributions::student_quantile;
use crate::effect::Interval;
use crate::rng::Rng;
use crate::unfit::Unfit;

/// Fewest values beyond a quantile, on its thinner side, that give it an interval.
pub const MIN_BEYOND: u64 = 10;

/// One take: its values and how often each was seen, in any order.
pub type Take = Vec<(f64, u64)>;

/// Resamples whole takes and calls `statistic` for the figure of the takes at the given positions (with repeats). For
/// figures of the caller's own mergeable aggregates. Fails with too few takes, or when the statistic is missing in a
/// resample.
pub fn resample_takes(
    takes: usize,
    statistic: impl FnMut(&[usize]) -> Option<f64>,
    resamples: usize,
    rng: &mut Rng,
) -> Result<Bootstrap, Unfit> {
    let mut statistic = statistic;
    let all: Vec<usize> = (0..takes).collect();
    let estimate = statistic(&all).filter(|v| v.is_finite());
    let estimate = estimate.ok_or(Unfit::Argument("the statistic does not exist"))?;
    let drawn = by_index(takes, resamples, rng, statistic)?;
    match log_interval(estimate, &drawn, takes as f64) {
        Some(interval) => {
            let se = standard_deviation(&drawn).ok_or(Unfit::Empty)?;
            Ok(Bootstrap { estimate, interval, se })
        }
        None => finish(estimate, drawn, expanded(takes)),
    }
}

/// Interval of a positive figure by the spread of its logarithm; `None` if any is not positive.
fn log_interval(estimate: f64, drawn: &[f64], n: f64) -> Option<Interval> {
    if estimate <= 0.0 || drawn.iter().any(|d| *d <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = drawn.iter().map(|d| d.ln()).collect();
    // Resampling n values shows (n - 1) / n of their variance.
    let se = standard_deviation(&logs)? * (n / (n - 1.0)).sqrt();
    let half = student_quantile(1.0 - ALPHA / 2.0, n - 1.0) * se;
    Some(Interval::around(estimate.ln(), half).exp())
}

/// Quantile `q` of the merged takes: the smallest value with at least the share q at or below it. Fails with fewer
/// than six takes that saw something, or fewer than [`MIN_BEYOND`] values on either side.
pub fn quantile_over_takes(
    takes: &[Take],
    q: f64,
    resamples: usize,
    rng: &mut Rng,
) -> Result<Bootstrap, Unfit> {
    if !(0.0..=1.0).contains(&q) {
        return Err(Unfit::Argument("a quantile lies between 0 and 1"));
    }
    let merged = Merged::new(takes)?;
    let (have, thin) = (merged.totals.iter().sum::<u64>(), q.min(1.0 - q));
    let need = (MIN_BEYOND as f64 / thin - 1e-6).ceil();
    if (have as f64) < need {
        return Err(Unfit::TooFew { have: have as usize, need: need as usize });
    }
    resample_takes(merged.totals.len(), |picks| merged.quantile(picks, q), resamples, rng)
}

/// All values of all takes in ascending order, with how many of each take are at or below each.
struct Merged {
    values: Vec<f64>,
    /// One row a value, one column a take.
    upto: Vec<u64>,
    totals: Vec<u64>,
}

impl Merged {
    fn new(takes: &[Take]) -> Result<Self, Unfit> {
        let seen: Vec<&Take> = takes.iter().filter(|t| t.iter().any(|(_, n)| *n > 0)).collect();
        let mut entries = Vec::new();
        for (take, values) in seen.iter().enumerate() {
            if let Some(index) = values.iter().position(|(v, _)| !v.is_finite()) {
                return Err(Unfit::OutOfRange { index });
            }
            entries.extend(values.iter().filter(|(_, n)| *n > 0).map(|(v, n)| (*v, take, *n)));
        }
        if entries.is_empty() {
            return Err(Unfit::Empty);
        }
        entries.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let mut totals = vec![0_u64; seen.len()];
        let (mut values, mut upto) = (Vec::new(), Vec::new());
        for of_value in entries.chunk_by(|a, b| a.0 == b.0) {
            of_value.iter().for_each(|(_, take, count)| totals[*take] += count);
            values.push(of_value[0].0);
            upto.extend_from_slice(&totals);
        }
        Ok(Self { values, upto, totals })
    }

    fn quantile(&self, picks: &[usize], q: f64) -> Option<f64> {
        let below = |row: usize| -> u64 {
            let counts = &self.upto[row * self.totals.len()..][..self.totals.len()];
            picks.iter().map(|take| counts[*take]).sum()
        };
        let total = below(self.values.len().checked_sub(1)?);
        let wanted = ((q * total as f64).ceil() as u64).clamp(1, total.max(1));
        let (mut low, mut high) = (0, self.values.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if below(middle) < wanted { low = middle + 1 } else { high = middle }
        }
        self.values.get(low).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ones(values: impl IntoIterator<Item = f64>) -> Take {
        values.into_iter().map(|v| (v, 1)).collect()
    }

    #[test]
    fn counts_are_added_not_quantiles_averaged() {
        // Five takes of 1,000 fast requests and one of a single slow request.
        let mut takes: Vec<Take> = vec![vec![(1.0, 1_000)]; 5];
        takes.push(vec![(100.0, 1)]);
        let b = quantile_over_takes(&takes, 0.5, 500, &mut Rng::new(1)).expect("six takes");
        assert_eq!((b.estimate, b.interval.low, b.interval.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn a_quantile_without_values_beyond_it_has_no_interval() {
        let takes = vec![ones((0..100).map(f64::from)); 6];
        let ask = |q| quantile_over_takes(&takes, q, 500, &mut Rng::new(1)).map(|b| b.estimate);
        assert_eq!(ask(0.9), Ok(89.0));
        assert_eq!(ask(0.999), Err(Unfit::TooFew { have: 600, need: 10_000 }));
        assert!(matches!(ask(1.0), Err(Unfit::TooFew { .. })));
    }

    #[test]
    fn histogram_and_raw_values_agree() {
        let mut rng = Rng::new(9);
        let raw: Vec<Take> =
            (0..8).map(|_| ones((0..200).map(|_| (rng.exponential() * 10.0).round()))).collect();
        let binned: Vec<Take> = raw
            .iter()
            .map(|take| {
                let mut bins = std::collections::BTreeMap::<u64, u64>::new();
                take.iter().for_each(|(v, n)| *bins.entry(*v as u64).or_default() += n);
                bins.into_iter().map(|(v, n)| (v as f64, n)).collect()
            })
            .collect();
        let a = quantile_over_takes(&raw, 0.9, 300, &mut Rng::new(2)).expect("fit");
        let b = quantile_over_takes(&binned, 0.9, 300, &mut Rng::new(2)).expect("fit");
        assert_eq!(a, b);
    }

    #[test]
    fn spread_between_takes_widens_the_interval() {
        let mut rng = Rng::new(3);
        let mut width = |between: f64| {
            let takes: Vec<Take> = (0..10)
                .map(|_| {
                    let level = (between * rng.normal()).exp();
                    ones((0..500).map(|_| level * rng.exponential()))
                })
                .collect();
            let b = quantile_over_takes(&takes, 0.99, 500, &mut rng).expect("fit");
            (b.interval.high - b.interval.low) / b.estimate
        };
        assert!(width(0.5) > 2.0 * width(0.0));
    }

    #[test]
    fn figures_around_zero_have_an_interval_too() {
        let mut rng = Rng::new(13);
        let takes: Vec<Take> = (0..10).map(|_| ones((0..100).map(|_| rng.normal()))).collect();
        let b = quantile_over_takes(&takes, 0.5, 500, &mut rng).expect("fit");
        assert!(b.interval.contains(0.0) && b.interval.low < 0.0, "{b:?}");
    }

    #[test]
    fn unfit_input() {
        let mut rng = Rng::new(1);
        assert_eq!(quantile_over_takes(&[], 0.5, 500, &mut rng), Err(Unfit::Empty));
        let five = vec![ones((0..100).map(f64::from)); 5];
        assert_eq!(quantile_over_takes(&five, 0.5, 500, &mut rng), Err(Unfit::TooFew { have: 5, need: 6 }));
        assert!(quantile_over_takes(&five, 1.5, 500, &mut rng).is_err());
        assert!(quantile_over_takes(&[ones([f64::NAN])], 0.5, 500, &mut rng).is_err());
    }
}
