//! Aggregates of many requests: sums, distributions, sketches. All merge exactly, whatever the order and
//! whatever the pieces.
//!
//! Times in ns, sizes in B, ratios in 1/1000 B/s. Memory does not grow with the number of clients or paths, and is
//! bounded in the number of quarter hours, hours and groups.

pub mod agents;
pub mod bots;
pub mod bounded;
pub mod candidates;
pub mod conditions;
pub mod distinct;
pub mod failed;
mod few;
pub mod file;
pub mod filter;
pub mod folders;
pub mod groups;
pub mod keys;
mod lanes;
pub mod mix;
pub mod names;
pub mod pace;
pub mod paths;
mod recent;
pub mod size;
pub mod sketch;
pub mod skips;
mod slot;
mod statuses;
pub mod sums;
pub mod timeline;
mod views;
mod writer;

use model::log_linear::{LogLinear, highest_of};
use model::traffic::{self, StatusClass};
use serde::{Deserialize, Serialize};

use bounded::{Bounded, Merge};
use conditions::Conditions;
use distinct::Distinct;
use failed::FailedStrata;
use filter::Filter;
use folders::Folders;
use groups::Groups;
use keys::Key;
use mix::Mix;
use names::Names;
use pace::Pace;
use paths::Paths;
use size::CLASSES;
use skips::Skips;
pub use slot::Slot;
pub use statuses::Statuses;
use sums::Sums;
pub use views::{Period, Unrated};
pub use writer::Writer;

use crate::scan::Method;

/// Times: the buckets of the load engine, 1 ns to 1.2 h, to 0.05 %.
pub type Times = LogLinear<10, { highest_of(42) }>;
/// Sizes and ratios, to 0.2 %.
pub type Sizes = LogLinear<8, { highest_of(50) }>;
pub type Ratios = LogLinear<8, { highest_of(63) }>;
/// Times of an hour, to 3 %.
pub type CoarseTimes = LogLinear<4, { highest_of(42) }>;

/// Quarter hours and hours that are told apart.
pub const MOST_SLOTS: usize = 40_000;
pub const MOST_HOURS: usize = 10_000;

/// Sums of each class of size: what a stratified ratio with blocks of time needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Strata(pub [Sums; CLASSES]);

impl Strata {
    /// The classes of work of these requests; `failed` are those among them that failed.
    pub fn parted(&self, failed: &FailedStrata) -> Vec<(u32, Sums)> {
        let mut good = self.0;
        for (class, sums) in failed.by_class() {
            let size = traffic::size_of(class).map_or(size::UNKNOWN, |size| size as usize);
            if let Some(of_size) = good.get_mut(size) {
                of_size.take(sums);
            }
        }
        let good = good.into_iter().enumerate();
        let good = good.map(|(size, sums)| (failed::work_class(StatusClass::Good, size), sums));
        let failed = failed.by_class().map(|(class, sums)| (class, *sums));
        good.chain(failed).filter(|(_, sums)| sums.requests > 0).collect()
    }

    /// All classes together.
    pub fn total(&self) -> Sums {
        let mut total = Sums::default();
        self.0.iter().for_each(|class| total.merge(class));
        total
    }
}

impl Merge for Strata {
    fn merge(&mut self, other: &Strata) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            mine.merge(theirs);
        }
    }
}

impl Merge for CoarseTimes {
    fn merge(&mut self, other: &CoarseTimes) {
        LogLinear::merge(self, other);
    }
}

/// Settings of an aggregate: groups, filters and counts. Only aggregates with equal settings merge.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The properties that make a group together; none: no groups.
    pub group_by: Vec<Key>,
    pub filters: Vec<Filter>,
    /// True: the mix of requests is kept too, which costs time for each request.
    pub mix: bool,
    /// True: requests are summed by the first folder of their path, and by their group, in each quarter hour too.
    /// Aggregates with and without it merge to one without.
    pub folders: bool,
}

/// Requests and the lines they came from.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Aggregate {
    /// `lines` = `parsed` + skipped, and `parsed` = `filtered` + requests.
    pub lines: u64,
    pub parsed: u64,
    /// Parsed lines that a filter leaves out.
    pub filtered: u64,
    /// Counts of each filter.
    pub conditions: Conditions,
    pub skips: Skips,
    pub classes: Strata,
    pub times: Times,
    pub sizes: Sizes,
    pub ratios: Ratios,
    pub statuses: Statuses,
    /// In the order of [`Method::ALL`].
    pub methods: [u64; Method::ALL.len()],
    /// Bytes of requests without a time, and time of requests without a size: outside the ratio of totals.
    pub untimed_bytes: u64,
    pub unsized_ns: u128,
    /// Times above 0 that are written as whole thousands.
    pub whole_thousands: u64,
    /// Requests on a connection that had carried one before, and those whose line tells it at all.
    pub reused: u64,
    pub reuse_told: u64,
    /// Requests that a cache answered, and those whose line tells what the cache said.
    pub cache_hits: u64,
    pub cache_told: u64,
    /// Seconds since 1970 of the first and the last request.
    pub span: Option<(i64, i64)>,
    pub slots: Bounded<Slot, Strata, MOST_SLOTS>,
    /// Failed requests of the slots, which are among the others there.
    pub failed_slots: Bounded<Slot, FailedStrata, MOST_SLOTS>,
    /// All failed requests, those without a time of day too.
    pub failed: FailedStrata,
    pub hours: Bounded<Slot, CoarseTimes, MOST_HOURS>,
    pub clients: Distinct,
    pub paths: Paths,
    pub pace: Pace,
    /// Requests that only conditions on status or time leave out: failures are judged beside them.
    pub around: Pace,
    /// Behind failures, by whether the server is said to be at fault: the paths, the clients and the virtual
    /// hosts.
    pub failed_paths: Names,
    pub failed_clients: Names,
    pub failed_hosts: Names,
    /// The same with client, status, path and program together ([`names::Asked`]).
    pub failed_asked: Names,
    /// The programs that asked, by whether they say they are bots.
    pub agents: Names,
    /// The clients and the hours of each bot ([`bots`]).
    pub bots: Names,
    /// The sites that referred, by whether they are the virtual host that was asked.
    pub referrers: Names,
    /// Lines that tell a virtual host.
    pub vhost_told: u64,
    /// The lowest and the highest hash of a virtual host: equal where there is one only.
    pub vhosts: Option<(u64, u64)>,
    pub groups: Groups,
    /// Where the settings ask for it.
    pub folders: Folders,
    /// The same by group.
    pub group_cells: Folders,
    /// Where the settings ask for it, once there is a request.
    pub mix: Option<Box<Mix>>,
}

