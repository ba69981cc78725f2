//! Web serving by connections, generators and size: throughput with intervals, the tail of response times below.
//!
//! Hollow points are lower bounds: the load generator, not the server, set them. Refused figures are not drawn.

use maud::{Markup, html};
use model::Params;
use model::doc::{CurveDoc, CurvePointDoc, EstimateDoc};
use model::unit::Unit;

use super::takes;
use crate::number::{Kind, fixed, quantity};
use crate::page;
use crate::plot::line::{Marker, Point, Series};
use crate::plot::{Caption, LinePlot, Size};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section, sentence};
use crate::text::names::web::{server, unusual};
use crate::web::{curves, is_refused, loads, percentile};

pub struct WebSweep;
pub static SECTION: WebSweep = WebSweep;

/// Lines of one plot; the tables have the rest.
const MOST_LINES: usize = 8;

impl Section for WebSweep {
    fn rank(&self) -> u32 {
        41
    }

    fn draw(&self, input: &ReportInput) -> Option<Markup> {
        let groups = groups(input);
        let mut plots: Vec<Markup> = groups.iter().flat_map(Group::plots).collect();
        let title = groups.iter().find_map(Group::said).or_else(|| takes::title(input, "web", "Web serving"));
        let single = input.runs.iter().all(|(run, _)| loads(run).len() <= crate::web::MANY);
        if single {
            plots.extend(takes::plots(input, "web"));
        }
        let rest = groups.iter().flat_map(Group::notes).collect::<Vec<_>>();
        let body = html! {
            (page::grid(&plots))
            @for note in &rest { p class="note" { (crate::plot::tied(note)) } }
        };
        (!plots.is_empty()).then(|| page::section("web", &title.unwrap_or_default(), &body))
    }
}

/// One curve as a line.
struct Line<'a> {
    curve: &'a CurveDoc,
    name: String,
}

/// Curves over the same thing of the same setup but for arms, runs and generators.
struct Group<'a> {
    over: &'a str,
    rest: Params,
    lines: Vec<Line<'a>>,
}

/// Curves of all runs, those that belong into one plot together.
fn groups(input: &ReportInput) -> Vec<Group<'_>> {
    let mut out: Vec<Group<'_>> = Vec::new();
    for over in ["connections", "generators"] {
        for (run, (doc, data)) in input.runs.iter().enumerate() {
            let arms = data.plan.arm_keys();
            for curve in curves(doc, over) {
                let mut rest = curve.params.without(&arms);
                rest.0.remove("generators");
                let line = Line { curve, name: name(input, run, curve) };
                match out.iter_mut().find(|group| group.over == over && group.rest == rest) {
                    Some(group) => group.lines.push(line),
                    None => out.push(Group { over, rest, lines: vec![line] }),
                }
            }
        }
    }
    out.sort_by_key(|group| (group.is_bandwidth(), group.over != "connections"));
    out
}

/// What tells a line from the others: run, arm, generators.
fn name(input: &ReportInput, run: usize, curve: &CurveDoc) -> String {
    let mut words = Vec::new();
    if input.runs.len() > 1 {
        words.push(input.name(run));
    }
    if !curve.arm.is_empty() {
        words.push(curve.arm.clone());
    }
    let all = input.runs.get(run).map_or(0, |(doc, _)| {
        let of = curves(doc, &curve.over).filter(|other| other.arm == curve.arm);
        let mut counts: Vec<&str> = of.filter_map(|other| other.params.get("generators")).collect();
        counts.sort_unstable();
        counts.dedup();
        counts.len()
    });
    if let Some(count) = curve.params.get("generators").filter(|_| all > 1) {
        words.push(if count == "1" { "1 generator".to_owned() } else { format!("{count} generators") });
    }
    words.join(", ")
}

