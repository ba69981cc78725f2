//! Telemetry of the machine during the run, and of the hosts of targets: CPU split, clocks, temperatures, power,
//! memory, disks, network over time.
//!
//! Telemetry is never a row of a comparison. Many devices of one kind are drawn as their lowest, mean and highest.

use std::collections::BTreeMap;

use maud::{Markup, html};
use model::Params;
use model::data::RunData;
use model::format::{Kind, percent, quantity};
use model::frame::Segment;
use model::metrics::telemetry;
use model::unit::Unit;

use super::clock::{seconds, spans};
use crate::many::percents;
use crate::page::{self, Column};
use crate::plot::line::{Point, Series};
use crate::plot::{Caption, LinePlot, Size};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section, sentence};

pub static SECTION: Section = Section::new(70, draw);

/// Shares of CPU time, in the order of the plot.
const SPLIT: [&str; 8] = [
    telemetry::USER.name(),
    telemetry::NICE.name(),
    telemetry::SYSTEM.name(),
    telemetry::IRQ.name(),
    telemetry::SOFTIRQ.name(),
    telemetry::IOWAIT.name(),
    telemetry::STEAL.name(),
    telemetry::IDLE.name(),
];
/// Metrics that are worth a figure, most wanted first.
const WANTED: [&str; 13] = [
    telemetry::CLOCK.name(),
    telemetry::TEMPERATURE.name(),
    telemetry::POWER.name(),
    telemetry::WALL_POWER.name(),
    telemetry::AVAILABLE.name(),
    telemetry::READ.name(),
    telemetry::WRITTEN.name(),
    telemetry::BUSY.name(),
    telemetry::RECEIVED.name(),
    telemetry::SENT.name(),
    telemetry::RUNNING.name(),
    telemetry::SOME.name(),
    telemetry::SWITCHES.name(),
];
const MOST_FIGURES: usize = 9;
/// More devices than this are summed up.
const MOST_LINES: usize = 6;

/// One column of one source over the whole run.
struct Track {
    source: String,
    metric: String,
    device: String,
    unit: Option<Unit>,
    points: Vec<(f64, f64)>,
}

fn draw(input: &ReportInput) -> Option<Markup> {
    if input.has_many() {
        return of_many(input);
    }
    let mut title = None;
    let mut body: Vec<Markup> = Vec::new();
    for (run, (_, data)) in input.runs.iter().enumerate() {
        let name = (input.runs.len() > 1).then(|| input.name(run).to_owned());
        let of_target = |name: &str| {
            let its = data.target_telemetry.iter().filter(|one| one.target == name);
            (Some(format!("The host of {name}")), tracks(its.map(|one| &one.segment)))
        };
        let hosts = data.plan.targets.iter().map(|target| of_target(&target.name));
        for (name, tracks) in std::iter::once((name, tracks(data.telemetry.iter()))).chain(hosts) {
            if tracks.is_empty() {
                continue;
            }
            let (said, plots, rest) = of_run(data, &tracks);
            title = title.or(said);
            body.push(html! {
                @if let Some(name) = name { h3 { (name) } }
                (page::grid(&plots))
                @if !rest.is_empty() { p class="note" { "Also recorded, in the export: " (rest.join(", ")) } }
            });
        }
    }
    let title = title.unwrap_or_else(|| "What the machine did meanwhile".to_owned());
    (!body.is_empty()).then(|| page::section("telemetry", &title, &html! { @for part in &body { (part) } }))
}

