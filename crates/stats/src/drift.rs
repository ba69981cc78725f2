//! Detects a series that moved while it was measured.
//!
//! Two conditions at once, so that neither a real but negligible slope nor one lucky half alarms: the halves' medians
//! differ by more than 2 %, and rank correlation with time has p < 0.001. A check of one run; halves of one run say
//! nothing about noise between runs.

use crate::describe::median;
use crate::spearman::spearman;
use crate::unfit::{Unfit, check_positive};

/// Largest change between the halves that is ignored.
pub const CHANGE: f64 = 0.02;
/// Largest p that counts as a trend.
pub const P: f64 = 0.001;

/// How a series moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Median of the second half / median of the first - 1.
    pub change: f64,
    /// Rank correlation with time.
    pub rho: f64,
    pub p: f64,
    /// Both conditions hold.
    pub doubtful: bool,
}

/// Drift of positive values in time order; the middle one of an odd number is in neither half. Fails when a value is
/// not positive, or there are too few.
pub fn drift(values: &[f64]) -> Result<Drift, Unfit> {
    check_positive(values)?;
    let n = values.len();
    if n < 4 {
        return Err(Unfit::TooFew { have: n, need: 4 });
    }
    let (first, second) = (median(&values[..n / 2]), median(&values[n - n / 2..]));
    let (Some(first), Some(second)) = (first, second) else {
        return Err(Unfit::Empty);
    };
    let change = second / first - 1.0;
    let time: Vec<f64> = (0..n).map(|i| i as f64).collect();
    let (rho, p) = match spearman(&time, values) {
        Ok(s) => (s.rho, s.p),
        Err(Unfit::NoSpread) => (0.0, 1.0),
        Err(why) => return Err(why),
    };
    // The first half over the second is the other side of the same change.
    let doubtful = (first / second - 1.0).abs() > CHANGE && p < P;
    Ok(Drift { change, rho, p, doubtful })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn a_slope_is_found_and_a_small_one_is_not() {
        let slope = |step: f64| -> Vec<f64> { (0..20).map(|i| 100.0 + step * f64::from(i)).collect() };
        let d = drift(&slope(0.5)).expect("positive");
        assert!(d.doubtful && d.change > 0.04 && d.rho > 0.99);
        let small = drift(&slope(0.05)).expect("positive");
        assert!(!small.doubtful && small.p < P, "a trend, but under 2 %");
    }

    #[test]
    fn noise_alone_does_not_alarm() {
        let mut rng = Rng::new(21);
        let alarms = (0..2_000)
            .filter(|_| {
                let v: Vec<f64> = (0..12).map(|_| 100.0 * (0.05 * rng.normal()).exp()).collect();
                drift(&v).expect("positive").doubtful
            })
            .count();
        assert!(alarms <= 8, "{alarms} of 2,000 at p < 0.001");
    }

    #[test]
    fn unfit_input_and_equal_values() {
        assert_eq!(drift(&[1.0, 2.0, 3.0]), Err(Unfit::TooFew { have: 3, need: 4 }));
        assert_eq!(drift(&[1.0, 2.0, 3.0, 0.0]), Err(Unfit::NotPositive { index: 3 }));
        let flat = drift(&[5.0; 6]).expect("positive");
        assert_eq!((flat.change, flat.p, flat.doubtful), (0.0, 1.0, false));
    }
}
