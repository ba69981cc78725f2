//! Access logs: requests and times of each label and of all on one axis, telemetry of the machines, the comparison of
//! the labels, and the paths that weigh most.
//!
//! Requests an hour, seconds, bytes. An hour is a take of the run; gaps are hours without requests, and one hour alone
//! is not drawn. The comparison is that of requests of one size in one quarter hour, or of one size before and after
//! the moment that the logs were cut at ([`model::traffic`] holds what it is made of).

use std::collections::BTreeSet;

use maud::{Markup, html};
use model::doc::{BesideDoc, LogsSideDoc, OverTimeDoc, OverTimeRow, RowDoc, TopDoc};
use model::finding::Finding;
use model::format::{Kind, Moment, count, duration, fixed, per_second, quantity};
use model::histogram::{has_percentile, percentile_needs};
use model::metrics::logs;
use model::traffic::{INSTRUMENT, Traffic};
use model::unit::Unit;

use super::logs_answers;
use super::logs_beside::{self, Beside};
use super::{logs_compared, logs_parts};
use crate::page::{self, Column, whole};
use crate::plot::line::{Marker, Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section};
use crate::text::cut_front;
use crate::text::logs_answers::folded;

pub static SECTION: Section = Section::new(41, draw);

const PERCENTILES: [(&str, &str, f64); 3] = [
    (logs::TIME_P50.name(), "p50", 0.5),
    (logs::TIME_P90.name(), "p90", 0.9),
    (logs::TIME_P99.name(), "p99", 0.99),
];
/// The percentiles of which all labels are drawn on one axis, and the share of the requests that each is of.
const BESIDE: [(&str, &str); 2] = [("p50", "Half"), ("p99", "99 in 100")];
/// Steps of a figure over time at most, and at least.
const MOST_STEPS: usize = 120;
const LEAST_STEPS: usize = 5;
/// Paths of one list.
const MOST: usize = 10;
/// Characters of a path.
const LONGEST: usize = 60;
const HOUR: f64 = 3600.0;
/// Peaks of labels that reach this share of the highest one are not told apart.
const EVEN: f64 = 0.95;
/// The first and the last hour are drawn if the log has at least this share of them.
const LEAST_OF_HOUR: f64 = 0.9;

fn draw(input: &ReportInput) -> Option<Markup> {
    let all: Vec<Label> = (0..input.runs.len()).filter_map(|run| Label::of(input, run)).collect();
    let hours = Hours::of(&all)?;
    let mut plots: Vec<Markup> = together(&all, &hours).into_iter().collect();
    if all.iter().any(|label| label.rate.len() > 1) {
        if plots.is_empty() {
            plots.push(rates(&all, &hours));
        }
        if all.len() > 1 {
            plots.extend(BESIDE.iter().filter_map(|percentile| times_beside(percentile, &all, &hours)));
        }
        plots.extend(all.iter().filter_map(|label| times(label, &hours, all.len() > 1)));
    }
    let beside: Vec<Beside<'_>> =
        all.iter().map(|label| Beside { name: &label.name, doc: label.beside.as_ref() }).collect();
    let rows: Vec<&RowDoc> =
        input.compare.iter().flat_map(|doc| &doc.rows).filter(|row| logs_compared::is_judged(row)).collect();
    let answers: Vec<Markup> =
        (0..input.runs.len()).flat_map(|run| answers(input, run, &hours, all.len() > 1)).collect();
    let findings = input.compare.iter().flat_map(|doc| &doc.findings);
    let is_cut = all.iter().any(|label| label.side.is_some())
        || findings.map(Finding::kind).any(|kind| kind == "cut-blocks");
    let parts: Vec<Markup> =
        input.compare.iter().flat_map(|doc| &doc.findings).filter_map(logs_parts::draw).collect();
    let body = html! {
        @for table in &parts { (table) }
        (page::grid(&plots))
        (page::cards(&answers))
        @if let Some(drawn) = logs_beside::draw(&beside, &hours) { (drawn) }
        @if !rows.is_empty() { (logs_compared::verdicts(&rows, is_cut)) }
        @if let Some(doc) = &input.compare { (logs_compared::comparable(doc, &rows)) }
        (page::cards(&all.iter().flat_map(|label| label.top(all.len() > 1)).collect::<Vec<_>>()))
    };
    let findings: Vec<&Finding> = input.compare.iter().flat_map(|doc| &doc.findings).collect();
    Some(page::section("logs", &title(&all, &rows, &findings), &body))
}

