//! Where the level of a series falls for good: two levels, with a rank test and an interval of the place.
//!
//! The fall lies where two levels come closest to the values (by absolute distances). How likely it is by chance is
//! the one-sided rank-sum test of the values before against those after, exact where few are out of order, times the
//! places where it could lie. It sees a fall after few values too: Pettitt's statistic leans to the middle, and needs
//! a tenth of all values before it. The interval holds every place whose likelihood (Laplace) is near enough to the
//! best one's. Where values resemble their predecessors at the same level, they count as fewer.
//!
//! Three conditions more, so that neither a slope nor a trifle is called a knee: two levels lie closer to the values
//! than a straight line does, the fall is more than 2 %, and each level has three values.

use crate::autocorrelation::{beyond_chance, effective_n, fewest, lag1};
use crate::describe::{median, median_sorted};
use crate::distributions::normal_cdf;
use crate::drift::{CHANGE, P};
use crate::trend::trend;
use crate::unfit::{Unfit, check};

/// Values that make a level.
const LEAST: usize = 3;
/// Logarithm of a likelihood ratio that the place of a change exceeds in 5 % of cases: on either side the likelihood
/// rises above that of the true place by an exponential amount.
const PLACE: f64 = 3.676;
/// Pairs out of order up to which the test is exact.
const EXACT: usize = 200;

/// How often a part between two falls is looked at again.
const DEPTH: u32 = 3;
/// Values that a line is drawn through: slopes of all pairs are formed.
const LINE: usize = 600;

/// A fall from one level to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// The first value at the new level.
    pub at: usize,
    /// The least and most that this place may be, 95 %.
    pub within: (usize, usize),
    /// Medians before and from there on.
    pub before: f64,
    pub after: f64,
    /// One-sided, of a fall anywhere.
    pub p: f64,
}

/// The fewest values of a level that `n` values can tell from the others; `None` where they can tell no fall at all.
pub fn least_level(n: usize) -> Option<usize> {
    let places = places(n);
    (LEAST..=n / 2).find(|level| places > 0.0 && places.ln() - ways(n, *level) < P.ln())
}

/// The fewest values that can tell any fall.
pub fn least_values() -> usize {
    (2 * LEAST..).find(|n| least_level(*n).is_some()).unwrap_or(usize::MAX)
}

/// The falls of logarithms in order of time, turned so that higher is better: one of all, then those on either side of
/// it. Fails when a value is not a number, or when there are too few to tell any.
pub fn falls(values: &[f64]) -> Result<Vec<Knee>, Unfit> {
    check(values)?;
    if least_level(values.len()).is_none() {
        return Err(Unfit::TooFew { have: values.len(), need: least_values() });
    }
    Ok(Levels::find(values, DEPTH).falls)
}

/// The levels of values.
struct Levels {
    falls: Vec<Knee>,
    /// The values without the levels.
    beside: Vec<f64>,
}

impl Levels {
    /// A single level.
    fn one(values: &[f64]) -> Levels {
        let level = median(values).unwrap_or_default();
        Levels { falls: Vec::new(), beside: values.iter().map(|value| value - level).collect() }
    }

    /// The levels on either side are looked for first, so that a further fall is not taken for values that resemble
    /// each other.
    fn find(values: &[f64], depth: u32) -> Levels {
        let n = values.len();
        let distances = if least_level(n).is_some() && depth > 0 { distances(values) } else { Vec::new() };
        let Some((at, best)) = distances.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return Levels::one(values);
        };
        let (of_before, of_after) =
            (Levels::find(&values[..at], depth - 1), Levels::find(&values[at..], depth - 1));
        let beside = [of_before.beside, of_after.beside].concat();
        let effective = effective(&beside);
        let p = (chance(values, at) * effective / n as f64).exp() * places(n);
        let (Some(before), Some(after)) = (median(&values[..at]), median(&values[at..])) else {
            return Levels::one(values);
        };
        if after - before >= (1.0 - CHANGE).ln() || p >= P || is_line(values, best) {
            return Levels::one(values);
        }
        let near =
            |(_, distance): &&(usize, f64)| *distance <= best || (distance / best).ln() * effective <= PLACE;
        let near = distances.iter().filter(near).map(|(at, _)| *at);
        let within = (near.clone().min().unwrap_or(at), near.max().unwrap_or(at));
        let mut falls = of_before.falls;
        falls.push(Knee { at, within, before, after, p: p.min(1.0) });
        falls.extend(of_after.falls.into_iter().map(|knee| knee.later(at)));
        Levels { falls, beside }
    }
}

