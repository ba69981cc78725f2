//! Since when a series has another level: one lasting change, its moment, and by how much.
//!
//! Values in the order of time, such as logarithms. The test is a self-normalised CUSUM (Shao and Zhang 2010) of the
//! values' ranks: what the level moved is held against how far sums within either part stray, so that neighbours which
//! resemble each other pass for no change. Ranks make one value, however large, count as one, and make the law of the
//! statistic without a change depend on the number of values alone: it is drawn once for each number ([`Chance`]).
//!
//! Not a change here: a level that comes back, a slow rise, and what began less than [`LEAST`] values ago.

use std::collections::BTreeMap;

use crate::autocorrelation::{effective_n, lag1};
use crate::describe::median;
use crate::distributions::normal_quantile;
use crate::effect::Interval;
use crate::rng::Rng;
use crate::unfit::{Unfit, check};
use crate::{ALPHA, LEVEL};

/// Fewest values on each side of a change, and fewest of all.
pub const LEAST: usize = 8;
pub const LEAST_OF_ALL: usize = 24;
/// More values than these are not looked at: a caller sums neighbours.
pub const MOST: usize = 400;
/// Orders that the law without a change is drawn of: no p is below one in so many.
const DRAWS: usize = 9_999;
/// Values on each side of the moment that must show at least this part of the shift, as a step does.
const NEAR: usize = 4;
const SHARP: f64 = 0.5;
/// Values of either part that may lie nearer to the other's level.
const STRAYED: f64 = 0.2;

/// A lasting change of the level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// The first value of the new level.
    pub first: usize,
    /// The new level less the old one, with a 95 % interval.
    pub shift: f64,
    pub interval: Interval,
    /// How often a series without a change has as clear a one.
    pub p: f64,
}

/// Laws of the statistic without a change, by the number of values.
#[derive(Debug)]
pub struct Chance {
    seed: u64,
    drawn: BTreeMap<usize, Vec<f64>>,
}

impl Chance {
    pub const fn new(seed: u64) -> Chance {
        Chance { seed, drawn: BTreeMap::new() }
    }

    /// The share of orders with at least this statistic.
    fn p(&mut self, n: usize, statistic: f64) -> f64 {
        let seed = self.seed;
        let law =
            self.drawn.entry(n).or_insert_with(|| law(n, &mut Rng::derive(seed, &format!("change {n}"))));
        let above = law.len() - law.partition_point(|drawn| *drawn < statistic);
        (above + 1) as f64 / (law.len() + 1) as f64
    }
}

/// The statistic of random orders, ascending.
fn law(n: usize, rng: &mut Rng) -> Vec<f64> {
    let mut ranks: Vec<f64> = (1..=n).map(|rank| rank as f64).collect();
    let mut all: Vec<f64> = (0..DRAWS)
        .map(|_| {
            rng.shuffle(&mut ranks);
            clearest(&sums(&ranks))
        })
        .collect();
    all.sort_by(f64::total_cmp);
    all
}

/// The one lasting change of a series, whatever its p; `None` where no part of it is a step that lasts. Equal values
/// are put in a random order.
pub fn change(values: &[f64], chance: &mut Chance, rng: &mut Rng) -> Result<Option<Change>, Unfit> {
    check(values)?;
    let n = values.len();
    if n < LEAST_OF_ALL {
        return Err(Unfit::TooFew { have: n, need: LEAST_OF_ALL });
    }
    if n > MOST {
        return Err(Unfit::Argument("more values than a change is looked for in"));
    }
    let sums = sums(&ranks(values, rng));
    let place = |k: &usize| sums[*k] * sums[*k] / (*k * (n - *k)) as f64;
    let first = (LEAST..=n - LEAST).max_by(|a, b| place(a).total_cmp(&place(b)));
    let Some(first) = first.filter(|first| is_step(values, *first)) else { return Ok(None) };
    let (before, after) = values.split_at(first);
    let p = chance.p(n, clearest(&sums));
    let (shift, interval) = shift(before, after);
    Ok(Some(Change { first, shift, interval, p }))
}

/// Ranks from 1, equal values in a random order.
fn ranks(values: &[f64], rng: &mut Rng) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    rng.shuffle(&mut order);
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    for (rank, place) in order.into_iter().enumerate() {
        ranks[place] = (rank + 1) as f64;
    }
    ranks
}

/// Sums of the first k ranks less their mean, from k = 0 on.
fn sums(ranks: &[f64]) -> Vec<f64> {
    let mean = (ranks.len() + 1) as f64 / 2.0;
    let mut sum = 0.0;
    let next = |rank: &f64| {
        sum += rank - mean;
        sum
    };
    std::iter::once(0.0).chain(ranks.iter().map(next)).collect::<Vec<f64>>()
}

