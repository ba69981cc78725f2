//! Spearman's rank correlation with its two-sided p-value.
//!
//! Up to [`EXACT_MAX`] pairs every order is counted; above, Student's t with n - 2 degrees of freedom,
//! held above 2 / n!, the smallest p that exists. Ties get midranks.

use std::sync::OnceLock;

use crate::distributions::student_p;
use crate::unfit::{Unfit, check};

/// Most pairs for which every order is counted (8! = 40,320).
pub const EXACT_MAX: usize = 8;

/// A rank correlation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spearman {
    pub rho: f64,
    pub p: f64,
}

/// Rank correlation of values that belong together by position. Fails when the lists differ in length, are too short,
/// or have no spread.
pub fn spearman(x: &[f64], y: &[f64]) -> Result<Spearman, Unfit> {
    if x.len() != y.len() {
        return Err(Unfit::Unequal { left: x.len(), right: y.len() });
    }
    check(x)?;
    check(y)?;
    let n = x.len();
    if n < 3 {
        return Err(Unfit::TooFew { have: n, need: 3 });
    }
    let (x, y) = (centred_midranks(x), centred_midranks(y));
    let scale = (dot(&x, &x) * dot(&y, &y)).sqrt();
    if scale == 0.0 {
        return Err(Unfit::NoSpread);
    }
    let product = dot(&x, &y);
    let rho = (product / scale).clamp(-1.0, 1.0);
    let p = if n <= EXACT_MAX { exact_p(&x, &y, product) } else { t_p(rho, n) };
    Ok(Spearman { rho, p })
}

fn t_p(rho: f64, n: usize) -> f64 {
    let dof = n as f64 - 2.0;
    let t = rho * (dof / ((1.0 - rho) * (1.0 + rho))).sqrt();
    let orders: f64 = (2..=n.min(170)).map(|i| i as f64).product();
    student_p(t, dof).max(2.0 / orders).min(1.0)
}

/// Of untied ranks, by the number of pairs: how many orders have a product so many quarters from zero, or farther.
static UNTIED: [OnceLock<Vec<u32>>; EXACT_MAX + 1] = [const { OnceLock::new() }; EXACT_MAX + 1];

/// Share of all orders of `y` whose product with `x` is at least as far from zero. Those of untied ranks are counted
/// once.
fn exact_p(x: &[f64], y: &[f64], product: f64) -> f64 {
    let known = if is_untied(x) && is_untied(y) { UNTIED.get(x.len()) } else { None };
    let own;
    let as_far = match known {
        Some(known) => known.get_or_init(|| orders_as_far(x, y)),
        None => {
            own = orders_as_far(x, y);
            &own
        }
    };
    let far = as_far.get(quarters(product)).copied().unwrap_or_default();
    f64::from(far) / f64::from(as_far.first().copied().unwrap_or(1))
}

fn is_untied(ranks: &[f64]) -> bool {
    let mut sorted = ranks.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.windows(2).all(|pair| pair[0] < pair[1])
}

/// Products of midranks are multiples of a quarter.
fn quarters(product: f64) -> usize {
    (4.0 * product.abs()).round() as usize
}

/// Counts all orders of `y` by the distance of their product with `x` from zero (Heap's algorithm): how many are so
/// many quarters from it, or farther.
fn orders_as_far(x: &[f64], y: &[f64]) -> Vec<u32> {
    let most = quarters((dot(x, x) * dot(y, y)).sqrt());
    let mut counts = vec![0_u32; most + 1];
    let mut count = |product: f64| counts[quarters(product).min(most)] += 1;
    let mut y = y.to_vec();
    count(dot(x, &y));
    let mut counters = vec![0; y.len()];
    let mut i = 1;
    while i < y.len() {
        if counters[i] < i {
            y.swap(if i % 2 == 0 { 0 } else { counters[i] }, i);
            count(dot(x, &y));
            counters[i] += 1;
            i = 1;
        } else {
            counters[i] = 0;
            i += 1;
        }
    }
    for at in (0..most).rev() {
        counts[at] += counts[at + 1];
    }
    counts
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Midranks less their mean.
fn centred_midranks(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; n];
    let mut start = 0;
    while start < n {
        let mut end = start + 1;
        while end < n && values[order[end]] == values[order[start]] {
            end += 1;
        }
        let rank = (start + end + 1) as f64 / 2.0 - (n + 1) as f64 / 2.0;
        for i in &order[start..end] {
            ranks[*i] = rank;
        }
        start = end;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn perfect_order() {
        let x = [1.0, 2.0, 3.0, 4.0, 5.0];
        let up = spearman(&x, &[10.0, 20.0, 25.0, 60.0, 61.0]).expect("fit");
        assert!((up.rho - 1.0).abs() < 1e-12 && (up.p - 2.0 / 120.0).abs() < 1e-12);
        let down = spearman(&x, &[5.0, 4.0, 3.0, 2.0, 1.0]).expect("fit");
        assert!((down.rho + 1.0).abs() < 1e-12 && (down.p - 2.0 / 120.0).abs() < 1e-12);
        let long: Vec<f64> = (0..200).map(f64::from).collect();
        assert!(spearman(&long, &long).expect("fit").p < 1e-100);
    }

    #[test]
    fn every_order_counts_with_ties_and_without() {
        // Ranks -1, 0, 1 give products 2, 1, 1, -1, -1, -2.
        let x = [1.0, 2.0, 3.0];
        let p = |y: &[f64]| spearman(&x, y).expect("fit").p;
        assert!((p(&[5.0, 6.0, 7.0]) - 2.0 / 6.0).abs() < 1e-12);
        assert!((p(&[5.0, 7.0, 6.0]) - 1.0).abs() < 1e-12);
        // Ranks -0.5, -0.5, 1 give products 1.5, 0, -1.5, twice each.
        assert!((p(&[5.0, 5.0, 7.0]) - 4.0 / 6.0).abs() < 1e-12);
        assert!((p(&[5.0, 7.0, 5.0]) - 1.0).abs() < 1e-12);
        // The second of one length finds what the first counted, in whatever order its values are.
        let eight: Vec<f64> = (0..8).map(f64::from).collect();
        let turned: Vec<f64> = eight.iter().rev().copied().collect();
        for y in [&eight, &turned, &eight] {
            assert!((spearman(&turned, y).expect("fit").p - 2.0 / 40_320.0).abs() < 1e-15);
        }
    }

    #[test]
    fn unfit_input() {
        assert_eq!(spearman(&[1.0], &[]), Err(Unfit::Unequal { left: 1, right: 0 }));
        assert_eq!(spearman(&[1.0, 2.0], &[1.0, 2.0]), Err(Unfit::TooFew { have: 2, need: 3 }));
        assert_eq!(spearman(&[1.0, 2.0, 3.0], &[4.0; 3]), Err(Unfit::NoSpread));
        assert!(spearman(&[1.0, 2.0, f64::NAN], &[1.0; 3]).is_err());
    }
}
