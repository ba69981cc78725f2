//! How long single loads on a web server took: response and service time by percentile on one logarithmic axis.
//!
//! Times of all measured takes together. Response time is counted from when a request was due, service time from when
//! it was sent. Runs of sweeps have curves instead.

use maud::Markup;
use model::Histogram;
use model::data::RunData;
use model::doc::RunDoc;
use model::format::{Kind, quantity};
use model::histogram::MIN_BEYOND;
use model::metrics::load;
use model::names::load::unusual;
use model::reading::{Phase, Value};
use model::unit::Unit;

use crate::page;
use crate::plot::ecdf::{Curve, Ecdf};
use crate::plot::{Caption, Size};
use crate::scale::AxisSpec;
use crate::section::{ReportInput, Section, sentence};
use crate::sections::web_by_connections::half_and_tail;
use crate::web_loads::{Load, MANY, loads, served};

pub static SECTION: Section = Section::by_run(42, draw);

/// Plots of one report.
const MOST: usize = 9;

fn draw(input: &ReportInput) -> Option<Markup> {
    let mut said = None;
    let mut plots: Vec<Markup> = Vec::new();
    for (run, (doc, data)) in input.runs.iter().enumerate().take(input.drawn().end) {
        let all = loads(doc);
        let arms = doc.bottlenecks.iter().map(|one| &one.arm).collect::<std::collections::BTreeSet<_>>();
        if all.len() > MANY * arms.len().max(1) {
            continue;
        }
        for load in &all {
            let mut name = if input.runs.len() > 1 { vec![input.name(run)] } else { Vec::new() };
            name.extend([load.arm.to_owned()].into_iter().filter(|arm| !arm.is_empty()));
            let Some((title, plot)) = of_load(doc, data, load, &name.join(", ")) else { continue };
            said = said.or(Some(title));
            plots.push(plot);
        }
    }
    plots.truncate(MOST);
    if plots.is_empty() {
        return None;
    }
    // One plot says the same in its own title.
    let said = if plots.len() > 1 { said? } else { "Times of answers".to_owned() };
    Some(page::section("web-times", &said, &page::grid(&plots)))
}

/// The histograms of a load's measured takes, merged.
fn merged(data: &RunData, load: &Load<'_>, metric: &str) -> Option<Histogram> {
    let of = |series: &&model::data::Series| {
        let key = &series.key;
        key.instrument == load.instrument
            && key.metric == metric
            && key.arm == load.arm
            && key.params == *load.params
    };
    let mut all = Histogram::default();
    for point in &data.series.iter().find(of)?.points {
        if let (Phase::Measured, Value::Histogram(one)) = (point.phase, &point.value) {
            // Parts of one histogram are of no use: the bounds are fixed, so this does not happen.
            all.merge(one).ok()?;
        }
    }
    (all.count() > 0).then_some(all)
}

fn of_load(doc: &RunDoc, data: &RunData, load: &Load<'_>, name: &str) -> Option<(String, Markup)> {
    let response = merged(data, load, load::RESPONSES.name())?;
    let service = merged(data, load, load::SERVICES.name());
    let time = |histogram: &Histogram, quantile: f64| {
        Some(quantity(
            histogram.percentile_s(quantile).filter(|time| time.is_finite())?,
            Kind::for_unit(Unit::Second),
        ))
    };
    let mut title = half_and_tail(Some(response.percentile_s(0.5)?), response.percentile_s(0.99));
    let waited = |service: &Histogram| {
        let ratio = response.quantile_ns(0.99)? as f64 / service.quantile_ns(0.99)?.max(1) as f64;
        (ratio > 1.1).then(|| time(service, 0.99)).flatten()
    };
    if let Some(tail) = service.as_ref().and_then(waited) {
        title.push_str(&format!(" ({tail} from when it was sent)"));
    }
    let title = if name.is_empty() { sentence(&title) } else { format!("{name}: {title}") };
    let mut words = vec![served(doc, load.params)];
    words.retain(|word| !word.is_empty());
    words.extend(unusual(load.card, load.params, &["connections"], &[]));
    let mut curves = vec![curve("response", &response)];
    curves.extend(service.as_ref().map(|service| curve("service", service)));
    let plot = Ecdf {
        caption: Caption::new(title.clone()).subtitle(format!(
            "{}; {} answers{}",
            words.join(", "),
            model::format::fixed(response.count() as f64, 0),
            match response.over() {
                0 => String::new(),
                failed => format!(", {} of them failed", model::format::fixed(failed as f64, 0)),
            }
        )),
        values: AxisSpec::new("time", Kind::for_unit(Unit::Second)).log(),
        curves,
        tail: true,
        size: Size::Cell,
    };
    Some((title, plot.render()))
}

/// The value at each percentile, ever closer towards the end, as far as the count allows.
fn curve(name: &str, histogram: &Histogram) -> Curve {
    let count = histogram.count() as f64;
    let mut shares: Vec<f64> = (0..90).map(|percent| f64::from(percent) / 100.0).collect();
    for decade in 1..=5 {
        let left = 10f64.powi(-decade);
        shares.extend((0..45).map(|step| 1.0 - left * 10f64.powf(-f64::from(step) / 45.0)));
    }
    shares.retain(|share| (1.0 - share) * count >= MIN_BEYOND as f64 - 1e-6);
    let point = |share: f64| Some((histogram.quantile_ns(share)? as f64 / 1e9, share));
    Curve { name: name.to_owned(), points: shares.into_iter().filter_map(point).collect() }
}
