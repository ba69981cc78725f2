//! True clock: right before and after each take, against the run's own median and the processor's known limits.
//!
//! Takes are compared with those that load as many threads, since all cores together rightly run slower than one.
//! Input: Hz by dependent adds. Doubtful when over a quarter of a figure's takes ran more than 3 % off: fewer leave its
//! median where it was.

use std::collections::BTreeMap;

use model::finding::Clock;

use crate::facts;
use crate::ruling::{Ruling, settle};
use crate::run_index::{FigureRow, RunIndex};

/// Relative difference to the run's own median that makes a take doubtful.
pub const APART: f64 = 0.03;
/// Most takes of a figure, as a share, that may be apart.
const STRAY: f64 = 0.25;

/// The clock that the measured takes of one row had, Hz.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TakeClock {
    pub median: f64,
    /// How far it moved, so far as that can move a median: the farther quartile of the takes, as a log ratio.
    pub spread: f64,
}

/// The clock of a row's takes; `None` where it was not read.
pub fn of_takes(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<TakeClock> {
    let clocks = index.clocks();
    let means: Vec<f64> = row.takes().filter_map(|seq| stats::mean(clocks.get(&seq)?)).collect();
    let median = stats::median(&means)?;
    let away = |q: f64| stats::quantile(&means, q).map(|hertz| (hertz / median).ln().abs());
    Some(TakeClock { median, spread: away(0.25)?.max(away(0.75)?) })
}

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let clocks = index.clocks();
    if clocks.is_empty() {
        return vec![Ruling::of_run(Clock::Unread)];
    }
    let mut classes: BTreeMap<String, Vec<FigureRow<'_>>> = BTreeMap::new();
    for row in index.rows() {
        let threads = row.series.key.params.get("threads").unwrap_or("1").to_owned();
        classes.entry(threads).or_default().push(row);
    }
    let (mut bad, mut good, mut widest) = (Vec::new(), Vec::new(), 0.0_f64);
    for rows in classes.values() {
        let all: Vec<f64> = rows
            .iter()
            .flat_map(|row| row.takes())
            .filter_map(|seq| clocks.get(&seq))
            .flatten()
            .copied()
            .collect();
        let Some(median) = stats::median(&all) else { continue };
        for row in rows {
            let apart: Vec<f64> = row.takes().filter_map(|seq| farthest(clocks.get(&seq)?, median)).collect();
            let stray: Vec<f64> = apart.iter().copied().filter(|share| share.abs() > APART).collect();
            let far = apart.iter().copied().max_by(|a, b| a.abs().total_cmp(&b.abs()));
            let Some(far) = far else { continue };
            if stray.len() as f64 > STRAY * apart.len() as f64 {
                let (takes, of) = (stray.len(), apart.len());
                let busy = super::background::found(index, *row);
                let moved = Clock::Moved { median, apart: far, takes, of, busy };
                bad.push(Ruling::about(row.subject(), moved, vec![row.index]));
            } else {
                widest = widest.max(far.abs());
                good.push(row.index);
            }
        }
    }
    let every: Vec<f64> = clocks.values().flatten().copied().collect();
    let median = stats::median(&every);
    bad.extend(median.and_then(|median| limits(index, median)));
    settle(bad, good, |_| Clock::Steady { median, apart: widest })
}

/// The reading of a take that lies farthest from the median, as a relative difference.
fn farthest(readings: &[f64], median: f64) -> Option<f64> {
    readings.iter().map(|hertz| hertz / median - 1.0).max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// The run's clock against the base and the highest clock, where they are known.
fn limits(index: &RunIndex<'_>, median: f64) -> Option<Ruling> {
    let known = |key: &str| facts::limit(index.run, key).ok();
    if let Some(max) = known("cpu.mhz.max").filter(|max| median > max * (1.0 + APART)) {
        return Some(Ruling::of_run(Clock::AboveHighest { median, max }));
    }
    let base = known("cpu.mhz.base").filter(|base| median < base * (1.0 - APART))?;
    Some(Ruling::of_run(Clock::BelowBase { median, base }))
}
