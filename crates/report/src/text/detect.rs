//! The cost of telling a difference: a table of figures, and a sentence before it.

use model::doc::{DetectDoc, DetectFigureDoc, Noise};
use model::fake::PLANTED;
use model::format;
use model::names::{self, Key};
use stats::needed::{MAX_RUNS, MAX_SITTINGS};

use super::grid::{Align, Grid};
use super::{Look, hang, wrap};

/// Figures on a screen.
const MOST: usize = 24;

/// The figures, at most a screen of them unless all are wanted.
pub fn table(doc: &DetectDoc, all: bool, look: Look) -> String {
    let is_shown = |figure: &&DetectFigureDoc| !names::is_detail(figure.card, &figure.metric);
    let mut figures: Vec<&DetectFigureDoc> = doc.figures.iter().filter(is_shown).collect();
    figures.sort_by_cached_key(|figure| names::order(key(figure)));
    let keys: Vec<Key<'_>> = figures.iter().map(|figure| key(figure)).collect();
    let mut out = String::new();
    let planted = doc.planted.then(|| format!("{}: {PLANTED}", doc.machine.name));
    for line in wrap(&doc.says, look.columns).into_iter().chain(planted) {
        out.push_str(&format!("{line}\n"));
    }
    out.push('\n');
    let mut grid = Grid::new(&[
        ("", Align::Left),
        ("runs each", Align::Right),
        ("time each", Align::Right),
        ("sittings", Align::Right),
        ("takes", Align::Right),
        ("time both", Align::Right),
    ]);
    let shown = if all { figures.len() } else { figures.len().min(MOST) };
    for (figure, label) in figures.iter().zip(names::labels(&keys)).take(shown) {
        let arms = figure.arms.as_ref();
        let mark = if figure.machines.noise == Noise::Assumed { "*" } else { "" };
        let time = |seconds: Option<f64>| seconds.map_or(String::new(), format::duration);
        grid.row(vec![
            label.into(),
            format!("{}{mark}", number(figure.machines.runs, doc.difference <= doc.margin, MAX_RUNS)).into(),
            time(figure.machines.seconds).into(),
            arms.map_or(format::NOT_KNOWN.to_owned(), |arms| {
                number(arms.sittings, doc.difference <= doc.arms_margin, MAX_SITTINGS)
            })
            .into(),
            arms.and_then(|arms| arms.takes).map_or(String::new(), |takes| takes.to_string()).into(),
            time(arms.and_then(|arms| arms.seconds)).into(),
        ]);
    }
    out.push_str(&grid.render(look.columns, look.paint));
    if shown < figures.len() {
        let more = format!("and {} more: --all, or name an instrument", figures.len() - shown);
        out.push_str(&format!("{more}\n"));
    }
    out.push('\n');
    out.push_str(&legend(doc, &figures[..shown], look));
    out
}

/// A count; `tie` within the margin; else above the largest that is looked for.
fn number(count: Option<u64>, within: bool, most: usize) -> String {
    match count {
        Some(count) => count.to_string(),
        None if within => "tie".to_owned(),
        None => format!("> {most}"),
    }
}

fn legend(doc: &DetectDoc, shown: &[&DetectFigureDoc], look: Look) -> String {
    let mut lines = vec![
        (
            "runs each",
            format!(
                "= of each of two machines, as long as the stored ones; beyond {}",
                format::percent(doc.margin)
            ),
        ),
        (
            "sittings ",
            format!(
                "= of one study of two arms on this machine (--sittings), with both arms' takes; beyond {}",
                format::percent(doc.arms_margin)
            ),
        ),
    ];
    if doc.difference <= doc.margin.max(doc.arms_margin) {
        let margin = doc.smaller_margin();
        let text = format!(
            "= within the margin, which no number of runs changes; --margin {margin} sets a smaller one"
        );
        lines.push(("tie      ", text));
    }
    if shown.iter().any(|figure| figure.machines.noise == Noise::Assumed) {
        lines.push(("*        ", format!("= {} (`boxscore aa`)", Noise::Assumed.sentence("", &[]))));
    }
    lines.iter().map(|(head, text)| hang(&format!("{head} "), text, look.columns)).collect()
}

fn key(figure: &DetectFigureDoc) -> Key<'_> {
    Key { card: figure.card, instrument: &figure.instrument, metric: &figure.metric, params: &figure.params }
}
