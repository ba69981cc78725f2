//! Logs as runs of the store: one study, a machine for each label, a take for each hour.
//!
//! A run keeps the figures of each hour, the side of a cut, and the machine's telemetry beside it; `show`, `compare`
//! and `report` read those. The lines stay in the logs; `--out` keeps the aggregates.

use std::collections::BTreeMap;

use instruments::workload::logs as card;
use logs::aggregate::sums::Sums;
use logs::aggregate::{Aggregate, CoarseTimes};
use model::data::{Origin, Point, RunData, RunHead, Series, Status, TakeHead};
use model::doc::{BesideDoc, TrafficDoc};
use model::metrics::logs as metrics;
use model::plan::{Takes, Via};
use model::reading::{Phase, SeriesKey, Value};
use model::traffic::{CUT, StatusClass, Traffic, WHERE};
use model::{Better, Cell, Instrument, MetricInfo, Note, Params, Plan, Shared};
use store::{Filter, Store};

use super::Named;
use super::answers::{Outages, answers, with_outage};
use super::cut::Parted;
use super::figures::{group, whole};
use super::tops::tops;
use crate::cli::agent::BUILD;
use crate::lookup::ids::Ids;

/// Paths of a list that are kept.
const TOP: usize = 20;
const HOUR_NS: u64 = 3_600_000_000_000;
const NS: i64 = 1_000_000_000;

/// Data of the labels besides their aggregates.
#[derive(Clone, Copy, Default)]
pub struct Besides<'a> {
    pub parted: Option<&'a Parted>,
    pub machines: &'a [BesideDoc],
    /// The conditions that all requests met.
    pub conditions: &'a [String],
    pub outages: Option<&'a Outages>,
}

impl Besides<'_> {
    /// In one order, so that equal filters are equal.
    fn sorted(&self) -> Vec<String> {
        let mut all = self.conditions.to_vec();
        all.sort_unstable();
        all
    }

    fn filter(&self) -> Option<String> {
        (!self.conditions.is_empty()).then(|| self.sorted().join(" and "))
    }

    /// The filter as a parameter of every figure: figures of unlike filters are not compared.
    fn params(&self) -> Params {
        let mut params = Params::default();
        if let Some(filter) = self.filter() {
            params.set(WHERE, &filter);
        }
        params
    }

    /// The machine that a label is stored under. A filter is part of it: its runs are not those of the whole log.
    pub fn machine(&self, label: &str) -> String {
        self.filter().map_or_else(|| label.to_owned(), |filter| format!("{label} where {filter}"))
    }
}

