//! Compares two groups that worked at different times: the ratio of their speeds on the same kind of work.
//!
//! Each group's work and its cost (seconds) are summed by class of work in its own blocks of time. A class holds like
//! work: a size, or a size at an hour of the day. The ratio is Mantel and Haenszel's over classes, as in
//! [`crate::stratified()`]. The interval is a bootstrap that draws blocks of each group separately, in runs of
//! neighbours as long as they resemble each other.
//!
//! Not corrected: anything else that changed between the two times. No interval can include that.

use std::collections::BTreeMap;

use crate::MIN_N;
use crate::autocorrelation::lag1;
use crate::bootstrap::{expanded, finish};
use crate::effect::Effect;
use crate::rng::Rng;
use crate::stratified::{Stratified, Sums, check_amounts, run_length, total_ratio};
use crate::unfit::Unfit;

/// One group's work of one class in one block; blocks are numbered in the order of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Part {
    pub block: u64,
    pub class: u32,
    pub sums: Sums,
}

/// A group's blocks, each with its sums by place of the class.
type Blocks = Vec<Vec<(usize, Sums)>>;

/// The ratio of speeds with its interval. `shared` is the share of the work in classes of both, `blocks` and `run`
/// those of the group with fewer runs of blocks. Fails with fewer than six blocks in a group, without shared classes,
/// or with amounts that are not numbers.
pub fn apart(arm: &[Part], base: &[Part], resamples: usize, rng: &mut Rng) -> Result<Stratified, Unfit> {
    if resamples < 100 {
        return Err(Unfit::Argument("fewer than 100 resamples give no interval"));
    }
    [arm, base].into_iter().try_for_each(check_parts)?;
    let classes: BTreeMap<u32, usize> = {
        let mut all: Vec<u32> = arm.iter().chain(base).map(|part| part.class).collect();
        all.sort_unstable();
        all.dedup();
        all.into_iter().zip(0..).collect()
    };
    let (arm, base) = (blocks(arm, &classes), blocks(base, &classes));
    let totals = (sum(&arm, 0..arm.len(), classes.len()), sum(&base, 0..base.len(), classes.len()));
    let fewest = arm.len().min(base.len());
    if fewest < MIN_N {
        return Err(Unfit::TooFew { have: fewest, need: MIN_N });
    }
    let estimate =
        ratio(&totals.0, &totals.1).ok_or(Unfit::Argument("one group took no time in what both did"))?;
    let departs = (
        departures(&arm, &totals.0, &totals.1, estimate.exp()),
        departures(&base, &totals.1, &totals.0, (-estimate).exp()),
    );
    let runs = (run_length(&departs.0), run_length(&departs.1));
    for (blocks, departs, run) in [(&arm, &departs.0, runs.0), (&base, &departs.1, runs.1)] {
        if blocks.len().div_ceil(run) < MIN_N {
            let (n, lag1) = (blocks.len(), lag1(departs).unwrap_or(1.0));
            return Err(Unfit::Dependent { n, effective: n as f64 / run as f64, lag1 });
        }
    }
    let mut drawn = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        let one = draw(&arm, runs.0, classes.len(), rng);
        let other = draw(&base, runs.1, classes.len(), rng);
        let value = ratio(&one, &other).filter(|value| value.is_finite());
        drawn.push(value.ok_or(Unfit::Argument("in some resample the two did nothing of one class"))?);
    }
    let counts = (arm.len().div_ceil(runs.0), base.len().div_ceil(runs.1));
    let found = finish(estimate, drawn, expanded(counts.0.min(counts.1)))?;
    let dof = counts.0.min(counts.1) as f64 - 1.0;
    let effect = Effect { estimate, interval: found.interval, se: found.se, dof };
    let (blocks, run) = if counts.0 <= counts.1 { (arm.len(), runs.0) } else { (base.len(), runs.1) };
    Ok(Stratified {
        effect,
        crude: crude(&totals.0, &totals.1)?,
        shared: shared(&totals.0, &totals.1),
        blocks,
        run,
    })
}

fn check_parts(parts: &[Part]) -> Result<(), Unfit> {
    if parts.is_empty() {
        return Err(Unfit::Empty);
    }
    let sums = |part: &Part| [part.sums.work, part.sums.cost];
    check_amounts(&parts.iter().flat_map(sums).collect::<Vec<_>>(), 2)
}

