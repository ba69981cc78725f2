//! Adds requests to an aggregate: what has a large table is put off and added some hundred requests at a time, so that
//! one table after the other is in the cache. When the writer is dropped, everything is added.

use model::log_linear::highest_of;

use super::agents;
use super::bots::{self, BotRequest};
use super::conditions::Met;
use super::few::Few;
use super::folders::{self, Mark, Passing};
use super::names::{Asked, Lately};
use super::recent::Recent;
use super::{Aggregate, Settings, Slot, Strata, keys, lanes, size, sums};
use crate::fastest::fastest;
use crate::hash;
use crate::scan::{At, LONGEST_NS, MOST, MOST_BYTES, Record, Rows};

/// Requests that are put off.
const BATCH: usize = 512;
/// A size or a time that a line does not tell.
const NONE: u64 = u64::MAX;

/// Adds requests to one aggregate.
pub struct Writer<'a> {
    aggregate: &'a mut Aggregate,
    settings: &'a Settings,
    /// Written anew for each request, so that nothing is allocated.
    key: Vec<u8>,
    /// When the last request was, and its slot.
    at: Option<At>,
    slot: Option<Slot>,
    put_off: Box<PutOff>,
    /// Nothing is in it but while sums are made.
    strata: Strata,
    recent: Recent,
    /// Requests since the last time that was another one than before.
    in_second: u32,
    lately: Box<LatelyNamed>,
    few_ratios: Few<8, { highest_of(63) }>,
    few_sizes: Few<8, { highest_of(50) }>,
    few_times: Few<10, { highest_of(42) }>,
    passing: Passing,
    /// Requests on their way to their groups, where labels are compared by them.
    passing_groups: Passing,
    /// True if there is no filter and only the usual aggregates are wanted.
    plain: bool,
}

/// Names of requests that are not added yet.
#[derive(Default)]
struct LatelyNamed {
    failed_paths: Lately,
    failed_clients: Lately,
    failed_hosts: Lately,
    failed_asked: Lately,
    agents: Lately,
    bots: Lately,
    referrers: Lately,
}

/// Requests with a client and a path that are not added yet, column by column.
struct PutOff {
    count: usize,
    /// Of so many of them, sizes and times are in the aggregate.
    settled: usize,
    /// True if one of the others lacks a size or a time.
    gaps: bool,
    clients: [u64; BATCH],
    paths: [u64; BATCH],
    bytes: [u64; BATCH],
    times_ns: [u64; BATCH],
    /// Made of sizes and times while these are added.
    ratios: [u64; BATCH],
    classes: [u64; BATCH],
    /// Where folders are asked for, and where groups are, too.
    folders: [Mark; BATCH],
    groups: [Mark; BATCH],
}

impl PutOff {
    fn new() -> Box<PutOff> {
        let none = [0; BATCH];
        let ([clients, paths, bytes, times_ns], [ratios, classes]) = ([none; 4], [none; 2]);
        Box::new(PutOff {
            count: 0,
            settled: 0,
            gaps: false,
            clients,
            paths,
            bytes,
            times_ns,
            ratios,
            classes,
            folders: [folders::NONE; BATCH],
            groups: [folders::NONE; BATCH],
        })
    }

    /// Marks the folder of the request that is pushed next.
    #[inline(always)]
    fn mark(&mut self, folder: Mark) {
        self.folders[self.count] = folder;
    }

    /// Puts a request off: the hashes of its client and its path, its size and its time.
    #[inline(always)]
    fn push(&mut self, client: u64, path: u64, bytes: u64, time_ns: u64) {
        // There is room, which is made before.
        let at = self.count;
        self.clients[at] = client;
        self.paths[at] = path;
        self.bytes[at] = bytes;
        self.times_ns[at] = time_ns;
        self.count = at + 1;
    }
}

