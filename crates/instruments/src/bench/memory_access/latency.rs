//! Walks of a chain as takes need them: the chain built where it belongs, caches warm or flushed, the
//! walk continued from take to take.
//!
//! A working set is walked once around before each take (other takes have pushed it out); what it then holds of the
//! caches is what it can hold. A chain that stands for memory is flushed along the links of the take before they are
//! timed, so that each load goes to memory whatever ran before and however large the caches are. Neither is part of
//! the time.

use std::sync::{Arc, Mutex};

use model::{Fault, Finding, Seconds, Setup, Size, Unfit};

use super::arena::{self, Arena, SMALL, SOURCE, TARGET, lock};
use super::chain::{Links, Shape, UNIT, WalkOrder, Walker};
use super::pass::{self, Out, PassTeam};
use super::place::{self, MemoryPlacement, PageSize};
use crate::bench::team::Done;

/// Chains up to memory divided by this have an array of their own.
const SMALL_SHARE: u64 = 64;
/// Bytes of small pages that the translation caches of a core are sure to hold: 1024 pages.
const REACH: usize = 4 << 20;

/// A chain over `range` bytes with a slot every `stride` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Course {
    pub order: WalkOrder,
    pub range: usize,
    pub stride: usize,
    /// Lines are flushed before they are walked: it stands for memory.
    pub flush: bool,
}

/// A chain and the crew that walks it.
pub struct Chase {
    shape: Shape,
    role: usize,
    /// Units of one lap.
    lap: u64,
    place: MemoryPlacement,
    limit: u64,
    flush: bool,
    /// Loads outside the translation caches walk the page tables: the pages are not huge ones.
    page_walks: bool,
    crew: PassTeam,
    arena: Arc<Mutex<Arena>>,
    walker: Option<(u64, Walker)>,
    footprint: u64,
    /// Why the pages are doubtful, if so.
    pub doubt: Option<Finding>,
    /// Bytes that loaders read while the chain is walked, and their pause after each 4 KiB.
    load: Option<(usize, u64)>,
}

/// The result of a walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Walked {
    /// Time of one load.
    pub latency: Seconds,
    pub time: Seconds,
    /// Bytes per second of all loaders together.
    pub loaded: f64,
    /// The time holds walks through page tables: the chain reaches further than translation caches do, and its pages
    /// are not known to be huge.
    pub page_walks: bool,
}

fn unfit(error: impl std::fmt::Display) -> Unfit {
    Unfit::new(error.to_string())
}

fn faulty(error: impl std::fmt::Display) -> Fault {
    Fault::new(error.to_string())
}

impl Chase {
    /// Prepares a chain. `load` is the size of the loaders' array and their pause in nanoseconds. Fails when there is
    /// not enough memory.
    pub fn prepare(
        setup: &Setup,
        place: MemoryPlacement,
        Course { order, range, stride, flush }: Course,
        load: Option<(usize, u64)>,
    ) -> Result<Chase, Unfit> {
        let small = setup.memory.is_some_and(|memory| range as u64 <= memory / SMALL_SHARE);
        let (role, links) =
            if small && load.is_none() { (SMALL, Links::Addresses) } else { (SOURCE, Links::Offsets) };
        let shape = Shape { order, links, range, stride, seed: setup.seed };
        let lap = (shape.slots().map_err(unfit)? as u64).div_ceil(UNIT);
        let crew = PassTeam::start(&place.cpus)?;
        let (limit, arena) = (place::limit(setup), arena::shared());
        let (walker, footprint, doubt, page_walks) = (None, 0, None, false);
        let mut chase = Chase {
            shape,
            role,
            lap,
            place,
            limit,
            flush,
            page_walks,
            crew,
            arena,
            walker,
            footprint,
            doubt,
            load,
        };
        let arena = Arc::clone(&chase.arena);
        let mut arena = lock(&arena);
        let before = arena.held();
        chase.ready(&mut arena).map_err(unfit)?;
        chase.doubt = arena.huge_doubt(&chase.place.kind, &[role]);
        // The short chain of a smoke test stands for a long one.
        let is_far =
            range > REACH || setup.size == Size::Smoke && flush && chase.place.kind.pages == PageSize::Small;
        chase.page_walks = order != WalkOrder::Stride && is_far && !arena.is_huge(&chase.place.kind, role);
        chase.footprint = arena.held().saturating_sub(before);
        drop(arena);
        Ok(chase)
    }

