//! A comparison as text: the paragraph, figures side by side, ratios with intervals and verdicts, ranks, index.
//!
//! `ratio` is arm / base and the base is the first argument; the verdict says which way is good. Published figures are
//! points: they have a plain ratio and never a significant verdict.

use std::collections::BTreeMap;

use model::doc::{ArmDoc, CompareDoc, IndexDoc, RowDoc, VerdictWord};
use model::format::{self, Kind, NOT_KNOWN, Scale};
use model::names::{self, Key};
use model::scope::{ALL, THREADS};
use model::why::Why;
use model::{Better, Finding, Params, Validity, card};

use super::grid::{Align, Cell, Cut, Grid, ranges};
use super::score::verdict;
use super::{Look, Tone, answer, cut, hang, logs_beside, notes, ranks, scaling, width, worth, wrap};

/// One figure with its row for each arm after the base.
#[derive(Clone, Debug)]
pub struct ComparedFigure<'a> {
    pub label: String,
    /// In the order of the document's arms without the base.
    pub rows: Vec<Option<&'a RowDoc>>,
}

impl<'a> ComparedFigure<'a> {
    pub fn any(&self) -> Option<&'a RowDoc> {
        self.rows.iter().flatten().next().copied()
    }

    /// The scale that all machines' values share.
    pub fn scale(&self) -> Option<Scale> {
        let row = self.any()?;
        let arms = self.rows.iter().flatten().filter_map(|row| row.arm_value);
        let values: Vec<f64> = arms.chain(self.base_value()).collect();
        Some(Scale::common(&values, Kind::shown(row.card, &row.metric, row.unit)))
    }

    pub fn base_value(&self) -> Option<f64> {
        self.rows.iter().flatten().find_map(|row| row.base_value)
    }
}

/// The arms that are compared with the first.
pub fn arms(doc: &CompareDoc) -> &[ArmDoc] {
    doc.arms.get(1..).unwrap_or(&[])
}

/// The figures to show: headlines and published points, or all.
pub fn figures(doc: &CompareDoc, all: bool) -> Vec<ComparedFigure<'_>> {
    let detail = |row: &RowDoc| names::is_detail(row.card, &row.metric);
    let wanted = |row: &&RowDoc| all || ((row.headline || row.point) && !detail(row));
    let mut shown: Vec<&RowDoc> = doc.rows.iter().filter(wanted).collect();
    if shown.is_empty() {
        shown = doc.rows.iter().collect();
    }
    shown.sort_by_cached_key(|row| names::order(Key::from(*row)));
    let mut order: Vec<(&str, &str, &Params)> = Vec::new();
    let mut cells: BTreeMap<(&str, &str, &Params), Vec<Option<&RowDoc>>> = BTreeMap::new();
    for row in shown {
        let Some(place) = arms(doc).iter().position(|arm| arm.name == row.arm) else { continue };
        let key = (row.instrument.as_str(), row.metric.as_str(), &row.params);
        let slots = cells.entry(key).or_insert_with(|| {
            order.push(key);
            vec![None; arms(doc).len()]
        });
        slots[place] = Some(row);
    }
    let keys: Vec<Key<'_>> = order
        .iter()
        .map(|&(instrument, metric, params)| {
            let card = card::find(doc.cards, instrument);
            Key { card, instrument, metric, params }
        })
        .collect();
    let labels = names::labels(&keys);
    let rows = order.iter().filter_map(|key| cells.remove(key));
    labels.into_iter().zip(rows).map(|(label, rows)| ComparedFigure { label, rows }).collect()
}

/// The comparison for a terminal.
pub fn table(doc: &CompareDoc, all: bool, look: Look) -> String {
    let look = look.with_all(all);
    let figures = figures(doc, all);
    let mut out = String::new();
    for line in doc.paragraph.to_string().lines().flat_map(|line| wrap(line, look.columns)) {
        out.push_str(&format!("{line}\n"));
    }
    out.push('\n');
    let mut whys = Whys::default();
    if figures.is_empty() {
        out.push_str("no figure that all of them have: nothing to compare\n");
    } else if let [arm] = arms(doc)
        && !arm.published
    {
        out.push_str(&pair(doc, &figures, &mut whys, look));
        out.push_str(&worth_table(doc, &figures, look));
    } else {
        out.push_str(&side_by_side(doc, &figures, look));
        out.push_str(&worth_table(doc, &figures, look));
        for (place, arm) in arms(doc).iter().enumerate().filter(|(_, arm)| !arm.published) {
            let base = doc.arms.first().map_or("", |base| base.name.as_str());
            out.push_str(&format!("\n{} against {base}\n", arm.name));
            out.push_str(&ratios(&figures, place, &mut whys, look));
        }
        out.push_str(&ranks::table(doc, &figures, look));
    }
    out.push_str(&cpus(doc, &figures, look));
    out.push_str(&indexes(doc, look.with_all(all)));
    out.push_str(&scaling::of_sides(&doc.scaling, look));
    out.push_str(&meanwhile(doc, all, look));
    out.push_str(&below(doc, &figures, all, &whys, look.with_all(all)));
    let lead = Some(doc.paragraph.lead.as_str()).filter(|lead| !lead.is_empty());
    let mut out = answer::last(out, lead, look);
    let is_apart = doc.paragraph.lead.is_empty() || !answer::is_long(&out);
    if let Some(step) = &doc.next_step {
        out.push_str(if is_apart { "\n" } else { "" });
        out.push_str(&hang(TRY, &step.to_string(), look.columns.max(width(TRY) + 8)));
    }
    out
}