impl Knee {
    fn later(self, by: usize) -> Knee {
        Knee { at: self.at + by, within: (self.within.0 + by, self.within.1 + by), ..self }
    }
}

/// The number of independent values that tell as much.
fn effective(beside: &[f64]) -> f64 {
    let n = beside.len();
    match lag1(beside) {
        Some(alike) if beyond_chance(alike, n) => effective_n(n, Some(alike)),
        // Few values show little of how much they resemble each other.
        Some(alike) => fewest(n, alike, 0.0),
        None => n as f64,
    }
}

/// Places of a fall among `n` values.
fn places(n: usize) -> f64 {
    (n + 1).saturating_sub(2 * LEAST) as f64
}

/// How far the values lie from two levels, for each place where the second may begin.
fn distances(values: &[f64]) -> Vec<(usize, f64)> {
    let n = values.len();
    let (before, after) = (spreads(values.iter()), spreads(values.iter().rev()));
    (LEAST..=n - LEAST).map(|at| (at, before[at - 1] + after[n - at - 1])).collect()
}

/// The distances of the first 1, 2, ... values from their median, added up.
fn spreads<'a>(values: impl Iterator<Item = &'a f64>) -> Vec<f64> {
    let mut sorted: Vec<f64> = Vec::new();
    let next = |value: &f64| {
        sorted.insert(sorted.partition_point(|known| known < value), *value);
        let middle = median_sorted(&sorted).unwrap_or(*value);
        sorted.iter().map(|known| (known - middle).abs()).sum()
    };
    values.map(next).collect()
}

/// A straight line lies as close to the values. It is drawn through some of many.
fn is_line(values: &[f64], distance: f64) -> bool {
    let each = values.len().div_ceil(LINE).max(1);
    let some = values.iter().enumerate().step_by(each);
    let (time, some): (Vec<f64>, Vec<f64>) = some.map(|(i, value)| (i as f64, *value)).unzip();
    trend(&time, &some).is_ok_and(|line| {
        let over = |(i, y): (usize, &f64)| (y - line.start - line.slope * i as f64).abs();
        values.iter().enumerate().map(over).sum::<f64>() <= distance
    })
}

/// Logarithm of the chance that the values from `at` on are as low beside those before it, were all alike.
fn chance(values: &[f64], at: usize) -> f64 {
    let (before, after) = values.split_at(at);
    let n = values.len() as f64;
    let twice: usize = before
        .iter()
        .map(|value| {
            let over = after.iter().filter(|other| *other > value).count();
            2 * over + after.iter().filter(|other| *other == value).count()
        })
        .sum();
    let out_of_order = twice as f64 / 2.0;
    let pairs = (before.len() * after.len()) as f64;
    let z = (pairs / 2.0 - out_of_order - 0.5) / (pairs * (n + 1.0) / 12.0).sqrt();
    let normal = normal_cdf(-z).ln();
    if twice > 2 * EXACT {
        return normal;
    }
    let level = before.len().min(after.len());
    normal.min(orders(level, twice.div_ceil(2)).ln() - ways(values.len(), level))
}

/// How many orders of two groups, the smaller of `level`, have at most so many pairs out of order: partitions into at
/// most `level` parts.
fn orders(level: usize, most: usize) -> f64 {
    let mut counts = vec![0.0; most + 1];
    counts[0] = 1.0;
    for part in 1..=level.min(most) {
        for sum in part..=most {
            counts[sum] += counts[sum - part];
        }
    }
    counts.iter().sum()
}

