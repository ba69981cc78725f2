//! Runs of a machine against itself: what each figure could tell, and a sentence.

use model::doc::{AaDoc, AaFigureDoc, Noise};
use model::format;
use model::id::short;
use model::names::{self, Key};

use super::grid::{Align, Cell, Grid};
use super::{Look, Tone, hang, score, wrap};

/// The figures of a run's screen; all of them where there is no headline.
pub fn table(doc: &AaDoc, look: Look) -> String {
    let is_shown = |figure: &&AaFigureDoc| !names::is_detail(figure.card, &figure.metric);
    let heads: Vec<&AaFigureDoc> =
        doc.figures.iter().filter(|figure| figure.headline).filter(is_shown).collect();
    let mut figures = if heads.is_empty() { doc.figures.iter().collect() } else { heads };
    figures.sort_by_cached_key(|figure| names::order(of(figure)));
    let keys: Vec<Key<'_>> = figures.iter().map(|figure| of(figure)).collect();
    let runs = [doc.machine.name.clone(), format::count(doc.runs.len(), "run")];
    let ids = doc.runs.iter().map(|id| short(id).to_owned());
    let mut out = String::new();
    for line in score::joined(&runs.into_iter().chain(ids).collect::<Vec<_>>(), look.columns) {
        out.push_str(&format!("{line}\n"));
    }
    out.push('\n');
    let each = format!("by {}", doc.each);
    let mut columns = vec![
        ("", Align::Left),
        ("runs", Align::Right),
        ("again", Align::Right),
        ("noise", Align::Left),
        ("told by 1", Align::Right),
    ];
    if doc.each > 1 {
        columns.push((&each, Align::Right));
    }
    columns.push(("A/A told", Align::Right));
    let mut grid = Grid::new(&columns);
    for (figure, label) in figures.iter().zip(names::labels(&keys)) {
        let wrong = figure.different.len();
        let mut cells: Vec<Cell> = vec![
            label.into(),
            figure.noise_runs.len().to_string().into(),
            format!("+-{}", format::percent(figure.floor)).into(),
            figure.noise.word().into(),
            format::percent(figure.told_by_one).into(),
        ];
        if doc.each > 1 {
            cells.push(format::percent(figure.told_by_each).into());
        }
        let tone = if wrong > 0 { Tone::Warn } else { Tone::Plain };
        cells.push(Cell::tone(format!("{wrong} of {}", doc.pairs), tone));
        grid.row(cells);
    }
    out.push_str(&grid.render(look.columns, look.paint));
    out.push('\n');
    let family = format::count(usize::try_from(doc.family).unwrap_or(usize::MAX), "headline figure");
    let lines = [
        ("again    ", "= where one further run here falls in 95 of 100 cases".to_owned()),
        (
            "told by N",
            format!(
                "= a difference to a machine as noisy, measured by N runs each, that is called better or worse today \
                 (beyond {}, among {family})",
                format::percent(doc.margin)
            ),
        ),
        ("A/A told ", "= pairs of these runs that are, although nothing differs".to_owned()),
    ];
    for (head, text) in lines {
        out.push_str(&hang(&format!("{head} "), &text, look.columns));
    }
    if figures.iter().any(|figure| figure.noise == Noise::Assumed) {
        out.push_str("assumed: one run shows no noise; `boxscore aa` measures it\n");
    }
    out.push('\n');
    for line in wrap(&doc.says, look.columns) {
        out.push_str(&format!("{line}\n"));
    }
    out
}

fn of(figure: &AaFigureDoc) -> Key<'_> {
    Key { card: figure.card, instrument: &figure.instrument, metric: &figure.metric, params: &figure.params }
}
