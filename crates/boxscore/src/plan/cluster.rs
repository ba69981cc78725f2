//! Jobs on a Hadoop cluster of several nodes of `--on`: they are measured as one machine, the first node.

use instruments::workload::hadoop::fault::Kind;
use instruments::workload::hadoop::params::MEMBERS;
use model::Card;
use model::format::count;

use super::choice;
use super::setting::{Scope, Setting};
use super::settings::Settings;
use crate::cli::run::RunArgs;
use crate::error::CliError;

const NODES: &str = "nodes";
const FAULT: &str = "fault";

/// True if jobs on a cluster are named, so that nodes need a Hadoop.
pub fn needs_hadoop(args: &RunArgs, cards: &[&'static Card]) -> Result<bool, CliError> {
    let is_named = !args.usual.names.is_empty();
    Ok(is_named && choice::cards(args, cards)?.iter().any(|card| card.param(MEMBERS).is_some()))
}

/// True if a run on so many nodes is one of jobs on a cluster of them. Fails where something else is named beside,
/// which would be measured on each.
pub fn is_meant(args: &RunArgs, cards: &[&'static Card], nodes: usize) -> Result<bool, CliError> {
    if nodes < 2 || args.lab.each_alone || args.usual.names.is_empty() {
        return Ok(false);
    }
    let chosen = choice::cards(args, cards)?;
    let (on_cluster, alone): (Vec<&Card>, Vec<&Card>) =
        chosen.iter().partition(|card| card.param(MEMBERS).is_some());
    match (on_cluster.first(), alone.first()) {
        (None, _) => Ok(false),
        (Some(_), None) => Ok(true),
        (Some(job), Some(other)) => Err(CliError::usage(format!(
            "--on names {}: {} would be one cluster of them, {} is of each node",
            count(nodes, "node"),
            job.name,
            other.name
        ))
        .hint("measure them in two runs")),
    }
}

/// The settings that say where such a cluster is. Fails for what cannot be done there.
pub fn implied(
    settings: &Settings,
    args: &RunArgs,
    chosen: &[&'static Card],
) -> Result<Vec<Setting>, CliError> {
    if settings.all().any(|one| one.key == MEMBERS) {
        return Err(CliError::usage(format!("--set {MEMBERS}: --on alone fills it in"))
            .hint("boxscore run hadoop --on EXPR makes a cluster of nodes of lab.toml"));
    }
    let Some(together) = &args.lab.together else { return Ok(Vec::new()) };
    let is_cut_off = |one: &&Setting| one.key == FAULT && one.value.starts_with(Kind::LinkDown.word());
    if let Some(fault) = settings.all().find(is_cut_off) {
        return Err(CliError::usage(format!(
            "{}: boxscore would be cut off from a node of --on too",
            fault.flag
        ))
        .hint("kill-node and kill-am are for nodes of --on; --nodes 3 without --on has links of its own"));
    }
    let most = together.children.len() + 1;
    let nodes = settings.all().filter(|one| one.key == NODES).flat_map(Setting::each);
    if let Some(many) = nodes.filter_map(|value| value.parse::<usize>().ok()).find(|many| *many > most) {
        return Err(CliError::usage(format!("--nodes {many}: --on names {}", count(most, "node"))));
    }
    let setting = |key: &str, value: &str| Setting::new("--on", Scope::All, key, value);
    let mut all = vec![setting(MEMBERS, &together.members)];
    if !settings.all().any(|one| one.key == NODES) && chosen.iter().any(|card| card.param(NODES).is_some()) {
        all.push(setting(NODES, &most.to_string()));
    }
    Ok(all)
}
