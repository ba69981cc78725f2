//! How much successive values resemble each other, and how many independent values they stand for.
//!
//! Lag 1 only: longer periods are not looked for (a slow drift shows at lag 1 as well).
//!
//! Two thresholds, since the two errors cost differently. Above 0.3 the interval is widened: that is cheap, and right
//! for takes that do resemble each other. But independent takes exceed 0.3 in 6 to 8 % of series of 8 to 12 values, so
//! that most runs of 20 figures would show a doubt that means nothing. A doubt is said only where independent values
//! reach the coefficient less than once in a hundred. What is missed so among few takes is the word, never the wider
//! interval.

/// Above this lag-1 autocorrelation a series counts as fewer values.
pub const WIDENED: f64 = 0.3;
/// Largest coefficient that is reckoned with.
const MOST: f64 = 0.99;
/// How often independent values may be called alike.
pub const CHANCE: f64 = 0.01;

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

/// True if n independent values would exceed this coefficient less often than [`CHANCE`], one-sided. Normal
/// approximation with mean -1 / n and variance (n - 2)^2 / (n^2 (n - 1)).
pub fn beyond_chance(lag1: f64, n: usize) -> bool {
    let n = n as f64;
    let spread = (n - 2.0) / (n * (n - 1.0).sqrt());
    n > 3.0 && (lag1 + 1.0 / n) / spread > crate::distributions::normal_quantile(1.0 - CHANCE)
}

/// The coefficient without its bias: among n values it comes out too small by about (1 + 4 r) / n (Marriott and Pope,
/// Kendall).
pub fn corrected(lag1: f64, n: usize) -> f64 {
    let n = n as f64;
    if n > 4.0 { ((lag1 * n + 1.0) / (n - 4.0)).clamp(-1.0, MOST) } else { lag1 }
}

/// Number of independent values that tell as much. Where the corrected coefficient is above [`WIDENED`], it is
/// n (1 - r) / (1 + r) with r one standard error above it, since few values know it badly and too little is the
/// costlier error; else n itself. Never below one.
pub fn effective_n(n: usize, lag1: Option<f64>) -> f64 {
    match lag1 {
        Some(r) if corrected(r, n) > WIDENED => fewest(n, r, 1.0),
        _ => n as f64,
    }
}

/// Number of independent values that tell as much, with the corrected coefficient so many standard errors higher,
/// however small it is. Never below one.
pub fn fewest(n: usize, lag1: f64, errors: f64) -> f64 {
    let (count, r) = (n as f64, corrected(lag1, n).max(0.0));
    let r = (r + errors * ((1.0 - r * r).max(0.05) / count).sqrt()).min(MOST);
    (count * (1.0 - r) / (1.0 + r)).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn by_hand() {
        // Mean 2.5, deviations -1.5 -0.5 0.5 1.5: (0.75 - 0.25 + 0.75) / 5.
        assert_eq!(lag1(&[1.0, 2.0, 3.0, 4.0]), Some(0.25));
        assert_eq!(lag1(&[1.0, 2.0, 3.0]), None);
        assert_eq!(lag1(&[5.0; 8]), None);
        assert!(lag1(&[1.0, -1.0, 1.0, -1.0, 1.0, -1.0]).is_some_and(|r| r < -0.7));
    }

    #[test]
    fn independent_values_are_hardly_ever_called_alike() {
        const SERIES: usize = 20_000;
        let mut rng = Rng::new(20_261_121);
        for n in [8, 10, 12, 22, 50] {
            let (mut over, mut called) = (0, 0);
            for _ in 0..SERIES {
                let values: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
                let r = lag1(&values).expect("values that differ");
                over += usize::from(r > WIDENED);
                called += usize::from(r > WIDENED && beyond_chance(r, n));
            }
            let share = |count: usize| count as f64 / SERIES as f64;
            assert!(share(called) <= 0.02, "n = {n}: {}", share(called));
            assert!(n > 12 || (0.04..0.09).contains(&share(over)), "n = {n}: {}", share(over));
        }
    }

    #[test]
    fn takes_that_resemble_each_other_are_called_so() {
        const SERIES: usize = 1_000;
        let mut rng = Rng::new(3);
        let called = (0..SERIES).filter(|_| {
            let mut level = 0.0;
            let next = |_| {
                level = 0.8 * level + rng.normal();
                level
            };
            let values: Vec<f64> = (0..50).map(next).collect();
            lag1(&values).is_some_and(|r| beyond_chance(r, 50))
        });
        assert!(called.count() > SERIES * 9 / 10);
        assert!(!beyond_chance(1.0, 3) && !beyond_chance(f64::NAN, 12));
    }

    #[test]
    fn only_a_clear_resemblance_costs_values() {
        assert_eq!(effective_n(10, Some(0.05)), 10.0);
        assert_eq!(effective_n(10, Some(-0.9)), 10.0);
        assert_eq!(effective_n(10, None), 10.0);
        // Corrected 16 / 26, and one standard error more.
        assert!((corrected(0.5, 30) - 16.0 / 26.0).abs() < 1e-12);
        assert!((4.0..5.0).contains(&effective_n(30, Some(0.5))));
        assert_eq!(effective_n(10, Some(1.0)), 1.0);
    }
}