/// Requests and failures of one run.
fn answers(input: &ReportInput, run: usize, hours: &Hours, is_named: bool) -> Vec<Markup> {
    let Some((doc, data)) = input.runs.get(run) else { return Vec::new() };
    let name = if is_named { input.name(run) } else { String::new() };
    logs_answers::draw(&name, doc, data.traffic.as_ref(), hours)
}

/// The time that all labels are drawn over.
pub struct Hours {
    /// Seconds since 1970.
    first: f64,
    /// Seconds by which the clock of the logs is ahead of UTC.
    zone: f64,
    /// Moments at which logs were cut, as they were given.
    cuts: Vec<(f64, String)>,
}

impl Hours {
    fn of(all: &[Label]) -> Option<Hours> {
        let first = all.iter().map(|label| label.start).reduce(f64::min)?;
        let zones: Vec<i64> = all.iter().map(|label| label.zone).collect();
        // Of logs of several clocks none is that of the page.
        let is_one = zones.iter().all(|zone| *zone == zones[0]);
        let zone = if is_one { zones[0] as f64 } else { 0.0 };
        let cuts = all.iter().filter_map(|label| label.side.as_ref());
        let mut cuts: Vec<(f64, String)> = cuts.map(|side| (side.at as f64, side.given.clone())).collect();
        cuts.sort_by(|a, b| a.0.total_cmp(&b.0));
        cuts.dedup_by(|a, b| a.0.total_cmp(&b.0).is_eq());
        Some(Hours { first, zone, cuts })
    }

    /// The place of a moment on the axis.
    pub fn at(&self, seconds: f64) -> f64 {
        seconds - self.first
    }

    /// ` (Tue 14:00)`, by the clock of the axis.
    fn when(&self, seconds: f64) -> String {
        let at = Moment::at(seconds + self.zone);
        at.map_or_else(String::new, |at| format!(" ({})", whole(&format!("{} {}", at.weekday(), at.time()))))
    }

    pub fn axis(&self) -> AxisSpec {
        let from =
            Moment::at(self.first + self.zone).map_or_else(String::new, |at| format!(" from {}", at.date()));
        let clock = if self.zone == 0.0 { "UTC" } else { "the log's clock" };
        AxisSpec::new(format!("time{from}, {clock}"), Kind::for_unit(Unit::Count))
            .clock(self.first + self.zone)
    }

    pub fn markers(&self) -> Vec<Marker> {
        let marker = |(at, given): &(f64, String)| Marker {
            at: self.at(*at),
            label: format!("cut {given}"),
            upright: true,
        };
        self.cuts.iter().map(marker).collect()
    }
}

/// The requests of one run.
struct Label {
    name: String,
    /// Seconds since 1970 at which its first hour begins.
    start: f64,
    requests: f64,
    /// Seconds since that, and the requests of the hour.
    rate: Vec<(f64, f64)>,
    times: Vec<(&'static str, Vec<(f64, f64)>)>,
    parts: Parts,
    /// Hours with requests, since 1970.
    served: BTreeSet<i64>,
    /// Hours of too few requests for a percentile are not in `times`.
    are_thin: bool,
    traffic: Option<Traffic>,
    over_time: Option<OverTimeDoc>,
    /// Seconds by which its clock is ahead of UTC.
    zone: i64,
    /// The side of a cut that it is.
    side: Option<LogsSideDoc>,
    beside: Option<BesideDoc>,
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
        let counts = hours(logs::REQUESTS.name())?;
        let requests = counts.iter().map(|(_, count)| count).sum();
        let start = (doc.started / HOUR).floor() * HOUR;
        let end = doc.seconds.map(|seconds| doc.started + seconds);
        let served = counts.iter().map(|(at, _)| ((start + at) / HOUR).floor() as i64).collect();
        let (counts, parts) = whole_hours(counts, doc.started - start, end.map(|end| end - start));
        let whole = |all: Vec<(f64, f64)>| -> Vec<(f64, f64)> {
            all.into_iter().filter(|hour| counts.iter().any(|known| known.0 == hour.0)).collect()
        };
        // An hour of few requests has a median and no percentile, as the whole log has none of few.
        let mut are_thin = false;
        let mut enough = |all: Vec<(f64, f64)>, share: f64| -> Vec<(f64, f64)> {
            let requests = |at: f64| counts.iter().find(|hour| hour.0 == at).map_or(0.0, |hour| hour.1);
            let tells = |hour: &(f64, f64)| share == 0.5 || has_percentile(requests(hour.0) as u64, share);
            let kept: Vec<(f64, f64)> = all.iter().copied().filter(tells).collect();
            are_thin |= kept.len() < all.len();
            kept
        };
        let times = PERCENTILES
            .iter()
            .filter_map(|(metric, name, share)| Some((*name, enough(whole(hours(metric)?), *share))))
            // Where few hours have enough, the slowest of them is not the slowest of all.
            .filter(|(_, hours)| !hours.is_empty() && 2 * hours.len() > counts.len())
            .collect();
        Some(Label {
            name: input.name(run),
            start,
            requests,
            served,
            are_thin,
            parts,
            rate: counts,
            times,
            traffic: data.traffic.clone(),
            over_time: doc.log.as_ref().map(|log| log.over_time.clone()),
            zone: doc.log.as_ref().map_or(0, |log| log.zone),
            side: doc.logs_side.clone(),
            beside: doc.beside.clone(),
        })
    }

