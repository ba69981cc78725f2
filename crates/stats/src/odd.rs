//! Ones that stand apart from many that should be equal: which of the nodes of a group are not like the others.
//!
//! Of each figure the middle is the median and the spread Rousseeuw and Croux's Qn (1993, J. Am. Stat. Assoc. 88, 424),
//! which nodes that stand apart do not change until they are half. The distance over the spread is judged by Student's
//! distribution, with fewer degrees of freedom than values, since the spread comes from few of them. All distances of
//! all nodes and figures are one family (Holm). A distance below the margin is none, however sure.

use crate::describe::median;
use crate::distributions::student_p;
use crate::holm::holm;

/// Fewest nodes of which one can be told apart.
pub const FEWEST: usize = 5;

/// Pairs of values are counted up to this many values; of more, as many of them stand for all.
const MOST: usize = 2000;

/// How many times as far as the next node one that stands apart is.
const GAP: f64 = 1.75;

/// Consistency of Qn for normal values.
const NORMAL: f64 = 2.2219;

/// When a node stands apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OddRule {
    /// Share of groups of equal nodes in which any may be called odd.
    pub level: f64,
    /// Distance from the median below which none is odd, as a difference of logarithms.
    pub margin: f64,
    /// The spread that equal nodes have at least, of logarithms.
    pub floor: f64,
}

impl OddRule {
    /// Machines that differ by less than 5 % are called equal, and spread by 1 % or more from run to run.
    pub const NODES: OddRule = OddRule { level: 0.05, margin: 0.05, floor: 0.01 };
}

/// A figure of a node that stands apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    pub node: usize,
    pub figure: usize,
    /// Of the group, as a logarithm.
    pub middle: f64,
    /// Value less middle.
    pub distance: f64,
    /// The distance over the spread of the group.
    pub score: f64,
    /// After Holm's correction.
    pub p: f64,
}

/// The result of a group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Odd {
    /// By node, the surest first.
    pub apart: Vec<Apart>,
    /// Figures that enough nodes had.
    pub figures: usize,
}

/// Where the values of one figure stand: middle and spread.
fn standing(values: &[f64], floor: f64) -> Option<(f64, f64)> {
    let middle = median(values)?;
    Some((middle, qn(values)?.max(floor)))
}

/// The spread of values by the distances of their pairs; `None` of fewer than two.
pub(crate) fn qn(values: &[f64]) -> Option<f64> {
    let step = values.len().div_ceil(MOST).max(1);
    let some: Vec<f64> = values.iter().copied().step_by(step).collect();
    let n = some.len();
    let half = n / 2 + 1;
    let mut distances: Vec<f64> =
        (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| (some[i] - some[j]).abs()).collect();
    let place = (half * (half - 1) / 2).checked_sub(1)?;
    if place >= distances.len() {
        return None;
    }
    let (_, found, _) = distances.select_nth_unstable_by(place, f64::total_cmp);
    Some(NORMAL * small(n) * *found)
}

/// Factor that takes back what few values do to Qn (Croux and Rousseeuw 1992).
fn small(n: usize) -> f64 {
    const FEW: [f64; 10] = [1.0, 1.0, 0.399, 0.994, 0.512, 0.844, 0.611, 0.857, 0.669, 0.872];
    match FEW.get(n) {
        Some(factor) => *factor,
        None if n % 2 == 1 => n as f64 / (n as f64 + 1.4),
        None => n as f64 / (n as f64 + 3.8),
    }
}

/// Degrees of freedom of a distance over Qn of this many values. Fewer than of a standard deviation: Qn has half of the
/// pairs. Set by simulation (`tests/all/odd.rs`).
pub(crate) fn freedom(n: usize) -> f64 {
    (0.5 * (n as f64 - 1.0)).max(1.0)
}

