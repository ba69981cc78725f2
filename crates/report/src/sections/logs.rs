//! What access logs said: requests and times over the hours for each label, how the labels compare, what weighs.
//!
//! Requests an hour, seconds, bytes. An hour is a take of the run; gaps are hours without requests, and
//! one hour alone is not drawn. The comparison is
//! that of requests of one size in one quarter hour ([`model::traffic`] holds what it is made of).

use maud::{Markup, html};
use model::doc::{CompareDoc, RowDoc, TopDoc};
use model::traffic::Traffic;
use model::unit::Unit;

use crate::number::{Kind, fixed, quantity, ratio};
use crate::page::{self, Column};
use crate::plot::line::{Point, Series};
use crate::plot::{Caption, LinePlot, Size};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section};
use crate::text::{count, cut_front, date_time, notes};
use crate::theme::{Trust, Verdict};

pub struct Logs;
pub static SECTION: Logs = Logs;

/// Whose takes are hours, and are drawn as such.
pub const INSTRUMENT: &str = "logs";
const PERCENTILES: [(&str, &str); 3] = [("time.p50", "p50"), ("time.p90", "p90"), ("time.p99", "p99")];
/// Paths of one list.
const MOST: usize = 10;
/// Characters of a path.
const LONGEST: usize = 60;
const HOUR: f64 = 3600.0;

impl Section for Logs {
    fn rank(&self) -> u32 {
        41
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let all: Vec<Label> = (0..input.runs.len()).filter_map(|run| Label::of(input, run)).collect();
        let first = all.iter().map(|label| label.start).reduce(f64::min)?;
        let mut plots = Vec::new();
        if all.iter().any(|label| label.rate.len() > 1) {
            plots.push(rates(&all, first));
            plots.extend(all.iter().filter_map(|label| times(label, first, all.len() > 1)));
        }
        let rows: Vec<&RowDoc> =
            input.compare.iter().flat_map(|doc| &doc.rows).filter(|row| is_judged(row)).collect();
        let body = html! {
            (page::grid(&plots))
            @if !rows.is_empty() { (beside(&rows)) }
            @if let Some(doc) = &input.compare { (comparable(doc, &rows)) }
            (page::grid(&all.iter().flat_map(|label| label.top(all.len() > 1)).collect::<Vec<_>>()))
        };
        Some(page::section("logs", &title(&all, &rows), &body))
    }
}

/// What one run says.
struct Label {
    name: String,
    /// Seconds since 1970 at which its first hour begins.
    start: f64,
    requests: f64,
    /// Seconds since that, and the requests of the hour.
    rate: Vec<(f64, f64)>,
    times: Vec<(&'static str, Vec<(f64, f64)>)>,
    traffic: Option<Traffic>,
}

impl Label {
    fn of(input: &ReportInput, run: usize) -> Option<Label> {
        let (doc, data) = input.runs.get(run)?;
        // Hours count from the study's first one, which may be another label's.
        let first = data.takes.first()?.start_ns as f64 / 1e9;
        let hours = |metric: &str| -> Option<Vec<(f64, f64)>> {
            let known = |series: &&model::data::Series| {
                series.key.instrument == INSTRUMENT && series.key.metric == metric
            };
            let series = data.series.iter().find(known)?;
            let hour = |point: &model::data::Point| Some((point.at_ns as f64 / 1e9 - first, point.number()?));
            Some(series.points.iter().filter_map(hour).collect())
        };
        let counts = hours("requests")?;
        let times = PERCENTILES.iter().filter_map(|(metric, name)| Some((*name, hours(metric)?))).collect();
        Some(Label {
            name: input.name(run),
            start: doc.started,
            requests: counts.iter().map(|(_, count)| count).sum(),
            rate: counts,
            times,
            traffic: Traffic::of(data),
        })
    }

    /// A line over the hours since `first`; an hour without requests breaks it.
    fn line(&self, name: &str, values: &[(f64, f64)], first: f64) -> Series {
        let mut points: Vec<Point> = Vec::new();
        let mut before: Option<f64> = None;
        for (at, value) in values {
            let at = (at + self.start - first) / HOUR + 0.5;
            if before.is_some_and(|before| at - before > 1.5) {
                points.push(Point::at(at - 1.0, f64::NAN));
            }
            points.push(Point::at(at, *value));
            before = Some(at);
        }
        Series { name: name.to_owned(), points, reference: false }
    }