impl<'a> Writer<'a> {
    pub fn new(aggregate: &'a mut Aggregate, settings: &'a Settings) -> Writer<'a> {
        let plain = settings.filters.is_empty() && settings.group_by.is_empty() && !settings.mix;
        Writer {
            aggregate,
            settings,
            key: Vec::new(),
            at: None,
            slot: None,
            put_off: PutOff::new(),
            strata: Strata::default(),
            recent: Recent::default(),
            in_second: 0,
            lately: Box::default(),
            few_ratios: Few::default(),
            few_sizes: Few::default(),
            few_times: Few::default(),
            passing: Passing::default(),
            passing_groups: Passing::default(),
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
        if self.put_off.count == BATCH {
            self.flush();
        }
        if record.at != self.at {
            self.moved(record.at);
        }
        self.in_second += 1;
        let is_bot = self.named(record);
        if self.settings.folders {
            self.put_off.mark(self.passing.mark(record.path, record.status, is_bot));
            if !self.settings.group_by.is_empty() {
                keys::write_all(&self.settings.group_by, record, &mut self.key);
                let mark = self.passing_groups.mark_group(&self.key, record.status, is_bot);
                self.put_off.groups[self.put_off.count] = mark;
            }
        }
        let all = &mut *self.aggregate;
        all.statuses.add(record.status);
        if let Some(method) = record.method {
            all.methods[method as usize] += 1;
        }
        match *record {
            Record {
                client: Some(client),
                path: Some(path),
                bytes: Some(bytes),
                time_ns: Some(time_ns),
                ..
            } if bytes <= MOST_BYTES && time_ns <= LONGEST_NS => {
                all.whole_thousands += u64::from(record.is_whole_thousands);
                let path = all.paths.offer(path, record.offset, bytes, time_ns);
                self.put_off.push(hash::name(client), path, bytes, time_ns);
            }
            _ => self.partly(record),
        }
        self.told(record);
        if !self.plain {
            self.besides(record);
        }
        true
    }

    /// True if lines may be added in groups: nothing wanted needs single lines.
    pub fn takes_rows(&self) -> bool {
        self.plain
    }

    /// Adds lines that were read together, where it [takes](Self::takes_rows) them.
    #[inline(always)]
    pub fn add_rows(&mut self, rows: &Rows<'_>) {
        if self.put_off.count + MOST > BATCH {
            self.flush();
        }
        if self.at != Some(rows.at) {
            self.moved(Some(rows.at));
        }
        let (all, put_off) = (&mut *self.aggregate, &mut *self.put_off);
        let (columns, count) = (rows.columns, rows.count());
        let (mut others, mut failed, mut thousands) = (0u32, 0u32, 0);
        for line in 0..count {
            let Some(row) = rows.usual(line) else {
                others |= 1 << line;
                continue;
            };
            let (bytes, time_ns) = (columns.bytes[line], columns.times_ns[line]);
            failed |= u32::from(columns.statuses[line] >= 400) << line;
            let mut is_bot = false;
            if let Some(agent) = row.agent {
                let class =
                    self.lately.agents.add_sorted(&mut all.agents, agent, row.offset, agents::class_of);
                is_bot = class == agents::BOT;
                if is_bot {
                    let (client, at) = (Some(row.client), Some(rows.at));
                    let request = BotRequest { agent, client, at, offset: row.offset };
                    bots::add(&mut all.bots, &mut self.lately.bots, &mut self.key, request);
                }
            }
            if let Some(site) = row.referer.and_then(agents::site) {
                self.lately.referrers.add(&mut all.referrers, site, row.offset, 0);
            }
            all.statuses.add(Some(columns.statuses[line] as u16));
            all.methods[row.method as usize] += 1;
            thousands += columns.whole_thousands[line];
            let path = all.paths.offer(row.path, row.offset, bytes, time_ns);
            if self.settings.folders {
                let status = Some(columns.statuses[line] as u16);
                put_off.mark(self.passing.mark(Some(row.path), status, is_bot));
            }
            put_off.push(hash::name(row.client), path, bytes, time_ns);
        }
        all.whole_thousands += thousands;
        self.in_second += count as u32 - others.count_ones();
        while failed != 0 {
            self.failed(&rows.record(failed.trailing_zeros() as usize));
            failed &= failed - 1;
        }
        while others != 0 {
            self.add(&rows.record(others.trailing_zeros() as usize));
            others &= others - 1;
        }
    }

