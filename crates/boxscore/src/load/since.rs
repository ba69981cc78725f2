//! The load before on the same target from the same machine, and the settings that differ since.

use model::data::{RunData, RunHead};
use model::doc::SinceDoc;
use model::{Cell, Finding, Params, Plan};
use verdict::settings::{Configured, differing};

use crate::error::CliError;
use crate::lookup::resolve::Resolver;

/// Runs of the machine that are looked through for a load of the same target.
const MOST: usize = 50;
/// The parameter that names the target, in which the two do not differ.
const URL: &str = "url";

/// `None` where there is no such load, and where nothing that both know differs. Fails when the store cannot be read.
pub fn since(run: &RunData, findings: &[Finding], resolver: &Resolver) -> Result<Option<SinceDoc>, CliError> {
    let Some(cell) = only(&run.plan) else { return Ok(None) };
    let Some((head, plan)) = last(run, cell, resolver)? else { return Ok(None) };
    let Some(before) = only(&plan) else { return Ok(None) };
    let store = resolver.store()?;
    let (facts, notes) = (store.facts(&head.id)?, store.notes(&head.id)?);
    let (of_before, of_run) = (asked(&before.params), asked(&cell.params));
    let base = Configured { facts: &facts, notes: &notes, params: Some(&of_before) };
    let arm = Configured { facts: &run.facts, notes: &run.notes, params: Some(&of_run) };
    let differ = differing(base, arm, true, findings);
    Ok((!differ.is_empty()).then_some(SinceDoc { run: head.id, label: head.label, differ }))
}

/// The newest load of the target before this run.
fn last(run: &RunData, cell: &Cell, resolver: &Resolver) -> Result<Option<(RunHead, Plan)>, CliError> {
    let store = resolver.store()?;
    for head in resolver.before(&run.head).take(MOST) {
        let plan = store.plan(&head.study)?;
        let is_of = |other: &Cell| {
            other.instrument == cell.instrument && other.params.get(URL) == cell.params.get(URL)
        };
        if only(&plan).is_some_and(is_of) {
            return Ok(Some((head.clone(), plan.into_value())));
        }
    }
    Ok(None)
}

/// The cell of a plan of one load.
fn only(plan: &Plan) -> Option<&Cell> {
    match plan.cells.as_slice() {
        [cell] if plan.targets.is_empty() => Some(cell),
        _ => None,
    }
}

fn asked(params: &Params) -> Params {
    let mut asked = params.clone();
    asked.remove(URL);
    asked
}
