//! The runs of a store as a table, one line each. Times are UTC.

use model::doc::{HistoryDoc, HistoryRow};

use super::grid::{Align, Cell, Grid};
use super::{Tone, cut, date_time};
use crate::number;

/// The least of an identifier that is shown.
const LEAST: usize = 8;

/// The runs, in the document's order.
#[must_use]
pub fn table(doc: &HistoryDoc, columns: usize) -> String {
    if doc.runs.is_empty() {
        return "no runs yet: `boxscore run --quick` makes one\n".to_owned();
    }
    let digits = distinct(&doc.runs);
    let heads = [
        ("run", Align::Left),
        ("started (UTC)", Align::Left),
        ("machine", Align::Left),
        ("level", Align::Left),
        ("status", Align::Left),
        ("takes", Align::Right),
        ("took", Align::Right),
        ("label", Align::Left),
    ];
    let labelled = doc.runs.iter().any(|run| run.label.is_some());
    let mut grid = Grid::new(&heads[..heads.len() - usize::from(!labelled)]);
    let most = if columns >= 110 { 40 } else { 16 };
    for run in &doc.runs {
        let tone = if run.status == "complete" { Tone::Plain } else { Tone::Warn };
        let faults = if run.faults > 0 { format!(" {} faulted", run.faults) } else { String::new() };
        let mut cells: Vec<Cell> = vec![
            run.run.get(..digits).unwrap_or(&run.run).into(),
            date_time(run.started).into(),
            cut(&run.machine, most).into(),
            run.level.as_str().into(),
            Cell::tone(format!("{}{faults}", run.status), tone),
            run.takes.to_string().into(),
            run.seconds.map_or("-".to_owned(), number::duration).into(),
        ];
        if labelled {
            cells.push(run.label.as_deref().unwrap_or("").into());
        }
        grid.row(cells);
    }
    // The label stands last and takes what is left.
    let lines = grid.gap(if labelled { 1 } else { 2 }).render(usize::MAX, false);
    lines.lines().map(|line| format!("{}\n", cut(line, columns).trim_end())).collect()
}

/// How many characters tell all runs apart.
fn distinct(runs: &[HistoryRow]) -> usize {
    let mut ids: Vec<&str> = runs.iter().map(|run| run.run.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    let shared = |pair: &[&str]| pair[0].bytes().zip(pair[1].bytes()).take_while(|(a, b)| a == b).count();
    ids.windows(2).map(shared).max().map_or(LEAST, |most| (most + 1).max(LEAST))
}
