//! `compare --ratio` as text: a table of ratios for each machine, then what the ratios of two machines say.
//!
//! A ratio is the figure at the value above the line over that below it; words say which of the two is better, and in
//! ratios of ratios which of them gains. Published figures are points: a plain ratio, with printed bounds if any.

use model::doc::{ArmDoc, BoundsDoc, RatioDoc, RatioOfRatiosDoc, RatioRowDoc, RowDoc, VerdictWord};
use model::finding::Rule;
use model::format::{self, Kind, Scale};
use model::names::{self, Key};
use model::{Better, Params, Validity};

use super::compare::{DOUBTFUL, Whys, believed, doubtful, interval_of, plain_ratio, shown};
use super::fit::{Part, Rank, Screen};
use super::fold::Headlines;
use super::grid::{Align, Cell, Grid, ranges};
use super::verdict_word::verdict;
use super::{Look, Tone, cut, hang, notes, wrap};

/// The longest name of a machine above a column.
const NAME: usize = 14;

/// The document for a terminal, in the lines of the look; `command` shows all of it.
pub fn table(doc: &RatioDoc, command: &str, look: Look) -> String {
    let mut screen = Screen::default();
    let paragraph: String =
        wrap(&doc.paragraph.to_string(), look.columns).iter().map(|line| format!("{line}\n")).collect();
    screen.add(paragraph);
    for finding in immature(doc) {
        screen.add(notes::marked("!", Tone::Warn, &finding.text(), look));
    }
    screen.add("\n".to_owned());
    let mut whys = Whys::default();
    for machine in &doc.machines {
        screen.add(of_machine(doc, machine, &mut whys, look));
    }
    for machine in doc.machines.iter().skip(1) {
        screen.add(beside(doc, machine, &mut whys, look));
    }
    below(doc, &whys, look).into_iter().for_each(|part| screen.add(part));
    screen.tell_here();
    screen.fit(look, command, |text| text)
}

/// Several documents of one run, each behind a blank line, in the lines of the look; a paragraph each where there is no
/// room for tables.
pub fn tables(docs: &[RatioDoc], run: &str, look: Look) -> String {
    let each = Look { lines: look.lines / docs.len().max(1), ..look };
    let command =
        |doc: &RatioDoc| format!("boxscore compare {run} --ratio {}={}/{}", doc.param, doc.over, doc.under);
    let mut screen = Screen::default();
    for doc in docs {
        let short: String =
            wrap(&doc.paragraph.to_string(), look.columns).iter().map(|line| format!("{line}\n")).collect();
        let whole = table(doc, &format!("{} --all", command(doc)), each);
        screen.add(Part::new(format!("\n{whole}")).or(
            Rank::Figure,
            "ratios by figure",
            format!("\n{short}"),
        ));
    }
    screen.tell_here();
    screen.fit(look, &docs.first().map(command).unwrap_or_default(), |text| text)
}

/// A table below its heading, and a blank line; with ever fewer rows where there is no room.
fn titled(head: &str, grid: &Grid, look: Look) -> Part {
    let head = hang("", head, look.columns);
    let rows = grid.render(look.columns, look.paint);
    let lines: Vec<&str> = rows.split_inclusive('\n').collect();
    let of = |most: usize| format!("{head}{}\n", lines[..most].concat());
    (LEAST_ROWS + 1..lines.len()).rev().fold(Part::new(of(lines.len())), |part, most| {
        part.or(Rank::Figure, format::count(lines.len() - most, "more row"), of(most))
    })
}

/// Rows of a table that stay however long the screen is.
const LEAST_ROWS: usize = 4;

/// Findings that a value falls behind on a machine.
pub fn immature(doc: &RatioDoc) -> impl Iterator<Item = &model::Finding> {
    doc.findings.iter().filter(|finding| matches!(finding.rule, Rule::Immature(_)))
}

