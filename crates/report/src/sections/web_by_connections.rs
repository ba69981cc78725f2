//! Web serving by connections, generators and size: throughput with intervals, the tail of response times below.
//!
//! Hollow points are lower bounds: the load generator, not the server, set them. Refused figures are not drawn.

use maud::{Markup, html};
use model::Params;
use model::doc::{CurveDoc, CurvePointDoc, EstimateDoc, RunDoc};
use model::format::{Kind, fixed, quantity};
use model::names::load::{OWN_SERVER, unusual};
use model::unit::Unit;
use model::{Card, card, names};

use super::takes;
use crate::page;
use crate::plot::line::{Marker, Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section, sentence};
use crate::web_loads::{curves, heading, is_refused, loads, percentile, served};

pub static SECTION: Section = Section::by_run(41, draw);

/// Lines of one plot; the tables have the rest.
const MOST_LINES: usize = 8;

fn draw(input: &ReportInput) -> Option<Markup> {
    let groups = groups(input);
    let mut plots: Vec<Markup> = groups.iter().flat_map(Group::plots).collect();
    let title = groups.iter().find_map(Group::title).or_else(|| takes::title(input, "web", "Web serving"));
    // The first screen has the takes of a run of few loads and nothing else.
    let others = |run: &RunDoc| run.series.iter().any(|series| !names::is_load(series.card));
    let shown = input.runs.len() == 1 && input.runs.iter().all(|(run, _)| !others(run));
    let few = input.runs.iter().all(|(run, _)| loads(run).len() <= crate::web_loads::MANY);
    if few && !shown {
        plots.extend(takes::plots(input, "web"));
    }
    let rest = groups.iter().flat_map(Group::notes).collect::<Vec<_>>();
    let body = html! {
        (page::grid(&plots))
        @for note in &rest { p class="note" { (page::prose(note)) } }
    };
    (!plots.is_empty()).then(|| page::section("web", &title.unwrap_or_default(), &body))
}

/// The first sweep of the report, for the first screen.
pub fn glance(input: &ReportInput) -> Markup {
    html! { @if let Some(group) = groups(input).first() { (group.rates(Place::FirstScreen)) } }
}

/// True where a point has an interval, which the subtitle then explains.
pub fn has_intervals(series: &[Series]) -> bool {
    series.iter().flat_map(|line| &line.points).any(|point| point.interval.is_some())
}

/// Where a plot stands: the title of a section has said the finding already.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    FirstScreen,
    Section,
}

/// One curve as a line.
struct Line<'a> {
    run: usize,
    curve: &'a CurveDoc,
    /// Run, arm, generators and connections, as far as they differ from the plot's other lines.
    name: String,
}

/// Curves over the same thing of the same setup but for arms, runs and generators.
struct Group<'a> {
    card: Option<&'static Card>,
    over: &'a str,
    rest: Params,
    /// The server's name; empty where the lines are of several.
    server: String,
    lines: Vec<Line<'a>>,
}

/// Curves of all runs, those that belong into one plot together.
fn groups(input: &ReportInput) -> Vec<Group<'_>> {
    let mut out: Vec<Group<'_>> = Vec::new();
    for over in ["connections", "generators"] {
        for (run, (doc, data)) in input.runs.iter().enumerate().take(input.drawn().end) {
            let arms = data.plan.arm_keys();
            for curve in curves(doc, over) {
                let mut rest = curve.params.without(&arms);
                rest.retain(|name, _| name != "generators" && name != "connections");
                // Two counts of generators are two lines over connections already.
                if over == "generators" && out.iter().any(|group| group.over != over && group.rest == rest) {
                    continue;
                }
                let line = Line { run, curve, name: String::new() };
                match out.iter_mut().find(|group| group.over == over && group.rest == rest) {
                    Some(group) => group.lines.push(line),
                    None => {
                        // Arms that differ in the server have no name in common.
                        let differ =
                            ["server", "mpm", "binary", "url"].iter().any(|name| arms.get(name).is_some());
                        let server = if differ { String::new() } else { served(doc, &rest) };
                        let card = card::find(doc.cards, &curve.instrument);
                        out.push(Group { card, over, rest, server, lines: vec![line] });
                    }
                }
            }
        }
    }
    for group in &mut out {
        let names: Vec<String> = group.lines.iter().map(|line| name(input, group, line)).collect();
        group.lines.iter_mut().zip(names).for_each(|(line, name)| line.name = name);
    }
    out.sort_by_key(|group| (group.is_bandwidth(), group.over != "connections"));
    out
}

/// The name of a line: run, arm, generators and connections, as far as they differ from those of the other lines.
fn name(input: &ReportInput, group: &Group<'_>, line: &Line<'_>) -> String {
    let mut words = Vec::new();
    if group.lines.iter().any(|other| other.run != line.run) {
        words.push(input.name(line.run));
    }
    if group.lines.iter().any(|other| other.curve.arm != line.curve.arm) {
        words.push(arm_named(group.card, &line.curve.arm));
    }
    for what in ["generators", "connections"] {
        let of = |line: &Line<'_>| line.curve.params.get(what).map(str::to_owned);
        let own = of(line).filter(|own| group.lines.iter().any(|other| of(other).as_ref() != Some(own)));
        words.extend(own.map(|count| counted(&count, what)));
    }
    words.join(", ")
}

