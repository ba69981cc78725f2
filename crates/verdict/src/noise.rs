//! Noise between runs: what one series of earlier runs of the same machine says, or what is assumed.
//!
//! Works on the series key; runs of another definition, arm or parameter never count. Spreads are of logarithms.

use std::cell::RefCell;
use std::collections::BTreeMap;

use crate::quantiles::Quantile;
use crate::run_index::{FigureRow, RunIndex};
use model::data::{RunData, Series};
use model::doc::Noise as Word;
use model::{Cards, Family, Host, SeriesKey, card};
use stats::between::HISTORY_MAX;
use stats::{Learnt, Noise, NoiseKind, Run, Seen};

/// The difference between two runs of one machine that is assumed until runs have measured it (0.05 = 5 %);
/// that of the least noisy instruments for one of another build.
pub fn assumed_floor(cards: Cards, instrument: &str, host: Host) -> f64 {
    card::find(cards, instrument).map_or(Family::Cpu, |card| card.family).assumed_floor(host)
}

/// The kind of machine that a run was made on.
pub fn host(run: &RunData) -> Host {
    let kind = run.fact("virt.kind").and_then(|fact| fact.value.as_ref()).map(model::FactValue::text);
    match kind.as_deref() {
        Some("none") => Host::Bare,
        Some(_) => Host::Virtual,
        None => Host::Unknown,
    }
}

/// The one number that a run is worth for this series; `None` when it has no usable takes.
pub fn run_of(series: &Series, quantile: Option<&Quantile>) -> Option<Run> {
    if let Some(quantile) = quantile {
        return quantile.run();
    }
    let sittings = series.by_sitting();
    Run::from_sittings(&sittings.iter().map(Vec::as_slice).collect::<Vec<_>>()).ok()
}

/// A run that has a series: its id, and the one number that it is worth.
pub type Known<'a> = (&'a str, Run);

/// Runs of one machine and configuration by series, oldest first, each looked up and reckoned once.
#[derive(Default)]
pub struct History<'a> {
    runs: Vec<(&'a RunData, BTreeMap<&'a SeriesKey, &'a Series>)>,
    /// Places in `runs`, and what these are worth.
    known: RefCell<BTreeMap<SeriesKey, Vec<(usize, Run)>>>,
}

impl<'a> History<'a> {
    pub fn new(runs: impl IntoIterator<Item = &'a RunData>) -> History<'a> {
        // The first series of a key stands for it.
        let by_key = |run: &'a RunData| run.series.iter().rev().map(|series| (&series.key, series)).collect();
        let mut runs: Vec<_> = runs.into_iter().map(|run| (run, by_key(run))).collect();
        runs.sort_by_key(|(run, _)| run.head.started_ns);
        History { runs, known: RefCell::default() }
    }

    /// The runs that have this series.
    pub fn of_key(&self, key: &SeriesKey, cards: Cards) -> Vec<Known<'a>> {
        if self.runs.is_empty() {
            return Vec::new();
        }
        let mut known = self.known.borrow_mut();
        let worth = |place: usize| {
            let (run, series) = &self.runs[place];
            let series = series.get(key)?;
            Some((place, run_of(series, Quantile::of_series(run, series, cards).as_ref())?))
        };
        if !known.contains_key(key) {
            known.insert(key.clone(), (0..self.runs.len()).filter_map(worth).collect());
        }
        let id = |place: usize| self.runs[place].0.head.id.as_str();
        known.get(key).into_iter().flatten().map(|(place, worth)| (id(*place), *worth)).collect()
    }

    /// The ids of all its runs.
    pub fn ids(&self) -> impl Iterator<Item = &'a str> {
        self.runs.iter().map(|(run, _)| run.head.id.as_str())
    }
}

/// The newest of these that count, apart.
pub fn newest<'a>(known: &[Known<'a>]) -> (Vec<&'a str>, Vec<Run>) {
    known[known.len().saturating_sub(HISTORY_MAX)..].iter().copied().unzip()
}

/// The noise of one series of one run.
pub struct OfSeries {
    pub noise: Noise,
    /// The run itself.
    pub this: Run,
    /// The runs that the noise came from, this one last.
    pub runs: Vec<String>,
}

/// The runs that one row's noise comes from, this one last; the newest count.
pub struct Gathered {
    this: Run,
    ids: Vec<String>,
    all: Vec<Run>,
    floor: f64,
}

/// The runs of every row of a run, by the row's place.
pub fn gather(index: &RunIndex<'_>) -> BTreeMap<usize, Gathered> {
    let context = index.context;
    let history = History::new(context.earlier.iter().copied());
    let of_row = |row: FigureRow<'_>| {
        let key = &row.series.key;
        let this = run_of(row.series, index.quantile(row))?;
        let mut known = history.of_key(key, context.cards);
        known.push((index.run.head.id.as_str(), this));
        let (ids, all) = newest(&known);
        let ids = ids.into_iter().map(str::to_owned).collect();
        let floor = assumed_floor(context.cards, &key.instrument, host(index.run));
        Some((row.index, Gathered { this, ids, all, floor }))
    };
    index.figures().filter_map(of_row).collect()
}

/// The spread that the figures of a run and of earlier ones show together.
pub fn learn(index: &RunIndex<'_>) -> Option<Learnt> {
    let seen = |row| {
        let found = index.gathered(row)?;
        Seen::new(&[], &[&found.all], found.floor).ok()
    };
    stats::learn(&index.rows().filter_map(seen).collect::<Vec<_>>())
}

/// The noise of one row of a run, given earlier runs of the same machine and config class, and its other figures.
pub fn of_row(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<OfSeries> {
    let found = index.gathered(row)?;
    let noise = stats::noise(&[&[found.this]], &[&found.all], found.floor, index.learnt()).ok()?;
    Some(OfSeries { noise, this: found.this, runs: found.ids.clone() })
}

/// The word of the documents.
pub const fn word(kind: NoiseKind) -> Word {
    match kind {
        NoiseKind::Assumed => Word::Assumed,
        NoiseKind::Mixed => Word::Mixed,
        NoiseKind::Measured => Word::Measured,
    }
}
