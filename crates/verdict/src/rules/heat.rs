//! Sustained fall of the clock over the run: heat or a power limit.
//!
//! Compares the clock at the start with the level that it reaches and keeps. It says nothing about single figures:
//! those that ran at another clock than the rest are the business of the `clock` rule.

use std::collections::BTreeMap;

use model::{Finding, Unit, Validity};

use super::{Look, Ruling, unknown};
use crate::say;

const KIND: &str = "heat";
/// Smallest relative fall worth saying.
const FALL: f64 = 0.03;
/// Readings that make one level.
const LEVEL: usize = 5;
/// Largest p of the fall over time.
const P: f64 = 0.001;

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let clocks = look.clocks();
    let ends: BTreeMap<u64, u64> = look.run.takes.iter().map(|take| (take.seq, take.end_ns)).collect();
    let timed = clocks.iter().filter_map(|(seq, hertz)| Some((*ends.get(seq)?, stats::median(hertz)?)));
    let mut points: Vec<(u64, f64)> = timed.collect();
    points.sort_by_key(|(at, _)| *at);
    if points.len() < 4 * LEVEL {
        return unknown(KIND, "too few readings of the true clock to see it fall");
    }
    let seconds: Vec<f64> = points.iter().map(|(at, _)| *at as f64 / 1e9).collect();
    let hertz: Vec<f64> = points.iter().map(|(_, hertz)| *hertz).collect();
    let level = |slice: &[f64]| stats::median(slice).unwrap_or(f64::NAN);
    let (start, end) = (level(&hertz[..LEVEL]), level(&hertz[hertz.len() / 2..]));
    let trend = stats::spearman(&seconds, &hertz).ok();
    let falling = trend.is_some_and(|trend| trend.rho < 0.0 && trend.p < P);
    if !(falling && end < start * (1.0 - FALL)) {
        let text =
            format!("no sustained fall of the clock in {}", say::quantity(span(&seconds), Unit::Second));
        let finding = Finding::new(KIND, Validity::Ok, text).evidence("start", start).evidence("end", end);
        return vec![Ruling { finding, reach: Vec::new() }];
    }
    let reached = hertz.windows(LEVEL).position(|window| level(window) <= end * 1.01).unwrap_or(0);
    let after = seconds[reached] - seconds[0];
    let text = format!(
        "clock fell {} -> {} within {:.0} s of load: figures taken before are not sustained ones",
        bare(start),
        say::quantity(end, Unit::Hertz),
        after.max(1.0)
    );
    let finding = Finding::new(KIND, Validity::Doubtful, text)
        .evidence("start", start)
        .evidence("end", end)
        .evidence("seconds", after);
    vec![Ruling { finding, reach: Vec::new() }]
}

fn span(seconds: &[f64]) -> f64 {
    seconds.last().unwrap_or(&0.0) - seconds.first().unwrap_or(&0.0)
}

/// GHz without the unit, which follows the second figure.
fn bare(hertz: f64) -> String {
    say::quantity(hertz, Unit::Hertz).split(' ').next().unwrap_or_default().to_owned()
}
