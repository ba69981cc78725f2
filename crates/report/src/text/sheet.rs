//! The spec sheet: one machine's facts by topic with their sources, or several machines side by side.
//!
//! What is not known says why. Caveats of known values are footnotes. Values keep their own units.

use model::doc::{FactDoc, MachineFacts};

use super::{cut_front, spec, width, wrap};

/// Topics in the order of the sheet, by the first part of the key.
const TOPICS: [(&str, &[&str]); 10] = [
    ("Machine", &["machine", "hostname", "board", "firmware", "bios", "virt"]),
    ("Processor", &["cpu"]),
    ("Caches", &["cache"]),
    ("Memory", &["memory", "numa"]),
    ("Disks", &["disk"]),
    ("Network", &["nic", "rdma"]),
    ("PCIe", &["pcie"]),
    ("System", &["os", "kernel", "mitigations", "mitigation"]),
    ("Limits", &["cgroup"]),
    ("Power", &["power"]),
];

/// Facts that a table of several machines always has, as far as anyone knows them, with people's names.
const STANDARD: [(&str, &str); 26] = [
    ("cpu.model", "processor"),
    ("cpu.sockets", "sockets"),
    ("cpu.cores", "cores"),
    ("cpu.threads", "threads"),
    ("cpu.mhz.base", "clock, base"),
    ("cpu.mhz.max", "clock, highest"),
    ("cache.l1d.bytes", "L1 data cache"),
    ("cache.l2.bytes", "L2 cache"),
    ("cache.l3.bytes", "L3 cache"),
    ("numa.nodes", "NUMA nodes"),
    ("memory.installed.bytes", "memory installed"),
    ("memory.bytes", "memory seen"),
    ("memory.channels", "memory channels"),
    ("memory.mts", "memory MT/s"),
    ("memory.type", "memory type"),
    ("memory.ecc", "memory ECC"),
    ("memory.slots", "DIMM slots"),
    ("memory.max.bytes", "memory, most"),
    ("pcie.slots", "PCIe slots"),
    ("board.name", "board"),
    ("disk.names", "disks"),
    ("nic.names", "network"),
    ("cpu.isa.crc32c", "CRC-32C instruction"),
    ("virt.kind", "virtualisation"),
    ("os.name", "system"),
    ("kernel.release", "kernel"),
];

/// The sheet of one machine, or the table of several.
#[must_use]
pub fn sheet(machines: &[MachineFacts], columns: usize) -> String {
    match machines {
        [] => "no machine\n".to_owned(),
        [one] => single(one, columns),
        several => table(several, columns),
    }
}

fn topic(key: &str) -> usize {
    let first = key.split('.').next().unwrap_or(key);
    TOPICS.iter().position(|(_, parts)| parts.contains(&first)).unwrap_or(TOPICS.len())
}

/// Facts of one topic, with the topic's name.
pub type Topic<'a> = (&'static str, Vec<&'a FactDoc>);

/// The facts by topic, in the sheet's order.
#[must_use]
pub fn topics(facts: &[FactDoc]) -> Vec<Topic<'_>> {
    let named = |at: usize| TOPICS.get(at).map_or("Other", |(name, _)| *name);
    let of = |at: usize| facts.iter().filter(|fact| topic(&fact.key) == at).collect::<Vec<_>>();
    (0..=TOPICS.len()).map(|at| (named(at), of(at))).filter(|(_, facts)| !facts.is_empty()).collect()
}

/// `unknown (needs root)`, or the value with its caveat's number.
fn shown(fact: &FactDoc, footnotes: &mut Footnotes) -> String {
    match (spec::value(fact), &fact.why) {
        (Some(value), Some(why)) => format!("{value} ({})", footnotes.number(why)),
        (Some(value), None) => value,
        (None, Some(why)) => format!("unknown ({why})"),
        (None, None) => "unknown".to_owned(),
    }
}

/// Caveats in the order they are met, each once.
#[derive(Default)]
struct Footnotes(Vec<String>);

impl Footnotes {
    fn number(&mut self, text: &str) -> usize {
        match self.0.iter().position(|known| known == text) {
            Some(at) => at + 1,
            None => {
                self.0.push(text.to_owned());
                self.0.len()
            }
        }
    }

