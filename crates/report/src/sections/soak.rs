//! A soak: every figure over the time, as a share of its level at first, with the level that lasts.
//!
//! Takes are drawn as the medians of neighbours where there are more than pixels. Warm-up takes and figures that were
//! refused are left out.

use maud::{Markup, html};
use model::data::RunData;
use model::doc::SoakDoc;
use model::format::{self, Kind};
use model::unit::Unit;
use model::{Better, Phase, Validity};

use super::clock::seconds;
use crate::page::{self, Column};
use crate::plot::line::{Marker, Point, Series};
use crate::plot::{Caption, LinePlot, Size};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section};
use crate::text::soak::{labels, scale};

pub static SECTION: Section = Section::by_run(11, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let soaked =
        input.runs.iter().enumerate().take(input.drawn().end).filter(|(_, (run, _))| !run.soak.is_empty());
    let drawn: Vec<Markup> = soaked
        .map(|(at, (run, data))| {
            let name = if input.runs.len() > 1 { Some(input.name(at)) } else { None };
            html! { div class="full" { (plot(&run.soak, data, name.as_deref())) (table(&run.soak)) } }
        })
        .collect();
    let first = input.runs.iter().find_map(|(run, _)| title(&run.soak))?;
    Some(page::section("soak", &first, &html! { @for one in drawn { (one) } }))
}

/// A slope that comes to less is not worth a title.
const TRIFLE: f64 = 0.02;

/// The least share that lasts of what falls beyond chance, and of what that is.
fn title(all: &[SoakDoc]) -> Option<String> {
    let falls = |one: &SoakDoc| {
        let is_rate = one.better != Better::Lower;
        let slopes = one.slope.is_some_and(|slope| if is_rate { slope.high < 0.0 } else { slope.low > 0.0 });
        one.knee.is_some() || slopes && one.share.is_some_and(|share| (share - 1.0).abs() > TRIFLE)
    };
    let longest = all.iter().map(|one| one.seconds).max_by(f64::total_cmp)?;
    let falling = all.iter().zip(labels(all)).filter(|(one, _)| falls(one));
    let shares = falling.filter_map(|(one, label)| Some((one.share?, one, label)));
    let Some((share, worst, label)) = shares.min_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Some(format!(
            "What lasts: nothing falls beyond chance in {}",
            format::duration(longest.round())
        ));
    };
    let from = worst
        .knee
        .map_or("without a knee".to_owned(), |knee| format!("from {} on", format::duration(knee.at)));
    Some(format!("What lasts: {label} keeps {} of its level at first, {from}", format::percent(share)))
}

fn plot(all: &[SoakDoc], data: &RunData, name: Option<&str>) -> Markup {
    let series = all.iter().zip(labels(all)).map(|(one, label)| {
        let points = points(one, data);
        Series { name: label, points, reference: false }
    });
    let knees = all.iter().zip(labels(all)).filter_map(|(one, label)| {
        Some(Marker { at: one.knee?.at, label: format!("{label} falls"), upright: true })
    });
    let title = name.map_or("Over the time".to_owned(), |name| format!("{name} over the time"));
    LinePlot {
        markers: knees.collect(),
        size: Size::Wide,
        ..LinePlot::new(
            Caption::new(title)
                .subtitle("each figure as a share of its level at first: of a minute, or until it falls"),
            AxisSpec::new("time since the start", Kind::for_unit(Unit::Second)),
            AxisSpec::new("share of the level at first", Kind::percent()),
            series.collect(),
        )
    }
    .render()
}

/// Shares of the beginning over seconds.
fn points(one: &SoakDoc, data: &RunData) -> Vec<Point> {
    const MOST: usize = 240;
    let Some(first) = one.first.filter(|first| *first > 0.0) else { return Vec::new() };
    let is_own = |series: &&model::data::Series| {
        let key = &series.key;
        (&key.instrument, &key.metric, &key.params, &key.arm)
            == (&one.instrument, &one.metric, &one.params, &one.arm)
    };
    let raw = data.series.iter().find(is_own).into_iter().flat_map(|series| &series.points);
    let measured = raw.filter(|point| point.phase == Phase::Measured);
    let takes: Vec<(f64, f64)> = measured
        .filter_map(|point| Some((seconds(point.at_ns) - one.from, point.number()? / first)))
        .collect();
    let each = takes.len().div_ceil(MOST).max(1);
    let middle = |some: &[(f64, f64)]| {
        let mut values: Vec<f64> = some.iter().map(|take| take.1).collect();
        values.sort_by(f64::total_cmp);
        Some(Point::at(some.first()?.0, *values.get(values.len() / 2)?))
    };
    takes.chunks(each).filter_map(middle).collect()
}

fn table(all: &[SoakDoc]) -> Markup {
    let head = [
        ("", Column::Text),
        ("unit", Column::Text),
        ("at first", Column::Number),
        ("lasts", Column::Number),
        ("95 % interval", Column::Number),
        ("share", Column::Number),
        ("falls at", Column::Number),
        ("a minute", Column::Number),
        ("takes", Column::Number),
    ];
    let dash = || "-".to_owned();
    let row = |(one, label): (&SoakDoc, String)| -> Vec<Markup> {
        let scale = scale(one);
        let value = |value: Option<f64>| match value {
            _ if one.validity == Validity::Invalid => "refused".to_owned(),
            Some(value) if one.validity == Validity::Doubtful => format!("{} !", scale.number(value)),
            Some(value) => scale.number(value),
            None => dash(),
        };
        let interval = one.low.zip(one.high).map_or_else(dash, |(low, high)| scale.interval_text(low, high));
        let slope = one.slope.map_or_else(dash, |slope| {
            let percent = |share: f64| format!("{:.2}", share * 100.0);
            format!("{} % ({} to {})", percent(slope.per_minute), percent(slope.low), percent(slope.high))
        });
        let cells = [
            label,
            scale.unit.clone(),
            value(one.first),
            value(one.sustained),
            interval,
            one.share.map_or_else(dash, format::percent),
            one.knee.map_or_else(dash, |knee| {
                let [at, low, high] = [knee.at, knee.low, knee.high].map(format::duration);
                format!("{at} ({low} to {high})")
            }),
            slope,
            one.takes.to_string(),
        ];
        cells.into_iter().map(|cell| html! { (cell) }).collect()
    };
    page::table(&head, &all.iter().zip(labels(all)).map(row).collect::<Vec<_>>())
}
