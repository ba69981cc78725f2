//! The figures of a side that could answer a need of a load: searches, closed loops, and curves of open ones.

use std::collections::BTreeMap;

use model::data::RunData;
use model::generate::WELL;
use model::metrics::load;
use model::names::{self, Key};
use model::need::{Limit, Need};
use model::params::{Match, parse_span};
use model::{Card, Params, Unit, format};

use super::asked::{Asked, Requests};
use super::open_loop::{self, Goal, Held, Nothing};
use super::points::{self, Point};
use super::ready::{Figure, Measured};
use super::ruled::Ruled;
use crate::compare::RowKey;
use crate::compare::correspond::key_part;
use crate::judged::Judged;
use crate::loads::{Load, sweep};
use crate::noise::Known;

/// Times that are the same limit but for rounding.
const SAME: f64 = 1e-6;
/// If none of n requests failed, fewer than 3 / n of all do, in 95 of 100 cases.
const SHOWN: f64 = 3.0;
/// Parameters that a curve is over.
const OVER: [&str; 2] = ["load", "rate"];

/// Figures that answer a need, and why one that was measured does not.
#[derive(Default)]
pub struct Found<'a> {
    pub figures: Vec<Figure<'a>>,
    pub why_not: Option<String>,
}

/// Searches for the largest load within a limit.
pub fn searches<'a>(asked: Asked<'_, 'a>) -> Found<'a> {
    let mut all = Found::default();
    let Some((search, rate)) = asked.of.search.and_then(|search| Some((search, search.role.rate()?))) else {
        return all;
    };
    let strict = asked.need.errors.filter(|errors| *errors < 1.0 - WELL);
    for (key, mut figure) in figures(asked, search, rate, strict, |_| true) {
        let why = match asked.need.limit.as_ref().map(|limit| answers(limit, &key.params)) {
            Some(Answers::Exactly) => None,
            Some(Answers::Not) => {
                let why = format!("{} was searched; the need has {}", figure.shown(), conditions(asked.need));
                all.why_not.get_or_insert(why);
                continue;
            }
            Some(Answers::Stricter) => Some("it was searched within a stricter limit"),
            None => Some("it was searched within a limit, and the need has none"),
        };
        figure.at_least = why.is_some();
        let of_box = figure.why.take();
        let whys = why.map(|why| format!("a lower bound: {why}")).into_iter().chain(of_box);
        figure.why = Some(whys.collect::<Vec<_>>().join("; ")).filter(|why| !why.is_empty());
        all.figures.push(figure);
    }
    all
}

/// Closed loops, whatever their connections.
pub fn closed<'a>(asked: Asked<'_, 'a>) -> Vec<Figure<'a>> {
    let Some(rate) = asked.of.load.role.rate() else { return Vec::new() };
    let is_closed = |params: &Params| params.get("arrivals").is_none_or(|arrivals| arrivals == "closed");
    let all = figures(asked, asked.of.load, rate, asked.need.errors, is_closed);
    all.into_iter().map(|(_, figure)| figure).collect()
}

/// The figures of one metric that the need could mean. Runs that show more failures than `errors` are refused.
fn figures<'a>(
    asked: Asked<'_, 'a>,
    card: &'static Card,
    metric: &str,
    errors: Option<f64>,
    also: impl Fn(&Params) -> bool,
) -> Vec<(RowKey, Figure<'a>)> {
    asked.ready.figures(
        |_, series| {
            let key = &series.key;
            key.instrument == card.name
                && key.metric == metric
                && key.definition == asked.ready.definitions.wanted(card)
                && asked.fits(card, &key.params)
                && also(&key.params)
        },
        |judged, row| match errors.zip(judged.index().load_of(row)) {
            Some((errors, load)) => shows(load, errors),
            None => Ok(()),
        },
    )
}

/// Fails where a load does not show that so few requests fail.
fn shows(load: &Load<'_>, errors: f64) -> Result<(), String> {
    let share = |share: f64| format::percent(share);
    match (load.failed_share(), load.requests()) {
        (Some(failed), _) if failed > errors => Err(format!(
            "{} of its requests failed, more than the {} of the need",
            share(failed),
            share(errors)
        )),
        (Some(_), Some(requests)) if requests * errors >= SHOWN => Ok(()),
        (Some(_), Some(requests)) => Err(format!(
            "its {} requests are too few to show errors below {}",
            format::number(requests),
            share(errors)
        )),
        _ => Err("its failed requests were not counted".to_owned()),
    }
}

/// How a search answers a limit.
enum Answers {
    Exactly,
    Stricter,
    Not,
}

fn answers(limit: &Limit, params: &Params) -> Answers {
    let searched = params.get("percentile").and_then(share).zip(params.get("limit").and_then(parse_span));
    let Some(((percentile, limit_s), asked)) = searched.zip(share(&limit.percentile)) else {
        return Answers::Not;
    };
    let same = |a: f64, b: f64| (a / b - 1.0).abs() <= SAME;
    match (same(percentile, asked), same(limit_s, limit.seconds)) {
        (true, true) => Answers::Exactly,
        (is_same, is_limit) if (is_same || percentile > asked) && (is_limit || limit_s < limit.seconds) => {
            Answers::Stricter
        }
        _ => Answers::Not,
    }
}

