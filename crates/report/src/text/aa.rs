//! Runs of a machine against itself: what each figure could tell, and a sentence.

use model::doc::{AaDoc, AaFigureDoc, Noise, PriorWord};
use model::fake::PLANTED;
use model::format;
use model::id::short;
use model::names::{self, Key};

use super::grid::{Align, Cell, Grid};
use super::{Look, Tone, hang, joined, wrap};

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
    let planted = doc.planted.then(|| PLANTED.to_owned());
    for line in joined(&runs.into_iter().chain(ids).chain(planted).collect::<Vec<_>>(), look.columns) {
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
            again(figure.floor).into(),
            noise_word(figure).into(),
            format::floor(figure.told_by_one).into(),
        ];
        if doc.each > 1 {
            cells.push(format::floor(figure.told_by_each).into());
        }
        let tone = if wrong > 0 { Tone::Warn } else { Tone::Plain };
        cells.push(Cell::tone(format!("{wrong} of {}", figure.pairs), tone));
        grid.row(cells);
    }
    out.push_str(&grid.render(look.columns, look.paint));
    out.push('\n');
    out.push_str(&legend(doc, look));
    out.push_str(&shared(&figures, look));
    if figures.iter().any(|figure| figure.noise == Noise::Assumed) {
        let text = format!("{} (`boxscore aa`)", Noise::Assumed.sentence("", &[]));
        out.push_str(&hang("", &text, look.columns));
    }
    out.push('\n');
    for line in wrap(&doc.says, look.columns) {
        out.push_str(&format!("{line}\n"));
    }
    out
}

/// How far one further run may lie off.
fn again(floor: f64) -> String {
    let share = format::floor(floor);
    if share == format::NOT_KNOWN { share } else { format!("+-{share}") }
}

/// The meaning of the columns.
fn legend(doc: &AaDoc, look: Look) -> String {
    let family = format::count(usize::try_from(doc.family).unwrap_or(usize::MAX), "headline figure");
    let lines = [
        ("again    ", "= where one further run here falls in 95 of 100 cases".to_owned()),
        (
            "told by N",
            format!(
                "= a difference to a machine as noisy, measured by N runs each, that is called better or worse in \
                 {:.0} of 100 cases (beyond {}, among {family})",
                doc.power * 100.0,
                format::percent(doc.margin)
            ),
        ),
        (
            "A/A told ",
            "= pairs of these runs that are, of those that have the figure, although nothing differs".into(),
        ),
    ];
    lines.iter().map(|(head, text)| hang(&format!("{head} "), text, look.columns)).collect()
}

/// `measured`, `assumed`, or the share of the figure's own runs.
fn noise_word(figure: &AaFigureDoc) -> String {
    match figure.noise {
        Noise::Mixed => format!("{} own", format::percent(figure.own_share)),
        noise => noise.how().to_owned(),
    }
}

/// The meaning of `own`, and the figures of which it decides: their own runs lie closer together, or farther apart.
fn shared(figures: &[&AaFigureDoc], look: Look) -> String {
    let mixed: Vec<&&AaFigureDoc> = figures.iter().filter(|figure| figure.noise == Noise::Mixed).collect();
    let rest = |prior: PriorWord| mixed.iter().any(|figure| figure.prior == prior);
    let rest = match (rest(PriorWord::Figures), rest(PriorWord::Family)) {
        (true, _) => "what the other figures of these runs show, since few runs know a spread badly",
        (false, true) => "what is assumed of its kind of figure, since few runs know a spread badly",
        (false, false) => return String::new(),
    };
    let mut out = hang(
        "N % own   ",
        &format!("= its own runs have this weight in its noise; the rest is {rest}"),
        look.columns,
    );
    let labels = names::labels(&mixed.iter().map(|figure| of(figure)).collect::<Vec<_>>());
    let apart = mixed.iter().zip(labels).filter_map(|(figure, label)| {
        let own = figure.own_spread?;
        let unlike = own < figure.spread / UNLIKE || own > figure.spread * UNLIKE;
        unlike.then(|| format!("{label} {}", format::floor(own.exp_m1())))
    });
    let apart: Vec<String> = apart.collect();
    if !apart.is_empty() {
        let text = format!("standard deviation of their own runs alone: {}", apart.join(", "));
        out.push_str(&hang("          ", &text, look.columns));
    }
    out
}

/// The own spread is told where it is off by this factor.
const UNLIKE: f64 = 2.0;

fn of(figure: &AaFigureDoc) -> Key<'_> {
    Key { card: figure.card, instrument: &figure.instrument, metric: &figure.metric, params: &figure.params }
}
