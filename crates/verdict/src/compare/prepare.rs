//! One side made ready: its rows by key, each with the runs that may speak for it.
//!
//! Only the newest twenty runs of a side count. A run in which a figure was refused does not speak for that figure
//! unless all were; then the row is refused.

use std::collections::{BTreeMap, BTreeSet};

use model::data::{RunData, Series};
use model::why::Disturbance;
use model::{Better, Validity};
use stats::Run;
use stats::between::HISTORY_MAX;

use super::doubts::{self, Doubt};
use super::matching::{Match, RowKey, arm_name, published_for};
use super::{CompareOptions, Side, step};
use crate::rules::clock::TakeClock;
use crate::rules::{self, Ruling};
use crate::run::RunContext;

/// One series of one run of a side.
#[derive(Clone)]
pub struct Entry<'a> {
    pub run: &'a RunData,
    pub series: &'a Series,
    pub validity: Validity,
    pub reasons: Vec<String>,
    /// Disturbances during the run that make it doubtful.
    pub met: Vec<Disturbance>,
    /// The load generator, not the server, set it.
    pub is_bound: bool,
    /// The clock of its takes.
    pub clock: Option<TakeClock>,
    /// Location and spread of the run's takes; `None` without usable takes.
    pub worth: Option<Run>,
}

#[derive(Clone)]
pub struct Row<'a> {
    pub better: Better,
    /// Headline in every run's plan.
    pub headline: bool,
    /// Oldest run first.
    pub entries: Vec<Entry<'a>>,
}

pub struct Prepared<'a> {
    pub side: &'a Side<'a>,
    /// In the order of the runs' series.
    pub order: Vec<RowKey>,
    pub rows: BTreeMap<RowKey, Row<'a>>,
    /// Doubts of the rules, each once.
    pub doubts: Vec<Doubt>,
    /// Keys that stood for two series of one run, so that they stand for none.
    pub ambiguous: BTreeSet<RowKey>,
    /// The coarsest step of the clock that a run found, in seconds.
    pub step: Option<f64>,
}

impl<'a> Prepared<'a> {
    /// Nothing of a side yet.
    #[must_use]
    pub fn new(side: &'a Side<'a>) -> Prepared<'a> {
        Prepared {
            side,
            order: Vec::new(),
            rows: BTreeMap::new(),
            doubts: Vec::new(),
            ambiguous: BTreeSet::new(),
            step: None,
        }
    }
}

/// A row of a side: measured, or a published point.
pub enum Said<'p, 'a> {
    Measured(&'p Row<'a>),
    Point(Match<'p>),
}

impl<'a> Prepared<'a> {
    pub fn says<'p>(&'p self, key: &RowKey, better: Better) -> Option<Said<'p, 'a>> {
        match self.rows.get(key) {
            Some(row) => (row.better == better).then_some(Said::Measured(row)),
            None => published_for(key, better, &self.side.published).map(Said::Point),
        }
    }

    /// Direction of a row of this side, measured or published.
    pub fn better(&self, key: &RowKey) -> Option<Better> {
        let published =
            || self.side.published.iter().find(|row| RowKey::published(row) == *key).map(|row| row.better);
        self.rows.get(key).map(|row| row.better).or_else(published)
    }
}

pub fn prepare<'a>(side: &'a Side<'a>, dropped: &BTreeSet<String>, options: &CompareOptions) -> Prepared<'a> {
    let mut runs: Vec<&RunData> = side.runs.clone();
    runs.sort_by_key(|run| run.head.started_ns);
    let newest = runs.len().saturating_sub(HISTORY_MAX);
    let context = RunContext { cards: options.cards, ..RunContext::default() };
    let mut prepared = Prepared::new(side);
    for run in runs.into_iter().skip(newest) {
        add_run(&mut prepared, run, &context, dropped, options);
    }
    let ambiguous = std::mem::take(&mut prepared.ambiguous);
    prepared.order.retain(|key| !ambiguous.contains(key));
    prepared.rows.retain(|key, _| !ambiguous.contains(key));
    prepared.ambiguous = ambiguous;
    prepared
}