/// Rows in the order of a page, with their names.
fn named<'d, T>(rows: Vec<&'d T>, row: fn(&T) -> &RowDoc) -> Vec<(String, &'d T)> {
    let mut rows = rows;
    rows.sort_by_cached_key(|one| {
        let (row, order) = (row(one), names::order(Key::from(row(one))));
        (order.0, !names::is_main(row.card, &row.metric), row.metric.clone(), order)
    });
    let keys: Vec<Key<'_>> = rows.iter().map(|one| Key::from(row(one))).collect();
    let label = |(label, one): (String, &'d T)| {
        let row = row(one);
        // Of a ratio that was printed as such, all that is stated tells what it is of.
        let is_stated = row.point && row.arm_value.is_none();
        (if is_stated { row.params.to_string().replace(';', " ") } else { label }, one)
    };
    names::labels(&keys).into_iter().zip(rows).map(label).collect()
}

/// The rows of a machine with their names, in the order of a page.
pub fn rows<'d>(doc: &'d RatioDoc, machine: &str) -> Vec<(String, &'d RatioRowDoc)> {
    named(doc.rows.iter().filter(|row| row.machine == machine).collect(), |one| &one.row)
}

/// The ratios of ratios of a machine with their names, in the order of a page.
pub fn across<'d>(doc: &'d RatioDoc, machine: &str) -> Vec<(String, &'d RatioOfRatiosDoc)> {
    named(doc.ratios_of_ratios.iter().filter(|one| one.row.arm == machine).collect(), |one| &one.row)
}

/// Which value a verdict is for.
pub fn word(row: &RowDoc, over: &str, under: &str, verb: &str) -> (String, Tone) {
    let (word, tone) = verdict(row);
    match row.verdict {
        VerdictWord::Better if !row.point => (format!("{over} {verb}"), Tone::Plain),
        VerdictWord::Worse if !row.point => (format!("{under} {verb}"), Tone::Plain),
        _ => (word.to_owned(), tone),
    }
}

fn of_machine(doc: &RatioDoc, machine: &ArmDoc, whys: &mut Whys, look: Look) -> Part {
    let rows = rows(doc, &machine.name);
    if rows.is_empty() {
        return Part::default();
    }
    let (over, under) = (cut(&doc.over, NAME), cut(&doc.under, NAME));
    let has_values = rows.iter().any(|(_, row)| row.row.arm_value.is_some());
    let mut columns = vec![("", Align::Left)];
    if has_values {
        columns.extend([("", Align::Left), (over.as_str(), Align::Right), (under.as_str(), Align::Right)]);
    }
    columns.extend([("ratio", Align::Right), ("95 % interval", Align::Right), ("", Align::Left)]);
    let mut grid = Grid::new(&columns);
    let intervals =
        ranges(&rows.iter().map(|(_, one)| bounds(&one.row, one.bounds.as_ref())).collect::<Vec<_>>());
    for ((label, one), interval) in rows.iter().zip(intervals) {
        let row = &one.row;
        let scale = scale(doc, row);
        let mut cells: Vec<Cell> = vec![label.clone().into()];
        if has_values {
            let unit = scale.as_ref().map(Scale::ascii_unit).unwrap_or_default();
            cells.extend([unit.into(), shown(scale.as_ref(), row.arm_value).into()]);
            cells.push(shown(scale.as_ref(), row.base_value).into());
        }
        cells.push(plain_ratio(believed(row)).into());
        cells.push(if interval.is_empty() { "-".into() } else { interval.into() });
        let (word, tone) = word(row, &doc.over, &doc.under, "better");
        cells.push(Cell::tone(format!("{word}{}{}", kind(one.bounds.as_ref()), whys.mark(row)), tone));
        grid.row(cells);
    }
    let source = machine.source.as_deref().filter(|_| machine.published);
    let source = source.map_or(String::new(), |source| format!(", published in {source}"));
    titled(&format!("{} / {} on {}{source}", doc.over, doc.under, machine.name), &grid, look)
}

/// The scale that all figures of this kind share, whichever machine they are of; `None` where a row has no figure.
pub fn scale(doc: &RatioDoc, row: &RowDoc) -> Option<Scale> {
    let like = |other: &&RowDoc| (&other.instrument, other.unit) == (&row.instrument, row.unit);
    let of = doc.rows.iter().map(|one| &one.row).filter(like);
    let values: Vec<f64> = of.flat_map(|row| row.arm_value.into_iter().chain(row.base_value)).collect();
    row.arm_value.or(row.base_value)?;
    Some(Scale::common(&values, Kind::shown(row.card, &row.metric, row.unit)))
}

