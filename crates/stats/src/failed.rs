//! The difference of two groups' shares of failures, from counts by block of time.
//!
//! A group's share is all its failures over all its requests. Its variance comes from the blocks, since failures of one
//! moment have one cause; it is at least that of counts, and larger where a state lasts through several blocks. Not
//! corrected: what differs between the groups' requests.

use crate::distributions::{student_p, student_quantile};
use crate::effect::Interval;
use crate::stratified::independent;
use crate::unfit::Unfit;
use crate::{ALPHA, MIN_N};

/// Failures and requests of a block.
pub type Counts = (f64, f64);

/// Share of the arm less that of the base with its interval, and p that there is no difference. Fails with fewer than
/// six blocks on a side, without requests, and where a state that lasts leaves fewer than six independent blocks.
pub fn failed_apart(arm: &[Counts], base: &[Counts]) -> Result<(Interval, f64), Unfit> {
    let (arm, base) = (Share::of(arm)?, Share::of(base)?);
    let (apart, se) = (arm.share - base.share, (arm.variance + base.variance).sqrt());
    let dof = arm.dof.min(base.dof);
    let half = student_quantile(1.0 - ALPHA / 2.0, dof) * se;
    let p = if se > 0.0 { student_p(apart / se, dof) } else { 1.0 };
    Ok((Interval::around(apart, half), p))
}

struct Share {
    share: f64,
    variance: f64,
    dof: f64,
}

impl Share {
    fn of(blocks: &[Counts]) -> Result<Share, Unfit> {
        let n = blocks.len();
        if n < MIN_N {
            return Err(Unfit::TooFew { have: n, need: MIN_N });
        }
        let (failed, requests) = blocks.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        if !(failed >= 0.0 && requests > 0.0) {
            return Err(Unfit::Argument("a group without requests has no share of failures"));
        }
        let share = failed / requests;
        let departs: Vec<f64> = blocks.iter().map(|(failed, of)| failed - share * of).collect();
        let effective = if failed > 0.0 { independent(&departs)? } else { n as f64 };
        let squares = departs.iter().map(|one| one * one).sum::<f64>() / requests.powi(2);
        let by_blocks = squares * n as f64 / (n as f64 - 1.0) * n as f64 / effective;
        let least = share.max(1.0 / requests);
        let by_counts = least * (1.0 - least).max(0.0) / requests;
        Ok(Share { share, variance: by_blocks.max(by_counts), dof: effective - 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// A day of quarter hours with 1,000 requests each, of which such a share fails by chance.
    fn day(share: f64, rng: &mut Rng) -> Vec<Counts> {
        let failed = |_| (0..1000).filter(|_| rng.below(100_000) < (share * 1e5) as usize).count() as f64;
        (0..96).map(failed).map(|failed| (failed, 1000.0)).collect()
    }

    #[test]
    fn intervals_hold_the_difference() {
        let (mut held, mut found) = (0, 0);
        for seed in 0..200 {
            let mut rng = Rng::new(seed);
            let (arm, base) = (day(0.03, &mut rng), day(0.01, &mut rng));
            let Ok((apart, p)) = failed_apart(&arm, &base) else { continue };
            found += 1;
            held += u32::from(apart.contains(0.02));
            assert!(p < 0.001, "{p}");
        }
        assert!(found > 190 && f64::from(held) >= 0.93 * f64::from(found), "{held} of {found}");
    }

    #[test]
    fn one_episode_is_no_clear_difference() {
        let mut rng = Rng::new(1);
        let (mut arm, base) = (day(0.0, &mut rng), day(0.0, &mut rng));
        (arm[56].0, arm[57].0) = (110.0, 75.0);
        match failed_apart(&arm, &base) {
            Ok((apart, _)) => assert!(apart.contains(0.0), "{apart:?}"),
            Err(error) => assert!(matches!(error, Unfit::Dependent { .. }), "{error:?}"),
        }
        assert!(matches!(failed_apart(&arm[..5], &base), Err(Unfit::TooFew { have: 5, .. })));
        assert!(failed_apart(&[(0.0, 0.0); 9], &base).is_err());
        let (apart, p) = failed_apart(&base, &base).unwrap();
        assert!(apart.contains(0.0) && p > 0.99, "{apart:?} {p}");
    }
}
