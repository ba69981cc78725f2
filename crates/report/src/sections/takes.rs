//! Raw takes of a topic's figures: relative to their medians for one run, in their own units for several. Periods, such
//! as the hours of access logs, are no takes; their own section draws them over time.

use maud::{Markup, html};
use model::format::{self, Kind, quantity};
use model::names;
use model::unit::Unit;
use model::{Samples, Validity};

use crate::page;
use crate::plot::strip::{Strip, Take};
use crate::plot::{Caption, Estimate, Size, StripPlot};
use crate::scale::AxisSpec;
use crate::section::{Figure, ReportInput, colour, labels, sentence};

/// Figures beyond these have no strip; the tables have them.
const MOST: usize = 12;

fn has_takes(figure: &Figure<'_>) -> bool {
    figure.doc.samples == Samples::Takes && figure.takes().len() > 1
}

/// The figures that are drawn, each of the first run that has it: headlines, or the first ones where a run has none.
fn chosen<'a>(input: &'a ReportInput, family: &str) -> Vec<Figure<'a>> {
    let of = |run: usize| {
        let all: Vec<Figure<'a>> = input.family(run, family).into_iter().filter(has_takes).collect();
        let headline = all.iter().any(|figure| figure.doc.headline);
        all.into_iter().filter(move |figure| figure.doc.headline || !headline)
    };
    let first = |figure: &Figure<'a>| (0..figure.run).all(|run| input.twin(figure, run).is_none());
    (0..input.runs.len()).flat_map(of).filter(first).take(MOST).collect()
}

/// How far the measured takes of a figure lie from their median at most; nothing of a refused figure.
fn scatter(figure: &Figure<'_>) -> Option<f64> {
    let median = figure.doc.median.filter(|m| *m != 0.0 && figure.doc.validity != Validity::Invalid)?;
    let takes = figure.takes().into_iter().filter(|take| !take.warm_up && take.value.is_finite());
    takes.map(|take| (take.value / median - 1.0).abs()).max_by(f64::total_cmp)
}

/// Takes that lie closer than this to their median need no telling apart.
const CLOSE: f64 = 0.03;

