//! Ratio of ratios: is C's advantage over Java the same on machine A as on machine B?
//!
//! A difference of two log ratios. Between studies the two intervals are combined; within one study
//! whole blocks are resampled, which keeps what the four series of a block share.

use crate::bootstrap::{by_index, expanded, finish};
use crate::describe::median;
use crate::distributions::student_p;
use crate::effect::{Effect, Interval};
use crate::hodges_lehmann::hodges_lehmann;
use crate::paired::by_block;
use crate::rng::Rng;
use crate::unfit::{Unfit, check_positive};

/// ln(x / y) of two independent log ratios.
///
/// The interval combines the distances of both estimates to the ends of their own intervals
/// (square root of the sum of squares, each end by itself), so that lopsided intervals stay lopsided.
pub fn ratio_of_ratios(x: &Effect, y: &Effect) -> Effect {
    let far = |a: f64, b: f64| a.hypot(b);
    let estimate = x.estimate - y.estimate;
    let low = estimate - far(x.estimate - x.interval.low, y.interval.high - y.estimate);
    let high = estimate + far(x.interval.high - x.estimate, y.estimate - y.interval.low);
    let interval = Interval { low, high, level: x.interval.level.min(y.interval.level) };
    Effect { estimate, interval, se: x.se.hypot(y.se), dof: welch_dof(&[*x, *y]) }
}

impl Effect {
    /// Two-sided p of no difference: t = estimate / se with `dof` degrees of freedom.
    pub fn p(&self) -> f64 {
        if self.se == 0.0 {
            return if self.estimate == 0.0 { 1.0 } else { 0.0 };
        }
        student_p(self.estimate / self.se, self.dof)
    }
}

/// Degrees of freedom of a sum of independent effects (Welch and Satterthwaite).
pub(crate) fn welch_dof(parts: &[Effect]) -> f64 {
    let variance: f64 = parts.iter().map(|e| e.se * e.se).sum();
    let spread: f64 = parts.iter().map(|e| e.se.powi(4) / e.dof).sum();
    let dof = variance * variance / spread;
    // No variance at all: nothing to weigh, the least certain part decides.
    if dof.is_finite() { dof } else { parts.iter().map(|e| e.dof).fold(f64::INFINITY, f64::min) }
}

/// One block of a study: the four values of (arm / base on A) over (arm / base on B).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Block {
    pub arm_a: f64,
    pub base_a: f64,
    pub arm_b: f64,
    pub base_b: f64,
}

/// The blocks that all four have, in their order; several values of one block count as their geometric mean.
pub fn blocks(
    arm_a: &[(u64, f64)],
    base_a: &[(u64, f64)],
    arm_b: &[(u64, f64)],
    base_b: &[(u64, f64)],
) -> Result<Vec<Block>, Unfit> {
    let [arms, bases, others, their_bases] =
        [by_block(arm_a)?, by_block(base_a)?, by_block(arm_b)?, by_block(base_b)?];
    let block = |(at, arm_a): (&u64, &f64)| {
        Some(Block {
            arm_a: *arm_a,
            base_a: *bases.get(at)?,
            arm_b: *others.get(at)?,
            base_b: *their_bases.get(at)?,
        })
    };
    let found: Vec<Block> = arms.iter().filter_map(block).collect();
    if found.is_empty() { Err(Unfit::Empty) } else { Ok(found) }
}

