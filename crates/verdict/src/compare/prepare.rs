//! One side made ready: its rows by key, each with the runs that may speak for it.
//!
//! Only the newest twenty runs that have a figure count for it. A run in which a figure was refused does not speak for
//! that figure unless all were; then the row is refused. On a machine of one CPU the figure of one thread is also that
//! of all.

use std::collections::{BTreeMap, BTreeSet};

use model::data::RunData;
use model::finding::{Autocorrelation, Drift, Rule};
use model::why::Unsteady;
use model::{Better, Scope, card, scope};
use stats::between::HISTORY_MAX;

use super::matching::{RowKey, arm_name};
use super::prepared::{Entry, Prepared, SideRow};
use super::side::{CompareOptions, Side};
use super::{doubts, step};
use crate::rules;
use crate::ruling::{Ruling, validity_of};
use crate::run_index::{FigureRow, RunContext, RunIndex};

pub fn prepare<'a>(side: &'a Side<'a>, dropped: &BTreeSet<String>, options: &CompareOptions) -> Prepared<'a> {
    let mut runs: Vec<&RunData> = side.runs.clone();
    runs.sort_by_key(|run| run.head.started_ns);
    let context = RunContext { cards: options.cards, ..RunContext::default() };
    let mut prepared = Prepared::new(side);
    for run in runs {
        add_run(&mut prepared, run, &context, (dropped, &options.across));
    }
    let ambiguous = std::mem::take(&mut prepared.ambiguous);
    prepared.order.retain(|key| !ambiguous.contains(key));
    prepared.rows.retain(|key, _| !ambiguous.contains(key));
    prepared.ambiguous = ambiguous;
    prepared.doubts.shrink_to_fit();
    stand_for_all(&mut prepared, options);
    prepared
}

/// On a machine of one CPU one thread is the whole machine: where all CPUs were not measured besides, the figure of one
/// thread stands for them.
fn stand_for_all(prepared: &mut Prepared<'_>, options: &CompareOptions) {
    let is_single = |entry: &Entry<'_>| entry.run.usable_cpus() == Some(1.0);
    let whole = |key: &RowKey| {
        let mut twin = key.clone();
        (twin.params.get(scope::THREADS)? == scope::ONE)
            .then(|| twin.params.set(scope::THREADS, scope::ALL))?;
        let card = card::find(options.cards, &key.instrument)?;
        (card.scope(&twin.metric, &twin.params) == Some(Scope::WholeMachine)).then_some(twin)
    };
    for key in prepared.order.clone() {
        let Some(twin) = whole(&key).filter(|twin| !prepared.rows.contains_key(twin)) else { continue };
        let Some(row) = prepared.rows.get(&key) else { continue };
        if row.entries.iter().all(is_single) {
            let row = row.clone();
            prepared.rows.insert(twin.clone(), row);
            prepared.order.push(twin);
            prepared.is_one_for_all = true;
        }
    }
}

fn add_run<'a>(
    prepared: &mut Prepared<'a>,
    run: &'a RunData,
    context: &RunContext<'_>,
    (dropped, across): (&BTreeSet<String>, &BTreeSet<String>),
) {
    let index = RunIndex::new(run, context);
    let rulings = rules::of_index(&index);
    prepared.steps.extend(step::step_of(run, &rulings).map(|step| (run.head.id.as_str(), step)));
    add_doubts(prepared, run, arm_name(prepared.side, run), &rulings);
    let mut seen: BTreeMap<RowKey, &str> = BTreeMap::new();
    for (arm, row) in figures_of(prepared.side, run, &index) {
        let key = RowKey::of_series(row.series, run, dropped);
        match seen.get(&key) {
            Some(known) if *known == arm => {
                prepared.ambiguous.insert(key);
                continue;
            }
            // The side stands for its first arm where others measured the same.
            Some(_) => continue,
            None => seen.insert(key.clone(), arm),
        };
        add_doubts(prepared, run, arm, &rulings);
        if !prepared.rows.contains_key(&key) {
            prepared.order.push(key.clone());
        }
        let Some(entry) = entry(run, &index, &rulings, row) else { continue };
        let (better, headline) = (entry.series.better, crate::headline::is_headline(&index, row));
        let named = |name: &str| across.contains(name) || key.params.get(name).is_some();
        let mut given = row.series.key.params.clone();
        given.retain(|name, _| named(name));
        // Most rows of many sides have one run: room for more would be most of what they take.
        let room = prepared.side.runs.len().min(HISTORY_MAX + 1);
        let new = || SideRow { given, better, headline: true, entries: Vec::with_capacity(room) };
        let known = prepared.rows.entry(key).or_insert_with(new);
        known.headline &= headline;
        known.entries.push(entry);
        let older = known.entries.len().saturating_sub(HISTORY_MAX);
        known.entries.drain(..older);
    }
}

/// The doubts about an arm, each once.
fn add_doubts(prepared: &mut Prepared<'_>, run: &RunData, arm: &str, rulings: &[Ruling]) {
    for doubt in doubts::of_arm(run, arm, rulings) {
        if !prepared.doubts.iter().any(|known| known.is_like(&doubt)) {
            prepared.doubts.push(doubt);
        }
    }
}

/// The figures of the arm that a side stands for. Where it stands for no arm of a machine's own, those of all its arms,
/// the first one's first: an arm that sets what tells figures apart adds figures.
pub fn figures_of<'i>(
    side: &'i Side<'_>,
    run: &'i RunData,
    index: &RunIndex<'i>,
) -> Vec<(&'i str, FigureRow<'i>)> {
    let first = arm_name(side, run);
    let is_whole = side.arm.is_none() && run.plan.targets.is_empty();
    let others = run.plan.arms.iter().map(|arm| arm.name.as_str()).filter(|arm| is_whole && *arm != first);
    // Without a direction nothing is better or worse.
    let judged: Vec<FigureRow<'i>> =
        index.figures().filter(|row| row.series.better != Better::Neither).collect();
    let of_arm = |arm: &'i str| {
        let own = judged.iter().filter(move |row| row.series.key.arm == arm);
        own.map(move |row| (arm, *row)).collect::<Vec<_>>()
    };
    std::iter::once(first).chain(others).flat_map(of_arm).collect()
}

/// One figure of a run, with what the rules leave of it.
pub fn entry<'a>(
    run: &'a RunData,
    index: &RunIndex<'_>,
    rulings: &[Ruling],
    row: FigureRow<'_>,
) -> Option<Entry<'a>> {
    let series = run.series.get(row.index)?;
    let (validity, reasons) = validity_of(rulings, row.index);
    let met = rules::environment::disturbances(rulings, index, row);
    let is_bound = rules::generator_bound::doubts(rulings, row.index);
    let quantile = index.quantile(row).cloned();
    let worth = crate::noise::run_of(series, quantile.as_ref());
    let clock = rules::clock::of_takes(index, row);
    let about = rulings.iter().filter(|ruling| ruling.reach.contains(&row.index));
    let unsteady = about.map(|ruling| &ruling.finding.rule).find_map(|rule| match rule {
        Rule::Drift(Drift::Drifted { .. }) => Some(Unsteady::Drift),
        Rule::Autocorrelation(Autocorrelation::Alike { .. }) => Some(Unsteady::ResembleEachOther),
        _ => None,
    });
    Some(Entry { run, series, validity, reasons, met, unsteady, is_bound, clock, quantile, worth })
}