fn blocks(parts: &[Part], classes: &BTreeMap<u32, usize>) -> Blocks {
    let mut all: BTreeMap<u64, Vec<(usize, Sums)>> = BTreeMap::new();
    for part in parts {
        let place = classes.get(&part.class).copied().unwrap_or(0);
        all.entry(part.block).or_default().push((place, part.sums));
    }
    all.into_values().collect()
}

fn sum(blocks: &Blocks, picked: impl Iterator<Item = usize>, classes: usize) -> Vec<Sums> {
    let mut all = vec![Sums::default(); classes];
    for (place, sums) in picked.filter_map(|block| blocks.get(block)).flatten() {
        if let Some(total) = all.get_mut(*place) {
            total.work += sums.work;
            total.cost += sums.cost;
        }
    }
    all
}

/// ln of the arm's speed over the base's, class by class.
fn ratio(arm: &[Sums], base: &[Sums]) -> Option<f64> {
    let both = arm.iter().zip(base).filter(|(arm, base)| arm.work > 0.0 && base.work > 0.0);
    let (fast, slow) = both.fold((0.0, 0.0), |sums, (arm, base)| {
        let work = arm.work + base.work;
        (sums.0 + base.cost * arm.work / work, sums.1 + arm.cost * base.work / work)
    });
    (fast > 0.0 && slow > 0.0).then(|| (fast / slow).ln())
}

/// Residual of each block of `mine` from the whole, with the other group unchanged; they add up to 0.
fn departures(mine: &Blocks, of: &[Sums], other: &[Sums], ratio: f64) -> Vec<f64> {
    let one = |block: &Vec<(usize, Sums)>| {
        let term = |(place, sums): &(usize, Sums)| {
            let (Some(of), Some(other)) = (of.get(*place), other.get(*place)) else { return 0.0 };
            if other.work <= 0.0 || of.work <= 0.0 {
                return 0.0;
            }
            (other.cost * sums.work - ratio * sums.cost * other.work) / (of.work + other.work)
        };
        block.iter().map(term).sum()
    };
    mine.iter().map(one).collect()
}

/// Sums of as many blocks as there are, drawn in runs from anywhere; the last block is followed by the first.
fn draw(blocks: &Blocks, run: usize, classes: usize, rng: &mut Rng) -> Vec<Sums> {
    let n = blocks.len();
    let mut picked = Vec::with_capacity(n + run);
    while picked.len() < n {
        let start = rng.below(n);
        picked.extend((start..start + run).map(|place| place % n));
    }
    picked.truncate(n);
    sum(blocks, picked.into_iter(), classes)
}

fn crude(arm: &[Sums], base: &[Sums]) -> Result<f64, Unfit> {
    let total = |of: &[Sums]| Sums {
        work: of.iter().map(|sums| sums.work).sum(),
        cost: of.iter().map(|sums| sums.cost).sum(),
    };
    total_ratio(total(arm), total(base))
}