/// An arm as a line's name: `event, no sendfile` for `mpm=event;sendfile=off`.
pub fn arm_named(card: Option<&'static Card>, arm: &str) -> String {
    let Ok(set) = Params::parse(arm) else { return arm.to_owned() };
    let server = ["server", "mpm", "binary", "url"].into_iter().filter_map(|name| set.get(name));
    let mut words: Vec<String> = match (set.get("mpm"), set.get("server")) {
        (Some(mpm), _) => vec![mpm.to_owned()],
        (None, Some("builtin")) => vec![OWN_SERVER.to_owned()],
        _ => server.map(str::to_owned).collect(),
    };
    let never = ["binary", "url"];
    let always = ["sendfile", "keepalive", "connections", "generators", "cache"];
    words.extend(unusual(card, &set, &always, &never));
    if words.is_empty() { arm.to_owned() } else { words.join(", ") }
}

/// `1 generator`, `2 generators`
fn counted(count: &str, what: &str) -> String {
    if count == "1" { format!("1 {}", what.trim_end_matches('s')) } else { format!("{count} {what}") }
}

impl Group<'_> {
    /// Few readers of large files are about bytes, not requests.
    fn is_bandwidth(&self) -> bool {
        self.rest.get("content") == Some("large")
    }

    /// `nginx, no keep-alive`
    fn setup(&self) -> String {
        let mut words = vec![self.server.clone()];
        words.retain(|word| !word.is_empty());
        let never: &[&str] = if self.is_bandwidth() { &["content"] } else { &[] };
        words.extend(unusual(self.card, &self.rest, &[], never));
        if words.is_empty() { "the server".to_owned() } else { words.join(", ") }
    }

    fn unit(&self) -> (&'static str, &'static str, Kind) {
        match self.over {
            "generators" => ("generators", "generator", Kind::for_unit(Unit::Count).plain()),
            _ if self.is_bandwidth() => ("readers", "reader", Kind::for_unit(Unit::Count).plain()),
            _ => ("connections", "connection", Kind::for_unit(Unit::Count).plain()),
        }
    }

    /// The highest figure of all lines, and where.
    fn best(&self) -> Option<(&Line<'_>, &CurvePointDoc, f64)> {
        let value = |point: &CurvePointDoc| self.value(point).and_then(|estimate| estimate.value);
        let all = self.lines.iter().flat_map(|line| line.curve.points.iter().map(move |point| (line, point)));
        all.filter(|(_, point)| !is_refused(point))
            .filter_map(|(line, point)| Some((line, point, value(point)?)))
            .max_by(|a, b| a.2.total_cmp(&b.2))
    }

    fn value<'p>(&self, point: &'p CurvePointDoc) -> Option<&'p EstimateDoc> {
        if self.is_bandwidth() { point.bandwidth.as_ref() } else { Some(&point.throughput) }
    }

    /// The same as a heading.
    fn title(&self) -> Option<String> {
        let (line, ..) = self.best()?;
        let name = if self.server.is_empty() { &line.name } else { &self.server };
        Some(heading(name, &self.said()?))
    }

    /// `nginx serves up to 61.2 k/s, with 100 connections`
    fn said(&self) -> Option<String> {
        let (line, point, value) = self.best()?;
        let (many, one, _) = self.unit();
        let with = if point.x == 1.0 { format!("1 {one}") } else { format!("{} {many}", fixed(point.x, 0)) };
        let bound = if point.lower_bound { "at least" } else { "up to" };
        let name = if line.name.is_empty() { String::new() } else { format!(" ({})", line.name) };
        let anonymous = self.server.is_empty() && !line.name.is_empty();
        let (setup, name) = if anonymous { (line.name.clone(), String::new()) } else { (self.setup(), name) };
        Some(if self.is_bandwidth() {
            let rate = quantity(value, Kind::for_unit(Unit::BytesPerSec));
            format!("{setup} delivers {bound} {rate} of large files, to {with}{name}")
        } else {
            format!(
                "{setup} serves {bound} {}, with {with}{name}",
                quantity(value, Kind::for_unit(Unit::PerSec))
            )
        })
    }

    /// `2 generators: 59.0 k/s at 1000 connections; 100 reach it within 3 %`
    fn peaks(&self) -> Option<String> {
        let (line, ..) = self.best()?;
        let text = &line.curve.peak.as_ref().filter(|_| !self.is_bandwidth())?.text;
        Some(if line.name.is_empty() { sentence(text) } else { format!("{}: {text}", line.name) })
    }

    fn plots(&self) -> Vec<Markup> {
        let mut out = vec![self.rates(Place::Section)];
        if !self.is_bandwidth() {
            out.extend(self.times());
        }
        out
    }

    fn lines(&self, of: impl Fn(&CurvePointDoc) -> Option<&EstimateDoc>, bars: bool) -> Vec<Series> {
        let line = |line: &Line<'_>| {
            let point = |at: &CurvePointDoc| {
                let estimate = of(at)?;
                let y = estimate.value.filter(|_| !is_refused(at))?;
                let interval = estimate.interval();
                Some(Point { interval, hollow: at.lower_bound, bar: bars, ..Point::at(at.x, y) })
            };
            let points = line.curve.points.iter().filter_map(point).collect();
            Series { name: line.name.clone(), points, reference: false }
        };
        self.lines.iter().take(MOST_LINES).map(line).collect()
    }

    fn rates(&self, place: Place) -> Markup {
        let bandwidth = self.is_bandwidth();
        let (kind, what) = if bandwidth {
            (Kind::for_unit(Unit::BytesPerSec), "bandwidth")
        } else {
            (Kind::for_unit(Unit::PerSec), "throughput")
        };
        let mut markers: Vec<Marker> = Vec::new();
        if let [only] = self.lines.as_slice()
            && let Some(peak) = &only.curve.peak
        {
            markers.push(Marker { at: peak.x, label: "peak".to_owned(), upright: true });
        }
        let said = if place == Place::Section { self.peaks() } else { None };
        let title = said.or_else(|| self.title()).unwrap_or_else(|| heading(&self.server, &self.setup()));
        let bounds = self.lines.iter().flat_map(|line| &line.curve.points).any(|point| point.lower_bound);
        let hollow = if bounds { "; hollow = a lower bound, set by the generator" } else { "" };
        let (many, ..) = self.unit();
        let series = self.lines(|point| self.value(point), true);
        let bars = if has_intervals(&series) { "; bars = 95 % intervals" } else { "" };
        LinePlot {
            markers,
            ..LinePlot::new(
                Caption::new(title).subtitle(format!("good answers by {many}{bars}{hollow}")),
                self.axis(),
                AxisSpec::new(what, kind).from_zero(),
                series,
            )
        }
        .render()
    }

    fn axis(&self) -> AxisSpec {
        let (many, _, kind) = self.unit();
        let widest = self.lines.iter().flat_map(|line| line.curve.points.last()).map(|point| point.x);
        let axis = AxisSpec::new(many, kind);
        if widest.fold(0.0, f64::max) > 32.0 { axis.log() } else { axis.log2() }
    }

    /// The 99th percentile of response times; the median too where one line leaves room for it.
    fn times(&self) -> Option<Markup> {
        let of = |quantile: f64| move |point: &CurvePointDoc| percentile_of(point, quantile);
        let mut series = self.lines(|point| percentile(&point.response, 0.99), false);
        if let [only] = series.as_mut_slice() {
            "p99".clone_into(&mut only.name);
            let median = self.lines(|point| percentile(&point.response, 0.5), false);
            series.extend(median.into_iter().map(|line| Series { name: "p50".to_owned(), ..line }));
        }
        if series.iter().all(|line| line.points.is_empty()) {
            return None;
        }
        let (_, at, _) = self.best()?;
        let (many, one, _) = self.unit();
        let with = if at.x == 1.0 { format!("1 {one}") } else { format!("{} {many}", fixed(at.x, 0)) };
        let title = format!("With {with}, {}", half_and_tail(of(0.5)(at), of(0.99)(at)));
        let bands = if has_intervals(&series) { "; bands = 95 % intervals" } else { "" };
        let plot = LinePlot::new(
            Caption::new(title).subtitle(format!("response times of all takes together{bands}")),
            self.axis(),
            AxisSpec::new(
                if self.lines.len() > 1 { "p99 response time" } else { "response time" },
                Kind::for_unit(Unit::Second),
            )
            .log(),
            series,
        );
        Some(plot.render())
    }

    /// Why a curve lacks a mark, and how many lines are not drawn.
    fn notes(&self) -> Vec<String> {
        let why = self.lines.iter().filter_map(|line| line.curve.why.clone());
        let mut out: Vec<String> = why.collect();
        out.dedup();
        if self.lines.len() > MOST_LINES {
            out.push(format!("{} more lines are in the tables", self.lines.len() - MOST_LINES));
        }
        out
    }
}

/// `half of the answers take 1.20 ms, 1 in 100 more than 4.00 ms`, in seconds, as far as there were answers enough.
pub fn half_and_tail(half: Option<f64>, tail: Option<f64>) -> String {
    let time = |seconds: f64| quantity(seconds, Kind::for_unit(Unit::Second));
    let Some(half) = half.filter(|half| half.is_finite()).map(time) else {
        return "fewer than half of the requests had a good answer".to_owned();
    };
    match tail {
        Some(tail) if tail.is_finite() => {
            format!("half of the answers take {half}, 1 in 100 more than {}", time(tail))
        }
        Some(_) => format!("half of the answers take {half}, more than 1 in 100 requests failed"),
        None => format!("half of the answers take {half}; too few answers for a 99th percentile"),
    }
}

fn percentile_of(point: &CurvePointDoc, quantile: f64) -> Option<f64> {
    percentile(&point.response, quantile)?.value
}
