//! A cell of a machine with runs: the figure that its row asks for, of the first run that has it.

use model::data::{RunData, Series};
use model::doc::{SeriesDoc, StudyCellDoc};
use model::params::same;
use model::study_file::{FigureKey, Statistic};
use model::{Card, Cards, Params, Unit, card};

use super::row::ratio_of;
use super::{Absent, MeasuredRun};

/// Said of a figure that no run has.
pub const NOT_YET: &str = "not measured yet";
const INTERVAL: &str = "95 % interval";
const WORST: &str = "bounds of both figures at their worst";

pub fn measured(
    key: &FigureKey,
    show: Statistic,
    runs: &[MeasuredRun<'_>],
    cards: Cards,
    absent: &[Absent],
) -> StudyCellDoc {
    let Some((name, over, under)) = ratio_of(key, cards) else {
        let key = existing(key, cards);
        return figure(&key, show, runs, cards, absent);
    };
    let at = |value: &str| {
        let mut one = key.clone();
        one.params.set(&name, value);
        figure(&existing(&one, cards), Statistic::Figure, runs, cards, absent)
    };
    ratio(&at(&over), &at(&under))
}

/// The key without parameters that are not there beside its others, such as a compiler where the language is another.
fn existing(key: &FigureKey, cards: Cards) -> FigureKey {
    let Some(card) = card::find(cards, &key.instrument) else { return key.clone() };
    let mut params = key.params.clone();
    params.retain(|name, _| card.param(name).is_none_or(|spec| card.has(spec, &key.params)));
    FigureKey { params, ..key.clone() }
}

fn figure(
    key: &FigureKey,
    show: Statistic,
    runs: &[MeasuredRun<'_>],
    cards: Cards,
    absent: &[Absent],
) -> StudyCellDoc {
    let card = card::find(cards, &key.instrument);
    runs.iter()
        .find_map(|run| of_run(key, show, run, card))
        .unwrap_or_else(|| StudyCellDoc::absent(why_absent(key, absent, card)))
}

/// The figure of a run, from its rows or from what it tells beside them; `None` where it has none.
fn of_run(
    key: &FigureKey,
    show: Statistic,
    run: &MeasuredRun<'_>,
    card: Option<&Card>,
) -> Option<StudyCellDoc> {
    let rows =
        run.doc.series.iter().filter(|series| {
            series.n > 0 && is_of(key, (&series.instrument, &series.metric, &series.params))
        });
    let rows: Vec<&SeriesDoc> = rows.collect();
    let cell = match rows.as_slice() {
        [] => of_conditions(key, show, run.data, card)?,
        [only] => statistic(only, show),
        several => StudyCellDoc::absent(format!("{} figures of the run fit", several.len())),
    };
    Some(StudyCellDoc { run: Some(run.doc.run.clone()), ..cell })
}

/// True of a figure that agrees with every parameter of the key.
fn is_of(key: &FigureKey, (instrument, metric, params): (&str, &str, &Params)) -> bool {
    let agrees = |(name, value): (&String, &String)| params.get(name).is_some_and(|own| same(own, value));
    instrument == key.instrument && metric == key.metric && key.params.iter().all(agrees)
}

/// The figure of a metric without a good direction, which has no row.
fn of_conditions(
    key: &FigureKey,
    show: Statistic,
    run: &RunData,
    card: Option<&Card>,
) -> Option<StudyCellDoc> {
    let own = run.series.iter().filter(|series| {
        let own = &series.key;
        is_of(key, (&own.instrument, &own.metric, &own.params)) && !series.measured().is_empty()
    });
    let own: Vec<&Series> = own.collect();
    match own.as_slice() {
        [] => None,
        [only] => Some(condition(only, show)),
        several if are_parts(several, card) => Some(mean_of_parts(several)),
        several => Some(StudyCellDoc::absent(format!("{} figures of the run fit", several.len()))),
    }
}

fn condition(series: &Series, show: Statistic) -> StudyCellDoc {
    let takes = series.measured();
    let cell = StudyCellDoc { n: Some(takes.len() as u64), ..StudyCellDoc::default() };
    if show != Statistic::Figure {
        return StudyCellDoc { value: of_takes(&takes, show), ..cell };
    }
    let summary = stats::summary_of_sittings(&series.by_sitting()).ok();
    let interval = summary.as_ref().and_then(|summary| summary.interval);
    StudyCellDoc {
        value: summary.as_ref().map(|summary| summary.median),
        low: interval.map(|interval| interval.low),
        high: interval.map(|interval| interval.high),
        bounds: interval.map(|_| INTERVAL.to_owned()),
        ..cell
    }
}

/// True where figures are shares of parts of one take, such as of each core.
fn are_parts(series: &[&Series], card: Option<&Card>) -> bool {
    let Some(card) = card else { return false };
    let whole = |one: &Series| {
        let mut params = one.key.params.clone();
        params.retain(|name, _| card.parts.iter().all(|part| part.name != name));
        (params, one.key.arm.clone())
    };
    let is_share = series.iter().all(|one| one.key.unit == Unit::Ratio);
    is_share && series.windows(2).all(|pair| whole(pair[0]) == whole(pair[1]))
}

/// The share of all parts together.
fn mean_of_parts(series: &[&Series]) -> StudyCellDoc {
    let takes: Vec<Vec<f64>> = series.iter().map(|one| one.measured()).collect();
    let medians: Option<Vec<f64>> = takes.iter().map(|takes| stats::median(takes)).collect();
    let n = takes.iter().map(Vec::len).min().map(|n| n as u64);
    StudyCellDoc { value: medians.and_then(|medians| stats::mean(&medians)), n, ..StudyCellDoc::default() }
}

fn statistic(series: &SeriesDoc, show: Statistic) -> StudyCellDoc {
    let cell = StudyCellDoc { n: Some(series.n), validity: Some(series.validity), ..StudyCellDoc::default() };
    match show {
        Statistic::Figure => StudyCellDoc {
            value: series.median.filter(|median| median.is_finite()),
            low: series.low,
            high: series.high,
            bounds: series.low.map(|_| INTERVAL.to_owned()),
            why: series.median.filter(|median| median.is_infinite()).map(|_| model::format::OVER.to_owned()),
            ..cell
        },
        show => StudyCellDoc { value: of_takes(&series.takes, show), ..cell },
    }
}

/// A statistic of single takes.
fn of_takes(takes: &[f64], show: Statistic) -> Option<f64> {
    match show {
        Statistic::Figure => stats::median(takes),
        Statistic::Mean => stats::mean(takes),
        Statistic::Deviation => stats::standard_deviation(takes),
        Statistic::Student => half_width(takes, stats::standard_deviation(takes)),
        Statistic::Least => takes.iter().copied().min_by(f64::total_cmp),
        Statistic::Most => takes.iter().copied().max_by(f64::total_cmp),
    }
}

/// Half the width of Student's interval of the mean.
fn half_width(takes: &[f64], deviation: Option<f64>) -> Option<f64> {
    let n = takes.len() as f64;
    let t = stats::student_quantile(0.975, n - 1.0);
    deviation.map(|deviation| t * deviation / n.sqrt())
}

/// One figure by another.
fn ratio(over: &StudyCellDoc, under: &StudyCellDoc) -> StudyCellDoc {
    let (Some(a), Some(b)) = (over.value, under.value.filter(|value| *value > 0.0)) else {
        let lacking = if over.value.is_none() { over } else { under };
        return lacking.clone();
    };
    let bounds = || {
        let (low, high) = (over.low? / under.high?, over.high? / under.low.filter(|low| *low > 0.0)?);
        Some((low, high))
    };
    let bounds = bounds();
    StudyCellDoc {
        value: Some(a / b),
        low: bounds.map(|(low, _)| low),
        high: bounds.map(|(_, high)| high),
        bounds: bounds.map(|_| WORST.to_owned()),
        n: over.n.min(under.n),
        validity: over.validity.max(under.validity),
        run: over.run.clone(),
        ..StudyCellDoc::default()
    }
}

/// Why no run has a figure.
fn why_absent(key: &FigureKey, absent: &[Absent], card: Option<&Card>) -> String {
    let is_its = |one: &&Absent| one.instrument == key.instrument && agrees(&one.params, &key.params, card);
    absent.iter().find(is_its).map_or_else(|| NOT_YET.to_owned(), |one| one.why.clone())
}

/// True where no parameter that both name differs. A part of a take is of all of it.
fn agrees(a: &Params, b: &Params, card: Option<&Card>) -> bool {
    let is_part = |name: &str| card.is_some_and(|card| card.parts.iter().any(|part| part.name == name));
    a.iter().all(|(name, value)| is_part(name) || b.get(name).is_none_or(|other| same(value, other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(text: &str) -> Params {
        Params::parse(text).unwrap()
    }

    #[test]
    fn a_ratio_has_the_bounds_of_both_at_their_worst() {
        let of = |value: f64, low: f64, high: f64| StudyCellDoc {
            value: Some(value),
            low: Some(low),
            high: Some(high),
            n: Some(10),
            ..StudyCellDoc::default()
        };
        let found = ratio(&of(20.0, 18.0, 22.0), &of(10.0, 9.0, 11.0));
        assert_eq!(found.value, Some(2.0));
        assert!((found.low.unwrap() - 18.0 / 11.0).abs() < 1e-12);
        assert!((found.high.unwrap() - 22.0 / 9.0).abs() < 1e-12);
        let none = StudyCellDoc::absent("no Java");
        assert_eq!(ratio(&of(1.0, 1.0, 1.0), &none), none);
        assert_eq!(ratio(&none, &of(1.0, 1.0, 1.0)), none);
    }

    #[test]
    fn what_cannot_be_had_is_said_of_the_figures_it_is_about() {
        let absent = [Absent {
            instrument: "mem-bandwidth".into(),
            params: params("threads=4"),
            why: "4 threads on 2 allowed CPUs".into(),
        }];
        let key = |text: &str| FigureKey {
            instrument: "mem-bandwidth".into(),
            metric: "bandwidth".into(),
            params: params(text),
        };
        assert_eq!(why_absent(&key("op=read;threads=4"), &absent, None), "4 threads on 2 allowed CPUs");
        assert_eq!(why_absent(&key("op=read;threads=1"), &absent, None), NOT_YET);
    }

    #[test]
    fn the_interval_of_ten_takes_is_student_s_with_nine_degrees_of_freedom() {
        let takes: Vec<f64> = (0..10).map(f64::from).collect();
        let deviation = stats::standard_deviation(&takes);
        let half = half_width(&takes, deviation).unwrap();
        assert!((half - 2.262_157 * deviation.unwrap() / 10f64.sqrt()).abs() < 1e-4, "{half}");
        assert_eq!(half_width(&takes[..1], None), None);
    }
}
