//! True clock: right before and after each take, against the run's own median and the processor's known limits.
//!
//! Takes are compared with those that load as many threads, since all cores together rightly run slower than one.
//! Input: Hz by dependent adds. Doubtful when over a quarter of a figure's takes ran more than 3 % off: fewer leave its
//! median where it was.

use std::collections::BTreeMap;

use model::{Finding, Unit, Validity};

use super::look::Row;
use super::{Look, Ruling, settle, unknown};
use crate::{facts, say};

const KIND: &str = "clock";
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
pub fn of_takes(look: &Look<'_>, row: Row<'_>) -> Option<TakeClock> {
    let clocks = look.clocks();
    let means: Vec<f64> = row.takes().filter_map(|seq| stats::mean(clocks.get(&seq)?)).collect();
    let median = stats::median(&means)?;
    let away = |q: f64| stats::quantile(&means, q).map(|hertz| (hertz / median).ln().abs());
    Some(TakeClock { median, spread: away(0.25)?.max(away(0.75)?) })
}

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let clocks = look.clocks();
    if clocks.is_empty() {
        return unknown(KIND, "the true clock was not read around the takes");
    }
    let mut classes: BTreeMap<String, Vec<Row<'_>>> = BTreeMap::new();
    for row in look.rows() {
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
                let busy = super::background::found(look, *row);
                bad.push(doubtful(*row, (stray.len(), apart.len()), far, median, busy));
            } else {
                widest = widest.max(far.abs());
                good.push(row.index);
            }
        }
    }
    let every: Vec<f64> = clocks.values().flatten().copied().collect();
    let median = stats::median(&every);
    bad.extend(median.and_then(|median| limits(look, median)));
    settle(bad, good, |_| {
        let text = match median {
            Some(hertz) => format!("true clock {}, every figure near it", say::quantity(hertz, Unit::Hertz)),
            None => "true clock steady".to_owned(),
        };
        let finding = Finding::new(KIND, Validity::Ok, text).evidence("apart", widest);
        median.map_or(finding.clone(), |hertz| finding.evidence("median", hertz))
    })
}

/// The reading of a take that lies farthest from the median, as a relative difference.
fn farthest(readings: &[f64], median: f64) -> Option<f64> {
    readings.iter().map(|hertz| hertz / median - 1.0).max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

fn doubtful(row: Row<'_>, (stray, all): (usize, usize), far: f64, median: f64, busy: bool) -> Ruling {
    let way = if far < 0.0 { "below" } else { "above" };
    // Only a clock that fell on a quiet machine may be heat.
    let advice = match (busy, far < 0.0) {
        (true, _) => "the clock moved while others were busy; repeat it without them",
        (false, true) => "repeat it with a fixed clock or a cooler machine",
        (false, false) => "the clock moved; repeat it with a fixed clock",
    };
    let text = format!(
        "the CPU clock {} was more than 3 % from the run's median of {} (up to {} {way}): {advice}",
        if all == 1 { "during its take".to_owned() } else { format!("during {stray} of {all} takes") },
        say::quantity(median, Unit::Hertz),
        say::percent(far.abs())
    );
    let finding = Finding::new(KIND, Validity::Doubtful, text)
        .about(row.title())
        .evidence("median", median)
        .evidence("apart", far)
        .evidence("takes", stray as f64)
        .evidence("of", all as f64);
    Ruling { finding, reach: vec![row.index] }
}

/// The run's clock against the base and the highest clock, where they are known.
fn limits(look: &Look<'_>, median: f64) -> Option<Ruling> {
    let shown = say::quantity(median, Unit::Hertz);
    let known = |key: &str| facts::limit(look.run, key).ok();
    let says = |text: String, key: &str, limit: f64| {
        let finding =
            Finding::new(KIND, Validity::Doubtful, text).evidence("median", median).evidence(key, limit);
        Some(Ruling { finding, reach: Vec::new() })
    };
    if let Some(max) = known("cpu.mhz.max").filter(|max| median > max * (1.0 + APART)) {
        let limit = say::quantity(max, Unit::Hertz);
        let text =
            format!("the true clock of {shown} is above the highest of {limit}: one of the two is wrong");
        return says(text, "max", max);
    }
    if let Some(base) = known("cpu.mhz.base").filter(|base| median < base * (1.0 - APART)) {
        let limit = say::quantity(base, Unit::Hertz);
        let text = format!(
            "the true clock of {shown} is below the base clock of {limit}: look at the governor, the power limit and \
             the temperature"
        );
        return says(text, "base", base);
    }
    None
}
