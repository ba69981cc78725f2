//! The runs of a study as plans for this machine: what of each cannot be measured here, and how long it lasts.
//! Seconds.

use std::path::Path;

use model::data::RunHead;
use model::plan::Takes;
use model::study_file::{Content, Extent, StudyFile, StudyRun, StudyTable};
use model::{Cell, Params, Plan, Setup, card};
use verdict::study_tables::Absent;

use crate::cli::Global;
use crate::cli::run::{RunArgs, Usual};
use crate::error::CliError;
use crate::lookup::resolve::Resolver;
use crate::lookup::runs::is_whole;
use crate::lookup::{cpus, paths};
use crate::study;

use super::places::Place;

/// A take whose card does not say how long it lasts, and what is done around each.
const TAKE: f64 = 0.06;
const AROUND: f64 = 0.03;
/// Preparing a sitting.
const SITTING: f64 = 1.0;

/// One run of a study.
pub struct Scheduled<'f> {
    pub run: &'f StudyRun,
    pub label: String,
    pub args: RunArgs,
    pub extent: Extent,
    /// Its cells, where it can be planned.
    pub cells: usize,
    /// Why nothing of it can be measured here.
    pub why: Option<String>,
    pub left_out: Vec<Absent>,
    pub expected: f64,
    /// The newest complete run with its label of each place, in their order. Figures that the user makes, such as those
    /// of a log, may be of any machine.
    pub stored: Vec<Option<RunHead>>,
}

impl Scheduled<'_> {
    /// True if boxscore can measure some of it here.
    pub fn is_measurable(&self) -> bool {
        self.why.is_none() && self.run.by_hand.is_none()
    }

    /// The newest run with its label at a place, of those that are wanted.
    pub fn newest(
        &self,
        resolver: &Resolver,
        place: &Place,
        is_wanted: impl Fn(&RunHead) -> bool,
    ) -> Option<RunHead> {
        let is_its = |head: &&RunHead| {
            let is_of = match self.run.by_hand {
                // A log is stored under its label as a machine.
                Some(_) => head.machine == self.label || head.label.as_ref() == Some(&self.label),
                None => place.is_of(head) && head.label.as_ref() == Some(&self.label),
            };
            is_of && !head.hidden && is_wanted(head)
        };
        resolver.heads().iter().rfind(is_its).cloned()
    }
}

/// Every run of the study. Fails where the store cannot be used.
pub fn schedule<'f>(
    file: &'f StudyFile,
    is_quick: bool,
    places: &[Place],
    resolver: &Resolver,
    global: &Global,
) -> Result<Vec<Scheduled<'f>>, CliError> {
    let path = paths::store(global)?;
    let setup = match places.iter().all(|place| place.node().is_none()) {
        true => Some(study::setup_here(paths::beside(&path), &cpus::allowed()?, 1)),
        false => None,
    };
    let bare = |run: &'f StudyRun| {
        let (label, extent) = (label(file, &run.name), run.extent(is_quick));
        let args = arguments(run, is_quick, &label);
        let (left_out, stored) = (Vec::new(), Vec::new());
        let (cells, expected) = (0, 0.0);
        let mut all = Scheduled { args, run, label, extent, cells, why: None, left_out, expected, stored };
        all.stored = places.iter().map(|place| all.newest(resolver, place, is_whole)).collect();
        all
    };
    Ok(file.runs.iter().map(|run| filled(bare(run), &path, setup.as_ref(), places.len())).collect())
}

/// The label of a run in the store.
pub fn label(file: &StudyFile, run: &str) -> String {
    format!("{}.{run}", file.name)
}

/// The names of the runs that the tables of a study need.
pub fn needed(file: &StudyFile) -> Vec<String> {
    let wanted: Vec<(Option<&str>, &str)> = file.tables.iter().flat_map(wanted).collect();
    let is_needed = |run: &&StudyRun| {
        let family = |name: &str| card::find(instruments::cards(), name).map(|card| card.family.name());
        let measures = |name: &str| {
            run.by_hand.is_some()
                || run.measure.iter().any(|own| own == name || Some(own.as_str()) == family(name))
        };
        wanted.iter().any(|(of, name)| of.is_none_or(|of| of == run.name) && measures(name))
    };
    file.runs.iter().filter(is_needed).map(|run| run.name.clone()).collect()
}

/// The instruments of a table's figures of this machine, with the run that it names.
fn wanted(table: &StudyTable) -> impl Iterator<Item = (Option<&str>, &str)> {
    table.rows.iter().filter_map(|row| match &row.what {
        Content::Figure { key, ours, cannot: None, .. } => {
            Some((table.run.as_deref(), ours.as_ref().unwrap_or(key).instrument.as_str()))
        }
        _ => None,
    })
}

