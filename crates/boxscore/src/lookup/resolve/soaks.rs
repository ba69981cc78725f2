//! Which runs are soaks: what lasts is no repetition of what short takes show.

use std::collections::BTreeSet;

use model::data::RunHead;
use model::plan::Level;

use super::Resolver;
use crate::error::CliError;

impl Resolver {
    /// Finds out which of these are runs of `--soak`.
    pub(super) fn find_soaks<'a>(
        &mut self,
        heads: impl IntoIterator<Item = &'a RunHead>,
    ) -> Result<(), CliError> {
        let Some(store) = &self.store else { return Ok(()) };
        let is_new = |study: &&str| !self.soaks.contains_key(*study);
        let studies = heads.into_iter().map(|head| head.study.as_str()).filter(is_new);
        let studies: BTreeSet<&str> = studies.collect();
        let studies: Vec<&str> = studies.into_iter().collect();
        let found = store.studies_of_level(&studies, Level::Soak)?;
        self.soaks.extend(studies.into_iter().map(|study| (study.to_owned(), found.contains(study))));
        Ok(())
    }

    /// True of a run of `--soak`, once it was found out.
    pub(super) fn is_soak(&self, head: &RunHead) -> bool {
        self.soaks.get(&head.study).copied().unwrap_or(false)
    }
}
