//! Walks of a chain as takes need them: the chain built where it belongs, caches warm or flushed, the
//! walk continued from take to take.
//!
//! A chain up to the size of the last-level cache is walked once around before each take (other takes
//! have pushed it out). A larger one is flushed along the links of the take before they are timed, so that
//! each load goes to memory whatever ran before. Neither is part of the time.

use std::sync::{Arc, Mutex};

use model::{Fault, Finding, Seconds, Setup, Unfit};

use super::arena::{self, Arena, SMALL, SOURCE, TARGET, lock};
use super::chain::{Links, Shape, UNIT, WalkOrder, Walker};
use super::pass::{self, Out, PassTeam};
use super::place::{self, MemoryPlacement};
use crate::bench::team::Done;

/// Chains up to memory divided by this have an array of their own.
const SMALL_SHARE: u64 = 64;

/// A chain and the crew that walks it.
pub struct Chase {
    shape: Shape,
    role: usize,
    /// Units of one lap.
    lap: u64,
    place: MemoryPlacement,
    limit: u64,
    llc: Option<u64>,
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
}

fn unfit(error: impl std::fmt::Display) -> Unfit {
    Unfit::new(error.to_string())
}

fn faulty(error: impl std::fmt::Display) -> Fault {
    Fault::new(error.to_string())
}

impl Chase {
    /// Prepares a chain over `range` bytes, a slot every `stride` bytes. `load` is the size of the loaders' array and
    /// their pause in nanoseconds. Fails when there is not enough memory.
    pub fn prepare(
        setup: &Setup,
        place: MemoryPlacement,
        (order, range, stride): (WalkOrder, usize, usize),
        load: Option<(usize, u64)>,
    ) -> Result<Chase, Unfit> {
        let small = setup.memory.is_some_and(|memory| range as u64 <= memory / SMALL_SHARE);
        let (role, links) =
            if small && load.is_none() { (SMALL, Links::Addresses) } else { (SOURCE, Links::Offsets) };
        let shape = Shape { order, links, range, stride, seed: setup.seed };
        let lap = (shape.slots().map_err(unfit)? as u64).div_ceil(UNIT);
        let crew = PassTeam::start(&place.cpus)?;
        let (limit, llc, arena) = (place::limit(setup), setup.llc, arena::shared());
        let (walker, footprint, doubt) = (None, 0, None);
        let mut chase =
            Chase { shape, role, lap, place, limit, llc, crew, arena, walker, footprint, doubt, load };
        let arena = Arc::clone(&chase.arena);
        let mut arena = lock(&arena);
        let before = arena.held();
        chase.ready(&mut arena).map_err(unfit)?;
        chase.doubt = arena.huge_doubt(&chase.place.kind, &[role]);
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
        let flush = self.llc.is_some_and(|llc| self.shape.range as u64 > llc);
        let words = array.words();
        let warm = |crew: &mut PassTeam, walker| crew.walk(walker, words, self.lap, false, None);
        let walker = match flush {
            true => walker,
            false => walker_of(&warm(&mut self.crew, walker)?)?,
        };
        let done = self.crew.walk(walker, words, units, flush, load)?;
        self.walker = Some((array.built(), walker_of(&done)?));
        walked(&done, units)
    }

    #[must_use]
    pub fn cpus(&self) -> Vec<u32> {
        self.crew.cpus()
    }

    #[must_use]
    pub fn footprint(&self) -> u64 {
        self.footprint
    }

    #[must_use]
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
    Ok(Walked { latency: time / (units as f64 * UNIT as f64), time, loaded })
}