    fn top(&self, several: bool) -> Vec<Markup> {
        let lists = self.traffic.iter().flat_map(|traffic| &traffic.top).filter(|top| !top.paths.is_empty());
        lists.map(|top| paths(top, if several { &self.name } else { "" })).collect()
    }
}

fn since(first: f64) -> AxisSpec {
    AxisSpec::new(format!("hours since {} UTC", date_time(first)), Kind::of(Unit::Count))
}

fn rates(all: &[Label], first: f64) -> Markup {
    let peak = |label: &Label| label.rate.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let most = all.iter().map(peak).fold(0.0, f64::max);
    let title = format!("Up to {} requests came in an hour", fixed(most, 0));
    LinePlot {
        caption: Caption::new(title).subtitle("requests of each hour"),
        x: since(first),
        y: AxisSpec::new("requests an hour", Kind::of(Unit::Count)).from_zero(),
        series: all.iter().map(|label| label.line(&label.name, &label.rate, first)).collect(),
        markers: Vec::new(),
        spans: Vec::new(),
        size: Size::Cell,
    }
    .render()
}

fn times(label: &Label, first: f64, several: bool) -> Option<Markup> {
    let worst = label.times.iter().find(|(name, _)| *name == "p99")?.1.iter().map(|(_, time)| *time);
    let worst = quantity(worst.reduce(f64::max)?, Kind::of(Unit::Second));
    let of = if several { format!("{}: ", label.name) } else { String::new() };
    let title = format!("{of}1 request in 100 took over {worst} in the slowest hour");
    let plot = LinePlot {
        caption: Caption::new(title).subtitle("time in the server, each hour's percentiles".to_owned()),
        x: since(first),
        y: AxisSpec::new("time", Kind::of(Unit::Second)).log(),
        series: label.times.iter().map(|(name, values)| label.line(name, values, first)).collect(),
        markers: Vec::new(),
        spans: Vec::new(),
        size: Size::Cell,
    };
    Some(plot.render())
}

/// Rows of the comparison like with like.
fn is_judged(row: &RowDoc) -> bool {
    row.instrument == INSTRUMENT && (row.metric == "speed" || row.metric == "time") && !row.point
}

fn title(all: &[Label], rows: &[&RowDoc]) -> String {
    if let Some(row) = rows.iter().find(|row| row.metric == "speed")
        && let Some(speed) = row.ratio
    {
        let how = Verdict::from(row.verdict).word();
        return format!(
            "{} serves the same requests at {} times the speed of {}: {how}",
            row.arm,
            ratio(speed),
            row.base
        );
    }
    let requests: f64 = all.iter().map(|label| label.requests).sum();
    format!(
        "Access logs: {} requests in {}",
        fixed(requests, 0),
        count(all.iter().map(|label| label.rate.len()).max().unwrap_or(0), "hour")
    )
}

fn beside(rows: &[&RowDoc]) -> Markup {
    let heads = [
        ("like with like", Column::Text),
        ("base", Column::Number),
        ("arm", Column::Number),
        ("ratio", Column::Number),
        ("95 % interval", Column::Number),
        ("verdict", Column::Text),
    ];
    let figure = |row: &RowDoc, value: Option<f64>| {
        value.map_or("-".to_owned(), |value| quantity(value, Kind::of(row.unit)))
    };
    let line = |row: &&RowDoc| {
        let what = if row.metric == "speed" { "bytes over time" } else { "time of a request" };
        let interval = row
            .low
            .zip(row.high)
            .map_or("-".to_owned(), |(low, high)| format!("{} - {}", ratio(low), ratio(high)));
        vec![
            html! { (row.arm) " beside " (row.base) ": " (what) },
            html! { (figure(row, row.base_value)) },
            html! { (figure(row, row.arm_value)) },
            html! { (row.ratio.map_or("-".to_owned(), ratio)) },
            html! { (interval) },
            html! { (Verdict::from(row.verdict).word()) @if let Some(why) = &row.why { "; " (why) } },
        ]
    };
    html! {
        (page::table(&heads, &rows.iter().map(line).collect::<Vec<_>>()))
        p class="note" {
            "Compared are requests of one class of size in one quarter of an hour, so that neither the balancer's \
             weights nor the mix decides."
        }
    }
}

/// What is unlike between the labels.
fn comparable(doc: &CompareDoc, rows: &[&RowDoc]) -> Markup {
    let of_logs = |finding: &&model::Finding| {
        rows.iter().any(|row| finding.subject.contains(&row.arm) || finding.subject.contains(&row.base))
    };
    html! { ul class="trust" { @for finding in doc.findings.iter().filter(of_logs) {
        (Trust::from(finding.state).line(&html! { (crate::plot::tied(&notes::said(finding))) }))
    } } }
}

fn paths(top: &TopDoc, label: &str) -> Markup {
    let of = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let heads = [
        ("path", Column::Text),
        ("requests", Column::Number),
        ("bytes", Column::Number),
        ("time", Column::Number),
    ];
    let told =
        |value: Option<f64>, unit| value.map_or("-".to_owned(), |value| quantity(value, Kind::of(unit)));
    let row = |path: &model::doc::PathDoc| {
        vec![
            html! { code { (cut_front(&path.path, LONGEST)) } },
            html! { (fixed(path.requests, 0)) },
            html! { (told(path.bytes, Unit::Byte)) },
            html! { (told(path.seconds, Unit::Second)) },
        ]
    };
    let rows: Vec<Vec<Markup>> = top.paths.iter().take(MOST).map(row).collect();
    page::card(&format!("{of}top paths by {}", top.by), &page::table(&heads, &rows))
}
