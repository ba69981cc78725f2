//! How runtimes that compile while they run become fast: CPU time of each iteration of a kernel in a fresh process, and
//! from which one on it is steady.
//!
//! CPU time of the thread that computes: what the compiler uses beside it is not counted. Points are medians over the
//! takes. Runs of other builds may have other iterations; all that are there are drawn.

use std::collections::BTreeMap;

use maud::Markup;
use model::data::{RunData, Series as Raw};
use model::format::{self, Kind, quantity};
use model::metrics::warmup;
use model::names::instrument;
use model::unit::Unit;

use crate::page;
use crate::plot::line::{Marker, Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section};

pub static SECTION: Section = Section::by_run(23, draw);

const TIME: &str = warmup::ITERATION.name();
const STEADY: &str = warmup::STEADY.name();
const STEADY_FROM: &str = warmup::STEADY_FROM.name();
const INSTRUMENT: &str = instrument::SCIMARK_WARMUP;
const ITERATION: &str = "iteration";

/// Lines of one plot; the export has the rest.
const MOST: usize = 8;

/// One kernel of one run and arm.
struct Curve<'a> {
    run: usize,
    kernel: String,
    /// Language and virtual machine.
    variant: String,
    points: BTreeMap<u32, Point>,
    /// CPU time of an iteration of the last part, and the iterations before the steady one.
    last: Option<f64>,
    from: Option<f64>,
    /// Takes that have either.
    takes: [usize; 2],
    arm: &'a str,
}

fn draw(input: &ReportInput) -> Option<Markup> {
    let curves: Vec<Curve<'_>> = input
        .runs
        .iter()
        .enumerate()
        .take(input.drawn().end)
        .flat_map(|(run, (_, data))| curves(run, data))
        .collect();
    let mut kernels: Vec<&str> = Vec::new();
    for curve in &curves {
        if !kernels.contains(&curve.kernel.as_str()) {
            kernels.push(&curve.kernel);
        }
    }
    kernels.sort_by_key(|kernel| rank(kernel));
    let most = curves.iter().max_by(|a, b| a.gain().total_cmp(&b.gain()))?;
    let title = format!("{}: {}", most.kernel, most.said(&name(input, most)));
    let plots: Vec<Markup> = kernels.iter().map(|kernel| plot(input, &curves, kernel)).collect();
    Some(page::section("warm-up", &title, &page::grid(&plots)))
}

/// In the order of the study.
fn rank(kernel: &str) -> usize {
    let order = ["fft", "sor", "monte-carlo", "sparse", "lu"];
    order.iter().position(|known| *known == kernel).unwrap_or(order.len())
}

fn curves(run: usize, data: &RunData) -> Vec<Curve<'_>> {
    let mut curves: Vec<Curve<'_>> = Vec::new();
    for series in data.series.iter().filter(|series| series.key.instrument == INSTRUMENT) {
        let params = &series.key.params;
        let kernel = params.get("kernel").unwrap_or("kernel").to_owned();
        let told = ["lang", "jvm"].into_iter().filter_map(|name| params.get(name));
        let variant = told.collect::<Vec<_>>().join(" ");
        let arm = series.key.arm.as_str();
        let known =
            |curve: &Curve<'_>| curve.arm == arm && curve.kernel == kernel && curve.variant == variant;
        let at = curves.iter().position(known).unwrap_or_else(|| {
            let points = BTreeMap::new();
            curves.push(Curve { run, kernel, variant, points, last: None, from: None, takes: [0; 2], arm });
            curves.len() - 1
        });
        let Some(curve) = curves.get_mut(at) else { continue };
        match series.key.metric.as_str() {
            TIME => {
                let number = params.get(ITERATION).and_then(|number| number.parse().ok());
                if let (Some(number), Some(point)) =
                    (number, number.and_then(|number| median(series, number)))
                {
                    curve.points.insert(number, point);
                }
            }
            STEADY => {
                curve.last = stats::median(&series.measured());
                curve.takes[0] = series.measured().len();
            }
            STEADY_FROM => {
                curve.from = stats::median(&series.measured());
                curve.takes[1] = series.measured().len();
            }
            _ => {}
        }
    }
    curves.retain(|curve| !curve.points.is_empty());
    curves.sort_by(|a, b| a.variant.cmp(&b.variant));
    curves
}

