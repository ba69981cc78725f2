//! Web serving by offered load: response times at rates that the generator keeps, up to where the server saturates.
//!
//! Response time is counted from when a request was due, service time from when it was sent: they part where requests
//! had to wait for a connection. Refused figures are not drawn.

use maud::{Markup, html};
use model::data::RunData;
use model::doc::{CurveDoc, CurveMarkDoc, CurvePointDoc, EstimateDoc, PercentileDoc, RunDoc};
use model::format::{Kind, percent, quantity};
use model::metrics::load;
use model::names::load::unusual;
use model::unit::Unit;

use super::web_by_connections::{arm_named, has_intervals};
use crate::page;
use crate::plot::line::{Marker, Point, Series, Span};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section};
use crate::web_loads::{curves, heading, is_refused, percentile, served};

pub static SECTION: Section = Section::by_run(42, draw);

/// Response and service time closer than this are one line.
const APART: f64 = 1.1;
const PERCENTILES: [(f64, &str); 4] = [(0.5, "p50"), (0.9, "p90"), (0.99, "p99"), (0.999, "p99.9")];

fn draw(input: &ReportInput) -> Option<Markup> {
    let all = open_loops(input);
    let title = all.iter().find_map(Open::said)?;
    let mut plots: Vec<Markup> = together(&all);
    plots.extend(all.iter().flat_map(|one| one.plots(all.len() == 1)));
    let notes: Vec<String> = all.iter().flat_map(Open::notes).collect();
    let body = html! {
        (page::grid(&plots))
        @for note in &notes { p class="note" { (page::prose(note)) } }
    };
    Some(page::section("web-load", &title, &body))
}

/// The first curve of the report, for the first screen.
pub fn glance(input: &ReportInput) -> Markup {
    html! { @if let Some(first) = open_loops(input).first() { (first.times()) } }
}

/// One curve over offered load.
struct Open<'a> {
    curve: &'a CurveDoc,
    doc: &'a RunDoc,
    data: &'a RunData,
    /// Run and arm, where there are several.
    name: String,
}

fn open_loops(input: &ReportInput) -> Vec<Open<'_>> {
    let several = input.runs.len() > 1;
    let mut out = Vec::new();
    for (run, (doc, data)) in input.runs.iter().enumerate().take(input.drawn().end) {
        for curve in curves(doc, load::OFFERED.name()) {
            let card = model::card::find(doc.cards, &curve.instrument);
            let run = several.then(|| input.name(run));
            let name: Vec<String> = run
                .into_iter()
                .chain([arm_named(card, &curve.arm)])
                .filter(|word| !word.is_empty())
                .collect();
            out.push(Open { curve, doc, data, name: name.join(", ") });
        }
    }
    out
}

