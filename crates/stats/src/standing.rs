//! Members of a group that do the same work, in order: how each stands to the middle of the group, and which of them
//! are told apart.
//!
//! All values are natural logarithms. A member's score is the mean over its figures of the distance from the group's
//! median, so each figure weighs the same. Figures of one member come from one run and are taken to err together; two
//! members err apart. All pairs are one family (Holm). A member that lacks a figure has no place.
//!
//! Where the members lie closer together than the noise between runs was assumed to be, their spread ([`crate::odd`])
//! joins the assumption. One that is wider may be that of unlike members, and says nothing of noise.

use std::ops::Range;

use crate::describe::{mean, median};
use crate::distributions::{student_p, student_quantile};
use crate::effect::Interval;
use crate::holm::holm;
use crate::odd::{FEWEST, freedom, qn};
use crate::ranks::{Matrix, Rank, ranks, tie_groups};
use crate::verdict::{Basis, Better, Held, Margin, Verdict, verdict};
use crate::{ALPHA, NoiseKind, Prior};

/// One figure of one member; more is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    pub m: f64,
    /// Standard deviation from run to run.
    pub s: f64,
    /// Degrees of freedom behind `s`.
    pub dof: f64,
    /// No run has measured `s`.
    pub is_assumed: bool,
}

/// One member with its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standing {
    pub score: f64,
    /// `None` where something went on beside it whose part is not known.
    pub interval: Option<Interval>,
    pub rank: Rank,
}

/// A group in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standings {
    /// By member; `None` without a place.
    pub members: Vec<Option<Standing>>,
    /// Members with a place, best first.
    pub order: Vec<usize>,
    /// Stretches of `order` of which no pair was told apart; they may overlap.
    pub ties: Vec<Range<usize>>,
}

/// A member before it is compared.
#[derive(Clone, Copy)]
struct Sum {
    score: f64,
    se: f64,
    dof: f64,
    /// Student's t of its interval.
    t: f64,
    wider: Option<f64>,
}

/// Puts members in order. `figures` have the levels by member; `wider` says by how much the surroundings of a
/// member may have moved its score, `None` where that has no bound.
pub fn standings(figures: &[Vec<Option<Level>>], wider: &[Option<f64>], margin: Margin) -> Standings {
    let figures: Vec<Vec<Option<Level>>> = figures.iter().map(|levels| to_the_middle(levels)).collect();
    let sums: Vec<Option<Sum>> =
        wider.iter().enumerate().map(|(member, wider)| sum(&figures, member, *wider)).collect();
    let placed: Vec<usize> = (0..sums.len()).filter(|member| sums[*member].is_some()).collect();
    let known: Vec<Sum> = sums.iter().flatten().copied().collect();
    let matrix = matrix(&known, margin);
    let places = ranks(&matrix);
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_by(|a, b| {
        let place = |at: &usize| (places[*at].rank, places[*at].worst);
        place(a).cmp(&place(b)).then_with(|| known[*b].score.total_cmp(&known[*a].score))
    });
    let mut members: Vec<Option<Standing>> = vec![None; sums.len()];
    for ((member, sum), rank) in placed.iter().zip(&known).zip(&places) {
        let half = |wider: f64| Interval::around(sum.score, sum.t * sum.se + wider);
        members[*member] = Some(Standing { score: sum.score, interval: sum.wider.map(half), rank: *rank });
    }
    let ties = tie_groups(&matrix, &order);
    Standings { members, order: order.into_iter().map(|at| placed[at]).collect(), ties }
}

/// Levels less their median, with the spread that the group shows in place of one that was assumed larger.
fn to_the_middle(levels: &[Option<Level>]) -> Vec<Option<Level>> {
    let known: Vec<f64> = levels.iter().flatten().map(|level| level.m).collect();
    let middle = median(&known).unwrap_or(0.0);
    let group = qn(&known).filter(|_| known.len() >= FEWEST).map(|spread| (spread, freedom(known.len())));
    let settled = |level: &Level| {
        let level = Level { m: level.m - middle, ..*level };
        match group {
            Some((spread, v)) if level.is_assumed && spread < level.s => {
                let squares = level.dof * level.s * level.s + v * spread * spread;
                Level { s: (squares / (level.dof + v)).sqrt(), dof: level.dof + v, ..level }
            }
            _ => level,
        }
    };
    levels.iter().map(|level| level.as_ref().map(settled)).collect()
}

fn sum(figures: &[Vec<Option<Level>>], member: usize, wider: Option<f64>) -> Option<Sum> {
    let usable = |level: &Level| level.m.is_finite() && level.s > 0.0 && level.dof > 0.0;
    let own: Option<Vec<Level>> =
        figures.iter().map(|levels| levels.get(member).copied().flatten().filter(usable)).collect();
    let own = own.filter(|own| !own.is_empty())?;
    let dof = own.iter().map(|level| level.dof).fold(f64::INFINITY, f64::min);
    Some(Sum {
        score: mean(&own.iter().map(|level| level.m).collect::<Vec<_>>())?,
        se: mean(&own.iter().map(|level| level.s).collect::<Vec<_>>())?,
        dof,
        t: student_quantile(1.0 - ALPHA / 2.0, dof),
        wider,
    })
}

