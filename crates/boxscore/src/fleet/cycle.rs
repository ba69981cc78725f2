//! Nodes that hang in a run, turned off and on by their BMCs: only those of which the inventory says `cycle_on_hang`.

use std::time::Duration;

use lab::bmc::power::{Action, carry_out};
use lab::bmc::{Access, Bmcs, Failure, State, accesses, reached};
use lab::inventory::Node;
use lab::ranges::fold;
use model::plan::Plan;

use super::on::while_wanted;
use crate::error::CliError;
use crate::lookup::inventory;
use crate::out;
use crate::study::stop_signal::StopSignal;

/// How long a node may take to change its state.
const PATIENCE: Duration = Duration::from_secs(120);

/// Nodes that may be turned off and on, and how their BMCs are reached.
#[derive(Default)]
pub struct Allowed {
    names: Vec<String>,
    accesses: Vec<Result<Access, Failure>>,
}

/// The result of one of them.
pub struct Cycled {
    pub node: String,
    pub result: Result<State, Failure>,
}

/// Those among the nodes that the inventory of a plan allows it for. Fails where it cannot be read any more.
pub fn allowed<'n>(names: impl Iterator<Item = &'n String>, plan: &Plan) -> Result<Allowed, CliError> {
    let Some(path) = plan.nodes.as_ref().and_then(|nodes| nodes.inventory.as_ref()) else {
        return Ok(Allowed::default());
    };
    let Some(found) = inventory::find(Some(path.as_ref()))? else { return Ok(Allowed::default()) };
    let known = names.filter_map(|name| found.inventory.find(name));
    let nodes: Vec<&Node> = known.filter(|node| node.cycle_on_hang).collect();
    Ok(Allowed {
        accesses: accesses(&nodes, found.folder()),
        names: nodes.iter().map(|node| node.name.clone()).collect(),
    })
}

impl Allowed {
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn has(&self, name: &str) -> bool {
        self.names.iter().any(|one| one == name)
    }

    /// Turns them off and on, and looks until they are on.
    pub fn cycle(&self, stop: &StopSignal) -> Result<Vec<Cycled>, CliError> {
        let names = fold(self.names.iter().map(String::as_str));
        out::say(&format!("note: power cycle by the BMC: {names} (cycle_on_hang in the inventory)"));
        let states = while_wanted(stop, |told| {
            let bmcs = Bmcs::new(None, false, told);
            let work = |all: &[&Access]| carry_out(&bmcs, Action::Cycle, all, PATIENCE, told, &mut |_| {});
            reached(&self.accesses, work)
        })?;
        let one = |(node, result): (&String, _)| Cycled { node: node.clone(), result };
        Ok(self.names.iter().zip(states).map(one).collect())
    }
}

impl Cycled {
    /// The note that is stored with the run of the node.
    pub fn remark(&self) -> String {
        match &self.result {
            Ok(_) => "it did not answer: its BMC turned it off and on".to_owned(),
            Err(failure) => format!("it did not answer, and was not turned off and on: {failure}"),
        }
    }

    pub fn sentence(&self) -> String {
        match &self.result {
            Ok(_) => format!("note: {}: it was off, and is on again", self.node),
            Err(failure) => format!("warning: {}: not turned off and on: {failure}", self.node),
        }
    }
}
