//! Figures that stand in the row of another one, such as the p99 and the rate beside a median.

use model::doc::{RunDoc, SeriesDoc};
use model::format::{self, Kind, Scale};
use model::{Unit, Validity};

use super::{Look, Tone, notes, units};

/// Figures with the headings of their columns.
pub type More<'a> = Vec<(&'static str, &'a SeriesDoc)>;

/// The figures that the card sets beside one, as far as they have no row.
pub fn without_row<'a>(
    run: &'a RunDoc,
    series: &SeriesDoc,
    rows: &[&SeriesDoc],
) -> Vec<(&'static str, &'a SeriesDoc)> {
    let is_of = |other: &&SeriesDoc| {
        (other.instrument == series.instrument && other.params == series.params && other.arm == series.arm)
            && !rows.iter().any(|row| std::ptr::eq(*row, *other))
    };
    let beside = |other: &'a SeriesDoc| {
        let (metric, heading) = other.card?.metric(&other.metric)?.beside?;
        (metric == series.metric).then_some((heading, other))
    };
    run.series.iter().filter(is_of).filter_map(beside).collect()
}

/// The headings of what stands beside figures, in the order of the cards.
pub fn headings(rows: &[&More<'_>]) -> Vec<&'static str> {
    let mut heads: Vec<&'static str> = Vec::new();
    for (heading, _) in rows.iter().copied().flatten() {
        if !heads.contains(heading) {
            heads.push(heading);
        }
    }
    heads
}

/// The cells of a column, a row each. Times have one unit, unless they lie far apart.
pub fn cells(rows: &[&More<'_>], heading: &str) -> Vec<String> {
    let all: Vec<Option<&SeriesDoc>> = rows
        .iter()
        .map(|row| row.iter().find(|(known, _)| *known == heading).map(|(_, series)| *series))
        .collect();
    let held = |series: &&&SeriesDoc| series.unit == Unit::Second && series.validity != Validity::Invalid;
    let times: Vec<f64> = all.iter().flatten().filter(held).filter_map(|series| series.median).collect();
    let scale = units::of_cells(&times, Kind::for_unit(Unit::Second));
    all.into_iter().map(|series| cell(series, scale.as_ref())).collect()
}

fn cell(series: Option<&SeriesDoc>, times: Option<&Scale>) -> String {
    let value = series.and_then(|series| Some((series, series.median?)));
    match value {
        Some((series, _)) if series.validity == Validity::Invalid => "refused ".to_owned(),
        Some((series, value)) if series.unit == Unit::Second => {
            let own = || format::quantity(value, Unit::Second);
            let time = times.map_or_else(own, |scale| scale.with_unit(value));
            format!("{time}{}", doubt(Some(series)))
        }
        Some((series, value)) => format!("{}{}", format::number(value), doubt(Some(series))),
        None => "- ".to_owned(),
    }
}

/// The meaning of rates beside times: `op/s: one client with one request at a time ...`.
pub fn note(rows: &[&More<'_>], look: Look) -> String {
    let mut out = String::new();
    for heading in headings(rows) {
        let of = |row: &&More<'_>| {
            let (_, series) = row.iter().find(|(known, _)| *known == heading)?;
            Some(series.card?.metric(&series.metric)?.definition).filter(|_| series.unit != Unit::Second)
        };
        if let Some(says) = rows.iter().find_map(of) {
            out.push_str(&notes::marked("-", Tone::Dim, &format!("{heading}: {says}"), look));
        }
    }
    out
}

/// The mark behind a figure.
pub(super) fn doubt(series: Option<&SeriesDoc>) -> &'static str {
    if series.is_some_and(|series| series.validity == Validity::Doubtful) { "!" } else { " " }
}
