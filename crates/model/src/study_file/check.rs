//! Looks up what a study file names: instruments, metrics, parameters and units by the cards, machines and their
//! published figures by what the caller knows of them.

use super::{Column, Content, FigureKey, Row, StudyFile, StudyRun, StudyTable};
use crate::card::{self, Cadence, Card, Cards};
use crate::data::Published;
use crate::params::{Params, same};
use crate::printed;
use crate::toml_file::FileError;
use crate::unit::Unit;

/// A machine of a column, as far as a file is checked by it.
#[derive(Clone, Copy, Debug)]
pub struct KnownMachine<'a> {
    pub name: &'a str,
    pub figures: &'a [Published],
}

/// The parameter that every arm may have.
const CPUS: &str = "cpus";

/// The file with every value in the spelling of its card. The error is the first thing that is not there.
pub fn check(file: StudyFile, cards: Cards, machines: &[KnownMachine<'_>]) -> Result<StudyFile, FileError> {
    for run in &file.runs {
        check_run(run, cards)?;
    }
    let StudyFile { runs, tables, .. } = file;
    let tables = tables.into_iter().map(|table| check_table(table, &runs, cards, machines));
    let tables = tables.collect::<Result<_, _>>()?;
    Ok(StudyFile { runs, tables, ..file })
}

/// The figure of a machine that a row and a column ask for: of several the one that says least besides. The error is
/// their number, where several say as little.
pub fn published<'p>(
    key: &FigureKey,
    column: &Column,
    figures: &'p [Published],
) -> Result<Option<&'p Published>, usize> {
    let wanted = key.params.with(&column.with);
    let has = |figure: &&Published| {
        let own = &figure.key;
        let agrees =
            |(name, value): (&String, &String)| own.params.get(name).is_some_and(|own| same(own, value));
        own.instrument == key.instrument && own.metric == key.metric && wanted.iter().all(agrees)
    };
    let fitting: Vec<&Published> = figures.iter().filter(has).collect();
    let size = |figure: &&Published| figure.key.params.len();
    let Some(least) = fitting.iter().map(size).min() else { return Ok(None) };
    match fitting.into_iter().filter(|figure| size(figure) == least).collect::<Vec<_>>().as_slice() {
        [only] => Ok(Some(only)),
        several => Err(several.len()),
    }
}

/// The instruments that a run measures.
fn measured<'a>(run: &'a StudyRun, cards: Cards) -> impl Iterator<Item = &'static Card> + 'a {
    let is_named =
        |card: &Card| run.measure.iter().any(|name| name == card.name || name == card.family.name());
    cards.iter().copied().filter(move |card| card.cadence == Cadence::Repeat && is_named(card))
}

fn check_run(run: &StudyRun, cards: Cards) -> Result<(), FileError> {
    let is_known = |name: &&String| {
        let mut repeated = cards.iter().filter(|card| card.cadence == Cadence::Repeat);
        repeated.any(|card| card.name == name.as_str() || card.family.name() == name.as_str())
    };
    if let Some(name) = run.measure.iter().find(|name| !is_known(name)) {
        let what = format!("the run `{}` measures `{name}`, which is no instrument and no family", run.name);
        return Err(FileError::new(run.line, what, "`boxscore list` names them"));
    }
    for text in run.set.iter().chain(&run.set_quick).chain(&run.arms) {
        let pairs = Params::parse(text).map_err(|error| {
            let hint = "a setting is written as key=value or instrument.key=value";
            FileError::new(run.line, format!("the run `{}`: {error}", run.name), hint)
        })?;
        for (key, value) in &pairs {
            check_setting(run, (key, value), cards)?;
        }
    }
    Ok(())
}

