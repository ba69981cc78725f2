//! The arena: arrays that all memory probes of a process share, because several probes are alive at once
//! and takes come one at a time. Each array is mapped and filled once; sizes are bytes.
//!
//! Roles are fixed so that probes seldom spoil each other's content: `SOURCE` is only read (it may hold a
//! pointer chain), `TARGET` is written, `SECOND` is the other source of `add` and `triad`, `SMALL` holds
//! chains that fit in caches. When the limit is reached, arrays of another kind make room and are mapped
//! again when they are needed. Swapped-out memory is not looked for here.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use model::Finding;
use sys::pages::{Advice, Pages};

use super::chain::{Shape, ShapeError};
use super::place::{Kind, PageSize, huge_doubt};

pub const SOURCE: usize = 0;
pub const TARGET: usize = 1;
pub const SECOND: usize = 2;
pub const SMALL: usize = 3;
const ROLES: usize = 4;

/// One array, and the chain in it, if any.
#[derive(Debug)]
pub struct Array {
    pages: Pages,
    chain: Option<Shape>,
    /// Counts up when a chain is built, so that walkers know that theirs is gone.
    built: u64,
}

impl Array {
    pub fn words(&self) -> &[u64] {
        self.pages.as_slice()
    }

    /// The words, for writing anything; a chain in the array counts as gone.
    pub fn words_mut(&mut self) -> &mut [u64] {
        self.chain = None;
        self.pages.as_mut_slice()
    }

    /// Builds the chain unless it is there already. The returned number changes with each build. Fails when no chain
    /// has this shape.
    pub fn chain(&mut self, shape: &Shape) -> Result<u64, ShapeError> {
        if self.chain != Some(*shape) {
            shape.build(self.pages.as_mut_slice())?;
            self.chain = Some(*shape);
            self.built += 1;
        }
        Ok(self.built)
    }

    /// Bytes that are in huge pages now. Fails when that is not known.
    pub fn huge_bytes(&self) -> Result<u64, String> {
        self.pages.huge_bytes().map_err(|error| error.to_string())
    }

    pub fn bytes(&self) -> u64 {
        self.pages.len() as u64
    }

    /// The number that [`Array::chain`] gave last.
    pub fn built(&self) -> u64 {
        self.built
    }
}

/// All arrays of the process.
#[derive(Debug, Default)]
pub struct Arena {
    kinds: Vec<(Kind, [Option<Array>; ROLES])>,
    built: u64,
}

/// Why there are no arrays.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArenaError {
    #[error("{0}")]
    Memory(String),
    #[error("{needed} bytes of arrays are more than the {limit} that may be used")]
    Limit { needed: u64, limit: u64 },
}

