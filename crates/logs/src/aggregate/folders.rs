//! Requests by the first folder of their path, or by the group that is asked for, in each quarter hour and class of
//! work: where two logs differ.
//!
//! Bytes in B, time in ns. Only requests that tell a path, a size and a time, and that the server did not fail.
//! Bounded: of more folders or cells than are told apart nothing is kept, whatever their order, so that it merges
//! exactly.

use std::collections::BTreeMap;

use model::traffic::{self, StatusClass};
use serde::{Deserialize, Serialize};

use super::bounded::{Bounded, Merge};
use super::keys::folders;
use super::slot::Slot;
use super::{failed, size};
use crate::hash;

/// Folders, and cells of a folder, a quarter hour and a class of work.
pub const MOST_FOLDERS: usize = 250;
pub const MOST_CELLS: usize = 50_000;
/// Bytes of a folder that are kept.
const LONGEST: usize = 128;

/// Sums over requests that tell both size and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    pub requests: u64,
    pub bytes: u64,
    pub time_ns: u128,
}

impl Merge for Work {
    fn merge(&mut self, other: &Work) {
        self.requests = self.requests.saturating_add(other.requests);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time_ns = self.time_ns.saturating_add(other.time_ns);
    }
}

/// A name has no figures of its own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known;

impl Merge for Known {
    fn merge(&mut self, _: &Known) {}
}

/// The hash of a folder, a quarter hour, and a class of work.
type CellKey = (u64, Slot, u32);
/// The cells of a folder by quarter hour and class of work.
pub type Cells = BTreeMap<(Slot, u32), Work>;

/// The folders of many requests.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Folders {
    names: Bounded<Vec<u8>, Known, MOST_FOLDERS>,
    cells: Bounded<CellKey, Work, MOST_CELLS>,
    /// All requests that passed by, those in no cell too.
    seen: u64,
}

impl Folders {
    /// The cells of each folder; `None` where there are too many, or where not all of so many requests passed by.
    pub fn sorted(&self, requests: u64) -> Option<BTreeMap<&[u8], Cells>> {
        if self.seen != requests {
            return None;
        }
        let names = self.names.sorted()?;
        let by_hash: BTreeMap<u64, &[u8]> =
            names.iter().map(|(name, _)| (hash::name(name), &name[..])).collect();
        let mut all: BTreeMap<&[u8], Cells> = BTreeMap::new();
        for ((hash, slot, class), work) in self.cells.sorted()? {
            let name = by_hash.get(hash)?;
            all.entry(name).or_default().insert((*slot, *class), *work);
        }
        Some(all)
    }

    /// Without names the cells are of nothing.
    fn settle(&mut self) {
        if self.names.overflowed() {
            self.cells.give_up();
        }
    }
}

impl Merge for Folders {
    fn merge(&mut self, other: &Folders) {
        self.seen = self.seen.saturating_add(other.seen);
        self.names.merge(&other.names);
        self.cells.merge(&other.cells);
        self.settle();
    }
}

/// The folder, the class of status and the kind of program of a request that was put off; `NONE` where it counts in no
/// cell.
pub type Mark = u32;
pub const NONE: Mark = Mark::MAX;

/// Places that folders are looked for in, by a few of their bytes.
const PLACES: usize = 256;

/// Kinds of requests in a folder, in the order of the two lowest bits of a mark: the class of status, and whether a bot
/// asked.
const KINDS: [(StatusClass, bool); 4] = [
    (StatusClass::Good, false),
    (StatusClass::Client, false),
    (StatusClass::Good, true),
    (StatusClass::Client, true),
];

/// Requests on their way into [`Folders`]: most repeat one of few folders.
#[derive(Default)]
pub struct Passing {
    seen: u64,
    /// Number of the folder that was found at a place last; none at first.
    places: Vec<u16>,
    names: Vec<Box<[u8]>>,
    /// By number of the folder, kind and class of size: requests of one slot.
    work: Vec<[[Work; size::CLASSES]; KINDS.len()]>,
    /// True once there are too many folders.
    is_full: bool,
}

impl Passing {
    /// Counts a request, and marks its folder.
    #[inline]
    pub fn mark(&mut self, path: Option<&[u8]>, status: Option<u16>, is_bot: bool) -> Mark {
        self.seen += 1;
        let Some(path) = path else { return NONE };
        let folder = folders(path, 1);
        self.marked(&folder[..folder.len().min(LONGEST)], status, is_bot)
    }

    /// Counts a request, and marks its group.
    #[inline]
    pub fn mark_group(&mut self, name: &[u8], status: Option<u16>, is_bot: bool) -> Mark {
        self.seen += 1;
        self.marked(name, status, is_bot)
    }

    #[inline(always)]
    fn marked(&mut self, name: &[u8], status: Option<u16>, is_bot: bool) -> Mark {
        let status = failed::status_class(status);
        if status == StatusClass::Server || self.is_full {
            return NONE;
        }
        let kind = u32::from(is_bot) << 1 | u32::from(status == StatusClass::Client);
        self.number(name).map_or(NONE, |number| u32::from(number) << 2 | kind)
    }

