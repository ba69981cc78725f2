//! Processor: how far takes scatter, and what more threads bring.

use maud::Markup;
use model::doc::{RunDoc, ScalingDoc};
use model::format::{self, Kind};
use model::scope::THREADS;
use model::unit::Unit;

use super::takes;
use crate::page;
use crate::plot::line::{Marker, Point, Series};
use crate::plot::{Caption, LinePlot};
use crate::scale::AxisSpec;
use crate::section::{Figure, ReportInput, Section, labels, threads_of};
use crate::text::scaling;
use crate::text::spec::Spec;

pub static SECTION: Section = Section::by_run(20, draw);

fn draw(input: &ReportInput) -> Option<Markup> {
    let mut plots = takes::plots(input, "cpu");
    let mut title = takes::title(input, "cpu", "Processor");
    for curve in curves(input) {
        if let Some(said) = curve.said.filter(|_| plots.len() <= 1) {
            title = Some(said);
        }
        plots.push(curve.plot);
    }
    Some(page::section("cpu", &title?, &page::grid(&plots)))
}

struct Curve {
    said: Option<String>,
    plot: Markup,
}

/// One curve for each figure that was taken at three thread counts or more.
fn curves(input: &ReportInput) -> Vec<Curve> {
    let ones: Vec<Figure<'_>> =
        input.figures(0).filter(|figure| figure.doc.params.get("threads") == Some("1")).collect();
    let names = labels(&ones);
    let wanted = ones.iter().zip(names).filter(|(figure, _)| sweep(input, figure, 0).len() >= 3);
    wanted.take(8).map(|(figure, name)| curve(input, figure, &name)).collect()
}

/// Points by thread count of one figure in one run.
fn sweep(input: &ReportInput, figure: &Figure<'_>, run: usize) -> Vec<Point> {
    let all = input.threads(run);
    let strip = |params: &model::Params| {
        let mut params = params.clone();
        params.remove("threads");
        params
    };
    let wanted = strip(&figure.doc.params);
    let mut points: Vec<Point> = input
        .figures_of(run, &figure.doc.instrument, &figure.doc.metric)
        .iter()
        .filter(|other| other.doc.arm == figure.doc.arm && strip(&other.doc.params) == wanted)
        .filter_map(|other| {
            let estimate = other.estimate()?;
            let x = threads_of(&other.doc.params, all)?;
            Some(Point { interval: estimate.interval, ..Point::at(x, estimate.value) })
        })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    points.dedup_by(|a, b| a.x == b.x);
    points
}

fn curve(input: &ReportInput, figure: &Figure<'_>, name: &str) -> Curve {
    let points = sweep(input, figure, 0);
    let said = match (points.first(), points.last()) {
        (Some(first), Some(last)) if first.y > 0.0 && last.x > first.x => Some(format!(
            "{} threads do {} times the work of {} ({name})",
            format::fixed(last.x, 0),
            format::number(last.y / first.y),
            format::fixed(first.x, 0)
        )),
        _ => None,
    };
    let mut series: Vec<Series> = (input.drawn())
        .map(|run| Series { name: input.name(run), points: sweep(input, figure, run), reference: false })
        .filter(|series| !series.points.is_empty())
        .collect();
    if let Some(first) = points.first().filter(|first| first.x > 0.0) {
        let ideal = points.iter().map(|point| Point::at(point.x, first.y / first.x * point.x)).collect();
        series.push(Series { name: "ideal".to_owned(), points: ideal, reference: true });
    }
    let law = input.runs.first().and_then(|(run, _)| law_of(run, figure));
    if let Some(law) = law {
        series.extend(fitted(law, &points));
    }
    let facts = input.facts(0);
    let cores = Spec(&facts)
        .number("cpu.cores")
        .filter(|cores| points.last().is_some_and(|p| *cores < p.x && *cores > 1.0));
    let marker =
        |cores: f64| Marker { at: cores, label: format!("{} cores", format::fixed(cores, 0)), upright: true };
    let title = said.clone().unwrap_or_else(|| format!("{name} by threads"));
    let plot = LinePlot {
        markers: cores.map(marker).into_iter().collect(),
        ..LinePlot::new(
            Caption::new(title).subtitle(subtitle(law)),
            AxisSpec::new("threads", Kind::for_unit(Unit::Count).plain()),
            AxisSpec::new(name, Kind::shown(figure.doc.card, &figure.doc.metric, figure.doc.unit))
                .from_zero(),
            series,
        )
    };
    Curve { said, plot: plot.render() }
}

/// The law that was fitted through a figure's sweep.
fn law_of<'a>(run: &'a RunDoc, figure: &Figure<'_>) -> Option<&'a ScalingDoc> {
    let mut params = figure.doc.params.clone();
    params.remove(THREADS);
    run.scaling.iter().find(|law| {
        (&law.instrument, &law.metric, &law.params, &law.arm)
            == (&figure.doc.instrument, &figure.doc.metric, &params, &figure.doc.arm)
    })
}

/// The law at the thread counts that it was fitted to, and at some between them.
fn fitted(law: &ScalingDoc, points: &[Point]) -> Option<Series> {
    const STEPS: u32 = 40;
    let (lambda, sigma, kappa) = (law.lambda?, law.sigma?, law.kappa?);
    let (first, last) = (points.first()?.x, law.fitted_to?);
    let at = |step: u32| {
        let n = first + (last - first) * f64::from(step) / f64::from(STEPS);
        Point::at(n, lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0)))
    };
    Some(Series { name: "law".to_owned(), points: (0..=STEPS).map(at).collect(), reference: true })
}

fn subtitle(law: Option<&ScalingDoc>) -> String {
    let mut parts = vec!["median and 95 % interval by number of threads, one a core first".to_owned()];
    if let Some(law) = law {
        parts.extend(scaling::law(law).map(|text| format!("law: {text}")));
        parts.extend(law.hidden.then(|| "the virtual machine hides which CPUs share a core".to_owned()));
    }
    parts.join("; ")
}
