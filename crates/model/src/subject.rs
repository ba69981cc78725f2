//! The subject of a figure, which is the thing that was measured: a machine, or a target (a server, a store, a far end)
//! that a machine loaded or asked.
//!
//! Host and port are the subject's address, and no part of a figure's key.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::card::{self, Cards};
use crate::params::{Params, Part};
use crate::plan::Plan;
use crate::url::authority;

crate::words! {
    /// The kind of thing that was measured.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum SubjectKind as word {
        Machine = "machine",
        /// A server, a store or a far end.
        Target = "target",
    }
}

/// The thing that was measured, and who measured it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SubjectDoc {
    pub kind: SubjectKind,
    pub name: String,
    /// Of a target: its URL, or its host and port.
    pub address: Option<String>,
    /// Of a target: the machine that loaded or asked it.
    pub observed_by: Option<String>,
}

impl SubjectDoc {
    /// A machine, which measured itself.
    pub fn machine(name: &str) -> SubjectDoc {
        SubjectDoc { kind: SubjectKind::Machine, name: name.to_owned(), address: None, observed_by: None }
    }

    fn target(name: &str, address: &str, machine: &str) -> SubjectDoc {
        SubjectDoc {
            kind: SubjectKind::Target,
            name: name.to_owned(),
            address: Some(address.to_owned()),
            observed_by: Some(machine.to_owned()),
        }
    }

    /// Itself where it is a target: a document has its machine anyway.
    pub fn of_target(self) -> Option<SubjectDoc> {
        Some(self).filter(|subject| subject.kind == SubjectKind::Target)
    }

    /// The subject of a figure that a machine measured.
    pub fn of_figure(
        plan: &Plan,
        (instrument, params, arm): (&str, &Params, &str),
        machine: &str,
        cards: Cards,
    ) -> SubjectDoc {
        match (plan.target(arm), address(cards, instrument, params)) {
            (Some(target), Some(_)) => SubjectDoc::target(&target.name, &target.address, machine),
            (None, Some(address)) => SubjectDoc::target(authority(address), address, machine),
            (_, None) => SubjectDoc::machine(machine),
        }
    }

    /// The subject of all figures of an arm; the machine where they have several.
    pub fn of_arm(plan: &Plan, arm: &str, machine: &str, cards: Cards) -> SubjectDoc {
        if let Some(target) = plan.target(arm) {
            return SubjectDoc::target(&target.name, &target.address, machine);
        }
        let set = plan.arms.iter().find(|one| one.name == arm).map(|one| one.set.clone()).unwrap_or_default();
        let mut each = plan.cells.iter().map(|cell| {
            let laid = card::find(cards, &cell.instrument).and_then(|card| card.lay(&cell.params, &set).ok());
            let params = laid.unwrap_or_else(|| cell.params.clone());
            SubjectDoc::of_figure(plan, (&cell.instrument, &params, arm), machine, cards)
        });
        let first = each.next();
        let is_one = each.all(|other| Some(&other) == first.as_ref());
        first.filter(|_| is_one).unwrap_or_else(|| SubjectDoc::machine(machine))
    }
}

/// Where what was measured is, if it is the user's.
fn address<'p>(cards: Cards, instrument: &str, params: &'p Params) -> Option<&'p str> {
    let card = card::find(cards, instrument)?;
    card.params.iter().find_map(|spec| {
        let Part::Address { ours } = spec.part else { return None };
        params.get(spec.name).filter(|value| !ours.contains(value))
    })
}
