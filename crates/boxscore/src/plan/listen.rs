//! Where servers of ours listen on nodes whose load comes over the network: at each node's own address.

use model::Card;

use super::setting::{Scope, Setting};
use super::settings::Settings;
use crate::cli::run::RunArgs;

const LISTEN: &str = "listen";
/// The address by which ssh came in.
const NODE: &str = instruments::workload::server::options::NODE;

/// The setting that `--from` implies where all machines are nodes of `--on`: the usual address is each host's own, and
/// none that is named would be that of several nodes. `None` where the user says where servers listen, or loads one of
/// theirs.
pub fn implied(settings: &Settings, args: &RunArgs, chosen: &[&'static Card]) -> Option<Setting> {
    let are_nodes = !args.lab.on.is_empty() && args.via.len() == args.lab.names.len();
    let is_said = settings.all().any(|one| [LISTEN, "url"].contains(&one.key.as_str()));
    let can = chosen.iter().any(|card| card.param(LISTEN).is_some());
    let wants = are_nodes && !args.from.is_empty() && settings.targets.is_empty();
    (wants && can && !is_said).then(|| Setting::new("--from", Scope::All, LISTEN, NODE))
}
