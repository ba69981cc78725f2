//! Names of targets of stored studies.

use std::collections::HashMap;

use model::data::RunHead;
use model::format;

use super::Resolver;
use crate::error::CliError;

impl Resolver {
    /// The runs that measured a target in an arm of this name, oldest first. Fails where the name is that of a target
    /// which was measured in several arms.
    pub(super) fn of_target(&self, name: &str) -> Result<Vec<RunHead>, CliError> {
        let Some(store) = &self.store else { return Ok(Vec::new()) };
        let named = store.studies_that_name(name)?;
        let mut known: HashMap<&str, bool> = HashMap::new();
        let (mut found, mut arms) = (Vec::new(), Vec::new());
        for head in self.heads.iter().filter(|head| named.contains(&head.study)) {
            let is_its = match known.get(head.study.as_str()) {
                Some(is_its) => *is_its,
                None => {
                    let plan = store.plan(&head.study)?;
                    let of_several = plan.targets.iter().find(|target| target.name == name);
                    arms = of_several.map_or(arms, |target| target.arms.clone());
                    plan.target(name).is_some()
                }
            };
            known.insert(&head.study, is_its);
            if is_its {
                found.push(head.clone());
            }
        }
        if !arms.is_empty() && found.is_empty() {
            let all: Vec<String> = arms.iter().map(|arm| format!("'{arm}'")).collect();
            return Err(CliError::usage(format!("target {name} was measured in several arms: which one?"))
                .hint(format!("name it: {}", format::list(&all))));
        }
        Ok(found)
    }
}
