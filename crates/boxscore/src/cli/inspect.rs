//! `boxscore inspect`: the spec sheet of this machine, of machines in the store, of sheets and of published machines.
//!
//! Facts only, no figures. Facts added by hand stand over those that were read.

use std::collections::{BTreeMap, BTreeSet};

use instruments::bench::runtime::runtime_tools;
use model::doc::{InspectDoc, InspectManyDoc, MachineDoc, MachineFacts};
use model::{Fact, Finding};
use store::{Filter, Store};

use crate::cli::Global;
use crate::cli::lab::on::OnArgs;
use crate::cli::note::BY_HAND;
use crate::error::CliError;
use crate::fleet::documents::Documents;
use crate::lookup::names::Machine;
use crate::lookup::{catalogue, names, paths, runs};
use crate::out;

const AFTER: &str = "\
Examples:
  boxscore inspect                        this machine, every fact with its source
  boxscore inspect . xeon-e5620 box1      side by side
  boxscore inspect --json > sheet.json
  boxscore inspect --on @rack1            nodes of lab.toml, side by side
Facts that need root say so; `sudo boxscore inspect` has them.";

#[derive(Clone, Debug, clap::Args)]
#[command(after_long_help = AFTER)]
pub struct InspectArgs {
    /// Machines: `.` (this one), names of the store, sheets, published machines, or runs [default: .]
    #[arg(value_name = "MACHINE")]
    pub machines: Vec<String>,
    #[command(flatten)]
    pub lab: OnArgs,
}

pub fn run(args: &InspectArgs, global: &Global) -> Result<u8, CliError> {
    // Facts need no store; one that is there adds what was noted by hand.
    let path = paths::store(global)?;
    let store = match paths::existing(&path) {
        // This machine can be looked at without it.
        Err(error) if args.machines.is_empty() => {
            out::say(&format!("warning: {}; facts that were added by hand are not shown", error.message));
            None
        }
        opened => opened?,
    };
    let has_nodes = args.lab.is_given()?;
    let is_here = args.machines.is_empty() && !has_nodes;
    let names = if is_here { vec![".".to_owned()] } else { args.machines.clone() };
    let mut machines: Vec<MachineFacts> =
        names.iter().map(|name| sheet(name, store.as_ref())).collect::<Result<_, _>>()?;
    let code = if has_nodes { of_nodes(&args.lab, &mut machines)? } else { 0 };
    if global.json {
        let schema = "boxscore.inspect/1".to_owned();
        match machines.as_slice() {
            [one] => {
                let MachineFacts { machine, facts, findings } = one.clone();
                out::json(&InspectDoc { schema, machine, facts, findings });
            }
            _ => out::json(&InspectManyDoc { schema, machines }),
        }
    } else {
        out::print(&report::text::sheet::sheet(&machines, out::columns()));
    }
    Ok(code)
}

/// Adds the sheets that nodes have of themselves, under their names in the inventory; with the exit code.
fn of_nodes(args: &OnArgs, machines: &mut Vec<MachineFacts>) -> Result<u8, CliError> {
    let documents: Documents<InspectDoc> = Documents::ask(args, &["inspect", "--json"])?;
    machines.extend(documents.of.iter().map(|(host, sheet)| {
        let InspectDoc { machine, facts, findings, .. } = sheet.clone();
        let machine = MachineDoc { name: host.to_string(), ..machine };
        MachineFacts { machine, facts, findings }
    }));
    documents.end()
}

fn published() -> Result<BTreeMap<String, Vec<Fact>>, CliError> {
    let machines = catalogue::machines()?;
    Ok(machines.into_iter().map(|machine| (machine.name, machine.facts)).collect())
}

