//! How many takes or runs would settle a comparison that cannot be told yet.
//!
//! A forecast, not a promise: it takes the estimate and the noise found so far for the true ones,
//! and an interval that narrows with the square root of the count.

use crate::ALPHA;
use crate::between::{Between, Noise};
use crate::distributions::{student_p, student_quantile};
use crate::effect::Interval;
use crate::paired::{Paired, Test};
use crate::signed_rank::min_p;
use crate::sittings::MIN_SITTINGS;
use crate::verdict::Margin;

/// More blocks than this is no advice.
pub const MAX_TAKES: usize = 5_000;
/// More runs a side than this is no advice.
pub const MAX_RUNS: usize = 200;
/// More sittings than this is no advice.
pub const MAX_SITTINGS: usize = 500;

/// Blocks in total that would settle a comparison of arms, given the family's size (rows that share
/// Holm's correction). `None`: already settled by width and p, hopelessly close to the margin's edge,
/// or without an interval to start from.
pub fn needed_takes(found: &Paired, margin: Margin, family: usize) -> Option<usize> {
    let (i, se) = (found.interval?, found.se?);
    let family = family.max(1) as f64;
    let n = found.n as f64;
    let settled = |count: usize| {
        let shrink = (n / count as f64).sqrt();
        let i = shrunk(found.estimate, i, shrink);
        let dof = count as f64 - 1.0;
        // Either test may speak: the exact one where it can reach the level, else the t test.
        let p = if se > 0.0 { student_p(found.estimate / (se * shrink), dof) } else { 0.0 };
        let exact = found.test != Test::Sittings && min_p(count) <= ALPHA / family;
        let p = if exact { p.max(min_p(count)) } else { p };
        decided(i, p * family, margin)
    };
    let units = first(found.n + 1, MAX_TAKES, settled)?;
    Some(units * found.blocks.div_ceil(found.n.max(1)))
}

/// Runs on each side that would settle a comparison of machines, given the family's size. Assumes
/// that the noise stays as it is, so with assumed noise the true number is usually smaller.
pub fn needed_runs(found: &Between, margin: Margin, family: usize) -> Option<usize> {
    let family = family.max(1) as f64;
    let have = found.runs.0.max(found.runs.1);
    let settled = |count: usize| {
        let added = (2 * count) as f64 - (found.runs.0 + found.runs.1) as f64;
        let dof = found.noise.dof() + added;
        let se = found.noise.s * (2.0 / count as f64).sqrt();
        let half = student_quantile(1.0 - ALPHA / 2.0, dof) * se;
        decided(Interval::around(found.estimate, half), student_p(found.estimate / se, dof) * family, margin)
    };
    first(have + 1, MAX_RUNS, settled)
}

/// The smallest difference, as ratio - 1, that so many runs each would call better in `power` of cases, at this noise
/// and in a family of this size.
pub fn least_told(noise: &Noise, runs: usize, margin: Margin, family: usize, power: f64) -> f64 {
    let se = noise.s * (2.0 / runs.max(1) as f64).sqrt();
    let t = |level: f64| student_quantile(1.0 - level / 2.0, noise.dof());
    let beyond_margin = margin.ln() + t(ALPHA) * se;
    let called = beyond_margin.max(t(ALPHA / family.max(1) as f64) * se);
    // What is measured lies about the truth: half of the cases are below it.
    (called + student_quantile(power, noise.dof()) * se).exp_m1()
}

/// Runs on each side that call a difference better in `power` of cases; `None` for a difference (ratio - 1) within the
/// margin, which is never called, and where [`MAX_RUNS`] are not enough.
pub fn runs_to_tell(
    difference: f64,
    noise: &Noise,
    margin: Margin,
    family: usize,
    power: f64,
) -> Option<usize> {
    first(1, MAX_RUNS, |runs| least_told(noise, runs, margin, family, power) <= difference)
}

