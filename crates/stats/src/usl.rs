//! How much more n workers do than one: Gunther's Universal Scalability Law.
//!
//! X(n) = lambda n / (1 + sigma (n - 1) + kappa n (n - 1)): lambda is the rate of one worker, sigma the share of work
//! that waits for its turn (contention), kappa the cost of keeping two of them consistent, by which more may do less
//! (Gunther, Guerrilla Capacity Planning, 2007, chapter 6). n / X is linear in 1 / lambda, sigma / lambda and kappa /
//! lambda, so that it is fitted by least squares of relative errors. Neither sigma nor kappa is below zero: of the fits
//! without one or both of them the best possible one counts. Intervals are Student's, from what is left beside the
//! fit; they need a point more than there are parameters.

use crate::LEVEL;
use crate::distributions::student_quantile;
use crate::effect::Interval;
use crate::unfit::{Unfit, check_positive};

/// Parameters of the law.
const PARAMETERS: usize = 3;

#[derive(Debug, Clone, PartialEq)]
pub struct Usl {
    pub lambda: f64,
    pub sigma: f64,
    pub kappa: f64,
    pub sigma_interval: Option<Interval>,
    pub kappa_interval: Option<Interval>,
    /// Largest relative distance of a point from the fit.
    pub farthest: f64,
    /// Why there are no intervals.
    pub why: Option<Unfit>,
}

impl Usl {
    /// The rate of n workers.
    pub fn at(&self, n: f64) -> f64 {
        self.lambda * n / (1.0 + self.sigma * (n - 1.0) + self.kappa * n * (n - 1.0))
    }

    /// The number of workers beyond which more do less; `None` where there is no such number.
    pub fn peak(&self) -> Option<f64> {
        (self.kappa > 0.0).then(|| ((1.0 - self.sigma).max(0.0) / self.kappa).sqrt().max(1.0))
    }
}

/// The law through rates by number of workers. Fails below three different numbers, or where a value is not positive.
pub fn usl(workers: &[f64], rates: &[f64]) -> Result<Usl, Unfit> {
    if workers.len() != rates.len() {
        return Err(Unfit::Unequal { left: workers.len(), right: rates.len() });
    }
    check_positive(workers)?;
    check_positive(rates)?;
    let mut different = workers.to_vec();
    different.sort_unstable_by(f64::total_cmp);
    different.dedup();
    if different.len() < PARAMETERS {
        return Err(Unfit::TooFew { have: different.len(), need: PARAMETERS });
    }
    // Relative errors: each row is divided by n / X, so that the right side is 1.
    let rows: Vec<[f64; PARAMETERS]> = workers
        .iter()
        .zip(rates)
        .map(|(n, rate)| [1.0, n - 1.0, n * (n - 1.0)].map(|term| term * rate / n))
        .collect();
    let possible = [[true, true, true], [true, true, false], [true, false, true], [true, false, false]];
    let fits = possible.iter().filter_map(|with| solve(&rows, *with));
    let sound = fits.filter(|fit| fit[0] > 0.0 && fit[1] >= 0.0 && fit[2] >= 0.0);
    let best = sound.min_by(|a, b| left(&rows, a).total_cmp(&left(&rows, b))).ok_or(Unfit::NoSpread)?;
    let (lambda, sigma, kappa) = (1.0 / best[0], best[1] / best[0], best[2] / best[0]);
    let (sigma_interval, kappa_interval, why) = match intervals(&rows) {
        // A fit that holds a parameter at 0 may lie beyond what the free one allows.
        Ok([of_sigma, of_kappa]) => (Some(holding(of_sigma, sigma)), Some(holding(of_kappa, kappa)), None),
        Err(why) => (None, None, Some(why)),
    };
    let mut found = Usl { lambda, sigma, kappa, sigma_interval, kappa_interval, farthest: 0.0, why };
    let far = workers.iter().zip(rates).map(|(n, rate)| (rate / found.at(*n) - 1.0).abs());
    found.farthest = far.fold(0.0, f64::max);
    Ok(found)
}

/// The interval, made wide enough to hold the value.
fn holding(interval: Interval, value: f64) -> Interval {
    Interval { low: interval.low.min(value), high: interval.high.max(value), ..interval }
}

/// Sum of the squares that a fit leaves.
fn left(rows: &[[f64; PARAMETERS]], fit: &[f64; PARAMETERS]) -> f64 {
    rows.iter().map(|row| (1.0 - row.iter().zip(fit).map(|(term, by)| term * by).sum::<f64>()).powi(2)).sum()
}

/// Least squares with some of the parameters, the others 0.
fn solve(rows: &[[f64; PARAMETERS]], with: [bool; PARAMETERS]) -> Option<[f64; PARAMETERS]> {
    let inverse = inverse(&normal(rows, with))?;
    let right: Vec<f64> =
        (0..PARAMETERS).map(|i| if with[i] { rows.iter().map(|row| row[i]).sum() } else { 0.0 }).collect();
    Some(std::array::from_fn(|i| {
        if with[i] { (0..PARAMETERS).map(|j| inverse[i][j] * right[j]).sum() } else { 0.0 }
    }))
}

type Matrix3 = [[f64; PARAMETERS]; PARAMETERS];