/// One `K=V`: a card of the run has the parameter, and it can have one of the values.
fn check_setting(run: &StudyRun, (key, value): (&str, &str), cards: Cards) -> Result<(), FileError> {
    let (of, name) = match key.split_once('.') {
        Some((instrument, name)) => (Some(instrument), name),
        None => (None, key),
    };
    if name == CPUS || run.by_hand.is_some() {
        return Ok(());
    }
    let own: Vec<&Card> = measured(run, cards).filter(|card| of.is_none_or(|of| of == card.name)).collect();
    let specs: Vec<_> = own.iter().filter_map(|card| card.param(name)).collect();
    let wrong = |what: String, hint: String| Err(FileError::new(run.line, what, hint));
    let Some(first) = specs.first() else {
        let known: Vec<&str> = own.iter().flat_map(|card| card.params).map(|spec| spec.name).collect();
        let what = format!("the run `{}`: no instrument of it has the parameter `{name}`", run.name);
        return wrong(what, format!("there are: {}", known.join(", ")));
    };
    let values: Vec<&str> = match first.kind.choices() {
        Some(_) => value.split('|').map(str::trim).collect(),
        None => vec![value],
    };
    let fits = |value: &&str| specs.iter().any(|spec| spec.canonical(value).is_ok());
    match values.iter().find(|value| !fits(value)) {
        None => Ok(()),
        Some(value) => {
            let what = format!("the run `{}`: {name}={value} is not possible", run.name);
            wrong(what, format!("{name} is {}", first.kind.wanted()))
        }
    }
}