    fn text(&self, columns: usize) -> String {
        let mut out = String::new();
        for (index, text) in self.0.iter().enumerate() {
            out.push_str(&super::hang(&format!("({}) ", index + 1), text, columns));
        }
        if out.is_empty() { out } else { format!("\n{out}") }
    }
}

fn single(machine: &MachineFacts, columns: usize) -> String {
    let mut out = format!("{}\n", machine.machine.name);
    let key_room = machine.facts.iter().map(|fact| width(&fact.key)).max().unwrap_or(0).min(28);
    let rest = columns.saturating_sub(key_room + 4).max(24);
    let mut footnotes = Footnotes::default();
    for (name, facts) in topics(&machine.facts) {
        out.push_str(&format!("\n{name}\n"));
        for fact in facts {
            let value = shown(fact, &mut footnotes);
            // The value may take all the room; the source stands at the right where there is some left.
            let lines = wrap(&value, rest);
            let (first, more) =
                lines.split_first().map_or(("", &[][..]), |(first, more)| (first.as_str(), more));
            let left = rest.saturating_sub(width(first) + 2);
            let source =
                if more.is_empty() && left >= 12 { cut_front(&fact.source, left) } else { String::new() };
            let pad = rest.saturating_sub(width(first) + width(&source));
            let line = format!("  {:<key_room$}  {first}{}{source}", fact.key, " ".repeat(pad));
            out.push_str(line.trim_end());
            out.push('\n');
            for line in more {
                out.push_str(&format!("{}{line}\n", " ".repeat(key_room + 4)));
            }
        }
    }
    out.push_str(&footnotes.text(columns));
    out
}

fn table(machines: &[MachineFacts], columns: usize) -> String {
    const LABEL: usize = 20;
    let room = columns.saturating_sub(LABEL + 2);
    let at_once = (room / 14).clamp(1, machines.len());
    let mut out = String::new();
    let mut footnotes = Footnotes::default();
    for some in machines.chunks(at_once) {
        let cell = (room / some.len()).saturating_sub(2).max(8);
        if !out.is_empty() {
            out.push('\n');
        }
        let names: Vec<String> = some.iter().map(|one| one.machine.name.clone()).collect();
        out.push_str(&cells("", &names, LABEL, cell));
        for (key, label) in STANDARD {
            let facts: Vec<Option<&FactDoc>> =
                some.iter().map(|one| one.facts.iter().find(|fact| fact.key == key)).collect();
            if facts.iter().flatten().all(|fact| spec::value(fact).is_none()) {
                continue;
            }
            let texts: Vec<String> = facts
                .iter()
                .map(|fact| fact.map_or("-".to_owned(), |fact| brief(fact, &mut footnotes)))
                .collect();
            out.push_str(&cells(label, &texts, LABEL, cell));
        }
    }
    out.push_str(&footnotes.text(columns));
    out.push('\n');
    out.push_str(&super::hang(
        "",
        "Every fact of one machine, with its source: boxscore inspect NAME",
        columns,
    ));
    out
}

fn brief(fact: &FactDoc, footnotes: &mut Footnotes) -> String {
    match spec::value(fact) {
        Some(value) => {
            let value = if fact.key == "cpu.model" { spec::short_model(&value) } else { value };
            fact.why.as_ref().map_or(value.clone(), |why| format!("{value} ({})", footnotes.number(why)))
        }
        None => fact
            .why
            .as_ref()
            .map_or("unknown".to_owned(), |why| format!("unknown ({})", footnotes.number(why))),
    }
}

/// One row: a label and a cell a machine, each wrapped in its column.
fn cells(label: &str, texts: &[String], room: usize, cell: usize) -> String {
    let wrapped: Vec<Vec<String>> = texts.iter().map(|text| wrap(text, cell)).collect();
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut out = String::new();
    for index in 0..height {
        let mut line = format!("{:<room$}", if index == 0 { label } else { "" });
        for lines in &wrapped {
            let text = lines.get(index).map_or("", String::as_str);
            line.push_str(&format!("  {text:<cell$}"));
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    out
}
