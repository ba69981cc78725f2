//! Fisher's exact test: whether two shares of counts can be alike.
//!
//! Given the sums of both groups, the failures of one follow a hypergeometric distribution; p is the chance of a split
//! that is no more likely than the one that was seen. Counts are taken as independent: of one moment they are not, so
//! that p speaks of that moment and of no other.

use statrs::function::gamma::ln_gamma;

/// Two-sided p for `a` of `n` and `b` of `m`. 1 where one group is empty.
pub fn fisher_exact((a, n): (u64, u64), (b, m): (u64, u64)) -> f64 {
    let (a, b) = (a.min(n), b.min(m));
    if n == 0 || m == 0 {
        return 1.0;
    }
    let all = a + b;
    let (least, most) = (all.saturating_sub(m), all.min(n));
    let choose = |of: u64, k: u64| {
        let ln = |x: u64| ln_gamma(x as f64 + 1.0);
        ln(of) - ln(k) - ln(of - k)
    };
    let ln_p = |x: u64| choose(n, x) + choose(m, all - x) - choose(n + m, all);
    let seen = ln_p(a);
    // As likely as what was seen, but for rounding.
    let limit = seen + 1e-7;
    (least..=most).map(ln_p).filter(|p| *p <= limit).map(f64::exp).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // The lady tasting tea: 3 of 4 and 1 of 4, p = 34 / 70.
        assert!((fisher_exact((3, 4), (1, 4)) - 34.0 / 70.0).abs() < 1e-9);
        assert!((fisher_exact((4, 4), (0, 4)) - 2.0 / 70.0).abs() < 1e-9);
        assert!((fisher_exact((5, 10), (5, 10)) - 1.0).abs() < 1e-9);
        assert!(fisher_exact((61, 338), (0, 325)) < 1e-15);
        assert_eq!((fisher_exact((0, 0), (3, 9)), fisher_exact((0, 5), (0, 9))), (1.0, 1.0));
    }

    #[test]
    fn equal_shares_are_seldom_called_unlike_and_the_sides_are_alike() {
        let mut rng = crate::Rng::new(9);
        let mut called = 0;
        for _ in 0..2_000 {
            let mut drawn = |n: u64| (0..n).filter(|_| rng.uniform() < 0.1).count() as u64;
            let (a, b) = (drawn(120), drawn(90));
            let p = fisher_exact((a, 120), (b, 90));
            assert!((p - fisher_exact((b, 90), (a, 120))).abs() < 1e-9);
            called += u32::from(p <= 0.05);
        }
        // Never more often than stated, but for three standard deviations.
        assert!(called <= 100 + 30, "{called}");
    }
}
