//! The search for the largest load that holds: the percentile over the rate that was offered, and a table of the steps.
//!
//! Steps of all takes together. Those whose percentile fell on a failed request have none, and are in the table alone.

use maud::{Markup, html};
use model::doc::SearchDoc;
use model::format::Kind;
use model::unit::Unit;

use crate::page::{self, Column};
use crate::plot::line::{Marker, Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section, sentence};
use crate::text::search::{cells, late};

pub static SECTION: Section = Section::by_run(43, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let several = input.runs.len() > 1;
    let mut parts: Vec<Markup> = Vec::new();
    let mut title = None;
    for (run, (doc, _)) in input.runs.iter().enumerate().take(input.drawn().end) {
        for search in &doc.searches {
            let run = several.then(|| input.name(run));
            let words: Vec<String> = run.into_iter().chain([search.arm.clone()]).collect();
            let name = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(", ");
            title = title.or_else(|| search.says().map(|says| sentence(&says)));
            parts.push(plot(search, &name));
            parts.push(page::card(&name, &table(search)));
        }
    }
    let title = title.unwrap_or_else(|| "No load was found that holds".to_owned());
    (!parts.is_empty()).then(|| page::section("web-search", &title, &page::grid(&parts)))
}

fn plot(search: &SearchDoc, name: &str) -> Markup {
    let of = if name.is_empty() { String::new() } else { format!("{name}: ") };
    let points = search.steps.iter().filter_map(|step| Some(Point::at(step.offered, step.time?)));
    let series = Series { name: search.percentile.clone(), points: points.collect(), reference: false };
    let upright = search.found.map(|at| Marker { at, label: "the search ended".to_owned(), upright: true });
    let kept = search.kept.map(|kept| Marker { at: kept.rate, label: "kept".to_owned(), upright: true });
    let level = search.limit.map(|at| Marker { at, label: "limit".to_owned(), upright: false });
    let plot = LinePlot {
        markers: upright.into_iter().chain(kept).chain(level).collect(),
        ..LinePlot::new(
            Caption::new(format!("{of}{} over the load", search.percentile))
                .subtitle(format!("medians of the steps of all takes; requests {}", search.arrivals())),
            AxisSpec::new("requests offered a second", Kind::for_unit(Unit::PerSec)).log(),
            AxisSpec::new(search.percentile.clone(), Kind::for_unit(Unit::Second)).log(),
            vec![series],
        )
    };
    plot.render()
}

fn table(search: &SearchDoc) -> Markup {
    let heads = [
        ("offered", Column::Number),
        ("requests a step", Column::Number),
        ("answered", Column::Number),
        (search.percentile.as_str(), Column::Number),
        ("held", Column::Number),
        ("broke", Column::Number),
        ("", Column::Text),
    ];
    let row = |cells: Vec<String>| cells.into_iter().map(|text| html! { (text) }).collect();
    let rows: Vec<Vec<Markup>> = search.steps.iter().map(|step| row(cells(step))).collect();
    html! {
        (page::table(&heads, &rows))
        @if let Some(late) = late(search) { p class="note" { (page::prose(&late)) } }
    }
}
