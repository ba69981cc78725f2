//! The largest rate that open loops of one setup held in a run, block by block.
//!
//! A rate is held where at least 95 % of what came due was answered in time, no queue grew, no more failed than may,
//! and the percentile that has a limit was within it. What is held beyond a rate that was not is chance. Where the
//! takes of a block have too few requests for the percentile, those of a sitting count together, or those of the run.
//! The true value lies between the rate that was held and the next one that was tried; the former is given. Rates 1/s,
//! times s.

use std::collections::{BTreeMap, BTreeSet};

use model::data::RunData;
use model::failure::Failure;
use model::generate::HELD;
use model::metrics::load;
use model::{Histogram, MetricInfo};
use stats::Run;

use crate::loads::Load;

/// The conditions under which a rate is held.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// The share of requests, and the time that they must stay within.
    pub limit: Option<(f64, f64)>,
    /// The largest share that may fail.
    pub errors: f64,
}

/// The largest rate of a run.
pub struct Held<'l, 'a> {
    pub worth: Run,
    /// Loads whose rates were the largest in some block.
    pub at: Vec<&'l Load<'a>>,
    /// The lowest load beyond them, which was not held; `None` where all were.
    pub next: Option<&'l Load<'a>>,
    /// Blocks in which none was held, of all.
    pub without: (usize, usize),
}

/// Why a run has none.
pub enum Nothing {
    /// The lowest rate was not held.
    Lowest(f64),
    /// Its takes have too few requests for the percentile.
    FewRequests,
    Empty,
}

/// A sitting, and a block of it.
type Place = (u32, u32);

/// The takes that are judged together.
#[derive(Clone, Copy)]
enum Grain {
    Block,
    Sitting,
    Run,
}

impl Grain {
    const fn of(self, (sitting, block): Place) -> Place {
        match self {
            Grain::Block => (sitting, block),
            Grain::Sitting => (sitting, 0),
            Grain::Run => (0, 0),
        }
    }
}

/// One load in the takes of one place.
struct Tried {
    offered: f64,
    /// `None`: too few requests to say.
    held: Option<bool>,
}

/// The largest rate of these loads of a run, which differ in their rates alone.
pub fn held<'l, 'a>(loads: &[&'l Load<'a>], run: &RunData, goal: Goal) -> Result<Held<'l, 'a>, Nothing> {
    let places: BTreeMap<u64, Place> =
        run.takes.iter().map(|take| (take.seq, (take.sitting, take.block))).collect();
    let mut rising: Vec<(f64, &Load<'_>)> =
        loads.iter().filter_map(|load| Some((load.offered()?, *load))).collect();
    rising.sort_by(|a, b| a.0.total_cmp(&b.0));
    let rungs = |grain: Grain| -> Vec<Rung<'_, '_>> {
        rising.iter().map(|(_, load)| (*load, Sums::of(load, &places, grain, goal))).collect()
    };
    // The finest in which there are requests enough; the last says what can be said.
    let fine = [Grain::Block, Grain::Sitting].into_iter().map(rungs).find(|rungs| !is_short(rungs));
    climbed(&fine.unwrap_or_else(|| rungs(Grain::Run)))
}

/// A load with its takes by place.
type Rung<'l, 'a> = (&'l Load<'a>, BTreeMap<Place, Tried>);

/// The way up in one place, from the lowest rate to the first that was not held.
#[derive(Default)]
struct Way {
    best: Option<(usize, f64)>,
    broken: Option<(usize, f64)>,
    /// Rates beyond the best have too few requests to say.
    is_short: bool,
}

impl Way {
    /// A rate with too few requests says nothing, and one beyond it may.
    fn new(rungs: &[Rung<'_, '_>], place: Place) -> Way {
        let mut way = Way::default();
        for (rung, (_, tried)) in rungs.iter().enumerate() {
            let Some(tried) = tried.get(&place) else { continue };
            match tried.held {
                Some(true) => way = Way { best: Some((rung, tried.offered)), ..Way::default() },
                Some(false) => {
                    way.broken = Some((rung, tried.offered));
                    break;
                }
                None => way.is_short = true,
            }
        }
        way
    }
}

fn places(rungs: &[Rung<'_, '_>]) -> BTreeSet<Place> {
    rungs.iter().flat_map(|(_, tried)| tried.keys().copied()).collect()
}

fn is_short(rungs: &[Rung<'_, '_>]) -> bool {
    places(rungs).into_iter().any(|place| Way::new(rungs, place).is_short)
}

/// The largest rates of all places together.
fn climbed<'l, 'a>(rungs: &[Rung<'l, 'a>]) -> Result<Held<'l, 'a>, Nothing> {
    let ways: Vec<(u32, Way)> =
        places(rungs).into_iter().map(|place| (place.0, Way::new(rungs, place))).collect();
    let mut values: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    for (sitting, (_, offered)) in ways.iter().filter_map(|(sitting, way)| Some((*sitting, way.best?))) {
        values.entry(sitting).or_default().push(offered);
    }
    let without = ways.iter().filter(|(_, way)| way.best.is_none()).count();
    let sittings: Vec<&[f64]> = values.values().map(Vec::as_slice).collect();
    // Half of the blocks or more without a value: the median is none.
    let worth = Run::from_sittings(&sittings).ok().filter(|_| 2 * without < ways.len());
    let Some(worth) = worth else {
        let lowest = ways.iter().filter(|(_, way)| way.best.is_none()).find_map(|(_, way)| way.broken);
        let is_short = ways.iter().any(|(_, way)| way.is_short);
        return Err(match lowest {
            Some((_, offered)) => Nothing::Lowest(offered),
            None if is_short => Nothing::FewRequests,
            None => Nothing::Empty,
        });
    };
    let at: BTreeSet<usize> = ways.iter().filter_map(|(_, way)| Some(way.best?.0)).collect();
    let broken: Vec<usize> = ways.iter().filter_map(|(_, way)| Some(way.broken?.0)).collect();
    // All held in most blocks: no block says where it ends but by chance.
    let next = broken.iter().min().filter(|_| 2 * broken.len() >= ways.len());
    Ok(Held {
        worth,
        at: at.into_iter().map(|rung| rungs[rung].0).collect(),
        next: next.map(|rung| rungs[*rung].0),
        without: (without, ways.len()),
    })
}

/// Sums over takes of one load.
#[derive(Default)]
struct Sums<'a> {
    takes: f64,
    /// Requests were counted in all of them.
    is_counted: bool,
    offered: f64,
    due: f64,
    answered: f64,
    failed: f64,
    /// Cut off by the end of the load.
    cut: f64,
    times: Vec<&'a Histogram>,
    /// The largest of the takes' own percentiles, where the times themselves were not kept.
    slowest: Option<f64>,
}

