//! Other runs of a machine: those that noise is taken from.

use std::borrow::Borrow;
use std::rc::Rc;

use model::data::{RunData, RunHead};
use model::{Fact, SeriesKey};

use super::{Loaded, MOST_RUNS, Resolver};
use crate::error::CliError;
use crate::lookup::runs::is_whole;

impl Resolver {
    /// Loads the data that a name refers to. Fails when the name is unknown or ambiguous.
    pub fn resolve(&mut self, name: &str) -> Result<Loaded, CliError> {
        let side = self.bare(name)?;
        self.with_earlier(side)
    }

    /// The same of several names. Earlier runs come last, so that a run that is an earlier one of a side and also a
    /// side is read once.
    pub fn resolve_all<'n>(
        &mut self,
        names: impl IntoIterator<Item = &'n String>,
    ) -> Result<Vec<Loaded>, CliError> {
        let sides = names.into_iter().map(|name| self.bare(name)).collect::<Result<Vec<_>, _>>()?;
        self.all_with_earlier(sides)
    }

    /// The run's arms, when the name is one run with several.
    pub fn arms(&mut self, name: &str) -> Result<Vec<Loaded>, CliError> {
        let sides = self.bare_arms(name)?;
        self.all_with_earlier(sides)
    }

    /// The sides with the earlier runs of each.
    pub fn all_with_earlier(&mut self, sides: Vec<Loaded>) -> Result<Vec<Loaded>, CliError> {
        sides.into_iter().map(|side| self.with_earlier(side)).collect()
    }

    /// A side of the store with its earlier runs. The noise of several boxes is that between them, so that they have
    /// none.
    pub fn with_earlier(&mut self, side: Loaded) -> Result<Loaded, CliError> {
        let Some(newest) = side.runs.last().filter(|_| side.is_stored).map(|run| run.head.clone()) else {
            return Ok(side);
        };
        if side.runs.iter().any(|run| run.head.machine_id != newest.machine_id) {
            return Ok(side);
        }
        let ids: Vec<String> = side.runs.iter().map(|run| run.head.id.clone()).collect();
        let earlier = self.earlier(&newest, &ids, &side.runs)?;
        Ok(Loaded { earlier, ..side })
    }

    /// Other runs of the same machine and configuration, from which the noise between runs is estimated: of each figure
    /// of these runs, the newest that have it.
    pub fn earlier(
        &mut self,
        newest: &RunHead,
        chosen: &[String],
        runs: &[impl Borrow<RunData>],
    ) -> Result<Vec<Rc<RunData>>, CliError> {
        let alike = self.others(newest, chosen)?;
        let own = |run: &RunData| run.rows().map(|series| series.key.clone()).collect::<Vec<_>>();
        let mut keys: Vec<SeriesKey> = runs.iter().flat_map(|run| own(run.borrow())).collect();
        keys.sort();
        keys.dedup();
        let store = self.store.as_ref().ok_or_else(|| self.no_store())?;
        let ids = store.newest_with(&alike, Some(&keys), MOST_RUNS)?;
        let keys: Rc<[SeriesKey]> = keys.into();
        ids.iter().map(|id| self.read.figures(id, &keys, store)).collect()
    }

    /// The other complete runs of a run's machine and configuration, newest first.
    pub fn others(&mut self, of: &RunHead, chosen: &[String]) -> Result<Vec<String>, CliError> {
        let is_other = |head: &&RunHead| {
            head.machine_id == of.machine_id && is_whole(head) && !head.hidden && !chosen.contains(&head.id)
        };
        let others: Vec<RunHead> = self.heads.iter().filter(is_other).cloned().collect();
        self.alike(of, &others)
    }

    /// The complete runs of a machine in the configuration of these facts, newest first.
    pub fn runs_with(&mut self, machine_id: &str, facts: &[Fact]) -> Result<Vec<String>, CliError> {
        let heads = self.visible(machine_id);
        let whole = self.repeated(&heads)?;
        self.in_class(facts, &whole)
    }
}