    /// A line through the middles of its hours; an hour without requests breaks it.
    fn line(&self, name: &str, values: &[(f64, f64)], hours: &Hours) -> Series {
        let mut points: Vec<Point> = Vec::new();
        let mut before: Option<f64> = None;
        for (at, value) in values {
            let at = at + self.start + HOUR / 2.0;
            if before.is_some_and(|before| at - before > 1.5 * HOUR) {
                points.push(Point::gap(hours.at(at - HOUR)));
            }
            points.push(Point::at(hours.at(at), *value));
            before = Some(at);
        }
        Series { name: name.to_owned(), points, reference: false }
    }

    fn top(&self, several: bool) -> Vec<Markup> {
        let lists = self.traffic.iter().flat_map(|traffic| &traffic.top).filter(|top| !top.paths.is_empty());
        lists.map(|top| paths(top, if several { &self.name } else { "" })).collect()
    }
}

/// Hours at the ends of a log that it has only a part of.
#[derive(Default)]
struct Parts {
    names: Vec<&'static str>,
    /// Not drawn: as many others are left as make a line.
    are_left_out: bool,
}

/// Hours with the seconds at which each begins; without the first one where the log begins late in it, and without the
/// last one where it ends early in that.
fn whole_hours(all: Vec<(f64, f64)>, first: f64, end: Option<f64>) -> (Vec<(f64, f64)>, Parts) {
    let is_late = first > (1.0 - LEAST_OF_HOUR) * HOUR;
    let last = all.last().map_or(0.0, |(at, _)| *at);
    let is_early = end.is_some_and(|end| end < last + LEAST_OF_HOUR * HOUR);
    let is_part = |at: f64| is_late && at < HOUR || is_early && at >= last;
    let kept: Vec<(f64, f64)> = all.iter().copied().filter(|(at, _)| !is_part(*at)).collect();
    let names = [(is_late, "first"), (is_early, "last")];
    let names = names.into_iter().filter_map(|(is_part, name)| is_part.then_some(name)).collect();
    let are_left_out = kept.len() > 1;
    (if are_left_out { kept } else { all }, Parts { names, are_left_out })
}

/// Says of which hours the log has a part only; nothing where it has all of them.
fn not_whole(all: &[Label]) -> String {
    let has = |name: &&str| all.iter().any(|label| label.parts.names.contains(name));
    let names: Vec<&str> = ["first", "last"].into_iter().filter(has).collect();
    let are_left_out = all.iter().any(|label| label.parts.are_left_out);
    match names.as_slice() {
        [] => String::new(),
        names if are_left_out => {
            format!("; without the {} hour, which is not whole", names.join(" and the "))
        }
        names => format!("; the {} hour is not whole", names.join(" and the ")),
    }
}

/// Says that hours of few requests are left out, where there are such.
fn too_thin(all: &[Label]) -> String {
    match all.iter().any(|label| label.are_thin) {
        true => format!(
            "; without hours of too few requests for it (p99: {})",
            fixed(percentile_needs(0.99) as f64, 0)
        ),
        false => String::new(),
    }
}

fn rates(all: &[Label], hours: &Hours) -> Markup {
    let peak = |label: &Label| label.rate.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let most = all.iter().map(peak).fold(0.0, f64::max);
    let title = format!("Up to {} requests came in an hour", fixed(most, 0));
    LinePlot {
        markers: hours.markers(),
        ..LinePlot::new(
            Caption::new(title).subtitle(format!("requests of each hour{}", not_whole(all))),
            hours.axis(),
            AxisSpec::new("requests an hour", Kind::for_unit(Unit::Count)).from_zero(),
            all.iter().map(|label| label.line(&label.name, &label.rate, hours)).collect(),
        )
    }
    .render()
}

