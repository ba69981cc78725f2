//! How much of its memory bandwidth the machine reaches: channels x transfers a second x 8 B.
//!
//! A finding, not a refusal. Bytes are counted as the figure counts them: a copy counted once moves twice as much.
//! Write-allocate traffic is not added, so the share of writes is a lower bound.

use model::Unit;
use model::finding::{MemoryCeiling, MemoryPeak};
use model::names::instrument;

use crate::facts;
use crate::ruling::Ruling;
use crate::run_index::{FigureRow, RunIndex};

/// Peak rate of the memory by its specification. Fails with the reason if a fact about the memory is unknown.
pub fn peak(index: &RunIndex<'_>) -> Result<MemoryPeak, String> {
    let channels = facts::limit(index.run, "memory.channels")?;
    let stated = facts::limit(index.run, "memory.mts")?;
    // Transfers a second; sheets written by hand give millions.
    let transfers = if stated < 1e6 { stated * 1e6 } else { stated };
    let kind = facts::text(&index.run.facts, "memory.type").map(str::to_owned);
    Ok(MemoryPeak { channels, transfers, kind })
}

/// Bytes that cross the bus at least for each byte counted.
pub fn moved_per_counted(row: FigureRow<'_>) -> f64 {
    let params = &row.series.key.params;
    match (params.get("op"), params.get("counting")) {
        (Some("copy" | "fcopy" | "rdwr"), Some("bw_mem")) => 2.0,
        _ => 1.0,
    }
}

/// True if the arrays are far larger than the caches. A size given by hand may fit into one.
pub fn from_memory(row: FigureRow<'_>) -> bool {
    matches!(row.series.key.params.get("size"), None | Some("auto"))
}

pub fn rule(index: &RunIndex<'_>) -> Vec<Ruling> {
    let best = index
        .rows()
        .filter(|row| {
            row.series.key.instrument == instrument::MEM_BANDWIDTH && row.series.key.unit == Unit::BytesPerSec
        })
        .filter_map(|row| Some((row, stats::median(&row.series.measured())?)))
        .filter(|(row, _)| row.series.key.params.get("op") == Some("read") && from_memory(*row))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((row, median)) = best else {
        return vec![Ruling::of_run(MemoryCeiling::NotMeasured)];
    };
    let peak = match peak(index) {
        Ok(peak) => peak,
        Err(why) => return vec![Ruling::of_run(MemoryCeiling::Unknown(why))],
    };
    let share = median * moved_per_counted(row) / peak.bytes_per_sec();
    if share > 1.01 {
        return Vec::new();
    }
    let reached = MemoryCeiling::Reached { share, peak, value: median };
    vec![Ruling::about(row.subject(), reached, Vec::new())]
}
