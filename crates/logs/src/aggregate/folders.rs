//! Requests by the first folder of their path, or by the group that is asked for, in each quarter hour and class of
//! work: where two logs differ.
//!
//! Bytes in B, time in ns. Only requests that tell a path, a size and a time, and that the server did not fail.
//! Bounded: of more folders or cells than are told apart nothing is kept, whatever their order, so that it merges
//! exactly. A route (`/search`) is a folder by itself (`/search/`); of more routes than are told apart all are in `/`.

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
/// Bytes of a folder that are kept. A route has fewer: a longer one is in `/`.
const LONGEST: usize = 128;
/// The folder of what is in none.
const ROOT: &[u8] = b"/";

/// Sums over requests that tell both size and time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    pub requests: u64,
    pub bytes: u64,
    pub time_ns: u128,
}

impl Work {
    /// Takes away what is a part of it.
    fn take(&mut self, part: &Work) {
        self.requests = self.requests.saturating_sub(part.requests);
        self.bytes = self.bytes.saturating_sub(part.bytes);
        self.time_ns = self.time_ns.saturating_sub(part.time_ns);
    }
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
    names: Names,
    cells: Bounded<CellKey, Work, MOST_CELLS>,
    /// Routes by the name of their folder; their cells are in those of `/` too.
    routes: Names,
    route_cells: Bounded<CellKey, Work, MOST_CELLS>,
    /// All requests that passed by, those in no cell too.
    seen: u64,
}

impl Folders {
    /// The cells of each folder; `None` where there are too many, or where not all of so many requests passed by.
    pub fn sorted(&self, requests: u64) -> Option<BTreeMap<&[u8], Cells>> {
        if self.seen != requests {
            return None;
        }
        let mut all: BTreeMap<&[u8], Cells> = BTreeMap::new();
        for (name, at, work) in named(&self.names, &self.cells)? {
            all.entry(name).or_default().insert(at, work);
        }
        for (name, at, work) in named(&self.routes, &self.route_cells).unwrap_or_default() {
            all.entry(name).or_default().entry(at).or_default().merge(&work);
            if let Some(rest) = all.get_mut(ROOT).and_then(|cells| cells.get_mut(&at)) {
                rest.take(&work);
            }
        }
        all.values_mut().for_each(|cells| cells.retain(|_, work| work.requests > 0));
        all.retain(|_, cells| !cells.is_empty());
        Some(all)
    }

    /// True if there are routes, each of which is a folder by itself.
    pub fn has_routes(&self) -> bool {
        !self.routes.is_empty() && !self.route_cells.overflowed()
    }

    /// Without names the cells are of nothing.
    fn settle(&mut self) {
        if self.names.overflowed() {
            self.cells.give_up();
        }
        if self.routes.overflowed() {
            self.route_cells.give_up();
        }
    }
}

type Names = Bounded<Vec<u8>, Known, MOST_FOLDERS>;

/// The name of a folder, a quarter hour and class of work, and what was served in it.
type NamedCell<'n> = (&'n [u8], (Slot, u32), Work);

/// Cells with the names of their folders; `None` where there were too many of either.
fn named<'n>(names: &'n Names, cells: &Bounded<CellKey, Work, MOST_CELLS>) -> Option<Vec<NamedCell<'n>>> {
    let names = names.sorted()?;
    let by_hash: BTreeMap<u64, &[u8]> = names.iter().map(|(name, _)| (hash::name(name), &name[..])).collect();
    let cells = cells.sorted()?.into_iter();
    cells.map(|((hash, slot, class), work)| Some((*by_hash.get(hash)?, (*slot, *class), *work))).collect()
}

impl Merge for Folders {
    fn merge(&mut self, other: &Folders) {
        self.seen = self.seen.saturating_add(other.seen);
        self.names.merge(&other.names);
        self.cells.merge(&other.cells);
        self.routes.merge(&other.routes);
        self.route_cells.merge(&other.route_cells);
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
    /// By the same number: it is a route.
    are_routes: Vec<bool>,
    /// By number of the folder, kind and class of size: requests of one slot.
    work: Vec<[[Work; size::CLASSES]; KINDS.len()]>,
    /// True once there are too many folders, or routes.
    is_full: bool,
    are_routes_full: bool,
}

impl Passing {
    /// Counts a request, and marks its folder.
    #[inline]
    pub fn mark(&mut self, path: Option<&[u8]>, status: Option<u16>, is_bot: bool) -> Mark {
        self.seen += 1;
        let Some(path) = path else { return NONE };
        let (folder, is_route) = match folders(path, 1) {
            (route, true) if self.are_routes_full || route.len() >= LONGEST => (ROOT, false),
            found => found,
        };
        self.marked((&folder[..folder.len().min(LONGEST)], is_route), status, is_bot)
    }

    /// Counts a request, and marks its group.
    #[inline]
    pub fn mark_group(&mut self, name: &[u8], status: Option<u16>, is_bot: bool) -> Mark {
        self.seen += 1;
        self.marked((name, false), status, is_bot)
    }

