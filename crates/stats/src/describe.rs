//! Median, quantiles, means and standard deviation of a slice; in the unit of the values.
//!
//! Every function returns `None` where the figure does not exist (no values, a value that is not a
//! number, a logarithm of a non-positive value). Nothing here carries an interval.

/// Ascending copy, or `None` if a value is not a number.
pub(crate) fn sorted(values: &[f64]) -> Option<Vec<f64>> {
    if values.iter().any(|v| v.is_nan()) {
        return None;
    }
    let mut v = values.to_vec();
    v.sort_unstable_by(f64::total_cmp);
    Some(v)
}

/// Median of values that are already ascending.
pub(crate) fn median_sorted(v: &[f64]) -> Option<f64> {
    let n = v.len();
    match n {
        0 => None,
        _ if n % 2 == 1 => Some(v[n / 2]),
        _ => Some(v[n / 2 - 1].midpoint(v[n / 2])),
    }
}

/// Middle value, or the mean of the two middle ones.
pub fn median(values: &[f64]) -> Option<f64> {
    median_sorted(&sorted(values)?)
}

/// Quantile `q` in 0..=1, linear between the neighbouring order statistics (R's type 7).
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    quantile_sorted(&sorted(values)?, q)
}

/// As [`quantile`], for values that are already ascending.
pub fn quantile_sorted(v: &[f64], q: f64) -> Option<f64> {
    if v.is_empty() || !(0.0..=1.0).contains(&q) {
        return None;
    }
    let at = q * (v.len() - 1) as f64;
    let below = at.floor() as usize;
    let above = (below + 1).min(v.len() - 1);
    let part = at - below as f64;
    if part == 0.0 { Some(v[below]) } else { Some(v[below] * (1.0 - part) + v[above] * part) }
}

/// Arithmetic mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    let m = values.iter().sum::<f64>() / values.len() as f64;
    m.is_finite().then_some(m)
}

/// Sample standard deviation (divisor n - 1); `None` below two values.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let m = mean(values)?;
    let sum: f64 = values.iter().map(|v| (v - m) * (v - m)).sum();
    let sd = (sum / (values.len() - 1) as f64).sqrt();
    sd.is_finite().then_some(sd)
}

/// Geometric mean; `None` unless every value is positive.
pub fn geometric_mean(values: &[f64]) -> Option<f64> {
    if values.iter().any(|v| v.is_nan() || *v <= 0.0) {
        return None;
    }
    let logs: Vec<f64> = values.iter().map(|v| v.ln()).collect();
    mean(&logs).map(f64::exp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_is_none() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[1.0, f64::NAN]), None);
        assert_eq!(quantile(&[1.0], 1.5), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(standard_deviation(&[1.0]), None);
        assert_eq!(geometric_mean(&[1.0, 0.0]), None);
        assert_eq!(geometric_mean(&[]), None);
    }

    #[test]
    fn known_values() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(quantile(&[10.0, 20.0, 30.0, 40.0], 0.25), Some(17.5));
        assert_eq!(quantile(&[10.0, 20.0, 30.0, 40.0], 1.0), Some(40.0));
        assert!((geometric_mean(&[1.0, 100.0]).unwrap_or(0.0) - 10.0).abs() < 1e-12);
        assert_eq!(standard_deviation(&[2.0, 4.0]), Some(2f64.sqrt()));
    }
}
