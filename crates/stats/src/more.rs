//! Does one setup of a run reach more than another of the same run? A one-sided p from takes by sitting, on the scale
//! of logarithms.
//!
//! What preparing a setup draws (placement, a hash seed) is constant through its sitting, so that takes say nothing of
//! it. From three sittings on, each counts as its median. With fewer, a preparation is assumed to spread by so much,
//! worth four degrees of freedom, as the noise between runs is; a single take is assumed to spread too.
//!
//! Not counted: how many setups were tried. Whoever picks the largest of several multiplies p by their number.

use crate::MIN_SITTINGS;
use crate::between::{PRIOR_DOF, Run};
use crate::distributions::{normal_cdf, student_cdf};
use crate::unfit::Unfit;

/// Assumed standard deviations of logarithms, from preparation to preparation and from take to take.
const SETUP: f64 = 0.04;
const TAKE: f64 = 0.05;

/// The p of takes at least so much higher, by sitting, where both setups do the same. Fails when a take is not
/// positive, or a side has none.
pub fn more_p(arm: &[&[f64]], base: &[&[f64]]) -> Result<f64, Unfit> {
    let (one, other) = (Run::from_sittings(arm)?, Run::from_sittings(base)?);
    let known =
        |sittings: &[&[f64]]| sittings.iter().filter(|takes| !takes.is_empty()).count() >= MIN_SITTINGS;
    let variance = |run: &Run, sittings: &[&[f64]]| {
        run.se.unwrap_or(TAKE).powi(2) + if known(sittings) { 0.0 } else { SETUP.powi(2) }
    };
    let sum = variance(&one, arm) + variance(&other, base);
    let t = (one.m - other.m) / sum.sqrt();
    Ok(match (t.is_nan(), known(arm) && known(base)) {
        (true, _) => 1.0,
        // Few sittings are in the standard errors already.
        (false, true) => 1.0 - normal_cdf(t),
        (false, false) => 1.0 - student_cdf(t, PRIOR_DOF),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ALPHA, Rng};

    /// Share of `times` in which the largest of `tried` equal setups is called more than a further one.
    fn called((sittings, takes): (usize, usize), tried: usize, own: f64, setup: f64, more: f64) -> f64 {
        const TIMES: usize = 2_000;
        let mut rng = Rng::new(7);
        let mut one = |level: f64| -> Vec<Vec<f64>> {
            (0..sittings)
                .map(|_| {
                    let at = level + setup * rng.normal();
                    (0..takes).map(|_| (at + own * rng.normal()).exp()).collect()
                })
                .collect()
        };
        let p = |arm: &[Vec<f64>], base: &[Vec<f64>]| {
            let arm: Vec<&[f64]> = arm.iter().map(Vec::as_slice).collect();
            let base: Vec<&[f64]> = base.iter().map(Vec::as_slice).collect();
            more_p(&arm, &base).expect("positive")
        };
        let hits = (0..TIMES).filter(|_| {
            let base = one(0.0);
            (0..tried).map(|_| p(&one(more), &base)).fold(1.0, f64::min) * tried as f64 <= ALPHA
        });
        hits.count() as f64 / TIMES as f64
    }

    #[test]
    fn equal_setups_are_rarely_called_more() {
        for (shape, own, setup) in [
            ((1, 1), 0.05, 0.0),
            ((1, 1), 0.05, 0.04),
            ((1, 3), 0.05, 0.0),
            ((1, 8), 0.05, 0.0),
            ((1, 10), 0.05, 0.04),
            ((3, 3), 0.02, 0.04),
            ((5, 3), 0.02, 0.04),
        ] {
            for tried in [1, 4] {
                let found = called(shape, tried, own, setup, 0.0);
                assert!(found <= 0.065, "{shape:?}, {tried} tried, {own}, {setup}: {found}");
            }
        }
    }

    #[test]
    fn what_reaches_much_more_is_told() {
        // A third more from one take each; a tenth more from five sittings.
        assert!(called((1, 1), 1, 0.02, 0.02, 0.33) > 0.9);
        assert!(called((5, 3), 1, 0.01, 0.01, 0.1) > 0.95);
    }

    #[test]
    fn one_figure_of_each_six_per_cent_apart_proves_nothing() {
        assert!(more_p(&[&[21.2e3]], &[&[20.0e3]]).is_ok_and(|p| p > 0.2));
        assert!(more_p(&[&[1.0, 1.0], &[1.0], &[1.0]], &[&[1.0], &[1.0], &[1.0]]).is_ok_and(|p| p == 1.0));
        assert!(more_p(&[&[0.0]], &[&[1.0]]).is_err() && more_p(&[], &[&[1.0]]).is_err());
    }
}