/// The score from which nodes stand apart: the farthest figure of each is at least [`GAP`] times that of the next
/// node, with at most a third of the nodes beyond it. Where equal nodes have long tails, the farthest has another one
/// near it.
fn least_score(found: &[Apart], nodes: usize) -> f64 {
    let mut farthest = vec![0.0_f64; nodes];
    for one in found {
        farthest[one.node] = farthest[one.node].max(one.score.abs());
    }
    farthest.sort_by(|a, b| b.total_cmp(a));
    let pairs = farthest.iter().zip(farthest.iter().skip(1)).take(nodes / 3);
    let mut apart = pairs.filter(|(far, next)| **far >= GAP * **next).map(|(_, next)| GAP * *next);
    apart.next_back().unwrap_or(f64::INFINITY)
}

/// Judges figures, each with the logarithms of its values by node. A missing value is judged by nobody; a figure that
/// fewer than [`FEWEST`] nodes have is none.
pub fn odd(figures: &[Vec<Option<f64>>], rule: OddRule) -> Odd {
    let mut found: Vec<Apart> = Vec::new();
    let mut judged = 0;
    for (figure, values) in figures.iter().enumerate() {
        let known: Vec<(usize, f64)> = (values.iter().enumerate())
            .filter_map(|(node, value)| value.filter(|value| value.is_finite()).map(|value| (node, value)))
            .collect();
        if known.len() < FEWEST {
            continue;
        }
        let plain: Vec<f64> = known.iter().map(|(_, value)| *value).collect();
        let Some((middle, spread)) = standing(&plain, rule.floor) else { continue };
        judged += 1;
        found.extend(known.into_iter().map(|(node, value)| {
            let distance = value - middle;
            let score = distance / spread;
            Apart { node, figure, middle, distance, score, p: student_p(score, freedom(plain.len())) }
        }));
    }
    let corrected = holm(&found.iter().map(|one| Some(one.p)).collect::<Vec<_>>());
    for (one, p) in found.iter_mut().zip(corrected) {
        one.p = p.unwrap_or(1.0);
    }
    let nodes = figures.iter().map(Vec::len).max().unwrap_or(0);
    let least = least_score(&found, nodes);
    found.retain(|one| one.p < rule.level && one.distance.abs() > rule.margin && one.score.abs() >= least);
    found.sort_by(|a, b| (a.node, a.p).partial_cmp(&(b.node, b.p)).unwrap_or(std::cmp::Ordering::Equal));
    Odd { apart: found, figures: judged }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qn_of_a_textbook_sample() {
        // 1, 2, ..., 10: half is 6, and the 15th of 45 distances is 2.
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        let spread = qn(&values).unwrap();
        assert!((spread - NORMAL * 10.0 / 13.8 * 2.0).abs() < 1e-12, "{spread}");
        assert_eq!((qn(&[]), qn(&[1.0])), (None, None));
        assert_eq!(qn(&[3.0; 7]), Some(0.0));
    }

    #[test]
    fn the_one_that_stands_apart_is_told_and_missing_values_are_nobodys() {
        let mut values: Vec<Option<f64>> = (0..8).map(|n| Some(0.01 * f64::from(n % 3))).collect();
        values[4] = Some(-1.0);
        values[6] = None;
        let found = odd(&[values.clone(), vec![None; 8]], OddRule::NODES);
        assert_eq!(found.figures, 1);
        assert_eq!(found.apart.iter().map(|one| (one.node, one.figure)).collect::<Vec<_>>(), [(4, 0)]);
        assert!(found.apart[0].score < -10.0 && found.apart[0].distance < -0.9);
        let few: Vec<Option<f64>> = values.into_iter().take(4).collect();
        assert_eq!(odd(&[few], OddRule::NODES), Odd::default());
    }

    #[test]
    fn what_is_sure_and_small_is_not_odd() {
        let mut values = vec![Some(0.0); 40];
        values[3] = Some(0.049);
        assert!(odd(&[values.clone()], OddRule::NODES).apart.is_empty());
        values[3] = Some(0.2);
        assert_eq!(odd(&[values], OddRule::NODES).apart.len(), 1);
    }
}