    #[inline]
    fn number(&mut self, folder: &[u8]) -> Option<u16> {
        let start = crate::scan::word::first_eight(folder.get(1..).unwrap_or_default());
        let place = hash::mix(start, folder.len() as u64) as usize % PLACES;
        let known = self.places.get(place).copied();
        if let Some(number) = known
            && self.names.get(usize::from(number)).is_some_and(|name| **name == *folder)
        {
            return Some(number);
        }
        self.find(folder, place)
    }

    #[cold]
    #[inline(never)]
    fn find(&mut self, folder: &[u8], place: usize) -> Option<u16> {
        self.places.resize(PLACES, u16::MAX);
        let at = self.names.iter().position(|name| **name == *folder).unwrap_or_else(|| {
            self.names.push(folder.into());
            self.work.push(Default::default());
            self.names.len() - 1
        });
        // One more than are kept tells that there are too many.
        self.is_full = self.names.len() > MOST_FOLDERS;
        let number = u16::try_from(at).ok()?;
        self.places[place] = number;
        Some(number)
    }

    /// Adds a marked request that tells both.
    #[inline(always)]
    pub fn add(&mut self, mark: Mark, bytes: u64, time_ns: u64) {
        if mark == NONE {
            return;
        }
        let Some(work) = self.work.get_mut((mark >> 2) as usize) else { return };
        let one = &mut work[(mark & 3) as usize][size::class_of(Some(bytes))];
        one.requests += 1;
        one.bytes = one.bytes.saturating_add(bytes);
        one.time_ns += u128::from(time_ns);
    }

    /// Adds the requests of a slot that ends; without a slot they are in no cell.
    pub fn settle(&mut self, slot: Option<Slot>, to: &mut Folders) {
        to.seen = to.seen.saturating_add(std::mem::take(&mut self.seen));
        for (name, work) in self.names.iter().zip(&mut self.work) {
            // A name without a cell yet, such as that of the first one too many, counts too.
            to.names.at(&name.to_vec());
            let hash = hash::name(name);
            for ((status, is_bot), sizes) in KINDS.into_iter().zip(work) {
                for (class, work) in sizes.iter_mut().enumerate().filter(|(_, work)| work.requests > 0) {
                    let work = std::mem::take(work);
                    let class = failed::work_class(status, class);
                    let class = if is_bot { traffic::of_bots(class) } else { class };
                    let key = |slot| (hash, slot, class);
                    if let Some(cell) = slot.and_then(|slot| to.cells.at(&key(slot))) {
                        cell.merge(&work);
                    }
                }
            }
        }
        to.settle();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slot(quarter: i64) -> Slot {
        Slot { quarter, zone: 0 }
    }

    /// Requests with these numbers, in slots of a hundred; of so many folders.
    fn of(numbers: std::ops::Range<u64>, different: u64) -> Folders {
        let (mut all, mut passing) = (Folders::default(), Passing::default());
        for n in numbers {
            let path = format!("/{}/{n}", hash::mix(n, 5) % different);
            let status = [200, 304, 404, 503][(n % 4) as usize];
            let mark = passing.mark(Some(path.as_bytes()), Some(status), n % 3 == 0);
            passing.add(mark, n % 5000, n);
            if n % 100 == 99 || n % 7 == 0 {
                passing.settle(Some(slot((n / 100) as i64)), &mut all);
            }
        }
        passing.settle(Some(slot(0)), &mut all);
        all
    }

    #[test]
    fn order_and_cuts_change_nothing() {
        let bytes = |all: &Folders| postcard::to_stdvec(all).unwrap();
        for different in [3, 250, 251, 400] {
            let whole = of(0..20_000, different);
            assert_eq!(whole.sorted(20_000).is_some(), different <= MOST_FOLDERS as u64);
            assert!(whole.sorted(20_001).is_none());
            for cut in [300, 10_000] {
                let (one, two) = (of(0..cut, different), of(cut..20_000, different));
                let mut merged = two.clone();
                merged.merge(&one);
                assert!(bytes(&merged) == bytes(&whole), "{different} {cut}");
            }
            let back: Folders = postcard::from_bytes(&bytes(&whole)).unwrap();
            assert!(bytes(&back) == bytes(&whole));
        }
    }

    #[test]
    fn cells_are_sums_of_what_was_not_failed() {
        let all = of(0..20_000, 3);
        let cells = all.sorted(20_000).unwrap();
        assert_eq!(cells.keys().copied().collect::<Vec<_>>(), [&b"/0/"[..], b"/1/", b"/2/"]);
        let sum = |of: fn(&Work) -> u128| cells.values().flat_map(Cells::values).map(of).sum::<u128>();
        assert_eq!(sum(|work| u128::from(work.requests)), 15_000);
        assert_eq!(sum(|work| work.time_ns), (0..20_000u128).filter(|n| n % 4 != 3).sum::<u128>());
        let mut passing = Passing::default();
        assert_eq!(
            [passing.mark(None, Some(200), false), passing.mark(Some(b"/a"), Some(500), false)],
            [NONE; 2]
        );
        assert_eq!((passing.mark(Some(b""), None, false), passing.mark(Some(b"x/y"), None, true)), (0, 6));
    }
}
