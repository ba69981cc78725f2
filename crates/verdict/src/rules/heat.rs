//! Sustained fall of the clock over the run: heat or a power limit.
//!
//! Compares the clock at the start with the level that it reaches and keeps. It says nothing about single figures:
//! those that ran at another clock than the rest are the business of the `clock` rule.

use std::collections::BTreeMap;

use model::finding::Heat;

use crate::ruling::Ruling;
use crate::run_index::RunIndex;

/// Smallest relative fall worth saying.
const FALL: f64 = 0.03;
/// Readings that make one level.
const LEVEL: usize = 5;
/// Largest p of the fall over time.
const P: f64 = 0.001;

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let clocks = index.clocks();
    let ends: BTreeMap<u64, u64> = index.run.takes.iter().map(|take| (take.seq, take.end_ns)).collect();
    let timed = clocks.iter().filter_map(|(seq, hertz)| Some((*ends.get(seq)?, stats::median(hertz)?)));
    let mut points: Vec<(u64, f64)> = timed.collect();
    points.sort_by_key(|(at, _)| *at);
    if points.len() < 4 * LEVEL {
        return vec![Ruling::of_run(Heat::Unread)];
    }
    let seconds: Vec<f64> = points.iter().map(|(at, _)| *at as f64 / 1e9).collect();
    let hertz: Vec<f64> = points.iter().map(|(_, hertz)| *hertz).collect();
    let level = |slice: &[f64]| stats::median(slice).unwrap_or(f64::NAN);
    let (start, end) = (level(&hertz[..LEVEL]), level(&hertz[hertz.len() / 2..]));
    let trend = stats::spearman(&seconds, &hertz).ok();
    let falling = trend.is_some_and(|trend| trend.rho < 0.0 && trend.p < P);
    if !(falling && end < start * (1.0 - FALL)) {
        return vec![Ruling::of_run(Heat::Steady { start, end, seconds: span(&seconds) })];
    }
    let reached = hertz.windows(LEVEL).position(|window| level(window) <= end * 1.01).unwrap_or(0);
    vec![Ruling::of_run(Heat::Fell { start, end, seconds: seconds[reached] - seconds[0] })]
}

fn span(seconds: &[f64]) -> f64 {
    seconds.last().unwrap_or(&0.0) - seconds.first().unwrap_or(&0.0)
}
