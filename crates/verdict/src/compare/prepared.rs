//! A side made ready for comparison: its rows by key, and the runs that may speak for each.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use model::data::{RunData, Series};
use model::why::{Unsteady, Weighed};
use model::{Better, Cards, Conditions, Params, Validity, card};
use stats::Run;

use super::doubt::Doubt;
use super::matching::{Match, RowKey, published_for};
use super::side::{CompareOptions, Side};
use crate::noise::History;
use crate::quantiles::Quantile;
use crate::rules::clock::TakeClock;

/// One series of one run of a side.
#[derive(Clone)]
pub struct Entry<'a> {
    pub run: &'a RunData,
    pub series: &'a Series,
    pub validity: Validity,
    pub reasons: Vec<String>,
    /// Disturbances during the run that make it doubtful.
    pub met: Vec<Weighed>,
    /// Takes that drift or resemble each other, so that more of them may settle it on the wrong side.
    pub unsteady: Option<Unsteady>,
    /// The load generator, not the server, set it.
    pub is_bound: bool,
    /// The clock of its takes.
    pub clock: Option<TakeClock>,
    /// Of a percentile: the times that it is of.
    pub quantile: Option<Quantile>,
    /// Location and spread of the run's takes; `None` without usable takes.
    pub worth: Option<Run>,
}

impl Entry<'_> {
    /// The median of the takes, or the quantile of all their events.
    fn value(&self) -> Option<f64> {
        match &self.quantile {
            Some(quantile) => quantile.value(),
            None => stats::median(&self.series.measured()),
        }
    }
}

#[derive(Clone)]
pub struct SideRow<'a> {
    /// The parameters that it was measured with; its key may be that of a row to which it corresponds.
    pub given: Params,
    pub better: Better,
    /// Headline in every run's plan.
    pub headline: bool,
    /// Oldest run first.
    pub entries: Vec<Entry<'a>>,
}

pub struct Prepared<'a> {
    pub side: &'a Side<'a>,
    /// The side's earlier runs.
    pub history: Rc<History<'a>>,
    /// In the order of the runs' series.
    pub order: Vec<RowKey>,
    pub rows: BTreeMap<RowKey, SideRow<'a>>,
    /// Doubts of the rules, each once.
    pub doubts: Vec<Doubt>,
    /// Keys that stood for two series of one run, so that they stand for none.
    pub ambiguous: BTreeSet<RowKey>,
    /// The step of the clock that a run found, in seconds, by the run's id.
    pub steps: Vec<(&'a str, f64)>,
    /// Figures of one thread stand for the whole machine, which has one CPU.
    pub is_one_for_all: bool,
}

impl<'a> Prepared<'a> {
    /// Nothing of a side yet.
    pub fn new(side: &'a Side<'a>) -> Prepared<'a> {
        Prepared {
            side,
            history: Rc::new(History::new(side.earlier.iter().copied())),
            order: Vec::new(),
            rows: BTreeMap::new(),
            doubts: Vec::new(),
            ambiguous: BTreeSet::new(),
            steps: Vec::new(),
            is_one_for_all: false,
        }
    }

    /// Leaves what was asked for.
    pub fn keep(&mut self, options: &CompareOptions) {
        let wanted = |key: &RowKey| options.wants(&key.instrument, &key.metric);
        self.order.retain(wanted);
        self.rows.retain(|key, _| wanted(key));
        self.ambiguous.retain(wanted);
    }
}

/// A row of a side: measured, or a published point.
pub enum SideValue<'p, 'a> {
    Measured(&'p SideRow<'a>),
    Point(Match<'p>),
}

impl<'p, 'a> SideValue<'p, 'a> {
    /// The measured row; `None` of a point.
    pub const fn measured(&self) -> Option<&'p SideRow<'a>> {
        match self {
            SideValue::Measured(row) => Some(row),
            SideValue::Point(_) => None,
        }
    }
}

impl<'a> Prepared<'a> {
    /// The row of this side, or its published figure that may stand beside that of the other one.
    pub fn says<'p>(
        &'p self,
        key: &RowKey,
        better: Better,
        other: &Prepared<'_>,
        cards: Cards,
    ) -> Option<SideValue<'p, 'a>> {
        match self.rows.get(key) {
            Some(row) => (row.better == better).then_some(SideValue::Measured(row)),
            None => {
                let conditions = other.conditions(key, cards);
                published_for(key, &conditions, better, &self.side.published).map(SideValue::Point)
            }
        }
    }

    /// The conditions of a measured row; none of one that this side has not.
    pub fn conditions(&self, key: &RowKey, cards: Cards) -> Conditions {
        let entry = self.rows.get(key).and_then(|row| row.entries.last());
        let (Some(Entry { run, series, .. }), Some(card)) = (entry, card::find(cards, &key.instrument))
        else {
            return Conditions::default();
        };
        let arm = run.plan.arms.iter().find(|arm| arm.name == series.key.arm);
        let set = arm.map(|arm| arm.set.clone()).unwrap_or_default();
        card.conditions(&set.with(&series.key.params), &self.side.facts)
    }

    /// Direction of a measured row of this side.
    pub fn better(&self, key: &RowKey) -> Option<Better> {
        self.rows.get(key).map(|row| row.better)
    }
}

impl<'a> SideRow<'a> {
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

    /// The first run that speaks whose takes are no repetitions of one thing.
    pub fn unsteady(&self) -> Option<Unsteady> {
        let speaking = self.entries.iter().filter(|entry| entry.validity != Validity::Invalid);
        speaking.filter_map(|entry| entry.unsteady).next()
    }

    /// A run that speaks has a lower bound in place of the figure.
    pub fn is_bound(&self) -> bool {
        self.entries.iter().any(|entry| entry.validity != Validity::Invalid && entry.is_bound)
    }

    /// The location of the side: the median of one run, the geometric mean of several runs' medians.
    pub fn value(&self) -> Option<f64> {
        let usable: Vec<f64> = match self.speaking() {
            Ok(good) => good.iter().filter_map(|entry| entry.value()).collect(),
            Err(_) => self.entries.iter().filter_map(Entry::value).collect(),
        };
        match usable.as_slice() {
            [] => None,
            [only] => Some(*only),
            several if several.contains(&0.0) => stats::median(several),
            several => stats::geometric_mean(several).or_else(|| stats::median(several)),
        }
    }
}
