//! The normal, Student's t and the fair-coin binomial distribution, as far as intervals need them.
//!
//! Arguments outside a function's domain give `NaN`, never a panic. No other distribution is here.

use std::sync::OnceLock;

use statrs::distribution::{ContinuousCDF, FisherSnedecor, Normal, StudentsT};
use statrs::function::gamma::ln_gamma;

use crate::ALPHA;

/// Above this many degrees of freedom t is the normal to more digits than anyone prints.
const NORMAL_ABOVE: f64 = 1e7;

/// Fewer degrees of freedom than this mean nothing and are refused.
const FEWEST: f64 = 0.01;

/// Quantiles of whole degrees of freedom at `1 - ALPHA / 2`, which the intervals of all takes ask for.
static OF_TAKES: [OnceLock<f64>; 64] = [const { OnceLock::new() }; 64];

/// P(Z <= z) of the standard normal.
pub fn normal_cdf(z: f64) -> f64 {
    Normal::standard().cdf(z)
}

/// The z with P(Z <= z) = p; infinite at 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    Normal::standard().inverse_cdf(p)
}

/// The f with P(F <= f) = p, for a ratio of variances of `over` and `under` degrees of freedom.
pub fn fisher_quantile(p: f64, over: f64, under: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return f64::NAN;
    }
    FisherSnedecor::new(over, under).map_or(f64::NAN, |d| d.inverse_cdf(p))
}

/// The second derivative of ln gamma, for x > 0: shifted upwards, then the asymptotic series.
pub fn trigamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let i = 1.0 / x;
    sum + i + i * i / 2.0 + i.powi(3) / 6.0 - i.powi(5) / 30.0 + i.powi(7) / 42.0
}

/// P(T <= t) with `dof` degrees of freedom (0.01 or more).
pub fn student_cdf(t: f64, dof: f64) -> f64 {
    if t > 0.0 { 1.0 - upper_tail(t, dof) } else { upper_tail(-t, dof) }
}

/// Two-sided p-value of a t statistic: P(|T| >= |t|).
pub fn student_p(t: f64, dof: f64) -> f64 {
    2.0 * upper_tail(t.abs(), dof)
}

/// P(T >= t) for t >= 0, without the cancellation of 1 - cdf.
fn upper_tail(t: f64, dof: f64) -> f64 {
    if t.is_nan() || dof.is_nan() || dof < FEWEST {
        return f64::NAN;
    }
    if t.is_infinite() {
        return if t > 0.0 { 0.0 } else { 1.0 };
    }
    if dof > NORMAL_ABOVE {
        return Normal::standard().sf(t);
    }
    StudentsT::new(0.0, 1.0, dof).map_or(f64::NAN, |d| d.sf(t))
}

/// The t with P(T <= t) = p; infinite at 0 and 1.
pub fn student_quantile(p: f64, dof: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) || dof.is_nan() || dof < FEWEST {
        return f64::NAN;
    }
    if p < 0.5 {
        return -student_quantile(1.0 - p, dof);
    }
    let tail = 1.0 - p;
    if tail == 0.0 {
        return f64::INFINITY;
    }
    if dof > NORMAL_ABOVE {
        return normal_quantile(p);
    }
    let is_of_takes = p == 1.0 - ALPHA / 2.0 && dof.fract() == 0.0;
    match OF_TAKES.get(dof as usize).filter(|_| is_of_takes) {
        Some(known) => *known.get_or_init(|| quantile_of_tail(tail, dof)),
        None => quantile_of_tail(tail, dof),
    }
}

/// The t with P(T >= t) = `tail`.
fn quantile_of_tail(tail: f64, dof: f64) -> f64 {
    // The tail falls steadily in t: bracket, then halve until neighbouring numbers are left.
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    while upper_tail(high, dof) > tail && high < 1e300 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            break;
        }
        if upper_tail(middle, dof) > tail { low = middle } else { high = middle }
    }
    low.midpoint(high)
}

/// P(X <= k) for X = heads in `n` tosses of a fair coin.
pub(crate) fn coin_cdf(k: usize, n: usize) -> f64 {
    if k >= n {
        return 1.0;
    }
    if 2 * k >= n {
        return 1.0 - coin_cdf(n - k - 1, n);
    }
    let ln_count = ln_gamma(n as f64 + 1.0) - ln_gamma(k as f64 + 1.0) - ln_gamma((n - k) as f64 + 1.0);
    let mut term = (ln_count - n as f64 * std::f64::consts::LN_2).exp();
    let mut sum = 0.0;
    // Each term is the one above it times j / (n - j + 1), below one here.
    for j in (0..=k).rev() {
        sum += term;
        term *= j as f64 / (n - j + 1) as f64;
        if term < sum * 1e-17 {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantile_inverts_the_distribution() {
        for dof in [0.7, 1.0, 2.0, 5.5, 9.0, 48.0, 1e3, 1e5, 1e8] {
            for p in [1e-6, 0.001, 0.025, 0.3, 0.5, 0.9, 0.975, 0.9999] {
                let back = student_cdf(student_quantile(p, dof), dof);
                assert!((back - p).abs() < 1e-9, "dof {dof} p {p} back {back}");
            }
        }
    }

    #[test]
    fn a_quantile_that_is_kept_is_that_of_its_own_degrees_of_freedom() {
        let p = 1.0 - ALPHA / 2.0;
        for dof in [1.0, 7.0, 7.5, 63.0, 64.0, 7.0, 1.0] {
            assert_eq!(student_quantile(p, dof).to_bits(), quantile_of_tail(1.0 - p, dof).to_bits(), "{dof}");
        }
    }

    #[test]
    fn outside_the_domain_is_not_a_number() {
        assert!(student_quantile(0.5, -1.0).is_nan());
        assert!(student_quantile(1.5, 3.0).is_nan());
        assert!(student_cdf(f64::NAN, 3.0).is_nan());
        assert!(student_p(1.0, 0.0).is_nan());
        assert!(normal_quantile(-0.1).is_nan());
        assert_eq!(student_quantile(1.0, 3.0), f64::INFINITY);
        assert_eq!((student_p(f64::INFINITY, 3.0), student_p(0.0, 3.0)), (0.0, 1.0));
    }

    #[test]
    fn coin_tosses_by_hand() {
        assert!((coin_cdf(0, 6) - 1.0 / 64.0).abs() < 1e-15);
        assert!((coin_cdf(1, 10) - 11.0 / 1024.0).abs() < 1e-15);
        assert!((coin_cdf(4, 9) - 0.5).abs() < 1e-14);
        assert_eq!(coin_cdf(9, 9), 1.0);
        assert!((coin_cdf(49_999, 99_999) - 0.5).abs() < 1e-8);
    }
}
