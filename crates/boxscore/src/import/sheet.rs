//! Machine sheets as CSV: one machine a line, its facts in columns. Also how a fact written by hand is read.
//!
//! A column is a fact's key (`cpu.model`, `memory.bytes`) or a short name (`cores`, `ram_gb`, `chipset`). Values become
//! base units; a plain number is one already. Words behind a number are its caveat: `1 (x16)`, `12MB shared`. `N/A` is
//! none, and what begins with `?` stays as it is printed. Prices and figures are not read here.

use model::{Fact, Unit};
use store::MachineSheet;

use crate::error::nearest;
use crate::import::csv;
use crate::import::csv::{CsvError, CsvRow};
use crate::lookup::catalogue::{FLAGS, NUMBERS};
use crate::lookup::labels;

/// Short names of keys whose values are written as those of the key are.
const NAMES: [(&str, &str); 13] = [
    ("cpu", "cpu.model"),
    ("board", "board.name"),
    ("chipset", "board.chipset"),
    ("os", "os.name"),
    ("sockets", "cpu.sockets"),
    ("memory_slots", "memory.slots"),
    ("memory_modules", "memory.modules"),
    ("dimms", "memory.layout"),
    ("sata_ports", "sata.ports"),
    ("disk_bays", "disk.bays"),
    ("pcie_slots", "pcie.slots"),
    ("price_band", "cost.band"),
    ("note", "note"),
];
/// A machine that has none of it, as sheets print it and as it is kept.
const HAS_NONE: [&str; 3] = ["N/A", "n/a", "none"];
const NONE: &str = "none";

/// The machines of a sheet; nothing of it where one line is wrong.
pub fn parse(file: &str, text: &str) -> Result<Vec<MachineSheet>, CsvError> {
    let rows = csv::parse(file, text)?;
    let header = text.lines().next().unwrap_or_default();
    let wrong = |line: u64, what: String| CsvError { file: file.to_owned(), line, what };
    if !is_sheet(text) {
        return Err(wrong(1, "no column `machine`: each line must name its machine".to_owned()));
    }
    let columns: Vec<&str> = header.split(',').map(|name| name.trim().trim_matches('"')).collect();
    for (at, column) in columns.iter().enumerate() {
        known(column).map_err(|what| wrong(1, what))?;
        if columns[..at].contains(column) {
            return Err(wrong(1, format!("the column `{column}` stands twice")));
        }
    }
    let mut machines: Vec<MachineSheet> = Vec::new();
    for row in &rows {
        let machine = machine(file, row).map_err(|what| wrong(row.line, what))?;
        if machines.iter().any(|other| other.id == machine.id) {
            return Err(wrong(row.line, format!("the machine `{}` stands twice", machine.name)));
        }
        machines.push(machine);
    }
    if machines.is_empty() {
        return Err(wrong(1, "no machine: the file has a header only".to_owned()));
    }
    Ok(machines)
}

/// True for a table whose header has a column `machine`.
pub fn is_sheet(text: &str) -> bool {
    let header = text.trim_start_matches('\u{feff}').lines().next().unwrap_or_default();
    header.split(',').any(|name| name.trim().trim_matches('"') == "machine")
}

/// Fails for what is neither a key nor a short name.
pub fn known(column: &str) -> Result<(), String> {
    let column = column.trim_start_matches('\u{feff}');
    let names: Vec<&str> = names().collect();
    if column == "machine" || column == "study" || names.contains(&column) || is_key(column) {
        return Ok(());
    }
    Err(match nearest(column, names.iter().copied()) {
        Some(near) => format!("no column is called `{column}`: did you mean `{near}`?"),
        None => format!(
            "no column is called `{column}`: say a fact's key (cpu.model; `boxscore inspect --json` has them), or {}",
            names.join(", ")
        ),
    })
}

/// The short names.
pub fn names() -> impl Iterator<Item = &'static str> {
    let numbers = NUMBERS.iter().map(|(name, ..)| *name);
    numbers.chain(FLAGS.iter().map(|(name, _)| *name)).chain(NAMES.iter().map(|(name, _)| *name))
}

/// Dotted and lower case: `cpu.mhz.base`.
fn is_key(text: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '-'))
    };
    text.contains('.') && text.split('.').all(part)
}

fn machine(file: &str, row: &CsvRow) -> Result<MachineSheet, String> {
    let name = row.get("machine").map(str::trim).filter(|name| !name.is_empty());
    let name = name.ok_or("no name in the column `machine`")?.to_owned();
    labels::check_name(&name).map_err(|why| format!("the machine's name {why}"))?;
    let source = row.get("study").unwrap_or(file).to_owned();
    let mut facts = Vec::new();
    for (column, cell) in &row.cells {
        if column == "machine" || column == "study" {
            continue;
        }
        facts.push(cell_fact(column, cell.trim(), &source).map_err(|what| format!("{column}: {what}"))?);
    }
    Ok(MachineSheet { id: format!("sheet {name}"), name, source, facts })
}

