//! Noise between runs: what one series of earlier runs of the same machine says, or what is assumed.
//!
//! Works on the series key; runs of another definition, arm or parameter never count. Spreads are of logarithms.

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

/// The same series in earlier runs that have it, oldest first.
pub fn history<'a>(
    key: &SeriesKey,
    earlier: impl IntoIterator<Item = &'a RunData>,
    cards: Cards,
) -> Vec<Known<'a>> {
    let mut runs: Vec<&RunData> = earlier.into_iter().collect();
    runs.sort_by_key(|run| run.head.started_ns);
    runs.iter()
        .filter_map(|run| {
            let series = run.series.iter().find(|series| series.key == *key)?;
            let worth = run_of(series, Quantile::of_series(run, series, cards).as_ref())?;
            Some((run.head.id.as_str(), worth))
        })
        .collect()
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
struct Gathered<'a> {
    this: Run,
    all: Vec<Known<'a>>,
    floor: f64,
}

fn gathered<'a>(index: &'a RunIndex<'a>, row: FigureRow<'_>) -> Option<Gathered<'a>> {
    let (series, context) = (row.series, index.context);
    let this = run_of(series, index.quantile(row).as_ref())?;
    let mut all = history(&series.key, context.earlier, context.cards);
    all.push((index.run.head.id.as_str(), this));
    let floor = assumed_floor(context.cards, &series.key.instrument, host(index.run));
    Some(Gathered { this, all, floor })
}

/// The spread that the figures of a run and of earlier ones show together.
pub fn learn(index: &RunIndex<'_>) -> Option<Learnt> {
    let seen = |row| {
        let found = gathered(index, row)?;
        Seen::new(&[], &[&newest(&found.all).1], found.floor).ok()
    };
    stats::learn(&index.rows().filter_map(seen).collect::<Vec<_>>())
}

/// The noise of one row of a run, given earlier runs of the same machine and config class, and its other figures.
pub fn of_row(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<OfSeries> {
    let found = gathered(index, row)?;
    let (ids, all) = newest(&found.all);
    let noise = stats::noise(&[&[found.this]], &[&all], found.floor, index.learnt()).ok()?;
    Some(OfSeries { noise, this: found.this, runs: ids.into_iter().map(str::to_owned).collect() })
}

/// The word of the documents.
pub const fn word(kind: NoiseKind) -> Word {
    match kind {
        NoiseKind::Assumed => Word::Assumed,
        NoiseKind::Mixed => Word::Mixed,
        NoiseKind::Measured => Word::Measured,
    }
}
