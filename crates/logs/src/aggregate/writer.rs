//! Adds requests to an aggregate: what has a large table is put off and added some hundred requests at a time, so that
//! one table after the other is in the cache. When the writer is dropped, everything is added.

use super::sketch::Amounts;
use super::{Aggregate, Settings, Slot, keys, size, sums};
use crate::hash;
use crate::scan::Record;

/// Requests that are put off.
const BATCH: usize = 512;

/// Adds requests to one aggregate.
pub struct Writer<'a> {
    aggregate: &'a mut Aggregate,
    settings: &'a Settings,
    /// Written anew for each request, so that nothing is allocated.
    key: Vec<u8>,
    lines: usize,
    times: Vec<u64>,
    sizes: Vec<u64>,
    ratios: Vec<u64>,
    clients: Vec<u64>,
    paths: Vec<(u64, Amounts)>,
}

impl<'a> Writer<'a> {
    #[must_use]
    pub fn new(aggregate: &'a mut Aggregate, settings: &'a Settings) -> Writer<'a> {
        let room = || Vec::with_capacity(BATCH);
        let paths = Vec::with_capacity(BATCH);
        let (times, sizes, ratios, clients) = (room(), room(), room(), room());
        Writer { aggregate, settings, key: Vec::new(), lines: 0, times, sizes, ratios, clients, paths }
    }

    /// Adds a parsed line; its line is counted too. Says whether the filters let its request in.
    #[inline]
    pub fn add(&mut self, record: &Record<'_>) -> bool {
        self.aggregate.lines += 1;
        self.aggregate.parsed += 1;
        let filters = &self.settings.filters;
        if !filters.is_empty() && !filters.iter().all(|filter| filter.holds(record, &mut self.key)) {
            self.aggregate.filtered += 1;
            return false;
        }
        if self.lines == BATCH {
            self.flush();
        }
        self.lines += 1;
        let ratio = self.amounts(record);
        let all = &mut *self.aggregate;
        all.statuses.add(record.status);
        if let Some(method) = record.method {
            all.methods[method as usize] += 1;
        }
        if let Some(client) = record.client {
            self.clients.push(hash::name(client));
        }
        let (bytes, time_ns) = (record.bytes.unwrap_or(0), record.time_ns.unwrap_or(0));
        if let Some(key) = all.paths.offer(record.path, record.offset, bytes, time_ns) {
            self.paths.push((key, [1, bytes, time_ns]));
        }
        self.told(record);
        if !self.settings.group_by.is_empty() {
            self.group(record, ratio);
        }
        if self.settings.mix {
            self.aggregate.mix.get_or_insert_default().add(record);
        }
        true
    }

    /// Size, time, ratio, and when: the request's ratio.
    #[inline]
    fn amounts(&mut self, record: &Record<'_>) -> Option<u64> {
        let (bytes, time_ns) = (record.bytes, record.time_ns);
        let all = &mut *self.aggregate;
        let ratio = match (bytes, time_ns) {
            (Some(bytes), Some(time_ns)) if time_ns > 0 => Some(sums::ratio(bytes, time_ns)),
            (Some(bytes), None) => {
                all.untimed_bytes = all.untimed_bytes.saturating_add(bytes);
                None
            }
            (None, Some(time_ns)) => {
                all.unsized_ns = all.unsized_ns.saturating_add(u128::from(time_ns));
                None
            }
            _ => None,
        };
        let class = size::class_of(bytes);
        all.classes.0[class].add(bytes, time_ns, ratio);
        self.sizes.extend(bytes);
        self.ratios.extend(ratio);
        if let Some(time_ns) = time_ns {
            self.times.push(time_ns);
            all.whole_thousands += u64::from(record.is_whole_thousands);
        }
        if let Some(at) = record.at {
            let span = all.span.get_or_insert((at.seconds, at.seconds));
            *span = (span.0.min(at.seconds), span.1.max(at.seconds));
            let slot = Slot { quarter: at.seconds.div_euclid(900), zone: at.zone };
            if let Some(strata) = all.slots.at(&slot) {
                strata.0[class].add(bytes, time_ns, ratio);
            }
            if let Some(time_ns) = time_ns
                && let Some(times) = all.hours.at(&hour_of(slot))
            {
                times.record(time_ns);
            }
        }
        ratio
    }

    /// What few formats tell.
    #[inline]
    fn told(&mut self, record: &Record<'_>) {
        if let Some(reused) = record.reused {
            self.aggregate.reuse_told += 1;
            self.aggregate.reused += u64::from(reused);
        }
        if let Some(cache) = record.cache {
            self.aggregate.cache_told += 1;
            let hit = cache.get(..3).is_some_and(|word| word.eq_ignore_ascii_case(b"hit"));
            self.aggregate.cache_hits += u64::from(hit);
        }
    }

    fn group(&mut self, record: &Record<'_>, ratio: Option<u64>) {
        keys::write_all(&self.settings.group_by, record, &mut self.key);
        let Some(group) = self.aggregate.groups.at(&self.key) else { return };
        group.sums.add(record.bytes, record.time_ns, ratio);
        if let Some(time_ns) = record.time_ns {
            group.times.record(time_ns);
        }
        if let Some(ratio) = ratio {
            group.ratios.record(ratio);
        }
        let status = record.status.unwrap_or(0);
        group.client_errors += u64::from((400..500).contains(&status));
        group.server_errors += u64::from(status >= 500);
    }

    /// Adds what was put off.
    fn flush(&mut self) {
        let all = &mut *self.aggregate;
        self.times.drain(..).for_each(|time_ns| all.times.record(time_ns));
        self.sizes.drain(..).for_each(|bytes| all.sizes.record(bytes));
        self.ratios.drain(..).for_each(|ratio| all.ratios.record(ratio));
        self.clients.drain(..).for_each(|client| all.clients.add(client));
        all.paths.add_all(&self.paths);
        self.paths.clear();
        self.lines = 0;
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}

/// The slot with which an hour of the log's own clock begins.
#[inline]
fn hour_of(slot: Slot) -> Slot {
    let local = slot.quarter + i64::from(slot.zone);
    Slot { quarter: slot.quarter - local.rem_euclid(4), ..slot }
}