/// Sittings that let two arms of one study be called different by a difference (ratio - 1) in `power` of cases, given
/// the standard deviation of the logarithm of one arm's figure from sitting to sitting. Noise that both arms share
/// within a sitting cancels in a study, so that fewer may do. `None` as in [`runs_to_tell()`].
pub fn sittings_to_tell(
    difference: f64,
    spread: f64,
    margin: Margin,
    family: usize,
    power: f64,
) -> Option<usize> {
    first(MIN_SITTINGS, MAX_SITTINGS, |sittings| {
        let se = spread * (2.0 / sittings as f64).sqrt();
        let dof = sittings as f64 - 1.0;
        let t = |level: f64| student_quantile(1.0 - level / 2.0, dof);
        let called = (margin.ln() + t(ALPHA) * se).max(t(ALPHA / family.max(1) as f64) * se);
        (called + student_quantile(power, dof) * se).exp_m1() <= difference
    })
}

/// The interval with both arms of it scaled around the estimate.
fn shrunk(estimate: f64, i: Interval, by: f64) -> Interval {
    Interval {
        low: estimate - (estimate - i.low) * by,
        high: estimate + (i.high - estimate) * by,
        level: i.level,
    }
}

fn decided(i: Interval, adjusted_p: f64, margin: Margin) -> bool {
    let edge = margin.ln();
    let tie = i.low >= -edge && i.high <= edge;
    let outside = i.low > edge || i.high < -edge;
    tie || (outside && adjusted_p <= ALPHA)
}

