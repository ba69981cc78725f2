//! Runs of the store that were read for sides: each once, whichever sides have it.

use std::collections::HashMap;
use std::rc::Rc;

use model::SeriesKey;
use model::data::RunData;
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

    /// Facts and these figures of a run; read again where other ones are wanted. Fails as [`ReadRuns::whole`] does.
    pub fn figures(
        &mut self,
        id: &str,
        keys: &Rc<[SeriesKey]>,
        store: &Store,
    ) -> Result<Rc<RunData>, CliError> {
        if let Some((_, run)) = self.figures.get(id).filter(|(known, _)| known == keys) {
            return Ok(Rc::clone(run));
        }
        let run = Rc::new(store.load_rows(id, keys)?);
        self.figures.insert(id.to_owned(), (Rc::clone(keys), Rc::clone(&run)));
        Ok(run)
    }
}
