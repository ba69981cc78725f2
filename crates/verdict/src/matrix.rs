//! Figures over chosen parameters: one table for each metric, the last parameter down, the others across.
//!
//! Nothing is averaged: parameters that vary within a side and were not chosen split the table, those that differ
//! between sides only are said. A side's newest run speaks for a figure. Metrics that hold a size in their names
//! (`basic.read100`) are one family where `size` is chosen and not a parameter of theirs. Figures without a direction
//! are bandwidths of such a family, or asked for by name. Parameters that the card works out, such as the transport,
//! count as given. No verdicts.

use std::collections::{BTreeMap, BTreeSet};

use model::data::{Published, RunData, Series};
use model::doc::{MatrixCellDoc, MatrixColumnDoc, MatrixDoc, MatrixTableDoc, SeriesDoc};
use model::{Better, Cards, Params, Unit, Validity, card};

use crate::compare::Side;
use crate::run::run_doc;
use crate::run_index::RunContext;

const SIZE: &str = "size";

/// The parameters and the metric that the user asked for.
#[derive(Clone, Debug, Default)]
pub struct MatrixOptions {
    /// The last one has the rows.
    pub params: Vec<String>,
    /// Only figures whose instrument, metric or family of metrics has this name.
    pub metric: Option<String>,
    pub cards: Cards,
}

/// A figure of a side with all that tells it apart.
struct Entry {
    side: usize,
    group: Group,
    /// All parameters, with the size of the name where that is one.
    params: Params,
    cell: MatrixCellDoc,
}

/// Key of a table: figures of one group share one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    instrument: String,
    metric: String,
    unit: Unit,
    better: Better,
    definition: u32,
}