impl Group<'_> {
    /// Few readers of large files are about bytes, not requests.
    fn is_bandwidth(&self) -> bool {
        self.rest.get("content") == Some("large")
    }

    /// `nginx, no keep-alive`
    fn setup(&self) -> String {
        let mut words = vec![server(&self.rest)];
        words.retain(|word| !word.is_empty());
        words.extend(unusual(&self.rest, &[], &["generators", "connections"]));
        if words.is_empty() { "web".to_owned() } else { words.join(", ") }
    }

    fn unit(&self) -> (&'static str, &'static str, Kind) {
        match self.over {
            "generators" => ("generators", "generator", Kind::of(Unit::Count).plain()),
            _ if self.is_bandwidth() => ("readers", "reader", Kind::of(Unit::Count).plain()),
            _ => ("connections", "connection", Kind::of(Unit::Count).plain()),
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

    /// `nginx serves up to 61.2 k/s, with 100 connections`
    fn said(&self) -> Option<String> {
        let (line, point, value) = self.best()?;
        let peak = line.curve.peak.as_ref().map_or(point.x, |peak| peak.x);
        let (unit, kind) = if self.is_bandwidth() {
            ("delivers", Kind::of(Unit::BytesPerSec))
        } else {
            ("serves", Kind::of(Unit::PerSec))
        };
        let (many, one, _) = self.unit();
        let with = if peak == 1.0 { format!("1 {one}") } else { format!("{} {many}", fixed(peak, 0)) };
        let bound = if point.lower_bound { "at least" } else { "up to" };
        let name = if line.name.is_empty() { String::new() } else { format!(" ({})", line.name) };
        Some(sentence(&format!(
            "{} {unit} {bound} {}, with {with}{name}",
            self.setup(),
            quantity(value, kind)
        )))
    }

    fn plots(&self) -> Vec<Markup> {
        let mut out = vec![self.rates()];
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
                let interval = estimate.low.zip(estimate.high);
                Some(Point { interval, hollow: at.lower_bound, bar: bars, ..Point::at(at.x, y) })
            };
            let points = line.curve.points.iter().filter_map(point).collect();
            Series { name: line.name.clone(), points, reference: false }
        };
        self.lines.iter().take(MOST_LINES).map(line).collect()
    }

    fn rates(&self) -> Markup {
        let bandwidth = self.is_bandwidth();
        let (kind, what) = if bandwidth {
            (Kind::of(Unit::BytesPerSec), "bandwidth")
        } else {
            (Kind::of(Unit::PerSec), "throughput")
        };
        let mut markers: Vec<Marker> = Vec::new();
        if let [only] = self.lines.as_slice()
            && let Some(peak) = &only.curve.peak
        {
            markers.push(Marker { at: peak.x, label: "peak".to_owned(), upright: true });
        }
        let bounds = self.lines.iter().flat_map(|line| &line.curve.points).any(|point| point.lower_bound);
        let hollow = if bounds { "; hollow = a lower bound, set by the generator" } else { "" };
        let (many, ..) = self.unit();
        LinePlot {
            caption: Caption::new(self.said().unwrap_or_else(|| self.setup()))
                .subtitle(format!("good answers by {many}; bars = 95 % intervals{hollow}")),
            x: self.axis(),
            y: AxisSpec::new(what, kind).from_zero(),
            series: self.lines(|point| self.value(point), true),
            markers,
            spans: Vec::new(),
            size: Size::Cell,
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
        let (line, best, _) = self.best()?;
        let (many, one, _) = self.unit();
        let peak = line.curve.peak.as_ref();
        let at = peak.and_then(|peak| line.curve.points.iter().find(|p| p.x == peak.x)).unwrap_or(best);
        let time = |quantile: f64| {
            of(quantile)(at).map_or("-".to_owned(), |time| quantity(time, Kind::of(Unit::Second)))
        };
        let with = if at.x == 1.0 { format!("1 {one}") } else { format!("{} {many}", fixed(at.x, 0)) };
        let title =
            format!("With {with}, half of the answers take {}, 1 in 100 more than {}", time(0.5), time(0.99));
        let plot = LinePlot {
            caption: Caption::new(title)
                .subtitle("response times of all takes together; bands = 95 % intervals"),
            x: self.axis(),
            y: AxisSpec::new(
                if self.lines.len() > 1 { "p99 response time" } else { "response time" },
                Kind::of(Unit::Second),
            )
            .log(),
            series,
            markers: Vec::new(),
            spans: Vec::new(),
            size: Size::Cell,
        };
        Some(plot.render())
    }

    /// What the curves leave open, and lines beyond those that are drawn.
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

fn percentile_of(point: &CurvePointDoc, quantile: f64) -> Option<f64> {
    percentile(&point.response, quantile)?.value
}
