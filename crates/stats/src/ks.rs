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

/// The same between two histograms, as `(upper end, count)` in any order; both must have the same ends where they have
/// any, or the distance is too large. `None` if one counts nothing.
pub fn ks_distance_counts(a: &[(f64, u64)], b: &[(f64, u64)]) -> Option<f64> {
    let total = |counts: &[(f64, u64)]| counts.iter().map(|(_, count)| *count as f64).sum::<f64>();
    let (all_a, all_b) = (total(a), total(b));
    if all_a == 0.0 || all_b == 0.0 || a.iter().chain(b).any(|(end, _)| end.is_nan()) {
        return None;
    }
    let share = |of: f64, sign: f64| move |(end, count): &(f64, u64)| (*end, sign * *count as f64 / of);
    let mut steps: Vec<(f64, f64)> =
        a.iter().map(share(all_a, 1.0)).chain(b.iter().map(share(all_b, -1.0))).collect();
    steps.sort_unstable_by(|x, y| x.0.total_cmp(&y.0));
    let (mut apart, mut most) = (0.0_f64, 0.0_f64);
    for same in steps.chunk_by(|x, y| x.0 == y.0) {
        apart += same.iter().map(|(_, step)| step).sum::<f64>();
        most = most.max(apart.abs());
    }
    Some(most.min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_values() {
        let (a, b) = ([1.0, 1.0, 2.0, 3.0], [1.0, 4.0]);
        let counts = |v: &[f64]| v.iter().map(|x| (*x, 1)).collect::<Vec<_>>();
        assert_eq!(ks_distance_counts(&counts(&a), &counts(&b)), ks_distance(&a, &b));
        assert_eq!(ks_distance_counts(&[(8.0, 3), (2.0, 1)], &[(2.0, 10), (8.0, 30)]), Some(0.0));
        assert_eq!(ks_distance_counts(&[(1.0, 5)], &[(2.0, 7)]), Some(1.0));
        assert_eq!(ks_distance_counts(&[], &[(2.0, 7)]), None);
        let of = |v: &[f64], w: &[f64]| ks_distance_counts(&counts(v), &counts(w));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]), Some(0.0));
        assert_eq!(of(&[1.0, 2.0], &[5000.0, 6000.0]), Some(1.0));
        assert_eq!(of(&[1.0, 2.0], &[2.0, 3.0]), Some(0.5));
        assert_eq!(of(&[1.0], &[]), None);
    }

    #[test]
    fn by_hand() {
        assert_eq!(ks_distance(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        assert_eq!(ks_distance(&[1.0, 2.0], &[2.0, 1.0]), Some(0.0));
        assert_eq!(ks_distance(&[1.0, 1.0, 2.0, 3.0], &[1.0, 4.0]), Some(0.5));
        assert_eq!(ks_distance(&[], &[1.0]), None);
        assert_eq!(ks_distance(&[f64::NAN], &[1.0]), None);
    }
}