/// The normal equations; a parameter that is left out has 1 on the diagonal.
fn normal(rows: &[[f64; PARAMETERS]], with: [bool; PARAMETERS]) -> Matrix3 {
    std::array::from_fn(|i| {
        std::array::from_fn(|j| match (with[i] && with[j], i == j) {
            (true, _) => rows.iter().map(|row| row[i] * row[j]).sum(),
            (false, same) => f64::from(u8::from(same)),
        })
    })
}

/// By cofactors; `None` where rows say the same.
fn inverse(m: &Matrix3) -> Option<Matrix3> {
    let minor = |i: usize, j: usize| {
        let (a, b) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        m[a][c] * m[b][d] - m[a][d] * m[b][c]
    };
    let determinant: f64 = (0..3).map(|j| m[0][j] * minor(0, j)).sum();
    let scale: f64 = (0..3).map(|i| m[i][i].abs()).product();
    let is_sound = determinant.abs() > 1e-14 * scale;
    is_sound.then(|| std::array::from_fn(|i| std::array::from_fn(|j| minor(j, i) / determinant)))
}

/// Intervals of sigma and kappa by the delta method, within what is possible.
fn intervals(rows: &[[f64; PARAMETERS]]) -> Result<[Interval; 2], Unfit> {
    let need = PARAMETERS + 1;
    if rows.len() < need {
        return Err(Unfit::TooFew { have: rows.len(), need });
    }
    let all = [true; PARAMETERS];
    let fit = solve(rows, all).ok_or(Unfit::NoSpread)?;
    let inverse = inverse(&normal(rows, all)).ok_or(Unfit::NoSpread)?;
    let dof = (rows.len() - PARAMETERS) as f64;
    let variance = left(rows, &fit) / dof;
    let reach = student_quantile(f64::midpoint(1.0, LEVEL), dof);
    let of = |at: usize| {
        let share = fit[at] / fit[0];
        let spread = inverse[at][at] - 2.0 * share * inverse[0][at] + share * share * inverse[0][0];
        let half = reach * (variance * spread.max(0.0)).sqrt() / fit[0].abs();
        Interval { low: (share - half).max(0.0), high: (share + half).max(0.0), level: LEVEL }
    };
    Ok([of(1), of(2)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    const WORKERS: [f64; 7] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0];

    fn planted(lambda: f64, sigma: f64, kappa: f64) -> Usl {
        let (sigma_interval, kappa_interval) = (None, None);
        Usl { lambda, sigma, kappa, sigma_interval, kappa_interval, farthest: 0.0, why: None }
    }

    fn rates(law: &Usl) -> Vec<f64> {
        WORKERS.iter().map(|n| law.at(*n)).collect()
    }

    #[test]
    fn planted_curves_come_back() {
        for (sigma, kappa) in [(0.0, 0.0), (0.05, 0.0), (0.02, 0.0005), (0.0, 0.001)] {
            let found = usl(&WORKERS, &rates(&planted(250e6, sigma, kappa))).expect("a fit");
            assert!((found.lambda / 250e6 - 1.0).abs() < 1e-6, "{found:?}");
            assert!((found.sigma - sigma).abs() < 1e-6 && (found.kappa - kappa).abs() < 1e-7, "{found:?}");
            assert!(found.farthest < 1e-6 && found.why.is_none(), "{found:?}");
        }
    }

    #[test]
    fn more_do_less_beyond_the_peak_of_a_retrograde_curve() {
        let found = usl(&WORKERS, &rates(&planted(1.0, 0.1, 0.001))).expect("a fit");
        assert!(found.peak().is_some_and(|peak| (peak - 30.0).abs() < 0.1), "{found:?}");
        assert!(found.at(64.0) < found.at(30.0));
        assert_eq!(planted(1.0, 0.1, 0.0).peak(), None);
    }

    #[test]
    fn better_than_linear_is_linear_and_far_from_it() {
        let rates: Vec<f64> = WORKERS.iter().map(|n| n * (1.0 + 0.002 * n)).collect();
        let found = usl(&WORKERS, &rates).expect("a fit");
        assert_eq!((found.sigma, found.kappa), (0.0, 0.0));
        assert!(found.farthest > 0.03, "{found:?}");
    }

    #[test]
    fn intervals_hold_what_was_planted() {
        let law = planted(1.0, 0.05, 0.0004);
        let mut rng = Rng::new(12);
        let missed = (0..500).filter(|_| {
            let noisy: Vec<f64> = rates(&law).iter().map(|rate| rate * (0.01 * rng.normal()).exp()).collect();
            let found = usl(&WORKERS, &noisy).expect("a fit");
            let holds = |interval: Option<Interval>, value| interval.is_some_and(|one| one.contains(value));
            !(holds(found.sigma_interval, law.sigma) && holds(found.kappa_interval, law.kappa))
        });
        let share = missed.count() as f64 / 500.0;
        assert!(share < 0.09, "{share}");
    }

    #[test]
    fn few_points_have_no_interval_and_fewer_no_fit() {
        let found = usl(&[1.0, 2.0, 4.0], &[1.0, 1.9, 3.4]).expect("a fit");
        assert_eq!((found.sigma_interval, found.why), (None, Some(Unfit::TooFew { have: 3, need: 4 })));
        assert_eq!(usl(&[1.0, 2.0], &[1.0, 1.9]), Err(Unfit::TooFew { have: 2, need: 3 }));
        assert!(usl(&[1.0, 2.0, 4.0], &[1.0, 0.0, 3.0]).is_err());
    }
}
