//! Facts of the hosts of targets: asked of boxscore there (`--at`), or read from what it printed there (`--facts`).
//!
//! A host without either stays unknown. Behind `--at` a child records telemetry during the takes, too.

use std::path::Path;

use model::doc::InspectDoc;
use model::plan::{Plan, Takes, Target, Via};
use model::{Arm, Fact, Params, format};

use super::attempt::tried;
use super::stop_signal::StopSignal;
use crate::cli::targets::TargetArgs;
use crate::error::CliError;
use crate::lookup::paths::Scratch;
use crate::out;
use crate::plan::targets::lead_to_one_host;

/// Gives the targets of a plan the facts that the options lead to. Fails where one names no target, where a host cannot
/// be asked, and where a file is no spec sheet.
pub fn fill(plan: &mut Plan, args: &TargetArgs, stop: &StopSignal) -> Result<(), CliError> {
    for text in &args.facts {
        let (target, path) = named(plan, "--facts", text)?;
        target.facts = read(Path::new(path))?;
    }
    for text in &args.at {
        let (target, command) = named(plan, "--at", text)?;
        let via = Via { name: target.name.clone(), command: Some(command.to_owned()) };
        target.facts = ask(via, stop)?;
        target.at = Some(command.to_owned());
    }
    if let Some(said) = shared(&plan.targets) {
        out::say(&format!("note: {said}"));
    }
    Ok(())
}

/// Says which targets are on one host by its facts, though their addresses do not tell.
fn shared(targets: &[Target]) -> Option<String> {
    let is_partner = |one: &&Target| {
        let mut others = targets.iter().filter(|other| other.name != one.name && one.host_id().is_some());
        others.any(|other| one.host_id() == other.host_id() && !lead_to_one_host(one, other))
    };
    let names: Vec<String> = targets.iter().filter(is_partner).map(|one| format!("`{}`", one.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "{} share a host, as its facts say: each takes from what the other could have",
            format::list(&names)
        )
    })
}

/// The target that `NAME=VALUE` names, and the value.
fn named<'p, 't>(
    plan: &'p mut Plan,
    flag: &str,
    text: &'t str,
) -> Result<(&'p mut Target, &'t str), CliError> {
    let wrong = |what: String| CliError::usage(format!("{flag} {text}: {what}"));
    let pair = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    let (name, value) = pair
        .filter(|(name, value)| !name.is_empty() && !value.is_empty())
        .ok_or_else(|| wrong("not of the form NAME=VALUE".to_owned()))?;
    let known: Vec<String> = plan.targets.iter().map(|target| target.name.clone()).collect();
    let Some(target) = plan.targets.iter_mut().find(|target| target.name == name) else {
        let known = if known.is_empty() { "this run has none".to_owned() } else { known.join(", ") };
        return Err(wrong(format!("no target is called `{name}`")).hint(format!("targets: {known}")));
    };
    if !target.facts.is_empty() {
        return Err(wrong(format!("the facts of `{name}` are given already")));
    }
    Ok((target, value))
}

fn read(path: &Path) -> Result<Vec<Fact>, CliError> {
    let wrong = |why: String| CliError::data(format!("--facts {}: {why}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    let document: InspectDoc = serde_json::from_str(&text).map_err(|error| {
        wrong(format!("no spec sheet: {error}"))
            .hint("`boxscore inspect --json` prints one, on the target's host")
    })?;
    Ok(document.facts)
}

/// The facts that boxscore finds behind a command.
fn ask(via: Via, stop: &StopSignal) -> Result<Vec<Fact>, CliError> {
    let called = via.called();
    let folder = Scratch::new("facts")?;
    let arms = vec![Arm { name: String::new(), set: Params::default() }];
    let plan = Plan { machines: [via].into(), arms, ..Plan::bare(Vec::new(), Takes::Fixed(1)) };
    let (_, run) = tried(&plan, &folder.path().join("facts.db"), stop)
        .map_err(|error| CliError { message: format!("--at {called}: {}", error.message), ..error })?;
    Ok(run.facts)
}
