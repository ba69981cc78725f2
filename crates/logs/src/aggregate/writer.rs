//! Adds requests to an aggregate: what has a large table is put off and added some hundred requests at a time, so that
//! one table after the other is in the cache. When the writer is dropped, everything is added.

use super::recent::Recent;
use super::sketch::Amounts;
use super::{Aggregate, Settings, Slot, Strata, keys, size, sums};
use crate::hash;
use crate::scan::{At, Record};

/// Requests that are put off.
const BATCH: usize = 1024;

/// Adds requests to one aggregate.
pub struct Writer<'a> {
    aggregate: &'a mut Aggregate,
    settings: &'a Settings,
    /// Written anew for each request, so that nothing is allocated.
    key: Vec<u8>,
    lines: usize,
    /// When the last request was, and its slot.
    at: Option<At>,
    slot: Option<Slot>,
    /// Sums and times (ns) of requests of that slot that were put off, and the classes among them, a bit for each.
    strata: Strata,
    classes: u32,
    times: Vec<u64>,
    sizes: Vec<u64>,
    ratios: Vec<u64>,
    clients: Vec<u64>,
    paths: Vec<(u64, Amounts)>,
    recent: Recent,
}

impl<'a> Writer<'a> {
    #[must_use]
    pub fn new(aggregate: &'a mut Aggregate, settings: &'a Settings) -> Writer<'a> {
        let room = || Vec::with_capacity(BATCH);
        Writer {
            aggregate,
            settings,
            key: Vec::new(),
            lines: 0,
            at: None,
            slot: None,
            strata: Strata::default(),
            classes: 0,
            times: room(),
            sizes: room(),
            ratios: room(),
            clients: room(),
            paths: Vec::with_capacity(BATCH),
            recent: Recent::default(),
        }
    }

    /// Adds a parsed line; its line is counted too. Says whether the filters let its request in.
    #[inline(always)]
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
        if record.at != self.at {
            self.moved(record.at);
        }
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

    /// Another time than that of the request before.
    fn moved(&mut self, at: Option<At>) {
        self.at = at;
        if let Some(at) = at {
            let span = self.aggregate.span.get_or_insert((at.seconds, at.seconds));
            *span = (span.0.min(at.seconds), span.1.max(at.seconds));
        }
        let slot = at.map(|at| Slot { quarter: at.seconds.div_euclid(900), zone: at.zone });
        if slot != self.slot {
            self.settle();
            self.slot = slot;
        }
    }

    /// Size, time and their ratio, which is given back.
    #[inline(always)]
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
        self.strata.0[class].add(bytes, time_ns, ratio);
        self.classes |= 1 << class;
        if let Some(bytes) = bytes {
            self.sizes.push(bytes);
        }
        if let Some(ratio) = ratio {
            self.ratios.push(ratio);
        }
        if let Some(time_ns) = time_ns {
            self.times.push(time_ns);
            all.whole_thousands += u64::from(record.is_whole_thousands);
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

    /// Adds the sums and times that are of one slot.
    fn settle(&mut self) {
        let all = &mut *self.aggregate;
        while self.classes != 0 {
            let class = self.classes.trailing_zeros() as usize;
            self.classes &= self.classes - 1;
            let sums = std::mem::take(&mut self.strata.0[class]);
            all.classes.0[class].merge(&sums);
            if let Some(strata) = self.slot.and_then(|slot| all.slots.at(&slot)) {
                strata.0[class].merge(&sums);
            }
        }
        if !self.times.is_empty() {
            all.times.record_all(&self.times);
            if let Some(times) = self.slot.and_then(|slot| all.hours.at(&hour_of(slot))) {
                times.record_all(&self.times);
            }
            self.times.clear();
        }
    }

    /// Adds what was put off.
    fn flush(&mut self) {
        self.settle();
        let all = &mut *self.aggregate;
        all.sizes.record_all(&self.sizes);
        all.ratios.record_all(&self.ratios);
        self.clients.drain(..).for_each(|client| all.clients.add(client));
        if self.lines == BATCH {
            all.paths.put_off(&self.paths, &mut self.recent);
        } else {
            all.paths.add_all(&self.paths);
        }
        self.sizes.clear();
        self.ratios.clear();
        self.paths.clear();
        self.lines = 0;
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.flush();
        self.aggregate.paths.settle(&mut self.recent);
    }
}

/// The slot with which an hour of the log's own clock begins.
#[inline]
fn hour_of(slot: Slot) -> Slot {
    let local = slot.quarter + i64::from(slot.zone);
    Slot { quarter: slot.quarter - local.rem_euclid(4), ..slot }
}
