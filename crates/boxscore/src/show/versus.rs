//! The comparison that stands beside a run on the screen and in its report, and that of a report's names.

use std::rc::Rc;

use model::data::RunData;
use model::doc::CompareDoc;
use model::id::Called;
use verdict::compare::{CompareOptions, Side, compare};

use crate::error::CliError;
use crate::lookup::resolve::{Loaded, Resolver};
use crate::lookup::runs::is_whole;
use crate::lookup::sides;
use crate::show::shown::{Shown, Stored, sides_of};

/// A comparison beside a run: with its own arms, with the other machines of its study, or with a reference machine.
/// Fails when a stored run cannot be read.
pub fn versus(runs: &[&Stored], resolver: &mut Resolver) -> Result<Option<CompareDoc>, CliError> {
    let whole: Vec<&Stored> = runs.iter().copied().filter(|one| is_whole(&one.data.head)).collect();
    let cards = instruments::cards();
    let options = CompareOptions { cards, ..CompareOptions::default() };
    let loaded: Vec<Loaded> = match whole.as_slice() {
        [] => return Ok(None),
        [one] if one.data.plan.arms.len() > 1 => resolver.arms(&one.data.head.id)?,
        [one] => match resolver.reference()? {
            // A planted world is beside no real machine.
            Some(reference)
                if reference.machine.id != one.data.head.machine_id && one.data.plan.fake.is_none() =>
            {
                vec![reference, one.side(one.data.head.machine.clone())?]
            }
            _ => return Ok(None),
        },
        several => sides_of(several)?,
    };
    sides::distinct(&loaded)?;
    Ok(compared(&loaded, &options))
}

fn compared(loaded: &[Loaded], options: &CompareOptions) -> Option<CompareDoc> {
    let sides: Vec<Side<'_>> = loaded.iter().map(Loaded::side).collect();
    let document = compare(&sides, options);
    (!document.rows.is_empty()).then_some(document)
}

/// A name of a report, as it was typed, and the runs that it means.
pub struct Named {
    pub name: String,
    pub runs: Vec<String>,
}

/// The comparison of the names of a report: each is one side with all of its complete runs, as `compare` pools them.
/// One name that means one run is beside what that run is beside on the screen; one that means runs of several machines
/// has a side a machine. Fails when a stored run cannot be read.
pub fn of_names(
    named: &[Named],
    shown: &[Shown],
    resolver: &mut Resolver,
) -> Result<Option<CompareDoc>, CliError> {
    if let ([_], [only]) = (named, shown) {
        return versus(&[&only.stored], resolver);
    }
    let is_whole = |id: &String| shown.iter().any(|run| run.doc.run == *id && is_whole(&run.data.head));
    let with_runs = named.iter().filter(|one| one.runs.iter().any(is_whole));
    let mut loaded = match named {
        [_] => of_machines(shown)?,
        _ => resolver.resolve_all(with_runs.map(|one| &one.name))?,
    };
    match loaded.as_slice() {
        [] => return Ok(None),
        [only] => {
            // A planted world is beside no real machine.
            let is_planted = only.runs.iter().any(|run| run.plan.fake.is_some());
            let is_other = |reference: &Loaded| !is_planted && reference.machine.id != only.machine.id;
            let Some(reference) = resolver.reference()?.filter(is_other) else { return Ok(None) };
            loaded.insert(0, reference);
        }
        _ => call_by_names(&mut loaded),
    }
    sides::distinct(&loaded)?;
    let options =
        CompareOptions { cards: instruments::cards(), other_conditions: true, ..CompareOptions::default() };
    Ok(compared(&loaded, &options))
}

/// The complete runs as a side a machine: those of the newest one's configuration, with its earlier runs.
fn of_machines(shown: &[Shown]) -> Result<Vec<Loaded>, CliError> {
    let whole: Vec<&Shown> = shown.iter().filter(|one| is_whole(&one.data.head)).collect();
    let mut machines: Vec<&str> = Vec::new();
    for one in &whole {
        let id = one.doc.machine.id.as_str();
        machines.extend((!machines.contains(&id)).then_some(id));
    }
    let side = |id: &str| {
        let own: Vec<&Shown> = whole.iter().copied().filter(|one| one.doc.machine.id == id).collect();
        let newest = own.iter().max_by_key(|one| one.data.head.started_ns)?;
        // Its earlier runs are those of its configuration.
        let is_alike = |one: &&&Shown| {
            one.doc.run == newest.doc.run || newest.earlier.iter().any(|run| run.head.id == one.doc.run)
        };
        let alike = own.iter().filter(is_alike);
        let runs: Vec<Rc<RunData>> = alike.map(|one| Rc::clone(&one.data)).collect();
        let is_other = |earlier: &&Rc<RunData>| runs.iter().all(|run| run.head.id != earlier.head.id);
        let earlier = newest.earlier.iter().filter(is_other).cloned().collect();
        Some(newest.side(newest.doc.machine.name.clone()).map(|side| Loaded { runs, earlier, ..side }))
    };
    machines.into_iter().filter_map(side).collect()
}

/// Gives sides names that stay true: labels and machines; a run that was named by its id or its place (`latest~1`) has
/// its own.
fn call_by_names(loaded: &mut [Loaded]) {
    let newest = |side: &Loaded| side.runs.last().map(|run| run.head.clone());
    let heads: Vec<_> = loaded.iter().map(newest).collect();
    let called: Vec<Called<'_>> = loaded
        .iter()
        .zip(&heads)
        .map(|(side, head)| Called {
            label: match head.as_ref().filter(|head| head.machine != side.name) {
                Some(head) => head.label.as_deref(),
                None => Some(side.name.as_str()),
            },
            machine: &side.machine.name,
            id: head.as_ref().map_or("", |head| head.id.as_str()),
        })
        .collect();
    let names = model::id::apart(&called);
    loaded.iter_mut().zip(names).for_each(|(side, name)| side.name = name);
}
