//! Kolmogorov-Smirnov distance: how far two samples' distributions are apart at most, 0 to 1.
//!
//! The distance only; whether it is more than chance is not said.

use crate::describe::sorted;

/// Largest difference between the two empirical distribution functions; `None` if a sample is empty
/// or holds something that is not a number.
pub fn ks_distance(a: &[f64], b: &[f64]) -> Option<f64> {
    let (a, b) = (sorted(a)?, sorted(b)?);
    if a.is_empty() || b.is_empty() {
        return None;
    }
    let (mut i, mut j, mut most) = (0, 0, 0.0_f64);
    while i < a.len() && j < b.len() {
        let at = a[i].min(b[j]);
        while i < a.len() && a[i] <= at {
            i += 1;
        }
        while j < b.len() && b[j] <= at {
            j += 1;
        }
        most = most.max((i as f64 / a.len() as f64 - j as f64 / b.len() as f64).abs());
    }
    Some(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        assert_eq!(ks_distance(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        assert_eq!(ks_distance(&[1.0, 2.0], &[2.0, 1.0]), Some(0.0));
        assert_eq!(ks_distance(&[1.0, 1.0, 2.0, 3.0], &[1.0, 4.0]), Some(0.5));
        assert_eq!(ks_distance(&[], &[1.0]), None);
        assert_eq!(ks_distance(&[f64::NAN], &[1.0]), None);
    }
}