impl<'a> Sums<'a> {
    /// Judged by place.
    fn of(
        load: &Load<'a>,
        places: &BTreeMap<u64, Place>,
        grain: Grain,
        goal: Goal,
    ) -> BTreeMap<Place, Tried> {
        let (due, window) = (load.by_take(&load::REQUESTS), load.by_take(&load::WINDOW));
        let (offered, nominal) = (load.by_take(&load::OFFERED), load.offered().unwrap_or_default());
        let times = goal.limit.map(|_| load.histograms_by_take(&load::RESPONSES)).unwrap_or_default();
        let own = own_percentile(load, goal);
        let mut failed: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
        for ((seq, kind), count) in load.by_part(&load::FAILED, "kind") {
            let sums = failed.entry(seq).or_default();
            sums.0 += count;
            sums.1 += if kind == Failure::Cut.name() { count } else { 0.0 };
        }
        let mut all: BTreeMap<Place, Sums<'a>> = BTreeMap::new();
        for (seq, reached) in load.by_take(&load::THROUGHPUT) {
            let Some(place) = places.get(&seq) else { continue };
            let new = || Sums { is_counted: true, ..Sums::default() };
            let sums = all.entry(grain.of(*place)).or_insert_with(new);
            let rate = offered.get(&seq).copied().unwrap_or(nominal);
            let (due, answered, is_counted) = match (due.get(&seq), window.get(&seq)) {
                (Some(due), Some(window)) => (*due, reached * window, true),
                // Of one second.
                _ => (rate, reached, false),
            };
            let (failed, cut) = failed.get(&seq).copied().unwrap_or_default();
            sums.takes += 1.0;
            sums.is_counted &= is_counted;
            sums.offered += rate;
            sums.due += due;
            sums.answered += answered;
            sums.failed += failed;
            sums.cut += cut;
            sums.times.extend(times.get(&seq));
            let own = own.get(&seq).copied();
            sums.slowest =
                own.map(|time| sums.slowest.map_or(time, |known| known.max(time))).or(sums.slowest);
        }
        let room = load.number("connections");
        all.into_iter().map(|(place, sums)| (place, sums.tried(goal, room))).collect()
    }

    fn tried(self, goal: Goal, connections: Option<f64>) -> Tried {
        let offered = self.offered / self.takes;
        let counted = self.due - self.cut;
        let is_well = counted > 0.0 && (self.failed - self.cut) / counted <= goal.errors;
        let rest = self.due * (1.0 - goal.errors) - self.answered;
        // More than its connections hold at the end of each take was not answered.
        let lags = self.is_counted && connections.is_some_and(|room| rest > room * self.takes);
        if !is_well || lags || self.answered < HELD * self.due {
            return Tried { offered, held: Some(false) };
        }
        let Some((share, limit)) = goal.limit else { return Tried { offered, held: Some(true) } };
        let time = match self.times.as_slice() {
            [] => self.slowest,
            [only] => only.percentile_s(share),
            [first, others @ ..] => {
                let mut merged = (*first).clone();
                // Histograms of our own kind always merge.
                let is_whole = others.iter().all(|one| merged.merge(one).is_ok());
                merged.percentile_s(share).filter(|_| is_whole)
            }
        };
        Tried { offered, held: time.map(|time| time <= limit) }
    }
}

/// The percentile that has a limit, of each take by itself, where it is a metric.
fn own_percentile(load: &Load<'_>, goal: Goal) -> BTreeMap<u64, f64> {
    let Some((share, _)) = goal.limit else { return BTreeMap::new() };
    let is_its = |info: MetricInfo| info.quantile_of.is_some_and(|(_, q)| (q - share).abs() < 1e-9);
    match [load::RESPONSE, load::RESPONSE_P99].iter().find(|metric| is_its(metric.info())) {
        Some(metric) => load.by_take(metric),
        None => BTreeMap::new(),
    }
}