impl Open<'_> {
    fn points(&self) -> impl Iterator<Item = &CurvePointDoc> {
        self.curve.points.iter().filter(|point| !is_refused(point))
    }

    fn card(&self) -> Option<&'static model::Card> {
        model::card::find(self.doc.cards, &self.curve.instrument)
    }

    fn setup(&self) -> String {
        let mut words = vec![served(self.doc, &self.curve.params)];
        words.retain(|word| !word.is_empty());
        words.extend(unusual(
            self.card(),
            &self.curve.params,
            &[],
            &["arrivals", "connections", "generators"],
        ));
        if words.is_empty() { "the server".to_owned() } else { words.join(", ") }
    }

    /// `nginx keeps up to 61.2 k/s; at 45.9 k/s (the knee) 1 in 100 answers takes more than 740 us`
    fn said(&self) -> Option<String> {
        let rate = |value: f64| quantity(value, Kind::for_unit(Unit::PerSec));
        let held = match &self.curve.peak {
            Some(peak) => format!("{} keeps up with {}", self.setup(), rate(sustained(peak))),
            None => format!("{} keeps up with none of the offered loads", self.setup()),
        };
        let knee = self.curve.knee.as_ref();
        let at = knee.or(self.curve.peak.as_ref()).map(|mark| mark.x);
        let point = self.points().find(|point| Some(point.x) == at);
        let tail = point.and_then(|point| percentile(&point.response, 0.99)?.value).map(|time| {
            let what = if knee.is_some() { " (the knee)" } else { "" };
            let at = rate(at.unwrap_or(0.0));
            format!(
                "; at {at}{what} 1 in 100 answers takes more than {}",
                quantity(time, Kind::for_unit(Unit::Second))
            )
        });
        let said = format!("{held}{}", tail.unwrap_or_default());
        Some(self.named(&served(self.doc, &self.curve.params), &said))
    }

    fn plots(&self, alone: bool) -> Vec<Markup> {
        let served = alone.then(|| self.served()).flatten();
        [Some(self.times()), served, self.failures()].into_iter().flatten().collect()
    }

    fn line(&self, name: &str, of: impl Fn(&CurvePointDoc) -> Option<&EstimateDoc>) -> Series {
        let point = |at: &CurvePointDoc| {
            let estimate = of(at)?;
            let interval = estimate.interval();
            Some(Point { interval, hollow: at.lower_bound, ..Point::at(at.x, estimate.value?) })
        };
        Series { name: name.to_owned(), points: self.points().filter_map(point).collect(), reference: false }
    }

    fn marks(&self) -> Vec<Marker> {
        let mark = |x: f64, label: &str| Marker { at: x, label: label.to_owned(), upright: true };
        let (knee, peak) = (self.curve.knee.as_ref(), self.curve.peak.as_ref());
        match (knee, peak) {
            (Some(knee), Some(peak)) if knee.x == peak.x => vec![mark(knee.x, "knee, saturation")],
            _ => knee
                .map(|knee| mark(knee.x, "knee"))
                .into_iter()
                .chain(peak.map(|peak| mark(peak.x, "saturation")))
                .collect(),
        }
    }

    /// Response times by percentile, service times where they are shorter, loads with failures shaded.
    fn times(&self) -> Markup {
        let mut series: Vec<Series> = PERCENTILES
            .into_iter()
            .map(|(quantile, name)| self.line(name, |point| percentile(&point.response, quantile)))
            .collect();
        // Bands of all would hide each other.
        series.iter_mut().filter(|line| line.name != "p50" && line.name != "p99").for_each(without_band);
        for (quantile, name) in [(0.5, "service p50"), (0.99, "service p99")] {
            if self.points().any(|point| is_apart(point, quantile)) {
                let line = self.line(name, |point| percentile(&point.service, quantile));
                series.push(Series { reference: true, ..line });
                series.last_mut().into_iter().for_each(without_band);
            }
        }
        series.retain(|line| !line.points.is_empty());
        let spans = self.failed_spans();
        let shaded = if spans.is_empty() { "" } else { "; shaded = requests failed" };
        let service =
            if series.iter().any(|line| line.reference) { "; dashed = from when it was sent" } else { "" };
        let bands = if has_intervals(&series) { "; bands = 95 % intervals of p50, p99" } else { "" };
        let title = match &self.curve.knee {
            Some(knee) => self.named("", &knee.text),
            None => {
                let server = served(self.doc, &self.curve.params);
                self.named(&server, &format!("{} by offered load", self.setup()))
            }
        };
        LinePlot {
            markers: self.marks(),
            spans,
            ..LinePlot::new(
                Caption::new(title)
                    .subtitle(format!("response time from when a request was due{service}{bands}{shaded}")),
                AxisSpec::new("offered load", Kind::for_unit(Unit::PerSec)),
                AxisSpec::new("response time", Kind::for_unit(Unit::Second)).log(),
                series,
            )
        }
        .render()
    }

    /// A heading that begins with the server's name or with words; behind the machine's name where there are several.
    fn named(&self, server: &str, text: &str) -> String {
        if self.name.is_empty() { heading(server, text) } else { format!("{}: {text}", self.name) }
    }

    /// Good answers against what was asked for.
    fn served(&self) -> Option<Markup> {
        let line = self.line("served", |point| Some(&point.throughput));
        let ideal = self.points().map(|point| Point::at(point.x, point.x)).collect();
        let last = line.points.last()?;
        let share = percent(last.y / last.x);
        let title = match &self.curve.peak {
            Some(peak) => peak.text.clone(),
            None => {
                format!("of {} offered, {share} is served", quantity(last.x, Kind::for_unit(Unit::PerSec)))
            }
        };
        let title = self.named("", &title);
        let plot = LinePlot::new(
            Caption::new(title).subtitle("good answers per second; dashed = all that is offered"),
            AxisSpec::new("offered load", Kind::for_unit(Unit::PerSec)),
            AxisSpec::new("served", Kind::for_unit(Unit::PerSec)).from_zero(),
            vec![line, Series { name: "offered".to_owned(), points: ideal, reference: true }],
        );
        Some(plot.render())
    }

    /// The share of requests that failed, where any did.
    fn failures(&self) -> Option<Markup> {
        let shares: Vec<(f64, f64)> = self
            .points()
            .filter_map(|point| Some((point.x, failed_share(self.data, self.curve, point)?)))
            .collect();
        let most = shares.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1)).filter(|most| most.1 > 0.0)?;
        let points = shares.iter().map(|(x, share)| Point::at(*x, *share)).collect();
        let title = format!(
            "Up to {} of the requests failed, at {}",
            percent(most.1),
            quantity(most.0, Kind::for_unit(Unit::PerSec))
        );
        let plot = LinePlot::new(
            Caption::new(title).subtitle("share of all requests that were due, all takes together"),
            AxisSpec::new("offered load", Kind::for_unit(Unit::PerSec)),
            AxisSpec::new("failed", Kind::percent()).from_zero(),
            vec![Series { name: String::new(), points, reference: false }],
        );
        Some(plot.render())
    }

    /// Around each load at which requests failed: half way to its neighbours.
    fn failed_spans(&self) -> Vec<Span> {
        let all: Vec<&CurvePointDoc> = self.points().collect();
        let mid = |a: f64, b: f64| (a + b) / 2.0;
        let span = |(at, point): (usize, &&CurvePointDoc)| {
            let before =
                at.checked_sub(1).and_then(|at| all.get(at)).map_or(point.x, |other| mid(other.x, point.x));
            let after = all.get(at + 1).map_or(point.x, |other| mid(other.x, point.x));
            let share = failed_share(self.data, self.curve, point);
            let label = share.map_or("failed".to_owned(), |share| format!("{} failed", percent(share)));
            Span { from: before, to: after, label }
        };
        all.iter().enumerate().filter(|(_, point)| point.failed > 0.0).map(span).collect()
    }

    fn notes(&self) -> Vec<String> {
        self.curve.whole().into_iter().chain(self.curve.why.clone()).collect()
    }
}

