//! Values of more sides than columns fit, as of a scanned parameter: a line for each side, a column for each figure.
//!
//! Units stand in the heads. `+` and `-` behind a value say better and worse than the first side.

use model::doc::CompareDoc;
use model::format::Scale;

use super::super::grid::{Align, Cell, Cut, Grid};
use super::super::verdict_word::verdict;
use super::super::{Look, Tone, hang};
use super::ComparedFigure;
use super::tables::{value_of, way};

/// The values of all sides in tables of as many figures as fit, with what all figures' names share above.
pub(super) fn table(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let (shared, names) = apart(figures);
    let named: Vec<(&ComparedFigure<'_>, &String)> = figures.iter().zip(&names).collect();
    let mut out = if shared.is_empty() { String::new() } else { hang("", &shared, look.columns) };
    let mut rest = named.as_slice();
    while !rest.is_empty() {
        let fits = |count: &usize| grid(doc, &rest[..*count]).width() <= look.columns;
        let count = (1..=rest.len()).rev().find(fits).unwrap_or(1);
        if rest.len() < named.len() {
            out.push('\n');
        }
        out.push_str(&grid(doc, &rest[..count]).render(look.columns, look.paint));
        rest = &rest[count..];
    }
    out
}

fn grid(doc: &CompareDoc, figures: &[(&ComparedFigure<'_>, &String)]) -> Grid {
    let (param, sides) = sides(doc);
    let heads: Vec<String> = figures.iter().map(|(figure, name)| head(figure, name)).collect();
    let mut columns = vec![(param.as_str(), if param.is_empty() { Align::Left } else { Align::Right })];
    columns.extend(heads.iter().map(|head| (head.as_str(), Align::Right)));
    let mut grid = Grid::new(&columns).cutting(Cut::Middle);
    for (place, side) in sides.iter().enumerate() {
        let mut cells = vec![Cell::from(side.as_str())];
        cells.extend(figures.iter().map(|(figure, _)| cell(doc, figure, place)));
        grid.row(cells);
    }
    grid
}

/// The value of a side; the first one is the base.
fn cell(doc: &CompareDoc, figure: &ComparedFigure<'_>, place: usize) -> Cell {
    let scale = figure.scale();
    let Some(of_arm) = place.checked_sub(1) else {
        let base = doc.arms.first().map_or("", |base| base.name.as_str());
        return format!("{} ", value_of(figure.any(), base, scale.as_ref(), figure.base_value())).into();
    };
    let Some(row) = figure.rows.get(of_arm).copied().flatten() else { return Cell::tone("- ", Tone::Dim) };
    let mark = super::believed(row).map_or(' ', |ratio| way(row, ratio));
    let value = value_of(Some(row), &row.arm, scale.as_ref(), row.arm_value);
    Cell::tone(format!("{value}{mark}"), verdict(row).1)
}

/// `p99 us`; of a figure without a name of its own its unit.
fn head(figure: &ComparedFigure<'_>, name: &str) -> String {
    let unit = figure.scale().as_ref().map(Scale::ascii_unit).unwrap_or_default();
    [name, unit.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// The words that all names of figures share, and the rest of each: `web, http://host/` of `web p50, http://host/` and
/// of `web p99, http://host/`.
fn apart(figures: &[ComparedFigure<'_>]) -> (String, Vec<String>) {
    let parts: Vec<(&str, &str)> = figures
        .iter()
        .map(|figure| figure.label.split_once(", ").unwrap_or((figure.label.as_str(), "")))
        .collect();
    let Some((first, tail)) = parts.first().copied() else { return (String::new(), Vec::new()) };
    let word = first.split(' ').next().unwrap_or_default();
    let is_shared = parts.iter().all(|(name, behind)| own(name, word).is_some() && *behind == tail);
    if parts.len() < 2 || !is_shared {
        return (String::new(), figures.iter().map(|figure| figure.label.clone()).collect());
    }
    let shared = if tail.is_empty() { word.to_owned() } else { format!("{word}, {tail}") };
    let names =
        parts.iter().map(|(name, _)| own(name, word).unwrap_or_default().trim_start().to_owned()).collect();
    (shared, names)
}

/// The words of a name behind its first one, if that is this.
fn own<'a>(name: &'a str, word: &str) -> Option<&'a str> {
    name.strip_prefix(word).filter(|rest| rest.is_empty() || rest.starts_with(' '))
}

/// The names of all sides; where each is the value of one parameter, that parameter and the values.
fn sides(doc: &CompareDoc) -> (String, Vec<String>) {
    let names: Vec<&str> = doc.arms.iter().map(|arm| arm.name.as_str()).collect();
    let values: Option<Vec<(&str, &str)>> = names.iter().map(|name| name.split_once('=')).collect();
    match values {
        Some(all) if all.iter().all(|(param, value)| *param == all[0].0 && !value.contains(',')) => {
            (all[0].0.to_owned(), all.into_iter().map(|(_, value)| value.to_owned()).collect())
        }
        _ => (String::new(), names.into_iter().map(str::to_owned).collect()),
    }
}