/// The largest self-normalised sum: each sum's square over the squares by which sums within both parts stray.
fn clearest(sums: &[f64]) -> f64 {
    let n = sums.len() - 1;
    let squares = |m: f64| m * (m + 1.0) * (2.0 * m + 1.0) / 6.0;
    // Of all sums, then of those before k: squares, and sums by their distance from either end.
    let total = |weigh: &dyn Fn(usize, f64) -> f64| -> f64 {
        sums[..n].iter().enumerate().map(|(at, sum)| weigh(at, *sum)).sum()
    };
    let all_squares = total(&|_, sum| sum * sum);
    let all_from_end = total(&|at, sum| (n - at) as f64 * sum);
    let (mut before, mut from_start, mut from_end, mut best) = (0.0, 0.0, 0.0, 0.0_f64);
    for (k, sum) in sums.iter().enumerate().take(n + 1 - LEAST) {
        if k >= LEAST {
            let (left, right) = (k as f64, (n - k) as f64);
            let (to_left, to_right) = (sum / left, sum / right);
            let within_left = before + sum * sum - 2.0 * to_left * (from_start + left * sum)
                + to_left * to_left * squares(left);
            let within_right = (all_squares - before) - 2.0 * to_right * (all_from_end - from_end)
                + to_right * to_right * squares(right);
            best = best.max(sum * sum / (within_left + within_right).max(1e-9));
        }
        before += sum * sum;
        from_start += k as f64 * sum;
        from_end += (n - k) as f64 * sum;
    }
    best
}

/// True if the level steps at this place and stays: each third of either part is on its own side, and so are the values
/// beside the place.
fn is_step(values: &[f64], first: usize) -> bool {
    let (before, after) = values.split_at(first);
    let levels = median(before).zip(median(after));
    let Some((old, new)) = levels.filter(|(old, new)| old != new) else { return false };
    let near = median(&before[before.len() - NEAR..]).zip(median(&after[..NEAR]));
    let is_sharp = near.is_some_and(|(last, next)| (next - last) / (new - old) >= SHARP);
    let middle = old.midpoint(new);
    let thirds = |part: &[f64], is_new: bool| {
        part.chunks(part.len().div_ceil(3))
            .filter_map(median)
            .all(|level| ((level > middle) == (new > old)) == is_new)
    };
    let strayed = |part: &[f64], is_new: bool| {
        let count = part.iter().filter(|level| ((**level > middle) == (new > old)) != is_new).count();
        count as f64 <= STRAYED * part.len() as f64
    };
    is_sharp && thirds(before, false) && thirds(after, true) && strayed(before, false) && strayed(after, true)
}

/// Independent values that tell as much as one.
fn worth(part: &[f64]) -> f64 {
    effective_n(part.len(), lag1(part)) / part.len() as f64
}

