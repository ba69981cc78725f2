//! Figures that this hardware cannot reach: such a number measures something else (a cache, a removed loop).
//!
//! Ceilings: memory channels x transfers x 8 B, or where those are unknown what the cores can load; the disk's
//! link; cores x clock x 128 B loaded a cycle; two cycles of
//! latency for a dependent load. A ceiling that a hypervisor reports refuses nothing.

use model::finding::{AboveCeiling, Limit};
use model::names::instrument;
use model::{Family, Unit};

use crate::facts;
use crate::ruling::{Ruling, settle};
use crate::run_index::{FigureRow, RunIndex};

/// Spread-spectrum clocks and rounding of the specification.
const SLACK: f64 = 1.01;
/// Two loads of 64 B a cycle: the widest that any core of today does.
const WIDEST_LOAD: f64 = 128.0;
/// A dependent load takes at least this many cycles.
const FASTEST_LOAD: f64 = 2.0;

/// The limit that a figure is compared with.
struct Ceiling {
    /// In the figure's own unit, after counting as the figure counts.
    value: f64,
    limit: Limit,
}

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let (mut bad, mut good, mut whys) = (Vec::new(), Vec::new(), Vec::new());
    for row in index.rows() {
        let Some(ceiling) = ceiling(index, row) else { continue };
        match (ceiling, edges(row)) {
            (Ok(ceiling), Some(edges)) => match refuse(row, &ceiling, edges) {
                Some(ruling) => bad.push(ruling),
                None => good.push(row.index),
            },
            (Err(why), _) if !whys.contains(&why) => whys.push(why),
            _ => {}
        }
    }
    let found = !bad.is_empty() || !good.is_empty();
    let mut all = settle(bad, good, |figures| AboveCeiling::Below { figures });
    if !whys.is_empty() || !found {
        all.push(Ruling::of_run(AboveCeiling::Unknown(whys)));
    }
    all
}

/// The ends of the median's interval, or the median twice.
fn edges(row: FigureRow<'_>) -> Option<(f64, f64)> {
    let summary = stats::summary(&row.series.measured()).ok()?;
    Some(summary.interval.map_or((summary.median, summary.median), |i| (i.low, i.high)))
}

fn refuse(row: FigureRow<'_>, ceiling: &Ceiling, (low, high): (f64, f64)) -> Option<Ruling> {
    let (value, is_beyond) = match ceiling.limit.is_least() {
        true => (high, high * SLACK < ceiling.value),
        false => (low, low > ceiling.value * SLACK),
    };
    let (unit, limit) = (row.series.key.unit, ceiling.limit.clone());
    let beyond = AboveCeiling::Beyond { value, ceiling: ceiling.value, unit, limit };
    is_beyond.then(|| Ruling::about(row.subject(), beyond, vec![row.index]))
}

fn ceiling(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<Result<Ceiling, String>> {
    let key = &row.series.key;
    match (key.instrument.as_str(), key.unit) {
        (instrument::MEM_BANDWIDTH, Unit::BytesPerSec) if super::memory_ceiling::from_memory(row) => {
            Some(memory(index, row))
        }
        (instrument::MEM_LATENCY, Unit::Second) => Some(load(index)),
        (_, Unit::BytesPerSec | Unit::PerSec) if index.family(row) == Some(Family::Disk) => disk(index, row),
        (_, Unit::BytesPerSec) if key.params.get("threads").is_some() => Some(core(index, row)),
        _ => None,
    }
}

fn memory(index: &RunIndex<'_>, row: FigureRow<'_>) -> Result<Ceiling, String> {
    let peak = match super::memory_ceiling::peak(index) {
        Ok(peak) => peak,
        // Whatever the memory is, the cores cannot load more than they can load.
        Err(why) => return core(index, row).map_err(|_| why),
    };
    let moved = super::memory_ceiling::moved_per_counted(row);
    Ok(Ceiling { value: peak.bytes_per_sec() / moved, limit: Limit::Memory(peak) })
}

fn load(index: &RunIndex<'_>) -> Result<Ceiling, String> {
    let clock = fastest(index)?;
    Ok(Ceiling { value: FASTEST_LOAD / clock, limit: Limit::Load { cycles: FASTEST_LOAD, clock } })
}

fn core(index: &RunIndex<'_>, row: FigureRow<'_>) -> Result<Ceiling, String> {
    let clock = fastest(index)?;
    let threads = row.threads(index).ok_or("the number of threads is unknown")?;
    let limit = Limit::Cores { cores: threads as usize, bytes_a_cycle: WIDEST_LOAD, clock };
    Ok(Ceiling { value: threads * clock * WIDEST_LOAD, limit })
}

/// The highest clock: the processor's, or the highest that was seen.
fn fastest(index: &RunIndex<'_>) -> Result<f64, String> {
    let seen = index.clocks().values().flatten().copied().fold(f64::NAN, f64::max);
    match facts::limit(index.run, "cpu.mhz.max") {
        Ok(max) if seen > max => Ok(seen),
        Ok(max) => Ok(max),
        Err(_) if seen.is_finite() => Ok(seen),
        Err(why) => Err(why),
    }
}

/// The link of the disk that holds the store; only figures whose bytes are known and that go to the device.
fn disk(index: &RunIndex<'_>, row: FigureRow<'_>) -> Option<Result<Ceiling, String>> {
    let key = &row.series.key;
    let bytes = match key.unit {
        Unit::BytesPerSec => 1.0,
        _ => {
            let size = ["block", "size"].iter().find_map(|name| key.params.get(name))?;
            model::params::parse_bytes(size)? as f64
        }
    };
    let Some(name) = facts::text(&index.run.facts, "fs.store.disk") else {
        return Some(Err("the disk below the store's directory is unknown".to_owned()));
    };
    let link = facts::limit(index.run, &format!("disk.{name}.link"));
    Some(link.map(|link| Ceiling { value: link / bytes, limit: Limit::Link { disk: name.to_owned() } }))
}