/// ln of the ratio of ratios within one study, by bootstrap over blocks. Fails with fewer than six blocks.
pub fn ratio_of_ratios_by_block(blocks: &[Block], resamples: usize, rng: &mut Rng) -> Result<Effect, Unfit> {
    if blocks.is_empty() {
        return Err(Unfit::Empty);
    }
    let column = |f: fn(&Block) -> f64| blocks.iter().map(f).collect::<Vec<f64>>();
    for values in [column(|b| b.arm_a), column(|b| b.base_a), column(|b| b.arm_b), column(|b| b.base_b)] {
        check_positive(&values)?;
    }
    let d: Vec<f64> = blocks.iter().map(|b| (b.arm_a / b.base_a).ln() - (b.arm_b / b.base_b).ln()).collect();
    let centre = |v: &[f64]| if v.len() > 1_000 { median(v) } else { hodges_lehmann(v) };
    let estimate = centre(&d).ok_or(Unfit::Empty)?;
    let mut sample = Vec::with_capacity(d.len());
    let drawn = by_index(d.len(), resamples, rng, |picks| {
        sample.clear();
        sample.extend(picks.iter().map(|i| d[*i]));
        centre(&sample)
    })?;
    let b = finish(estimate, drawn, expanded(d.len()))?;
    Ok(Effect { estimate, interval: b.interval, se: b.se, dof: d.len() as f64 - 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(estimate: f64, half: f64) -> Effect {
        Effect { estimate, interval: Interval::around(estimate, half), se: half / 2.0, dof: 9.0 }
    }

    #[test]
    fn intervals_combine_by_squares() {
        let e = ratio_of_ratios(&effect(0.5, 0.03), &effect(0.2, 0.04));
        assert!((e.estimate - 0.3).abs() < 1e-12);
        assert!((e.interval.low - 0.25).abs() < 1e-12 && (e.interval.high - 0.35).abs() < 1e-12);
        assert!((e.se - 0.025).abs() < 1e-12 && (9.0..=18.0).contains(&e.dof));
        assert!(e.p() < 1e-6 && effect(0.0, 0.1).p() > 0.99);
    }

    #[test]
    fn lopsided_intervals_stay_lopsided() {
        let mut x = effect(0.0, 0.01);
        x.interval.high = 0.2;
        let e = ratio_of_ratios(&x, &effect(0.0, 0.01));
        assert!(e.interval.high > 0.2 && e.interval.low > -0.02);
    }

    #[test]
    fn shared_noise_of_a_block_cancels() {
        let mut rng = Rng::new(6);
        let blocks: Vec<Block> = (0..12)
            .map(|_| {
                let shared = (0.3 * rng.normal()).exp();
                let mut own = |level: f64| level * shared * (0.01 * rng.normal()).exp();
                Block { arm_a: own(1.5), base_a: own(1.0), arm_b: own(1.2), base_b: own(1.0) }
            })
            .collect();
        let e = ratio_of_ratios_by_block(&blocks, 1_000, &mut rng).expect("twelve blocks");
        assert!(e.interval.contains((1.5f64 / 1.2).ln()), "{e:?}");
        assert!(e.interval.high - e.interval.low < 0.06);
    }

    #[test]
    fn only_blocks_that_all_four_have_count() {
        let of = |blocks: &[u64]| blocks.iter().map(|at| (*at, 2.0)).collect::<Vec<_>>();
        let found =
            blocks(&of(&[0, 1, 2, 3]), &of(&[1, 2, 3]), &of(&[3, 2, 0]), &[(2, 4.0), (3, 1.0), (2, 1.0)]);
        let block = |base_b| Block { arm_a: 2.0, base_a: 2.0, arm_b: 2.0, base_b };
        let found = found.expect("blocks 2 and 3");
        assert!((found[0].base_b - 2.0).abs() < 1e-12, "{found:?}");
        assert_eq!(found[1], block(1.0));
        assert_eq!(blocks(&of(&[0]), &of(&[1]), &of(&[0]), &of(&[0])), Err(Unfit::Empty));
        assert!(blocks(&of(&[0]), &[(0, f64::NAN)], &of(&[0]), &of(&[0])).is_err());
    }

    #[test]
    fn unfit_input() {
        let b = Block { arm_a: 1.0, base_a: 1.0, arm_b: 1.0, base_b: 0.0 };
        let mut rng = Rng::new(1);
        assert_eq!(ratio_of_ratios_by_block(&[], 500, &mut rng), Err(Unfit::Empty));
        assert_eq!(ratio_of_ratios_by_block(&[b; 8], 500, &mut rng), Err(Unfit::NotPositive { index: 0 }));
        let fine = Block { base_b: 1.0, ..b };
        assert!(matches!(ratio_of_ratios_by_block(&[fine; 5], 500, &mut rng), Err(Unfit::TooFew { .. })));
    }
}