/// The arguments of `boxscore run` that measure it.
fn arguments(run: &StudyRun, is_quick: bool, label: &str) -> RunArgs {
    let extent = run.extent(is_quick);
    let usual = Usual {
        names: run.measure.clone(),
        takes: Some(extent.takes),
        sittings: Some(extent.sittings.min(extent.takes)),
        span: Some(format!("{}s", extent.most_seconds)),
        sets: run.settings(is_quick).to_vec(),
        label: Some(label.to_owned()),
        ..Usual::default()
    };
    RunArgs { usual, arms: run.arms.clone(), no_report: true, ..RunArgs::default() }
}

/// The run with what its plan tells. What cannot be measured is known of this machine alone, not of nodes.
fn filled<'f>(mut all: Scheduled<'f>, path: &Path, here: Option<&Setup>, places: usize) -> Scheduled<'f> {
    if all.run.by_hand.is_some() {
        return all;
    }
    match study::planned(&all.args, path) {
        Err(error) => {
            all.left_out = of_all(all.run, &error.message);
            all.why = Some(error.message);
        }
        Ok((plan, _)) => {
            if let Some(setup) = here {
                let (left_out, fitting) = unfit(&plan, setup);
                all.why = left_out.first().filter(|_| fitting == 0).map(|one| one.why.clone());
                all.left_out = left_out;
            }
            all.cells = plan.cells.len();
            all.expected = expected(&plan, all.extent, all.stored.iter().flatten().next(), places);
        }
    }
    all
}

/// Every figure of a run's instruments with what the run fixes: none of them can be had.
pub fn of_all(run: &StudyRun, why: &str) -> Vec<Absent> {
    let is_own = |card: &&&'static model::Card| {
        run.measure.iter().any(|name| name == card.name || name == card.family.name())
    };
    let fixed = |card: &model::Card| {
        let mut params = Params::default();
        let pairs = run.set.iter().filter_map(|text| Params::parse(text).ok()).collect::<Vec<_>>();
        for (key, value) in pairs.iter().flatten() {
            let key = key.strip_prefix(&format!("{}.", card.name)).unwrap_or(key).to_owned();
            let canonical = card.param(&key).and_then(|spec| spec.canonical(value).ok());
            canonical.into_iter().for_each(|value| params.set(&key, &value));
        }
        params
    };
    let cards = instruments::cards().iter().filter(is_own);
    cards
        .map(|card| Absent { instrument: card.name.to_owned(), params: fixed(card), why: why.to_owned() })
        .collect()
}

/// The cells that cannot be measured here, in each arm, and how many can.
fn unfit(plan: &Plan, setup: &Setup) -> (Vec<Absent>, usize) {
    let (mut left_out, mut fitting) = (Vec::new(), 0);
    for (number, cell) in (0u32..).zip(&plan.cells) {
        let Some(instrument) = instruments::find(&cell.instrument) else { continue };
        for arm in plan.arms_of(number) {
            let Some(arm) = plan.arms.get(arm as usize) else { continue };
            let Ok(params) = instrument.card().lay(&cell.params, &arm.set) else { continue };
            let own = Setup { params: params.clone(), ..setup.clone() };
            match instrument.fit(&own) {
                Ok(()) => fitting += 1,
                Err(unfit) => {
                    left_out.push(Absent { instrument: cell.instrument.clone(), params, why: unfit.why })
                }
            }
        }
    }
    (left_out, fitting)
}

/// About how long a run lasts: as the last one of as many takes did, else as the file says, else by the cards.
fn expected(plan: &Plan, extent: Extent, stored: Option<&RunHead>, places: usize) -> f64 {
    let measured = u64::from(extent.takes) * entries(plan) as u64;
    let as_last = stored.filter(|head| head.measured == measured).and_then(|head| head.seconds);
    as_last.or(extent.seconds).unwrap_or_else(|| by_cards(plan) * places as f64).min(extent.most_seconds)
}

/// Cells in their arms.
fn entries(plan: &Plan) -> usize {
    (0u32..).zip(&plan.cells).map(|(number, _)| plan.arms_of(number).len()).sum()
}

fn by_cards(plan: &Plan) -> f64 {
    let takes = match plan.takes {
        Takes::Fixed(takes) => takes,
        Takes::Adaptive { .. } => 0,
    };
    let sittings = plan.sittings.max(1);
    let take = |cell: &Cell, arm: u32| {
        let instrument = instruments::find(&cell.instrument)?;
        let set = &plan.arms.get(arm as usize)?.set;
        instrument.take_seconds(&instrument.card().lay(&cell.params, set).ok()?)
    };
    let one_block: f64 = (0u32..)
        .zip(&plan.cells)
        .flat_map(|(number, cell)| plan.arms_of(number).map(move |arm| (cell, arm)))
        .map(|(cell, arm)| take(cell, arm).unwrap_or(TAKE) + AROUND)
        .sum();
    let warm_ups = f64::from(plan.warm_up * sittings);
    one_block * (f64::from(takes) + warm_ups) + f64::from(sittings) * SITTING
}