fn without_band(line: &mut Series) {
    line.points.iter_mut().for_each(|point| point.interval = None);
}

/// True where requests waited before they were sent.
fn is_apart(point: &CurvePointDoc, quantile: f64) -> bool {
    let value = |of: &[PercentileDoc]| percentile(of, quantile)?.value;
    value(&point.response)
        .zip(value(&point.service))
        .is_some_and(|(response, service)| response > service * APART)
}

/// Failed requests by all that were due: those that the takes counted, or where they did not, those with a response
/// time.
fn failed_share(data: &RunData, curve: &CurveDoc, point: &CurvePointDoc) -> Option<f64> {
    use model::reading::{Phase, Value};
    let of = |name: &str| curve.params.get(name).is_none();
    let asked = |series: &&model::data::Series| {
        let key = &series.key;
        key.instrument == curve.instrument
            && key.arm == curve.arm
            && key.params.contains(&curve.params)
            && ["load", "rate"]
                .into_iter()
                .filter(|name| of(name))
                .any(|name| key.params.get(name) == Some(&point.asked))
    };
    let all = |metric: &str| -> Option<f64> {
        let mut series = data.series.iter().filter(|series| series.key.metric == metric);
        let measured = series.find(asked)?.points.iter().filter(|point| point.phase == Phase::Measured);
        let counts = measured.map(|point| match &point.value {
            Value::Histogram(histogram) => histogram.count() as f64,
            Value::Number(number) => *number,
        });
        Some(counts.sum::<f64>()).filter(|all| *all > 0.0)
    };
    Some((point.failed / all(load::REQUESTS.name()).or_else(|| all(load::RESPONSES.name()))?).min(1.0))
}

/// The rate of a load that was held: what was answered, where that is less than what was offered.
const fn sustained(peak: &CurveMarkDoc) -> f64 {
    peak.x.min(peak.throughput)
}

/// Throughput of several arms or runs on one plot, and their p99 on another.
fn together(all: &[Open<'_>]) -> Vec<Markup> {
    if all.len() < 2 {
        return Vec::new();
    }
    let lines = |of: &dyn Fn(&CurvePointDoc) -> Option<&EstimateDoc>| -> Vec<Series> {
        let lines = all.iter().map(|one| one.line(&one.name, of));
        lines.filter(|line| !line.points.is_empty()).collect()
    };
    let held = |one: &Open<'_>| one.curve.peak.as_ref().map_or(0.0, sustained);
    let Some(best) = all.iter().max_by(|a, b| held(a).total_cmp(&held(b))) else { return Vec::new() };
    let title =
        format!("{} keeps up with most, {}", best.name, quantity(held(best), Kind::for_unit(Unit::PerSec)));
    let plot = |title: String, what: &str, subtitle: &str, y: AxisSpec, series: Vec<Series>| {
        let plot = LinePlot::new(
            Caption::new(title).subtitle(subtitle),
            AxisSpec::new("offered load", Kind::for_unit(Unit::PerSec)),
            AxisSpec { title: what.to_owned(), ..y },
            series,
        );
        plot.render()
    };
    let times = lines(&|point| percentile(&point.response, 0.99));
    let tails = format!("p99 of {} arms and runs by offered load", times.len());
    vec![
        plot(
            title,
            "served",
            "good answers per second; bands = 95 % intervals",
            AxisSpec::new("", Kind::for_unit(Unit::PerSec)).from_zero(),
            lines(&|point| Some(&point.throughput)),
        ),
        plot(
            tails,
            "p99 response time",
            "from when a request was due; bands = 95 % intervals",
            AxisSpec::new("", Kind::for_unit(Unit::Second)).log(),
            times,
        ),
    ]
}
