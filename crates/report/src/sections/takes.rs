//! Raw takes of a topic's figures: relative to their medians for one run, in their own units for several.

use maud::Markup;
use model::Validity;
use model::unit::Unit;

use crate::number::{self, Kind, quantity};
use crate::plot::strip::{Strip, Take};
use crate::plot::{Caption, Estimate, Size, StripPlot};
use crate::scale::AxisSpec;
use crate::section::{Figure, ReportInput, colour, labels};
use crate::text::{count, names};

/// Figures beyond these have no strip; the tables have them.
const MOST: usize = 12;

/// The figures that are drawn: headlines, or the first ones where a run has none.
fn chosen<'a>(input: &'a ReportInput, family: &str) -> Vec<Figure<'a>> {
    let all: Vec<Figure<'a>> =
        input.family(0, family).into_iter().filter(|figure| figure.takes().len() > 1).collect();
    let headline = all.iter().any(|figure| figure.doc.headline);
    all.into_iter().filter(|figure| figure.doc.headline || !headline).take(MOST).collect()
}

/// How far measured takes lie from their median at most, over the figures that hold.
fn scatter(figures: &[Figure<'_>]) -> Option<f64> {
    let far = |figure: &Figure<'_>| {
        let median = figure.doc.median.filter(|m| *m != 0.0 && figure.doc.validity != Validity::Invalid)?;
        let takes = figure.takes().into_iter().filter(|take| !take.warm_up && take.value.is_finite());
        takes.map(|take| (take.value / median - 1.0).abs()).max_by(f64::total_cmp)
    };
    figures.iter().filter_map(far).max_by(f64::total_cmp)
}

/// The section's title: what the takes of this topic say.
#[must_use]
pub fn title(input: &ReportInput, family: &str, name: &str) -> Option<String> {
    let figures = chosen(input, family);
    let far = scatter(&figures)?;
    let held = figures.iter().filter(|figure| figure.estimate().is_some()).count();
    Some(format!(
        "{name}: takes of {} lie within {} of their median",
        count(held, "figure"),
        number::percent(far)
    ))
}

/// The strips of a topic.
#[must_use]
pub fn plots(input: &ReportInput, family: &str) -> Vec<Markup> {
    let figures = chosen(input, family);
    if figures.is_empty() {
        return Vec::new();
    }
    if input.runs.len() == 1 {
        relative(&figures).into_iter().collect()
    } else {
        side_by_side(input, &figures)
    }
}

/// All figures of one run on one axis, each as a share of its own median.
fn relative(figures: &[Figure<'_>]) -> Option<Markup> {
    let series: Vec<Strip> = figures
        .iter()
        .zip(labels(figures))
        .filter_map(|(figure, label)| {
            let median = figure.doc.median.filter(|m| m.is_finite() && *m != 0.0)?;
            let takes =
                figure.takes().into_iter().map(|take| Take { value: take.value / median, ..take }).collect();
            let interval =
                figure.doc.low.zip(figure.doc.high).map(|(low, high)| (low / median, high / median));
            let value = match figure.estimate() {
                Some(estimate) => {
                    quantity(estimate.value, names::kind(&figure.doc.instrument, figure.doc.unit))
                }
                None => "refused".to_owned(),
            };
            let name = format!("{label} {value}");
            Some(Strip { name, takes, median: Some(Estimate { value: 1.0, interval }), colour: 0 })
        })
        .collect();
    let wide = series.len() > 6;
    let far = scatter(figures).map_or_else(
        || "Takes by figure".to_owned(),
        |far| format!("Takes lie within {} of their median", number::percent(far)),
    );
    let plot = StripPlot {
        caption: Caption::new(far).subtitle(
            "each dot one take, in time order; hollow = warm-up; whisker = 95 % interval of the median; 100 % = the median",
        ),
        y: AxisSpec::new("share of the median", Kind::percent()),
        series,
        size: if wide { Size::Wide } else { Size::Cell },
    };
    (!plot.series.is_empty()).then(|| plot.render())
}

/// One plot a figure, one column a run.
fn side_by_side(input: &ReportInput, figures: &[Figure<'_>]) -> Vec<Markup> {
    let plot = |(figure, label): (&Figure<'_>, String)| {
        let twins = (0..input.runs.len()).filter_map(|run| input.twin(figure, run));
        let series: Vec<Strip> = twins
            .map(|twin| Strip {
                name: input.name(twin.run),
                takes: twin.takes(),
                median: twin.estimate(),
                colour: colour(twin.run),
            })
            .collect();
        let kind = names::kind(&figure.doc.instrument, figure.doc.unit);
        let said: Vec<String> = series
            .iter()
            .filter_map(|strip| strip.median.map(|median| quantity(median.value, kind)))
            .collect();
        let title = if said.is_empty() { label.clone() } else { format!("{label}: {}", said.join(", ")) };
        StripPlot {
            caption: Caption::new(title)
                .subtitle("each dot one take, in time order; hollow = warm-up; whisker = 95 % interval"),
            y: AxisSpec::new(label, kind_of(figure)),
            series,
            size: Size::Cell,
        }
        .render()
    };
    figures.iter().zip(labels(figures)).map(plot).collect()
}

fn kind_of(figure: &Figure<'_>) -> Kind {
    match figure.doc.unit {
        Unit::Ratio => Kind::percent(),
        unit => names::kind(&figure.doc.instrument, unit),
    }
}
