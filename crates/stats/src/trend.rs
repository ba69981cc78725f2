//! How fast values change over x, whatever single values do: the median of all slopes between two of them.
//!
//! Theil 1950, Sen 1968 (J. Am. Stat. Assoc. 63, 1379). The interval is Sen's, from the normal approximation of
//! Kendall's S; where what is left beside the line resembles its predecessor, the variance grows as the number of
//! independent values falls. All pairs are formed, so callers hand over at most some thousand values.

use crate::autocorrelation::{effective_n, lag1};
use crate::describe::{median, median_sorted};
use crate::distributions::normal_quantile;
use crate::effect::Interval;
use crate::unfit::{Unfit, check};
use crate::{LEVEL, MIN_N};

/// A line through values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// Change of a value with one unit of x.
    pub slope: f64,
    /// The value of the line at x = 0.
    pub start: f64,
    pub interval: Interval,
}

/// The line through values over ascending x. Fails below [`MIN_N`] values, or where x has no spread.
pub fn trend(x: &[f64], y: &[f64]) -> Result<Trend, Unfit> {
    if x.len() != y.len() {
        return Err(Unfit::Unequal { left: x.len(), right: y.len() });
    }
    check(x)?;
    check(y)?;
    let n = x.len();
    if n < MIN_N {
        return Err(Unfit::TooFew { have: n, need: MIN_N });
    }
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    let mut slopes: Vec<f64> =
        pairs.filter(|(i, j)| x[*j] > x[*i]).map(|(i, j)| (y[j] - y[i]) / (x[j] - x[i])).collect();
    slopes.sort_unstable_by(f64::total_cmp);
    let slope = median_sorted(&slopes).ok_or(Unfit::NoSpread)?;
    let beside: Vec<f64> = x.iter().zip(y).map(|(x, y)| y - slope * x).collect();
    let start = median(&beside).ok_or(Unfit::NoSpread)?;
    let count = n as f64;
    let wider = count / effective_n(n, lag1(&beside));
    let variance = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0 * wider;
    let reach = normal_quantile(f64::midpoint(1.0, LEVEL)) * variance.sqrt();
    let all = slopes.len() as f64;
    let at = |place: f64| slopes[(place.max(0.0) as usize).min(slopes.len() - 1)];
    let interval =
        Interval { low: at((all - reach) / 2.0 - 1.0), high: at(f64::midpoint(all, reach)), level: LEVEL };
    Ok(Trend { slope, start, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn times(n: usize) -> Vec<f64> {
        (0..n).map(|i| i as f64).collect()
    }

    #[test]
    fn a_line_comes_back_whatever_single_values_do() {
        let x = times(40);
        let mut y: Vec<f64> = x.iter().map(|x| 5.0 - 0.25 * x).collect();
        (y[3], y[20]) = (1e6, -1e6);
        let line = trend(&x, &y).expect("a line");
        assert!((line.slope + 0.25).abs() < 1e-9 && (line.start - 5.0).abs() < 1e-9, "{line:?}");
        assert!(trend(&x[..5], &y[..5]).is_err() && trend(&[1.0; 8], &y[..8]).is_err());
    }

    #[test]
    fn the_interval_misses_as_often_as_it_says() {
        let mut rng = Rng::new(20_261_124);
        for (n, phi, most) in [(12, 0.0, 0.08), (60, 0.0, 0.07), (100, 0.7, 0.09)] {
            let x = times(n);
            let missed = (0..600).filter(|_| {
                let mut state = 0.0;
                let y: Vec<f64> = x
                    .iter()
                    .map(|x| {
                        state = phi * state + rng.normal();
                        0.5 * x + state
                    })
                    .collect();
                let interval = trend(&x, &y).expect("a line").interval;
                !(interval.low <= 0.5 && 0.5 <= interval.high)
            });
            let share = missed.count() as f64 / 600.0;
            assert!(share <= most, "n = {n}, phi = {phi}: {share}");
        }
    }
}