    /// Puts a request off whose line does not tell all that most lines tell, or adds it at once.
    #[inline(never)]
    fn partly(&mut self, record: &Record<'_>) {
        let all = &mut *self.aggregate;
        let (bytes, time_ns) = (record.bytes, record.time_ns);
        all.whole_thousands += u64::from(time_ns.is_some() && record.is_whole_thousands);
        let [weight, weight_ns] = [bytes, time_ns].map(Option::unwrap_or_default);
        let client = record.client.map(hash::name);
        let path = record.path.map(|path| all.paths.offer(path, record.offset, weight, weight_ns));
        if let (Some(client), Some(path)) = (client, path)
            && weight <= MOST_BYTES
            && weight_ns <= LONGEST_NS
        {
            self.put_off.gaps = true;
            return self.put_off.push(client, path, bytes.unwrap_or(NONE), time_ns.unwrap_or(NONE));
        }
        all.lines += 1;
        all.parsed += 1;
        if let Some(client) = client {
            all.clients.add(client);
        }
        match path {
            Some(path) => all.paths.add(path, &[1, weight, weight_ns]),
            None => all.paths.add_pathless(),
        }
        self.one(bytes, time_ns);
    }

    /// True if all filters accept a request. Counts it if not.
    #[inline(never)]
    fn is_let_in(&mut self, record: &Record<'_>) -> bool {
        let all = &mut *self.aggregate;
        let met = all.conditions.meet(&self.settings.filters, record, &mut self.key);
        if met == Met::All {
            return true;
        }
        all.lines += 1;
        all.parsed += 1;
        all.filtered += 1;
        if let (Met::ButStatusOrTime, Some(at)) = (met, record.at) {
            all.around.add(at, 1);
            if let Some(status) = record.status.filter(|status| *status >= 400) {
                all.around.add_failure(at, status >= 500);
            }
        }
        false
    }

    /// Adds a request to the optional aggregates.
    #[inline(never)]
    fn besides(&mut self, record: &Record<'_>) {
        if !self.settings.group_by.is_empty() {
            self.group(record);
        }
        if self.settings.mix {
            self.aggregate.mix.get_or_insert_default().add(record);
        }
    }

    /// Adds the names that a request tells: of what asked, of what referred, and behind a failure. True for a bot.
    #[inline]
    fn named(&mut self, record: &Record<'_>) -> bool {
        let all = &mut *self.aggregate;
        let mut is_bot = false;
        if let Some(agent) = record.agent {
            let class =
                self.lately.agents.add_sorted(&mut all.agents, agent, record.offset, agents::class_of);
            is_bot = class == agents::BOT;
            if is_bot {
                let Record { client, at, offset, .. } = *record;
                let request = BotRequest { agent, client, at, offset };
                bots::add(&mut all.bots, &mut self.lately.bots, &mut self.key, request);
            }
        }
        if let Some(vhost) = record.vhost {
            all.vhost_told += 1;
            let hash = hash::name(vhost);
            let known = all.vhosts.get_or_insert((hash, hash));
            *known = (known.0.min(hash), known.1.max(hash));
        }
        if let Some(site) = record.referer.and_then(agents::site) {
            let is_own = record.vhost.is_some_and(|vhost| agents::is_same_site(site, vhost));
            self.lately.referrers.add(&mut all.referrers, site, record.offset, usize::from(is_own));
        }
        if record.status.is_some_and(|status| status >= 400) {
            self.failed(record);
        }
        is_bot
    }

    /// Adds a failure: when, what was asked for, and who asked.
    #[cold]
    #[inline(never)]
    fn failed(&mut self, record: &Record<'_>) {
        let all = &mut *self.aggregate;
        let is_server = record.status.is_some_and(|status| status >= 500);
        if let Some(at) = record.at {
            all.pace.add_failure(at, is_server);
        }
        all.failed.add(record);
        if let Some(failed) = record.at.and_then(|at| all.failed_slots.at(&slot_of(at))) {
            failed.add(record);
        }
        let class = usize::from(is_server);
        if let Some(path) = record.path {
            self.lately.failed_paths.add(&mut all.failed_paths, path, record.offset, class);
        }
        if let Some(vhost) = record.vhost {
            self.lately.failed_hosts.add(&mut all.failed_hosts, vhost, record.offset, class);
        }
        if let Some(client) = record.client {
            self.lately.failed_clients.add(&mut all.failed_clients, client, record.offset, class);
            Asked::from_record(record).write(&mut self.key);
            self.lately.failed_asked.add(&mut all.failed_asked, &self.key, record.offset, class);
        }
    }

