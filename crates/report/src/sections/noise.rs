//! The floor: what two runs of the same machine differ by without any cause, assumed or measured. Figures of
//! periods have none: periods are no repetitions.

use maud::{Markup, html};
use model::doc::Noise;
use model::format::{self, Kind, Scale, count};
use model::names;

use crate::page::{self, Column};
use crate::section::{Figure, ReportInput, Section, labels};

pub static SECTION: Section = Section::new(65, draw);

/// A longer table is folded: the heading says what it comes to.
const MOST_OPEN: usize = 40;

fn draw(input: &ReportInput) -> Option<Markup> {
    let has_floor = |figure: &Figure<'_>| figure.doc.headline && figure.doc.floor.is_some();
    let mut figures: Vec<Figure<'_>> = input.figures(0).filter(has_floor).collect();
    figures.sort_by_key(|figure| names::rank(figure.doc.card));
    let floors: Vec<f64> = figures.iter().filter_map(|figure| figure.doc.floor).collect();
    let noise = Noise::of_all(figures.iter().map(|figure| figure.doc.noise))?;
    let title = format!("Noise between runs: {}", noise.clause("", &floors));
    let head = [
        ("", Column::Text),
        ("one further run", Column::Number),
        ("floor", Column::Number),
        ("noise", Column::Text),
        ("runs", Column::Number),
    ];
    let rows: Vec<Vec<Markup>> = figures
        .iter()
        .zip(labels(&figures))
        .map(|(figure, label)| {
            let floor = figure.doc.floor.map_or("-".to_owned(), format::floor);
            let again =
                figure.doc.again_low.zip(figure.doc.again_high).map_or("-".to_owned(), |(low, high)| {
                    if figure.doc.floor.is_some_and(|floor| floor > 1.0) {
                        return format::NOT_KNOWN.to_owned();
                    }
                    let kind = Kind::shown(figure.doc.card, &figure.doc.metric, figure.doc.unit);
                    let scale = Scale::common(&[low, high], kind);
                    format!("{} to {}", scale.number(low), scale.with_unit(high))
                });
            let cells = [label, again, floor, figure.doc.noise.how().to_owned()];
            let runs = figure.doc.noise_runs.len().to_string();
            cells.into_iter().chain([runs]).map(|text| html! { (text) }).collect()
        })
        .collect();
    let body = html! {
        p { "One further run with the same set-up falls into its interval in 95 of 100 cases; the intervals elsewhere are of the level within one run. Two equal runs may differ by the floor by chance: a smaller difference is never called better or worse. Every further run with the same set-up replaces a part of what is assumed." }
        @if rows.len() > MOST_OPEN { (page::more(&count(rows.len(), "figure"), &page::table(&head, &rows))) }
        @else { (page::table(&head, &rows)) }
    };
    Some(page::section("noise", &title, &body))
}
