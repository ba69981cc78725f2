//! The project's own catalogue: machines that others published, as facts and points in base units.
//!
//! Points have no samples, so they have no interval and no verdict. `catalogue/README.md` has their provenance.

use model::Basis;
use model::data::{Price, Published, RunData, watts_of_facts};
use model::{Better, Fact, Params, SeriesKey, Unit, printed};

use store::Store;

use crate::error::CliError;
use crate::import::{csv, own, sheet};

const MACHINES: &str = include_str!("../../catalogue/machines.csv");
const FACTS: &str = include_str!("../../catalogue/facts.csv");
const FIGURES: &str = include_str!("../../catalogue/published.csv");

/// A machine that somebody published figures of.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedMachine {
    pub name: String,
    pub study: String,
    pub facts: Vec<Fact>,
    pub price: Option<Price>,
    pub watts: Option<f64>,
    pub figures: Vec<Published>,
}

/// Reference machines with their samples: name, and runs in boxscore's own export format, packed by zstd.
const REFERENCES: &[(&str, &[u8])] = &[
    ("ref-epyc-2c", include_bytes!("../../catalogue/ref/ref-epyc-2c.json.zst")),
    ("ref-xeon-2c", include_bytes!("../../catalogue/ref/ref-xeon-2c.json.zst")),
];

/// The reference machine of that name, with its runs.
pub fn reference_named(wanted: &str) -> Result<Option<(String, Vec<RunData>)>, CliError> {
    let Some((name, packed)) = REFERENCES.iter().find(|(name, _)| *name == wanted) else { return Ok(None) };
    let wrong = |error: std::io::Error| CliError::data(format!("{name} in the catalogue: {error}"));
    let text = zstd::decode_all(*packed).map_err(wrong)?;
    let text = String::from_utf8(text).map_err(|error| wrong(std::io::Error::other(error)))?;
    Ok(Some(((*name).to_owned(), own::parse(name, &text)?)))
}

/// The reference machine that a run is set beside by default.
pub fn reference() -> Result<Option<(String, Vec<RunData>)>, CliError> {
    match REFERENCES.first() {
        Some((name, _)) => reference_named(name),
        None => Ok(None),
    }
}

/// Names of the reference machines.
pub fn references() -> Vec<&'static str> {
    REFERENCES.iter().map(|(name, _)| *name).collect()
}

/// The id under which a store keeps what its user noted of a machine of the catalogue.
pub fn id(name: &str) -> String {
    format!("catalogue {name}")
}

/// True for the name of a published or a reference machine.
pub fn has(name: &str) -> Result<bool, csv::CsvError> {
    Ok(references().contains(&name) || machines()?.iter().any(|machine| machine.name == name))
}

/// Every published machine, with what the store's user noted of it: a price, watts, facts.
pub fn noted(store: Option<&Store>) -> Result<Vec<PublishedMachine>, CliError> {
    let mut machines = machines()?;
    let Some(store) = store else { return Ok(machines) };
    for machine in &mut machines {
        let added = store.machine_facts(&id(&machine.name))?;
        machine.price = Price::of_facts(&added).or(machine.price.take());
        machine.watts = watts_of_facts(&added).or(machine.watts);
        machine.facts.retain(|fact| added.iter().all(|own| own.key != fact.key));
        machine.facts.extend(added);
    }
    Ok(machines)
}

/// Every published machine, in the catalogue's order.
pub fn machines() -> Result<Vec<PublishedMachine>, csv::CsvError> {
    let figures = figures()?;
    let rows = csv::parse("catalogue/machines.csv", MACHINES)?;
    let further = csv::parse("catalogue/facts.csv", FACTS)?;
    let machine = |row: &csv::CsvRow| {
        let name = row.get("machine").unwrap_or_default().to_owned();
        let figures = figures.iter().filter(|figure| figure.machine == name).cloned().collect();
        let bought = |amount| Price { amount, hourly: false, currency: "USD".to_owned() };
        PublishedMachine {
            study: row.get("study").unwrap_or_default().to_owned(),
            facts: [facts(row), further_facts(row, &further)].concat(),
            price: row.number("price_usd").map(bought),
            watts: row.number("watts"),
            figures,
            name,
        }
    };
    Ok(rows.iter().map(machine).collect())
}

/// Columns that are numbers: the fact, the factor to its base unit, and the unit.
pub const NUMBERS: [(&str, &str, f64, Unit); 14] = [
    ("cores", "cpu.cores", 1.0, Unit::Count),
    ("threads", "cpu.threads", 1.0, Unit::Count),
    ("clock_ghz", "cpu.mhz.base", 1e9, Unit::Hertz),
    ("turbo_ghz", "cpu.mhz.max", 1e9, Unit::Hertz),
    ("l1_kb_per_core", "cache.l1.bytes", 1024.0, Unit::Byte),
    ("l2_kb_per_core", "cache.l2.bytes", 1024.0, Unit::Byte),
    ("l3_mb", "cache.l3.bytes", 1_048_576.0, Unit::Byte),
    ("sockets_max", "cpu.sockets.max", 1.0, Unit::Count),
    ("memory_channels", "memory.channels", 1.0, Unit::Count),
    ("memory_clock_mhz", "memory.mts", 1e6, Unit::PerSec),
    ("memory_max_gb", "memory.max.bytes", 1_073_741_824.0, Unit::Byte),
    ("ram_gb", "memory.installed.bytes", 1_073_741_824.0, Unit::Byte),
    ("price_usd", "price.usd", 1.0, Unit::Count),
    ("watts", "power.watts", 1.0, Unit::Watt),
];