/// A row a run, a column a metric: its mean over the run, and of temperatures the highest.
fn of_many(input: &ReportInput) -> Option<Markup> {
    let names = input.names();
    let each: Vec<Vec<Track>> = input.runs.iter().map(|(_, data)| tracks(data.telemetry.iter())).collect();
    let mut columns: Vec<(&str, &str, Option<Unit>)> = Vec::new();
    for name in SPLIT.iter().chain(&WANTED) {
        for track in each.iter().flatten().filter(|track| track.metric == *name) {
            let is_known = columns.iter().any(|(source, known, _)| *source == track.source && known == name);
            columns.extend((!is_known).then_some((track.source.as_str(), *name, track.unit)));
        }
    }
    let value = |tracks: &[Track], (source, metric, _): &(&str, &str, Option<Unit>)| {
        let own = || tracks.iter().filter(|track| track.source == *source && track.metric == *metric);
        let whole: Vec<&Track> = own().filter(|track| is_total(&track.device)).collect();
        let used: Vec<&Track> = if whole.is_empty() { own().collect() } else { whole };
        let points: Vec<(f64, f64)> = used.iter().flat_map(|track| track.points.iter().copied()).collect();
        match *metric == telemetry::TEMPERATURE.name() {
            _ if points.is_empty() => None,
            true => points.iter().map(|(_, value)| *value).max_by(f64::total_cmp),
            false => Some(mean(&points)),
        }
    };
    let values: Vec<Vec<Option<f64>>> =
        each.iter().map(|tracks| columns.iter().map(|column| value(tracks, column)).collect()).collect();
    let kind = |unit: Option<Unit>| match unit.unwrap_or(Unit::Count) {
        Unit::Ratio => Kind::percent(),
        unit => Kind::for_unit(unit),
    };
    let heads: Vec<String> = columns.iter().map(|(source, metric, _)| format!("{source} {metric}")).collect();
    let mut head = vec![("", Column::Text)];
    head.extend(heads.iter().map(|name| (name.as_str(), Column::Number)));
    let rows = names.iter().zip(&values).map(|(name, values)| {
        let cell = |(value, (_, _, unit)): (&Option<f64>, &(&str, &str, Option<Unit>))| {
            html! { (value.map_or("-".to_owned(), |value| quantity(value, kind(*unit)))) }
        };
        std::iter::once(html! { (name) }).chain(values.iter().zip(&columns).map(cell)).collect::<Vec<_>>()
    });
    let rows: Vec<Vec<Markup>> = rows.collect();
    let busy: Vec<f64> = each.iter().filter_map(|tracks| busy(tracks)).collect();
    let title = match busy.is_empty() {
        true => "What the machines did meanwhile".to_owned(),
        false => format!("CPUs were busy {} of the time on average", percents(&busy)),
    };
    let body = html! {
        (page::table(&head, &rows))
        (input.note("means over each run, of temperatures the highest; samples over time are in the store"))
    };
    (!columns.is_empty()).then(|| page::section("telemetry", &title, &body))
}

/// The mean share of CPU time that was not idle. Time that waits for a disk is idle too.
fn busy(tracks: &[Track]) -> Option<f64> {
    let of = |name: &str| tracks.iter().find(|track| track.metric == name && is_total(&track.device));
    let waited = of(telemetry::IOWAIT.name()).map_or(0.0, |track| mean(&track.points));
    Some((1.0 - mean(&of(telemetry::IDLE.name())?.points) - waited).clamp(0.0, 1.0))
}

/// Columns joined over all segments.
fn tracks<'s>(segments: impl Iterator<Item = &'s Segment>) -> Vec<Track> {
    let mut found: BTreeMap<(String, String), Track> = BTreeMap::new();
    for segment in segments {
        for (place, (column, symbol)) in segment.columns.iter().enumerate() {
            let track = found.entry((segment.source.clone(), column.clone())).or_insert_with(|| {
                let (metric, device) = parted(column);
                Track {
                    source: segment.source.clone(),
                    metric,
                    device,
                    unit: Unit::parse(symbol),
                    points: Vec::new(),
                }
            });
            for (at, row) in segment.at_ns.iter().zip(&segment.rows) {
                if let Some(value) = row.get(place).copied().flatten().filter(|value| value.is_finite()) {
                    track.points.push((seconds(*at), value));
                }
            }
        }
    }
    let mut tracks: Vec<Track> = found.into_values().filter(|track| track.points.len() > 1).collect();
    for track in &mut tracks {
        track.points.sort_by(|a, b| a.0.total_cmp(&b.0));
    }
    tracks
}

/// `user{cpu=3}` in two.
fn parted(column: &str) -> (String, String) {
    match column.split_once('{') {
        Some((metric, rest)) => (metric.to_owned(), rest.trim_end_matches('}').to_owned()),
        None => (column.to_owned(), String::new()),
    }
}

fn is_total(device: &str) -> bool {
    let whole = |params: Params| params.values().all(|value| matches!(value.as_str(), "all" | "total"));
    device.is_empty() || Params::parse(device).is_ok_and(whole)
}

fn of_run(data: &RunData, tracks: &[Track]) -> (Option<String>, Vec<Markup>, Vec<String>) {
    let (said, split) = cpu_split(data, tracks);
    let mut groups: BTreeMap<(&str, &str), Vec<&Track>> = BTreeMap::new();
    for track in tracks {
        groups.entry((&track.source, &track.metric)).or_default().push(track);
    }
    let wanted = |metric: &str| WANTED.iter().position(|word| metric == *word);
    let mut order: Vec<((&str, &str), Vec<&Track>)> =
        groups.into_iter().filter(|((_, metric), _)| split.is_none() || !SPLIT.contains(metric)).collect();
    order.sort_by_key(|((_, metric), _)| wanted(metric).unwrap_or(WANTED.len()));
    let mut plots: Vec<Markup> = split.into_iter().collect();
    let mut rest = Vec::new();
    for ((source, metric), tracks) in order {
        let moves = tracks.iter().any(|track| track.points.iter().any(|point| point.1 != track.points[0].1));
        if wanted(metric).is_some() && moves && plots.len() < MOST_FIGURES {
            plots.push(group(source, metric, &tracks));
        } else {
            rest.push(format!("{source} {metric}"));
        }
    }
    (said, plots, rest)
}