/// Rates per price and per watt.
fn worth_table(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let all = figures.iter().map(|figure| worth::Figure { label: &figure.label, rows: &figure.rows });
    worth::table(doc, &all.collect::<Vec<_>>(), look)
}

/// In front of the next step.
const TRY: &str = "try     ";

/// `all CPUs: small 2, big 64`, where figures of all CPUs are shown and the machines differ in them.
fn cpus(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let is_whole = |row: &RowDoc| row.params.get(THREADS) == Some(ALL);
    let counts: Vec<(&str, f64)> =
        doc.arms.iter().filter_map(|arm| Some((arm.name.as_str(), arm.cpus?))).collect();
    let differ = counts.windows(2).any(|pair| pair[0].1 != pair[1].1);
    if !(differ && figures.iter().filter_map(ComparedFigure::any).any(is_whole)) {
        return String::new();
    }
    let counts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    hang("", &format!("all CPUs: {}", counts.join(", ")), look.columns)
}

/// Reasons behind verdicts, lettered in the order they are met; rows whose reasons differ in numbers at most share a
/// letter.
#[derive(Clone, Default)]
pub(super) struct Whys(Vec<Vec<Why>>);

/// More reasons than this are left to `--json`.
const MOST_WHYS: usize = 12;

impl Whys {
    /// The mark behind a row's verdict: its letter, and `!` where a figure is doubtful.
    pub(super) fn mark(&mut self, row: &RowDoc) -> String {
        let doubt = if doubtful(row) { " !" } else { "" };
        if row.point || row.verdict < VerdictWord::CannotTell || row.why.is_empty() {
            return doubt.to_owned();
        }
        let same = |group: &Vec<Why>| group.iter().any(|known| known.is_like(&row.why));
        let at = self.0.iter().position(same).unwrap_or(self.0.len());
        match self.0.get_mut(at) {
            Some(group) => group.push(row.why.clone()),
            None => self.0.push(vec![row.why.clone()]),
        }
        letter(at).map_or(String::new(), |letter| format!(" ({letter}){doubt}"))
    }

    /// The meaning of the letters, a line each.
    pub(super) fn lines(&self, look: Look) -> String {
        let mut out = String::new();
        for (at, group) in self.0.iter().enumerate() {
            if let Some(letter) = letter(at) {
                out.push_str(&hang(&format!("({letter}) "), &Why::many(group), look.columns));
            }
        }
        if self.0.len() > MOST_WHYS {
            out.push_str(&format!("more reasons ({}): see --json\n", self.0.len() - MOST_WHYS));
        }
        out
    }
}

/// True where a rule doubts a figure of the row.
pub fn doubtful(row: &RowDoc) -> bool {
    !row.point && row.why.is_doubtful()
}

fn letter(at: usize) -> Option<char> {
    ('a'..='z').nth(at).filter(|_| at < MOST_WHYS)
}

fn heads<'a>(names: &[&'a str]) -> Vec<(&'a str, Align)> {
    names
        .iter()
        .enumerate()
        .map(|(i, name)| (*name, if i < 1 { Align::Left } else { Align::Right }))
        .collect()
}

pub(super) fn shown(scale: Option<&Scale>, value: Option<f64>) -> String {
    match (scale, value) {
        (Some(scale), Some(value)) => scale.number(value),
        _ => "-".to_owned(),
    }
}

