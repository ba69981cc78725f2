//! The spec sheet: one machine's facts by topic with their sources, or several machines side by side.
//!
//! An unknown value says why. Caveats of known values are footnotes. Values keep their own units.

use model::doc::MachineFacts;
use model::{Fact, FactValue};

use super::{Look, cut_front, notes, spec, width, wrap};

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
    ("Limits of boxscore itself", &["cgroup", "process"]),
    ("Power", &["power"]),
];

/// Facts that a table of several machines always has, as far as anyone knows them, with people's names.
const STANDARD: [(&str, &str); 41] = [
    ("cpu.model", "processor"),
    ("cpu.sockets", "sockets"),
    ("cpu.sockets.max", "sockets, most"),
    ("cpu.cores", "cores"),
    ("cpu.threads", "threads"),
    ("process.cpus", "CPUs allowed"),
    ("cpu.mhz.base", "clock, base"),
    ("cpu.mhz.max", "clock, highest"),
    ("cache.l1.bytes", "L1 caches of a core"),
    ("cache.l1d.bytes", "L1 data cache"),
    ("cache.l2.bytes", "L2 cache"),
    ("cache.l3.bytes", "L3 cache"),
    ("numa.nodes", "NUMA nodes"),
    ("memory.installed.bytes", "memory installed"),
    ("memory.bytes", "memory seen"),
    ("memory.channels", "memory channels"),
    ("memory.mts", "memory rate"),
    ("memory.type", "memory type"),
    ("memory.ecc", "memory ECC"),
    ("memory.slots", "DIMM slots"),
    ("memory.layout", "DIMMs"),
    ("memory.max.bytes", "memory, most"),
    ("pcie.slots", "PCIe slots"),
    ("pcie.slots.width", "PCIe slots' width"),
    ("cpu.on_die.memory_controller", "memory ctrl. on die"),
    ("cpu.on_die.pcie", "PCIe ctrl. on die"),
    ("board.name", "board"),
    ("board.chipset", "chip set"),
    ("sata.ports", "SATA ports"),
    ("disk.bays", "disk bays"),
    ("disk.names", "disks"),
    ("nic.names", "network"),
    ("cpu.isa.crc32", "CRC-32C instruction"),
    ("cpu.isa.gib_pages", "1 GiB pages"),
    ("virt.kind", "virtualisation"),
    ("os.name", "system"),
    ("kernel.release", "kernel"),
    ("power.watts", "power"),
    ("price.usd", "price, USD"),
    ("cost.band", "price band"),
    ("chassis.units", "rack units"),
];

/// The sheet of one machine, or the table of several.
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
pub type Topic<'a> = (&'static str, Vec<&'a Fact>);

/// The facts by topic, in the sheet's order.
pub fn topics(facts: &[Fact]) -> Vec<Topic<'_>> {
    let named = |at: usize| TOPICS.get(at).map_or("Other", |(name, _)| *name);
    let of = |at: usize| facts.iter().filter(|fact| topic(&fact.key) == at).collect::<Vec<_>>();
    (0..=TOPICS.len()).map(|at| (named(at), of(at))).filter(|(_, facts)| !facts.is_empty()).collect()
}

/// A value with its caveat, which is short, or else a footnote.
fn with_caveat(value: &str, why: &str, footnotes: &mut Footnotes) -> String {
    /// Longer ones would hide the value.
    const SHORT: usize = 12;
    // A number alone reads as that of a footnote.
    let is_number = why.chars().all(|c| c.is_ascii_digit());
    match width(why) <= SHORT && !is_number {
        true => format!("{value} ({why})"),
        false => format!("{value} ({})", footnotes.number(why)),
    }
}

