//! Equal rates for all targets of a study: a load that is a share of the server's capacity becomes one of so many
//! requests a second, by the capacity of the target that has the least.
//!
//! Requests per second of a closed loop, before the study, in a store that is thrown away. A share of each target's own
//! capacity would ask more of the faster one. Searches choose their rates themselves, for each target.

use std::path::Path;

use model::data::Series;
use model::metrics::load::THROUGHPUT;
use model::plan::{Plan, Takes};
use model::{Cell, format};

use super::attempt::tried;
use super::stop_signal::StopSignal;
use crate::error::CliError;
use crate::lookup::paths::Scratch;

/// Takes of each closed loop: the most of them counts.
const TAKES: u32 = 3;
/// Longer than they take, in seconds.
const BUDGET: f64 = 600.0;

/// A closed loop, and what the slowest target answers in it.
#[derive(Clone, Debug)]
struct Capacity {
    closed: Cell,
    rate: f64,
    target: String,
}

/// Gives the plan equal rates; with what is to be said of them. Fails where a target answers no closed loop.
pub fn settle(plan: &mut Plan, stop: &StopSignal) -> Result<Option<String>, CliError> {
    if plan.targets.len() < 2 || plan.fake.is_some() {
        return Ok(None);
    }
    // An arm's own setting goes before that of the cell, and would be each target's own.
    if let Some((arm, load)) =
        plan.arms.iter().find_map(|arm| Some((arm, arm.set.get("load").filter(|load| *load != "auto")?)))
    {
        let text =
            format!("arm {}: load={load} would ask each target for a share of its own capacity", arm.name);
        return Err(CliError::usage(text).hint("give arms of targets rates: --arm rate=1000 --arm rate=2000"));
    }
    let mut kinds: Vec<Cell> = Vec::new();
    for cell in plan.cells.iter().filter(|cell| share(cell).is_some()).map(closed) {
        if !kinds.contains(&cell) {
            kinds.push(cell);
        }
    }
    if kinds.is_empty() {
        return Ok(None);
    }
    let capacities = measured(plan, &kinds, stop)?;
    for cell in &mut plan.cells {
        let own = closed(cell);
        let capacity = capacities.iter().find(|one| one.closed == own);
        let Some((share, capacity)) = share(cell).zip(capacity) else { continue };
        cell.params.set("load", "auto");
        cell.params.set("rate", &format!("{}", (share * capacity.rate).round().max(1.0)));
    }
    let said: Vec<String> =
        capacities.iter().map(|one| format!("{}/s of `{}`", format::number(one.rate), one.target)).collect();
    Ok(Some(format!(
        "open loops ask every target for the same rates, shares of the least that one answers in a closed loop: {}",
        format::list(&said)
    )))
}

/// The share of the capacity that a load asks for.
fn share(cell: &Cell) -> Option<f64> {
    let percent: f64 = cell.params.get("load")?.strip_suffix('%')?.parse().ok()?;
    Some(percent / 100.0)
}

/// The closed loop that has the capacity of a load.
fn closed(cell: &Cell) -> Cell {
    let mut cell = cell.clone();
    cell.params.set("arrivals", "closed");
    cell.params.set("load", "auto");
    cell.headline.clear();
    cell
}

/// The least that a target answers in each of these loops, seen from every machine of the study.
fn measured(plan: &Plan, kinds: &[Cell], stop: &StopSignal) -> Result<Vec<Capacity>, CliError> {
    let folder = Scratch::new("rates")?;
    let mut found: Vec<Capacity> = Vec::new();
    for (index, via) in plan.machines.iter().enumerate() {
        let asked = Plan {
            arms: plan.arms.clone(),
            machines: [via.clone()].into(),
            generators: plan.generators.clone(),
            seed: plan.seed,
            cpus: plan.cpus.clone(),
            mixes: plan.mixes.clone(),
            budget_seconds: Some(BUDGET),
            ..Plan::bare(kinds.to_vec(), Takes::Fixed(TAKES))
        };
        let store = folder.path().join(format!("rates-{index}.db"));
        found.extend(on(&asked, &store, stop)?);
    }
    let least = |kind: &Cell| {
        let own = found.iter().filter(|one| one.closed == *kind);
        own.min_by(|a, b| a.rate.total_cmp(&b.rate)).cloned()
    };
    Ok(kinds.iter().filter_map(least).collect())
}

/// The rate of each target in each loop of this plan. Fails where one answers nothing.
fn on(plan: &Plan, store: &Path, stop: &StopSignal) -> Result<Vec<Capacity>, CliError> {
    let (_, run) = tried(plan, store, stop)?;
    let mut all = Vec::new();
    for (number, closed) in (0u32..).zip(&plan.cells) {
        for (arm, target) in (0u32..).zip(&plan.arms) {
            let seqs: Vec<u64> = run
                .takes
                .iter()
                .filter(|take| (take.cell, take.arm) == (number, arm))
                .map(|take| take.seq)
                .collect();
            let is_rate = |series: &&Series| series.key.metric == THROUGHPUT.name();
            let points = run.series.iter().filter(is_rate).flat_map(|series| &series.points);
            let rates = points.filter(|point| seqs.contains(&point.seq)).filter_map(|point| point.number());
            let rate = rates.reduce(f64::max).filter(|rate| *rate > 0.0).ok_or_else(|| {
                CliError::data(format!(
                    "`{}` answers no closed loop, so that no common rate is known",
                    target.name
                ))
                .hint("give a rate: --set arrivals=poisson --set rate=1000")
            })?;
            all.push(Capacity { closed: closed.clone(), rate, target: target.name.clone() });
        }
    }
    Ok(all)
}
