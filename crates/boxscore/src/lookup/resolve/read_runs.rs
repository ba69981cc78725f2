//! Runs of the store that were read for sides: each once, whichever sides have it.

use std::collections::HashMap;
use std::rc::Rc;

use model::SeriesKey;
use model::data::{RunData, Series};
use store::Store;

use crate::error::CliError;

#[derive(Default)]
pub struct ReadRuns {
    whole: HashMap<String, Rc<RunData>>,
    /// Some figures of earlier runs, for the noise alone.
    figures: HashMap<String, (Rc<[SeriesKey]>, Rc<RunData>)>,
}

impl ReadRuns {
    /// A run without the telemetry of its machine. Fails if there is none, or if it cannot be read.
    pub fn whole(&mut self, id: &str, store: &Store) -> Result<Rc<RunData>, CliError> {
        if let Some(run) = self.whole.get(id) {
            return Ok(Rc::clone(run));
        }
        let run = Rc::new(store.load_light(id)?);
        self.whole.insert(id.to_owned(), Rc::clone(&run));
        Ok(run)
    }

    /// Facts and these figures of a run: of one that was read as a whole, or read again where other ones are wanted.
    /// Fails as [`ReadRuns::whole`] does.
    pub fn figures(
        &mut self,
        id: &str,
        keys: &Rc<[SeriesKey]>,
        store: &Store,
    ) -> Result<Rc<RunData>, CliError> {
        if let Some((_, run)) = self.figures.get(id).filter(|(known, _)| known == keys) {
            return Ok(Rc::clone(run));
        }
        let run = match self.whole.get(id) {
            Some(whole) => rows_of(whole, keys),
            None => store.load_rows(id, keys)?,
        };
        let run = Rc::new(run);
        self.figures.insert(id.to_owned(), (Rc::clone(keys), Rc::clone(&run)));
        Ok(run)
    }
}

/// These figures of a run that was read as a whole, as the store gives them alone ([`Store::load_rows`]).
fn rows_of(whole: &RunData, keys: &[SeriesKey]) -> RunData {
    let is_wanted = |series: &&Series| keys.iter().any(|wanted| wanted.is_same_but_arm(&series.key));
    RunData {
        head: whole.head.clone(),
        origin: whole.origin.clone(),
        clock_offsets: Vec::new(),
        plan: whole.plan.clone(),
        facts: whole.facts.clone(),
        series: whole.series.iter().filter(is_wanted).cloned().collect(),
        takes: Vec::new(),
        notes: Vec::new(),
        telemetry: Vec::new(),
        target_telemetry: Vec::new(),
        traffic: None,
        own_cost: whole.own_cost,
    }
}

#[cfg(test)]
mod tests {
    use store::Mode;

    use super::*;
    use crate::lookup::catalogue;

    #[test]
    fn figures_of_a_run_that_was_read_are_not_read_again() {
        let (_, runs) = catalogue::reference().unwrap().expect("a reference machine");
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("s.db"), Mode::Create).unwrap();
        store.import(&runs, &[]).unwrap();
        let id = &runs[0].head.id;
        let keys: Rc<[SeriesKey]> = runs[0].series.iter().take(3).map(|one| one.key.clone()).collect();
        let alone = ReadRuns::default().figures(id, &keys, &store).unwrap();
        assert!(!alone.series.is_empty() && alone.series.len() < runs[0].series.len());
        let mut read = ReadRuns::default();
        read.whole(id, &store).unwrap();
        // What is gone cannot be read again.
        store.remove(id).unwrap();
        assert_eq!(read.figures(id, &keys, &store).unwrap(), alone);
        assert!(ReadRuns::default().figures(id, &keys, &store).is_err());
    }
}