/// The median of all differences between the two parts, with its interval, wider where neighbours resemble each other.
fn shift(before: &[f64], after: &[f64]) -> (f64, Interval) {
    let mut all: Vec<f64> = after.iter().flat_map(|new| before.iter().map(move |old| new - old)).collect();
    all.sort_by(f64::total_cmp);
    let (m, n) = (before.len() as f64, after.len() as f64);
    let widened = worth(before).min(worth(after)).sqrt();
    let half = normal_quantile(1.0 - ALPHA / 2.0) * (m * n * (m + n + 1.0) / 12.0).sqrt() / widened;
    let last = all.len() - 1;
    let at = |place: f64| all[(place.round().max(0.0) as usize).min(last)];
    let centre = last as f64 / 2.0;
    (
        at(centre.floor()).midpoint(at(centre.ceil())),
        Interval { low: at(centre - half), high: at(centre + half), level: LEVEL },
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::rng::Rng;

    /// Values of which neighbours resemble each other by so much.
    fn alike(n: usize, resembles: f64, rng: &mut Rng) -> Vec<f64> {
        let mut level = rng.normal() / (1.0 - resembles * resembles).sqrt();
        let next = |_| {
            level = resembles * level + rng.normal();
            level
        };
        (0..n).map(next).collect()
    }

    fn stepped(n: usize, at: usize, by: f64, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed);
        (0..n).map(|place| 0.2 * rng.normal() + if place < at { 0.0 } else { by }).collect()
    }

    fn found(values: &[f64]) -> Option<Change> {
        change(values, &mut Chance::new(1), &mut Rng::new(1)).unwrap()
    }

    /// Sums within both parts, one by one.
    fn slow(sums: &[f64]) -> f64 {
        let n = sums.len() - 1;
        let of = |k: usize| {
            let left = (1..=k).map(|t| (sums[t] - t as f64 / k as f64 * sums[k]).powi(2)).sum::<f64>();
            let right =
                (k..n).map(|t| (sums[t] - (n - t) as f64 / (n - k) as f64 * sums[k]).powi(2)).sum::<f64>();
            sums[k] * sums[k] / (left + right).max(1e-9)
        };
        (LEAST..=n - LEAST).map(of).fold(0.0, f64::max)
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let change = found(&stepped(96, 58, 5f64.ln(), 3)).unwrap();
        assert_eq!(change.first, 58);
        assert!(change.p <= 2e-4, "{change:?}");
        let interval = change.interval;
        assert!(interval.contains(5f64.ln()) && interval.high - interval.low < 0.4, "{change:?}");
        let down = found(&stepped(96, 30, -0.7, 4)).unwrap();
        assert!(down.first.abs_diff(30) <= 1 && down.interval.high < -0.5 && down.p < 1e-3, "{down:?}");
    }

    #[test]
    fn what_comes_back_or_rises_slowly_is_none() {
        let episode: Vec<f64> = stepped(96, 40, 1.5, 5)
            .iter()
            .enumerate()
            .map(|(at, v)| if at < 70 { *v } else { v - 1.5 })
            .collect();
        assert_eq!(found(&episode), None);
        let mut rng = Rng::new(6);
        let rise: Vec<f64> = (0..96).map(|at| at as f64 / 60.0 + 0.05 * rng.normal()).collect();
        assert_eq!(found(&rise), None);
        let day: Vec<f64> = (0..96).map(|at| (f64::from(at) / 15.3).cos() + 0.05 * rng.normal()).collect();
        assert_eq!(found(&day), None);
        assert_eq!(found(&[1.0; 96]), None);
    }

    #[test]
    fn one_value_is_no_change() {
        let mut values = stepped(96, 96, 0.0, 7);
        values[50] = 1e6;
        assert!(found(&values).is_none_or(|change| change.p > 0.01 && change.shift.abs() < 0.5));
    }

    #[test]
    fn the_false_alarm_rate_is_held() {
        const SERIES: usize = 2_000;
        let (mut chance, mut rng) = (Chance::new(9), Rng::new(20_261_127));
        // Of neighbours that resemble each other much, the step and its lasting are what holds it.
        for (resembles, n) in [(0.0, 24), (0.0, 96), (0.3, 96), (0.6, 96), (0.8, 96)] {
            let alarms = (0..SERIES)
                .filter(|_| {
                    let values = alike(n, resembles, &mut rng);
                    let found = change(&values, &mut chance, &mut rng).unwrap();
                    found.is_some_and(|change| change.p <= 0.05)
                })
                .count();
            assert!(alarms as f64 <= 0.05 * SERIES as f64, "{resembles}, {n}: {alarms}");
        }
    }

    #[test]
    fn intervals_hold_the_shift() {
        let held = (0..400).filter(|seed| {
            let values = stepped(96, 40, 1.0, 100 + seed);
            shift(&values[..40], &values[40..]).1.contains(1.0)
        });
        assert!(held.count() >= 370);
    }

    #[test]
    fn what_cannot_be_looked_at_is_refused() {
        let mut chance = Chance::new(1);
        let mut of = |n: usize| change(&vec![0.0; n], &mut chance, &mut Rng::new(1));
        assert_eq!(of(23), Err(Unfit::TooFew { have: 23, need: LEAST_OF_ALL }));
        assert!(of(MOST + 1).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn same_as_summing_one_by_one(values in prop::collection::vec(-9.0..9.0_f64, 24..60)) {
            let sums = sums(&ranks(&values, &mut Rng::new(1)));
            let (fast, slow) = (clearest(&sums), slow(&sums));
            prop_assert!((fast - slow).abs() <= 1e-6 * slow.max(1.0), "{fast} {slow}");
        }

        #[test]
        fn turned_values_have_the_same_moment(
            values in prop::collection::vec(-9.0..9.0_f64, 24..60),
            by in 4.0..30.0_f64,
        ) {
            // Equal values would be put in a random order.
            let moved = |at: usize, v: f64| v + at as f64 * 1e-7 + if at < 12 { 0.0 } else { by };
            let up: Vec<f64> = values.iter().enumerate().map(|(at, v)| moved(at, *v)).collect();
            let down: Vec<f64> = up.iter().map(|v| -v).collect();
            let (up, down) = (found(&up), found(&down));
            prop_assert_eq!(up.map(|one| (one.first, one.p)), down.map(|one| (one.first, one.p)));
            prop_assert!(up.zip(down).is_none_or(|(up, down)| (up.shift + down.shift).abs() < 1e-9));
        }
    }
}