/// The median of an iteration with its interval.
fn median(series: &Raw, number: u32) -> Option<Point> {
    let summary = stats::summary(&series.measured()).ok()?;
    let interval = summary.interval.map(|i| (i.low, i.high));
    Some(Point { interval, ..Point::at(f64::from(number), summary.median) })
}

impl Curve<'_> {
    fn first(&self) -> Option<f64> {
        self.points.values().next().map(|point| point.y)
    }

    /// CPU time of an iteration of the steady part, and the iterations before it; `None` where a take has none.
    fn steady(&self) -> Option<(f64, f64)> {
        let [last, steady] = self.takes;
        self.last.zip(self.from).filter(|(level, _)| last == steady && *level > 0.0)
    }

    /// How many times as fast it became; 0 where it has no steady part.
    fn gain(&self) -> f64 {
        self.first().zip(self.steady()).map_or(0.0, |(first, (steady, _))| first / steady)
    }

    /// `java hotspot is steady after 8 iterations, 22 times as fast as at first`
    fn said(&self, name: &str) -> String {
        let time = |seconds: f64| quantity(seconds, Kind::for_unit(Unit::Second));
        let Some(((steady, from), first)) = self.steady().zip(self.first()) else {
            let end =
                self.last.map_or(String::new(), |last| format!(": {} an iteration in the end", time(last)));
            return format!("{name} is not steady yet{end}");
        };
        let after = match from {
            from if from >= 1.0 => format!("after {}", iterations(from)),
            _ => "from the first iteration on".to_owned(),
        };
        format!(
            "{name} is steady {after}: {} an iteration, the first took {} times that",
            time(steady),
            format::ratio(first / steady)
        )
    }
}

fn iterations(count: f64) -> String {
    let s = if count == 1.0 { "" } else { "s" };
    format!("{} iteration{s}", format::fixed(count, 0))
}

fn name(input: &ReportInput, curve: &Curve<'_>) -> String {
    match input.runs.len() > 1 {
        true => format!("{}, {}", curve.variant, input.name(curve.run)),
        false => curve.variant.clone(),
    }
}

fn plot(input: &ReportInput, curves: &[Curve<'_>], kernel: &str) -> Markup {
    let own: Vec<&Curve<'_>> = curves.iter().filter(|curve| curve.kernel == kernel).collect();
    let name = |curve: &Curve<'_>| name(input, curve);
    let said: Vec<String> = own.iter().map(|curve| curve.said(&name(curve))).collect();
    let title = format!("{kernel}: {}", said.join("; "));
    let line = |curve: &&Curve<'_>| Series {
        name: name(curve),
        points: curve.points.values().copied().collect(),
        reference: false,
    };
    let mark = |curve: &&Curve<'_>| {
        let (_, from) = curve.steady()?;
        let label = if own.len() > 1 { format!("{} steady", name(curve)) } else { "steady".to_owned() };
        Some(Marker { at: from + 1.0, label, upright: true })
    };
    let shown = || own.iter().take(MOST);
    let series: Vec<Series> = shown().map(line).collect();
    let has_bands = series.iter().flat_map(|line| &line.points).any(|point| point.interval.is_some());
    let bands = if has_bands { "; bands = 95 % intervals of the median" } else { "" };
    LinePlot {
        markers: shown().filter_map(mark).collect(),
        ..LinePlot::new(
            Caption::new(title).subtitle(format!(
                "CPU time of each iteration in a fresh process, median of the takes{bands}"
            )),
            AxisSpec::new("iteration", Kind::for_unit(Unit::Count).plain()).log(),
            AxisSpec::new("CPU time", Kind::for_unit(Unit::Second)).log(),
            series,
        )
    }
    .render()
}