/// The fact of a key or a short name.
pub fn cell_fact(column: &str, cell: &str, source: &str) -> Result<Fact, String> {
    if let Some((_, key, factor, unit)) = NUMBERS.iter().find(|(name, ..)| *name == column) {
        if let Some(printed) = as_printed(key, cell, source) {
            return Ok(printed);
        }
        let read = |text: &str| text.parse::<f64>().ok().filter(|number| (number * factor).is_finite());
        let (number, caveat) = with_caveat(cell, read).ok_or_else(|| format!("`{cell}` is not a number"))?;
        fits(key, number).map_err(|why| format!("`{cell}` {why}"))?;
        return Ok(Fact::number(*key, number * factor, *unit, source).with_caveat(caveat));
    }
    if let Some((_, key)) = FLAGS.iter().find(|(name, _)| *name == column) {
        return match flag(cell) {
            Some(flag) => Ok(Fact::flag(*key, flag, source)),
            None => as_printed(key, cell, source).ok_or_else(|| format!("`{cell}` is neither yes nor no")),
        };
    }
    let key = NAMES.iter().find(|(name, _)| *name == column).map_or(column, |(_, key)| key);
    fact(key, cell, source)
}

/// The fact of a value that is no number and says so: the machine has none, or what it has is not certain.
fn as_printed(key: &str, text: &str, source: &str) -> Option<Fact> {
    if HAS_NONE.contains(&text) {
        let none = Fact::text(key, NONE, source);
        return Some(if text == NONE { none } else { none.because(text) });
    }
    text.starts_with(['?', '>', '<']).then(|| Fact::text(key, text, source))
}

/// A number and the words behind it: `1 (x16)`, `8 (4 / socket)`, `4 x 3.5"`, `12MB shared`. Plain words may stand only
/// behind a unit.
fn with_caveat(text: &str, read: impl Fn(&str) -> Option<f64>) -> Option<(f64, Option<String>)> {
    if let Some(number) = read(text) {
        return Some((number, None));
    }
    let ends = text
        .char_indices()
        .filter(|(_, c)| c.is_whitespace() || matches!(c, '(' | ',' | 'x'))
        .map(|(at, _)| at);
    ends.filter(|at| *at > 0).find_map(|at| {
        let (number, rest) = (text[..at].trim_end(), text[at..].trim_start());
        let has_unit = number.ends_with(|c: char| c.is_ascii_alphabetic());
        let is_caveat = rest.starts_with(['(', ',', '/', 'x']) || has_unit;
        let value = read(number).filter(|_| is_caveat)?;
        let whole = rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
        let words = whole.filter(|words| !words.contains(['(', ')'])).unwrap_or(rest);
        Some((value, Some(words.trim_start_matches(',').trim().to_owned()).filter(|words| !words.is_empty())))
    })
}

/// Refuses impossible numbers: prices and watts must be above 0, all others 0 or more, and counts whole.
fn fits(key: &str, number: f64) -> Result<(), &'static str> {
    let paid = key == "power.watts" || key.starts_with("price.");
    match unit_of(key) {
        _ if paid && number <= 0.0 => Err("must be above 0"),
        _ if number < 0.0 => Err("must be 0 or more"),
        Some(Unit::Count) if !paid && number.fract() != 0.0 => Err("must be a whole number"),
        _ => Ok(()),
    }
}

