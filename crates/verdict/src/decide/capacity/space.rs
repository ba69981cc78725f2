//! Memory and disk space of a box, from its facts.

use std::collections::BTreeMap;

use model::need::{Need, Work};
use model::{Fact, Unit, Validity};

use super::points::DOF;
use crate::compare::Side;
use crate::decide::{Capacity, Missing};
use crate::facts;

/// Facts of memory, the first that is known: all that the kernel has, or what is installed.
const MEMORY: [&str; 2] = ["memory.bytes", "memory.installed.bytes"];
/// Names of devices that are no disks, before their numbers.
const NO_DISK: [&str; 6] = ["loop", "ram", "zram", "nbd", "fd", "sr"];
/// Buses of devices that are made of other disks.
const OF_DISKS: [&str; 2] = ["device mapper", "RAID"];

/// The space that a box has; of several boxes the least.
pub fn capacity(side: &Side<'_>, need: &Need) -> Result<Capacity, Missing> {
    let is_memory = need.work == Work::Memory;
    let of = |facts: &&[Fact]| if is_memory { memory(facts) } else { disks(facts) };
    let found: Vec<Option<f64>> = boxes(side).iter().map(|known| known.iter().find_map(of)).collect();
    let known: Vec<f64> = found.iter().flatten().copied().collect();
    let least = known.iter().copied().min_by(f64::total_cmp).filter(|_| known.len() == found.len());
    let Some(bytes) = least else { return Err(missing(side, is_memory)) };
    let is_least = known.iter().any(|other| *other > bytes);
    Ok(Capacity {
        ln: bytes.ln(),
        se: 0.0,
        dof: DOF,
        unit: Unit::Byte,
        no_card: false,
        at_least: false,
        figure: if is_memory { "memory".to_owned() } else { "whole disks".to_owned() },
        runs: side.runs.iter().map(|run| run.head.id.clone()).collect(),
        published: side.runs.is_empty(),
        validity: Validity::Unknown,
        doubted_by: Vec::new(),
        older: None,
        why: is_least.then(|| format!("the least of {} boxes", known.len())),
        repeat: None,
    })
}

/// The facts of each box, those that count before others first: of several boxes those of each one's newest run, else
/// those of the side, in which the user's notes are.
fn boxes<'s>(side: &'s Side<'_>) -> Vec<Vec<&'s [Fact]>> {
    let mut runs: Vec<_> = side.runs.iter().filter(|_| side.target().is_none()).collect();
    runs.sort_by_key(|run| run.head.started_ns);
    let newest: BTreeMap<&str, &[Fact]> =
        runs.into_iter().map(|run| (run.head.machine_id.as_str(), run.facts.as_slice())).collect();
    match newest.len() {
        0 | 1 => vec![std::iter::once(side.facts.as_slice()).chain(newest.into_values()).collect()],
        _ => newest.into_values().map(|facts| vec![facts]).collect(),
    }
}

fn memory(known: &[Fact]) -> Option<f64> {
    MEMORY.iter().find_map(|key| facts::number(known, key)).filter(|bytes| *bytes > 0.0)
}

/// Bytes of all whole disks.
fn disks(known: &[Fact]) -> Option<f64> {
    let disk = |fact: &Fact| {
        let name = fact.key.strip_prefix("disk.")?.strip_suffix(".bytes")?;
        let bus = facts::text(known, &format!("disk.{name}.bus"));
        let is_number = |rest: &str| rest.chars().all(|letter| letter.is_ascii_digit());
        let is_none = NO_DISK.iter().any(|kind| name.strip_prefix(kind).is_some_and(is_number));
        let bytes = facts::number(known, &fact.key).filter(|bytes| *bytes > 0.0)?;
        (!is_none && bus.is_none_or(|bus| !OF_DISKS.contains(&bus))).then_some(bytes)
    };
    known.iter().filter_map(disk).reduce(|sum, bytes| sum + bytes)
}

fn missing(side: &Side<'_>, is_memory: bool) -> Missing {
    let (what, key) = if is_memory { ("memory", MEMORY[0]) } else { ("disks", "disk.names") };
    let facts = side.facts.iter().chain(side.runs.iter().flat_map(|run| &run.facts));
    let why = facts.filter(|fact| fact.key == key).find_map(|fact| fact.why.as_deref());
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    let key = if is_memory { key } else { "disk.sda.bytes" };
    let name = model::shell::word(if side.machine.name.is_empty() { &side.name } else { &side.machine.name });
    Missing {
        why: format!("nobody knows its {what}{why}; `boxscore note {name} --fact {key}=SIZE` says it"),
        command: None,
    }
}
