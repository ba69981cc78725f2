//! The box score of many runs: a row each, a column a figure, in base order of the runs.
//!
//! Above them the lowest, the middle and the highest of all. The interval and the takes of a headline figure are the
//! tooltip of its cell; those of the others are in a report of one run.

use std::collections::BTreeMap;

use maud::{Markup, html};
use model::format::{self, Scale, count};
use model::names;
use model::{Samples, Validity};

use crate::page::{self, Column};
use crate::section::{Figure, ReportInput, labels};
use crate::text::units;

/// A figure with what it is in each run.
struct Of<'a> {
    figure: Figure<'a>,
    each: Vec<Option<Figure<'a>>>,
}

/// The table of the headline figures, and folded that of the others.
pub fn body(input: &ReportInput) -> Option<Markup> {
    let (head, rest): (Vec<Of<'_>>, Vec<Of<'_>>) =
        all(input).into_iter().partition(|of| of.figure.doc.headline);
    if head.is_empty() && rest.is_empty() {
        return None;
    }
    Some(html! {
        @if !head.is_empty() { (table(input, &head, true)) }
        @if !rest.is_empty() { (page::more(&count(rest.len(), "other figure"), &table(input, &rest, false))) }
        p class="note" {
            "! = doubtful: Validity says why; x = refused; the tooltip has the 95 % interval and the takes"
        }
        (input.note("medians alone; every take is in the store"))
    })
}

/// Every figure that a run has, in the order of a page.
fn all(input: &ReportInput) -> Vec<Of<'_>> {
    let runs = input.runs.len();
    let mut found: BTreeMap<String, Of<'_>> = BTreeMap::new();
    for (run, figure) in (0..runs).flat_map(|run| input.figures(run).map(move |figure| (run, figure))) {
        let doc = figure.doc;
        let key =
            format!("{}\n{}\n{}\n{}\n{}", doc.instrument, doc.metric, doc.params, doc.arm, doc.definition);
        let of = found.entry(key).or_insert_with(|| Of { figure, each: vec![None; runs] });
        of.each[run] = Some(figure);
    }
    let mut all: Vec<Of<'_>> = found.into_values().collect();
    all.sort_by_cached_key(|of| names::order(of.figure.key()));
    all
}

fn table(input: &ReportInput, all: &[Of<'_>], is_told: bool) -> Markup {
    let figures: Vec<Figure<'_>> = all.iter().map(|of| of.figure).collect();
    let scales: Vec<Option<Scale>> = all.iter().map(scale).collect();
    let heads: Vec<String> = labels(&figures)
        .into_iter()
        .zip(&scales)
        .map(|(label, scale)| match scale {
            Some(scale) if !scale.unit.is_empty() => format!("{label}, {}", scale.unit),
            _ => label,
        })
        .collect();
    let mut head = vec![("", Column::Text)];
    head.extend(heads.iter().map(|name| (name.as_str(), Column::Number)));
    head.extend(is_told.then_some(("faults", Column::Number)));
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    for (name, of_sorted) in
        [("lowest", least as fn(&[f64]) -> Option<f64>), ("middle", stats::median), ("highest", most)]
    {
        let cell = |(of, scale): (&Of<'_>, &Option<Scale>)| {
            let value = of_sorted(&medians(of));
            html! { b { (value.zip(scale.as_ref()).map_or("-".to_owned(), |(value, scale)| scale.number(value))) } }
        };
        let mut row = vec![html! { b { (name) } }];
        row.extend(all.iter().zip(&scales).map(cell));
        row.extend(is_told.then(|| html! {}));
        rows.push(row);
    }
    for (run, name) in input.names().into_iter().enumerate() {
        let mut row = vec![html! { (name) }];
        row.extend(
            all.iter().zip(&scales).map(|(of, scale)| cell(of.each[run].as_ref(), scale.as_ref(), is_told)),
        );
        let faults = || input.runs.get(run).map_or(0, |(doc, _)| doc.errors.values().sum::<u64>());
        row.extend(is_told.then(|| html! { (faults()) }));
        rows.push(row);
    }
    page::table(&head, &rows)
}

fn least(values: &[f64]) -> Option<f64> {
    values.iter().copied().min_by(f64::total_cmp)
}

fn most(values: &[f64]) -> Option<f64> {
    values.iter().copied().max_by(f64::total_cmp)
}

/// The figure of each run that has it and was not refused.
fn medians(of: &Of<'_>) -> Vec<f64> {
    of.each.iter().flatten().filter_map(|figure| Some(figure.estimate()?.value)).collect()
}

/// One scale for all runs.
fn scale(of: &Of<'_>) -> Option<Scale> {
    let row = Some(units::Row::new(of.figure.doc, medians(of)));
    units::scales(&[row]).into_iter().next().flatten()
}

fn cell(figure: Option<&Figure<'_>>, scale: Option<&Scale>, is_told: bool) -> Markup {
    let Some((figure, scale)) = figure.zip(scale) else { return html! { "-" } };
    let doc = figure.doc;
    let mark = match doc.validity {
        Validity::Invalid => return html! { "x" },
        Validity::Doubtful => " !",
        Validity::Ok | Validity::Unknown => "",
    };
    let value = doc.median.map_or("-".to_owned(), |median| scale.number(median));
    let of_takes = is_told && doc.samples == Samples::Takes;
    if !of_takes {
        return html! { (value) (mark) };
    }
    let interval = match doc.low.zip(doc.high).map(|(low, high)| scale.interval(low, high)) {
        Some(Some((low, high))) => format!("{low} to {high}, "),
        Some(None) => format!("{}, ", format::NOT_KNOWN),
        None => String::new(),
    };
    html! { span title={ (interval) (doc.n) @if doc.n == 1 { " take" } @else { " takes" } } { (value) (mark) } }
}
