//! Which further measurement would tell two candidates apart by cost, and how long it takes.
//!
//! The difference of the logarithms of their costs is taken to stay as it is; a further run of a need's figure narrows
//! that figure's standard error as the noise between its runs allows.

use model::doc::SettleDoc;

use super::draws::known;
use super::order::NAMED;
use super::sized::Sized;
use super::values::Shared;
use super::words::ends;
use super::world::Common;
use super::{Capacity, Question};

/// More runs than anybody would make.
const MOST_RUNS: u64 = 50;

/// Measurements that would settle which of the first two is the cheaper; none where it is settled, or where no number
/// of runs would.
pub fn settle(all: &[Sized<'_>], question: &Question, middle: &Shared, common: Common) -> Vec<SettleDoc> {
    let [first, second, ..] = all else { return Vec::new() };
    let (Some(a), Some(b)) = (first.counted(common), second.counted(common)) else { return Vec::new() };
    let apart = (b / a).ln().abs();
    let wanted = apart / stats::normal_quantile(NAMED);
    let sides = [parts(first, question, middle), parts(second, question, middle)];
    let all: Vec<(f64, &Capacity)> = sides.into_iter().flatten().collect();
    // A range of a price stays, however often is measured.
    let fixed: f64 = [first, second].into_iter().map(|one| of_price(one)).sum();
    let variance = |more: u64| -> f64 {
        fixed + all.iter().map(|(weight, one)| weight.powi(2) * of(one, more)).sum::<f64>()
    };
    if variance(0).sqrt() <= wanted {
        return Vec::new();
    }
    let Some(runs) = (1..=MOST_RUNS).find(|more| variance(*more).sqrt() <= wanted) else { return Vec::new() };
    let mut steps: Vec<SettleDoc> = Vec::new();
    for (weight, one) in &all {
        let Some(repeat) = one.repeat.as_ref().filter(|_| *weight > 0.0) else { continue };
        if steps.iter().any(|known| known.command == repeat.command) {
            continue;
        }
        steps.push(SettleDoc {
            command: repeat.command.clone(),
            on: repeat.on.clone(),
            runs,
            seconds: repeat.seconds.map(|seconds| seconds * runs as f64),
            why: known_to(one),
        });
    }
    steps
}

/// Capacities of rates with their weight: the share of the load that they carry.
fn parts<'a>(one: &Sized<'a>, question: &Question, middle: &Shared) -> Vec<(f64, &'a Capacity)> {
    let known = known(one.candidate).unwrap_or_default();
    let each = question.needs.iter().zip(&middle.demand).zip(&one.own.capacity).zip(known);
    let loads: Vec<(f64, &Capacity)> = each
        .filter(|(((need, _), _), _)| !need.need.is_space())
        .map(|(((_, demand), capacity), known)| (demand / capacity, known))
        .collect();
    let sum: f64 = loads.iter().map(|(load, _)| load).sum();
    loads.into_iter().map(|(load, known)| (load / sum, known)).collect()
}

/// How well a capacity is known: half its interval.
fn known_to(one: &Capacity) -> String {
    let (low, high) = ends(one);
    format!("{} is known to {}", one.figure, model::format::percent((high / low).sqrt() - 1.0))
}

/// Variance of the logarithm of a price that was given as a range: uniform between its ends.
fn of_price(one: &Sized<'_>) -> f64 {
    let amount = one.candidate.price.as_ref().map(|price| price.amount);
    amount.map_or(0.0, |amount| ((amount.high - amount.low) / amount.middle()).powi(2) / 12.0)
}

/// Variance of a capacity's logarithm after so many more runs.
fn of(capacity: &Capacity, more: u64) -> f64 {
    match &capacity.repeat {
        Some(repeat) => repeat.noise.powi(2) / (repeat.runs.max(1) as f64 + more as f64),
        None => capacity.se.powi(2),
    }
}