/// One run for each label, in their order. A label without a time of day has no hours, so no run.
pub fn keep(
    all: &[Named<'_>],
    besides: Besides<'_>,
    label: Option<&str>,
    notes: &[Note],
    ids: &mut Ids,
) -> Vec<RunData> {
    let all: Vec<(&str, &Aggregate, Vec<Hour>)> = all
        .iter()
        .map(|(name, one)| (*name, *one, hours(one)))
        .filter(|(.., hours)| !hours.is_empty())
        .collect();
    let names: Vec<&str> = all.iter().map(|(name, ..)| *name).collect();
    let params = besides.params();
    let (study, plan) = (ids.next(), Shared::from(plan(&names, label, &besides)));
    let first = all.iter().filter_map(|(.., hours)| hours.first()).map(|hour| hour.hour).min().unwrap_or(0);
    let run = |(name, one, hours): &(&str, &Aggregate, Vec<Hour>)| RunData {
        head: head(ids.next(), &study, (&besides.machine(name), *one), label, hours),
        origin: Origin { build: BUILD.to_owned(), ..Origin::default() },
        clock_offsets: Vec::new(),
        plan: plan.clone(),
        facts: Vec::new(),
        takes: takes(hours, first),
        series: series(hours, first, &params),
        notes: notes.to_vec(),
        traffic: Some(traffic(name, one, besides)),
        telemetry: Vec::new(),
        target_telemetry: Vec::new(),
        own_cost: None,
    };
    all.iter().map(run).collect()
}

/// The id of the first of these runs in the store, if an earlier study has the same runs: logs that are read again are
/// stored once. Fails when the store cannot be read.
pub fn stored(store: &Store, runs: &[RunData]) -> store::Result<Option<String>> {
    let Some(first) = runs.first() else { return Ok(None) };
    for known in same(store, first, None)? {
        let study = store.heads(&Filter { study: Some(known.study.clone()), ..Filter::default() })?;
        let mut there = study.len() == runs.len();
        for run in runs.iter().skip(1) {
            there = there && !same(store, run, Some(&known.study))?.is_empty();
        }
        if there {
            return Ok(Some(known.id));
        }
    }
    Ok(None)
}

/// Stored runs of the same label with the same content as this one.
fn same(store: &Store, run: &RunData, study: Option<&String>) -> store::Result<Vec<RunHead>> {
    let filter =
        Filter { machine_id: Some(run.head.machine_id.clone()), study: study.cloned(), ..Filter::default() };
    let mut found = Vec::new();
    for head in store.heads(&filter)? {
        let hour = |head: &RunHead| head.started_ns.div_euclid(3600 * NS);
        let alike = head.label == run.head.label && hour(&head) == hour(&run.head);
        if alike && head.takes == run.head.takes && store.traffic(&head.id)? == run.traffic {
            found.push(head);
        }
    }
    Ok(found)
}

/// The part of a run that comparisons and the report are made from.
fn traffic(name: &str, one: &Aggregate, besides: Besides<'_>) -> Traffic {
    // A run that recorded another time lies beside nothing.
    let is_beside = |doc: &&BesideDoc| doc.label == name && doc.step.is_some();
    Traffic {
        group: group(name, one),
        conditions: besides.sorted(),
        top: tops(name, one, TOP),
        whole: over_all(&whole(name, one)),
        answers: Some(Box::new(match besides.outages {
            Some(outages) => with_outage(name, outages, answers(one, TOP)),
            None => answers(one, TOP),
        })),
        cut: besides.parted.and_then(|parted| parted.side(name)).cloned(),
        beside: besides.machines.iter().find(is_beside).cloned(),
    }
}

/// The figures whose hours are stored, over all requests.
fn over_all(label: &TrafficDoc) -> BTreeMap<String, f64> {
    let all = [
        (metrics::MEAN_OF_RATIOS.name(), label.mean_of_ratios),
        (metrics::RATIO_OF_TOTALS_GOOD.name(), label.ratio_of_totals_good),
        (metrics::RATIO_OF_TOTALS.name(), label.ratio_of_totals),
        (metrics::TIME_MEAN_GOOD.name(), label.time_mean_good),
        (metrics::TIME_MEAN.name(), label.time_mean),
        (metrics::TIME_P50.name(), label.p50),
        (metrics::TIME_P90.name(), label.p90),
        (metrics::TIME_P99.name(), label.p99),
        (metrics::SIZE_MEAN.name(), label.size_mean),
    ];
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The cell has the moment of a cut too; figures of a side do not, since they may stand beside an uncut log.
fn plan(names: &[&str], label: Option<&str>, besides: &Besides<'_>) -> Plan {
    let mut params = besides.params();
    if let Some(parted) = besides.parted {
        params.set(CUT, parted.given());
    }
    let machine = |name: &&str| Via { name: besides.machine(name), command: None };
    let cell = Cell {
        instrument: verdict::traffic::INSTRUMENT.to_owned(),
        params,
        headline: vec![
            metrics::RATIO_OF_TOTALS_GOOD.info().name.to_owned(),
            metrics::TIME_P99.info().name.to_owned(),
        ],
    };
    Plan {
        seed: 0,
        machines: names.iter().map(machine).collect(),
        take_seconds: 3600.0,
        label: label.map(str::to_owned),
        ..Plan::bare(vec![cell], Takes::Fixed(1))
    }
}

/// An hour since 1970, what was served in it, and how long requests took.
struct Hour {
    hour: i64,
    sums: Sums,
    /// Those that the server failed (5xx), among the others.
    failed: Sums,
    times: CoarseTimes,
}

impl Hour {
    fn good(&self) -> Sums {
        let mut good = self.sums;
        good.take(&self.failed);
        good
    }
}

fn hours(one: &Aggregate) -> Vec<Hour> {
    let mut all: BTreeMap<i64, Hour> = BTreeMap::new();
    let fresh =
        |hour| Hour { hour, sums: Sums::default(), failed: Sums::default(), times: CoarseTimes::default() };
    for (slot, strata) in one.slots.sorted().unwrap_or_default() {
        let hour = slot.hour();
        all.entry(hour).or_insert_with(|| fresh(hour)).sums.merge(&strata.total());
    }
    for (slot, failed) in one.failed_slots.sorted().unwrap_or_default() {
        let hour = slot.hour();
        let of_server = failed.total(StatusClass::Server);
        all.entry(hour).or_insert_with(|| fresh(hour)).failed.merge(&of_server);
    }
    for (slot, times) in one.times_by_hour().unwrap_or_default() {
        let hour = slot.hour();
        all.entry(hour).or_insert_with(|| fresh(hour)).times.merge(times);
    }
    all.into_values().filter(|hour| hour.sums.requests > 0).collect()
}

/// From the first to the last request, whatever the hours of the takes.
fn head(
    id: String,
    study: &str,
    (name, one): (&str, &Aggregate),
    label: Option<&str>,
    hours: &[Hour],
) -> RunHead {
    let takes = hours.len() as u64;
    let (first, _) = one.span.unwrap_or_default();
    RunHead {
        id,
        study: study.to_owned(),
        status: Status::Complete,
        machine_id: format!("logs {name}"),
        machine: name.to_owned(),
        label: label.map(str::to_owned),
        started_ns: first.saturating_mul(NS),
        // Of the last second too.
        seconds: one.span.map(|(first, last)| (last - first + 1) as f64),
        build: BUILD.to_owned(),
        config_class: String::new(),
        price: None,
        watts: None,
        takes,
        faults: 0,
        measured: takes,
        hidden: false,
    }
}

/// Nanoseconds since the study's first hour.
fn since(hour: &Hour, first: i64) -> u64 {
    u64::try_from(hour.hour - first).unwrap_or(0).saturating_mul(HOUR_NS)
}

fn block(hour: &Hour, first: i64) -> u32 {
    u32::try_from(hour.hour - first).unwrap_or(u32::MAX)
}

fn takes(hours: &[Hour], first: i64) -> Vec<TakeHead> {
    let take = |(seq, hour): (u64, &Hour)| TakeHead {
        seq,
        block: block(hour, first),
        sitting: 0,
        phase: Phase::Measured,
        cell: 0,
        arm: 0,
        start_ns: since(hour, first),
        end_ns: since(hour, first).saturating_add(HOUR_NS),
        repeats: 1,
        fault: None,
        refusals: Vec::new(),
    };
    (0..).zip(hours).map(take).collect()
}

/// A metric of the card and its value in an hour.
type Figure = (MetricInfo, fn(&Hour) -> Option<f64>);

fn figures() -> [Figure; 10] {
    fn time(hour: &Hour, share: f64) -> Option<f64> {
        // Neither a time that is only known to be longer, nor one of a clock that showed nothing but 0.
        let told = hour.sums.zero_time < hour.times.total();
        let ns = hour.times.quantile(share).filter(|ns| told && *ns < CoarseTimes::HIGHEST)?;
        Some(ns as f64 / 1e9)
    }
    [
        (metrics::MEAN_OF_RATIOS.info(), |hour| hour.sums.mean_of_ratios()),
        (metrics::RATIO_OF_TOTALS_GOOD.info(), |hour| hour.good().ratio_of_totals()),
        (metrics::RATIO_OF_TOTALS.info(), |hour| hour.sums.ratio_of_totals()),
        (metrics::TIME_MEAN_GOOD.info(), |hour| hour.good().mean_seconds().filter(|mean| *mean > 0.0)),
        (metrics::TIME_MEAN.info(), |hour| hour.sums.mean_seconds().filter(|mean| *mean > 0.0)),
        (metrics::TIME_P50.info(), |hour| time(hour, 0.5)),
        (metrics::TIME_P90.info(), |hour| time(hour, 0.9)),
        (metrics::TIME_P99.info(), |hour| time(hour, 0.99)),
        (metrics::SIZE_MEAN.info(), |hour| hour.sums.mean_bytes()),
        (metrics::REQUESTS.info(), |hour| Some(hour.sums.requests as f64)),
    ]
}

fn series(hours: &[Hour], first: i64, params: &Params) -> Vec<Series> {
    let definition = card::INSTRUMENT.card().definition;
    let one = |(metric, of): Figure| {
        let point = |(seq, hour): (u64, &Hour)| {
            Some(Point {
                seq,
                block: block(hour, first),
                sitting: 0,
                phase: Phase::Measured,
                at_ns: since(hour, first),
                window_ns: HOUR_NS,
                value: Value::Number(of(hour)?),
            })
        };
        let points: Vec<Point> = (0..).zip(hours).filter_map(point).collect();
        let key = SeriesKey {
            instrument: verdict::traffic::INSTRUMENT.to_owned(),
            metric: metric.name.to_owned(),
            unit: metric.unit,
            params: params.clone(),
            arm: String::new(),
            definition,
        };
        let better: Better = metric.better;
        (!points.is_empty()).then_some(Series { key, better, points })
    };
    figures().into_iter().filter_map(one).collect()
}
