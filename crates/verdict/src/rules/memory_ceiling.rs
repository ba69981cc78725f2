//! How much of its memory bandwidth the machine reaches: channels x transfers a second x 8 B.
//!
//! A finding, not a refusal. Bytes are counted as the figure counts them: a copy counted once moves twice as much.
//! Write-allocate traffic is not added, so the share of writes is a lower bound.

use model::{Finding, Unit, Validity};

use super::look::Row;
use super::{Look, Ruling, unknown};
use crate::{facts, say};

const KIND: &str = "memory-ceiling";
const BUS_BYTES: f64 = 8.0;

/// What the memory can deliver by its specification.
pub struct Peak {
    pub bytes_per_sec: f64,
    /// `2 x DDR5-5600`.
    pub says: String,
}

pub fn peak(look: &Look<'_>) -> Result<Peak, String> {
    let channels = facts::limit(look.run, "memory.channels")?;
    let stated = facts::limit(look.run, "memory.mts")?;
    // Transfers a second; sheets written by hand give millions.
    let transfers = if stated < 1e6 { stated * 1e6 } else { stated };
    let kind = facts::text(&look.run.facts, "memory.type").map_or(String::new(), |kind| format!("{kind}-"));
    let suffix = if kind.is_empty() { " MT/s" } else { "" };
    let says = format!("{channels:.0} x {kind}{:.0}{suffix}", transfers / 1e6);
    Ok(Peak { bytes_per_sec: channels * transfers * BUS_BYTES, says })
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
        return unknown(KIND, "memory read was not measured");
    };
    let peak = match peak(look) {
        Ok(peak) => peak,
        Err(why) => return unknown(KIND, why),
    };
    let share = median * moved_per_counted(row) / peak.bytes_per_sec;
    if share > 1.01 {
        return Vec::new();
    }
    let text = format!(
        "memory read reaches {} of the {} that {} can deliver",
        say::percent(share),
        say::quantity(peak.bytes_per_sec, Unit::BytesPerSec),
        peak.says
    );
    let finding = Finding::new(KIND, Validity::Ok, text).about(row.title());
    let finding =
        finding.evidence("share", share).evidence("ceiling", peak.bytes_per_sec).evidence("value", median);
    vec![Ruling { finding, reach: Vec::new() }]
}
