//! Two kinds of boxes that do the work together, where that is cheaper than any kind alone.
//!
//! A small integer programme for each pair of the cheapest kinds: whole boxes of either, and the share of each need
//! that they do. Loads add up on a box, space on all boxes; capacities are as sure as those of a kind alone. Spare
//! boxes are counted for each kind that takes part. With boxes that scale worse than linearly nothing is mixed: that
//! was measured of boxes of one kind.

use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, SolveOptions, Variable};
use model::doc::{MixedDoc, MixedPartDoc};

use super::Question;
use super::sized::Sized;
use super::values::Shared;
use super::world::{Common, spare};

/// The cheapest kinds whose pairs are looked at.
const KINDS: usize = 8;
/// A mixture must save more than this share, or it is not worth a second kind.
const WORTH: f64 = 0.005;
/// Branches of a search: two whole numbers need few.
const NODES: u64 = 10_000;

/// The cheapest mixture; `None` where one kind alone is as cheap.
pub fn mixed(all: &[Sized<'_>], question: &Question, middle: &Shared, common: Common) -> Option<MixedDoc> {
    if !question.scaling.is_linear() {
        return None;
    }
    let alone = all.first()?.counted(common)?;
    let kinds: Vec<Kind<'_>> =
        all.iter().filter_map(|one| Kind::new(one, question, middle, common)).take(KINDS).collect();
    let pairs =
        kinds.iter().enumerate().flat_map(|(place, a)| kinds[place + 1..].iter().map(move |b| (a, b)));
    let found = pairs.filter_map(|(a, b)| solve([a, b], question, middle));
    let best = found.min_by(|a, b| a.cost.total_cmp(&b.cost))?;
    let saved = 1.0 - best.cost / alone;
    (saved > WORTH).then_some(MixedDoc { saved, ..best })
}

/// A kind of box in the programme.
struct Kind<'s> {
    name: &'s str,
    /// As sure as the number of boxes of this kind alone is.
    capacity: Vec<f64>,
    /// Money for one box, at the load that it has alone.
    each: f64,
    most: u64,
    /// The share of a box that is used.
    used: f64,
}

impl<'s> Kind<'s> {
    fn new(one: &'s Sized<'_>, question: &Question, middle: &Shared, common: Common) -> Option<Kind<'s>> {
        let total = one.total(question);
        Some(Kind {
            name: &one.candidate.name,
            capacity: one.own.capacity.iter().map(|capacity| capacity / one.margin).collect(),
            each: one.counted(common)? / total as f64,
            most: one.needed,
            used: one.own.inputs.used(middle),
        })
    }
}

fn solve(kinds: [&Kind<'_>; 2], question: &Question, middle: &Shared) -> Option<MixedDoc> {
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    // Money and capacities are scaled to about 1, which the solver needs.
    let unit = kinds.iter().map(|kind| kind.each).fold(0.0, f64::max);
    let boxes: Vec<Variable> = kinds
        .iter()
        .map(|kind| {
            problem.add_integer_var(kind.each / unit, (0, i32::try_from(kind.most).unwrap_or(i32::MAX)))
        })
        .collect();
    let is_space = |need: usize| question.needs[need].need.is_space();
    let rates: Vec<usize> = (0..question.needs.len()).filter(|need| !is_space(*need)).collect();
    // The share of each rate that the first kind does; the second does the rest.
    let shares: Vec<Variable> = rates.iter().map(|_| problem.add_var(0.0, (0.0, 1.0))).collect();
    let full = |kind: &Kind<'_>, need: usize| middle.demand[need] / kind.capacity[need] / kind.used;
    let mut first = LinearExpr::empty();
    let mut second = LinearExpr::empty();
    first.add(boxes[0], -1.0);
    second.add(boxes[1], -1.0);
    for (need, share) in rates.iter().zip(&shares) {
        first.add(*share, full(kinds[0], *need));
        second.add(*share, -full(kinds[1], *need));
    }
    let all_on_second: f64 = rates.iter().map(|need| full(kinds[1], *need)).sum();
    problem.add_constraint(first, ComparisonOp::Le, 0.0);
    problem.add_constraint(second, ComparisonOp::Le, -all_on_second);
    for need in (0..question.needs.len()).filter(|need| is_space(*need)) {
        let mut room = LinearExpr::empty();
        for (kind, boxes) in kinds.iter().zip(&boxes) {
            room.add(*boxes, kind.capacity[need] / middle.demand[need]);
        }
        problem.add_constraint(room, ComparisonOp::Ge, 1.0);
    }
    let mut options = SolveOptions::default();
    options.node_limit = Some(NODES);
    let solution = problem.solve_with(options).ok()?.into_solution().ok()?;
    let count = |place: usize| solution.var_value(boxes[place]).round().max(0.0) as u64;
    let needed = [count(0), count(1)];
    if needed.contains(&0) {
        return None;
    }
    let totals = needed.map(|needed| needed + spare(needed, question.spare));
    let of_first: Vec<f64> = shares.iter().map(|share| solution.var_value(*share).clamp(0.0, 1.0)).collect();
    let part = |place: usize| {
        let mut rate = of_first.iter().map(|share| if place == 0 { *share } else { 1.0 - share });
        let room = |need: usize| {
            let of = |at: usize| needed[at] as f64 * kinds[at].capacity[need];
            of(place) / (of(0) + of(1))
        };
        let each = (0..question.needs.len())
            .map(|need| if is_space(need) { room(need) } else { rate.next().unwrap_or(0.0) });
        MixedPartDoc { candidate: kinds[place].name.to_owned(), boxes: totals[place], shares: each.collect() }
    };
    let cost = totals[0] as f64 * kinds[0].each + totals[1] as f64 * kinds[1].each;
    Some(MixedDoc { parts: vec![part(0), part(1)], cost, saved: 0.0 })
}