fn add_run<'a>(
    prepared: &mut Prepared<'a>,
    run: &'a RunData,
    context: &RunContext<'_>,
    dropped: &BTreeSet<String>,
    options: &CompareOptions,
) {
    let rulings = rules::rulings(run, context);
    let arm = arm_name(prepared.side, run);
    for doubt in doubts::of_arm(run, arm, &rulings) {
        if !prepared.doubts.iter().any(|known| known.is_like(&doubt)) {
            prepared.doubts.push(doubt);
        }
    }
    prepared.step = prepared.step.into_iter().chain(step::step_of(run, &rulings)).reduce(f64::max);
    let look = rules::Look::new(run, context);
    let mut seen = BTreeSet::new();
    // Without a direction nothing is better or worse.
    let judged = |series: &Series| {
        series.better != Better::Neither && wanted(&series.key.instrument, &series.key.metric, options)
    };
    for row in look.figures().filter(|row| row.series.key.arm == arm && judged(row.series)) {
        let key = RowKey::of(row.series, run, dropped);
        if !seen.insert(key.clone()) {
            prepared.ambiguous.insert(key);
            continue;
        }
        if !prepared.rows.contains_key(&key) {
            prepared.order.push(key.clone());
        }
        let Some(entry) = entry(run, &look, &rulings, row) else { continue };
        let (better, headline) = (entry.series.better, crate::run::is_headline(&look, row));
        let new = || Row { better, headline: true, entries: Vec::new() };
        let known = prepared.rows.entry(key).or_insert_with(new);
        known.headline &= headline;
        known.entries.push(entry);
    }
}

/// One figure of a run, with what the rules leave of it.
pub fn entry<'a>(
    run: &'a RunData,
    look: &rules::Look<'_>,
    rulings: &[Ruling],
    row: rules::Row<'_>,
) -> Option<Entry<'a>> {
    let series = run.series.get(row.index)?;
    let (validity, reasons) = rules::of_series(rulings, row.index);
    let met = rules::environment::disturbances(rulings, row.index);
    let is_bound = rules::generator_bound::doubts(rulings, row.index);
    let worth = crate::noise::run_of(series);
    let clock = rules::clock::of_takes(look, row);
    Some(Entry { run, series, validity, reasons, met, is_bound, clock, worth })
}

/// True where a figure of this instrument and metric was asked for.
pub fn wanted(instrument: &str, metric: &str, options: &CompareOptions) -> bool {
    options.metric.as_ref().is_none_or(|name| *name == metric || *name == instrument)
}

impl<'a> Row<'a> {
    /// The entries that may speak, or why none may.
    pub fn speaking(&self) -> Result<Vec<&Entry<'a>>, String> {
        let good: Vec<&Entry<'a>> =
            self.entries.iter().filter(|entry| entry.validity != Validity::Invalid).collect();
        if good.is_empty() {
            let why = self.entries.iter().rev().find_map(|entry| entry.reasons.first());
            return Err(why.cloned().unwrap_or_else(|| "no takes".to_owned()));
        }
        Ok(good)
    }

    /// The first doubt about the entries that speak.
    pub fn doubt(&self) -> Option<&str> {
        let doubtful = self.entries.iter().filter(|entry| entry.validity == Validity::Doubtful);
        doubtful.flat_map(|entry| &entry.reasons).next().map(String::as_str)
    }

    /// A run that speaks has a lower bound in place of the figure.
    pub fn is_bound(&self) -> bool {
        self.entries.iter().any(|entry| entry.validity != Validity::Invalid && entry.is_bound)
    }

    /// Disturbances during at least half of the entries that speak. During fewer, they are part of the spread
    /// between runs.
    pub fn met(&self) -> &[Disturbance] {
        let speaking = || self.entries.iter().filter(|entry| entry.validity != Validity::Invalid);
        let disturbed = || speaking().filter(|entry| !entry.met.is_empty());
        match disturbed().next() {
            Some(first) if disturbed().count() * 2 >= speaking().count() => &first.met,
            _ => &[],
        }
    }

    /// The location of the side: the median of one run, the geometric mean of several runs' medians.
    pub fn value(&self) -> Option<f64> {
        let usable: Vec<f64> = match self.speaking() {
            Ok(good) => good.iter().filter_map(|entry| stats::median(&entry.series.measured())).collect(),
            Err(_) => {
                self.entries.iter().filter_map(|entry| stats::median(&entry.series.measured())).collect()
            }
        };
        match usable.as_slice() {
            [] => None,
            [only] => Some(*only),
            several => stats::geometric_mean(several),
        }
    }
}