/// The verdicts of all pairs.
fn matrix(known: &[Sum], margin: Margin) -> Matrix {
    let size = known.len();
    let pairs: Vec<(usize, usize)> = (0..size).flat_map(|i| (i + 1..size).map(move |j| (i, j))).collect();
    let apart = |(i, j): &(usize, usize)| {
        let (a, b) = (&known[*i], &known[*j]);
        (a.score - b.score, a.se.hypot(b.se), a.dof.min(b.dof))
    };
    let p = pairs.iter().map(|pair| {
        let (distance, se, dof) = apart(pair);
        Some(student_p(distance / se, dof))
    });
    let mut corrected = holm(&p.collect::<Vec<_>>()).into_iter();
    let basis = Basis::Runs { noise: NoiseKind::Mixed, prior: Prior::Floor };
    Matrix::from_pairs(size, |i, j| {
        let p = corrected.next().flatten();
        let (distance, se, _) = apart(&(i, j));
        let Some(wider) = known[i].wider.zip(known[j].wider).map(|(a, b)| a + b) else {
            return Verdict::CannotTell(Held::Interval);
        };
        // Fewer degrees of freedom have the larger t.
        let half = known[i].t.max(known[j].t) * se + wider;
        verdict(Some(Interval::around(distance, half)), p, margin, Better::Higher, basis)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    fn level(m: f64) -> Option<Level> {
        Some(Level { m, s: 0.018, dof: 4.0, is_assumed: true })
    }

    fn group(values: &[f64]) -> Standings {
        let figure = values.iter().map(|value| level(*value)).collect();
        standings(&[figure], &vec![Some(0.0); values.len()], Margin::MACHINES)
    }

    #[test]
    fn one_that_is_far_behind_is_last_and_the_others_share_their_ranks() {
        let found = group(&[0.0, 0.01, -1.6, 0.02, -0.01, 0.0, 0.01, 0.0]);
        let ranks: Vec<(usize, usize)> =
            found.members.iter().flatten().map(|one| (one.rank.rank, one.rank.worst)).collect();
        assert_eq!(ranks[2], (8, 8));
        assert!(ranks.iter().enumerate().all(|(at, rank)| at == 2 || *rank == (1, 7)), "{ranks:?}");
        assert_eq!((found.order[0], found.order[7]), (3, 2));
        assert!(found.ties.len() == 1 && found.ties[0] == (0..7), "{:?}", found.ties);
        let last = found.members[2].expect("a place");
        assert!((last.score + 1.6).abs() < 1e-12 && last.interval.is_some_and(|i| i.high < -1.5));
    }

    #[test]
    fn a_member_without_a_figure_has_no_place_and_one_without_bounds_is_told_from_none() {
        let (one, two) = (vec![level(0.0), level(1.0), level(2.0)], vec![level(0.0), None, level(2.0)]);
        let found = standings(&[one.clone(), two], &[Some(0.0); 3], Margin::MACHINES);
        assert_eq!((found.members[1], found.order), (None, vec![2, 0]));
        let found = standings(&[one], &[Some(0.0), None, Some(0.0)], Margin::MACHINES);
        let middle = found.members[1].expect("a place");
        assert_eq!((middle.interval, middle.rank), (None, Rank { rank: 1, worst: 3 }));
        assert_eq!(standings(&[], &[Some(0.0); 2], Margin::MACHINES).members, [None, None]);
    }

    #[test]
    fn a_wide_group_is_ordered_all_the_same_and_disturbances_widen() {
        // Two kinds of members: their spread is not noise.
        let values = [0.0, 0.5, 0.0, 0.5, 0.0, 0.5];
        assert_eq!(group(&values).ties, [0..3, 3..6]);
        let figure: Vec<Option<Level>> = values.iter().map(|value| level(*value)).collect();
        let found = standings(&[figure], &[Some(0.3); 6], Margin::MACHINES);
        assert!(found.ties.len() == 1 && found.ties[0] == (0..6), "either may have been moved by a third");
    }

    #[test]
    fn equal_members_are_ordered_in_fewer_than_one_group_of_twenty() {
        for (members, spread) in [(3, 0.018), (8, 0.018), (8, 0.005), (40, 0.018)] {
            let mut rng = Rng::derive(7, &format!("standing {members} {spread}"));
            let ordered = (0..1000).filter(|_| {
                let values: Vec<f64> = (0..members).map(|_| spread * rng.normal()).collect();
                group(&values).members.iter().flatten().any(|one| one.rank.rank > 1)
            });
            let ordered = ordered.count();
            assert!(ordered <= 50, "{ordered} of 1000 groups of {members}");
        }
    }
}
