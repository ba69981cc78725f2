//! Compares two groups that worked at different times: the ratio of their speeds on the same kind of work.
//!
//! Each group's work and its cost (seconds) are summed by class of work in its own blocks of time. A class holds like
//! work: a size, or a size at an hour of the day. The ratio is Mantel and Haenszel's over classes, as in
//! [`crate::stratified()`]. The interval is a bootstrap that draws blocks of each group separately, widened for a
//! state that lasts in either.
//!
//! Not corrected: anything else that changed between the two times. No interval can include that.

use std::collections::BTreeMap;

use crate::MIN_N;
use crate::rng::Rng;
use crate::stratified::{Halves, Stratified, Sums, check_amounts, independent, speeds, total_ratio, widened};
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

/// The ratio of speeds with its interval. `shared` is the share of the work in classes of both, `blocks` and
/// `effective` are the fewest of a group. Fails with fewer than six blocks in a group, without shared classes,
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
    let effective = (independent(&departs.0)?, independent(&departs.1)?);
    let mut drawn = Vec::with_capacity(resamples);
    for _ in 0..resamples {
        let value = ratio(&draw(&arm, classes.len(), rng), &draw(&base, classes.len(), rng));
        let value = value.filter(|value| value.is_finite());
        drawn.push(value.ok_or(Unfit::Argument("in some resample the two did nothing of one class"))?);
    }
    let (fast, slow) = weights(&totals.0, &totals.1);
    let one = Side::new(&departs.0, fast, effective.0);
    let other = Side::new(&departs.1, slow, effective.1);
    let (wider, dof) = one.with(&other);
    let effect = widened(estimate, drawn, fewest, (wider, dof))?;
    let half = |of: &Blocks, picked| sum(of, picked, classes.len());
    let of_arm = |picked| ratio(&half(&arm, picked), &totals.1);
    let of_base = |picked| ratio(&totals.0, &half(&base, picked));
    let middle = (arm.len() / 2, base.len() / 2);
    let halves = [
        of_arm(0..middle.0).zip(of_arm(middle.0..arm.len())),
        of_base(0..middle.1).zip(of_base(middle.1..base.len())),
    ];
    // The group that changed more by itself.
    let widest = halves.into_iter().flatten().max_by(|a, b| (a.0 - a.1).abs().total_cmp(&(b.0 - b.1).abs()));
    let halves =
        widest.and_then(|(first, second)| Halves::new(first, second, effect.se / wider, fewest as f64 - 1.0));
    Ok(Stratified {
        effect,
        speeds: speeds(totals.0.iter().zip(&totals.1)),
        crude: crude(&totals.0, &totals.1)?,
        shared: shared(&totals.0, &totals.1),
        blocks: fewest,
        effective: effective.0.min(effective.1),
        halves,
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

/// The two sums whose ratio is that of the speeds, class by class.
fn weights(arm: &[Sums], base: &[Sums]) -> (f64, f64) {
    let both = arm.iter().zip(base).filter(|(arm, base)| arm.work > 0.0 && base.work > 0.0);
    both.fold((0.0, 0.0), |sums, (arm, base)| {
        let work = arm.work + base.work;
        (sums.0 + base.cost * arm.work / work, sums.1 + arm.cost * base.work / work)
    })
}

/// ln of the arm's speed over the base's.
fn ratio(arm: &[Sums], base: &[Sums]) -> Option<f64> {
    let (fast, slow) = weights(arm, base);
    (fast > 0.0 && slow > 0.0).then(|| (fast / slow).ln())
}

/// A group's part of the variance, as its blocks show it and with what lasts among them.
struct Side {
    plain: f64,
    whole: f64,
    dof: f64,
}

impl Side {
    fn new(departs: &[f64], scale: f64, effective: f64) -> Side {
        let plain = departs.iter().map(|one| (one / scale).powi(2)).sum::<f64>();
        Side { plain, whole: plain * departs.len() as f64 / effective, dof: effective - 1.0 }
    }

    /// How much wider the two make an interval of independent blocks, and their degrees of freedom together.
    fn with(&self, other: &Side) -> (f64, f64) {
        let (plain, whole) = (self.plain + other.plain, self.whole + other.whole);
        let part = |side: &Side| side.whole.powi(2) / side.dof;
        let dof = whole.powi(2) / (part(self) + part(other));
        let least = self.dof.min(other.dof);
        if plain > 0.0 { ((whole / plain).sqrt(), dof.max(least)) } else { (1.0, least) }
    }
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

/// Sums of as many blocks as there are, drawn from anywhere.
fn draw(blocks: &Blocks, classes: usize, rng: &mut Rng) -> Vec<Sums> {
    sum(blocks, (0..blocks.len()).map(|_| rng.below(blocks.len())), classes)
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
