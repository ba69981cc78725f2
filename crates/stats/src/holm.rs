//! Holm's step-down correction: p-values made fit for judging many rows at once.
//!
//! Holds whatever the rows have to do with each other. The family is every row that has a p-value.

/// Adjusted p-values in the order given. A row without a usable p (none, not a number, outside 0..=1)
/// stays `None` and does not count in the family.
pub fn holm(p: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(usize, f64)> = p
        .iter()
        .enumerate()
        .filter_map(|(i, p)| p.filter(|p| (0.0..=1.0).contains(p)).map(|p| (i, p)))
        .collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let m = order.len();
    let mut out = vec![None; p.len()];
    let mut highest = 0.0_f64;
    for (rank, (i, p)) in order.into_iter().enumerate() {
        highest = highest.max(p * (m - rank) as f64).min(1.0);
        out[i] = Some(highest);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn textbook() {
        let got = holm(&[Some(0.01), Some(0.04), Some(0.03), Some(0.005)]);
        let want = [0.03, 0.06, 0.06, 0.02];
        for (g, w) in got.iter().zip(want) {
            assert!((g.unwrap_or(9.0) - w).abs() < 1e-12);
        }
    }

    #[test]
    fn rows_without_p_stay_out() {
        assert_eq!(holm(&[None, Some(0.02), Some(f64::NAN), Some(2.0)]), [None, Some(0.02), None, None]);
        assert_eq!(holm(&[]), []);
    }

    proptest! {
        #[test]
        fn never_smaller_and_order_kept(p in prop::collection::vec(0.0..=1.0_f64, 1..30)) {
            let some: Vec<_> = p.iter().copied().map(Some).collect();
            let adjusted: Vec<f64> = holm(&some).into_iter().flatten().collect();
            for i in 0..p.len() {
                prop_assert!(adjusted[i] >= p[i] && adjusted[i] <= 1.0);
                for j in 0..p.len() {
                    prop_assert!(p[i] > p[j] || adjusted[i] <= adjusted[j]);
                }
            }
        }
    }
}