    /// Maps, fills and builds what is missing; where the walk goes on.
    fn ready(&mut self, arena: &mut Arena) -> Result<Walker, Fault> {
        let kind = &self.place.kind;
        let mut wanted = vec![(self.role, self.shape.range)];
        wanted.extend(self.load.map(|(bytes, _)| (TARGET, bytes)));
        let roles: Vec<usize> = wanted.iter().map(|(role, _)| *role).collect();
        let bytes = wanted.iter().map(|(_, bytes)| *bytes).max().unwrap_or_default();
        for role in arena.ensure(kind, &roles, bytes, self.limit).map_err(faulty)? {
            let words = arena.array(kind, role).map_err(faulty)?.words_mut();
            pass::fill(&mut self.crew, &self.place.fillers, words)?;
        }
        let array = arena.array(kind, self.role).map_err(faulty)?;
        let built = array.chain(&self.shape).map_err(faulty)?;
        match self.walker {
            Some((same, walker)) if same == built => Ok(walker),
            _ => Ok(Walker::start(&self.shape, array.words())),
        }
    }

    /// Follows `units` of a hundred links. Fails when the chain leads elsewhere.
    pub fn walk(&mut self, units: u64) -> Result<Walked, Fault> {
        let shared = Arc::clone(&self.arena);
        let mut arena = lock(&shared);
        let walker = self.ready(&mut arena)?;
        let [source, target, _, small] = arena.all(&self.place.kind);
        let array = if self.role == SMALL { small } else { source };
        let Some(array) = array else { return Err(Fault::new("the chain was given away")) };
        let load = match (self.load, target) {
            (Some((bytes, pause_ns)), Some(target)) => {
                Some((target.words().get(..bytes / 8).unwrap_or_default(), pause_ns))
            }
            _ => None,
        };
        let words = array.words();
        let warm = |crew: &mut PassTeam, walker| crew.walk(walker, words, self.lap, false, None);
        let walker = match self.flush {
            true => walker,
            false => walker_of(&warm(&mut self.crew, walker)?)?,
        };
        let done = self.crew.walk(walker, words, units, self.flush, load)?;
        self.walker = Some((array.built(), walker_of(&done)?));
        Ok(Walked { page_walks: self.page_walks, ..walked(&done, units)? })
    }

    pub fn cpus(&self) -> Vec<u32> {
        self.crew.cpus()
    }

    pub fn footprint(&self) -> u64 {
        self.footprint
    }

    pub fn place(&self) -> &MemoryPlacement {
        &self.place
    }
}

fn walker_of(done: &Done<Out>) -> Result<Walker, Fault> {
    let walker = done.parts.first().and_then(|part| part.out.walker);
    walker.ok_or_else(|| Fault::new("the walker did not come back"))
}

#[expect(clippy::cast_precision_loss, reason = "loads and bytes stay far below 2^53")]
fn walked(done: &Done<Out>, units: u64) -> Result<Walked, Fault> {
    let walk_ns = done.parts.first().map_or(0, |part| part.out.walk_ns);
    if walk_ns == 0 {
        return Err(Fault::new("the clock did not move during the walk"));
    }
    let time = Seconds::from_ns(walk_ns);
    let rate = |out: &Out| match out.load_ns {
        0 => 0.0,
        ns => out.loaded as f64 / (ns as f64 * 1e-9),
    };
    let loaded = done.parts.iter().map(|part| rate(&part.out)).sum();
    Ok(Walked { latency: time / (units as f64 * UNIT as f64), time, loaded, page_walks: false })
}