    /// Another time than that of the request before.
    #[cold]
    #[inline(never)]
    fn moved(&mut self, at: Option<At>) {
        self.paced();
        self.at = at;
        if let Some(at) = at {
            let span = self.aggregate.span.get_or_insert((at.seconds, at.seconds));
            *span = (span.0.min(at.seconds), span.1.max(at.seconds));
        }
        let slot = at.map(slot_of);
        if slot != self.slot {
            fastest(
                #[inline(always)]
                || self.settle(),
            );
            self.slot = slot;
        }
    }

    /// Adds the requests of the second that ends.
    fn paced(&mut self) {
        let requests = std::mem::take(&mut self.in_second);
        if let Some(at) = self.at.filter(|_| requests > 0) {
            self.aggregate.pace.add(at, requests);
        }
    }

    /// Adds the fields that few formats have.
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

    fn group(&mut self, record: &Record<'_>) {
        keys::write_all(&self.settings.group_by, record, &mut self.key);
        self.aggregate.groups.add(&self.key, record);
    }

    /// Adds sizes and times of requests that were put off and are of one slot.
    #[inline(always)]
    fn settle(&mut self) {
        let from = std::mem::replace(&mut self.put_off.settled, self.put_off.count);
        let part = from..self.put_off.count;
        if part.is_empty() {
            return;
        }
        if self.settings.folders {
            self.by_folder(part.clone());
        }
        if std::mem::take(&mut self.put_off.gaps) {
            for place in part {
                let told = |value: u64| (value != NONE).then_some(value);
                let (bytes, time_ns) = (&mut self.put_off.bytes[place], &mut self.put_off.times_ns[place]);
                let one = (told(*bytes), told(*time_ns));
                // From here on they are weights.
                (*bytes, *time_ns) = (one.0.unwrap_or(0), one.1.unwrap_or(0));
                self.one(one.0, one.1);
            }
            return;
        }
        let all = &mut *self.aggregate;
        let PutOff { bytes, times_ns, ratios, classes, .. } = &mut *self.put_off;
        let (bytes, times_ns, mut rated) = (&bytes[part.clone()], &times_ns[part.clone()], part.len());
        let [to, classes] = [&mut *ratios, classes].map(|column| &mut column[..part.len()]);
        if !lanes::add(&mut self.strata, bytes, times_ns, to, classes) {
            rated = add_each(&mut self.strata, bytes, times_ns, ratios);
        }
        self.few_ratios.record_all(&ratios[..rated], &mut all.ratios);
        self.few_sizes.record_all(bytes, &mut all.sizes);
        self.few_times.record_all(times_ns, &mut all.times);
        if let Some(hour) = self.slot.and_then(|slot| all.hours.at(&hour_of(slot))) {
            hour.record_all(times_ns);
        }
        let mut in_slot = self.slot.and_then(|slot| all.slots.at(&slot));
        for (class, sums) in self.strata.0.iter_mut().enumerate().filter(|(_, sums)| sums.requests > 0) {
            let sums = std::mem::take(sums);
            all.classes.0[class].merge(&sums);
            if let Some(strata) = &mut in_slot {
                strata.0[class].merge(&sums);
            }
        }
    }

    /// Adds requests that were put off and are of one slot to their folders and groups.
    fn by_folder(&mut self, part: std::ops::Range<usize>) {
        let PutOff { bytes, times_ns, folders, groups, .. } = &*self.put_off;
        let is_grouped = !self.settings.group_by.is_empty();
        for place in part {
            let (bytes, time_ns) = (bytes[place], times_ns[place]);
            if bytes != NONE && time_ns != NONE {
                self.passing.add(folders[place], bytes, time_ns);
                if is_grouped {
                    self.passing_groups.add(groups[place], bytes, time_ns);
                }
            }
        }
        self.passing.settle(self.slot, &mut self.aggregate.folders);
        if is_grouped {
            self.passing_groups.settle(self.slot, &mut self.aggregate.group_cells);
        }
    }