    #[inline(always)]
    fn marked(&mut self, (name, is_route): (&[u8], bool), status: Option<u16>, is_bot: bool) -> Mark {
        let status = failed::status_class(status);
        if status == StatusClass::Server || self.is_full {
            return NONE;
        }
        let kind = u32::from(is_bot) << 1 | u32::from(status == StatusClass::Client);
        self.number(name, is_route).map_or(NONE, |number| u32::from(number) << 2 | kind)
    }

    #[inline]
    fn number(&mut self, folder: &[u8], is_route: bool) -> Option<u16> {
        let start = crate::scan::word::first_eight(folder.get(1..).unwrap_or_default());
        let place = hash::mix(start, folder.len() as u64) as usize % PLACES;
        let known = self.places.get(place).copied();
        if let Some(number) = known
            && self.names.get(usize::from(number)).is_some_and(|name| **name == *folder)
        {
            return Some(number);
        }
        self.find(folder, is_route, place)
    }

    #[cold]
    #[inline(never)]
    fn find(&mut self, folder: &[u8], is_route: bool, place: usize) -> Option<u16> {
        self.places.resize(PLACES, u16::MAX);
        let at = self.names.iter().position(|name| **name == *folder).unwrap_or_else(|| {
            self.names.push(folder.into());
            self.are_routes.push(is_route);
            self.work.push(Default::default());
            self.names.len() - 1
        });
        // One more than are kept tells that there are too many.
        let routes = self.are_routes.iter().filter(|is_route| **is_route).count();
        self.is_full = self.names.len() - routes > MOST_FOLDERS;
        self.are_routes_full = routes > MOST_FOLDERS;
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
        for ((name, is_route), work) in self.names.iter().zip(&self.are_routes).zip(&mut self.work) {
            let route = is_route.then(|| [name, ROOT].concat());
            let name = if *is_route { ROOT.to_vec() } else { name.to_vec() };
            // A name without a cell yet, such as that of the first one too many, counts too.
            to.names.at(&name);
            if let Some(route) = &route {
                to.routes.at(route);
            }
            for (class, work) in taken(work) {
                let Some(slot) = slot else { continue };
                if let Some(cell) = to.cells.at(&(hash::name(&name), slot, class)) {
                    cell.merge(&work);
                }
                let route = route.as_ref().map(|route| (hash::name(route), slot, class));
                if let Some(cell) = route.and_then(|route| to.route_cells.at(&route)) {
                    cell.merge(&work);
                }
            }
        }
        to.settle();
    }
}

/// The work of a folder by class, which is nothing then.
fn taken(work: &mut [[Work; size::CLASSES]; KINDS.len()]) -> impl Iterator<Item = (u32, Work)> {
    KINDS.into_iter().zip(work).flat_map(|((status, is_bot), sizes)| {
        let some = sizes.iter_mut().enumerate().filter(|(_, work)| work.requests > 0);
        some.map(move |(class, work)| {
            let class = failed::work_class(status, class);
            (if is_bot { traffic::of_bots(class) } else { class }, std::mem::take(work))
        })
    })
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

    /// Requests for so many routes, some of which are asked for with a slash, and for files of no folder.
    fn of_routes(numbers: std::ops::Range<u64>, different: u64) -> Folders {
        let (mut all, mut passing) = (Folders::default(), Passing::default());
        for n in numbers {
            let route = hash::mix(n, 5) % different;
            let path = match n % 3 {
                0 => format!("/{route}"),
                1 => format!("/{}/", route % 2),
                _ => format!("/{route}.html"),
            };
            let mark = passing.mark(Some(path.as_bytes()), Some(200), false);
            passing.add(mark, 1, 1);
            if n % 100 == 99 || n % 7 == 0 {
                passing.settle(Some(slot((n / 100) as i64)), &mut all);
            }
        }
        passing.settle(Some(slot(0)), &mut all);
        all
    }

    #[test]
    fn a_route_is_a_folder_unless_there_are_too_many() {
        let bytes = |all: &Folders| postcard::to_stdvec(all).unwrap();
        for different in [2, 250, 251, 400] {
            let whole = of_routes(0..30_000, different);
            let (one, two) = (of_routes(0..10_000, different), of_routes(10_000..30_000, different));
            let mut merged = two.clone();
            merged.merge(&one);
            assert!(bytes(&merged) == bytes(&whole), "{different}");
            let all = whole.sorted(30_000).unwrap();
            let known = different <= MOST_FOLDERS as u64;
            assert_eq!(whole.has_routes(), known);
            assert_eq!(all.len() as u64, if known { different + 1 } else { 3 });
            let sum = |cells: &Cells| cells.values().map(|work| work.requests).sum::<u64>();
            assert_eq!(all.values().map(sum).sum::<u64>(), 30_000);
            assert_eq!(sum(&all[ROOT]), if known { 10_000 } else { 20_000 });
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
