//! The comparison that stands beside a run on the screen and in its report.

use model::doc::CompareDoc;
use verdict::compare::{CompareOptions, Side, compare};

use crate::error::CliError;
use crate::lookup::resolve::{Loaded, Resolver};
use crate::lookup::runs::is_whole;
use crate::lookup::sides;
use crate::show::shown::Shown;

/// A comparison beside a run: with its own arms, with the other machines of its study, or with a reference machine.
/// Fails when a stored run cannot be read.
pub fn versus(runs: &[Shown], resolver: &mut Resolver) -> Result<Option<CompareDoc>, CliError> {
    let whole: Vec<&Shown> = runs.iter().filter(|one| is_whole(&one.data.head)).collect();
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
                vec![reference, one.side(one.doc.machine.name.clone())?]
            }
            _ => return Ok(None),
        },
        several => {
            // Two runs must not be called alike.
            let all: Vec<_> = several.iter().map(|one| report::section::called(&one.doc)).collect();
            let each = several.iter().zip(model::id::apart(&all)).map(|(one, name)| one.side(name));
            each.collect::<Result<_, _>>()?
        }
    };
    sides::distinct(&loaded)?;
    let sides: Vec<Side<'_>> = loaded.iter().map(Loaded::side).collect();
    let document = compare(&sides, &options);
    Ok((!document.rows.is_empty()).then_some(document))
}