/// `p99` as a share.
pub fn share(percentile: &str) -> Option<f64> {
    let percent = percentile.strip_prefix('p')?.parse::<f64>().ok()?;
    (percent > 0.0 && percent < 100.0).then_some(percent / 100.0)
}

/// `p99 < 20 ms, errors < 1 %`.
pub fn conditions(need: &Need) -> String {
    let limit = need.limit.as_ref().map(ToString::to_string);
    let errors = need.errors.map(|errors| format!("errors < {}", format::percent(errors)));
    let all: Vec<String> = limit.into_iter().chain(errors).collect();
    all.join(", ")
}

/// The largest rate that somebody published; where the need has a limit, one within it. `None` where there is none, and
/// why those that there are do not answer it.
pub fn published<'a>(asked: Asked<'_, 'a>) -> Option<Result<Point<'a>, String>> {
    let side = asked.ready.side;
    let fit = |card: &'static Card| {
        let points = side.published.iter().filter(move |row| {
            row.key.instrument == card.name
                && Some(row.key.metric.as_str()) == card.role.rate()
                && row.key.definition == asked.ready.definitions.wanted(card)
                && points::is_sound(row)
        });
        points.filter_map(move |row| Some((row, asked.fits_published(card, &row.key.params)?)))
    };
    let largest = |a: &Point<'_>, b: &Point<'_>| a.row.value.total_cmp(&b.row.value);
    let searched = asked.of.search.into_iter().flat_map(fit).filter_map(|(row, open)| {
        let how = asked.need.limit.as_ref().map(|limit| answers(limit, &row.key.params));
        let at_least = !matches!(how, Some(Answers::Exactly));
        (!matches!(how, Some(Answers::Not))).then_some(Point { row, open, at_least })
    });
    let plain = fit(asked.of.load).map(|(row, open)| Point { row, open, at_least: false });
    let (searched, plain) = (searched.max_by(largest), plain.max_by(largest));
    match (&asked.need.limit, plain, searched) {
        (None, Some(plain), _) => Some(Ok(plain)),
        (_, _, Some(searched)) => Some(Ok(searched)),
        (Some(_), Some(plain), None) => Some(Err(format!(
            "{} was published without response times, and the need has {}",
            format::amount(plain.row.value, plain.row.key.unit),
            conditions(asked.need)
        ))),
        (_, None, None) => None,
    }
}

/// A curve of one run.
struct OfRun<'l, 'a> {
    params: Params,
    name: String,
    loads: Vec<&'l Load<'a>>,
}

/// The largest rates that open loops held, by setup.
pub fn curves<'a>(asked: Asked<'_, 'a>) -> Found<'a> {
    let mut all: BTreeMap<Params, Figure<'a>> = BTreeMap::new();
    let (mut nothing, goal) = (BTreeMap::new(), goal(asked.need));
    let has_load =
        |run: &RunData| run.series.iter().any(|series| series.key.instrument == asked.of.load.name);
    for judged in asked.ready.runs().iter().filter(|judged| has_load(judged.run)) {
        let arms = asked.ready.arms(judged.run);
        for curve in of_run(asked, judged.index().loads(), &arms) {
            match open_loop::held(&curve.loads, judged.run, goal) {
                Ok(held) => {
                    let (measured, why) = measured(asked, judged, &held);
                    let new = || Figure {
                        name: name(asked.need, &curve.name),
                        instrument: asked.of.load.name,
                        unit: Unit::PerSec,
                        of: Vec::new(),
                        earlier: earlier(asked, &curve.params, goal),
                        at_least: false,
                        no_card: curve.loads.iter().any(|load| load.is_loopback()),
                        why: None,
                    };
                    let figure = all.entry(curve.params.clone()).or_insert_with(new);
                    figure.of.push(measured);
                    figure.why = Some(why);
                }
                Err(why) => {
                    nothing.insert(curve.params, none(asked.need, &curve.name, &why));
                }
            }
        }
    }
    // A setup of which a run held nothing has no level.
    all.retain(|setup, _| !nothing.contains_key(setup));
    Found { figures: all.into_values().collect(), why_not: nothing.into_values().flatten().next() }
}

fn goal(need: &Need) -> Goal {
    let limit = need.limit.as_ref().and_then(|limit| Some((share(&limit.percentile)?, limit.seconds)));
    Goal { limit, errors: need.errors.unwrap_or(1.0 - WELL) }
}