/// Shares of all CPUs together over time.
fn cpu_split(data: &RunData, tracks: &[Track]) -> (Option<String>, Option<Markup>) {
    let of = |name: &str| tracks.iter().find(|track| track.metric == name && is_total(&track.device));
    let mean = |track: &Track| mean(&track.points);
    let Some(busy) = busy(tracks) else { return (None, None) };
    let stolen = of(telemetry::STEAL.name()).map_or(0.0, mean);
    let mut title = format!("CPUs were busy {} of the time on average", percent(busy));
    if stolen > 0.001 {
        title.push_str(&format!(", {} stolen by the host", percent(stolen)));
    }
    let lines = SPLIT.iter().filter(|name| **name != telemetry::IDLE.name()).filter_map(|name| of(name));
    let series: Vec<Series> = lines
        .filter(|track| track.points.iter().any(|(_, value)| *value > 0.005))
        .map(|track| Series { name: track.metric.clone(), points: points(track), reference: false })
        .collect();
    if series.is_empty() {
        return (Some(title), None);
    }
    let plot = LinePlot {
        spans: spans(data),
        size: Size::Wide,
        ..LinePlot::new(
            Caption::new("CPU time over the run")
                .subtitle("share of all CPUs, one sample a second; shaded: takes"),
            AxisSpec::new("time since the start", Kind::for_unit(Unit::Second)),
            AxisSpec::new("share of CPU time", Kind::percent()).from_zero(),
            series,
        )
    };
    (Some(title), Some(plot.render()))
}

fn points(track: &Track) -> Vec<Point> {
    track.points.iter().map(|(at, value)| Point::at(*at, *value)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "a count of samples")]
fn mean(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|point| point.1).sum::<f64>() / points.len().max(1) as f64
}

/// One metric of one source, a line a device.
fn group(source: &str, metric: &str, tracks: &[&Track]) -> Markup {
    let unit = tracks.first().and_then(|track| track.unit).unwrap_or(Unit::Count);
    let kind = if unit == Unit::Ratio { Kind::percent() } else { Kind::for_unit(unit) };
    let mut values = tracks.iter().flat_map(|track| track.points.iter().map(|point| point.1));
    let first = values.next().unwrap_or(0.0);
    let (low, high) = values.fold((first, first), |(low, high), value| (low.min(value), high.max(value)));
    let title = sentence(&format!("{source} {metric}: {} to {}", quantity(low, kind), quantity(high, kind)));
    let series = if tracks.len() > MOST_LINES { summed(tracks) } else { lines(tracks, metric) };
    let subtitle = if tracks.len() > MOST_LINES {
        format!("lowest, mean and highest of {} devices", tracks.len())
    } else {
        "one sample a second".to_owned()
    };
    LinePlot::new(
        Caption::new(title).subtitle(subtitle),
        AxisSpec::new("time since the start", Kind::for_unit(Unit::Second)),
        AxisSpec::new(metric, kind),
        series,
    )
    .render()
}

fn lines(tracks: &[&Track], metric: &str) -> Vec<Series> {
    let name = |track: &Track| {
        let device = track.device.split('=').next_back().unwrap_or("");
        if device.is_empty() { metric.to_owned() } else { device.to_owned() }
    };
    tracks.iter().map(|track| Series { name: name(track), points: points(track), reference: false }).collect()
}

/// Lowest, mean and highest at each time.
fn summed(tracks: &[&Track]) -> Vec<Series> {
    let mut at: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (time, value) in tracks.iter().flat_map(|track| &track.points) {
        // Samples of one second belong together.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "seconds since the start"
        )]
        at.entry(time.max(0.0).round() as u64).or_default().push(*value);
    }
    #[expect(clippy::cast_precision_loss, reason = "seconds and counts")]
    let line = |name: &str, of: fn(&[f64]) -> f64| Series {
        name: name.to_owned(),
        points: at.iter().map(|(time, values)| Point::at(*time as f64, of(values))).collect(),
        reference: false,
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of devices")]
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len().max(1) as f64;
    vec![
        line("highest", |values| values.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
        line("mean", mean),
        line("lowest", |values| values.iter().copied().fold(f64::INFINITY, f64::min)),
    ]
}
