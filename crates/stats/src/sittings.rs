//! Figures of takes that lie in sittings: a run prepares everything afresh in each, so that takes of one sitting share
//! what the preparation drew (placement, page colours, a hash seed) and are no replicates of it.
//!
//! One-way random effects: each sitting counts as its median, on the scale of logarithms where all values are positive.
//! The variance of a sitting is the larger of what the sittings show and what their takes explain. It has the degrees
//! of freedom of the sittings; the further it stays below what the takes explain, the more of the takes' join them.
//! Noise that outlasts a sitting shows where one sitting ends and the next begins: takes beside such a border are then
//! more alike than takes of any two sittings, and the variance is widened as an autocorrelation of that size asks.
//!
//! Not counted: what differs only between runs (see [`mod@crate::between`]). Noise that lasts longer than the run
//! cannot be told from the run's own level.

use crate::describe::{mean, median, standard_deviation};
use crate::distributions::{normal_quantile, student_p, student_quantile};
use crate::effect::Interval;
use crate::hodges_lehmann::hodges_lehmann;
use crate::paired::{Paired, Test};
use crate::summary::{Summary, summary};
use crate::unfit::{Unfit, check};
use crate::{ALPHA, LEVEL};

/// Variance of a median, as a multiple of that of a mean, for normal values and the few takes of a sitting.
const MEDIAN: f64 = 1.45;
/// Fewest sittings that show what a preparation does between arms.
pub const MIN_SITTINGS: usize = 3;

/// Where sittings lie together, and how sure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Level {
    pub centre: f64,
    pub se: f64,
    pub dof: f64,
}

impl Level {
    fn half(&self) -> f64 {
        student_quantile(1.0 - ALPHA / 2.0, self.dof) * self.se
    }
}

/// Variances of one sitting's figure: as the sittings show it, and as their takes explain it.
struct Spread {
    figures: Vec<f64>,
    between: f64,
    within: f64,
    /// Degrees of freedom of `within`.
    inner: f64,
}

fn spread(sittings: &[Vec<f64>], figure: impl Fn(&[f64]) -> Option<f64>, share: f64) -> Option<Spread> {
    let figures: Vec<f64> = sittings.iter().map(|takes| figure(takes)).collect::<Option<_>>()?;
    let between = standard_deviation(&figures)?.powi(2);
    let (mut squares, mut inner) = (0.0, 0.0);
    for takes in sittings {
        if let Some(sd) = standard_deviation(takes) {
            let dof = (takes.len() - 1) as f64;
            squares += sd * sd * dof;
            inner += dof;
        }
    }
    let part = |takes: &Vec<f64>| if takes.len() > 2 { share } else { 1.0 } / takes.len() as f64;
    let parts: Vec<f64> = sittings.iter().map(part).collect();
    let within = if inner > 0.0 { squares / inner * mean(&parts)? } else { 0.0 };
    Some(Spread { figures, between, within, inner })
}

/// The level of two or more sittings, each with a value.
fn level(sittings: &[Vec<f64>], figure: impl Fn(&[f64]) -> Option<f64>, share: f64) -> Option<Level> {
    let found = spread(sittings, figure, share)?;
    let k = sittings.len() as f64;
    let below = if found.within > 0.0 { (1.0 - found.between / found.within).max(0.0) } else { 0.0 };
    let dof = k - 1.0 + found.inner * below * below;
    let lasting = outlasting(sittings);
    let variance = found.between.max(found.within) * (1.0 + lasting) / (1.0 - lasting);
    Some(Level { centre: mean(&found.figures)?, se: (variance / k).sqrt(), dof })
}

/// Autocorrelation of noise that outlasts a sitting, drawn towards none as there are few borders; below one.
fn outlasting(sittings: &[Vec<f64>]) -> f64 {
    let border = |pair: &[Vec<f64>]| Some((pair[0].last()? - pair[1].first()?).powi(2));
    let borders: Vec<f64> = sittings.windows(2).filter_map(border).collect();
    // Sum of the squares of all differences between two sittings, from each one's sums around a common centre.
    let Some(centre) = mean(&sittings.concat()) else { return 0.0 };
    let sums = |takes: &Vec<f64>| {
        let from = || takes.iter().map(|take| take - centre);
        (takes.len() as f64, from().sum::<f64>(), from().map(|take| take * take).sum::<f64>())
    };
    let sums: Vec<(f64, f64, f64)> = sittings.iter().map(sums).collect();
    let (mut sum, mut pairs) = (0.0, 0.0);
    for (at, one) in sums.iter().enumerate() {
        for other in &sums[..at] {
            sum += other.0 * one.2 + one.0 * other.2 - 2.0 * one.1 * other.1;
            pairs += one.0 * other.0;
        }
    }
    let (Some(beside), true) = (mean(&borders), sum > 0.0) else { return 0.0 };
    let k = sittings.len() as f64;
    ((1.0 - beside / (sum / pairs)) * (k - 1.0) / k).max(0.0)
}