/// The open loops of a run that the need could mean, by setup: those that differ in their rates alone, in one arm or
/// in several.
fn of_run<'l, 'a>(asked: Asked<'_, '_>, loads: &'l [Load<'a>], arms: &[&str]) -> Vec<OfRun<'l, 'a>> {
    let card = asked.of.load;
    let is_steady = |load: &Load<'_>| match load.params.get("arrivals") {
        Some("constant" | "poisson") => true,
        Some("mix") => !matches!(asked.requests, Requests::Plain),
        _ => false,
    };
    let fit = |load: &&Load<'_>| {
        load.instrument == card.name
            && load.definition == asked.ready.definitions.wanted(card)
            && arms.contains(&load.arm)
            && is_steady(load)
            && asked.fits(card, &load.params)
    };
    let rate = |load: &Load<'_>| OVER.map(|name| load.params.get(name).map(str::to_owned));
    let mut all: Vec<OfRun<'_, '_>> = Vec::new();
    for load in loads.iter().filter(fit) {
        let mut own = load.params.clone();
        own.retain(|name, _| !OVER.contains(&name));
        let params = key_part(card.params, &own, Match::Close);
        match all.iter_mut().find(|known| known.params == params) {
            // A run speaks once for a rate: by its first arm.
            Some(known) if known.loads.iter().any(|other| rate(other) == rate(load)) => {}
            Some(known) => known.loads.push(load),
            None => {
                let metric = card.role.rate().unwrap_or_default();
                let key = Key { card: Some(card), instrument: card.name, metric, params: &own };
                let name = names::load::label(card, key, &["connections"]);
                all.push(OfRun { params, name, loads: vec![load] });
            }
        }
    }
    all
}

/// The rate that a run held, under the rules, and where it lies.
fn measured<'a>(asked: Asked<'_, 'a>, judged: &Judged<'a>, held: &Held<'_, '_>) -> (Measured<'a>, String) {
    let mut metrics = asked.of.load.role.rate().into_iter().collect::<Vec<_>>();
    let limited = asked.need.limit.is_some();
    metrics.extend([load::RESPONSE.name(), load::RESPONSE_P99.name()].into_iter().filter(|_| limited));
    let rows: Vec<usize> = held.at.iter().flat_map(|load| load.rows(&metrics)).collect();
    let mut ruled = Ruled::of_rows(judged.rulings(), &rows);
    if let Some(errors) = asked.need.errors.filter(|errors| *errors < 1.0 - WELL)
        && let Some(Err(why)) = held.at.iter().map(|load| shows(load, errors)).find(Result::is_err)
    {
        ruled.refuse(why);
    }
    let by_generator = |load: &&Load<'_>| sweep::generator(load, judged.index().loads()).is_bound();
    let (next, value) = (held.next.filter(|next| !by_generator(next)), rate(held.worth.m.exp()));
    let mut why = match (held.next.and_then(Load::offered), next) {
        (Some(offered), Some(_)) => format!("{value} was held, {} was not", rate(offered)),
        (Some(offered), None) => {
            format!("a lower bound: {value} was held, and the load generator limited {}", rate(offered))
        }
        (None, _) => format!("a lower bound: {value}, the highest rate that was tried, was held"),
    };
    if let (without @ 1.., all) = held.without {
        why = format!("{why}; in {without} of {all} blocks no rate was");
    }
    let at_least = next.is_none() || ruled.bound.is_some();
    (Measured { run: judged.run, worth: held.worth, ruled, at_least, kept: None }, why)
}

/// The same curve in earlier runs.
fn earlier<'a>(asked: Asked<'_, 'a>, setup: &Params, goal: Goal) -> Vec<Known<'a>> {
    let of = |(run, loads): &(&'a RunData, Vec<Load<'a>>)| {
        let curves = of_run(asked, loads, &asked.ready.arms(run));
        let curve = curves.into_iter().find(|curve| curve.params == *setup)?;
        Some((run.head.id.as_str(), open_loop::held(&curve.loads, run, goal).ok()?.worth))
    };
    asked.ready.earlier().iter().filter_map(of).collect()
}

fn name(need: &Need, setup: &str) -> String {
    match conditions(need).as_str() {
        "" => format!("{setup}, open loop"),
        conditions => format!("{setup}, open loop, {conditions}"),
    }
}

/// Why a run says nothing.
fn none(need: &Need, setup: &str, why: &Nothing) -> Option<String> {
    let kept = need.limit.as_ref().map_or_else(
        || "was held".to_owned(),
        |Limit { percentile, seconds }| {
            format!("kept {percentile} within {}", format::quantity(*seconds, Unit::Second))
        },
    );
    match why {
        Nothing::Lowest(lowest) => {
            Some(format!("no load of the run {kept}; the lowest was {} ({setup})", rate(*lowest)))
        }
        Nothing::FewRequests => Some(format!(
            "the open loops had too few requests for {} ({setup})",
            need.limit.as_ref().map_or("their percentile", |limit| &limit.percentile)
        )),
        Nothing::Empty => None,
    }
}

fn rate(per_second: f64) -> String {
    format::amount(per_second, Unit::PerSec)
}
