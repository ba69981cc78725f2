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
    put_off: Box<PutOff>,
    recent: Recent,
    /// Whether every request is let in and nothing is asked for besides the usual aggregates.
    plain: bool,
}

/// What was put off, each where its line tells it.
#[derive(Default)]
struct PutOff {
    times: Column<u64>,
    sizes: Column<u64>,
    ratios: Column<u64>,
    clients: Column<u64>,
    paths: Column<(u64, Amounts)>,
}

/// What was put off of at most as many requests as are put off.
struct Column<T> {
    values: [T; BATCH],
    count: usize,
}

impl<T: Copy + Default> Default for Column<T> {
    fn default() -> Column<T> {
        Column { values: [T::default(); BATCH], count: 0 }
    }
}

impl<T> Column<T> {
    #[inline(always)]
    fn push(&mut self, value: T) {
        // A request has one value at most, and is put off where there are fewer than that.
        self.values[self.count] = value;
        self.count += 1;
    }

    /// What was put off; nothing is then.
    fn take(&mut self) -> &[T] {
        &self.values[..std::mem::take(&mut self.count)]
    }
}

impl<'a> Writer<'a> {
    #[must_use]
    pub fn new(aggregate: &'a mut Aggregate, settings: &'a Settings) -> Writer<'a> {
        let plain = settings.filters.is_empty() && settings.group_by.is_empty() && !settings.mix;
        Writer {
            aggregate,
            settings,
            key: Vec::new(),
            lines: 0,
            at: None,
            slot: None,
            strata: Strata::default(),
            classes: 0,
            put_off: Box::default(),
            recent: Recent::default(),
            plain,
        }
    }

    /// Adds a parsed line; its line is counted too. Says whether the filters let its request in.
    // Called, so that it and the scanner have the registers to themselves.
    #[inline(never)]
    pub fn add(&mut self, record: &Record<'_>) -> bool {
        if !self.plain && !self.is_let_in(record) {
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
            self.put_off.clients.push(hash::name(client));
        }
        let (bytes, time_ns) = (record.bytes.unwrap_or(0), record.time_ns.unwrap_or(0));
        if let Some(key) = all.paths.offer(record.path, record.offset, bytes, time_ns) {
            self.put_off.paths.push((key, [1, bytes, time_ns]));
        }
        self.told(record);
        if !self.plain {
            self.besides(record, ratio);
        }
        true
    }

    /// Whether all filters let a request in; one that is not is counted here.
    #[inline(never)]
    fn is_let_in(&mut self, record: &Record<'_>) -> bool {
        let is_let_in = self.settings.filters.iter().all(|filter| filter.holds(record, &mut self.key));
        if !is_let_in {
            self.aggregate.lines += 1;
            self.aggregate.parsed += 1;
            self.aggregate.filtered += 1;
        }
        is_let_in
    }

    /// What is kept of a request where it is asked for.
    #[inline(never)]
    fn besides(&mut self, record: &Record<'_>, ratio: Option<u64>) {
        if !self.settings.group_by.is_empty() {
            self.group(record, ratio);
        }
        if self.settings.mix {
            self.aggregate.mix.get_or_insert_default().add(record);
        }
    }

    /// Another time than that of the request before.
    #[cold]
    #[inline(never)]
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
            self.put_off.sizes.push(bytes);
        }
        if let Some(ratio) = ratio {
            self.put_off.ratios.push(ratio);
        }
        if let Some(time_ns) = time_ns {
            self.put_off.times.push(time_ns);
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
        let times = self.put_off.times.take();
        if !times.is_empty() {
            all.times.record_all(times);
            if let Some(hour) = self.slot.and_then(|slot| all.hours.at(&hour_of(slot))) {
                hour.record_all(times);
            }
        }
    }

    /// Adds what was put off.
    #[cold]
    #[inline(never)]
    fn flush(&mut self) {
        self.settle();
        let all = &mut *self.aggregate;
        all.lines += self.lines as u64;
        all.parsed += self.lines as u64;
        all.sizes.record_all(self.put_off.sizes.take());
        all.ratios.record_all(self.put_off.ratios.take());
        self.put_off.clients.take().iter().for_each(|client| all.clients.add(*client));
        if self.lines == BATCH {
            all.paths.put_off(self.put_off.paths.take(), &mut self.recent);
        } else {
            all.paths.add_all(self.put_off.paths.take());
        }
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
