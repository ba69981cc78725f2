//! The tables of a comparison: values, ratios with intervals, verdicts; with fewer columns and rows where there is less
//! room.

use model::Better;
use model::doc::{CompareDoc, Cost, RowDoc, VerdictWord};
use model::format::{self, NOT_KNOWN, Scale};
use model::why::Why;

use super::super::fit::{Part, Rank};
use super::super::grid::{Align, Cell, Cut, Grid, ranges};
use super::super::verdict_word::verdict;
use super::super::{Look, Tone, apart, cut, hang, ranks, telling, width};
use super::{ComparedFigure, Whys, arms, believed, interval_of, marks, plain_ratio, shown, sides_down};

/// Figures that are not among those of the table, and the command that shows them.
#[derive(Clone, Copy)]
pub(super) struct Rest<'a> {
    pub count: usize,
    pub command: &'a str,
}

impl Rest<'_> {
    /// `134 more figures: --all`, with so many of the table left out, which then begins with the most different.
    fn line(self, left_out: usize, kinds: &str, look: Look) -> String {
        let order = if left_out > 0 { "the most different first; " } else { "" };
        match self.count + left_out {
            0 => String::new(),
            count => {
                let more = format::count(count, "more figure");
                hang("", &format!("{order}{more}{kinds}: {}", self.command), look.columns)
            }
        }
    }
}

/// ` (19 better, 204 worse)`: the verdicts on the rows of two sides that are not shown.
fn kinds(doc: &CompareDoc, shown: &[ComparedFigure<'_>]) -> String {
    let word = |row: &RowDoc| match row.verdict {
        VerdictWord::CannotTell if row.point => "point",
        VerdictWord::CannotTell => "cannot tell",
        VerdictWord::Invalid => "refused",
        told => told.word(),
    };
    let shown = || shown.iter().flat_map(|figure| figure.rows.iter().flatten().copied());
    let left = |which: &str| {
        let all = doc.rows.iter().filter(|row| word(row) == which).count();
        all.saturating_sub(shown().filter(|row| word(row) == which).count())
    };
    let words = ["better", "worse", "tie", "cannot tell", "refused", "point"];
    let counts = words.map(|word| (left(word), word)).into_iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
    if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) }
}

