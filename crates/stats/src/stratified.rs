//! Compares two groups that did unlike mixes of work: the ratio of their speeds on the same work.
//!
//! Each group's work (bytes, requests) and its cost (seconds) are summed by stratum (a class of work in a block of
//! time). Speed is work over cost. The ratio of speeds is Mantel and Haenszel's: each stratum is compared within
//! itself and weighs by what both groups did there, so that a group that was given more work, or other work, does not
//! come out faster for it. A stratum that only one group saw counts as unshared. The interval is a bootstrap over
//! blocks of time, because requests of one moment are not independent. It is widened for a state that lasts through
//! several blocks. Where such states leave fewer than six independent blocks, there is one only if it excludes that the
//! two are equal, with the degrees of freedom of the few that are left: a difference that stands all the time, far
//! beyond what the states make, is no episode.
//!
//! Not corrected: differences within a stratum, and a cause that follows the group (its clients, its cache). Where the
//! ratio differs between classes this is an average of them.

use std::collections::BTreeMap;

use crate::autocorrelation::{CHANCE, beyond_chance, effective_n, fewest, lag1};
use crate::bootstrap::{Bootstrap, by_index, expanded, finish};
use crate::distributions::student_quantile;
use crate::effect::{Effect, Interval};
use crate::rng::Rng;
use crate::unfit::{Unfit, check};
use crate::{ALPHA, MIN_N};

/// One group's work and cost in a stratum; zero where it did nothing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Sums {
    pub work: f64,
    pub cost: f64,
}

/// A class of work in a block of time. Blocks are numbered in the order of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratum {
    pub block: u64,
    pub class: u32,
    pub arm: Sums,
    pub base: Sums,
}

/// The ratio of the arm's speed to the base's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stratified {
    /// ln of (speed of the arm / speed of the base), stratum by stratum.
    pub effect: Effect,
    /// Work over cost of the mix that both did, whose ratio is the effect.
    pub speeds: (f64, f64),
    /// ln of the ratio of the totals' speeds, without regard to the mix.
    pub crude: f64,
    /// Share of all work that lies in strata of both groups.
    pub shared: f64,
    /// Blocks that both groups share, and how many independent ones tell as much.
    pub blocks: usize,
    pub effective: f64,
    /// The first half against the second, where there is an interval.
    pub halves: Option<Halves>,
}

/// The ratio in the first half of the blocks and in the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Halves {
    /// ln of the ratio of speeds.
    pub first: f64,
    pub second: f64,
    /// They differ by more than blocks that do not resemble each other would make once in a hundred times.
    pub differ: bool,
}

impl Halves {
    /// Of two halves each of which has twice the variance of the whole, whose standard error is as of independent
    /// blocks.
    pub(crate) fn new(first: f64, second: f64, se: f64, dof: f64) -> Option<Halves> {
        let differ = (first - second).abs() > student_quantile(1.0 - CHANCE / 2.0, dof) * 2.0 * se;
        (first.is_finite() && second.is_finite()).then_some(Halves { first, second, differ })
    }
}

/// The ratio of speeds with its interval. Fails with fewer than six blocks that both groups share, or with amounts
/// that are not numbers.
pub fn stratified(strata: &[Stratum], resamples: usize, rng: &mut Rng) -> Result<Stratified, Unfit> {
    check_sums(strata)?;
    let terms = terms(strata);
    let n = terms.len();
    if n < MIN_N {
        return Err(Unfit::TooFew { have: n, need: MIN_N });
    }
    let ratio = |picked: &mut dyn Iterator<Item = usize>| {
        let (fast, slow) = picked.fold((0.0, 0.0), |sum, i| (sum.0 + terms[i].0, sum.1 + terms[i].1));
        (fast > 0.0 && slow > 0.0).then(|| (fast / slow).ln())
    };
    let estimate = ratio(&mut (0..n)).ok_or(Unfit::Argument("one group took no time in what both did"))?;
    let residuals: Vec<f64> = terms.iter().map(|(fast, slow)| fast - estimate.exp() * slow).collect();
    let lasting = Lasting::of(&residuals);
    let drawn = by_index(n, resamples, rng, |picks| ratio(&mut picks.iter().copied()))?;
    let (wider, dof) = lasting.widest(n).ok_or_else(|| lasting.refused(&residuals))?;
    let effect = widened(estimate, drawn, n, (wider, dof))?;
    if lasting.is_few() && effect.interval.contains(0.0) {
        return Err(lasting.refused(&residuals));
    }
    let effective = lasting.effective;
    let (first, second) = (ratio(&mut (0..n / 2)), ratio(&mut (n / 2..n)));
    let halves = first
        .zip(second)
        .and_then(|(first, second)| Halves::new(first, second, effect.se / wider, n as f64 - 1.0));
    let speeds = speeds(strata.iter().map(|stratum| (&stratum.arm, &stratum.base)));
    Ok(Stratified {
        effect,
        speeds,
        crude: crude(strata)?,
        shared: shared(strata),
        blocks: n,
        effective,
        halves,
    })
}

