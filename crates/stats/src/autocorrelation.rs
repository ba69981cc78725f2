//! How much successive values resemble each other, and how many independent values they stand for.
//!
//! Lag 1 only: longer periods are not looked for (a slow drift shows at lag 1 as well).

/// Above this lag-1 autocorrelation a series is doubtful and counts as fewer values.
pub const DOUBTFUL: f64 = 0.3;

/// Lag-1 autocorrelation of values in time order; `None` below four values or without any spread.
pub fn lag1(values: &[f64]) -> Option<f64> {
    if values.len() < 4 {
        return None;
    }
    let mean = crate::describe::mean(values)?;
    let total: f64 = values.iter().map(|v| (v - mean) * (v - mean)).sum();
    let next: f64 = values.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum();
    let r = next / total;
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

/// Number of independent values that tell as much: n (1 - r) / (1 + r) where r is above
/// [`DOUBTFUL`], else n itself. Never below one.
pub fn effective_n(n: usize, lag1: Option<f64>) -> f64 {
    let n = n as f64;
    match lag1 {
        Some(r) if r > DOUBTFUL => (n * (1.0 - r) / (1.0 + r)).max(1.0),
        _ => n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Mean 2.5, deviations -1.5 -0.5 0.5 1.5: (0.75 - 0.25 + 0.75) / 5.
        assert_eq!(lag1(&[1.0, 2.0, 3.0, 4.0]), Some(0.25));
        assert_eq!(lag1(&[1.0, 2.0, 3.0]), None);
        assert_eq!(lag1(&[5.0; 8]), None);
        assert!(lag1(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]).is_some_and(|r| r < -0.7));
    }

    #[test]
    fn only_a_clear_resemblance_costs_values() {
        assert_eq!(effective_n(10, Some(0.3)), 10.0);
        assert_eq!(effective_n(10, Some(-0.9)), 10.0);
        assert_eq!(effective_n(10, None), 10.0);
        assert!((effective_n(30, Some(0.5)) - 10.0).abs() < 1e-12);
        assert_eq!(effective_n(10, Some(1.0)), 1.0);
    }
}