/// Two machines: everything in one table; where it is too wide, with less of it, and all of it folded. Below it the
/// reasons of the verdicts that it shows.
pub(super) fn pair(doc: &CompareDoc, figures: &[ComparedFigure<'_>], rest: Rest<'_>, look: Look) -> Part {
    let with_notes = |some: &[ComparedFigure<'_>], said: fn(&[Why]) -> String| {
        let mut whys = Whys::of(some);
        let table = one_table(doc, some, &mut whys, look);
        let (marks, reasons) = (marks(some, true, look), whys.lines(said, look));
        let more = rest.line(figures.len() - some.len(), &kinds(doc, some), look);
        format!("{table}{marks}{reasons}{more}")
    };
    let leading = with_notes(figures, Why::many_leading);
    let whole = Part::new(with_notes(figures, Why::many)).or(Rank::Reason, SETTLED, leading);
    let shorter = |part: Part, most: usize| {
        let some = most_telling(figures, most);
        let text = with_notes(&some, Why::many_leading);
        let left_out = if text == with_notes(&some, Why::many) { "" } else { SETTLED };
        part.or(Rank::Figure, left_out, text)
    };
    (LEAST_ROWS..figures.len()).rev().fold(whole, shorter)
}

/// Left out of the reasons of verdicts where there is no room.
const SETTLED: &str = "what would settle each";

/// Everything of two machines in one table: in as wide a layout as there is room for.
fn one_table(doc: &CompareDoc, figures: &[ComparedFigure<'_>], whys: &mut Whys, look: Look) -> String {
    // All of it was asked for: what a figure costs stays, in a second line if need be.
    let layouts = if look.all { &OF_ALL[..] } else { &LAYOUTS[..] };
    for (columns, names) in layouts {
        let grid = joined(doc, figures, whys, *columns);
        if grid.width_with(*names) <= look.columns {
            let below = match columns {
                Columns::NoCost => costs_left_out(figures),
                Columns::Usual | Columns::All => legend(doc, figures, look),
            };
            return grid.render(look.columns, look.paint) + &below;
        }
    }
    folded(doc, figures, whys, look)
}

/// A line for the name of each figure, and one for its numbers.
fn folded(doc: &CompareDoc, figures: &[ComparedFigure<'_>], whys: &mut Whys, look: Look) -> String {
    let columns = if look.all { Columns::All } else { Columns::Usual };
    let table = joined(doc, figures, whys, columns).without_names().render(look.columns, look.paint);
    let mut lines = table.lines();
    let mut out = lines.next().map_or_else(String::new, |head| format!("{head}\n"));
    let with_rows = figures.iter().filter(|figure| figure.any().is_some());
    for (figure, line) in with_rows.zip(lines) {
        out.push_str(&format!("{}\n{line}\n", cut(&figure.label, look.columns)));
    }
    out.push_str(&legend(doc, figures, look));
    out
}

/// The ways to set a table of everything, and how far names are cut for it.
const LAYOUTS: [(Columns, usize); 5] = [
    (Columns::Usual, usize::MAX),
    (Columns::Usual, NAMES),
    (Columns::NoCost, NAMES),
    (Columns::Usual, SHORT_NAMES),
    (Columns::NoCost, SHORT_NAMES),
];
/// The same with `--all`.
const OF_ALL: [(Columns, usize); 2] = [(Columns::All, usize::MAX), (Columns::All, LONG_NAMES)];

/// The meaning of the columns whose sense differs: a ratio of values and a ratio of performance.
fn legend(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let [base, arm, ..] = doc.arms.as_slice() else { return String::new() };
    let costs = costs(figures, &arm.name);
    if costs.is_empty() {
        return String::new();
    }
    hang("", &format!("ratio = {} / {}; {costs}", arm.name, base.name), look.columns)
}

/// The meaning of the columns of costs, and of what has none of them; empty where there is no such column.
fn costs(figures: &[ComparedFigure<'_>], arm: &str) -> String {
    let of = match (is_priced(figures), is_powered(figures)) {
        (true, true) => "/price, /watt",
        (true, false) => "/price",
        (false, true) => "/watt",
        (false, false) => return String::new(),
    };
    let is_bought = |row: &RowDoc| row.card.is_some_and(|card| card.is_bought(&row.metric, &row.params));
    let none = if figures.iter().filter_map(ComparedFigure::any).all(is_bought) {
        ""
    } else {
        " (-: no figure of the index of the whole machine)"
    };
    let is_open =
        |row: &RowDoc| [Cost::Price, Cost::Watts].iter().any(|per| worth(row, *per).starts_with(OPEN));
    let open = match figures.iter().filter_map(ComparedFigure::any).any(is_open) {
        true => format!("; {OPEN}: which gives more cannot be told"),
        false => String::new(),
    };
    format!("{of}: above 1 {arm} gives more performance for it{none}{open}")
}

/// In front of a ratio by cost that is not told from 1.
const OPEN: char = '?';

/// The cell of a figure by one cost. Published points have no interval that could tell anything.
fn worth(row: &RowDoc, per: Cost) -> String {
    match row.worth_by(per) {
        Some(worth) if !worth.is_told && !row.point => format!("{OPEN}{}", format::ratio(worth.ratio)),
        worth => plain_ratio(worth.map(|worth| worth.ratio)),
    }
}

/// Rows of a table that stay however long the screen is.
const LEAST_ROWS: usize = 5;

/// So many figures, the most different first.
fn most_telling<'a>(figures: &[ComparedFigure<'a>], most: usize) -> Vec<ComparedFigure<'a>> {
    let decided = |figure: &ComparedFigure<'a>| telling::deciding(figure.rows.iter().flatten().copied());
    let (places, rows): (Vec<usize>, Vec<&RowDoc>) =
        figures.iter().enumerate().filter_map(|(at, figure)| Some((at, decided(figure)?))).unzip();
    telling::most_telling(&rows, most).into_iter().map(|at| figures[places[at]].clone()).collect()
}

/// More than two machines, or published ones: values side by side, each machine's ratios with the meaning of their
/// marks, and ranks.
pub(super) fn several(
    doc: &CompareDoc,
    figures: &[ComparedFigure<'_>],
    whys: &mut Whys,
    (legend, rest): (&str, Rest<'_>),
    look: Look,
) -> Part {
    let values = side_by_side(doc, figures, usize::MAX, look);
    let mut apart = String::new();
    for (place, arm) in arms(doc).iter().enumerate().filter(|(_, arm)| !arm.published) {
        let base = doc.arms.first().map_or("", |base| base.name.as_str());
        apart.push_str(&format!("\n{} against {base}\n", arm.name));
        apart.push_str(&ratios(figures, place, whys, look));
    }
    if !apart.is_empty() {
        let costs = costs(figures, "it");
        apart.push_str(&hang("", &costs, look.columns));
        apart.push_str(legend);
    }
    let ranks = ranks::table(doc, figures, look);
    let more = rest.line(0, "", look);
    let what = "intervals, verdicts and ranks";
    let part = Part::new(format!("{values}{apart}{ranks}{more}"))
        .or(Rank::Figure, "intervals and verdicts", format!("{values}{ranks}{more}"))
        .or(Rank::Figure, what, format!("{values}{more}"));
    let fewer = |part: Part, most: usize| {
        let table = side_by_side(doc, &most_telling(figures, most), usize::MAX, look);
        part.or(Rank::Figure, what, format!("{table}{}", rest.line(figures.len() - most, "", look)))
    };
    let part = (LEAST_ROWS..figures.len()).rev().fold(part, fewer);
    let few = most_telling(figures, LEAST_ROWS);
    let more = rest.line(figures.len() - few.len(), "", look);
    let narrower = |part: Part, most: usize| {
        let left =
            format!("intervals, verdicts, ranks and {}", format::count(arms(doc).len() - most, "more side"));
        part.or(Rank::Figure, left, format!("{}{more}", side_by_side(doc, &few, most, look)))
    };
    (1..arms(doc).len().min(MOST_SIDES)).rev().fold(part, narrower)
}

/// A shortened table has fewer sides than this: each number of them is drawn to see whether it fits.
const MOST_SIDES: usize = 32;

/// A side takes at least so many columns.
const SIDE: usize = 4;

/// The columns of a table of two machines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// The floor too.
    All,
    Usual,
    /// Not what a figure comes to per unit of price and per watt; the paragraph tells of all figures together.
    NoCost,
}

fn is_priced(figures: &[ComparedFigure<'_>]) -> bool {
    figures.iter().filter_map(ComparedFigure::any).any(|row| row.per_price.is_some())
}

fn is_powered(figures: &[ComparedFigure<'_>]) -> bool {
    figures.iter().filter_map(ComparedFigure::any).any(|row| row.per_watt.is_some())
}

fn costs_left_out(figures: &[ComparedFigure<'_>]) -> String {
    let what = match (is_priced(figures), is_powered(figures)) {
        (true, true) => "per unit of price and per watt",
        (true, false) => "per unit of price",
        (false, true) => "per watt",
        (false, false) => return String::new(),
    };
    format!("each figure {what}: --all, or a wider screen\n")
}

/// Figures' names are left at least so many columns where everything shall fit in one table.
const NAMES: usize = 22;
/// The same with `--all`, where what tells figures apart is longer.
const LONG_NAMES: usize = 28;
/// The same where it would not even without what a figure costs.
const SHORT_NAMES: usize = 16;

/// Values, ratios and verdicts in one table.
fn joined(doc: &CompareDoc, figures: &[ComparedFigure<'_>], whys: &mut Whys, shown: Columns) -> Grid {
    let with_floor = shown == Columns::All;
    let names = side_names(doc, 11);
    let with_costs = shown != Columns::NoCost;
    let (priced, powered) = (with_costs && is_priced(figures), with_costs && is_powered(figures));
    let mut columns = vec![("", Align::Left), ("", Align::Left)];
    columns.extend(names.iter().take(2).map(|name| (name.as_str(), Align::Right)));
    columns.push(("ratio", Align::Right));
    columns.push(("95 %", Align::Right));
    columns.extend(with_floor.then_some(("floor", Align::Right)));
    columns.push(("verdict", Align::Left));
    columns.extend(priced.then_some(("/price", Align::Right)));
    columns.extend(powered.then_some(("/watt", Align::Right)));
    let mut grid = Grid::new(&columns).gap(1).cutting(Cut::Middle);
    let rows: Vec<Option<&RowDoc>> = figures.iter().map(ComparedFigure::any).collect();
    let intervals = ranges(&rows.iter().map(|row| interval_of(*row)).collect::<Vec<_>>());
    for ((figure, row), interval) in figures.iter().zip(rows).zip(intervals) {
        let Some(row) = row else { continue };
        let scale = figure.scale();
        let mut cells: Vec<Cell> = vec![
            figure.label.clone().into(),
            scale.as_ref().map(Scale::ascii_unit).unwrap_or_default().into(),
            value_of(Some(row), &row.base, scale.as_ref(), row.base_value).into(),
            value_of(Some(row), &row.arm, scale.as_ref(), row.arm_value).into(),
            plain_ratio(believed(row)).into(),
            interval_cell(row, interval),
        ];
        cells.extend(with_floor.then(|| share(row.floor).into()));
        cells.push(verdict_cell(row, whys));
        cells.extend(priced.then(|| worth(row, Cost::Price).into()));
        cells.extend(powered.then(|| worth(row, Cost::Watts).into()));
        grid.row(cells);
    }
    grid
}

/// Values of at most so many machines in columns, each arm's plain ratio to the base behind it; as many at once as fit.
fn side_by_side(doc: &CompareDoc, figures: &[ComparedFigure<'_>], most: usize, look: Look) -> String {
    let places: Vec<usize> = (0..arms(doc).len().min(most)).collect();
    let fits = |at_once: usize| {
        places.chunks(at_once).all(|some| values_table(doc, figures, some).width() <= look.columns)
    };
    let widest = places.len().min(look.columns / SIDE);
    let at_once = (1..=widest).rev().find(|n| fits(*n)).unwrap_or(1);
    let mut out = String::new();
    for (index, some) in places.chunks(at_once).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&values_table(doc, figures, some).render(look.columns, look.paint));
    }
    let base = doc.arms.first().map_or("the first", |arm| arm.name.as_str());
    out.push_str(&hang("", &format!("x = times the value of {base}{}", ways(figures)), look.columns));
    if at_once < places.len() && places.len() == arms(doc).len() {
        // In pieces nothing stands side by side.
        let down = sides_down::table(doc, figures, look) + &against(doc, figures, look);
        return if down.lines().count() < out.lines().count() { down } else { out };
    }
    out
}

/// `+ better, - worse than big`, as far as there are such marks.
fn against(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let marks = ways(figures).trim_start_matches("; ");
    let base = doc.arms.first().map_or("the first", |arm| arm.name.as_str());
    match marks {
        "" => String::new(),
        marks => hang("", &format!("{marks} than {base}"), look.columns),
    }
}

/// The meaning of the marks behind ratios, as far as there are any.
fn ways(figures: &[ComparedFigure<'_>]) -> &'static str {
    let rows = || figures.iter().flat_map(|figure| figure.rows.iter().flatten());
    let has = |mark: char| rows().any(|row| believed(row).is_some_and(|ratio| way(row, ratio) == mark));
    match (has('+'), has('-')) {
        (true, true) => "; + better, - worse",
        (true, false) => "; + better",
        (false, true) => "; - worse",
        (false, false) => "",
    }
}

/// `+` for what is better, `-` for what is worse; of points, for what looks so beyond the margin.
pub(super) fn way(row: &RowDoc, ratio: f64) -> char {
    let gain = match row.better {
        Better::Lower => 1.0 / ratio,
        Better::Higher => ratio,
        Better::Neither => 1.0,
    };
    match row.verdict {
        VerdictWord::Better => '+',
        VerdictWord::Worse => '-',
        _ if row.point && gain > 1.0 + row.margin => '+',
        _ if row.point && gain < 1.0 / (1.0 + row.margin) => '-',
        _ => ' ',
    }
}

/// `351 x0.50`, both parts aligned over the column.
fn value_cells(figures: &[ComparedFigure<'_>], place: usize) -> Vec<Cell> {
    let texts: Vec<(String, String, Tone)> = figures
        .iter()
        .map(|figure| {
            let row = figure.rows.get(place).copied().flatten();
            let arm = row.map_or("", |row| row.arm.as_str());
            let value = value_of(row, arm, figure.scale().as_ref(), row.and_then(|row| row.arm_value));
            let ratio = row.and_then(|row| Some((row, believed(row)?)));
            let ratio = ratio.map_or(String::new(), |(row, ratio)| {
                format!("x{}{}", format::ratio(ratio), way(row, ratio))
            });
            (value, ratio, row.map_or(Tone::Dim, |row| verdict(row).1))
        })
        .collect();
    let room = texts.iter().map(|(_, ratio, _)| width(ratio)).max().unwrap_or(0);
    texts
        .into_iter()
        .map(|(value, ratio, tone)| Cell::tone(format!("{value} {ratio:>room$}"), tone))
        .collect()
}

fn values_table(doc: &CompareDoc, figures: &[ComparedFigure<'_>], places: &[usize]) -> Grid {
    let base = doc.arms.first().map_or(String::new(), |arm| arm.name.clone());
    let all = side_names(doc, 16);
    let head = all.first().cloned().unwrap_or_default();
    let names: Vec<String> = places.iter().filter_map(|place| all.get(*place + 1)).cloned().collect();
    let mut columns = vec![("", Align::Left), ("", Align::Left), (head.as_str(), Align::Right)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut grid = Grid::new(&columns).cutting(Cut::Middle);
    let here = |figure: &&ComparedFigure<'_>| {
        places.iter().any(|place| figure.rows.get(*place).copied().flatten().is_some())
    };
    let figures: Vec<ComparedFigure<'_>> = figures.iter().filter(here).cloned().collect();
    let mut arms: Vec<_> = places.iter().map(|place| value_cells(&figures, *place).into_iter()).collect();
    for figure in &figures {
        let scale = figure.scale();
        let mut cells: Vec<Cell> = vec![
            figure.label.clone().into(),
            scale.as_ref().map(Scale::ascii_unit).unwrap_or_default().into(),
            value_of(figure.any(), &base, scale.as_ref(), figure.base_value()).into(),
        ];
        cells.extend(arms.iter_mut().filter_map(Iterator::next));
        grid.row(cells);
    }
    grid
}

/// One arm's ratios with intervals, floors and verdicts.
fn ratios(figures: &[ComparedFigure<'_>], place: usize, whys: &mut Whys, look: Look) -> String {
    let rows: Vec<(&ComparedFigure<'_>, &RowDoc)> = figures
        .iter()
        .filter_map(|figure| Some((figure, figure.rows.get(place).copied().flatten()?)))
        .collect();
    let priced = rows.iter().any(|(_, row)| row.per_price.is_some());
    let powered = rows.iter().any(|(_, row)| row.per_watt.is_some());
    let mut columns = heads(&["", "ratio", "95 % interval", "floor"]);
    columns.push(("verdict", Align::Left));
    columns.extend(priced.then_some(("/price", Align::Right)));
    columns.extend(powered.then_some(("/watt", Align::Right)));
    let mut grid = Grid::new(&columns).cutting(Cut::Middle);
    let intervals = ranges(&rows.iter().map(|(_, row)| interval_of(Some(row))).collect::<Vec<_>>());
    for ((figure, row), interval) in rows.into_iter().zip(intervals) {
        let mut cells: Vec<Cell> = vec![
            figure.label.clone().into(),
            plain_ratio(believed(row)).into(),
            interval_cell(row, interval),
            share(row.floor).into(),
            verdict_cell(row, whys),
        ];
        cells.extend(priced.then(|| worth(row, Cost::Price).into()));
        cells.extend(powered.then(|| worth(row, Cost::Watts).into()));
        grid.row(cells);
    }
    grid.render(look.columns, look.paint)
}

fn heads<'a>(names: &[&'a str]) -> Vec<(&'a str, Align)> {
    names
        .iter()
        .enumerate()
        .map(|(i, name)| (*name, if i < 1 { Align::Left } else { Align::Right }))
        .collect()
}

/// The interval of a row as a cell: `not known` where it is so wide that its ends say nothing.
fn interval_cell(row: &RowDoc, interval: String) -> Cell {
    let has_ends = row.verdict != VerdictWord::Invalid && row.low.is_some() && row.high.is_some();
    match interval.is_empty() {
        false => interval.into(),
        true if has_ends => NOT_KNOWN.into(),
        true => "-".into(),
    }
}

/// The floor; from so much on its digits mean nothing.
fn share(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), format::floor)
}

/// The value of a side, with `>=` in front of a lower bound.
pub(super) fn value_of(
    row: Option<&RowDoc>,
    side: &str,
    scale: Option<&Scale>,
    value: Option<f64>,
) -> String {
    let is_bound = row.is_some_and(|row| row.lower_bounds.iter().any(|name| name == side));
    let text = shown(scale, value);
    if is_bound && value.is_some() { format!(">={text}") } else { text }
}

fn verdict_cell(row: &RowDoc, whys: &mut Whys) -> Cell {
    let (word, tone) = verdict(row);
    Cell::tone(format!("{word}{}", whys.mark(row)), tone)
}

/// The names of the sides above columns.
fn side_names(doc: &CompareDoc, most: usize) -> Vec<String> {
    apart::names(&doc.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(), most)
}