fn check_sums(strata: &[Stratum]) -> Result<(), Unfit> {
    let sums = |s: &Stratum| [s.arm.work, s.arm.cost, s.base.work, s.base.cost];
    check_amounts(&strata.iter().flat_map(sums).collect::<Vec<_>>(), 4)
}

/// Refuses amounts that no sum can be; `each` of them belong to one index.
pub(crate) fn check_amounts(amounts: &[f64], each: usize) -> Result<(), Unfit> {
    check(amounts)?;
    match amounts.iter().position(|amount| *amount < 0.0) {
        Some(index) => Err(Unfit::OutOfRange { index: index / each }),
        None => Ok(()),
    }
}

/// Both groups worked here.
fn both(stratum: &Stratum) -> bool {
    stratum.arm.work > 0.0 && stratum.base.work > 0.0
}

/// A block's parts of the two sums whose ratio is the estimate, in the order of time.
fn terms(strata: &[Stratum]) -> Vec<(f64, f64)> {
    let mut blocks: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
    for stratum in strata.iter().filter(|stratum| both(stratum)) {
        let work = stratum.arm.work + stratum.base.work;
        let sums = blocks.entry(stratum.block).or_default();
        sums.0 += stratum.base.cost * stratum.arm.work / work;
        sums.1 += stratum.arm.cost * stratum.base.work / work;
    }
    blocks.into_values().collect()
}

/// Work over cost of both groups on the mix that both did: arm and base. Each stratum weighs as in the ratio of the
/// two.
pub(crate) fn speeds<'s>(strata: impl Iterator<Item = (&'s Sums, &'s Sums)>) -> (f64, f64) {
    let both = strata.filter(|(arm, base)| arm.work > 0.0 && base.work > 0.0);
    let (mix, arm, base) = both.fold((0.0, 0.0, 0.0), |sums, (arm, base)| {
        let work = arm.work + base.work;
        let cost = (arm.cost * base.work / work, base.cost * arm.work / work);
        (sums.0 + arm.work * base.work / work, sums.1 + cost.0, sums.2 + cost.1)
    });
    (mix / arm, mix / base)
}

/// Fewest values that tell whether they resemble their neighbours.
const LEAST_TOLD: usize = 24;
/// Standard errors by which a coefficient may be higher than it comes out.
const ERRORS: f64 = 1.5;

/// A scale at which sums of neighbours resemble each other beyond chance.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Scale {
    /// How many independent sums tell as much.
    sums: f64,
    /// Independent blocks that one of them is worth.
    each: f64,
}

/// The blocks that a state that lasts through several leaves.
///
/// Noise within the blocks hides what lasts from lag 1, so sums of neighbours are looked at too, as long ones as leave
/// enough of them; the scale at which most lasts decides. Where a coefficient is too small to be seen, it counts as one
/// standard error.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Lasting {
    /// How many independent blocks tell as much, six at least.
    pub effective: f64,
    /// Scales whose resemblance is beyond chance.
    alike: Vec<Scale>,
}