fn shared(arm: &[Sums], base: &[Sums]) -> f64 {
    let all = || arm.iter().zip(base);
    let of_both = all().filter(|(arm, base)| arm.work > 0.0 && base.work > 0.0);
    of_both.map(|(arm, base)| arm.work + base.work).sum::<f64>()
        / all().map(|(arm, base)| arm.work + base.work).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean bytes and time of a class's requests, in B and s.
    const CLASSES: [(f64, f64); 3] = [(300.0, 0.002), (6e4, 0.02), (2e6, 0.3)];

    /// `hours` of a site in blocks of an hour from the hour `from` on, `speed` times as fast as it might be. Its own
    /// state lasts; traffic and slowness follow the hour of the day where `daily` says so.
    fn traffic(from: u64, hours: u64, speed: f64, daily: f64, large: f64, rng: &mut Rng) -> Vec<Part> {
        let mut own = 0.0;
        let mut parts = Vec::new();
        for block in from..from + hours {
            let hour = block % 24;
            let wave = (hour as f64 / 24.0 * std::f64::consts::TAU).sin();
            own = 0.4 * own + 0.1 * rng.normal();
            for (class, (bytes, time)) in CLASSES.into_iter().enumerate() {
                let mix = if class == 2 { large } else { 1.0 };
                let requests = (60.0 / 4f64.powi(class as i32) * mix * (1.0 + 0.6 * daily * wave)).round();
                let mut sums = Sums::default();
                for _ in 0..requests as usize {
                    sums.work += bytes * (0.4 * rng.normal()).exp();
                    sums.cost += time / speed * (daily * wave + own + 0.8 * rng.normal()).exp();
                }
                let strata = if daily > 0.0 { hour as u32 * 8 } else { 0 };
                parts.push(Part { block, class: strata + class as u32, sums });
            }
        }
        parts
    }

    fn held(sides: (u64, u64), daily: f64) -> usize {
        const SEEDS: u64 = 200;
        let one = |seed| {
            let mut rng = Rng::new(seed);
            let truth = if seed % 2 == 0 { 1.0f64 } else { 1.6 };
            let base = traffic(0, sides.0, 1.0, daily, 1.0, &mut rng);
            let arm = traffic(sides.0, sides.1, truth, daily, 3.0, &mut rng);
            match apart(&arm, &base, 400, &mut rng) {
                Ok(found) => found.effect.interval.contains(truth.ln()),
                // No claim is no wrong claim.
                Err(Unfit::Dependent { .. }) => true,
                Err(error) => panic!("{error}"),
            }
        };
        (0..SEEDS).filter(|seed| one(*seed)).count()
    }

    #[test]
    fn intervals_hold_the_truth() {
        // 95 % of 200 is 190; fewer than 180 would come about once in 500 tries.
        let found = [held((96, 48), 0.5), held((48, 48), 0.0), held((48, 48), 0.5)];
        assert!(found.iter().all(|held| *held >= 180), "{found:?} of 200");
    }

    #[test]
    fn a_mix_that_changed_is_not_speed() {
        let mut rng = Rng::new(3);
        let base = traffic(0, 96, 1.0, 0.0, 1.0, &mut rng);
        let arm = traffic(96, 96, 1.0, 0.0, 8.0, &mut rng);
        let found = apart(&arm, &base, 400, &mut rng).unwrap();
        assert!(found.effect.interval.contains(0.0), "{found:?}");
        assert!(!found.effect.interval.contains(found.crude), "{found:?}");
        assert!((found.shared - 1.0).abs() < 1e-12 && found.blocks == 96);
    }

    #[test]
    fn swapped_groups_give_the_inverse() {
        let mut rng = Rng::new(4);
        let (one, other) =
            (traffic(0, 48, 1.0, 0.5, 1.0, &mut rng), traffic(48, 72, 2.0, 0.5, 1.0, &mut rng));
        let found = apart(&other, &one, 200, &mut Rng::new(5)).unwrap();
        let back = apart(&one, &other, 200, &mut Rng::new(5)).unwrap();
        assert!((found.effect.estimate + back.effect.estimate).abs() < 1e-9);
        assert!((found.crude + back.crude).abs() < 1e-9);
    }

    #[test]
    fn what_lasts_is_refused_or_wide() {
        // A day of which the second half is slower by itself, beside another: two states, not 24 blocks.
        let side = |from: u64| -> Vec<Part> {
            let cost = |block: u64| if block % 24 < 12 { 1.0 } else { 2.0 };
            let sums = |block| Sums { work: 10.0, cost: cost(block) };
            (from..from + 24).map(|block| Part { block, class: 0, sums: sums(block) }).collect()
        };
        let found = apart(&side(24), &side(0), 400, &mut Rng::new(1));
        assert!(matches!(found, Err(Unfit::Dependent { .. })), "{found:?}");
    }

    #[test]
    fn too_little_is_refused_with_the_reason() {
        let side = |n: u64, class: u32, cost: f64| -> Vec<Part> {
            (0..n).map(|block| Part { block, class, sums: Sums { work: 1.0, cost } }).collect()
        };
        let mut rng = Rng::new(1);
        let mut found = |arm: Vec<Part>, base: Vec<Part>| apart(&arm, &base, 200, &mut rng).unwrap_err();
        assert_eq!(found(side(5, 0, 1.0), side(9, 0, 1.0)), Unfit::TooFew { have: 5, need: 6 });
        assert_eq!(found(vec![], side(9, 0, 1.0)), Unfit::Empty);
        assert!(matches!(found(side(9, 0, 1.0), side(9, 1, 1.0)), Unfit::Argument(_)));
        assert!(matches!(found(side(9, 0, 0.0), side(9, 0, 1.0)), Unfit::Argument(_)));
        assert_eq!(found(side(9, 0, -1.0), side(9, 0, 1.0)), Unfit::OutOfRange { index: 0 });
    }
}
