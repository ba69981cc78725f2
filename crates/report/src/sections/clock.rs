//! The true clock over the run: measured by dependent additions right before and after each take.

use maud::Markup;
use model::data::RunData;
use model::format::{self, Kind, quantity};
use model::names::instrument;
use model::unit::Unit;

use crate::page;
use crate::plot::line::{Marker, Point, Series, Span};
use crate::plot::{Caption, LinePlot, Size};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::by_run(50, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let plots: Vec<(String, Markup)> = input.drawn().filter_map(|run| plot(input, run)).collect();
    let title = plots.first()?.0.clone();
    let plots: Vec<Markup> = plots.into_iter().map(|(_, plot)| plot).collect();
    Some(page::section("clock", &title, &page::grid(&plots)))
}

/// Seconds since the start and hertz, in the order of time.
pub fn course(data: &RunData) -> Vec<(f64, f64)> {
    let points = data
        .series
        .iter()
        .filter(|series| series.key.instrument == instrument::TAKE_CLOCK)
        .flat_map(|s| &s.points);
    let mut course: Vec<(f64, f64)> = points
        .filter_map(|point| Some((seconds(point.at_ns), point.number().filter(|hertz| hertz.is_finite())?)))
        .collect();
    course.sort_by(|a, b| a.0.total_cmp(&b.0));
    course
}

#[expect(clippy::cast_precision_loss, reason = "2^53 ns are 104 days")]
pub(crate) fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The stretches of the takes. Takes of one instrument that follow each other are one stretch, and so are any
/// takes where there are too many to tell apart.
pub fn spans(data: &RunData) -> Vec<Span> {
    const MOST: usize = 120;
    let mut takes: Vec<Span> = data
        .takes
        .iter()
        .map(|take| {
            let cell = usize::try_from(take.cell).ok().and_then(|cell| data.plan.cells.get(cell));
            let label = cell.map_or_else(String::new, |cell| cell.instrument.clone());
            Span { from: seconds(take.start_ns), to: seconds(take.end_ns), label }
        })
        .collect();
    takes.sort_by(|a, b| a.from.total_cmp(&b.from));
    let mut spans = joined(&takes, 1.0, true);
    let mut gap = 0.5;
    while spans.len() > MOST && gap < 1e6 {
        spans = joined(&takes, gap, false);
        gap *= 2.0;
    }
    spans
}

/// Neighbours that lie no more than `gap` seconds apart are one.
fn joined(takes: &[Span], gap: f64, alike: bool) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for take in takes {
        match spans.last_mut() {
            Some(last) if (!alike || last.label == take.label) && take.from - last.to <= gap => {
                last.to = last.to.max(take.to);
                if last.label != take.label {
                    last.label = "takes".to_owned();
                }
            }
            _ => spans.push(take.clone()),
        }
    }
    spans
}

fn plot(input: &ReportInput, run: usize) -> Option<(String, Markup)> {
    let (_, data) = input.runs.get(run)?;
    let course = course(data);
    let low = course.iter().map(|(_, hertz)| *hertz).min_by(f64::total_cmp)?;
    let high = course.iter().map(|(_, hertz)| *hertz).max_by(f64::total_cmp)?;
    if course.len() < 3 || high <= 0.0 {
        return None;
    }
    let show = |hertz: f64| quantity(hertz, Kind::for_unit(Unit::Hertz));
    let name = if input.runs.len() > 1 { format!(" on {}", input.name(run)) } else { String::new() };
    let fall = 1.0 - low / high;
    let title = if fall < 0.03 {
        format!("The clock held {} within {}{name}", show(high), format::percent(fall))
    } else {
        format!("The clock ranged from {} to {}{name}", show(low), show(high))
    };
    let limits = [("cpu.mhz.max", "highest on the data sheet"), ("cpu.mhz.base", "base")];
    let facts = input.facts(run);
    let spec = crate::text::spec::Spec(&facts);
    let near = |hertz: &f64| (low * 0.7..=high * 1.3).contains(hertz);
    let markers = limits
        .iter()
        .filter_map(|(key, label)| {
            let hertz = spec.number(key).filter(near)?;
            Some(Marker { at: hertz, label: (*label).to_owned(), upright: false })
        })
        .collect();
    let points = course.into_iter().map(|(at, hertz)| Point::at(at, hertz)).collect();
    let plot = LinePlot {
        markers,
        spans: spans(data),
        size: Size::Wide,
        ..LinePlot::new(
            Caption::new(if input.runs.len() > 1 {
                title.clone()
            } else {
                "True clock over the run".to_owned()
            })
            .subtitle("dependent additions on the take's own CPU, before and after each take; shaded: takes"),
            AxisSpec::new("time since the start", Kind::for_unit(Unit::Second)),
            AxisSpec::new("true clock", Kind::for_unit(Unit::Hertz)),
            vec![Series { name: "clock".to_owned(), points, reference: false }],
        )
    };
    Some((title, plot.render()))
}