/// Logarithm of the number of ways to choose `level` of `n`.
fn ways(n: usize, level: usize) -> f64 {
    (0..level).map(|i| ((n - i) as f64 / (i + 1) as f64).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The clearest fall.
    fn knee(values: &[f64]) -> Result<Option<Knee>, Unfit> {
        Ok(falls(values)?.into_iter().min_by(|a, b| a.p.total_cmp(&b.p)))
    }

    /// Logarithms of 100, with 1 % of noise that resembles its predecessor by `phi`, falling to 70 from `at` on.
    fn falling(n: usize, at: usize, phi: f64, rng: &mut Rng) -> Vec<f64> {
        let mut state = 0.0;
        let value = |i| {
            state = phi * state + (1.0 - phi * phi).sqrt() * rng.normal();
            (if i < at { 100.0_f64 } else { 70.0 }).ln() + 0.01 * state
        };
        (0..n).map(value).collect()
    }

    #[test]
    fn a_fall_is_found_where_it_is() {
        let mut rng = Rng::new(4);
        // Few values may resemble each other by chance, and then count as fewer.
        for (n, at, least) in [
            (30, 15, 90),
            (40, 10, 90),
            (200, 50, 98),
            (200, 160, 98),
            (60, 5, 90),
            (300, 4, 90),
            (300, 297, 90),
        ] {
            let found = (0..100).filter_map(|_| knee(&falling(n, at, 0.0, &mut rng)).expect("numbers"));
            let found: Vec<Knee> = found.collect();
            assert!(found.len() >= least, "{n} {at}: {} of 100", found.len());
            for one in found {
                assert!(one.at.abs_diff(at) <= 1, "{n} {at}: {one:?}");
                let is_near = |log: f64, level: f64| (log.exp() / level - 1.0).abs() < 0.02;
                assert!(is_near(one.after, 70.0) && is_near(one.before, 100.0), "{one:?}");
                assert!(one.within.0 <= at && at <= one.within.1, "{n} {at}: {one:?}");
            }
        }
    }

    #[test]
    fn several_falls_are_told_apart() {
        let mut rng = Rng::new(9);
        let level = |i: usize| match i {
            0..10 => 0.0,
            10..190 => -0.2,
            _ => -0.5,
        };
        let values: Vec<f64> = (0..240).map(|i| level(i) + 0.01 * rng.normal()).collect();
        let places: Vec<usize> = falls(&values).expect("numbers").iter().map(|knee| knee.at).collect();
        assert_eq!(places, [10, 190]);
    }

    #[test]
    fn the_interval_of_the_place_misses_as_often_as_it_says() {
        let mut rng = Rng::new(20_261_124);
        for (n, at, sd) in [(60, 20, 0.05), (60, 20, 0.1), (200, 30, 0.1), (200, 100, 0.2)] {
            let mut draw = || -> Vec<f64> {
                (0..n).map(|i| if i < at { 0.0 } else { -0.2 } + sd * rng.normal()).collect()
            };
            let found: Vec<Knee> = (0..500).filter_map(|_| knee(&draw()).expect("numbers")).collect();
            let missed = found.iter().filter(|one| at < one.within.0 || one.within.1 < at).count();
            let share = missed as f64 / found.len() as f64;
            assert!(found.len() > 250 && share <= 0.06, "{n} {at} {sd}: {share} of {}", found.len());
        }
    }

    #[test]
    fn so_few_values_tell_a_fall_and_fewer_do_not() {
        assert_eq!((least_values(), least_level(15)), (16, None));
        for n in [16, 30, 60, 300] {
            let level = least_level(n).expect("enough values");
            // Values that all differ, so that the order alone decides.
            let fall = |at: usize| -> Vec<f64> {
                (0..n).map(|i| if i < at { 0.0 } else { -1.0 } + ((i * 7) % 13) as f64 * 1e-3).collect()
            };
            assert!(knee(&fall(level)).expect("numbers").is_some(), "{n} {level}");
            assert!(level == LEAST || knee(&fall(level - 1)).expect("numbers").is_none(), "{n} {level}");
        }
        assert_eq!(knee(&[1.0; 15]), Err(Unfit::TooFew { have: 15, need: 16 }));
    }

    #[test]
    fn level_series_have_hardly_ever_one() {
        let mut rng = Rng::new(8);
        for (n, phi, most) in
            [(30, 0.0, 4), (30, 0.5, 6), (30, 0.9, 8), (120, 0.0, 4), (120, 0.5, 4), (120, 0.9, 4)]
        {
            let called = (0..400).filter(|_| {
                let level = falling(n, usize::MAX, phi, &mut rng);
                let wide: Vec<f64> = level.iter().map(|value| value * 3.0).collect();
                knee(&wide).expect("numbers").is_some()
            });
            let called = called.count();
            assert!(called <= most, "{called} of 400 at {n} {phi}");
        }
    }

    #[test]
    fn a_slope_a_rise_and_a_trifle_are_none() {
        let mut rng = Rng::new(15);
        let mut noise = |scale: f64| scale * rng.normal();
        let slope: Vec<f64> = (0..60).map(|i| -0.01 * f64::from(i) + noise(0.002)).collect();
        let rise: Vec<f64> = (0..60).map(|i| f64::from(i / 30) * 0.3 + noise(0.01)).collect();
        let trifle: Vec<f64> = (0..60).map(|i| -0.01 * f64::from(i / 30) + noise(0.001)).collect();
        for values in [slope, rise, trifle, vec![1.0; 60]] {
            assert_eq!(knee(&values), Ok(None), "{values:?}");
        }
        assert!(knee(&[1.0, f64::NAN]).is_err());
    }
}
