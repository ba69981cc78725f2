//! Quantiles of events inside takes (latencies), with an interval over whole takes.
//!
//! Requests of one take share its conditions, so takes are resampled, never requests. Each take is a list of (value,
//! count), as read from a histogram or with count 1 for raw values; counts are added up over takes, quantiles are
//! never averaged. Unit: the values' own.
//!
//! Of a positive figure the interval is estimate times exp(+- t se), with the bootstrap's standard error of its
//! logarithm and n - 1 degrees of freedom: with six to ten takes of skewed values it covers about 95 % where
//! percentiles of the bootstrap cover 92 %. A value may be infinite: an event that never came to an end is beyond every
//! other, and so may be a quantile and the ends of its interval. The p99 of takes that differ by half covers less.

use crate::bootstrap::{Bootstrap, by_index, expanded, finish};
use crate::describe::standard_deviation;
use crate::distributions::{student_p, student_quantile};
use crate::effect::Interval;
use crate::paired::{Paired, Test};
use crate::rng::Rng;
use crate::unfit::Unfit;
use crate::{ALPHA, describe};

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
/// than six takes that saw something, or fewer than `need` values in all.
pub fn quantile_over_takes(
    takes: &[Take],
    q: f64,
    need: u64,
    resamples: usize,
    rng: &mut Rng,
) -> Result<Bootstrap, Unfit> {
    if !(0.0..=1.0).contains(&q) {
        return Err(Unfit::Argument("a quantile lies between 0 and 1"));
    }
    let merged = Merged::new(takes)?;
    let have = merged.totals.iter().sum::<u64>();
    if have < need {
        return Err(Unfit::TooFew { have: have as usize, need: need as usize });
    }
    let n = merged.totals.len();
    let is_endless = merged.values.last().is_some_and(|v| v.is_infinite());
    if !is_endless {
        return resample_takes(n, |picks| merged.quantile(picks, q), resamples, rng);
    }
    let estimate = merged.quantile(&(0..n).collect::<Vec<_>>(), q).ok_or(Unfit::Empty)?;
    // Ends of intervals bear infinity, sums do not: a bound stands for it meanwhile.
    let drawn = by_index(n, resamples, rng, |picks| Some(merged.quantile(picks, q)?.min(f64::MAX)))?;
    if estimate.is_finite() && drawn.iter().all(|d| *d < f64::MAX) {
        return resample_takes(n, |picks| merged.quantile(picks, q), resamples, rng);
    }
    let mut ends = drawn;
    ends.sort_unstable_by(f64::total_cmp);
    let (low, high) = expanded(n);
    let end = |share: f64| {
        let place = (share * (ends.len() - 1) as f64).round() as usize;
        ends.get(place).map(|v| if *v < f64::MAX { *v } else { f64::INFINITY }).ok_or(Unfit::Empty)
    };
    let interval = Interval { low: end(low)?, high: end(high)?, level: 1.0 - ALPHA };
    Ok(Bootstrap { estimate, interval, se: f64::INFINITY })
}

/// Quantile `q` of the merged takes of two arms, whose takes belong together by position (blocks): ln(arm / base), with
/// whole blocks resampled. Fails with fewer than six blocks, and where a quantile is infinite in a resample.
pub fn paired_quantiles(
    (arm, base): (&[Take], &[Take]),
    q: f64,
    resamples: usize,
    rng: &mut Rng,
) -> Result<Paired, Unfit> {
    if arm.len() != base.len() {
        return Err(Unfit::Unequal { left: arm.len(), right: base.len() });
    }
    let n = arm.len();
    let (arm, base) = (Merged::new(arm)?, Merged::new(base)?);
    if arm.totals.len() != n || base.totals.len() != n {
        return Err(Unfit::Argument("a block without values"));
    }
    let apart = |picks: &[usize]| Some((arm.quantile(picks, q)? / base.quantile(picks, q)?).ln());
    let all: Vec<usize> = (0..n).collect();
    let estimate =
        apart(&all).filter(|d| d.is_finite()).ok_or(Unfit::Argument("the quantile does not exist"))?;
    let drawn = by_index(n, resamples, rng, apart)?;
    let (blocks, dof) = (n as f64, n as f64 - 1.0);
    // Resampling n blocks shows (n - 1) / n of their variance.
    let se = standard_deviation(&drawn).ok_or(Unfit::Empty)? * (blocks / dof).sqrt();
    let p = match se > 0.0 {
        true => student_p(estimate / se, dof),
        false if estimate == 0.0 => 1.0,
        false => 0.0,
    };
    let half = student_quantile(1.0 - ALPHA / 2.0, dof) * se;
    Ok(Paired {
        n,
        blocks: n,
        estimate,
        interval: Some(Interval::around(estimate, half)),
        why: None,
        p,
        test: Test::PairedT,
        exact_p: p,
        min_p: 0.0,
        se: Some(se),
    })
}