/// The tables of these sides.
pub fn matrix(sides: &[Side<'_>], options: &MatrixOptions) -> MatrixDoc {
    let entries: Vec<Entry> =
        sides.iter().enumerate().flat_map(|(at, side)| entries(at, side, options)).collect();
    let mut groups: Vec<&Group> = Vec::new();
    for entry in &entries {
        if !groups.contains(&&entry.group) {
            groups.push(&entry.group);
        }
    }
    let (mut tables, mut notes) = (Vec::new(), Vec::new());
    for group in groups {
        let of: Vec<&Entry> = entries.iter().filter(|entry| entry.group == *group).collect();
        let split = varying(&of, sides.len(), &options.params);
        for note in unlike(&of, sides, &options.params, &split) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        let mut rests: Vec<Params> = Vec::new();
        for entry in &of {
            let rest = only(&entry.params, &split);
            if !rests.contains(&rest) {
                rests.push(rest);
            }
        }
        for rest in rests {
            let of: Vec<&Entry> =
                of.iter().copied().filter(|entry| only(&entry.params, &split) == rest).collect();
            let card = card::find(options.cards, &group.instrument);
            tables.push(MatrixTableDoc { card, ..table(group, rest, &of, sides, &options.params) });
        }
    }
    let params = options.params.clone();
    MatrixDoc { schema: "boxscore.matrix/1".to_owned(), params, tables, notes }
}

/// The figures of a side that have any of the parameters.
fn entries(at: usize, side: &Side<'_>, options: &MatrixOptions) -> Vec<Entry> {
    let mut runs: Vec<&RunData> = side.runs.clone();
    runs.sort_by_key(|run| std::cmp::Reverse(run.head.started_ns));
    let mut known = BTreeSet::new();
    let mut all = Vec::new();
    for run in runs {
        let doc = run_doc(run, &RunContext { cards: options.cards, ..RunContext::default() });
        let directed = doc.series.iter().map(|series| {
            let key = (series.instrument.as_str(), series.unit, series.better, series.definition);
            (key, series.arm.as_str(), measured(series, run))
        });
        // What has no direction is not judged, and no figure of the document.
        let plain = run.series.iter().filter(|series| series.better == Better::Neither).map(|series| {
            let key = &series.key;
            let of = (key.instrument.as_str(), key.unit, series.better, key.definition);
            (of, key.arm.as_str(), undirected(series, run))
        });
        for ((instrument, unit, better, definition), arm, mut cell) in directed.chain(plain) {
            if side.arm.as_ref().is_some_and(|wanted| *wanted != arm) {
                continue;
            }
            let set = run.plan.arms.iter().find(|known| known.name == arm).map(|known| &known.set);
            let params = set.map_or_else(|| cell.params.clone(), |set| set.with(&cell.params));
            let card = card::find(options.cards, instrument);
            let worked_out = card.map(|card| card.conditions(&params, &side.facts).known).unwrap_or_default();
            cell.params = worked_out.with(&params);
            let entry = placed(at, cell, instrument, unit, better, definition, options);
            all.extend(entry.filter(|entry| {
                known.insert((entry.group.clone(), entry.cell.metric.clone(), entry.params.clone()))
            }));
        }
    }
    for row in &side.published {
        let (cell, key) = (point(row), &row.key);
        all.extend(placed(at, cell, &key.instrument, key.unit, row.better, key.definition, options));
    }
    all
}

fn measured(series: &SeriesDoc, run: &RunData) -> MatrixCellDoc {
    let refused = series.validity == Validity::Invalid;
    MatrixCellDoc {
        row: 0,
        column: 0,
        metric: series.metric.clone(),
        params: series.params.clone(),
        value: series.median.filter(|_| !refused),
        low: series.low.filter(|_| !refused),
        high: series.high.filter(|_| !refused),
        bounds: "95 % interval".to_owned(),
        n: series.n,
        point: false,
        validity: series.validity,
        reasons: series.reasons.clone(),
        source: run.head.id.clone(),
    }
}

/// The median of a figure that has no direction.
fn undirected(series: &Series, run: &RunData) -> MatrixCellDoc {
    let values = series.measured();
    MatrixCellDoc {
        row: 0,
        column: 0,
        metric: series.key.metric.clone(),
        params: series.key.params.clone(),
        value: stats::median(&values),
        low: None,
        high: None,
        bounds: String::new(),
        n: values.len() as u64,
        point: false,
        validity: Validity::Unknown,
        reasons: Vec::new(),
        source: run.head.id.clone(),
    }
}

fn point(row: &Published) -> MatrixCellDoc {
    MatrixCellDoc {
        row: 0,
        column: 0,
        metric: row.key.metric.clone(),
        params: row.key.params.clone(),
        value: Some(row.value),
        low: row.low,
        high: row.high,
        bounds: row.bounds.clone(),
        n: 0,
        point: true,
        validity: Validity::Unknown,
        reasons: Some(row.note.clone()).filter(|note| !note.is_empty()).into_iter().collect(),
        source: row.study.clone(),
    }
}

fn placed(
    side: usize,
    cell: MatrixCellDoc,
    instrument: &str,
    unit: Unit,
    better: Better,
    definition: u32,
    options: &MatrixOptions,
) -> Option<Entry> {
    let mut params = cell.params.clone();
    let mut metric = cell.metric.clone();
    if options.params.iter().any(|name| name == SIZE)
        && params.get(SIZE).is_none()
        && let Some((family, size)) = sized(&metric)
    {
        params.set(SIZE, &size);
        metric = family;
    }
    let is_metric = |name: &String| [cell.metric.as_str(), metric.as_str()].contains(&name.as_str());
    let is_bandwidth = unit == Unit::BytesPerSec && sized(&cell.metric).is_some();
    let shown = better != Better::Neither || is_bandwidth || options.metric.as_ref().is_some_and(is_metric);
    let asked = options.metric.as_ref().is_none_or(|name| *name == instrument || is_metric(name));
    let has = options.params.iter().any(|name| params.get(name).is_some());
    let group = Group { instrument: instrument.to_owned(), metric, unit, better, definition };
    (asked && has && shown).then_some(Entry { side, group, params, cell })
}

/// A metric's name without the size in it, and the size: `basic.read1K` is `basic.read` and `1K`. A percentile (`p99`)
/// is no size.
pub fn sized(metric: &str) -> Option<(String, String)> {
    let at = metric.find(|c: char| c.is_ascii_digit())?;
    let (family, rest) = metric.split_at(at);
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let end = end + usize::from(rest[end..].starts_with(['K', 'M', 'G']));
    let (size, rest) = rest.split_at(end);
    let whole = rest.is_empty() || rest.starts_with('.');
    let last = family.rsplit('.').next().unwrap_or_default();
    let is_name = last.len() > 1 && last.ends_with(|c: char| c.is_ascii_alphabetic());
    (whole && is_name).then(|| (format!("{family}{rest}"), size.to_owned()))
}

/// Parameters that were not chosen and take several values within one side.
fn varying(of: &[&Entry], sides: usize, chosen: &[String]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for side in 0..sides {
        let own: Vec<&Entry> = of.iter().copied().filter(|entry| entry.side == side).collect();
        for name in own.iter().flat_map(|entry| entry.params.keys()) {
            let first = own.first().and_then(|entry| entry.params.get(name));
            if !chosen.contains(name) && own.iter().any(|entry| entry.params.get(name) != first) {
                names.insert(name.clone());
            }
        }
    }
    names
}

fn only(params: &Params, names: &BTreeSet<String>) -> Params {
    let mut kept = params.clone();
    kept.retain(|name, _| names.contains(name));
    kept
}

/// Parameters that differ between the sides of a table and were not chosen.
fn unlike(of: &[&Entry], sides: &[Side<'_>], chosen: &[String], split: &BTreeSet<String>) -> Vec<String> {
    let names: BTreeSet<&String> = of.iter().flat_map(|entry| entry.params.keys()).collect();
    let mut notes = Vec::new();
    for name in names.into_iter().filter(|name| !chosen.contains(name) && !split.contains(*name)) {
        let mut values: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
        for entry in of {
            let of_value = values.entry(entry.params.get(name)).or_default();
            let side = sides[entry.side].name.as_str();
            if !of_value.contains(&side) {
                of_value.push(side);
            }
        }
        if values.len() > 1 {
            let told = |(value, sides): (&Option<&str>, &Vec<&str>)| {
                format!("{} on {}", value.unwrap_or("not given"), sides.join(", "))
            };
            let told: Vec<String> = values.iter().map(told).collect();
            notes.push(format!("{name} is {}", told.join("; ")));
        }
    }
    notes
}

fn table(
    group: &Group,
    rest: Params,
    of: &[&Entry],
    sides: &[Side<'_>],
    chosen: &[String],
) -> MatrixTableDoc {
    let (across, down) = chosen.split_at(chosen.len().saturating_sub(1));
    let values = |entry: &Entry| -> Vec<Option<String>> {
        across.iter().map(|name| entry.params.get(name).map(str::to_owned)).collect()
    };
    let row = |entry: &Entry| down.first().and_then(|name| entry.params.get(name)).map(str::to_owned);
    let orders: Vec<Order> = chosen.iter().map(|name| Order::of(of, name)).collect();
    let mut columns: Vec<(usize, Vec<Option<String>>)> =
        of.iter().map(|entry| (entry.side, values(entry))).collect();
    columns.sort_by_cached_key(|(side, values)| {
        let places: Vec<_> = values.iter().zip(&orders).map(|(value, order)| order.place(value)).collect();
        (*side, places)
    });
    columns.dedup();
    let mut rows: Vec<Option<String>> = of.iter().map(|entry| row(entry)).collect();
    rows.sort_by_cached_key(|value| orders.last().map(|order| order.place(value)));
    rows.dedup();
    let mut cells: Vec<MatrixCellDoc> = Vec::new();
    for entry in of {
        let column = columns.iter().position(|column| *column == (entry.side, values(entry)));
        let place = rows.iter().position(|value| *value == row(entry));
        if let (Some(row), Some(column)) = (place, column) {
            cells.push(MatrixCellDoc { row, column, ..entry.cell.clone() });
        }
    }
    cells.sort_by_key(|cell| (cell.row, cell.column));
    let column = |(side, values): (usize, Vec<Option<String>>)| MatrixColumnDoc {
        side: sides[side].name.clone(),
        values,
    };
    MatrixTableDoc {
        card: None,
        instrument: group.instrument.clone(),
        metric: group.metric.clone(),
        unit: group.unit,
        better: group.better,
        definition: group.definition,
        params: rest,
        columns: columns.into_iter().map(column).collect(),
        rows,
        cells,
    }
}

/// The order of a parameter's values: numbers and sizes by what they are, words as they came; none before all.
struct Order {
    values: Vec<Option<String>>,
}

impl Order {
    fn of(entries: &[&Entry], name: &str) -> Order {
        let mut values: Vec<Option<String>> = Vec::new();
        for entry in entries {
            let value = entry.params.get(name).map(str::to_owned);
            if !values.contains(&value) {
                values.push(value);
            }
        }
        if values.iter().flatten().all(|value| amount(value).is_some()) {
            let number = |value: &Option<String>| value.as_deref().and_then(amount).unwrap_or(-1.0);
            values.sort_by(|a, b| number(a).total_cmp(&number(b)));
        }
        Order { values }
    }

    fn place(&self, value: &Option<String>) -> usize {
        self.values.iter().position(|known| known == value).unwrap_or(self.values.len())
    }
}

/// `100`, `1K`, `16KiB`, `0.5`.
fn amount(text: &str) -> Option<f64> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let factor = match unit.trim_end_matches('B') {
        "" => 1.0,
        "K" | "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "Ki" => 1024.0,
        "Mi" => 1_048_576.0,
        "Gi" => 1_073_741_824.0,
        _ => return None,
    };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use model::Basis;
    use model::SeriesKey;
    use model::doc::MachineDoc;

    use super::*;

    fn side(name: &str, rows: &[(&str, &str, f64)]) -> Side<'static> {
        let published = |(metric, params, value): &(&str, &str, f64)| Published {
            study: "study".into(),
            machine: name.into(),
            key: SeriesKey {
                instrument: "kv".into(),
                metric: (*metric).into(),
                unit: Unit::Second,
                params: Params::parse(params).unwrap(),
                arm: String::new(),
                definition: 1,
            },
            better: Better::Lower,
            value: *value,
            low: None,
            high: None,
            bounds: String::new(),
            basis: Basis::Measured,
            note: String::new(),
        };
        let machine = MachineDoc { id: name.into(), name: name.into() };
        Side { published: rows.iter().map(published).collect(), ..Side::new(name, machine) }
    }

    fn of(sides: &[Side<'_>], params: &str, metric: Option<&str>) -> MatrixDoc {
        let params = params.split(',').map(str::to_owned).collect();
        matrix(sides, &MatrixOptions { params, metric: metric.map(str::to_owned), cards: &[] })
    }

    #[test]
    fn sizes_are_taken_out_of_names() {
        let sized = |metric| sized(metric).map(|(family, size)| format!("{family} {size}"));
        assert_eq!(sized("basic.read100").as_deref(), Some("basic.read 100"));
        assert_eq!(sized("basic.readBw1M").as_deref(), Some("basic.readBw 1M"));
        assert_eq!(sized("basic.write1K.99").as_deref(), Some("basic.write.99 1K"));
        for none in ["time.p99", "throughput", "p50", "rtt.read", "crc32c", "", "basic.read.99", "x1y"] {
            assert_eq!(sized(none), None, "{none}");
        }
    }

    #[test]
    fn the_last_parameter_goes_down_and_the_others_across() {
        let atom = side(
            "atom",
            &[
                ("basic.read1M", "transport=bypass;replicas=0", 3800e-6),
                ("basic.read100", "transport=tcp;replicas=0", 67.8e-6),
                ("basic.read100", "transport=bypass;replicas=1", 13.2e-6),
                ("basic.read100", "transport=bypass;replicas=0", 13.8e-6),
                ("basic.read1K", "transport=bypass;replicas=0", 17.9e-6),
            ],
        );
        let doc = of(&[atom], "transport,replicas,size", None);
        let [table] = doc.tables.as_slice() else { panic!("{:#?}", doc.tables) };
        assert_eq!((table.metric.as_str(), table.params.is_empty()), ("basic.read", true));
        let rows: Vec<&str> = table.rows.iter().map(|row| row.as_deref().unwrap()).collect();
        assert_eq!(rows, ["100", "1K", "1M"]);
        let columns: Vec<String> = (table.columns.iter())
            .map(|column| column.values.iter().flatten().cloned().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(columns, ["bypass 0", "bypass 1", "tcp 0"]);
        let cells: Vec<_> =
            table.cells.iter().map(|cell| (cell.row, cell.column, cell.value.unwrap())).collect();
        assert_eq!(
            cells,
            [(0, 0, 13.8e-6), (0, 1, 13.2e-6), (0, 2, 67.8e-6), (1, 0, 17.9e-6), (2, 0, 3800e-6)]
        );
        assert!(doc.notes.is_empty());
    }

    #[test]
    fn what_was_not_chosen_splits_tables_or_is_said() {
        let a = side("a", &[("rtt", "size=100;send=inline", 4e-6), ("rtt", "size=100;send=normal", 6e-6)]);
        let b = side("b", &[("rtt", "size=1KiB;send=normal;store=redis", 9e-6)]);
        let doc = of(&[a, b], "size", Some("kv"));
        let told: Vec<_> =
            doc.tables.iter().map(|table| (table.params.to_string(), table.cells.len())).collect();
        assert_eq!(told, [("send=inline".to_owned(), 1), ("send=normal".to_owned(), 2)]);
        assert_eq!(doc.notes, ["store is not given on a; redis on b"]);
        assert!(of(&[side("c", &[("rtt", "x=1", 1e-6)])], "size", None).tables.is_empty());
    }
}
