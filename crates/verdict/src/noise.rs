//! Noise between runs: what one series of earlier runs of the same machine says, or what is assumed.
//!
//! Works on the series key; runs of another definition, arm or parameter never count. Spreads are of logarithms.

use model::data::{RunData, Series};
use model::doc::Noise as Word;
use model::{Cards, Family, SeriesKey, card};
use stats::{Noise, NoiseKind, Run};

/// The difference between two runs of one machine that is assumed until runs have measured it (0.05 = 5 %);
/// that of the least noisy instruments for one of another build.
pub fn assumed_floor(cards: Cards, instrument: &str) -> f64 {
    card::find(cards, instrument).map_or(Family::Cpu, |card| card.family).assumed_floor()
}

/// The one number that a run is worth for this series; `None` when it has no usable takes.
pub fn run_of(series: &Series) -> Option<Run> {
    Run::from_takes(&series.measured()).ok()
}

/// The same series in earlier runs, oldest first.
pub fn history<'a>(key: &SeriesKey, earlier: impl IntoIterator<Item = &'a RunData>) -> Vec<Run> {
    let mut runs: Vec<&RunData> = earlier.into_iter().collect();
    runs.sort_by_key(|run| run.head.started_ns);
    runs.iter()
        .filter_map(|run| run.series.iter().find(|series| series.key == *key))
        .filter_map(run_of)
        .collect()
}

/// The noise of one series of one run, given earlier runs of the same machine and config class.
pub fn of_series<'a>(
    series: &Series,
    earlier: impl IntoIterator<Item = &'a RunData>,
    cards: Cards,
) -> Option<Noise> {
    let this = run_of(series)?;
    let mut all = history(&series.key, earlier);
    all.push(this);
    stats::noise(&[&[this]], &[&all], assumed_floor(cards, &series.key.instrument)).ok()
}

/// The word of the documents.
pub const fn word(kind: NoiseKind) -> Word {
    match kind {
        NoiseKind::Assumed => Word::Assumed,
        NoiseKind::Mixed => Word::Mixed,
        NoiseKind::Measured => Word::Measured,
    }
}