/// The figures whose takes scatter least and most, as a sentence.
fn finding(figures: &[Figure<'_>]) -> Option<String> {
    let named = figures.iter().zip(labels(figures));
    let mut far: Vec<(f64, String)> =
        named.filter_map(|(figure, label)| Some((scatter(figure)?, label))).collect();
    far.sort_by(|a, b| a.0.total_cmp(&b.0));
    let most = far.last()?;
    let least = far.first()?;
    Some(match far.len() {
        1 => format!("takes of {} lie within {} of their median", most.1, format::percent(most.0)),
        _ if most.0 < CLOSE => format!("every take lies within {} of its median", format::percent(most.0)),
        _ => format!(
            "takes of {} scatter most, up to {} from their median; those of {} least, up to {}",
            most.1,
            format::percent(most.0),
            least.1,
            format::percent(least.0)
        ),
    })
}

/// The section's title: what the takes of this topic say.
pub fn title(input: &ReportInput, family: &str, name: &str) -> Option<String> {
    Some(format!("{name}: {}", finding(&chosen(input, family))?))
}

/// A topic's section: plots of its own, and the strips of its takes.
pub fn section(input: &ReportInput, family: &str, name: &str, mut plots: Vec<Markup>) -> Option<Markup> {
    plots.extend(self::plots(input, family));
    let title = title(input, family, name).unwrap_or_else(|| format!("{name}: no figure holds"));
    (!plots.is_empty()).then(|| page::section(family, &title, &page::grid(&plots)))
}

/// Every headline take of one run on one axis, each as a share of its figure's median.
pub fn overview(input: &ReportInput) -> Option<Markup> {
    let swept = input.runs.first().is_some_and(|(run, _)| crate::web_loads::has_sweeps(run));
    let mut heads: Vec<Figure<'_>> = input
        .figures(0)
        .filter(|figure| figure.doc.headline && has_takes(figure) && figure.estimate().is_some())
        .filter(|figure| figure.doc.params.get("threads") != Some("all"))
        .filter(|figure| !names::is_detail(figure.doc.card, &figure.doc.metric))
        .filter(|figure| !swept || !names::is_load(figure.doc.card))
        .collect();
    heads.sort_by_cached_key(|figure| names::order(figure.key()));
    let all = heads.len();
    heads.truncate(MOST_AT_A_GLANCE);
    let plot = (!heads.is_empty()).then(|| relative(&heads, Place::FirstScreen)).flatten()?;
    Some(html! {
        (plot)
        @if all > heads.len() { p class="note" { (heads.len()) " of " (all) " figures, the first of the table" } }
    })
}

/// Columns that fit the first screen.
const MOST_AT_A_GLANCE: usize = 9;

/// The strips of a topic.
pub fn plots(input: &ReportInput, family: &str) -> Vec<Markup> {
    let figures = chosen(input, family);
    if figures.is_empty() {
        return Vec::new();
    }
    match input.runs.len() {
        1 => relative(&figures, Place::Section).into_iter().collect(),
        _ if input.has_many() => vec![of_many(input, &figures)],
        _ => side_by_side(input, &figures),
    }
}

/// A column a figure, a dot a run: its median over the middle of all.
fn of_many(input: &ReportInput, figures: &[Figure<'_>]) -> Markup {
    let names = input.names();
    let strip = |(figure, name): (&Figure<'_>, String)| {
        let known =
            (0..names.len()).filter_map(|run| Some((run, input.twin(figure, run)?.estimate()?.value)));
        let known: Vec<(usize, f64)> = known.collect();
        let middle = stats::median(&known.iter().map(|(_, value)| *value).collect::<Vec<_>>());
        let middle = middle.filter(|middle| *middle != 0.0)?;
        let takes = known.iter().map(|(_, value)| Take { value: value / middle, warm_up: false }).collect();
        let kind = Kind::shown(figure.doc.card, &figure.doc.metric, figure.doc.unit);
        Some(Strip {
            name: format!("{name} {}", quantity(middle, kind)),
            takes,
            median: Some(Estimate { value: 1.0, interval: None }),
            colour: 0,
            members: known.iter().map(|(run, _)| names[*run].clone()).collect(),
        })
    };
    StripPlot {
        caption: Caption::new(format!(
            "{}: each median over the middle of all",
            format::count(names.len(), "run")
        ))
        .subtitle("a dot a run, in their order; box = middle half; the box score has the figures"),
        y: AxisSpec::new("share of the middle", Kind::percent()),
        series: figures.iter().zip(labels(figures)).filter_map(strip).collect(),
        size: Size::Wide,
    }
    .render()
}

/// Where the strips stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Beside a table with the values.
    FirstScreen,
    /// Under a heading with the finding.
    Section,
}

/// A take so many times its median leaves no room for the others on a linear axis.
const FAR: f64 = 5.0;

/// How many bytes all labels begin with that need not stand under each strip: whole words, or parts of dotted names,
/// and no part of a command between its quotes.
fn shared(labels: &[String]) -> usize {
    let [first, others @ ..] = labels else { return 0 };
    let same = |other: &String| first.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let same = others.iter().map(same).min().unwrap_or(0);
    let ends = first.bytes().take(same).enumerate().filter(|(_, byte)| b" .".contains(byte));
    let is_quoted = |end: usize| first.bytes().take(end).filter(|byte| *byte == b'`').count() % 2 == 1;
    ends.map(|(at, _)| at + 1).rfind(|end| !is_quoted(*end)).unwrap_or(0)
}

/// The longest run of words, two at least, that stands within all labels, such as `3 nodes 64 MiB`; none of labels
/// with a command in quotes.
fn within(labels: &[String]) -> Option<String> {
    let [first, _, ..] = labels else { return None };
    if labels.iter().any(|label| label.contains('`')) {
        return None;
    }
    let words: Vec<&str> = first.split(' ').collect();
    let runs = (2..words.len()).rev().flat_map(|length| words.windows(length));
    let has = |label: &String, run: &str| {
        let rest = without(label, run);
        rest.len() < label.trim().len() && !rest.is_empty()
    };
    runs.map(|run| run.join(" ")).find(|run| labels.iter().all(|label| has(label, run)))
}

/// A label without a run of words.
fn without(label: &str, run: &str) -> String {
    format!(" {label} ").replacen(&format!(" {run} "), " ", 1).trim().to_owned()
}

/// All figures of one run on one axis, each as a share of its own median.
fn relative(figures: &[Figure<'_>], place: Place) -> Option<Markup> {
    let mut labels = labels(figures);
    let within = within(&labels).unwrap_or_default();
    if !within.is_empty() {
        labels.iter_mut().for_each(|label| *label = without(label, &within));
    }
    let (shared, _) = labels.first()?.split_at(shared(&labels));
    let series: Vec<Strip> = figures
        .iter()
        .zip(&labels)
        .filter_map(|(figure, label)| {
            let label = &label[shared.len()..];
            let median = figure.doc.median.filter(|m| m.is_finite() && *m != 0.0)?;
            let takes =
                figure.takes().into_iter().map(|take| Take { value: take.value / median, ..take }).collect();
            let interval =
                figure.doc.low.zip(figure.doc.high).map(|(low, high)| (low / median, high / median));
            let value = match figure.estimate() {
                Some(estimate) => quantity(
                    estimate.value,
                    Kind::shown(figure.doc.card, &figure.doc.metric, figure.doc.unit),
                ),
                None => "refused".to_owned(),
            };
            let name = if place == Place::Section { format!("{label} {value}") } else { label.to_owned() };
            let median = Some(Estimate { value: 1.0, interval });
            Some(Strip { name, takes, median, colour: 0, members: Vec::new() })
        })
        .collect();
    let size = match (place, series.len() > 6) {
        (Place::FirstScreen, _) => Size::Half,
        (Place::Section, true) => Size::Wide,
        (Place::Section, false) => Size::Cell,
    };
    // A section's heading has said the finding already.
    let said = match place {
        Place::Section => None,
        Place::FirstScreen => finding(figures).map(|said| sentence(&said)),
    };
    let said = said.unwrap_or_else(|| "Each take as a share of its figure's median".to_owned());
    let subtitle = match place {
        Place::Section => {
            "in time order; hollow = warm-up; box = middle half; whisker = 95 % interval of the median"
        }
        Place::FirstScreen => {
            "dots = takes as shares of their median, in time order; whisker = 95 % interval"
        }
    };
    let of = format!("{} {within}", shared.trim_end_matches([' ', '.']));
    let of = if of.trim().is_empty() { String::new() } else { format!("{}: ", of.trim()) };
    let axis = AxisSpec::new("share of the median", Kind::percent());
    let farthest = series.iter().flat_map(|strip| &strip.takes).map(|take| take.value).fold(0.0, f64::max);
    let plot = StripPlot {
        caption: Caption::new(said).subtitle(format!("{of}{subtitle}")),
        y: if farthest > FAR { axis.log() } else { axis },
        series,
        size,
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
                members: Vec::new(),
            })
            .collect();
        let kind = Kind::shown(figure.doc.card, &figure.doc.metric, figure.doc.unit);
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
        unit => Kind::shown(figure.doc.card, &figure.doc.metric, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::{shared, within, without};

    #[test]
    fn words_within_all_labels_are_said_once() {
        let of = |labels: &[&str]| {
            let labels: Vec<String> = labels.iter().map(|label| (*label).to_owned()).collect();
            let run = within(&labels)?;
            Some((labels.iter().map(|label| without(label, &run)).collect::<Vec<_>>(), run))
        };
        let (labels, run) =
            of(&["TeraSort 3 nodes 64 MiB", "DFSIO 3 nodes 64 MiB write", "log 3 nodes 64 MiB wall time"])
                .unwrap();
        assert_eq!(
            (run.as_str(), labels),
            (
                "3 nodes 64 MiB",
                vec!["TeraSort", "DFSIO write", "log wall time"].into_iter().map(str::to_owned).collect()
            )
        );
        assert_eq!(of(&["read 4 KiB", "read 8 KiB"]), None);
        assert_eq!(of(&["a b", "a b"]), None);
        assert_eq!(of(&["a `b c` d", "e `b c` f"]), None);
        assert_eq!((of(&["one a b"]), of(&[])), (None, None));
    }

    #[test]
    fn words_that_all_labels_begin_with_are_said_once() {
        let of =
            |labels: &[&str]| shared(&labels.iter().map(|label| (*label).to_owned()).collect::<Vec<_>>());
        assert_eq!(of(&["redis basic.read100", "redis basic.read100.99", "redis basic.write1K"]), 12);
        assert_eq!(of(&["redis basic.read100", "redis 2 replicas basic.read100"]), 6);
        assert_eq!(of(&["crc32c", "crc32c all"]), 0);
        assert_eq!(of(&["`./a`: wall time [a]", "`./b`: wall time [b]"]), 0);
        assert_eq!(of(&["`make -j8`: wall time", "`make -j8`: CPU time"]), 12);
        assert_eq!((of(&["one name"]), of(&[])), (0, 0));
    }
}
