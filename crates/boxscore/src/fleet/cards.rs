//! MAC addresses of nodes for a plan, as their BMCs tell them.

use std::path::Path;

use lab::bmc::cards::{Cards, TellsCards};
use lab::bmc::{Bmcs, reached};

use super::bmc::{Nodes, failures_of};
use super::reach;
use crate::cli::lab::select::SelectArgs;
use crate::error::CliError;
use crate::out;

/// The answers of BMCs.
pub struct Told {
    pub by_node: Vec<(String, Cards)>,
    /// False where one told nothing; why was said.
    pub is_whole: bool,
}

/// Asks the BMCs of the nodes that the expressions name.
pub fn ask(expressions: &[String], inventory: Option<&Path>, insecure: bool) -> Result<Told, CliError> {
    let select = SelectArgs { inventory: inventory.map(Path::to_owned), ..SelectArgs::default() };
    let nodes = Nodes::select(expressions, &select)?;
    let accesses = nodes.accesses();
    let stop = reach::stop()?;
    let all = reached(&accesses, |all| Bmcs::new(None, insecure, &stop).cards(all));
    if stop.is_requested() {
        return Err(CliError::interrupted("stopped; nothing was written"));
    }
    out::say_all(&report::text::lab_bmc::failures(&failures_of(&nodes.names, &all)));
    let is_whole = all.iter().all(Result::is_ok);
    let told = nodes.names.into_iter().zip(all);
    Ok(Told { by_node: told.filter_map(|(name, cards)| Some((name, cards.ok()?))).collect(), is_whole })
}