/// Sittings that have takes; every take is checked.
fn filled(sittings: &[&[f64]]) -> Result<Vec<Vec<f64>>, Unfit> {
    check(&sittings.concat())?;
    Ok(sittings.iter().filter(|takes| !takes.is_empty()).map(|takes| takes.to_vec()).collect())
}

/// The level of ln(value) over the sittings' medians; `None` for a single sitting. All values are positive.
pub(crate) fn log_level(sittings: &[&[f64]]) -> Result<Option<Level>, Unfit> {
    let mut logs = filled(sittings)?;
    logs.iter_mut().flatten().for_each(|value| *value = value.ln());
    Ok(if logs.len() < 2 { None } else { level(&logs, median, MEDIAN) })
}

/// Standard deviation of ln(value) from sitting to sitting, at least what their takes explain, with its degrees of
/// freedom. `None` for a single sitting.
pub fn sitting_spread(sittings: &[&[f64]]) -> Result<Option<(f64, f64)>, Unfit> {
    if let Some(index) = sittings.concat().iter().position(|value| *value <= 0.0) {
        return Err(Unfit::NotPositive { index });
    }
    let filled = sittings.iter().filter(|takes| !takes.is_empty()).count();
    Ok(log_level(sittings)?.map(|level| (level.se * (filled as f64).sqrt(), level.dof)))
}

/// Summarises takes by sitting, both in time order. The median is that of all takes; its interval, and the mean's,
/// count sittings. A single sitting is summarised as [`summary()`] does.
pub fn summary_of_sittings<Takes: AsRef<[f64]>>(sittings: &[Takes]) -> Result<Summary, Unfit> {
    let sittings: Vec<&[f64]> = sittings.iter().map(AsRef::as_ref).collect();
    let all: Vec<f64> = sittings.concat();
    let mut found = summary(&all)?;
    let filled = filled(&sittings)?;
    // Of too few takes there is no interval, however they are spread over sittings.
    if filled.len() < 2 || all.len() < crate::MIN_N {
        return Ok(found);
    }
    let positive = found.min > 0.0;
    let of_median = if positive { log_level(&sittings)? } else { level(&filled, median, MEDIAN) }
        .ok_or(Unfit::NoSpread)?;
    let scale = |value: f64| if positive { value.exp() } else { value };
    let (low, high) = (of_median.centre - of_median.half(), of_median.centre + of_median.half());
    found.interval = Some(Interval {
        low: scale(low).min(found.median),
        high: scale(high).max(found.median),
        level: LEVEL,
    });
    found.why = None;
    found.mean_interval = level(&filled, mean, 1.0).map(|l| Interval::around(found.mean, l.half()));
    found.method = Summary::BY_SITTING;
    found.sittings = filled.len();
    // Takes of one sitting share its preparation: that they are alike is counted above, and no doubt.
    found.doubts.clear();
    Ok(found)
}

/// Compares two arms of one machine given d = ln(arm / base) of each block, by sitting. A sitting counts as its
/// Hodges-Lehmann estimate; interval and p are Student's over sittings, with a variance of at least what the blocks
/// explain. Fewer than three sittings say nothing about another preparation and are refused.
pub fn paired_sittings(d: &[&[f64]]) -> Result<Paired, Unfit> {
    let sittings = filled(d)?;
    let n = sittings.len();
    if n < MIN_SITTINGS {
        return Err(Unfit::TooFewSittings { have: n, need: MIN_SITTINGS });
    }
    let found = spread(&sittings, hodges_lehmann, 1.05).ok_or(Unfit::Empty)?;
    let estimate = mean(&found.figures).ok_or(Unfit::Empty)?;
    let level = Level {
        centre: estimate,
        se: (found.between.max(found.within) / n as f64).sqrt(),
        dof: n as f64 - 1.0,
    };
    let p = match (level.se > 0.0, estimate == 0.0) {
        (true, _) => student_p(estimate / level.se, level.dof),
        (false, true) => 1.0,
        (false, false) => 0.0,
    };
    Ok(Paired {
        n,
        blocks: sittings.iter().map(Vec::len).sum(),
        estimate,
        interval: Some(Interval::around(estimate, level.half())),
        why: None,
        p,
        test: Test::Sittings,
        exact_p: p,
        min_p: 0.0,
        se: Some(level.se),
    })
}