/// `unknown (needs root)`, or the value with its caveat.
fn shown(fact: &Fact, footnotes: &mut Footnotes) -> String {
    match (spec::value(fact), &fact.why) {
        (Some(value), Some(why)) => with_caveat(&value, why, footnotes),
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
    out.extend(spec::Spec(&machine.facts).allowed().map(|allowed| format!("{allowed}\n")));
    let key_room = machine.facts.iter().map(|fact| width(&fact.key)).max().unwrap_or(0).min(28);
    let mut footnotes = Footnotes::default();
    for (name, facts) in topics(&machine.facts) {
        out.push_str(&format!("\n{name}\n"));
        for (key, value, source) in lines(&facts, &mut footnotes) {
            out.push_str(&line(&key, &value, &source, key_room, columns));
        }
    }
    out.push_str(&footnotes.text(columns));
    out.push_str(&findings(machine, "", columns));
    out
}

/// Conclusions from the facts, a line each behind a blank one.
fn findings(machine: &MachineFacts, name: &str, columns: usize) -> String {
    let look = Look { columns, ..Look::plain() };
    let lines = machine.findings.iter();
    let lines: String =
        lines.map(|one| notes::line(one.state, &format!("{name}{}", one.text()), look)).collect();
    if lines.is_empty() { lines } else { format!("\n{lines}") }
}

/// Facts of one parent that say the same are one line: at least this many.
const ALIKE: usize = 3;

/// Key, value and source of each line; `cpu.isa.*  yes: aes, avx, avx2` where several facts say the same.
fn lines(facts: &[&Fact], footnotes: &mut Footnotes) -> Vec<(String, String, String)> {
    let parts = |fact: &Fact| {
        let (parent, leaf) = fact.key.rsplit_once('.').unwrap_or(("", &fact.key));
        (parent.to_owned(), leaf.to_owned())
    };
    let all: Vec<(&Fact, String)> = facts.iter().map(|fact| (*fact, shown(fact, footnotes))).collect();
    let mut out = Vec::new();
    let mut folded: Vec<(String, &str)> = Vec::new();
    for (fact, value) in &all {
        let (parent, _) = parts(fact);
        let foldable = matches!(fact.value, None | Some(FactValue::Flag(_))) || parent == "mitigation";
        let alike: Vec<String> = all
            .iter()
            .filter(|(other, said)| said == value && parts(other).0 == parent)
            .map(|(other, _)| parts(other).1)
            .collect();
        if !foldable || parent.is_empty() || alike.len() < ALIKE {
            out.push((fact.key.clone(), value.clone(), fact.source.clone()));
        } else if !folded.contains(&(parent.clone(), value.as_str())) {
            let names = alike.join(", ");
            let text = match (&fact.value, &fact.why) {
                (None, Some(why)) => format!("unknown: {names} ({why})"),
                _ => format!("{value}: {names}"),
            };
            out.push((format!("{parent}.*"), text, String::new()));
            folded.push((parent, value));
        }
    }
    out
}

/// One fact. The value may take all the room; the source stands at the right where there is some left.
fn line(key: &str, value: &str, source: &str, key_room: usize, columns: usize) -> String {
    const LEAST: usize = 24;
    let indent = key_room + 4;
    let beside = columns.saturating_sub(width(key).max(key_room) + 4);
    let mut out = String::new();
    let mut head = format!("  {key:<key_room$}  ");
    let mut rest = beside;
    if width(key) > key_room && (beside < LEAST || width(value) > beside) {
        // A long key stands alone.
        out.push_str(&format!("  {key}\n"));
        head = " ".repeat(indent);
        rest = columns.saturating_sub(indent).max(LEAST);
    }
    let lines = wrap(value, rest);
    let (first, more) = lines.split_first().map_or(("", &[][..]), |(first, more)| (first.as_str(), more));
    let left = rest.saturating_sub(width(first) + 2);
    let source = if more.is_empty() && left >= 12 { cut_front(source, left) } else { String::new() };
    let pad = rest.saturating_sub(width(first) + width(&source));
    out.push_str(format!("{head}{first}{}{source}", " ".repeat(pad)).trim_end());
    out.push('\n');
    for line in more {
        let indent = width(&head).min(columns.saturating_sub(width(line)));
        out.push_str(&format!("{}{line}\n", " ".repeat(indent)));
    }
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
            let facts: Vec<Option<&Fact>> =
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
    machines.iter().for_each(|one| out.push_str(&findings(one, &format!("{}: ", one.machine.name), columns)));
    out.push('\n');
    out.push_str(&super::hang(
        "",
        "Every fact of one machine, with its source: boxscore inspect NAME",
        columns,
    ));
    out
}

fn brief(fact: &Fact, footnotes: &mut Footnotes) -> String {
    match spec::value(fact) {
        Some(value) => {
            let value = if fact.key == "cpu.model" { spec::short_model(&value) } else { value };
            fact.why.as_ref().map_or(value.clone(), |why| with_caveat(&value, why, footnotes))
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

#[cfg(test)]
mod tests {
    use model::FactLine;
    use model::doc::MachineDoc;

    use super::*;

    fn fact(key: &str, value: Option<FactValue>, why: Option<&str>) -> Fact {
        let (key, source) = (key.to_owned(), "/sys/somewhere".to_owned());
        Fact::from(FactLine { key, value, unit: None, source, why: why.map(ToOwned::to_owned) })
    }

    #[test]
    fn short_caveats_stand_beside_their_value_and_long_ones_below() {
        let number = |key: &str, why: &str| fact(key, Some(FactValue::Number(1.0)), Some(why));
        let one = vec![
            number("pcie.slots", "x16"),
            number("disk.bays", "17"),
            number("sata.ports", "as far as it is known"),
        ];
        let machine = |name: &str, facts| MachineFacts {
            machine: MachineDoc { id: name.to_owned(), name: name.to_owned() },
            facts,
            findings: Vec::new(),
        };
        let text = sheet(&[machine("a", one), machine("b", Vec::new())], 80);
        let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed.contains("PCIe slots 1 (x16) -"), "{text}");
        assert!(squeezed.contains("SATA ports 1 (1) -") && squeezed.contains("disk bays 1 (2) -"), "{text}");
        assert!(squeezed.contains("(1) as far as it is known (2) 17"), "{text}");
    }

    #[test]
    fn facts_that_say_the_same_are_one_line_and_long_keys_fit() {
        let yes = || Some(FactValue::Flag(true));
        let long = "sysctl.net.ipv4.tcp_congestion_control.of.this.machine";
        let facts = vec![
            fact("cpu.isa.aes", yes(), None),
            fact("cpu.isa.avx", yes(), None),
            fact("cpu.isa.sha", yes(), None),
            fact("cpu.isa.sve", Some(FactValue::Flag(false)), None),
            fact("memory.mts", None, Some("no tables")),
            fact("memory.ecc", None, Some("no tables")),
            fact("memory.slots", None, Some("no tables")),
            fact(long, Some(FactValue::Text("one two three four five six seven".to_owned())), None),
        ];
        let machine = MachineDoc { id: "m".to_owned(), name: "m".to_owned() };
        let text = sheet(&[MachineFacts { machine, facts, findings: Vec::new() }], 60);
        let squeezed = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(squeezed.contains("cpu.isa.* yes: aes, avx, sha cpu.isa.sve no"), "{text}");
        assert!(squeezed.contains("memory.* unknown: mts, ecc, slots (no tables)"), "{text}");
        assert!(squeezed.contains(long) && squeezed.contains("six seven"), "{text}");
        assert!(text.lines().all(|line| width(line) <= 60), "{text}");
    }
}
