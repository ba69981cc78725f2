//! Figures that are ceilings of loads: which figures of a run, how sure they are, and where they were measured.
//!
//! A figure counts where none of its takes failed and no rule refuses it. Base units.

use model::data::{RunData, TakeHead};
use model::doc::CeilingFigureDoc;
use model::finding::Rule;
use model::metrics::{disk, load, memory, net};
use model::names::instrument;
use model::{Cards, NoteBody, Params, Phase, SeriesKey, Validity, card};

use crate::ceiling_figure::{Figure, LOOPBACK_INTERFACE, OWN_SERVER};
use crate::rules;
use crate::ruling::{Ruling, validity_of};
use crate::run_index::{FigureRow, RunContext, RunIndex};

/// The far end of network tests that is this machine.
const LOOPBACK: &str = "loopback";

/// True if the run has a load that ceilings are for.
pub fn has_loads(run: &RunData, cards: Cards) -> bool {
    let is_load = |name: &str| card::find(cards, name).is_some_and(|card| card.role.rate().is_some());
    run.series.iter().any(|series| is_load(&series.key.instrument))
}

/// True for a figure that is a ceiling of loads, if it holds.
pub fn is_ceiling(key: &SeriesKey) -> bool {
    let has = |name: &str, value: &str| key.params.get(name) == Some(value);
    match (key.instrument.as_str(), key.metric.as_str()) {
        (instrument::DISK_READ, metric) => {
            let is_direct = |engine: &str| matches!(engine, "auto" | "threads");
            metric == disk::IOPS.name() && key.params.get("engine").is_none_or(is_direct)
        }
        (instrument::DISK_SEQ, metric) => metric == disk::BANDWIDTH.name(),
        (instrument::NET_BANDWIDTH, metric) => metric == net::BANDWIDTH.name(),
        (instrument::NET_PACKETS, metric) => metric == net::PACKET_RATE.name(),
        (instrument::MEM_BANDWIDTH, metric) => {
            metric == memory::BANDWIDTH.name() && has("op", "copy") && has("counting", "bw_mem")
        }
        (instrument::WEB, metric) => metric == load::THROUGHPUT.name() && is_own_server(&key.params),
        _ => false,
    }
}

/// A closed loop on boxscore's own server, which is not held back by options.
fn is_own_server(params: &Params) -> bool {
    let is_free = |name: &str| params.get(name).is_none_or(|value| matches!(value, "auto" | "none"));
    params.get("server") == Some(OWN_SERVER)
        && is_free("url")
        && params.get("arrivals").is_none_or(|arrivals| arrivals == "closed")
        && is_free("limit-rate")
}

/// The ceilings among the figures of a run. None of a planted world, whose figures nobody measured.
pub fn figures(run: &RunData, cards: Cards) -> Vec<Figure> {
    if run.plan.fake.is_some() || !run.series.iter().any(|series| is_ceiling(&series.key)) {
        return Vec::new();
    }
    let context = RunContext { cards, ..RunContext::default() };
    let index = RunIndex::new(run, &context);
    // What generator and server reach together is what is asked for.
    let is_about_one = |ruling: &Ruling| matches!(ruling.finding.rule.base(), Rule::GeneratorBound(_));
    let rulings: Vec<Ruling> =
        rules::of_index(&index).into_iter().filter(|ruling| !is_about_one(ruling)).collect();
    let rows = index.figures().filter(|row| is_ceiling(&row.series.key));
    rows.filter_map(|row| figure(&index, row, &rulings)).collect()
}

fn figure(index: &RunIndex<'_>, row: FigureRow<'_>, rulings: &[Ruling]) -> Option<Figure> {
    let (run, key) = (index.run, &row.series.key);
    let places = index.places(row.series);
    let is_its = |take: &TakeHead| places.contains(&(take.cell, take.arm));
    let is_refused = |take: &TakeHead| take.phase != Phase::Repeated && !take.refusals.is_empty();
    let has_failed = run.failures().any(|(take, _)| is_its(take))
        || run.takes.iter().any(|take| is_its(take) && is_refused(take));
    let (validity, doubts) = validity_of(rulings, row.index);
    if has_failed || validity == Validity::Invalid {
        return None;
    }
    let summary = stats::summary_of_sittings(&row.series.by_sitting()).ok();
    let interval = summary.as_ref().and_then(|summary| summary.interval);
    let value = summary.map_or_else(|| stats::median(&row.series.measured()), |found| Some(found.median));
    let doc = CeilingFigureDoc {
        instrument: key.instrument.clone(),
        metric: key.metric.clone(),
        params: key.params.clone(),
        value: value.filter(|value| value.is_finite() && *value > 0.0)?,
        low: interval.map(|interval| interval.low).filter(|low| *low > 0.0),
        high: interval.map(|interval| interval.high),
        run: run.head.id.clone(),
        age: 0.0,
        validity,
        doubts,
    };
    Some(Figure {
        definition: key.definition,
        started_ns: run.head.started_ns,
        disks: noted(run, |note| if let NoteBody::TestDisks(disks) = note { Some(disks) } else { None }),
        interface: interface(run, &key.params),
        body: body(run, key, doc.value),
        doc,
    })
}

/// The first note of a kind.
fn noted<T: Clone>(run: &RunData, of: impl Fn(&NoteBody) -> Option<&T>) -> Option<T> {
    run.notes.iter().find_map(|note| of(&note.body)).cloned()
}

/// The interface of a network test; one run has one far end.
fn interface(run: &RunData, params: &Params) -> Option<String> {
    match params.get("to") {
        Some(LOOPBACK) => Some(LOOPBACK_INTERFACE.to_owned()),
        _ => noted(run, |note| if let NoteBody::Interface(name) = note { Some(name) } else { None }),
    }
}

/// Mean bytes of the answers of a load.
fn body(run: &RunData, key: &SeriesKey, rate: f64) -> Option<f64> {
    let is_its = |other: &SeriesKey| {
        other.instrument == key.instrument
            && other.metric == load::BANDWIDTH.name()
            && (&other.params, &other.arm) == (&key.params, &key.arm)
    };
    let series = run.series.iter().find(|series| is_its(&series.key))?;
    Some(stats::median(&series.measured())? / rate)
}