/// The arena of this process; it is given back when the last probe that holds it goes.
pub fn shared() -> Arc<Mutex<Arena>> {
    static SHARED: Mutex<Weak<Mutex<Arena>>> = Mutex::new(Weak::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.upgrade().unwrap_or_else(|| {
        let fresh = Arc::new(Mutex::new(Arena::default()));
        *shared = Arc::downgrade(&fresh);
        fresh
    })
}

/// The arena, for the length of a take. A panic elsewhere leaves arrays with some content, which is all
/// that is asked of them.
pub fn lock(arena: &Mutex<Arena>) -> MutexGuard<'_, Arena> {
    arena.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Arena {
    /// Makes sure that `kind` has arrays of at least `bytes` in these roles, within `limit` bytes of all arrays
    /// together. Returns the new ones; the caller fills those, from the CPUs that will use them. Fails when there is
    /// not enough memory.
    pub fn ensure(
        &mut self,
        kind: &Kind,
        roles: &[usize],
        bytes: usize,
        limit: u64,
    ) -> Result<Vec<usize>, ArenaError> {
        let needed = (bytes as u64).saturating_mul(roles.len() as u64);
        if needed > limit {
            return Err(ArenaError::Limit { needed, limit });
        }
        let missing = loop {
            let missing = self.missing(kind, roles, bytes);
            for &role in &missing {
                self.slots(kind)[role] = None;
            }
            let fresh = (bytes as u64).saturating_mul(missing.len() as u64);
            if self.held().saturating_add(fresh) <= limit || !self.give_way(kind, roles) {
                break missing;
            }
        };
        for &role in &missing {
            let array = map(kind, bytes, self.built)?;
            self.slots(kind)[role] = Some(array);
            self.built += 1 << 32;
        }
        Ok(missing)
    }

    /// The array in that role, after [`ensure`](Self::ensure). Fails when there is none.
    pub fn array(&mut self, kind: &Kind, role: usize) -> Result<&mut Array, ArenaError> {
        let array = self.slots(kind).get_mut(role).and_then(Option::as_mut);
        array.ok_or_else(|| ArenaError::Memory("an array was given away".to_owned()))
    }

    /// Why the pages of these roles are doubtful, if huge ones were requested.
    pub fn huge_doubt(&mut self, kind: &Kind, roles: &[usize]) -> Option<Finding> {
        if kind.pages != PageSize::Huge {
            return None;
        }
        let slots = self.slots(kind);
        let arrays = roles.iter().filter_map(|&role| slots.get(role)?.as_ref());
        let mut doubts = arrays.filter_map(|array| huge_doubt(array.huge_bytes(), array.bytes()));
        doubts.next()
    }

    /// True where nine tenths of the array in that role are in huge pages, whatever was asked for.
    pub fn is_huge(&mut self, kind: &Kind, role: usize) -> bool {
        let array = self.slots(kind).get(role).and_then(Option::as_ref);
        array.is_some_and(|array| array.huge_bytes().is_ok_and(|huge| huge >= array.bytes() / 10 * 9))
    }

    /// The source, target, second source and small array, as far as they are there.
    pub fn all(&mut self, kind: &Kind) -> [Option<&mut Array>; ROLES] {
        self.slots(kind).each_mut().map(Option::as_mut)
    }

    /// Bytes of all arrays.
    pub fn held(&self) -> u64 {
        let arrays = self.kinds.iter().flat_map(|(_, slots)| slots.iter().flatten());
        arrays.map(|array| array.pages.len() as u64).sum()
    }

    fn slots(&mut self, kind: &Kind) -> &mut [Option<Array>; ROLES] {
        let at = self.kinds.iter().position(|(known, _)| known == kind).unwrap_or_else(|| {
            self.kinds.push((kind.clone(), Default::default()));
            self.kinds.len() - 1
        });
        &mut self.kinds[at].1
    }

    fn missing(&mut self, kind: &Kind, roles: &[usize], bytes: usize) -> Vec<usize> {
        let slots = self.slots(kind);
        let there = |role: usize| slots[role].as_ref().is_some_and(|array| array.pages.len() >= bytes);
        roles.iter().copied().filter(|&role| !there(role)).collect()
    }

    /// Drops one array, or all of other kinds: those first, then a role not asked for, then one asked
    /// for (it may be larger than it needs to be). False when there is none.
    fn give_way(&mut self, kind: &Kind, roles: &[usize]) -> bool {
        let before = self.held();
        self.kinds.retain(|(known, _)| known == kind);
        if self.held() < before {
            return true;
        }
        let others = (0..ROLES).filter(|role| !roles.contains(role));
        let slots = self.slots(kind);
        let victim = others.chain(roles.iter().copied()).find(|&role| slots[role].is_some());
        victim.is_some_and(|role| slots[role].take().is_some())
    }
}

fn map(kind: &Kind, bytes: usize, built: u64) -> Result<Array, ArenaError> {
    let memory = |error: sys::Error| ArenaError::Memory(error.to_string());
    let mut pages = match kind.pages {
        // Reserved pages are huge for certain; without them the kernel may still give some.
        PageSize::Huge => Pages::new(bytes, Advice::Hugetlb2M).or_else(|_| Pages::new(bytes, Advice::Huge)),
        PageSize::Small => Pages::new(bytes, Advice::NoHuge),
        PageSize::Default => Pages::new(bytes, Advice::Default),
    }
    .map_err(memory)?;
    if let Some(node) = kind.node {
        pages.bind_node(node as usize).map_err(memory)?;
    }
    Ok(Array { pages, chain: None, built })
}

#[cfg(test)]
mod tests {
    use super::super::chain::{Links, WalkOrder};
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn arrays_are_shared_and_make_room() {
        let (small, huge) = (Kind::default(), Kind { pages: PageSize::Huge, ..Kind::default() });
        let mut arena = Arena::default();
        let limit = 3 * MIB as u64;
        assert_eq!(arena.ensure(&small, &[SOURCE], MIB, limit).unwrap(), [SOURCE]);
        assert_eq!(arena.ensure(&small, &[SOURCE, TARGET], MIB, limit).unwrap(), [TARGET]);
        assert_eq!(arena.held(), 2 * MIB as u64);
        assert_eq!(arena.ensure(&huge, &[SOURCE, TARGET], MIB, limit).unwrap(), [SOURCE, TARGET]);
        assert!(arena.held() <= limit);
        assert!(arena.array(&small, SOURCE).is_err());
        let error = arena.ensure(&huge, &[SOURCE, TARGET], 2 * MIB, limit).unwrap_err();
        assert_eq!(error, ArenaError::Limit { needed: 4 * MIB as u64, limit });
    }

    #[test]
    fn an_array_that_grew_too_large_is_mapped_again() {
        let kind = Kind::default();
        let mut arena = Arena::default();
        arena.ensure(&kind, &[SOURCE], 3 * MIB, 3 * MIB as u64).unwrap();
        let fresh = arena.ensure(&kind, &[SOURCE, TARGET, SECOND], MIB, 3 * MIB as u64).unwrap();
        assert_eq!(fresh.len(), 3);
        assert_eq!(arena.held(), 3 * MIB as u64);
    }

    #[test]
    fn several_arrays_that_grew_too_large_stay_within_the_limit() {
        let kind = Kind::default();
        let mut arena = Arena::default();
        arena.ensure(&kind, &[SOURCE, TARGET], 3 * MIB, 6 * MIB as u64).unwrap();
        arena.ensure(&kind, &[SOURCE, TARGET, SECOND], 2 * MIB, 6 * MIB as u64).unwrap();
        assert_eq!(arena.held(), 6 * MIB as u64);
    }

    #[test]
    fn a_chain_stays_until_someone_writes() {
        let kind = Kind::default();
        let mut arena = Arena::default();
        arena.ensure(&kind, &[SMALL], MIB, MIB as u64).unwrap();
        let array = arena.array(&kind, SMALL).unwrap();
        let shape =
            Shape { order: WalkOrder::Stride, links: Links::Offsets, range: MIB, stride: 64, seed: 1 };
        let first = array.chain(&shape).unwrap();
        assert_eq!(array.chain(&shape).unwrap(), first);
        array.words_mut()[0] = 1;
        let second = array.chain(&shape).unwrap();
        assert_ne!(second, first);
        assert_ne!(array.chain(&Shape { stride: 128, ..shape }).unwrap(), second);
    }

    /// The kernel's own account of the policy; machines without NUMA support have none, and no nodes to bind to.
    #[test]
    fn a_bound_array_has_its_policy_from_the_kernel() {
        let Ok(before) = std::fs::read_to_string("/proc/self/numa_maps") else { return };
        assert!(!before.is_empty());
        let mut arena = Arena::default();
        let bound = Kind { node: Some(0), ..Kind::default() };
        match arena.ensure(&bound, &[SOURCE], MIB, MIB as u64) {
            Ok(_) => {}
            // A sandbox may forbid the call; then the take is refused, not measured elsewhere.
            Err(ArenaError::Memory(why)) => return assert!(why.contains("NUMA node 0"), "{why}"),
            Err(other) => panic!("{other}"),
        }
        let array = arena.array(&bound, SOURCE).unwrap();
        array.words_mut().fill(1);
        let start = format!("{:x} ", array.words().as_ptr().addr());
        let maps = std::fs::read_to_string("/proc/self/numa_maps").unwrap();
        let line = maps.lines().find(|line| line.starts_with(&start));
        let line = line.unwrap_or_else(|| panic!("no area at {start}in {maps}"));
        assert!(line.contains("bind:0") && line.contains(" N0="), "{line}");
    }

    #[test]
    fn everybody_gets_the_same_arena() {
        let (one, two) = (shared(), shared());
        assert!(Arc::ptr_eq(&one, &two));
    }
}
