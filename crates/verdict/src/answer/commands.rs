//! Commands of the user's beside the first one of their run, by their time.

use model::answer::{Answer, Timed};
use model::doc::{MachineDoc, RowDoc, VerdictWord};
use model::metrics::command::WALL;

use crate::compare::{CompareOptions, Side, compare};
use crate::run_index::RunIndex;

/// The level of a family of rows at which two commands differ.
const LEVEL: f64 = 0.05;

/// Every command beside the first; `None` where there is only one.
pub fn beside(index: &RunIndex<'_>) -> Option<Answer> {
    let run = index.run;
    if run.plan.arms.len() < 2 {
        return None;
    }
    let machine = MachineDoc { id: run.head.machine_id.clone(), name: run.head.machine.clone() };
    let side = |arm: &model::Arm| Side {
        runs: vec![run],
        earlier: index.context.earlier.clone(),
        facts: run.facts.clone(),
        arm: Some(arm.name.clone()),
        ..Side::new(&arm.name, machine.clone())
    };
    let sides: Vec<Side<'_>> = run.plan.arms.iter().map(side).collect();
    let options = CompareOptions { cards: index.context.cards, ..CompareOptions::default() };
    let rows = compare(&sides, &options).rows;
    let all: Vec<Timed> = rows.iter().filter(|row| row.metric == WALL.name()).filter_map(timed).collect();
    (!all.is_empty()).then_some(Answer::Commands(all))
}

fn timed(row: &RowDoc) -> Option<Timed> {
    let excludes_one = row.low.is_some_and(|low| low > 1.0) || row.high.is_some_and(|high| high < 1.0);
    Some(Timed {
        name: row.arm.clone(),
        base: row.base.clone(),
        ratio: row.ratio.filter(|ratio| ratio.is_finite() && row.verdict != VerdictWord::Invalid)?,
        low: row.low,
        high: row.high,
        verdict: row.verdict,
        is_apart: excludes_one && row.p_holm.is_some_and(|p| p <= LEVEL),
        margin: row.margin,
    })
}
