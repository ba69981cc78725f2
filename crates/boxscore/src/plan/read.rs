//! Plans and planted worlds that somebody may have written by hand.

use std::path::Path;

use model::command::COMMAND;
use model::fake::FakeWorld;
use model::plan::PLAN_VERSION;
use model::{Card, Plan};

use crate::error::CliError;

/// Reads a plan. Fails when it is of a newer version, malformed, or cannot be carried out.
pub fn read(name: &str, text: &str, cards: &[&'static Card]) -> Result<Plan, CliError> {
    #[derive(serde::Deserialize)]
    struct Version {
        version: u32,
    }
    let at = |error: serde_json::Error| {
        CliError::data(format!("{name}:{}:{}: not a plan: {error}", error.line(), error.column()))
    };
    // First, since a newer plan may hold what this build cannot read.
    let Version { version } = serde_json::from_str(text).map_err(at)?;
    if version > PLAN_VERSION {
        return Err(CliError::data(format!(
            "{name}: a plan of version {version}; this boxscore knows versions up to {PLAN_VERSION}"
        )));
    }
    let plan: Plan = serde_json::from_str(text).map_err(at)?;
    match problem(&plan, cards) {
        None => Ok(plan),
        Some(what) => Err(CliError::data(format!("{name}: not a plan that can be carried out: {what}"))),
    }
}

/// Why a plan cannot be carried out, if so.
fn problem(plan: &Plan, cards: &[&'static Card]) -> Option<String> {
    let sound = |seconds: f64| seconds.is_finite() && seconds > 0.0;
    if plan.arms.is_empty() || plan.machines.is_empty() {
        return Some("it has no arm or no machine".to_owned());
    }
    if !sound(plan.take_seconds) || !plan.budget_seconds.is_none_or(sound) {
        return Some("its take_seconds or budget_seconds is no time above 0".to_owned());
    }
    if let Some(what) = plan.fake.as_ref().and_then(FakeWorld::fault) {
        return Some(format!("its planted world: {what}"));
    }
    for command in plan.commands.values() {
        if let Err(unfit) = instruments::workload::cmd::check(command) {
            return Some(unfit.why);
        }
    }
    let mut named = plan.arms.iter().filter_map(|arm| arm.set.get(COMMAND));
    if let Some(name) = named.find(|name| !plan.commands.contains_key(*name)) {
        return Some(format!("an arm has the command {name}, which it does not hold"));
    }
    for (name, mix) in &plan.mixes {
        if let Err(what) = mix.check() {
            return Some(format!("its mix {name}: {what}"));
        }
    }
    for (name, tree) in &plan.trees {
        if let Err(what) = tree.check() {
            return Some(format!("its files {name}: {what}"));
        }
    }
    for cell in &plan.cells {
        let Some(card) = cards.iter().find(|card| card.name == cell.instrument) else {
            return Some(format!("no instrument is called `{}`", cell.instrument));
        };
        if let Err(error) = card.resolve(&cell.params) {
            return Some(format!("{}: {error}", cell.instrument));
        }
    }
    None
}

/// Reads a planted world. Fails when the file cannot be read or is no such world.
pub fn fake(path: &Path) -> Result<FakeWorld, CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|error| CliError::data(format!("--fake {}: {error}", path.display())))?;
    let hint = "docs/fake.md describes a planted world";
    let world: FakeWorld = serde_json::from_str(&text).map_err(|error| {
        CliError::data(format!("{}:{}:{}: {error}", path.display(), error.line(), error.column())).hint(hint)
    })?;
    match world.fault() {
        None => Ok(world),
        Some(what) => Err(CliError::data(format!("{}: {what}", path.display())).hint(hint)),
    }
}