pub(super) fn interval_of(row: Option<&RowDoc>) -> Option<(String, String)> {
    let row = row.filter(|row| row.verdict != VerdictWord::Invalid)?;
    let (low, high) = (row.low?, row.high?);
    format::tells(low, high).then(|| (format::ratio(low), format::ratio(high)))
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

/// The ratio of a row that may be believed.
pub(super) fn believed(row: &RowDoc) -> Option<f64> {
    row.ratio.filter(|_| row.verdict != VerdictWord::Invalid)
}

pub(super) fn plain_ratio(value: Option<f64>) -> String {
    value.map_or("-".to_owned(), format::ratio)
}

/// The value of a side, with `>=` in front of a lower bound.
fn value_of(row: Option<&RowDoc>, side: &str, scale: Option<&Scale>, value: Option<f64>) -> String {
    let is_bound = row.is_some_and(|row| row.lower_bounds.iter().any(|name| name == side));
    let text = shown(scale, value);
    if is_bound && value.is_some() { format!(">={text}") } else { text }
}

fn verdict_cell(row: &RowDoc, whys: &mut Whys) -> Cell {
    let (word, tone) = verdict(row);
    Cell::tone(format!("{word}{}", whys.mark(row)), tone)
}

/// Two machines: everything in one table where it fits, else figures and ratios apart.
fn pair(doc: &CompareDoc, figures: &[ComparedFigure<'_>], whys: &mut Whys, look: Look) -> String {
    // All of it was asked for: what a figure costs stays, in a second table if need be.
    let layouts: &[Columns] = match look.all {
        true => &[Columns::All, Columns::NoFloor],
        false => &[Columns::All, Columns::NoFloor, Columns::NoCost],
    };
    for &columns in layouts {
        let mut whys_here = whys.clone();
        let one = joined(doc, figures, &mut whys_here, columns);
        // Names may lose a few letters, and no more than that.
        let narrowest = if columns == Columns::All { one.width() } else { one.width_with(NAMES) };
        if narrowest <= look.columns {
            *whys = whys_here;
            let left_out = if columns == Columns::NoCost { costs_left_out(figures) } else { String::new() };
            return one.render(look.columns, look.paint) + &left_out;
        }
    }
    let figures_table = side_by_side(doc, figures, look);
    format!("{figures_table}\n{}", ratios(figures, 0, whys, look))
}

/// The columns of a table that has everything of two machines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    All,
    NoFloor,
    /// Nor what a figure comes to per unit of price and per watt; the paragraph tells of all figures together.
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

/// Values, ratios and verdicts in one table.
fn joined(doc: &CompareDoc, figures: &[ComparedFigure<'_>], whys: &mut Whys, shown: Columns) -> Grid {
    let is_wide = shown == Columns::All;
    let names: Vec<String> = doc.arms.iter().map(|arm| cut(&arm.name, 11)).collect();
    let with_costs = shown != Columns::NoCost;
    let (priced, powered) = (with_costs && is_priced(figures), with_costs && is_powered(figures));
    let mut columns = vec![("", Align::Left), ("", Align::Left)];
    columns.extend(names.iter().take(2).map(|name| (name.as_str(), Align::Right)));
    columns.push(("ratio", Align::Right));
    columns.push((if is_wide { "95 % interval" } else { "95 %" }, Align::Right));
    columns.extend(is_wide.then_some(("floor", Align::Right)));
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
        cells.extend(is_wide.then(|| share(row.floor).into()));
        cells.push(verdict_cell(row, whys));
        cells.extend(priced.then(|| plain_ratio(row.per_price).into()));
        cells.extend(powered.then(|| plain_ratio(row.per_watt).into()));
        grid.row(cells);
    }
    grid
}

/// Values of all machines in columns, each arm's plain ratio to the base behind it; as many at once as fit.
fn side_by_side(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let places: Vec<usize> = (0..arms(doc).len()).collect();
    let fits = |at_once: usize| {
        places.chunks(at_once).all(|some| values_table(doc, figures, some).width() <= look.columns)
    };
    let at_once = (1..=places.len()).rev().find(|n| fits(*n)).unwrap_or(1);
    let mut out = String::new();
    for (index, some) in places.chunks(at_once).enumerate() {
        if index > 0 {
            out.push('\n');
        }
        out.push_str(&values_table(doc, figures, some).render(look.columns, look.paint));
    }
    let base = doc.arms.first().map_or("the first", |arm| arm.name.as_str());
    out.push_str(&hang("", &format!("x = times the value of {base}{}", ways(figures)), look.columns));
    out
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
fn way(row: &RowDoc, ratio: f64) -> char {
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
    let head = cut(&base, 16);
    let names: Vec<String> =
        places.iter().filter_map(|place| arms(doc).get(*place)).map(|arm| cut(&arm.name, 16)).collect();
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
        cells.extend(priced.then(|| plain_ratio(row.per_price).into()));
        cells.extend(powered.then(|| plain_ratio(row.per_watt).into()));
        grid.row(cells);
    }
    grid.render(look.columns, look.paint)
}

/// `whole machine: mini-1 is 1.24 (1.20 - 1.28) of ref-epyc-2c (5 figures)`
pub fn index_text(index: &IndexDoc) -> String {
    let scope = index.scope.word();
    match (index.value, &index.why) {
        (Some(value), _) => {
            let interval = match (index.low, index.high) {
                (Some(low), Some(high)) if !format::tells(low, high) => format!(" (interval {NOT_KNOWN})"),
                (Some(low), Some(high)) => format!(" ({} - {})", format::ratio(low), format::ratio(high)),
                _ => String::new(),
            };
            let open = match index.open {
                0 => String::new(),
                all if all == index.components => ", none told".to_owned(),
                some => format!(", {} told", index.components - some),
            };
            let figures = if index.components == 1 { "figure" } else { "figures" };
            format!(
                "{scope}: {} is {}{interval} of {} ({} {figures}{open})",
                index.arm,
                format::ratio(value),
                index.reference,
                index.components
            )
        }
        (None, why) => {
            format!("{scope}: {} has none: {}", index.arm, why.as_deref().unwrap_or("components are missing"))
        }
    }
}

fn indexes(doc: &CompareDoc, look: Look) -> String {
    let published = |name: &str| doc.arms.iter().any(|arm| arm.name == name && arm.published);
    let shown = doc.index.iter().filter(|index| {
        index.arm != index.reference && !published(&index.arm) && !published(&index.reference)
    });
    let (known, none): (Vec<&IndexDoc>, Vec<&IndexDoc>) =
        shown.partition(|index| index.value.is_some() || look.all);
    // Where one is there, why the other is not is told; where there is none, one line is enough for all.
    let (known, none) = match none.as_slice() {
        some if !known.is_empty() || some.len() == 1 => ([known, none].concat(), Vec::new()),
        _ => (known, none),
    };
    let mut text: String =
        known.iter().map(|index| hang("index  ", &index_text(index), look.columns)).collect();
    if known.is_empty() && !none.is_empty() {
        text.push_str(&hang(
            "index  ",
            "none: not all of its figures were measured on both (--all says which)",
            look.columns,
        ));
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Telemetry of the machines while the requests of logs came; step by step with all figures.
fn meanwhile(doc: &CompareDoc, all: bool, look: Look) -> String {
    let tables = if all { logs_beside::tables } else { logs_beside::means };
    let text = tables(&doc.beside, look);
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// The meaning of `!`.
pub(super) const DOUBTFUL: &str = "! = doubtful: lines with ! say why";

/// Reasons, notes, sources and caveats.
fn below(doc: &CompareDoc, figures: &[ComparedFigure<'_>], all: bool, whys: &Whys, look: Look) -> String {
    let mut out = String::new();
    let unsure = |row: &RowDoc| row.verdict == VerdictWord::CannotTell && !row.point;
    let any = |is: &dyn Fn(&RowDoc) -> bool| {
        figures.iter().flat_map(|figure| figure.rows.iter().flatten()).any(|row| is(row))
    };
    let bound = any(&|row| !row.lower_bounds.is_empty()).then_some(">= at least");
    let marks = [any(&unsure).then_some("? = cannot tell"), bound, any(&doubtful).then_some(DOUBTFUL)];
    out.push_str(&hang("", &marks.into_iter().flatten().collect::<Vec<_>>().join("; "), look.columns));
    out.push_str(&whys.lines(look));
    let heads = notes::headlines_compared(doc);
    // Doubts about figures that are not compared are told with all of them.
    let told = |finding: &&Finding| all || finding.subject.figure().is_none_or(|figure| heads.has(figure));
    let told: Vec<Finding> = doc.findings.iter().filter(told).cloned().collect();
    out.push_str(&notes::doubt_lines(&told, &heads, look));
    for ((is_read, source), names) in published(doc) {
        let names = names.join(", ");
        let text = match (is_read, source) {
            (false, _) => {
                format!("{names}: pasted line: points with intervals, without samples; never significant")
            }
            (true, Some(source)) => {
                format!("{names}: published in {source}; points without samples, never significant")
            }
            (true, None) => format!("{names}: published; points without samples, never significant"),
        };
        out.push_str(&notes::line(Validity::Unknown, &text, look));
    }
    for (index, footnote) in doc.footnotes.iter().enumerate() {
        out.push_str(&hang(&format!("{}. ", index + 1), footnote, look.columns));
    }
    let shown: usize = figures.iter().map(|figure| figure.rows.iter().flatten().count()).sum();
    if !all && shown < doc.rows.len() {
        out.push_str(&format!("{} more figures: --all\n", doc.rows.len() - shown));
    }
    if out.is_empty() { out } else { format!("\n{out}") }
}

/// Published arms by their source; those of pasted lines together.
fn published(doc: &CompareDoc) -> BTreeMap<(bool, Option<&str>), Vec<&str>> {
    let mut sources: BTreeMap<(bool, Option<&str>), Vec<&str>> = BTreeMap::new();
    for arm in doc.arms.iter().filter(|arm| arm.published) {
        let source = arm.source.as_deref().filter(|_| !arm.pasted);
        sources.entry((!arm.pasted, source)).or_default().push(&arm.name);
    }
    sources
}
