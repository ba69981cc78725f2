//! The figures of one side at each value of a parameter: its series as the rules leave them, or published figures.
//!
//! The value of a parameter is that of the series or, where the instrument has none of that name, that of its arm. Only
//! the newest twenty runs that have a figure count for it. Hours of logs are not takes and are left out.

use std::collections::{BTreeMap, BTreeSet};

use model::data::{Published, RunData};
use model::{Better, Params, Samples, Unit};
use stats::between::HISTORY_MAX;

use super::super::doubt::Doubt;
use super::super::doubts;
use super::super::matching::{RowKey, same};
use super::super::prepare;
use super::super::prepared::Entry;
use super::super::side::{CompareOptions, Side};
use super::super::step;
use super::asked::{AskedRatio, Known};
use crate::headline::is_headline;
use crate::rules;
use crate::ruling::Ruling;
use crate::run_index::{RunContext, RunIndex};

/// One series of one run.
pub struct PooledFigure<'a> {
    /// With every parameter, those of the arm that the instrument does not know among them.
    pub key: RowKey,
    /// All settings of the arm, whether the instrument knows them or not.
    pub set: Params,
    pub better: Better,
    pub headline: bool,
    pub entry: Entry<'a>,
    /// Position in the run's series.
    index: usize,
}

pub struct Pool<'a> {
    pub side: &'a Side<'a>,
    pub figures: Vec<PooledFigure<'a>>,
    /// Those that were asked for.
    pub published: Vec<&'a Published>,
    rulings: Vec<(&'a RunData, Vec<Ruling>)>,
    /// The step of the clock that a run found, by the run's id.
    pub steps: Vec<(&'a str, f64)>,
}

/// Reads a side.
pub fn pool<'a>(side: &'a Side<'a>, options: &CompareOptions) -> Pool<'a> {
    let mut runs: Vec<&RunData> = side.runs.clone();
    runs.sort_by_key(|run| run.head.started_ns);
    let wanted = |row: &&Published| options.wants(&row.key.instrument, &row.key.metric);
    let published = side.published.iter().filter(wanted).collect();
    let mut pool = Pool { side, figures: Vec::new(), published, rulings: Vec::new(), steps: Vec::new() };
    for run in runs {
        pool.add(run, options);
    }
    pool.keep_newest();
    pool
}

impl<'a> Pool<'a> {
    fn add(&mut self, run: &'a RunData, options: &CompareOptions) {
        let context = RunContext { cards: options.cards, ..RunContext::default() };
        let index = RunIndex::new(run, &context);
        let rulings = rules::of_index(&index);
        let side = self.side;
        let of_side = |arm: &str| side.arm.as_deref().is_none_or(|own| own == arm || arm.is_empty());
        for row in index.figures() {
            let key = &row.series.key;
            let counts = row.series.better != Better::Neither
                && Samples::for_instrument(options.cards, &key.instrument) == Samples::Takes
                && options.wants(&key.instrument, &key.metric);
            if !counts || !of_side(&key.arm) {
                continue;
            }
            let Some(entry) = prepare::entry(run, &index, &rulings, row) else { continue };
            let arm = run.plan.arms.iter().find(|arm| arm.name == key.arm);
            let set = arm.map(|arm| arm.set.clone()).unwrap_or_default();
            let mut known = RowKey::of_series(entry.series, run, &BTreeSet::new());
            known.params = outside(&set, &key.instrument, options).with(&known.params);
            let (better, headline) = (row.series.better, is_headline(&index, row));
            self.figures.push(PooledFigure { key: known, set, better, headline, entry, index: row.index });
        }
        self.steps.extend(step::step_of(run, &rulings).map(|step| (run.head.id.as_str(), step)));
        self.rulings.push((run, rulings));
    }

    /// Of each figure the newest runs.
    fn keep_newest(&mut self) {
        let mut have: BTreeMap<(RowKey, Params), usize> = BTreeMap::new();
        self.figures.reverse();
        self.figures.retain(|figure| {
            let count = have.entry((figure.key.clone(), figure.set.clone())).or_default();
            *count += 1;
            *count <= HISTORY_MAX
        });
        self.figures.reverse();
    }

    /// Doubts of the rules about the figures at the two values, or about their runs as a whole.
    pub fn doubts(&self, asked: &AskedRatio) -> Vec<Doubt> {
        let mut doubts: Vec<Doubt> = Vec::new();
        for (run, rulings) in &self.rulings {
            let is_asked = |figure: &&PooledFigure<'a>| {
                let at = |value: &str| without(&figure.key, &asked.param, value).is_some();
                figure.entry.run.head.id == run.head.id && (at(&asked.over) || at(&asked.under))
            };
            let figures: Vec<&PooledFigure<'a>> = self.figures.iter().filter(is_asked).collect();
            let has = |index: &usize| figures.iter().any(|figure| figure.index == *index);
            // What reaches no figure is about the run, or names the instrument that it is about.
            let is_other = |name: &str| {
                let is_of = |key: &model::SeriesKey| key.instrument == name;
                run.series.iter().any(|series| is_of(&series.key))
                    && !figures.iter().any(|figure| is_of(&figure.entry.series.key))
            };
            let reached = |ruling: &&Ruling| match ruling.reach.is_empty() {
                true => !ruling.finding.subject.of_instrument().is_some_and(is_other),
                false => ruling.reach.iter().any(has),
            };
            let rulings: Vec<Ruling> = rulings.iter().filter(reached).cloned().collect();
            let arms: BTreeSet<&str> =
                figures.iter().map(|figure| figure.entry.series.key.arm.as_str()).collect();
            for doubt in arms.iter().flat_map(|arm| doubts::of_arm(run, arm, &rulings)) {
                if !doubts.iter().any(|known| known.is_like(&doubt)) {
                    doubts.push(doubt);
                }
            }
        }
        doubts
    }

    /// Parameters and their values, those of published ratios one by one.
    pub fn known(&self, known: &mut Known) {
        let mut add = |name: &str, value: &str| {
            known.entry(name.to_owned()).or_default().insert(value.to_owned());
        };
        for (name, value) in self.figures.iter().flat_map(|figure| &figure.key.params) {
            add(name, value);
        }
        for row in &self.published {
            for (name, value) in &row.key.params {
                match divided(row, value) {
                    Some((over, under)) => [over, under].into_iter().for_each(|one| add(name, one)),
                    None if row.better != Better::Neither => add(name, value),
                    None => {}
                }
            }
        }
    }
}

/// Settings of an arm for which the instrument has no parameter.
fn outside(set: &Params, instrument: &str, options: &CompareOptions) -> Params {
    let card = options.cards.iter().find(|card| card.name == instrument);
    let mut outside = set.clone();
    outside.retain(|name, _| card.is_none_or(|card| card.param(name).is_none()));
    outside
}

/// The two values of a published ratio: a figure without unit or direction, of which a parameter reads `c/java`.
pub fn divided<'v>(row: &Published, value: &'v str) -> Option<(&'v str, &'v str)> {
    let is_ratio = row.key.unit == Unit::Ratio && row.better == Better::Neither;
    value.split_once('/').filter(|_| is_ratio)
}

/// The key without the parameter; `None` where it has another value.
pub fn without(key: &RowKey, param: &str, value: &str) -> Option<RowKey> {
    let mut key = key.clone();
    let own = key.params.remove(param)?;
    same(&own, value).then_some(key)
}