/// Shares of events by sample, and how many events they are shares of: few events know a share badly, however equal
/// their samples are.
#[derive(Debug, Clone, Copy)]
pub struct Shares<'s> {
    pub each: &'s [f64],
    pub events: f64,
    /// By how much of itself the share is assumed to differ where these samples cannot show it (from run to run).
    pub between: f64,
}

impl Shares<'_> {
    /// The mean and the variance of that mean: what the samples show, and at least that of counts (with one event where
    /// none was seen). `None` for fewer than two samples.
    fn mean(&self) -> Option<(f64, f64)> {
        let (mean, sd) = (describe::mean(self.each)?, standard_deviation(self.each)?);
        let events = self.events.max(1.0);
        let share = mean.clamp(1.0 / events, 1.0);
        let within = (sd * sd / self.each.len() as f64).max(share * (1.0 - share) / events);
        Some((mean, within + (mean * self.between).powi(2)))
    }
}

/// Two-sided p that the mean of shares is this share; `None` for fewer than two samples.
pub fn share_p(shares: Shares<'_>, is: f64) -> Option<f64> {
    let (mean, variance) = shares.mean()?;
    Some(if variance > 0.0 {
        student_p((mean - is) / variance.sqrt(), shares.each.len() as f64 - 1.0)
    } else {
        1.0
    })
}