impl Aggregate {
    /// An empty one, to be filled at the same time and then merged with this one.
    pub fn beside(&self) -> Aggregate {
        Aggregate {
            paths: self.paths.beside(),
            failed_paths: self.failed_paths.beside(),
            failed_clients: self.failed_clients.beside(),
            failed_hosts: self.failed_hosts.beside(),
            failed_asked: self.failed_asked.beside(),
            agents: self.agents.beside(),
            bots: self.bots.beside(),
            referrers: self.referrers.beside(),
            groups: self.groups.beside(),
            conditions: self.conditions.beside(),
            ..Aggregate::default()
        }
    }

    /// False for numbers that no counting can give.
    pub(crate) fn is_sound(&self) -> bool {
        let is_time = |at: i64| at.unsigned_abs() <= slot::LATEST;
        self.parsed.checked_add(self.skipped()) == Some(self.lines)
            && self.filtered.checked_add(self.totals().requests) == Some(self.parsed)
            && self.times.total() <= self.parsed
            && self.span.is_none_or(|(from, to)| from <= to && is_time(from) && is_time(to))
    }

    /// The lines that were skipped of a piece of a file, with their places settled.
    pub fn add_skips(&mut self, skips: &Skips) {
        self.lines = self.lines.saturating_add(skips.total());
        self.skips.merge(skips);
    }
}

/// The stretch from the lower start to the higher end of two.
fn widest<T: Ord>(one: Option<(T, T)>, other: Option<(T, T)>) -> Option<(T, T)> {
    match (one, other) {
        (Some(one), Some(two)) => Some((one.0.min(two.0), one.1.max(two.1))),
        (one, two) => one.or(two),
    }
}

impl Merge for Aggregate {
    fn merge(&mut self, other: &Aggregate) {
        let counts = [
            (&mut self.lines, other.lines),
            (&mut self.parsed, other.parsed),
            (&mut self.filtered, other.filtered),
            (&mut self.untimed_bytes, other.untimed_bytes),
            (&mut self.whole_thousands, other.whole_thousands),
            (&mut self.reused, other.reused),
            (&mut self.reuse_told, other.reuse_told),
            (&mut self.cache_hits, other.cache_hits),
            (&mut self.cache_told, other.cache_told),
            (&mut self.vhost_told, other.vhost_told),
        ];
        let methods = self.methods.iter_mut().zip(other.methods);
        for (mine, theirs) in counts.into_iter().chain(methods) {
            *mine = mine.saturating_add(theirs);
        }
        self.unsized_ns = self.unsized_ns.saturating_add(other.unsized_ns);
        self.skips.merge(&other.skips);
        self.classes.merge(&other.classes);
        self.times.merge(&other.times);
        self.sizes.merge(&other.sizes);
        self.ratios.merge(&other.ratios);
        self.statuses.merge(&other.statuses);
        self.span = widest(self.span, other.span);
        self.vhosts = widest(self.vhosts, other.vhosts);
        self.slots.merge(&other.slots);
        self.failed_slots.merge(&other.failed_slots);
        self.failed.merge(&other.failed);
        self.hours.merge(&other.hours);
        self.clients.merge(&other.clients);
        self.paths.merge(&other.paths);
        self.pace.merge(&other.pace);
        self.around.merge(&other.around);
        self.failed_paths.merge(&other.failed_paths);
        self.failed_clients.merge(&other.failed_clients);
        self.failed_hosts.merge(&other.failed_hosts);
        self.failed_asked.merge(&other.failed_asked);
        self.agents.merge(&other.agents);
        self.bots.merge(&other.bots);
        self.referrers.merge(&other.referrers);
        self.groups.merge(&other.groups);
        self.conditions.merge(&other.conditions);
        self.folders.merge(&other.folders);
        self.group_cells.merge(&other.group_cells);
        match (&mut self.mix, &other.mix) {
            (Some(mine), Some(theirs)) => mine.merge(theirs),
            (mine @ None, Some(theirs)) => *mine = Some(theirs.clone()),
            (_, None) => {}
        }
    }
}

#[cfg(test)]
mod tests;