/// Columns that are yes or no.
pub const FLAGS: [(&str, &str); 4] = [
    ("crc32_instruction", "cpu.isa.crc32"),
    ("gib_pages", "cpu.isa.gib_pages"),
    ("on_die_memory_controller", "cpu.on_die.memory_controller"),
    ("on_die_pcie", "cpu.on_die.pcie"),
];

fn facts(row: &csv::CsvRow) -> Vec<Fact> {
    let source = row.get("study").unwrap_or_default();
    let mut facts = Vec::new();
    if let Some(model) = row.get("cpu") {
        facts.push(Fact::text("cpu.model", model, source));
    }
    for (column, key, factor, unit) in NUMBERS {
        facts.push(match (row.number(column), row.get(column)) {
            (Some(number), _) => Fact::number(key, number * factor, unit, source),
            // `N/A` and `>= 4` are what the study says.
            (None, Some(printed)) => as_written(key, printed, source),
            (None, None) => Fact::unknown(key, source, "not given by the study"),
        });
    }
    for (column, key) in FLAGS {
        match row.get(column) {
            Some("yes") => facts.push(Fact::flag(key, true, source)),
            Some("no") => facts.push(Fact::flag(key, false, source)),
            _ => facts.push(Fact::unknown(key, source, "not given by the study")),
        }
    }
    caveat(&mut facts, row.get("note"), row.get("note_about"));
    facts
}

/// The facts of a machine that have no column: a value that is no number of the key's unit stays as it was printed.
fn further_facts(machine: &csv::CsvRow, rows: &[csv::CsvRow]) -> Vec<Fact> {
    let source = machine.get("study").unwrap_or_default();
    let own = rows.iter().filter(|row| row.get("machine") == machine.get("machine"));
    let fact = |row: &csv::CsvRow| {
        let (key, printed) = (row.get("key")?, row.get("value")?);
        let fact = as_written(key, printed, source);
        Some(match row.get("note") {
            Some(note) => fact.because(note),
            None => fact,
        })
    };
    own.filter_map(fact).collect()
}

/// The fact that a value is read as, or its text where the key has numbers and it is none.
fn as_written(key: &str, printed: &str, source: &str) -> Fact {
    sheet::fact(key, printed, source).unwrap_or_else(|_| Fact::text(key, printed, source))
}

/// Adds a note to the fact of the column that it is about (`note_about`), or to the model's name.
fn caveat(facts: &mut [Fact], note: Option<&str>, about: Option<&str>) {
    let Some(note) = note else { return };
    let column = NUMBERS.iter().find(|(column, ..)| about == Some(*column));
    let about = column.map_or("cpu.model", |(_, key, ..)| *key);
    if let Some(fact) = facts.iter_mut().find(|fact| fact.key == about) {
        fact.why = Some(match fact.why.take() {
            Some(why) => format!("{why}; {note}"),
            None => note.to_owned(),
        });
    }
}

fn figures() -> Result<Vec<Published>, csv::CsvError> {
    let rows = csv::parse("catalogue/published.csv", FIGURES)?;
    Ok(rows.iter().filter_map(figure).collect())
}

/// A figure in base units. A row that has only bounds gets their geometric mean as its point, and its note says so.
fn figure(row: &csv::CsvRow) -> Option<Published> {
    let instrument = row.get("instrument")?.to_owned();
    let (unit, factor) = printed::unit(row.get("unit")?, &instrument)?;
    let (low, high) = (row.number("lo"), row.number("hi"));
    let note = row.get("note").unwrap_or_default();
    let (value, note) = match (row.number("value"), low, high) {
        (Some(value), _, _) => (value, note.to_owned()),
        (None, Some(low), Some(high)) => ((low * high).sqrt(), format!("middle of the bounds; {note}")),
        _ => return None,
    };
    let better = match row.get("better") {
        Some("higher") => Better::Higher,
        Some("lower") => Better::Lower,
        _ => Better::Neither,
    };
    let known = params(row.get("params").unwrap_or_default(), &instrument);
    let stated = params(row.get("stated").unwrap_or_default(), &instrument);
    let basis = match row.get("basis") {
        Some(word) => Basis::parse(word)?,
        None => Basis::Measured,
    };
    let definition = instruments::find(&instrument).map_or(1, |one| one.card().definition);
    Some(Published {
        study: row.get("study")?.to_owned(),
        machine: row.get("machine")?.to_owned(),
        key: SeriesKey {
            instrument,
            metric: row.get("metric")?.to_owned(),
            unit,
            params: known.with(&stated),
            arm: String::new(),
            definition,
        },
        better,
        value: value * factor,
        low: low.map(|low| low * factor),
        high: high.map(|high| high * factor),
        bounds: row.get("lohi").unwrap_or_default().to_owned(),
        basis,
        note: note.trim_end_matches("; ").to_owned(),
    })
}

/// Parameters split on `;` only (their values may hold commas), in the card's spelling where the card knows them.
fn params(text: &str, instrument: &str) -> Params {
    let mut params = Params::default();
    let card = instruments::find(instrument).map(|one| one.card());
    for (key, value) in text.split(';').filter_map(|pair| pair.split_once('=')) {
        let spec = card.and_then(|card| card.param(key));
        let spelled = spec.and_then(|spec| spec.canonical(value).ok());
        params.set(key, spelled.as_deref().unwrap_or(value));
    }
    params
}

#[cfg(test)]
mod tests;
