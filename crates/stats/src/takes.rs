//! Quantiles of what happened inside takes (latencies), with an interval over whole takes.
//!
//! Requests of one take share its conditions, so takes are resampled, never requests. Each take is a
//! list of (value, count), as read from a histogram or with count 1 for raw values; counts are added
//! up over takes, quantiles are never averaged. Unit: the values' own.

use crate::bootstrap::{Bootstrap, by_index, expanded, finish};
use crate::rng::Rng;
use crate::unfit::Unfit;

/// One take: its values and how often each was seen, in any order.
pub type Take = Vec<(f64, u64)>;

/// Resamples whole takes and asks `statistic` for the figure of the takes at the given positions
/// (with repeats). For figures that the caller's own mergeable aggregates yield.
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
    finish(estimate, drawn, expanded(takes))
}

/// Quantile `q` of the merged takes: the smallest value with at least the share q at or below it.
/// Needs six takes that saw something.
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
    resample_takes(merged.totals.len(), |picks| merged.quantile(picks, q), resamples, rng)
}

/// All values of all takes in ascending order, each with the take that it belongs to.
struct Merged {
    entries: Vec<(f64, usize, u64)>,
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
        let totals = seen.iter().map(|t| t.iter().map(|(_, n)| n).sum()).collect();
        Ok(Self { entries, totals })
    }

    fn quantile(&self, picks: &[usize], q: f64) -> Option<f64> {
        let mut weight = vec![0_u64; self.totals.len()];
        let mut total = 0_u64;
        for take in picks {
            weight[*take] += 1;
            total += self.totals[*take];
        }
        let wanted = ((q * total as f64).ceil() as u64).clamp(1, total.max(1));
        let mut seen = 0;
        self.entries.iter().find_map(|(value, take, count)| {
            seen += weight[*take] * count;
            (seen >= wanted).then_some(*value)
        })
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
        assert_eq!(b.estimate, 1.0);
        let top = quantile_over_takes(&takes, 1.0, 500, &mut Rng::new(1)).expect("six takes");
        assert_eq!((top.estimate, top.interval.low, top.interval.high), (100.0, 1.0, 100.0));
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
    fn unfit_input() {
        let mut rng = Rng::new(1);
        assert_eq!(quantile_over_takes(&[], 0.5, 500, &mut rng), Err(Unfit::Empty));
        let five = vec![ones([1.0, 2.0]); 5];
        assert_eq!(quantile_over_takes(&five, 0.5, 500, &mut rng), Err(Unfit::TooFew { have: 5, need: 6 }));
        assert!(quantile_over_takes(&five, 1.5, 500, &mut rng).is_err());
        assert!(quantile_over_takes(&[ones([f64::NAN])], 0.5, 500, &mut rng).is_err());
    }
}