/// The facts of what a name means: a machine, or else a run.
fn sheet(name: &str, store: Option<&Store>) -> Result<MachineFacts, CliError> {
    let known = names::machine(name, store)?;
    let noted_as = match &known {
        Some(Machine::Published(name) | Machine::Reference(name)) => catalogue::id(name),
        _ => String::new(),
    };
    let (machine, facts) = match known {
        Some(Machine::This(machine, facts)) => (machine, [facts, runtime_tools::facts()].concat()),
        Some(Machine::Measured(machine)) => (machine.clone(), newest(&machine, store)?),
        Some(Machine::Sheet(machine)) => (machine, Vec::new()),
        Some(Machine::Published(name)) => {
            let facts = published()?.remove(&name).unwrap_or_default();
            (MachineDoc { id: String::new(), name }, facts)
        }
        Some(Machine::Reference(name)) => {
            let runs = catalogue::reference_named(&name)?.map(|(_, runs)| runs).unwrap_or_default();
            let facts = runs.last().map(|run| run.facts.clone()).unwrap_or_default();
            (MachineDoc { id: String::new(), name }, facts)
        }
        None => of_run(name, store)?,
    };
    let id = if noted_as.is_empty() { &machine.id } else { &noted_as };
    let added = match store {
        Some(store) if !id.is_empty() => store.machine_facts(id)?,
        _ => Vec::new(),
    };
    let facts = overlaid(facts, added);
    let findings = verdict::low_memory(&facts).map(Finding::new).into_iter().collect();
    Ok(MachineFacts { machine, facts, findings })
}

/// Facts by hand and of sheets replace what was read under the same key; others follow. What was added by hand without
/// a caveat of its own says so beside its value too, where no source is shown, and any says what it stands over.
fn overlaid(mut facts: Vec<Fact>, added: Vec<Fact>) -> Vec<Fact> {
    for mut fact in added {
        let known = facts.iter_mut().find(|known| known.key == fact.key);
        if fact.source == BY_HAND {
            let read = known.as_ref().and_then(|known| known.value.as_ref());
            let own = fact.why.take().unwrap_or_else(|| BY_HAND.to_owned());
            fact.why = Some(match read.filter(|read| Some(*read) != fact.value.as_ref()) {
                Some(read) => format!("{own}; read was {}", read.text()),
                None => own,
            });
        }
        match known {
            Some(known) => *known = fact,
            None => facts.push(fact),
        }
    }
    facts
}

/// The facts of a machine's newest run.
fn newest(machine: &MachineDoc, store: Option<&Store>) -> Result<Vec<Fact>, CliError> {
    let Some(store) = store else { return Ok(Vec::new()) };
    let filter = Filter { machine_id: Some(machine.id.clone()), ..Filter::default() };
    let heads = store.heads(&filter)?;
    match heads.last() {
        Some(head) => store.facts(&head.id).map_err(CliError::from),
        None => Ok(Vec::new()),
    }
}

/// The facts as a run found them.
fn of_run(name: &str, store: Option<&Store>) -> Result<(MachineDoc, Vec<Fact>), CliError> {
    let Some(store) = store else { return Err(unknown(name, None)) };
    let Ok(id) = runs::run_id(name, store) else { return Err(unknown(name, Some(store))) };
    let facts = store.facts(&id)?;
    let head = store.head(&id)?;
    Ok((MachineDoc { id: head.machine_id, name: head.machine }, facts))
}

/// No machine and no run has the name.
pub fn unknown(name: &str, store: Option<&Store>) -> CliError {
    let mut known: Vec<String> = vec![".".to_owned(), "latest".to_owned()];
    if let Some(store) = store {
        // The names only help with the hint; that they cannot be read is said by what reads them next.
        let heads = store.heads(&Filter::default()).unwrap_or_default();
        known.extend(heads.into_iter().map(|head| head.machine));
        known.extend(store.sheets().unwrap_or_default().into_iter().map(|sheet| sheet.name));
    }
    known.extend(published().unwrap_or_default().into_keys());
    known.extend(catalogue::references().into_iter().map(str::to_owned));
    let mut said = BTreeSet::new();
    known.retain(|name| said.insert(name.clone()));
    let error = CliError::data(format!("no machine or run is called `{name}`"));
    let hint = format!("known are {}", known.join(", "));
    error.hint(hint).did_you_mean(name, known.iter().map(String::as_str))
}
