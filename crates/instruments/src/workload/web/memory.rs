//! How a server with a limit of its memory got along with it during a take.
//!
//! Bytes at the end of the take; events since its start. Without a limit there is nothing to tell.

use model::{Bytes, Count, Record, RecordExt};

use crate::telemetry::parse::float;
use crate::workload::server::memory::Use;
use model::metrics::load::{MEMORY_HITS, MEMORY_REFAULTS, SERVER_CACHE, SERVER_MEMORY};

/// Pushes what is used `now` and what happened since `before`.
pub fn push(before: Option<Use>, now: Option<Use>, record: &mut dyn Record) {
    let (Some(before), Some(now)) = (before, now) else { return };
    for (metric, bytes) in [(&SERVER_MEMORY, now.bytes), (&SERVER_CACHE, now.cache_bytes)] {
        record.push_if(metric, bytes.map(|bytes| Bytes(float(bytes))));
    }
    // Of version 1, a count of 0 reads as none.
    let hits = before.hits.or(now.hits.map(|_| 0));
    let events = [(&MEMORY_HITS, hits, now.hits), (&MEMORY_REFAULTS, before.refaults, now.refaults)];
    for (metric, before, now) in events {
        if let Some(risen) = before.zip(now).and_then(|(before, now)| now.checked_sub(before)) {
            record.push(metric, Count(float(risen)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::record::Values;

    #[test]
    fn what_the_kernel_tells_is_pushed() {
        let of = |bytes, hits, refaults| Use { bytes: Some(bytes), hits, refaults, ..Use::default() };
        let mut values = Values::default();
        push(Some(of(5, Some(3), Some(2))), Some(of(9, Some(10), None)), &mut values);
        let told: Vec<(&str, f64)> =
            values.values.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        assert_eq!(told, [("memory-limit-hits", 7.0), ("server-memory", 9.0)]);
        let mut values = Values::default();
        push(None, Some(of(9, Some(10), None)), &mut values);
        assert!(values.values.is_empty());
    }
}
