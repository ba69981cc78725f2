//! Where the level of a series falls for good: a change point with Pettitt's rank test.
//!
//! Pettitt 1979 (Appl. Stat. 28, 126), one-sided, says how likely a fall is; it lies where two levels come closest to
//! the values, since the test's own place leans to the middle. Where values resemble their predecessors at the same
//! level beyond chance, they count as fewer. Three conditions more, so that neither a slope nor a trifle is called a
//! knee: two levels lie closer to the values than a straight line does (by absolute distances), the fall is more than
//! 2 %, and each level has three values.

use crate::autocorrelation::{beyond_chance, effective_n, lag1};
use crate::describe::median;
use crate::drift::{CHANGE, P};
use crate::trend::trend;
use crate::unfit::{Unfit, check};

/// Values that make a level.
const LEAST: usize = 3;

/// A fall from one level to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Knee {
    /// The first value at the new level.
    pub at: usize,
    /// Medians before and from there on.
    pub before: f64,
    pub after: f64,
    /// One-sided, of a fall anywhere.
    pub p: f64,
}

/// The fall of logarithms in time order, turned so that higher is better; `None` where there is none. Fails when a
/// value is not a number.
pub fn knee(values: &[f64]) -> Result<Option<Knee>, Unfit> {
    check(values)?;
    let n = values.len();
    if n < 2 * LEAST {
        return Ok(None);
    }
    let splits = (LEAST..=n - LEAST).filter_map(|at| Levels::split(values, at));
    let Some(levels) = splits.min_by(|a, b| distance(&a.beside).total_cmp(&distance(&b.beside))) else {
        return Ok(None);
    };
    let Levels { at, before, after, beside } = levels;
    let (largest, count) = (largest_fall(values), n as f64);
    let alike = lag1(&beside).filter(|lag1| beyond_chance(*lag1, n));
    let weight = effective_n(n, alike) / count;
    let p = (-6.0 * largest * largest / (count.powi(3) + count * count) * weight).exp();
    let falls = after - before < (1.0 - CHANGE).ln() && p < P;
    let time: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let is_line = trend(&time, values).is_ok_and(|line| {
        let from_line: Vec<f64> =
            time.iter().zip(values).map(|(x, y)| y - line.start - line.slope * x).collect();
        distance(&from_line) <= distance(&beside)
    });
    Ok((falls && !is_line).then_some(Knee { at, before, after, p }))
}

/// Two levels, and what is left of the values beside them.
struct Levels {
    at: usize,
    before: f64,
    after: f64,
    beside: Vec<f64>,
}

impl Levels {
    fn split(values: &[f64], at: usize) -> Option<Levels> {
        let (first, rest) = values.split_at(at);
        let (before, after) = (median(first)?, median(rest)?);
        let beside = first.iter().map(|value| value - before).chain(rest.iter().map(|value| value - after));
        Some(Levels { at, before, after, beside: beside.collect() })
    }
}

fn distance(beside: &[f64]) -> f64 {
    beside.iter().map(|value| value.abs()).sum()
}

/// Pettitt's statistic of a fall: the most pairs across a moment that fall less those that rise.
fn largest_fall(values: &[f64]) -> f64 {
    let sign = |value: &f64| -> f64 {
        values.iter().map(|other| f64::from(i8::from(value > other) - i8::from(value < other))).sum()
    };
    let running = values.iter().scan(0.0, |sum, value| {
        *sum += sign(value);
        Some(*sum)
    });
    running.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

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
        for (n, at, least) in [(30, 15, 95), (40, 10, 95), (200, 50, 98), (200, 160, 98)] {
            let found = (0..100).filter_map(|_| knee(&falling(n, at, 0.0, &mut rng)).expect("numbers"));
            let found: Vec<Knee> = found.collect();
            assert!(found.len() >= least, "{n} {at}: {} of 100", found.len());
            for one in found {
                assert!(one.at.abs_diff(at) <= 1, "{n} {at}: {one:?}");
                let is_near = |log: f64, level: f64| (log.exp() / level - 1.0).abs() < 0.02;
                assert!(is_near(one.after, 70.0) && is_near(one.before, 100.0), "{one:?}");
            }
        }
    }

    #[test]
    fn level_series_have_hardly_ever_one() {
        let mut rng = Rng::new(8);
        for (n, phi, most) in
            [(30, 0.0, 4), (30, 0.5, 8), (30, 0.9, 20), (120, 0.0, 4), (120, 0.5, 4), (120, 0.9, 8)]
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
        for values in [slope, rise, trifle, vec![1.0; 60], vec![1.0, 0.0]] {
            assert_eq!(knee(&values), Ok(None), "{values:?}");
        }
        assert!(knee(&[1.0, f64::NAN]).is_err());
    }
}
