//! The tables of a study on a screen, and what of it cannot be had.

use model::doc::{StudyDoc, StudyRunDoc, StudyTableDoc};
use model::format::{count, duration};
use model::id::short;
use model::shell::word;

use super::cells::{self, DOUBTFUL, Kind, Texts};
use crate::text::grid::{Align, Grid};
use crate::text::{Look, Tone, date_time, hang, nodes, wrap};

/// Of a table that is too wide: its first column is at most so wide.
const LABEL: usize = 34;

pub fn screen(doc: &StudyDoc, look: Look) -> String {
    let mut out = heading(&doc.title, look);
    for line in wrap(&doc.about, look.columns) {
        out.push_str(&format!("{line}\n"));
    }
    if !doc.machine_says.is_empty() {
        let begin = if doc.nodes.is_empty() { "here: " } else { "measured: " };
        out.push_str(&hang(begin, &doc.machine_says, look.columns));
    }
    for table in &doc.tables {
        out.push('\n');
        out.push_str(&one(table, look));
    }
    for order in &doc.orders {
        out.push_str(&nodes::screen(&order.nodes, look));
        out.push_str(&hang(
            "  a page of them: ",
            &format!("boxscore report {}", word(&order.label)),
            look.columns,
        ));
    }
    out.push_str(&missing(doc, look));
    out.push_str(&doubts(doc, look));
    out.push_str(&runs(doc, look));
    out
}

/// A title, wrapped.
pub fn heading(title: &str, look: Look) -> String {
    wrap(title, look.columns).iter().map(|line| format!("{}\n", Tone::Bold.paint(line, look.paint))).collect()
}

/// A table with its title and notes.
fn one(table: &StudyTableDoc, look: Look) -> String {
    let mut out = heading(&table.title, look);
    let whole = cells::texts(table, true);
    let texts = if width(&whole) <= look.columns { whole } else { cells::texts(table, false) };
    for part in parts(&texts, look.columns) {
        out.push_str(&grid(&texts, &part).render(look.columns, look.paint));
    }
    for (letter, note) in &texts.notes {
        out.push_str(&hang(&format!("  {letter} "), note, look.columns));
    }
    for note in &table.notes {
        out.push_str(&hang("  - ", note, look.columns));
    }
    out
}

/// The columns of each part that a table is folded into: the label and the unit in each of them.
fn parts(texts: &Texts, most: usize) -> Vec<Vec<usize>> {
    let is_value = |at: &usize| !matches!(texts.heads[*at].kind, Kind::Label | Kind::Unit);
    let (values, fixed): (Vec<usize>, Vec<usize>) = (0..texts.heads.len()).partition(is_value);
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let mut now = fixed.clone();
    for at in values {
        let with = [now.clone(), vec![at]].concat();
        if now.len() > fixed.len() && grid(texts, &with).width_with(LABEL) > most {
            parts.push(std::mem::replace(&mut now, [fixed.clone(), vec![at]].concat()));
        } else {
            now = with;
        }
    }
    parts.push(now);
    parts
}

fn width(texts: &Texts) -> usize {
    grid(texts, &(0..texts.heads.len()).collect::<Vec<_>>()).width_with(LABEL)
}

fn grid(texts: &Texts, columns: &[usize]) -> Grid {
    let align = |kind: Kind| match kind {
        Kind::Label | Kind::Unit => Align::Left,
        Kind::Value | Kind::Interval => Align::Right,
    };
    let heads: Vec<(&str, Align)> = columns
        .iter()
        .filter_map(|at| texts.heads.get(*at))
        .map(|head| (head.text.as_str(), align(head.kind)))
        .collect();
    let mut grid = Grid::new(&heads);
    for row in &texts.rows {
        grid.row(columns.iter().filter_map(|at| row.get(*at)).map(|text| text.clone().into()).collect());
    }
    grid
}

fn missing(doc: &StudyDoc, look: Look) -> String {
    if doc.missing.is_empty() {
        return String::new();
    }
    let mut out = "\nnot to be had here\n".to_owned();
    for one in &doc.missing {
        out.push_str(&hang("  - ", &format!("{}: {}", one.what, one.why), look.columns));
    }
    out
}

fn doubts(doc: &StudyDoc, look: Look) -> String {
    let is_marked = doc.tables.iter().any(|table| cells::texts(table, false).is_doubtful);
    if !is_marked {
        return String::new();
    }
    let mut out = format!("\n{DOUBTFUL} = doubtful: something else went on, or the takes disagree\n");
    for line in &doc.doubts {
        out.push_str(&hang("  - ", line, look.columns));
    }
    out
}

/// The runs that the figures of this machine are of.
fn runs(doc: &StudyDoc, look: Look) -> String {
    let of = if doc.nodes.is_empty() { "this machine" } else { "the nodes" };
    let mut out = format!("\nruns of {of}\n");
    for run in &doc.runs {
        let node = run.node.as_ref().map(|node| format!("on {node} ")).unwrap_or_default();
        out.push_str(&hang(&format!("  {} {node}", run.label), &run_line(run), look.columns));
    }
    out
}

/// The stored run, or why there is none.
pub fn run_line(run: &StudyRunDoc) -> String {
    match (&run.run, &run.why, &run.by_hand) {
        (Some(id), ..) => {
            let when = run.started.map(date_time).unwrap_or_default();
            let took = run.seconds.map(duration).unwrap_or_default();
            format!("{} of {when}, {took}", short(id))
        }
        (None, Some(why), _) => format!("none: {why}"),
        (None, None, Some(command)) => format!("yours to make: {command}"),
        (None, None, None) => {
            format!("not measured yet: {} of {}", count(run.takes as usize, "take"), run.measures.join(", "))
        }
    }
}
