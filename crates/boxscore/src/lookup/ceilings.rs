//! The ceilings of a run's loads: figures of its machine and configuration in this and other stored runs, later ones
//! too.

use model::data::{RunData, RunHead};
use model::{Cards, Fact};
use verdict::ceiling_figure::Figure;
use verdict::ceilings;

use crate::error::CliError;
use crate::lookup::names;
use crate::lookup::resolve::Resolver;

/// Runs of a figure of which the best is the ceiling: what a machine could do long ago it may not be able to do now.
const MOST_RUNS: usize = 5;

/// The figures that a run's loads are held against; `None` where it has no load, or one of a planted world. Fails when
/// the store cannot be read.
pub fn of_run(run: &RunData, cards: Cards, resolver: &mut Resolver) -> Result<Option<Vec<Figure>>, CliError> {
    if run.plan.fake.is_some() || !ceilings::has_loads(run, cards) {
        return Ok(None);
    }
    let mut all = ceilings::figures(run, cards);
    all.extend(others(&run.head, cards, resolver)?);
    Ok(Some(all))
}

/// The figures of the machine that this program runs on, with these facts. Fails when the store cannot be read.
pub fn of_this_machine(
    facts: &[Fact],
    cards: Cards,
    resolver: &mut Resolver,
) -> Result<Vec<Figure>, CliError> {
    if !resolver.has_store() {
        return Ok(Vec::new());
    }
    figures(&resolver.runs_with(&names::identity(facts).id, facts)?, cards, resolver)
}

/// Those of the other runs of its machine and configuration.
fn others(head: &RunHead, cards: Cards, resolver: &mut Resolver) -> Result<Vec<Figure>, CliError> {
    figures(&resolver.others(head, std::slice::from_ref(&head.id))?, cards, resolver)
}

/// The ceilings among the figures of these runs, given newest first.
fn figures(runs: &[String], cards: Cards, resolver: &Resolver) -> Result<Vec<Figure>, CliError> {
    let store = resolver.store()?;
    let mut all = Vec::new();
    for id in store.newest_where(runs, &ceilings::is_ceiling, MOST_RUNS)? {
        all.extend(ceilings::figures(&store.load_light(&id)?, cards));
    }
    Ok(all)
}