    /// Adds size and time of one request, each where it is told.
    #[inline(never)]
    fn one(&mut self, bytes: Option<u64>, time_ns: Option<u64>) {
        let all = &mut *self.aggregate;
        let ratio = sums::ratio_of(bytes, time_ns);
        let class = size::class_of(bytes);
        all.classes.0[class].add(bytes, time_ns, ratio);
        if let Some(strata) = self.slot.and_then(|slot| all.slots.at(&slot)) {
            strata.0[class].add(bytes, time_ns, ratio);
        }
        if let Some(ratio) = ratio {
            all.ratios.record(ratio);
        }
        if let Some(bytes) = bytes {
            all.sizes.record(bytes);
        }
        if let Some(time_ns) = time_ns {
            all.times.record(time_ns);
            if let Some(hour) = self.slot.and_then(|slot| all.hours.at(&hour_of(slot))) {
                hour.record(time_ns);
            }
        }
        match (bytes, time_ns) {
            (Some(bytes), None) => all.untimed_bytes = all.untimed_bytes.saturating_add(bytes),
            (None, Some(time_ns)) => all.unsized_ns = all.unsized_ns.saturating_add(u128::from(time_ns)),
            _ => {}
        }
    }

    /// Adds what was put off.
    #[cold]
    #[inline(never)]
    fn flush(&mut self) {
        fastest(
            #[inline(always)]
            || self.flush_all(),
        );
    }

    #[inline(always)]
    fn flush_all(&mut self) {
        self.settle();
        let all = &mut *self.aggregate;
        let count = std::mem::take(&mut self.put_off.count);
        self.put_off.settled = 0;
        all.lines += count as u64;
        all.parsed += count as u64;
        self.put_off.clients[..count].iter().for_each(|client| all.clients.add(*client));
        let (paths, bytes) = (&self.put_off.paths[..count], &self.put_off.bytes[..count]);
        all.paths.put_off([paths, bytes, &self.put_off.times_ns[..count]], &mut self.recent);
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.flush();
        self.paced();
        let all = &mut *self.aggregate;
        self.passing.settle(self.slot, &mut all.folders);
        self.passing_groups.settle(self.slot, &mut all.group_cells);
        let lately = &mut *self.lately;
        lately.failed_paths.settle(&mut all.failed_paths);
        lately.failed_clients.settle(&mut all.failed_clients);
        lately.failed_hosts.settle(&mut all.failed_hosts);
        lately.failed_asked.settle(&mut all.failed_asked);
        lately.bots.settle(&mut all.bots);
        lately.agents.settle(&mut all.agents);
        lately.referrers.settle(&mut all.referrers);
        all.paths.settle(&mut self.recent);
        self.few_ratios.settle(&mut all.ratios);
        self.few_sizes.settle(&mut all.sizes);
        self.few_times.settle(&mut all.times);
    }
}

/// Adds sizes and times one by one; writes the ratios of those that have one, and says how many they are.
#[inline(never)]
fn add_each(strata: &mut Strata, bytes: &[u64], times_ns: &[u64], ratios: &mut [u64; BATCH]) -> usize {
    let mut rated = 0;
    for (&bytes, &time_ns) in bytes.iter().zip(times_ns) {
        let class = &mut strata.0[size::class_of(Some(bytes))];
        if time_ns == 0 {
            class.add(Some(bytes), Some(0), None);
            continue;
        }
        let ratio = sums::ratio(bytes, time_ns);
        class.add(Some(bytes), Some(time_ns), Some(ratio));
        ratios[rated % BATCH] = ratio;
        rated += 1;
    }
    rated
}

fn slot_of(at: At) -> Slot {
    Slot { quarter: at.seconds.div_euclid(900), zone: at.zone }
}

/// The slot with which an hour of the log's own clock begins.
#[inline]
fn hour_of(slot: Slot) -> Slot {
    let local = slot.quarter + i64::from(slot.zone);
    Slot { quarter: slot.quarter - local.rem_euclid(4), ..slot }
}
