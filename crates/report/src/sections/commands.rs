//! Wall time of the user's commands over a parameter that `--scan` or `--arm` gave several numbers: medians with
//! intervals, a line for each setting of the others.

use maud::{Markup, html};
use model::command::COMMAND;
use model::data::RunData;
use model::doc::{RunDoc, SeriesDoc};
use model::format::Kind;
use model::metrics::command::WALL;
use model::{Params, Validity};

use crate::page;
use crate::plot::line::{Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::by_run(12, draw);

/// Points without which there is no curve.
const LEAST: usize = 3;
/// From this ratio of the ends on, values stand at equal distances by their logarithm.
const WIDE: f64 = 20.0;

fn draw(input: &ReportInput) -> Option<Markup> {
    let plots: Vec<Markup> =
        input.runs.iter().take(input.drawn().end).flat_map(|(doc, data)| plots(doc, data)).collect();
    let title = input.runs.iter().find_map(|(doc, data)| title(doc, data))?;
    (!plots.is_empty()).then(|| page::section("commands", &title, &html! { (page::grid(&plots)) }))
}

fn title(doc: &RunDoc, data: &RunData) -> Option<String> {
    let keys = keys(data);
    let answer = doc.answer.as_ref().map(|answer| answer.sentence.as_str());
    (!keys.is_empty())
        .then(|| answer.map_or_else(|| format!("Time over {}", keys.join(" and ")), str::to_owned))
}

/// The keys of arms that have at least three numbers and nothing else.
fn keys(data: &RunData) -> Vec<&str> {
    if data.plan.commands.is_empty() {
        return Vec::new();
    }
    let all = data.plan.arms.first().into_iter().flat_map(|arm| arm.set.keys());
    let is_scanned = |key: &&String| {
        let values: Option<Vec<f64>> = data.plan.arms.iter().map(|arm| number(&arm.set, key)).collect();
        let mut values = values.unwrap_or_default();
        values.sort_by(f64::total_cmp);
        values.dedup();
        *key != COMMAND && values.len() >= LEAST
    };
    all.filter(is_scanned).map(String::as_str).collect()
}

fn number(set: &Params, key: &str) -> Option<f64> {
    set.get(key)?.parse().ok().filter(|number: &f64| number.is_finite())
}

fn plots(doc: &RunDoc, data: &RunData) -> Vec<Markup> {
    keys(data).into_iter().map(|key| plot(doc, data, key).render()).collect()
}

fn plot(doc: &RunDoc, data: &RunData, key: &str) -> LinePlot {
    let mut lines: Vec<(Params, Vec<Point>)> = Vec::new();
    let mut kind = None;
    for arm in &data.plan.arms {
        let is_its = |one: &&SeriesDoc| {
            one.arm == arm.name && one.metric == WALL.name() && one.validity != Validity::Invalid
        };
        let Some(series) = doc.series.iter().find(is_its) else { continue };
        let (Some(x), Some(y)) = (number(&arm.set, key), series.median) else { continue };
        kind = kind.or_else(|| Some(Kind::shown(series.card, &series.metric, series.unit)));
        let point = Point { interval: series.low.zip(series.high), bar: true, ..Point::at(x, y) };
        let mut rest = arm.set.clone();
        rest.remove(key);
        match lines.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, points)) => points.push(point),
            None => lines.push((rest, vec![point])),
        }
    }
    let named = lines.len() > 1;
    let line = |(rest, mut points): (Params, Vec<Point>)| {
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        let values: Vec<&str> = rest.values().map(String::as_str).collect();
        Series { name: if named { values.join(" ") } else { String::new() }, points, reference: false }
    };
    let series: Vec<Series> = lines.into_iter().map(line).collect();
    let xs = || series.iter().flat_map(|line| &line.points).map(|point| point.x);
    let (least, most) = (xs().fold(f64::INFINITY, f64::min), xs().fold(0.0, f64::max));
    let x = AxisSpec::new(key, Kind::for_unit(model::Unit::Count));
    let x = if least > 0.0 && most / least >= WIDE { x.log() } else { x };
    let y =
        AxisSpec::new("wall time", kind.unwrap_or_else(|| Kind::for_unit(model::Unit::Second))).from_zero();
    let caption = Caption::new(format!("Wall time over {key}"))
        .subtitle("medians of the takes; bars are 95 % intervals, with the spread between sittings in them");
    LinePlot::new(caption, x, y, series)
}
