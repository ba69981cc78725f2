//! TOML into a study file. What it names is not looked up here.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use toml::Spanned;

use super::key::parse_params;
use super::{
    Column, Content, Extent, FigureKey, HERE, Missing, Per, Row, Statistic, StudyFile, StudyRun, StudyTable,
};
use crate::params::parse_span;
use crate::toml_file::{FileError, line_of};

/// Where a file does not say how long a run lasts at most, in seconds.
const MOST_SECONDS: f64 = 300.0;
const TAKES: u32 = 10;
const SITTINGS: u32 = 2;
const MOST_TAKES: u32 = 100_000;
/// A quick run has this part of the time of the usual one, but not less than so many seconds, and fewer takes.
const QUICK_PART: f64 = 0.25;
const QUICK_LEAST: f64 = 20.0;
const QUICK_TAKES: u32 = 3;
const QUICK_SITTINGS: u32 = 1;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileText {
    name: Spanned<String>,
    title: String,
    #[serde(default)]
    about: String,
    on: Option<String>,
    #[serde(rename = "for")]
    most: Option<Spanned<String>>,
    budget: Option<Spanned<f64>>,
    #[serde(default)]
    run: Vec<Spanned<RunText>>,
    #[serde(default)]
    table: Vec<Spanned<TableText>>,
    #[serde(default)]
    missing: Vec<MissingText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct RunText {
    name: Spanned<String>,
    #[serde(default)]
    measure: Vec<String>,
    #[serde(default)]
    set: Vec<String>,
    #[serde(default)]
    arms: Vec<String>,
    takes: Option<u32>,
    sittings: Option<u32>,
    #[serde(rename = "for")]
    most: Option<String>,
    lasts: Option<String>,
    quick: Option<QuickText>,
    by_hand: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct QuickText {
    #[serde(default)]
    set: Vec<String>,
    takes: Option<u32>,
    sittings: Option<u32>,
    #[serde(rename = "for")]
    most: Option<String>,
    lasts: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableText {
    name: Spanned<String>,
    title: String,
    run: Option<String>,
    columns: Vec<Spanned<ColumnText>>,
    rows: Vec<Spanned<RowText>>,
    #[serde(default)]
    notes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ColumnText {
    head: String,
    machine: String,
    #[serde(default)]
    with: String,
    #[serde(default)]
    show: Statistic,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RowText {
    label: String,
    figure: Option<String>,
    #[serde(default)]
    stated: String,
    ours: Option<String>,
    cannot: Option<String>,
    per: Option<String>,
    fact: Option<String>,
    unit: Option<String>,
    note: Option<String>,
    #[serde(default)]
    cells: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MissingText {
    what: String,
    why: String,
}

/// Reads a study file. The error is the first thing that is wrong in it.
pub fn read(text: &str) -> Result<StudyFile, FileError> {
    const HINT: &str = "docs/guide/studies.md says what a study file holds";
    let file: FileText = toml::from_str(text).map_err(|error| FileError::of_toml(text, &error, HINT))?;
    let runs: Result<Vec<StudyRun>, FileError> =
        file.run.into_iter().map(|run| read_run(text, run)).collect();
    let tables: Result<Vec<StudyTable>, FileError> =
        file.table.into_iter().map(|table| read_table(text, table)).collect();
    let (runs, tables) = (runs?, tables?);
    let line = line_of(text, &file.name.span());
    if runs.is_empty() || tables.is_empty() {
        let which = if runs.is_empty() { "[[run]]" } else { "[[table]]" };
        let hint = "a study has at least one run and one table";
        return Err(FileError::new(line, format!("there is no {which}"), hint));
    }
    once(runs.iter().map(|run| (run.line, run.name.as_str())), "run")?;
    once(tables.iter().map(|table| (table.line, table.name.as_str())), "table")?;
    let most = file.most.map(|most| seconds(most.get_ref(), line_of(text, &most.span()))).transpose()?;
    let budget =
        file.budget.map(|budget| amount(*budget.get_ref(), line_of(text, &budget.span()))).transpose()?;
    Ok(StudyFile {
        name: plain(file.name.into_inner(), line)?,
        title: file.title,
        about: file.about.trim().to_owned(),
        on: file.on,
        most_seconds: most,
        budget,
        runs,
        tables,
        missing: file.missing.into_iter().map(|one| Missing { what: one.what, why: one.why }).collect(),
    })
}

/// A name that may be a part of a label and of a path.
fn plain(name: String, line: usize) -> Result<String, FileError> {
    const MOST: usize = 32;
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.is_empty() && name.len() <= MOST && name.chars().all(is_letter) {
        return Ok(name);
    }
    let hint = format!("a name has small letters, digits and hyphens, at most {MOST}");
    Err(FileError::new(line, format!("`{name}` is no name"), hint))
}

/// Refuses a name that two have.
fn once<'a>(names: impl Iterator<Item = (usize, &'a str)>, what: &str) -> Result<(), FileError> {
    let mut seen = BTreeSet::new();
    for (line, name) in names {
        if !seen.insert(name) {
            let hint = format!("give each {what} a name of its own");
            return Err(FileError::new(line, format!("two of them are called `{name}`"), hint));
        }
    }
    Ok(())
}

fn read_run(text: &str, run: Spanned<RunText>) -> Result<StudyRun, FileError> {
    let line = line_of(text, &run.get_ref().name.span());
    let run = run.into_inner();
    let name = plain(run.name.into_inner(), line)?;
    match (run.measure.is_empty(), &run.by_hand) {
        (true, None) => {
            let hint = "measure = [\"web\"]; `boxscore list` names the instruments";
            return Err(FileError::new(line, format!("the run `{name}` measures nothing"), hint));
        }
        (false, Some(_)) => {
            let what = format!("the run `{name}` has both measure and by-hand");
            return Err(FileError::new(line, what, "leave out by-hand where boxscore can measure by itself"));
        }
        _ => {}
    }
    let span = |given: &Option<String>| given.as_deref().map(|given| seconds(given, line)).transpose();
    let usual = Extent {
        takes: count(run.takes, TAKES, line)?,
        sittings: count(run.sittings, SITTINGS, line)?,
        most_seconds: span(&run.most)?.unwrap_or(MOST_SECONDS),
        seconds: span(&run.lasts)?,
    };
    let given = run.quick.unwrap_or_default();
    let quick = Extent {
        takes: count(given.takes, usual.takes.min(QUICK_TAKES), line)?,
        sittings: count(given.sittings, QUICK_SITTINGS, line)?,
        most_seconds: span(&given.most)?.unwrap_or((usual.most_seconds * QUICK_PART).max(QUICK_LEAST)),
        seconds: span(&given.lasts)?,
    };
    let (measure, arms) = (run.measure, run.arms);
    let set_quick = replaced(&run.set, given.set);
    Ok(StudyRun { line, name, measure, set: run.set, set_quick, arms, usual, quick, by_hand: run.by_hand })
}

/// Settings with others in place of those of the same parameter.
fn replaced(set: &[String], others: Vec<String>) -> Vec<String> {
    let key = |text: &str| text.split('=').next().unwrap_or_default().trim().to_owned();
    let is_kept = |text: &&String| others.iter().all(|other| key(other) != key(text));
    set.iter().filter(is_kept).cloned().chain(others.iter().cloned()).collect()
}

fn seconds(text: &str, line: usize) -> Result<f64, FileError> {
    let wrong = || FileError::new(line, format!("`{text}` is no length of time"), "write it as 90s or 3m");
    parse_span(text).ok_or_else(wrong)
}

fn amount(amount: f64, line: usize) -> Result<f64, FileError> {
    match amount.is_finite() && amount > 0.0 {
        true => Ok(amount),
        false => Err(FileError::new(
            line,
            format!("{amount} is no budget"),
            "write it as an amount: budget = 20.0",
        )),
    }
}

fn count(given: Option<u32>, usual: u32, line: usize) -> Result<u32, FileError> {
    match given.unwrap_or(usual) {
        count @ 1..=MOST_TAKES => Ok(count),
        count => {
            let hint = format!("from 1 to {MOST_TAKES}");
            Err(FileError::new(line, format!("{count} takes or sittings are not possible"), hint))
        }
    }
}

fn read_table(text: &str, table: Spanned<TableText>) -> Result<StudyTable, FileError> {
    let line = line_of(text, &table.get_ref().name.span());
    let table = table.into_inner();
    let columns = table.columns.into_iter().map(|column| read_column(text, column));
    let mut columns: Vec<Column> = columns.collect::<Result<_, _>>()?;
    if !columns.iter().any(Column::is_here) {
        let (head, machine) = ("here".to_owned(), HERE.to_owned());
        let (with, show) = (crate::Params::default(), Statistic::Figure);
        columns.push(Column { line, head, machine, node: None, with, show });
    }
    once(columns.iter().map(|column| (column.line, column.head.as_str())), "column")?;
    let heads: Vec<&str> = columns.iter().map(|column| column.head.as_str()).collect();
    let rows = table.rows.into_iter().map(|row| read_row(text, row, &heads));
    let rows: Vec<Row> = rows.collect::<Result<_, _>>()?;
    let name = plain(table.name.into_inner(), line)?;
    if rows.is_empty() {
        return Err(FileError::new(
            line,
            format!("the table `{name}` has no row"),
            "rows = [{ label = .. }]",
        ));
    }
    let (title, run, notes) = (table.title, table.run, table.notes);
    Ok(StudyTable { line, name, title, run, columns, rows, notes })
}

fn read_column(text: &str, column: Spanned<ColumnText>) -> Result<Column, FileError> {
    let line = line_of(text, &column.span());
    let ColumnText { head, machine, with, show } = column.into_inner();
    let with =
        parse_params(&with).map_err(|what| FileError::new(line, what, "with = \"key=value;key=value\""))?;
    if head.trim().is_empty() {
        return Err(FileError::new(line, "a column without a head", "head = \"Atom 330\""));
    }
    Ok(Column { line, head, machine, node: None, with, show })
}

fn read_row(text: &str, row: Spanned<RowText>, heads: &[&str]) -> Result<Row, FileError> {
    let line = line_of(text, &row.span());
    let row = row.into_inner();
    let wrong = |what: String, hint: &str| Err(FileError::new(line, what, hint));
    if let Some(head) = row.cells.keys().find(|head| !heads.contains(&head.as_str())) {
        return wrong(
            format!("no column has the head `{head}`"),
            &format!("the heads are: {}", heads.join(", ")),
        );
    }
    let key = |given: &Option<String>| {
        let read = |text: &String| {
            let hint = "a figure is written as INSTRUMENT METRIC KEY=VALUE;KEY=VALUE";
            FigureKey::parse(text).map_err(|what| FileError::new(line, what, hint))
        };
        given.as_ref().map(read).transpose()
    };
    let per = match row.per.as_deref() {
        None => None,
        Some("price") => Some(Per::Price),
        Some("watt") => Some(Per::Watt),
        Some(other) => return wrong(format!("`{other}` is no cost"), "per = \"price\" or per = \"watt\""),
    };
    let what = match (key(&row.figure)?, row.fact) {
        (Some(_), Some(_)) => {
            return wrong("a row with a figure and a fact".to_owned(), "make two rows of it");
        }
        (Some(figure), None) => {
            let stated = parse_params(&row.stated)
                .map_err(|what| FileError::new(line, what, "stated = \"key=value;key=value\""))?;
            Content::Figure { key: figure, stated, ours: key(&row.ours)?, cannot: row.cannot, per }
        }
        (None, Some(fact)) => Content::Fact(fact, row.ours),
        (None, None) if row.cells.is_empty() => {
            return wrong("a row without figure, fact or cells".to_owned(), "figure = \"web throughput\"");
        }
        (None, None) => Content::Texts,
    };
    Ok(Row { line, label: row.label, what, unit: row.unit, note: row.note, cells: row.cells })
}