/// Difference of the means of two sides' shares (arm - base) with its interval, and p that there is none. `None` with
/// fewer than two samples on a side. Degrees of freedom are those of the smaller side.
pub fn shares_apart(arm: Shares<'_>, base: Shares<'_>) -> Option<(Interval, f64)> {
    let (of_arm, of_base) = (arm.mean()?, base.mean()?);
    let (apart, se) = (of_arm.0 - of_base.0, (of_arm.1 + of_base.1).sqrt());
    let dof = arm.each.len().min(base.each.len()) as f64 - 1.0;
    let half = student_quantile(1.0 - ALPHA / 2.0, dof) * se;
    let p = if se > 0.0 { student_p(apart / se, dof) } else { 1.0 };
    Some((Interval::around(apart, half), p))
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
            if let Some(index) = values.iter().position(|(v, _)| v.is_nan() || *v == f64::NEG_INFINITY) {
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
        let b = quantile_over_takes(&takes, 0.5, 20, 500, &mut Rng::new(1)).expect("six takes");
        assert_eq!((b.estimate, b.interval.low, b.interval.high), (1.0, 1.0, 1.0));
    }

    #[test]
    fn a_quantile_of_too_few_values_has_no_interval() {
        let takes = vec![ones((0..100).map(f64::from)); 6];
        let ask = |q, need| quantile_over_takes(&takes, q, need, 500, &mut Rng::new(1)).map(|b| b.estimate);
        assert_eq!(ask(0.9, 100), Ok(89.0));
        assert_eq!(ask(0.999, 10_000), Err(Unfit::TooFew { have: 600, need: 10_000 }));
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
        let a = quantile_over_takes(&raw, 0.9, 100, 300, &mut Rng::new(2)).expect("fit");
        let b = quantile_over_takes(&binned, 0.9, 100, 300, &mut Rng::new(2)).expect("fit");
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
            let b = quantile_over_takes(&takes, 0.99, 1_000, 500, &mut rng).expect("fit");
            (b.interval.high - b.interval.low) / b.estimate
        };
        assert!(width(0.5) > 2.0 * width(0.0));
    }

    #[test]
    fn figures_around_zero_have_an_interval_too() {
        let mut rng = Rng::new(13);
        let takes: Vec<Take> = (0..10).map(|_| ones((0..100).map(|_| rng.normal()))).collect();
        let b = quantile_over_takes(&takes, 0.5, 20, 500, &mut rng).expect("fit");
        assert!(b.interval.contains(0.0) && b.interval.low < 0.0, "{b:?}");
    }

    #[test]
    fn what_never_ended_is_beyond_every_quantile_that_it_reaches() {
        // 2 % never ended, in each take as many.
        let takes = vec![vec![(1.0, 980), (f64::INFINITY, 20)]; 8];
        let ask = |q| quantile_over_takes(&takes, q, 1_000, 300, &mut Rng::new(1)).expect("eight takes");
        assert_eq!((ask(0.9).estimate, ask(0.9).interval.high), (1.0, 1.0));
        assert_eq!((ask(0.99).estimate, ask(0.99).interval.low), (f64::INFINITY, f64::INFINITY));
        // In one take of eight: whether the p99 is one of them is open.
        let mut takes = vec![vec![(1.0, 1_000)]; 7];
        takes.push(vec![(1.0, 900), (f64::INFINITY, 100)]);
        let b = quantile_over_takes(&takes, 0.99, 1_000, 300, &mut Rng::new(1)).expect("eight takes");
        assert_eq!((b.interval.low, b.interval.high), (1.0, f64::INFINITY));
        assert!(paired_quantiles((&takes, &takes), 0.99, 300, &mut Rng::new(1)).is_err());
    }

    #[test]
    fn blocks_of_two_arms_are_drawn_together() {
        let mut rng = Rng::new(5);
        let (mut arm, mut base) = (Vec::new(), Vec::new());
        for _ in 0..10 {
            let level = (0.3 * rng.normal()).exp();
            let times: Vec<f64> = (0..2_000).map(|_| level * rng.exponential()).collect();
            arm.push(ones(times.iter().map(|t| t * 1.2)));
            base.push(ones(times));
        }
        let row = paired_quantiles((&arm, &base), 0.99, 300, &mut Rng::new(6)).expect("ten blocks");
        assert!((row.estimate - 1.2_f64.ln()).abs() < 1e-9 && row.p < 1e-6, "{row:?}");
        assert!(paired_quantiles((&arm, &base[1..]), 0.99, 300, &mut rng).is_err());
    }

    #[test]
    fn shares_are_as_certain_as_their_events_are_many() {
        let of = |each: &'static [f64], events| Shares { each, events, between: 0.0 };
        let p = |each: &'static [f64], events, is| share_p(of(each, events), is);
        assert!(p(&[0.3; 3], 30_000.0, 0.01).is_some_and(|p| p < 1e-2));
        assert!(p(&[0.0; 2], 100.0, 0.0).is_some_and(|p| p > 0.3));
        assert_eq!(p(&[0.3], 1_000.0, 0.0), None);
        // Eleven of a thousand in two takes are no proof of more than ten.
        assert!(p(&[0.011; 2], 2_000.0, 0.01).is_some_and(|p| p > 0.5));
        let (apart, p) =
            shares_apart(of(&[0.29, 0.31, 0.3], 3_000.0), of(&[0.0; 3], 3_000.0)).expect("three each");
        assert!(apart.low > 0.25 && apart.high < 0.35 && p < 1e-2, "{apart:?} {p}");
        // One failure in each of two takes of 500 against none: nothing is told.
        let (apart, p) = shares_apart(of(&[0.002; 2], 1_000.0), of(&[0.0; 2], 1_000.0)).expect("two each");
        assert!(apart.low < 0.0 && p > 0.2, "{apart:?} {p}");
        assert!(shares_apart(of(&[0.3], 100.0), of(&[0.0; 3], 300.0)).is_none());
    }

    #[test]
    fn unfit_input() {
        let mut rng = Rng::new(1);
        assert_eq!(quantile_over_takes(&[], 0.5, 20, 500, &mut rng), Err(Unfit::Empty));
        let five = vec![ones((0..100).map(f64::from)); 5];
        assert_eq!(
            quantile_over_takes(&five, 0.5, 20, 500, &mut rng),
            Err(Unfit::TooFew { have: 5, need: 6 })
        );
        assert!(quantile_over_takes(&five, 1.5, 20, 500, &mut rng).is_err());
        assert!(quantile_over_takes(&[ones([f64::NAN])], 0.5, 20, 500, &mut rng).is_err());
    }
}
