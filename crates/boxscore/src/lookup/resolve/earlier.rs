//! Other runs of a machine: those that noise is taken from.

use std::borrow::Borrow;
use std::rc::Rc;

use model::data::{RunData, RunHead};
use model::{Fact, SeriesKey};

use super::{MOST_RUNS, Resolver};
use crate::error::CliError;
use crate::lookup::runs::is_whole;

impl Resolver {
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
        let whole = self.repeated(&heads);
        self.in_class(facts, &whole)
    }
}
