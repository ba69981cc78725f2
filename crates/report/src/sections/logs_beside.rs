//! Telemetry of machines while requests came: serving speed, load, CPU, disk reads, memory used and page cache over the
//! same hours, a line for each label.
//!
//! Bytes, bytes a second, shares of CPU time. Of a machine: means over its samples in each step. A step without samples
//! breaks the line; a figure that no machine recorded is not drawn. Clocks are those of two hosts and not compared.

use maud::{Markup, html};
use model::doc::{BesideDoc, BesideRow};
use model::format::{Kind, duration, number, percent, quantity};
use model::id::short;
use model::unit::Unit;

use super::logs::Hours;
use crate::page;
use crate::page::whole;
use crate::plot::line::{Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::text::date_time;

/// A label and its machine, where that was recorded.
pub struct Beside<'a> {
    pub name: &'a str,
    pub doc: Option<&'a BesideDoc>,
}

/// One figure: what its title says of a mean, what its axis is called, and where it comes from.
struct Figure {
    says: &'static str,
    axis: &'static str,
    kind: Kind,
    of: fn(&BesideRow) -> Option<f64>,
}

fn figures() -> [Figure; 6] {
    let one = |says, axis, unit, of| Figure { says, axis, kind: Kind::for_unit(unit), of };
    [
        one("Requests are served at", "bytes over time taken, no 5xx", Unit::BytesPerSec, |row| row.speed),
        one("The load average is", "load average of 1 min", Unit::Count, |row| row.load),
        Figure {
            says: "CPUs are at work",
            axis: "share of CPU time",
            kind: Kind::percent(),
            of: |row| row.cpu,
        },
        one("Disks read", "read from disks", Unit::BytesPerSec, |row| row.disk_read),
        one("Memory used is", "memory used", Unit::Byte, |row| row.memory_used),
        one("The page cache holds", "page cache", Unit::Byte, |row| row.page_cache),
    ]
}

/// The figures of all labels; none where no machine was recorded.
pub fn draw(all: &[Beside<'_>], hours: &Hours) -> Option<Markup> {
    let known: Vec<(&str, &BesideDoc)> = all
        .iter()
        .filter_map(|one| Some((one.name, one.doc?)))
        .filter(|(_, doc)| !doc.rows.is_empty())
        .collect();
    if known.is_empty() {
        return None;
    }
    let plots: Vec<Markup> = figures().iter().filter_map(|figure| plot(figure, all, &known, hours)).collect();
    Some(html! {
        h3 { "What the machines did meanwhile" }
        (page::grid(&plots))
        @for (name, doc) in &known { p class="note" { (source(name, doc)) } }
    })
}

/// Where the samples come from.
fn source(name: &str, doc: &BesideDoc) -> Markup {
    let (from, to) = doc.telemetry;
    html! {
        (name) ": run " code { (short(&doc.run)) } " of " (doc.machine) ", recorded from " (date_time(from)) " to "
        (date_time(to)) " UTC"
        @if let Some(step) = doc.step { "; means over " (duration(step)) }
    }
}

fn plot(figure: &Figure, all: &[Beside<'_>], known: &[(&str, &BesideDoc)], hours: &Hours) -> Option<Markup> {
    let told = |doc: &BesideDoc| doc.rows.iter().any(|row| (figure.of)(row).is_some());
    if !known.iter().any(|(_, doc)| told(doc)) {
        return None;
    }
    // A label without a machine has no line, and keeps its colour.
    let series = all.iter().map(|one| Series {
        name: one.name.to_owned(),
        points: one.doc.map(|doc| points(doc, figure, hours)).unwrap_or_default(),
        reference: false,
    });
    let plot = LinePlot {
        markers: hours.markers(),
        ..LinePlot::new(
            Caption::new(title(figure, known)).subtitle(subtitle(known)),
            hours.axis(),
            AxisSpec::new(figure.axis, figure.kind).from_zero(),
            series.collect(),
        )
    };
    Some(plot.render())
}

/// The middle of each step; a gap between steps breaks the line.
fn points(doc: &BesideDoc, figure: &Figure, hours: &Hours) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    let mut end: Option<f64> = None;
    for row in &doc.rows {
        if end.is_some_and(|end| row.at - end > row.seconds / 2.0) {
            points.push(Point::gap(hours.at(row.at)));
        }
        let middle = hours.at(row.at + row.seconds / 2.0);
        points.push((figure.of)(row).map_or_else(|| Point::gap(middle), |value| Point::at(middle, value)));
        end = Some(row.at + row.seconds);
    }
    points
}

fn title(figure: &Figure, known: &[(&str, &BesideDoc)]) -> String {
    let text = |value: f64| match figure.kind {
        kind if kind == Kind::percent() => percent(value),
        kind if kind == Kind::for_unit(Unit::Count) => number(value),
        kind => quantity(value, kind),
    };
    let show = |value: f64| whole(&text(value));
    let mean = |doc: &BesideDoc| (figure.of)(doc.mean.as_ref()?);
    let means: Vec<(&str, f64)> = known.iter().filter_map(|(name, doc)| Some((*name, mean(doc)?))).collect();
    let said = match means.as_slice() {
        [] => "not known on average".to_owned(),
        [(_, only)] if known.len() == 1 => format!("{} on average", show(*only)),
        [(name, only)] => format!("{} ({name})", show(*only)),
        [first @ .., last] if means.len() <= 3 => {
            let each = |(name, value): &(&str, f64)| format!("{} ({name})", show(*value));
            format!("{} and {}", first.iter().map(each).collect::<Vec<_>>().join(", "), each(last))
        }
        [first, ..] => {
            let end = |is_over: fn(f64, f64) -> bool| {
                means.iter().fold(*first, |end, one| if is_over(one.1, end.1) { *one } else { end })
            };
            let (low, high) = (end(|one, other| one < other), end(|one, other| one > other));
            format!("{} ({}) to {} ({})", show(low.1), low.0, show(high.1), high.0)
        }
    };
    format!("{} {said}", figure.says)
}

/// How long the steps are, where they are alike.
fn subtitle(known: &[(&str, &BesideDoc)]) -> String {
    let mut steps: Vec<String> = known.iter().filter_map(|(_, doc)| doc.step).map(duration).collect();
    steps.sort_unstable();
    steps.dedup();
    match steps.as_slice() {
        [only] => format!("mean of each {only}"),
        _ => "mean of each step".to_owned(),
    }
}