/// Standard error of the median of fewer values than give an interval, widened as Student's quantile is.
pub(crate) fn of_few(logs: &[f64]) -> Option<f64> {
    let (sd, n) = (standard_deviation(logs)?, logs.len() as f64);
    let widened = student_quantile(1.0 - ALPHA / 2.0, n - 1.0) / normal_quantile(1.0 - ALPHA / 2.0);
    Some((std::f64::consts::PI / 2.0).sqrt() * sd / n.sqrt() * widened)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sittings_are_the_unit() {
        // Steady within, five per cent apart between.
        let sittings: Vec<Vec<f64>> = (0..5)
            .map(|s| (0..4).map(|t| 100.0 + 5.0 * f64::from(s % 3) + 0.1 * f64::from(t)).collect())
            .collect();
        let views: Vec<&[f64]> = sittings.iter().map(Vec::as_slice).collect();
        let (by_sitting, pooled) =
            (summary_of_sittings(&views).expect("finite"), summary(&sittings.concat()).expect("finite"));
        assert_eq!((by_sitting.n, by_sitting.sittings, by_sitting.median), (20, 5, pooled.median));
        assert_eq!(by_sitting.method, Summary::BY_SITTING);
        let i = by_sitting.interval.expect("five sittings");
        assert!(i.low < 100.0 && i.high > 108.0, "{i:?}");
        assert!(i.contains(by_sitting.median) && by_sitting.doubts.is_empty());
    }

    #[test]
    fn one_sitting_is_summarised_as_ever() {
        let takes = [98.0, 103.0, 97.0, 101.0, 99.0, 102.0, 96.0, 104.0, 100.0, 95.0];
        assert_eq!(summary_of_sittings(&[&takes]), summary(&takes));
        assert_eq!(summary_of_sittings(&[&[][..], &takes]), summary(&takes));
        assert_eq!(summary_of_sittings::<&[f64]>(&[]), Err(Unfit::Empty));
        assert_eq!(summary_of_sittings(&[&[1.0], &[f64::NAN]]), Err(Unfit::OutOfRange { index: 1 }));
    }

    #[test]
    fn values_may_be_zero_or_negative() {
        let s =
            summary_of_sittings(&[&[-1.0, 0.0, 1.0], &[0.5, 0.0, -0.5], &[0.2, 0.1, -0.3]]).expect("finite");
        assert!(s.interval.is_some_and(|i| i.low < 0.0 && i.high > 0.0 && i.contains(s.median)));
        let flat = summary_of_sittings(&[&[7.0, 7.0, 7.0], &[7.0, 7.0, 7.0]]).expect("finite");
        assert!(flat.interval.is_some_and(|i| (i.low - 7.0).abs() < 1e-9 && (i.high - 7.0).abs() < 1e-9));
    }

    #[test]
    fn few_takes_have_no_interval_over_however_many_sittings() {
        let few = summary_of_sittings(&[&[1.0], &[1.1], &[1.2]]).expect("finite");
        assert_eq!((few.interval, few.why), (None, Some(Unfit::TooFew { have: 3, need: crate::MIN_N })));
    }

    #[test]
    fn arms_need_three_sittings() {
        let d = [0.10, 0.11, 0.09];
        assert_eq!(paired_sittings(&[&d, &d]), Err(Unfit::TooFewSittings { have: 2, need: 3 }));
        let c = paired_sittings(&[&d, &[0.12, 0.10], &[0.08, 0.11, 0.10]]).expect("three");
        assert_eq!((c.n, c.blocks, c.test), (3, 8, Test::Sittings));
        assert!((c.estimate - 0.1).abs() < 0.01 && c.p < 0.01);
        let none = paired_sittings(&[&[0.0], &[0.0], &[0.0]]).expect("three");
        assert_eq!((none.p, none.estimate), (1.0, 0.0));
    }
}
