//! How much of its memory bandwidth the machine reaches: channels x transfers a second x 8 B.
//!
//! A finding, not a refusal. Bytes are counted as the figure counts them: a copy counted once moves twice as much.
//! Write-allocate traffic is not added, so the share of writes is a lower bound.

use model::Unit;
use model::finding::{MemoryCeiling, MemoryPeak};

use super::look::Row;
use super::{Look, Ruling};
use crate::facts;

/// What the memory can deliver by its specification; fails with the reason where a fact about it is not known.
pub fn peak(look: &Look<'_>) -> Result<MemoryPeak, String> {
    let channels = facts::limit(look.run, "memory.channels")?;
    let stated = facts::limit(look.run, "memory.mts")?;
    // Transfers a second; sheets written by hand give millions.
    let transfers = if stated < 1e6 { stated * 1e6 } else { stated };
    let kind = facts::text(&look.run.facts, "memory.type").map(str::to_owned);
    Ok(MemoryPeak { channels, transfers, kind })
}

/// Bytes that cross the bus at least for each byte counted.
pub fn moved_per_counted(row: Row<'_>) -> f64 {
    let params = &row.series.key.params;
    match (params.get("op"), params.get("counting")) {
        (Some("copy" | "fcopy" | "rdwr"), Some("bw_mem")) => 2.0,
        _ => 1.0,
    }
}

/// Whether the arrays are far larger than the caches: a size given by hand may fit into one.
pub fn from_memory(row: Row<'_>) -> bool {
    matches!(row.series.key.params.get("size"), None | Some("auto"))
}

pub fn rule(look: &Look<'_>) -> Vec<Ruling> {
    let best = look
        .rows()
        .filter(|row| {
            row.series.key.instrument == "mem-bandwidth" && row.series.key.unit == Unit::BytesPerSec
        })
        .filter_map(|row| Some((row, stats::median(&row.series.measured())?)))
        .filter(|(row, _)| row.series.key.params.get("op") == Some("read") && from_memory(*row))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((row, median)) = best else {
        return vec![Ruling::of_run(MemoryCeiling::NotMeasured)];
    };
    let peak = match peak(look) {
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