/// Requests a second of several labels on one axis, in steps as short as was stored; `None` where there is no such
/// label, or too few steps. The first and the last step of a log may be cut short and are left out.
fn together(all: &[Label], hours: &Hours) -> Option<Markup> {
    let lines: Vec<(&Label, OverTimeDoc)> = all
        .iter()
        .filter_map(|label| Some((label, folded(label.over_time.as_ref()?, MOST_STEPS))))
        .filter(|(_, steps)| steps.rows.len() >= LEAST_STEPS)
        .collect();
    if all.len() < 2 || lines.len() < all.len() {
        return None;
    }
    let whole = |steps: &OverTimeDoc| steps.rows[1..steps.rows.len() - 1].to_vec();
    let rate = |row: &OverTimeRow, step: f64| row.1 as f64 / step;
    let peaks = lines.iter().flat_map(|(label, steps)| {
        whole(steps).into_iter().map(|row| (&label.name, rate(&row, steps.step), steps.step))
    });
    let (name, most, step) = peaks.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (most_said, step_said) = (per_second(most), duration(step));
    let is_even = lines.iter().all(|(label, steps)| {
        let own = whole(steps).into_iter().map(|row| rate(&row, steps.step)).fold(0.0, f64::max);
        label.name == *name || own >= EVEN * most
    });
    let title = match is_even {
        true => format!("Each had up to {most_said} in {step_said}"),
        false => format!("{name} had the most requests at once: {most_said} in {step_said}"),
    };
    let series = lines.iter().map(|(label, steps)| {
        let middle = steps.step / 2.0;
        let point = |row: OverTimeRow| Point::at(hours.at(row.0 + middle), rate(&row, steps.step));
        Series {
            name: label.name.clone(),
            points: whole(steps).into_iter().map(point).collect(),
            reference: false,
        }
    });
    let said = format!("requests a second of each {step_said}, all on one axis");
    let plot = LinePlot {
        markers: hours.markers(),
        ..LinePlot::new(
            Caption::new(title).subtitle(said),
            hours.axis(),
            AxisSpec::new("requests a second", Kind::for_unit(Unit::PerSec)).from_zero(),
            series.collect(),
        )
    };
    Some(plot.render())
}

/// The hour with the longest time, and that time.
fn slowest(times: &[(f64, f64)]) -> Option<(f64, f64)> {
    times.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// A percentile of all labels on one axis.
fn times_beside((percentile, share): &(&str, &str), all: &[Label], hours: &Hours) -> Option<Markup> {
    let of = |label: &Label| {
        label.times.iter().find(|(name, _)| name == percentile).map(|(_, hours)| hours.clone())
    };
    let lines: Vec<(&Label, Vec<(f64, f64)>)> =
        all.iter().filter_map(|label| Some((label, of(label)?))).collect();
    let worst =
        |(label, times): &(&Label, Vec<(f64, f64)>)| Some((label.name.clone(), slowest(times)?, label.start));
    let (name, (at, most), start) = lines.iter().filter_map(worst).max_by(|a, b| a.1.1.total_cmp(&b.1.1))?;
    let most = whole(&quantity(most, Kind::for_unit(Unit::Second)));
    let when = hours.when(start + at);
    let title = format!("{share} of the requests took at most {most} in the slowest hour{when}, of {name}");
    let too = with_failures(all);
    let said = format!(
        "{percentile} of each hour's times in the server{too}, to 3 %, all on one axis{}{}",
        not_whole(all),
        if *percentile == "p50" { String::new() } else { too_thin(all) }
    );
    let series = lines.iter().map(|(label, values)| label.line(&label.name, values, hours)).collect();
    let plot = LinePlot {
        markers: hours.markers(),
        ..LinePlot::new(
            Caption::new(title).subtitle(said),
            hours.axis(),
            AxisSpec::new(*percentile, Kind::for_unit(Unit::Second)).log(),
            series,
        )
    };
    Some(plot.render())
}

/// Where the server failed requests: that they are among the times.
fn with_failures(all: &[Label]) -> &'static str {
    let failed = |label: &Label| {
        let statuses = label.traffic.as_ref().map(|traffic| &traffic.group.statuses);
        statuses.is_some_and(|all| all.iter().any(|(status, count)| *status >= 500 && *count > 0))
    };
    if all.iter().any(failed) { " of all answers, 5xx too" } else { "" }
}