impl Lasting {
    /// `residuals`: how far each block departs from the whole, in the order of time.
    fn of(residuals: &[f64]) -> Lasting {
        let n = residuals.len();
        let square = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
        let longest = (n / LEAST_TOLD).max(1);
        let (mut effective, mut alike) = (n as f64, Vec::new());
        for length in [1, 2, 4, longest].into_iter().filter(|length| *length <= longest) {
            let sums: Vec<f64> = residuals.chunks_exact(length).map(|some| some.iter().sum()).collect();
            let like = lag1(&sums);
            // Sums of blocks that resemble each other vary more than those of others.
            let more = square(&sums) / square(&residuals[..sums.len() * length]);
            let each = if more > 0.0 { n as f64 / (sums.len() as f64 * more.max(1.0)) } else { 1.0 };
            effective = effective.min(fewest(sums.len(), like.unwrap_or(0.0), ERRORS) * each);
            if like.is_some_and(|r| beyond_chance(r, sums.len())) {
                alike.push(Scale { sums: effective_n(sums.len(), like), each });
            }
        }
        Lasting { effective: effective.max(MIN_N as f64), alike }
    }

    /// How many independent sums are left where they resemble each other most.
    fn fewest(&self) -> f64 {
        self.alike.iter().map(|scale| scale.sums).fold(f64::INFINITY, f64::min)
    }

    /// True if fewer than six are left.
    pub fn is_few(&self) -> bool {
        self.fewest() < MIN_N as f64
    }

    /// Why there is no interval.
    pub fn refused(&self, residuals: &[f64]) -> Unfit {
        let lag1 = lag1(residuals).unwrap_or(1.0);
        Unfit::Dependent { n: residuals.len(), effective: self.fewest(), lag1 }
    }

    /// How many times as wide the standard error of `n` independent blocks becomes, and its degrees of freedom: by the
    /// scale that makes the interval widest. `None` where fewer than two sums are left.
    fn widest(&self, n: usize) -> Option<(f64, f64)> {
        if self.fewest() < LEAST_SUMS {
            return None;
        }
        let wider = |blocks: f64| (n as f64 / blocks).sqrt();
        let few = self.alike.iter().filter(|scale| scale.sums < MIN_N as f64);
        let few = few.map(|scale| (wider(scale.sums * scale.each), scale.sums - 1.0));
        let width = |(wider, dof): &(f64, f64)| wider * student_quantile(1.0 - ALPHA / 2.0, *dof);
        few.chain([(wider(self.effective), self.effective - 1.0)])
            .max_by(|a, b| width(a).total_cmp(&width(b)))
    }
}

/// Fewest independent sums that have a spread.
const LEAST_SUMS: f64 = 2.0;

/// How many independent blocks tell as much. Fails where what lasts leaves fewer than six.
pub(crate) fn independent(residuals: &[f64]) -> Result<f64, Unfit> {
    let lasting = Lasting::of(residuals);
    if lasting.is_few() { Err(lasting.refused(residuals)) } else { Ok(lasting.effective) }
}

/// The effect drawn from `n` blocks as if they were independent, `wider` times as wide, with fewer degrees of freedom.
pub(crate) fn widened(
    estimate: f64,
    drawn: Vec<f64>,
    n: usize,
    (wider, dof): (f64, f64),
) -> Result<Effect, Unfit> {
    let Bootstrap { interval: Interval { low, high, level }, se, .. } = finish(estimate, drawn, expanded(n))?;
    let t = |dof: f64| student_quantile(1.0 - ALPHA / 2.0, dof);
    let ends = wider * t(dof) / t(n as f64 - 1.0);
    let at = |end: f64| estimate + (end - estimate) * ends;
    let interval = Interval { low: at(low).min(estimate), high: at(high).max(estimate), level };
    Ok(Effect { estimate, interval, se: se * wider, dof })
}

fn crude(strata: &[Stratum]) -> Result<f64, Unfit> {
    let total = |of: fn(&Stratum) -> f64| strata.iter().map(of).sum::<f64>();
    let arm = Sums { work: total(|s| s.arm.work), cost: total(|s| s.arm.cost) };
    total_ratio(arm, Sums { work: total(|s| s.base.work), cost: total(|s| s.base.cost) })
}

/// ln of the ratio of two groups' speeds.
pub(crate) fn total_ratio(arm: Sums, base: Sums) -> Result<f64, Unfit> {
    let ratio = ((arm.work / arm.cost) / (base.work / base.cost)).ln();
    if ratio.is_finite() { Ok(ratio) } else { Err(Unfit::Argument("one group did no work, or took no time")) }
}

