//! Finds machines by name, for every verb: this machine, a measured one, a sheet, a published or a reference machine.
//! For runs and labels see `resolve`.

use instruments::inventory::{inventory_platform, spec_sheet};
use instruments::system_files::Root;
use model::data::{RunHead, hardware_of};
use model::doc::MachineDoc;
use model::{Fact, FactValue};
use store::{Filter, MachineSheet, Store};

use crate::error::CliError;
use crate::lookup::catalogue;
use crate::lookup::catalogue::PublishedMachine;
use crate::lookup::ids::short;

/// A machine that a name can refer to.
#[derive(Clone, Debug, PartialEq)]
pub enum Machine {
    /// It runs this program.
    This(MachineDoc, Vec<Fact>),
    /// It has runs in the store.
    Measured(MachineDoc),
    /// Its sheet was imported.
    Sheet(MachineDoc),
    Published(String),
    Reference(String),
}

impl Machine {
    pub fn says(&self) -> String {
        match self {
            Machine::This(machine, _) => format!("this machine, {}", machine.name),
            Machine::Measured(machine) => format!("the measured machine {} ({})", machine.name, machine.id),
            Machine::Sheet(machine) => format!("the sheet of {}", machine.name),
            Machine::Published(name) => format!("the published machine {name}"),
            Machine::Reference(name) => format!("the reference machine {name}"),
        }
    }
}

/// True if a run is of that machine: one that measured itself has no name in its id, and one that was measured from
/// another machine has. They are one where hardware and name are.
pub fn is_of(machine: &MachineDoc, head: &RunHead) -> bool {
    machine.id == head.machine_id
        || (machine.name == head.machine
            && hardware_of(&machine.id, &machine.name) == hardware_of(&head.machine_id, &head.machine))
}

/// The runs of a machine, oldest first.
pub fn runs_of(machine: &MachineDoc, store: &Store) -> Result<Vec<RunHead>, CliError> {
    let mut heads = store.heads(&Filter { named: Some(machine.name.clone()), ..Filter::default() })?;
    heads.extend(store.heads(&Filter { machine_id: Some(machine.id.clone()), ..Filter::default() })?);
    heads.retain(|head| is_of(machine, head));
    heads.sort_by(|a, b| (a.started_ns, &a.id).cmp(&(b.started_ns, &b.id)));
    heads.dedup_by(|a, b| a.id == b.id);
    Ok(heads)
}

/// True for the sheet of a machine that was measured since, under the same name: its runs have a sheet as well.
fn is_measured(sheet: &MachineSheet, found: &[Machine]) -> bool {
    let id = sheet.facts.iter().find(|fact| fact.key == "machine.id").and_then(|fact| fact.value.as_ref());
    let Some(id) = id.map(FactValue::text) else { return false };
    let is_it = |one: &MachineDoc| one.name == sheet.name && hardware_of(&one.id, &one.name) == id;
    found.iter().any(|machine| matches!(machine, Machine::Measured(one) if is_it(one)))
}

/// Every machine that has this name or id.
pub fn all(
    name: &str,
    heads: &[RunHead],
    sheets: &[MachineSheet],
    published: &[PublishedMachine],
) -> Vec<Machine> {
    let fits = |id: &str, known: &str| id == name || known == name;
    let mut found: Vec<Machine> = Vec::new();
    for head in heads.iter().rev().filter(|head| fits(&head.machine_id, &head.machine)) {
        let known = |machine: &Machine| matches!(machine, Machine::Measured(one) if is_of(one, head));
        if !found.iter().any(known) {
            let (id, name) = (head.machine_id.clone(), head.machine.clone());
            found.push(Machine::Measured(MachineDoc { id, name }));
        }
    }
    for sheet in sheets.iter().filter(|sheet| fits(&sheet.id, &sheet.name)) {
        if sheet.id != name && is_measured(sheet, &found) {
            continue;
        }
        found.push(Machine::Sheet(MachineDoc { id: sheet.id.clone(), name: sheet.name.clone() }));
    }
    if published.iter().any(|machine| machine.name == name) {
        found.push(Machine::Published(name.to_owned()));
    }
    if catalogue::references().into_iter().any(|known| known == name) {
        found.push(Machine::Reference(name.to_owned()));
    }
    found
}

/// The one machine that a name means; `None` where no machine has it.
pub fn machine(name: &str, store: Option<&Store>) -> Result<Option<Machine>, CliError> {
    if name == "." {
        let (machine, facts) = this();
        return Ok(Some(Machine::This(machine, facts)));
    }
    let (heads, sheets) = match store {
        Some(store) => {
            (store.heads(&Filter { named: Some(name.to_owned()), ..Filter::default() })?, store.sheets()?)
        }
        None => (Vec::new(), Vec::new()),
    };
    let published = catalogue::machines()?;
    let mut found = all(name, &heads, &sheets, &published);
    let labelled = heads
        .iter()
        .find(|head| head.label.as_deref() == Some(name) && head.machine != name && head.machine_id != name);
    let labelled = labelled.map(|head| format!("the label of run {}", short(&head.id)));
    let meanings = found.iter().map(Machine::says);
    let list: Vec<String> = meanings.chain(labelled.filter(|_| !found.is_empty())).collect();
    if list.len() > 1 {
        return Err(CliError::data(format!("`{name}` may mean any of {}: {}", list.len(), list.join("; ")))
            .hint("give the machine's id, or a run of it"));
    }
    Ok(found.pop())
}

/// This machine and its facts.
pub fn this() -> (MachineDoc, Vec<Fact>) {
    let facts = spec_sheet::all_facts(&Root::live());
    (identity(&facts), facts)
}

/// This machine, without its other facts, which take longer.
pub fn here() -> MachineDoc {
    identity(&(inventory_platform::INSTRUMENT.scan)(&Root::live()))
}

/// Id and name as a run would store them.
pub fn identity(facts: &[Fact]) -> MachineDoc {
    let said = |key: &str| {
        let value = facts.iter().find(|fact| fact.key == key).and_then(|fact| fact.value.as_ref());
        value.map(FactValue::text)
    };
    let host = said("hostname").unwrap_or_else(|| "this machine".to_owned());
    let id = said("machine.id").unwrap_or_else(|| format!("host {host}"));
    MachineDoc { id, name: said("machine.name").unwrap_or(host) }
}
