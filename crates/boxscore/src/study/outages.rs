//! The outages of a stored run that had come to its end: what `resume` measures again, and the advice to do so.

use std::collections::{BTreeMap, BTreeSet};

use harness::outage::{Outage, Taken, outages};
use model::data::{RunData, TakeHead};
use model::{Phase, format};

use crate::lookup::ids::short;

/// By the number of the cell. `has_ended`: the run had come to its end.
pub fn of_run(run: &RunData, has_ended: bool) -> BTreeMap<u32, Outage> {
    let of = |take: &TakeHead| {
        let TakeHead { block, cell, arm, .. } = *take;
        (take.phase == Phase::Measured).then(|| Taken { block, cell, arm, has_failed: take.fault.is_some() })
    };
    let taken: Vec<Taken> = run.takes.iter().filter_map(of).collect();
    outages(&run.plan, &taken, has_ended)
}

/// The arms that have outages; empty where there is none.
fn arms(run: &RunData, all: &BTreeMap<u32, Outage>) -> Vec<String> {
    let mut arms: Vec<String> = Vec::new();
    for (cell, arm) in all.iter().flat_map(|(cell, outage)| outage.arms.iter().map(move |arm| (*cell, *arm)))
    {
        let name = run.plan.arm_name(cell, arm);
        let name = if name.is_empty() { "this run".to_owned() } else { format!("`{name}`") };
        if !arms.contains(&name) {
            arms.push(name);
        }
    }
    arms
}

/// Says what has no figures at its end, and how it gets them; `None` where there is no outage.
pub fn advice(run: &RunData) -> Option<String> {
    let arms = arms(run, &of_run(run, true));
    let has = if arms.len() == 1 { "has" } else { "have" };
    (!arms.is_empty()).then(|| {
        format!(
            "{} {has} no figures from some take on: `boxscore resume {}` measures those blocks again, once the cause is \
             gone",
            format::list(&arms),
            short(&run.head.id)
        )
    })
}

/// Says what `resume` measures again; `None` where there is no outage.
pub fn announced(run: &RunData, has_ended: bool) -> Option<String> {
    let all = of_run(run, has_ended);
    let blocks: BTreeSet<u32> = all.values().flat_map(|outage| outage.blocks.iter().copied()).collect();
    let arms = arms(run, &all);
    (!arms.is_empty()).then(|| {
        format!(
            "{} measured again, with all that is compared there: {} had no figures in them",
            format::count(blocks.len(), "block"),
            format::list(&arms)
        )
    })
}
