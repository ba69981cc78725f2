//! Headline rows: those that the plan asked for before anything was measured.

use crate::run_index::{FigureRow, RunIndex};

/// True if the plan made this row a headline before measuring.
pub fn is_headline(index: &RunIndex<'_>, row: FigureRow<'_>) -> bool {
    is_asked(index, row, &row.series.key.metric)
}

/// The same of another metric of the row's cell.
pub fn is_asked(index: &RunIndex<'_>, row: FigureRow<'_>, metric: &str) -> bool {
    let plan = &index.run.plan;
    let key = &row.series.key;
    let named = |cell: &model::Cell| cell.headline.iter().any(|name| name == metric);
    let places = index.places(row.series);
    if !places.is_empty() {
        let cells = places.iter().filter_map(|(cell, _)| plan.cells.get(usize::try_from(*cell).ok()?));
        return cells.filter(|cell| cell.instrument == key.instrument).any(named);
    }
    let arms = plan.arm_keys();
    let mut cells = plan
        .cells
        .iter()
        .filter(|cell| cell.instrument == key.instrument && cell.params.without(&arms).agrees(&key.params));
    cells.any(named)
}
