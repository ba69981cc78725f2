//! Rates per unit of price and per watt: of published figures, and of all with `--all`.

use model::doc::{CompareDoc, RowDoc, WorthDoc};
use model::format::{self, Kind, Scale};

use super::compared::{ComparedFigure, arms};
use super::grid::{Align, Cut, Grid};
use super::{Look, apart};

/// One line of the table: a figure by one cost, of the base and of each arm with its ratio.
pub struct Line {
    pub figure: String,
    /// `Mop/s per USD/h`
    pub unit: String,
    pub base: String,
    /// Value and ratio of each arm; the ratio is empty where it is not known.
    pub arms: Vec<(String, String)>,
}

/// The table, with a blank line before it; empty where no figure has a price or watts.
pub fn table(doc: &CompareDoc, figures: &[ComparedFigure<'_>], look: Look) -> String {
    let lines = lines(doc, figures, look.all);
    if lines.is_empty() {
        return String::new();
    }
    let names = apart::names(&doc.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(), 16);
    let mut columns = vec![("per price and power", Align::Left), ("", Align::Left)];
    columns.extend(names.iter().map(|name| (name.as_str(), Align::Right)));
    let mut grid = Grid::new(&columns).cutting(Cut::Middle);
    for line in lines {
        let arms = line.arms.into_iter().map(|(value, ratio)| match ratio.is_empty() {
            true => value,
            false => format!("{value} x{ratio}"),
        });
        let cells = [line.figure, line.unit, line.base].into_iter().chain(arms);
        grid.row(cells.map(Into::into).collect());
    }
    format!("\n{}", grid.render(look.columns, look.paint))
}

/// The lines of these figures: of published ones, or of `all`.
pub fn lines(doc: &CompareDoc, figures: &[ComparedFigure<'_>], all: bool) -> Vec<Line> {
    let mut lines = Vec::new();
    for figure in figures {
        let row = |row: &Option<&'_ RowDoc>| row.is_some_and(|row| (all || row.point) && row.worth.is_some());
        if !figure.rows.iter().any(row) {
            continue;
        }
        let price = figure.rows.iter().flatten().find_map(|row| row.worth.as_ref()?.price.clone());
        let of_price = |worth: &WorthDoc| (worth.arm_per_price, worth.base_per_price);
        lines.extend(price.and_then(|unit| line(doc, figure, &unit, of_price, |row| row.per_price)));
        let of_power = |worth: &WorthDoc| (worth.arm_per_watt, worth.base_per_watt);
        lines.extend(line(doc, figure, "W", of_power, |row| row.per_watt));
    }
    lines
}

fn line(
    doc: &CompareDoc,
    figure: &ComparedFigure<'_>,
    per: &str,
    values: impl Fn(&WorthDoc) -> (Option<f64>, Option<f64>),
    ratio: impl Fn(&RowDoc) -> Option<f64>,
) -> Option<Line> {
    let any = figure.any()?;
    let worth: Vec<Option<(Option<f64>, Option<f64>)>> =
        (figure.rows.iter()).map(|row| row.and_then(|row| row.worth.as_ref()).map(&values)).collect();
    let base = worth.iter().flatten().find_map(|(_, base)| *base);
    let of_arms = || worth.iter().map(|both| both.and_then(|(arm, _)| arm));
    let known: Vec<f64> = of_arms().flatten().chain(base).collect();
    if known.is_empty() {
        return None;
    }
    let scale = Scale::common(&known, Kind::shown(any.card, &any.metric, any.unit));
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| scale.number(value));
    let arms =
        arms(doc).iter().zip(&figure.rows).zip(of_arms()).map(|((_, row), value)| {
            (shown(value), row.and_then(&ratio).map_or(String::new(), format::ratio))
        });
    let (figure, unit) = (figure.label.clone(), format!("{} per {per}", scale.ascii_unit()));
    Some(Line { figure, unit, base: shown(base), arms: arms.collect() })
}