fn shared(strata: &[Stratum]) -> f64 {
    let work = |stratum: &Stratum| stratum.arm.work + stratum.base.work;
    let of_both: f64 = strata.iter().filter(|stratum| both(stratum)).map(work).sum();
    of_both / strata.iter().map(work).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bootstrap::RESAMPLES;

    /// Mean bytes and time of a class's requests on the slower machine, in B and s.
    const CLASSES: [(f64, f64); 4] = [(300.0, 0.002), (4e3, 0.006), (6e4, 0.02), (2e6, 0.3)];

    /// Two days of a site behind a load balancer, in blocks of 10 minutes. The arm is `truth` times as fast
    /// at every size. On the second day the balancer gives it twice the share, of the large files above
    /// all; traffic follows the hour, large files come at night, both machines share the network's bad
    /// moments and each has its own, which last.
    fn traffic(truth: f64, rng: &mut Rng) -> Vec<Stratum> {
        let mut own = [0.0f64; 2];
        let mut strata = Vec::new();
        for block in 0..288u64 {
            let hour = (block as f64 / 6.0) % 24.0;
            let day = 1.0 + 0.8 * (hour / 24.0 * std::f64::consts::TAU).sin();
            let shared = (0.3 * rng.normal()).exp();
            own = own.map(|state| 0.5 * state + 0.15 * rng.normal());
            for (class, (bytes, time)) in CLASSES.into_iter().enumerate() {
                let night = if class == 3 { 2.0 - day } else { day };
                let arm_share = if block < 144 { 0.5 } else { 0.6 + 0.1 * class as f64 };
                let mut group = |share: f64, state: f64, speed: f64| {
                    let requests =
                        (120.0 / 4f64.powi(class as i32) * night.max(0.05) * share).round() as usize;
                    let mut sums = Sums::default();
                    for _ in 0..requests {
                        sums.work += bytes * (0.5 * rng.normal()).exp();
                        sums.cost += time / speed * shared * (state + 1.2 * rng.normal()).exp();
                    }
                    sums
                };
                let arm = group(arm_share, own[0], truth);
                let base = group(1.0 - arm_share, own[1], 1.0);
                strata.push(Stratum { block, class: class as u32, arm, base });
            }
        }
        strata
    }

    #[test]
    fn intervals_hold_the_truth_whatever_the_balancer_does() {
        let (mut held, mut crude_off, mut refused) = (0, 0, 0);
        const SEEDS: u64 = 200;
        for seed in 0..SEEDS {
            let mut rng = Rng::new(seed);
            let truth = if seed % 2 == 0 { 1.0f64 } else { 2.0 };
            let Ok(found) = stratified(&traffic(truth, &mut rng), 400, &mut rng) else {
                refused += 1;
                continue;
            };
            held += u64::from(found.effect.interval.contains(truth.ln()));
            crude_off += u64::from(!found.effect.interval.contains(found.crude));
        }
        // 95 % of 200 is 190; fewer than 180 would come about once in 500 tries.
        assert!(held + refused >= 180 && refused <= 10, "{held} hold the truth, {refused} have none");
        assert!(crude_off > 100, "the totals agree in {} of {SEEDS}: too easy a traffic", SEEDS - crude_off);
    }

    /// Ratios that last half a block, hidden behind the noise of few requests.
    fn lasting(blocks: u64, rng: &mut Rng) -> Vec<Stratum> {
        let mut own = [0.0f64; 2];
        let mut stratum = |block| {
            own = own.map(|state| 0.5 * state + 0.12 * rng.normal());
            let [arm, base] = own.map(|state| {
                let mut sums = Sums::default();
                for _ in 0..25 {
                    sums.work += 1000.0 * (0.2 * rng.normal()).exp();
                    sums.cost += (state + 0.6 * rng.normal()).exp();
                }
                sums
            });
            Stratum { block, class: 0, arm, base }
        };
        (0..blocks).map(&mut stratum).collect()
    }

    #[test]
    fn intervals_hold_the_truth_though_noise_hides_what_lasts() {
        let held = |seed| {
            let mut rng = Rng::new(seed);
            let found = stratified(&lasting(192, &mut rng), 400, &mut rng);
            // No claim is no wrong claim.
            found.is_err() || found.is_ok_and(|found| found.effect.interval.contains(0.0))
        };
        let held = (0..400).filter(|seed| held(*seed)).count();
        // 95 % of 400 is 380, less three standard deviations.
        assert!(held >= 367, "{held} of 400 intervals hold the truth");
    }

    #[test]
    fn more_work_or_other_work_is_not_speed() {
        // Both need 1 s per unit of class 0 and 10 s per unit of class 1.
        let strata: Vec<Stratum> = (0..12)
            .flat_map(|block| {
                let at = |class, arm, base, cost| Stratum {
                    block,
                    class,
                    arm: Sums { work: arm, cost: arm * cost },
                    base: Sums { work: base, cost: base * cost },
                };
                [at(0, 90.0, 10.0, 1.0), at(1, 10.0, 90.0, 10.0)]
            })
            .collect();
        let found = stratified(&strata, RESAMPLES, &mut Rng::new(1)).unwrap();
        assert!(found.effect.estimate.abs() < 1e-12 && found.effect.interval.contains(0.0));
        assert!(found.crude > 1.5, "{found:?}");
        assert!((found.shared - 1.0).abs() < 1e-12 && found.blocks == 12);
    }

    #[test]
    fn a_stratum_of_one_group_says_nothing() {
        let mut rng = Rng::new(9);
        let mut strata = lasting(192, &mut rng);
        let before = stratified(&strata, 200, &mut Rng::new(2)).unwrap();
        strata.push(Stratum {
            block: 3,
            class: 9,
            arm: Sums { work: 1e9, cost: 1.0 },
            base: Sums::default(),
        });
        let after = stratified(&strata, 200, &mut Rng::new(2)).unwrap();
        assert_eq!(after.effect, before.effect);
        assert!(after.shared < before.shared && after.crude > before.crude);
    }

    #[test]
    fn swapped_groups_give_the_inverse() {
        let mut rng = Rng::new(4);
        let strata = traffic(2.0, &mut rng);
        let swapped: Vec<Stratum> =
            strata.iter().map(|s| Stratum { arm: s.base, base: s.arm, ..*s }).collect();
        let (one, other) = (
            stratified(&strata, 200, &mut Rng::new(5)).unwrap(),
            stratified(&swapped, 200, &mut Rng::new(5)).unwrap(),
        );
        assert!((one.effect.estimate + other.effect.estimate).abs() < 1e-9);
        assert!((one.crude + other.crude).abs() < 1e-9);
    }

    #[test]
    fn what_lasts_widens_the_interval() {
        let slow = |length: u64| -> Vec<Stratum> {
            let mut rng = Rng::new(11);
            let mut state = 1.0;
            (0..144u64)
                .map(|block| {
                    if block % length == 0 {
                        state = (0.4 * rng.normal()).exp();
                    }
                    let arm = Sums { work: 100.0, cost: 100.0 * state };
                    Stratum { block, class: 0, arm, base: Sums { work: 100.0, cost: 100.0 } }
                })
                .collect()
        };
        let width = |length| {
            let found = stratified(&slow(length), RESAMPLES, &mut Rng::new(3)).unwrap();
            (found.effect.interval.high - found.effect.interval.low, found.effective)
        };
        let (short, lasting) = (width(1), width(6));
        assert!(short.1 > 5.0 * lasting.1 && lasting.0 > 1.3 * short.0, "{short:?} {lasting:?}");
    }

    #[test]
    fn too_little_is_refused_with_the_reason() {
        let one = |block| Stratum {
            block,
            class: 0,
            arm: Sums { work: 1.0, cost: 1.0 },
            base: Sums { work: 1.0, cost: 1.0 },
        };
        let few: Vec<Stratum> = (0..5).map(one).collect();
        let mut rng = Rng::new(1);
        assert_eq!(stratified(&few, 200, &mut rng), Err(Unfit::TooFew { have: 5, need: 6 }));
        assert_eq!(stratified(&[], 200, &mut rng), Err(Unfit::Empty));
        let mut idle: Vec<Stratum> = (0..8).map(one).collect();
        idle.iter_mut().for_each(|stratum| stratum.base.cost = 0.0);
        assert!(matches!(stratified(&idle, 200, &mut rng), Err(Unfit::Argument(_))));
        idle[2].arm.cost = -1.0;
        assert_eq!(stratified(&idle, 200, &mut rng), Err(Unfit::OutOfRange { index: 2 }));
    }
}