fn check_table(
    table: StudyTable,
    runs: &[StudyRun],
    cards: Cards,
    machines: &[KnownMachine<'_>],
) -> Result<StudyTable, FileError> {
    let is_known =
        |column: &&Column| column.is_here() || machines.iter().any(|one| one.name == column.machine);
    if let Some(column) = table.columns.iter().find(|column| !is_known(column)) {
        let what = format!("there is no machine `{}`", column.machine);
        let hint =
            "a machine of the catalogue (`boxscore inspect NAME`), a label or a run of the store, or `.`";
        return Err(FileError::new(column.line, what, hint));
    }
    let named = |run: &&StudyRun| table.run.as_ref().is_none_or(|name| *name == run.name);
    let runs: Vec<&StudyRun> = runs.iter().filter(named).collect();
    if let (Some(name), true) = (&table.run, runs.is_empty()) {
        let what = format!("the table `{}` is of a run `{name}`, which is not there", table.name);
        return Err(FileError::new(table.line, what, "run = the name of a [[run]]"));
    }
    let rows = table.rows.into_iter().map(|row| {
        let row = check_row(row, &table.columns, &runs, cards)?;
        check_cells(&row, &table.columns, machines)?;
        Ok(row)
    });
    let rows = rows.collect::<Result<_, _>>()?;
    Ok(StudyTable { rows, ..table })
}

fn check_row(mut row: Row, columns: &[Column], runs: &[&StudyRun], cards: Cards) -> Result<Row, FileError> {
    let line = row.line;
    let Content::Figure { key, ours, cannot, per, .. } = &mut row.what else { return Ok(row) };
    *key = check_key(key, line, cards)?;
    if let Some(ours) = ours {
        *ours = check_key(ours, line, cards)?;
    }
    let own = ours.as_ref().unwrap_or(key);
    let cells = &row.cells;
    let open = || columns.iter().filter(|column| column.is_here() && !cells.contains_key(&column.head));
    for column in open() {
        check_key(&own.with(&column.with), column.line, cards)?;
    }
    let is_measured = |run: &&StudyRun| {
        run.by_hand.is_some() || measured(run, cards).any(|card| card.name == own.instrument)
    };
    if cannot.is_none() && open().next().is_some() && !runs.iter().any(is_measured) {
        let what = format!("no run of this file measures {}", own.instrument);
        return Err(FileError::new(
            line,
            what,
            "add a [[run]] that does, or say why not with cannot = \"..\"",
        ));
    }
    let Some(unit) = &row.unit else { return Ok(row) };
    if per.is_some() {
        return Err(FileError::new(line, "a row per price or watt has no unit", "leave out unit"));
    }
    check_unit(unit, own, line, cards)?;
    Ok(row)
}

/// The key in the spelling of its card.
fn check_key(key: &FigureKey, line: usize, cards: Cards) -> Result<FigureKey, FileError> {
    let wrong = |what: String, hint: String| Err(FileError::new(line, what, hint));
    let Some(card) = card::find(cards, &key.instrument) else {
        let hint = "`boxscore list` names the instruments".to_owned();
        return wrong(format!("no instrument is called `{}`", key.instrument), hint);
    };
    if card.metric(&key.metric).is_none() {
        let known: Vec<&str> = card.metrics.iter().map(|metric| metric.name).take(MOST_NAMES).collect();
        let more = if card.metrics.len() > MOST_NAMES { " and others" } else { "" };
        let hint = format!("there are: {}{more}; `boxscore list {} --long`", known.join(", "), card.name);
        return wrong(format!("{} has no metric `{}`", card.name, key.metric), hint);
    }
    let mut spelled = key.clone();
    for (name, value) in &key.params {
        if card.any_param(name).is_none() {
            let known: Vec<&str> = card.params.iter().chain(card.parts).map(|spec| spec.name).collect();
            let hint = format!(
                "there are: {}; what only a machine of a column states belongs to that column's `with`",
                known.join(", ")
            );
            return wrong(format!("{} has no parameter `{name}`", card.name), hint);
        }
        let Some(value) = canonical(card, name, value) else {
            let wanted = card.param(name).map_or_else(String::new, |spec| spec.kind.wanted());
            return wrong(format!("{name}={value} is not possible"), format!("{name} is {wanted}"));
        };
        spelled.params.set(name, &value);
    }
    Ok(spelled)
}

/// Metrics that an error names at most.
const MOST_NAMES: usize = 12;

/// The spelling of a value, or of the two values of a ratio.
fn canonical(card: &Card, name: &str, value: &str) -> Option<String> {
    let specs = || card.params.iter().chain(card.parts).filter(|spec| spec.name == name);
    let one = |value: &str| specs().find_map(|spec| spec.canonical(value).ok());
    one(value).or_else(|| {
        let (over, under) = value.split_once('/')?;
        Some(format!("{}/{}", one(over)?, one(under)?))
    })
}

fn check_unit(unit: &str, key: &FigureKey, line: usize, cards: Cards) -> Result<(), FileError> {
    let Some((base, _)) = printed::unit(unit, &key.instrument) else {
        let hint = format!("the units are: {}", printed::UNITS.join(", "));
        return Err(FileError::new(line, format!("there is no unit `{unit}`"), hint));
    };
    let card = card::find(cards, &key.instrument);
    let is_ratio = key.params.iter().any(|(name, value)| {
        value.contains('/')
            && card.and_then(|card| card.param(name)).is_some_and(|spec| spec.canonical(value).is_err())
    });
    let own = card.and_then(|card| card.metric(&key.metric)).map(|metric| metric.unit);
    match own {
        _ if is_ratio && base == Unit::Ratio => Ok(()),
        Some(own) if own != base || is_ratio => {
            let counted = if is_ratio { Unit::Ratio } else { own };
            let what = format!("`{unit}` is no unit of {} {}", key.instrument, key.metric);
            Err(FileError::new(line, what, format!("its base unit is {}", counted.symbol())))
        }
        _ => Ok(()),
    }
}

/// A row must find one figure of a machine, and no more than one of each.
fn check_cells(row: &Row, columns: &[Column], machines: &[KnownMachine<'_>]) -> Result<(), FileError> {
    let Content::Figure { key, stated, .. } = &row.what else { return Ok(()) };
    let key = &key.with(stated);
    let (mut asked, mut found) = (0, row.cells.len());
    for column in columns.iter().filter(|column| !column.is_here() && !row.cells.contains_key(&column.head)) {
        let Some(machine) = machines.iter().find(|one| one.name == column.machine && !one.figures.is_empty())
        else {
            continue;
        };
        asked += 1;
        match published(key, column, machine.figures) {
            Ok(figure) => found += usize::from(figure.is_some()),
            Err(count) => {
                let what = format!("{count} figures of {} fit `{}`", machine.name, key.with(&column.with));
                let hint = "name a parameter that tells them apart, in the row or in the column's `with`";
                return Err(FileError::new(row.line, what, hint));
            }
        }
    }
    if asked > 0 && found == 0 {
        let what = format!("no machine of the table has the figure `{key}`");
        let hint =
            "catalogue/published.csv has the figures of studies; a text stands in cells = { HEAD = \"..\" }";
        return Err(FileError::new(row.line, what, hint));
    }
    Ok(())
}
