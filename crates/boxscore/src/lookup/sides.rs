//! Sides of a comparison that have no run in the store (published machines, sheets, pasted lines), and sides that are
//! the same.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::Basis;
use model::SeriesKey;
use model::data::{Price, Published, RunData, watts_of_facts};
use model::doc::MachineDoc;
use report::text::line::{self, Pasted};
use store::MachineSheet;

use super::catalogue::PublishedMachine;
use super::ids::told_apart;
use super::resolve::Loaded;
use crate::error::CliError;

/// Refuses two sides that have the same runs and arm: a run does not differ from itself.
pub fn distinct(loaded: &[Loaded]) -> Result<(), CliError> {
    let mut known: BTreeMap<(Option<&str>, BTreeSet<&str>), &Loaded> = BTreeMap::new();
    for one in loaded.iter().filter(|one| !one.runs.is_empty()) {
        let ids: BTreeSet<&str> = one.runs.iter().map(|run| run.head.id.as_str()).collect();
        if let Some(other) = known.insert((one.arm.as_deref(), ids.clone()), one) {
            let runs = told_apart(&ids.into_iter().collect::<Vec<_>>());
            let what = if runs.len() == 1 { "the same run" } else { "the same runs" };
            let text = format!("`{}` and `{}` are {what}: {}", other.name, one.name, runs.join(", "));
            return Err(CliError::usage(text).hint("`boxscore history` lists the runs"));
        }
    }
    Ok(())
}

/// A published machine: figures without runs.
pub fn published_side(machine: &PublishedMachine) -> Loaded {
    Loaded {
        published: machine.figures.clone(),
        facts: machine.facts.clone(),
        price: machine.price.clone(),
        watts: machine.watts,
        source: Some(machine.study.clone()),
        ..Loaded::new(&machine.name, MachineDoc { id: String::new(), name: machine.name.clone() })
    }
}

/// A reference machine under its name.
pub fn reference_side(reference: Option<(String, Vec<RunData>)>) -> Result<Option<Loaded>, CliError> {
    let side = |(name, runs): (String, Vec<RunData>)| {
        of_runs(runs.into_iter().map(Rc::new).collect(), &name).map(|loaded| Loaded { name, ..loaded })
    };
    reference.map(side).transpose()
}

/// A side made of runs that stand in no store.
pub fn of_runs(mut runs: Vec<Rc<RunData>>, name: &str) -> Result<Loaded, CliError> {
    let Some(newest) = runs.last().map(|run| run.head.clone()) else {
        return Err(CliError::data(format!("{name}: no run in it")));
    };
    runs.retain(|run| run.head.machine_id == newest.machine_id);
    let facts = runs.last().map(|run| run.facts.clone()).unwrap_or_default();
    let machine = MachineDoc { id: newest.machine_id.clone(), name: newest.machine.clone() };
    let called = newest.label.clone().unwrap_or_else(|| newest.machine.clone());
    let (price, watts) = (newest.price.clone(), newest.watts);
    Ok(Loaded { price, watts, runs, facts, ..Loaded::new(&called, machine) })
}

/// A machine that is known from a sheet only: facts, and no figures.
pub fn sheet_side(sheet: &MachineSheet) -> Loaded {
    let machine = MachineDoc { id: sheet.id.clone(), name: sheet.name.clone() };
    Loaded {
        price: Price::of_facts(&sheet.facts),
        watts: watts_of_facts(&sheet.facts),
        facts: sheet.facts.clone(),
        source: Some(sheet.source.clone()),
        ..Loaded::new(&sheet.name, machine)
    }
}

/// A pasted line has intervals but no samples: its figures are points.
pub fn pasted_side(pasted: &Pasted) -> Loaded {
    let figure = |row: &line::PastedRow| Published {
        study: Published::PASTED.to_owned(),
        machine: pasted.name.clone(),
        key: SeriesKey {
            instrument: row.instrument.clone(),
            metric: row.metric.clone(),
            unit: row.unit,
            params: row.params.clone(),
            arm: String::new(),
            definition: row.definition,
        },
        better: row.better,
        value: row.value,
        low: row.low,
        high: row.high,
        bounds: "95 % interval".to_owned(),
        basis: Basis::Measured,
        note: String::new(),
    };
    Loaded {
        published: pasted.rows.iter().map(figure).collect(),
        source: Some("a pasted line".to_owned()),
        ..Loaded::new(&pasted.name, MachineDoc { id: String::new(), name: pasted.name.clone() })
    }
}

/// One arm of a side. Of a target, price, watts and facts are its own.
pub fn of_arm(side: Loaded, arm: &str) -> Loaded {
    let target = side.runs.last().and_then(|run| run.plan.target(arm)).cloned();
    let side = Loaded { arm: Some(arm.to_owned()), ..side };
    match target {
        Some(target) => Loaded { price: target.price, watts: target.watts, facts: target.facts, ..side },
        None => side,
    }
}