fn times(label: &Label, hours: &Hours, several: bool) -> Option<Markup> {
    let worst = |percentile: &str| {
        let (at, worst) = slowest(&label.times.iter().find(|(name, _)| *name == percentile)?.1)?;
        Some((whole(&quantity(worst, Kind::for_unit(Unit::Second))), hours.when(label.start + at)))
    };
    let of = if several { format!("{}: ", label.name) } else { String::new() };
    let title = match worst("p99") {
        Some((time, when)) => format!("{of}1 request in 100 took over {time} in the slowest hour{when}"),
        None => {
            let (time, when) = worst("p50")?;
            let half = if several { "half" } else { "Half" };
            format!(
                "{of}{half} of the requests took at most {time} in the slowest hour{when}; most hours have too few requests \
                 for a 99th percentile"
            )
        }
    };
    let own = std::slice::from_ref(label);
    let plot = LinePlot::new(
        Caption::new(title).subtitle(format!(
            "time in the server{}, each hour's percentiles{}{}",
            with_failures(own),
            not_whole(own),
            too_thin(own)
        )),
        hours.axis(),
        AxisSpec::new("time", Kind::for_unit(Unit::Second)).log(),
        label.times.iter().map(|(name, values)| label.line(name, values, hours)).collect(),
    );
    Some(plot.render())
}

/// Failures of servers, how fast they serve, and where the difference is.
fn title(all: &[Label], rows: &[&RowDoc], findings: &[&Finding]) -> String {
    let failures = findings.iter().filter(|one| one.rule.is_told_first()).map(|finding| finding.text());
    failures.chain([served(all, rows, findings)]).collect::<Vec<_>>().join(" ")
}

/// The comparison in a sentence, or how much was read.
fn served(all: &[Label], rows: &[&RowDoc], findings: &[&Finding]) -> String {
    logs_compared::served(rows, findings).unwrap_or_else(|| {
        let requests: f64 = all.iter().map(|label| label.requests).sum();
        format!("Access logs: {} requests in {}", fixed(requests, 0), extent(all))
    })
}

/// `48 hours`, from the first one of all logs to the last one; `24 of 192 hours` where there were none in some.
fn extent(all: &[Label]) -> String {
    let served: BTreeSet<i64> = all.iter().flat_map(|label| label.served.iter().copied()).collect();
    let whole = served.first().zip(served.last()).map_or(0, |(first, last)| last.abs_diff(*first) + 1);
    let whole = usize::try_from(whole).unwrap_or(usize::MAX);
    match served.len() == whole {
        true => count(whole, "hour"),
        false => format!("{} of {}", fixed(served.len() as f64, 0), count(whole, "hour")),
    }
}

fn paths(top: &TopDoc, label: &str) -> Markup {
    let of = if label.is_empty() { String::new() } else { format!("{label}: ") };
    let heads = [
        (top.of.as_str(), Column::Text),
        ("requests", Column::Number),
        ("bytes", Column::Number),
        ("time", Column::Number),
    ];
    let told = |value: Option<f64>, unit| {
        value.map_or("-".to_owned(), |value| quantity(value, Kind::for_unit(unit)))
    };
    let row = |path: &model::doc::PathDoc| {
        vec![
            html! { code { (cut_front(&path.path, LONGEST)) } },
            html! { (fixed(path.requests, 0)) },
            html! { (told(path.bytes, Unit::Byte)) },
            html! { (told(path.seconds, Unit::Second)) },
        ]
    };
    let rows: Vec<Vec<Markup>> = top.paths.iter().take(MOST).map(row).collect();
    page::card(&format!("{of}top {}s by {}", top.of, top.by), &page::table(&heads, &rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_that_are_not_whole_are_not_drawn() {
        let hours = |count: u32| (0..count).map(|hour| (f64::from(hour) * HOUR, 100.0)).collect::<Vec<_>>();
        let drawn = |count, first: f64, end: f64| {
            let (kept, parts) = whole_hours(hours(count), first, Some(end));
            (kept.len(), parts.names, parts.are_left_out)
        };
        assert_eq!(drawn(4, 20.0, 4.0 * HOUR - 30.0), (4, vec![], true));
        assert_eq!(drawn(4, 20.0, 3.0 * HOUR + 1.0), (3, vec!["last"], true));
        assert_eq!(drawn(4, 1800.0, 3.5 * HOUR), (2, vec!["first", "last"], true));
        // Of fewer than two others there would be no line.
        assert_eq!(drawn(3, 1800.0, 2.5 * HOUR), (3, vec!["first", "last"], false));
        let unknown = whole_hours(hours(2), 0.0, None);
        assert!(unknown.0.len() == 2 && unknown.1.names.is_empty());
    }
}