/// The smallest count in `from..=to` that settles; once settled, more keep it settled.
fn first(from: usize, to: usize, settled: impl Fn(usize) -> bool) -> Option<usize> {
    if from > to || !settled(to) {
        return None;
    }
    let (mut low, mut high) = (from, to);
    while low < high {
        let middle = low.midpoint(high);
        if settled(middle) { high = middle } else { low = middle + 1 }
    }
    Some(high)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::between::{Run, between, noise};
    use crate::paired::paired;
    use crate::rng::Rng;
    use crate::verdict::{Basis, Better, Verdict, verdict};

    fn run(m: f64) -> Run {
        Run { m, se: None, takes: 1 }
    }

    #[test]
    fn more_runs_make_a_tie_possible() {
        // One run each at 5 % assumed noise: half width 5.9 % against a margin of 5 %.
        let c = between(&[run(0.0)], &[run(0.0)], &[], 0.05, None).expect("finite");
        assert_eq!(needed_runs(&c, Margin::MACHINES, 1), Some(2));
    }

    #[test]
    fn the_least_that_is_told_is_told() {
        let old: Vec<Run> = (0..6).map(|i| run(0.01 * f64::from(i % 3))).collect();
        for family in [1, 9] {
            let noise = noise(&[], &[&old], 0.05, None).expect("finite");
            let least = least_told(&noise, 1, Margin::MACHINES, family, 0.5);
            for (factor, is_told) in [(0.99, false), (1.01, true)] {
                let c = between(&[run((least * factor).ln_1p())], &[run(0.0)], &[&old], 0.05, None)
                    .expect("finite");
                assert_eq!(decided(c.interval, c.p * family as f64, Margin::MACHINES), is_told, "{family}");
            }
            assert!(least_told(&noise, 5, Margin::MACHINES, family, 0.5) < least);
        }
    }

    #[test]
    fn the_least_that_is_told_is_told_as_often_as_said() {
        let mut rng = Rng::new(20_261_124);
        const SPREAD: f64 = 0.02;
        for (earlier, runs, family) in [(6, 1, 9), (20, 1, 9), (6, 3, 1)] {
            let mut draw =
                |at: f64, n: usize| -> Vec<Run> { (0..n).map(|_| run(at + SPREAD * rng.normal())).collect() };
            let mut called = 0;
            for _ in 0..400 {
                let old = draw(0.0, earlier);
                // The truth that is looked for is that at the true spread.
                let noise = Noise { s: SPREAD, ..noise(&[], &[&old], 0.05, None).expect("finite") };
                let least = least_told(&noise, runs, Margin::MACHINES, family, 0.8).ln_1p();
                let (arm, base) = (draw(least, runs), draw(0.0, runs));
                let c = between(&arm, &base, &[&old], 0.05, None).expect("finite");
                called += usize::from(decided(c.interval, c.p * family as f64, Margin::MACHINES));
            }
            assert!((280..=360).contains(&called), "{earlier} {runs} {family}: {called} of 400");
        }
    }

    #[test]
    fn the_runs_that_tell_a_difference_are_those_of_the_least_that_is_told() {
        let old: Vec<Run> = (0..6).map(|i| run(0.02 * f64::from(i % 3))).collect();
        let noise = noise(&[], &[&old], 0.05, None).expect("finite");
        let least = |runs: usize| least_told(&noise, runs, Margin::MACHINES, 9, 0.8);
        let runs = runs_to_tell(0.08, &noise, Margin::MACHINES, 9, 0.8).expect("not within the margin");
        assert!(runs > 1 && least(runs) <= 0.08 && least(runs - 1) > 0.08, "{runs}");
        assert_eq!(runs_to_tell(0.05, &noise, Margin::MACHINES, 9, 0.8), None);
    }

    #[test]
    fn planned_sittings_tell_the_difference_as_often_as_said() {
        let mut rng = Rng::new(20_261_125);
        for (difference, spread, family) in [(0.10, 0.04, 1), (0.05, 0.02, 4), (0.03, 0.004, 1)] {
            let sittings =
                sittings_to_tell(difference, spread, Margin::ARMS, family, 0.8).expect("beyond the margin");
            let mut called = 0;
            for _ in 0..400 {
                let d: Vec<Vec<f64>> = (0..sittings)
                    .map(|_| {
                        let at = difference.ln_1p() + spread * 2f64.sqrt() * rng.normal();
                        (0..4).map(|_| at + 0.0005 * rng.normal()).collect()
                    })
                    .collect();
                let d: Vec<&[f64]> = d.iter().map(Vec::as_slice).collect();
                let c = crate::paired_sittings(&d).expect("enough sittings");
                let interval = c.interval.expect("several sittings");
                called +=
                    usize::from(decided(interval, c.p * family as f64, Margin::ARMS) && c.estimate > 0.0);
            }
            assert!((270..=385).contains(&called), "{sittings} of {spread}: {called} of 400");
        }
        assert_eq!(sittings_to_tell(0.02, 0.001, Margin::ARMS, 1, 0.8), None);
    }

    #[test]
    fn at_the_edge_nothing_helps() {
        let c = between(&[run(0.05f64.ln_1p())], &[run(0.0)], &[], 0.05, None).expect("finite");
        assert_eq!(needed_runs(&c, Margin::MACHINES, 1), None);
    }

    #[test]
    fn a_larger_family_needs_more() {
        let c = between(&[run(0.10)], &[run(0.0)], &[], 0.05, None).expect("finite");
        let (one, many) = (needed_runs(&c, Margin::MACHINES, 1), needed_runs(&c, Margin::MACHINES, 5_000));
        assert!(one.is_some() && one < many, "{one:?} {many:?}");
    }

    #[test]
    fn the_forecast_of_takes_is_about_right() {
        let mut rng = Rng::new(8);
        let mut draw = |n: usize| -> Vec<f64> { (0..n).map(|_| 0.04 + 0.03 * rng.normal()).collect() };
        let start = paired(&draw(10), 1).expect("finite");
        let n = needed_takes(&start, Margin::ARMS, 1).expect("not at the edge");
        assert!((11..200).contains(&n), "{n}");
        let called = (0..100)
            .filter(|_| {
                let c = paired(&draw(4 * n), 1).expect("finite");
                let basis = Basis::Blocks { n: c.n };
                verdict(c.interval, Some(c.p), Margin::ARMS, Better::Higher, basis) == Verdict::Better
            })
            .count();
        assert!(called > 50, "four times the forecast of {n} settles most: {called}");
    }

    #[test]
    fn without_an_interval_there_is_no_forecast() {
        let c = paired(&[0.1, 0.2], 1).expect("finite");
        assert_eq!(needed_takes(&c, Margin::ARMS, 1), None);
    }
}