fn flag(text: &str) -> Option<bool> {
    match text {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

/// The unit that a key's values have, where its name says it.
fn unit_of(key: &str) -> Option<Unit> {
    let parts: Vec<&str> = key.split('.').collect();
    Some(match parts.as_slice() {
        [.., "bytes"] => Unit::Byte,
        [_, "mhz", ..] => Unit::Hertz,
        [.., "mts"] => Unit::PerSec,
        [.., "watts"] => Unit::Watt,
        ["cpu", "sockets" | "cores" | "threads"]
        | ["cpu", "sockets", "max"]
        | ["memory", "channels" | "slots" | "modules"]
        | ["memory", "channels", "empty"]
        | ["pcie", "slots"]
        | ["disk", "bays"]
        | ["sata", "ports"]
        | ["chassis", "units" | "servers"]
        | ["cluster", "servers"]
        | ["numa", "nodes"]
        | ["price", ..] => Unit::Count,
        _ => return None,
    })
}

/// Suffixes that people write, with their factor.
const SUFFIXES: [(&str, Unit, f64); 18] = [
    ("KiB", Unit::Byte, 1024.0),
    ("MiB", Unit::Byte, 1_048_576.0),
    ("GiB", Unit::Byte, 1_073_741_824.0),
    ("TiB", Unit::Byte, 1_099_511_627_776.0),
    ("kB", Unit::Byte, 1e3),
    ("KB", Unit::Byte, 1e3),
    ("MB", Unit::Byte, 1e6),
    ("GB", Unit::Byte, 1e9),
    ("TB", Unit::Byte, 1e12),
    ("B", Unit::Byte, 1.0),
    ("GHz", Unit::Hertz, 1e9),
    ("MHz", Unit::Hertz, 1e6),
    ("Hz", Unit::Hertz, 1.0),
    ("GT/s", Unit::PerSec, 1e9),
    ("MT/s", Unit::PerSec, 1e6),
    // Sheets print the rate of memory as a clock.
    ("MHz", Unit::PerSec, 1e6),
    ("1/s", Unit::PerSec, 1.0),
    ("W", Unit::Watt, 1.0),
];

/// A fact as a person writes it: a number (with a unit where the key has one), yes or no, or text.
pub fn fact(key: &str, text: &str, source: &str) -> Result<Fact, String> {
    if text.is_empty() {
        return Err("no value".to_owned());
    }
    if let Some(unit) = unit_of(key) {
        if let Some(printed) = as_printed(key, text, source) {
            return Ok(printed);
        }
        let read = |text: &str| measure(text, unit, is_of_memory(key));
        let (number, caveat) = with_caveat(text, read).ok_or_else(|| match unit {
            Unit::Byte => format!("`{text}` is not an amount of memory (64GiB, 512MB, or bytes)"),
            Unit::Hertz => format!("`{text}` is not a clock (2.4GHz, 800MHz, or Hz)"),
            Unit::PerSec => format!("`{text}` is not a rate (3200MT/s, or a number per second)"),
            _ => format!("`{text}` is not a number"),
        })?;
        fits(key, number).map_err(|why| format!("`{text}` {why}"))?;
        return Ok(Fact::number(key, number, unit, source).with_caveat(caveat));
    }
    Ok(match flag(text) {
        Some(flag) => Fact::flag(key, flag, source),
        None => as_printed(key, text, source).unwrap_or_else(|| Fact::text(key, text, source)),
    })
}

/// Memory and caches are sold in powers of two, whatever their sheets call them: 64KB is 65536 bytes.
fn is_of_memory(key: &str) -> bool {
    key.starts_with("memory.") || key.starts_with("cache.")
}

fn measure(text: &str, unit: Unit, binary: bool) -> Option<f64> {
    let found = SUFFIXES.iter().find(|(suffix, of, _)| *of == unit && text.ends_with(suffix));
    let (number, factor) = match found {
        Some((suffix, _, factor)) => (text.strip_suffix(suffix)?.trim_end(), *factor),
        None => (text, 1.0),
    };
    let powers = [(1e3, 1024.0), (1e6, 1_048_576.0), (1e9, 1_073_741_824.0), (1e12, 1_099_511_627_776.0)];
    let of_two = powers.iter().find(|(ten, _)| binary && unit == Unit::Byte && *ten == factor);
    let factor = of_two.map_or(factor, |(_, two)| *two);
    let number: f64 = number.parse().ok()?;
    Some(number * factor).filter(|number| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn friendly_columns_and_keys_are_the_same_facts() {
        let short = parse("a.csv", "machine,cpu,cores,ram_gb\nbox,X 1,4,8\n").unwrap();
        let long =
            parse("b.csv", "machine,cpu.model,cpu.cores,memory.installed.bytes\nbox,X 1,4,8GiB\n").unwrap();
        let plain = |sheets: &[MachineSheet]| -> Vec<_> {
            let mut facts: Vec<_> =
                sheets[0].facts.iter().map(|fact| (fact.key.clone(), fact.value.clone().unwrap())).collect();
            facts.sort_by(|a, b| a.0.cmp(&b.0));
            facts.into_iter().map(|(key, value)| format!("{key}={}", value.text())).collect()
        };
        assert_eq!(plain(&short), plain(&long));
        assert_eq!((short[0].name.as_str(), short[0].source.as_str()), ("box", "a.csv"));
    }

    #[test]
    fn errors_name_file_line_and_column() {
        let said = |text: &str| parse("m.csv", text).unwrap_err().to_string();
        assert_eq!(said("cpu,cores\nx,4\n"), "m.csv:1: no column `machine`: each line must name its machine");
        assert_eq!(said("machine,cores\na,4\nb,four\n"), "m.csv:3: cores: `four` is not a number");
        assert_eq!(said("machine,core\na,4\n"), "m.csv:1: no column is called `core`: did you mean `cores`?");
        assert_eq!(said("machine,cores\na,4\na,8\n"), "m.csv:3: the machine `a` stands twice");
        assert_eq!(said("machine,cores\n,4\n"), "m.csv:2: no name in the column `machine`");
        assert_eq!(said("machine,cores\na,-4\n"), "m.csv:2: cores: `-4` must be 0 or more");
        assert_eq!(said("machine,cores\na,1.5\n"), "m.csv:2: cores: `1.5` must be a whole number");
        assert_eq!(said("machine,cores\na,inf\n"), "m.csv:2: cores: `inf` is not a number");
        assert_eq!(said("machine,price_usd\na,0\n"), "m.csv:2: price_usd: `0` must be above 0");
        assert_eq!(said("machine,watts\na,-3\n"), "m.csv:2: watts: `-3` must be above 0");
        assert_eq!(said("machine,price.eur.hour\na,0\n"), "m.csv:2: price.eur.hour: `0` must be above 0");
        assert!(
            said("machine,memory.bytes\na,64furlong\n").contains("m.csv:2: memory.bytes: `64furlong` is not")
        );
        assert!(said("machine,memory.bytes\na,lots\n").contains("m.csv:2: memory.bytes: `lots`"));
    }

    #[test]
    fn words_behind_a_number_are_its_caveat() {
        let read = |key: &str, text: &str| {
            let fact = fact(key, text, "").unwrap().into_value();
            (fact.value.unwrap().text(), fact.why)
        };
        let of =
            |value: &str, why: &str| (value.to_owned(), Some(why.to_owned()).filter(|why| !why.is_empty()));
        for (key, text, expected) in [
            ("pcie.slots", "1 (x16)", of("1", "x16")),
            ("pcie.slots", "2 (x16), 1 (x8)", of("2", "(x16), 1 (x8)")),
            ("memory.slots", "8 (4 / socket)", of("8", "4 / socket")),
            ("sata.ports", "6 (?)", of("6", "?")),
            ("disk.bays", "4 x 3.5\"", of("4", "x 3.5\"")),
            ("disk.bays", "4x 3.5\"", of("4", "x 3.5\"")),
            ("cache.l1.bytes", "64KB / core", of("65536", "/ core")),
            ("cache.l3.bytes", "12MB shared", of("12582912", "shared")),
            ("memory.mts", "1333MHz (NB: drops to 800MHz)", of("1333000000", "NB: drops to 800MHz")),
            ("memory.max.bytes", "32GB (board supports 48)", of("34359738368", "board supports 48")),
            ("memory.max.bytes", "? (>=128GB)", of("? (>=128GB)", "")),
            ("cpu.sockets.max", ">= 4", of(">= 4", "")),
            ("cpu.mhz.max", "N/A", of("none", "N/A")),
            ("cpu.mhz.max", "none", of("none", "")),
            ("board.name", "?", of("?", "")),
            ("disk.sda.bytes", "64KB", of("64000", "")),
        ] {
            assert_eq!(read(key, text), expected, "{key}={text}");
        }
        for (key, text) in [
            ("cpu.cores", "10 parsecs"),
            ("cpu.cores", "(4)"),
            ("memory.slots", "x16"),
            ("cpu.mhz.max", "fast"),
            ("cpu.cores", "-4 (x)"),
            ("cpu.cores", "1.5 (x)"),
        ] {
            assert!(fact(key, text, "").is_err(), "{key}={text}");
        }
        let cell = |column: &str, text: &str| {
            let fact = cell_fact(column, text, "").unwrap().into_value();
            (fact.key, fact.value.unwrap().text(), fact.why)
        };
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(cell("chipset", "Intel 5520"), ("board.chipset".into(), "Intel 5520".into(), None));
        assert_eq!(cell("turbo_ghz", "N/A"), ("cpu.mhz.max".into(), "none".into(), some("N/A")));
        assert_eq!(cell("sockets_max", "? (>= 4)"), ("cpu.sockets.max".into(), "? (>= 4)".into(), None));
        assert_eq!(
            cell("l1_kb_per_core", "64 (both)"),
            ("cache.l1.bytes".into(), "65536".into(), some("both"))
        );
        assert_eq!(cell("gib_pages", "?"), ("cpu.isa.gib_pages".into(), "?".into(), None));
    }

    #[test]
    fn values_become_base_units() {
        let number = |key: &str, text: &str| fact(key, text, "").unwrap().value.as_ref().unwrap().number();
        assert_eq!(number("cpu.mhz.base", "2.5GHz"), Some(2.5e9));
        assert_eq!(number("memory.mts", "3200 MT/s"), Some(3.2e9));
        assert_eq!(number("memory.bytes", "1024"), Some(1024.0));
        assert!(fact("cpu.cores", "NaN", "").is_err() && fact("cpu.cores", "-1", "").is_err());
        assert_eq!(fact("memory.ecc", "yes", "").unwrap(), Fact::flag("memory.ecc", true, ""));
        assert_eq!(fact("rack", "B 12", "").unwrap(), Fact::text("rack", "B 12", ""));
    }
}