/// The interval of a row, or what was printed with a point.
fn bounds(row: &RowDoc, printed: Option<&BoundsDoc>) -> Option<(String, String)> {
    let printed = printed.map(|bounds| (format::ratio(bounds.low), format::ratio(bounds.high)));
    printed.or_else(|| interval_of(Some(row)))
}

/// The kind of printed bounds: `, range`.
fn kind(printed: Option<&BoundsDoc>) -> String {
    printed.map_or(String::new(), |bounds| format!(", {}", bounds.kind))
}

/// The ratios of a machine beside those of the base.
fn beside(doc: &RatioDoc, machine: &ArmDoc, whys: &mut Whys, look: Look) -> Part {
    let rows = across(doc, &machine.name);
    let (Some(base), false) = (doc.machines.first(), rows.is_empty()) else { return Part::default() };
    let names = [cut(&machine.name, NAME), cut(&base.name, NAME)];
    let mut columns =
        vec![("", Align::Left), (names[0].as_str(), Align::Right), (names[1].as_str(), Align::Right)];
    columns.extend([("ratio of both", Align::Right), ("95 % interval", Align::Right), ("", Align::Left)]);
    let mut grid = Grid::new(&columns);
    let intervals =
        ranges(&rows.iter().map(|(_, one)| bounds(&one.row, one.bounds.as_ref())).collect::<Vec<_>>());
    for ((label, one), interval) in rows.iter().zip(intervals) {
        let row = &one.row;
        let (word, tone) = word(row, &doc.over, &doc.under, "gains");
        grid.row(vec![
            label.clone().into(),
            plain_ratio(row.arm_value).into(),
            plain_ratio(row.base_value).into(),
            plain_ratio(believed(row)).into(),
            if interval.is_empty() { "-".into() } else { interval.into() },
            Cell::tone(format!("{word}{}{}", kind(one.bounds.as_ref()), whys.mark(row)), tone),
        ]);
    }
    titled(&format!("{} / {}: {} over {}", doc.over, doc.under, machine.name, base.name), &grid, look)
}

/// The figures that the ratios are of.
fn headlines(doc: &RatioDoc) -> Headlines {
    let both = |one: &RatioRowDoc| {
        let own = |value: &str, other: &Params| {
            let mut params = one.row.params.without(other);
            params.set(&doc.param, value);
            (one.row.instrument.clone(), one.row.metric.clone(), params)
        };
        [own(&doc.over, &one.under_params), own(&doc.under, &one.over_params)]
    };
    let heads: Vec<(String, String, Params)> = doc.rows.iter().flat_map(both).collect();
    Headlines::new(
        doc.cards,
        heads.iter().map(|(instrument, metric, params)| (instrument.as_str(), metric.as_str(), params)),
    )
}

/// The meaning of marks, then reasons, doubts and caveats.
fn below(doc: &RatioDoc, whys: &Whys, look: Look) -> Vec<Part> {
    let rows = || doc.rows.iter().map(|one| &one.row).chain(doc.ratios_of_ratios.iter().map(|one| &one.row));
    let mut marks = String::new();
    if rows().any(|row| row.verdict == VerdictWord::CannotTell && !row.point) {
        marks.push_str("? = cannot tell\n");
    }
    if rows().any(doubtful) {
        marks.push_str(&format!("{DOUBTFUL}\n"));
    }
    if rows().any(|row| row.better == Better::Lower) {
        marks.push_str("of times less is better, so a ratio below 1 speaks for the value above the line\n");
    }
    let published = doc.machines.iter().filter(|machine| machine.published);
    let names: Vec<&str> = published.map(|machine| machine.name.as_str()).collect();
    let points = match names.is_empty() {
        true => String::new(),
        false => {
            let text = format!("{}: points without samples, never significant", names.join(", "));
            notes::line(Validity::Unknown, &text, look)
        }
    };
    let doubts = notes::doubts_part(&doc.findings, &headlines(doc), look);
    vec![marks.into(), whys.part(look), doubts, points.into(), notes::numbered(&doc.footnotes, look)]
}
