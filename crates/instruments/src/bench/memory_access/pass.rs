//! A pinned team that passes over shared arrays: filling them, running a bandwidth kernel, walking a
//! chain, loading the memory while another walks.
//!
//! Each member works on its own part of every array. Times are the team's; waiting to start is not
//! counted.

#![expect(unsafe_code, reason = "members of a team work on disjoint parts of one array")]

use std::hint::{black_box, spin_loop};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use model::{Fault, Unfit};
use sys::clock;

use super::chain::Walker;
use super::kernels::{self, BLOCK, Kernel, Op, Store};
use crate::bench::team::{Done, Team};

/// An array as members see it: where it starts and how many words it has.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: *mut u64,
    words: usize,
}

// SAFETY: a span is an address; what makes the accesses sound is said where it is turned into a slice.
unsafe impl Send for Span {}
// SAFETY: as above.
unsafe impl Sync for Span {}

impl Span {
    const NONE: Span = Span { start: std::ptr::NonNull::dangling().as_ptr(), words: 0 };

    fn read(words: &[u64]) -> Span {
        Span { start: words.as_ptr().cast_mut(), words: words.len() }
    }

    fn write(words: &mut [u64]) -> Span {
        Span { start: words.as_mut_ptr(), words: words.len() }
    }

    /// Member `index` of `members`' part, in whole blocks.
    fn part(self, index: usize, members: usize) -> Span {
        let blocks = self.words / BLOCK;
        let (from, to) = (blocks * index / members, blocks * (index + 1) / members);
        Span { start: self.start.wrapping_add(from * BLOCK), words: (to - from) * BLOCK }
    }
}

/// Fills a new array, from all `fillers` if that is worth starting them. Fails when a thread fails.
pub fn fill(crew: &mut PassTeam, fillers: &[u32], words: &mut [u64]) -> Result<(), Fault> {
    const LARGE: usize = 64 << 20;
    if fillers.len() <= crew.members || size_of_val(words) < LARGE {
        return crew.fill(words);
    }
    PassTeam::start(fillers).map_err(|unfit| Fault::new(unfit.why))?.fill(words)
}

/// The job of all members.
#[derive(Clone)]
enum Job {
    Pass { kernel: Kernel, dst: Span, a: Span, b: Span, repeats: u64 },
    Walk { walker: Walker, chain: Span, units: u64, flush: bool, load: Option<Load> },
}

/// The work of the members beside the walker: read, and pause `pause_ns` after each 4 KiB.
#[derive(Clone)]
struct Load {
    words: Span,
    pause_ns: u64,
    over: Arc<AtomicBool>,
}

/// The result of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    /// Where the walker stopped; set for the first member of a walk.
    pub walker: Option<Walker>,
    /// Bytes that a loader read while the walk went on, and the time that it took.
    pub loaded: u64,
    pub load_ns: u64,
    /// Time of the walk itself, without flushing.
    pub walk_ns: u64,
}

const NOTHING: Out = Out { walker: None, loaded: 0, load_ns: 0, walk_ns: 0 };

/// The team.
pub struct PassTeam {
    team: Team<Job, Out>,
    members: usize,
}

/// The arrays of a pass; those that an operation does not use are empty.
pub struct Arrays<'a> {
    pub dst: &'a mut [u64],
    pub a: &'a [u64],
    pub b: &'a [u64],
}

impl PassTeam {
    /// Starts a thread on each CPU. Fails when one cannot be pinned.
    pub fn start(cpus: &[u32]) -> Result<PassTeam, Unfit> {
        let members = cpus.len();
        let team = Team::start(cpus, move |index| Ok(move |job| act(job, index, members)))?;
        Ok(PassTeam { team, members })
    }

    pub fn cpus(&self) -> Vec<u32> {
        self.team.cpus()
    }

    /// Writes every word once, from the crew's CPUs.
    fn fill(&mut self, words: &mut [u64]) -> Result<(), Fault> {
        match kernels::best(Op::FullWrite, Store::Temporal) {
            None => words.fill(kernels::WRITTEN),
            Some((_, kernel)) => {
                self.pass(kernel, Arrays { dst: words, a: &[], b: &[] }, 1)?;
            }
        }
        Ok(())
    }

    /// Runs `kernel` over the arrays `repeats` times. Fails when a thread fails.
    pub fn pass(&mut self, kernel: Kernel, arrays: Arrays<'_>, repeats: u64) -> Result<Done<Out>, Fault> {
        let (dst, a, b) = (Span::write(arrays.dst), Span::read(arrays.a), Span::read(arrays.b));
        self.team.take(&Job::Pass { kernel, dst, a, b, repeats })
    }

    /// The first member walks the chain; the others, if any, read `load` with pauses until it is done. With `flush`,
    /// the lines of this walk are removed from the caches first. Fails when a thread fails.
    pub fn walk(
        &mut self,
        walker: Walker,
        chain: &[u64],
        units: u64,
        flush: bool,
        load: Option<(&[u64], u64)>,
    ) -> Result<Done<Out>, Fault> {
        let load = load.filter(|_| self.members > 1).map(|(words, pause_ns)| Load {
            words: Span::read(words),
            pause_ns,
            over: Arc::new(AtomicBool::new(false)),
        });
        self.team.take(&Job::Walk { walker, chain: Span::read(chain), units, flush, load })
    }
}

/// One member's share of a job.
fn act(job: Job, index: usize, members: usize) -> Out {
    match job {
        Job::Pass { kernel, dst, a, b, repeats } => {
            let part = |span: Span| if span.words == 0 { Span::NONE } else { span.part(index, members) };
            let (dst, a, b) = (part(dst), part(a), part(b));
            for _ in 0..repeats {
                // SAFETY: the borrows behind the spans last until every member has answered; parts of
                // different members are disjoint, and so are the arrays of one pass.
                let (dst, a, b) = unsafe { (exclusive(dst), shared(a), shared(b)) };
                black_box(kernel(dst, a, b));
            }
            NOTHING
        }
        Job::Walk { mut walker, chain, units, flush, load } if index == 0 => {
            // SAFETY: the chain's borrow lasts until every member has answered, and nobody writes it.
            let words = unsafe { shared(chain) };
            if flush {
                walker.flush_ahead(words, units);
            }
            let start = clock::now_ns();
            walker.walk(words, units);
            let walk_ns = clock::now_ns().saturating_sub(start);
            if let Some(load) = load {
                load.over.store(true, Ordering::Release);
            }
            Out { walker: Some(walker), walk_ns, ..NOTHING }
        }
        Job::Walk { load: Some(load), .. } => read_until_over(&load, index - 1, members - 1),
        Job::Walk { .. } => NOTHING,
    }
}

/// SAFETY: the caller vouches that the span is mapped, lives long enough and that nobody writes it.
unsafe fn shared<'a>(span: Span) -> &'a [u64] {
    // SAFETY: as the caller vouches; an empty span dangles, which an empty slice may.
    unsafe { std::slice::from_raw_parts(span.start, span.words) }
}

/// SAFETY: the caller vouches that the span is mapped, lives long enough and that nobody else uses it.
unsafe fn exclusive<'a>(span: Span) -> &'a mut [u64] {
    // SAFETY: as the caller vouches.
    unsafe { std::slice::from_raw_parts_mut(span.start, span.words) }
}

/// Reads the member's part over and over, 4 KiB at a time, with a pause after each.
fn read_until_over(load: &Load, index: usize, members: usize) -> Out {
    const WORDS: usize = 4096 / 8;
    let Some((_, kernel)) = kernels::best(Op::FullRead, Store::Temporal) else { return NOTHING };
    // SAFETY: the borrow behind the span lasts until every member has answered; nobody writes it.
    let words = unsafe { shared(load.words.part(index, members)) };
    let start = clock::now_ns();
    let mut loaded = 0u64;
    for chunk in words.chunks(WORDS).cycle() {
        if load.over.load(Ordering::Acquire) {
            break;
        }
        black_box(kernel(&mut [], chunk, &[]));
        loaded += size_of_val(chunk) as u64;
        if load.pause_ns > 0 {
            let until = clock::now_ns().saturating_add(load.pause_ns);
            while clock::now_ns() < until && !load.over.load(Ordering::Relaxed) {
                spin_loop();
            }
        }
    }
    Out { loaded, load_ns: clock::now_ns().saturating_sub(start), ..NOTHING }
}

#[cfg(test)]
mod tests {
    use super::super::chain::{Links, Shape, UNIT, WalkOrder};
    use super::*;

    fn cpus(count: usize) -> Vec<u32> {
        let allowed = sys::affinity::allowed().unwrap();
        allowed.into_iter().cycle().take(count).map(|cpu| u32::try_from(cpu).unwrap()).collect()
    }

    #[test]
    fn parts_are_disjoint_and_cover_all_blocks() {
        let words = vec![0u64; 37 * BLOCK];
        let span = Span::read(&words);
        for members in 1..9 {
            let mut next = span.start;
            for index in 0..members {
                let part = span.part(index, members);
                assert_eq!(part.start, next);
                next = part.start.wrapping_add(part.words);
            }
            assert_eq!(next, span.start.wrapping_add(span.words));
        }
    }

    #[test]
    fn a_crew_fills_and_copies_everything() {
        let mut crew = PassTeam::start(&cpus(3)).unwrap();
        let mut pages = sys::pages::Pages::new(1 << 16, sys::pages::Advice::Default).unwrap();
        let mut copy = sys::pages::Pages::new(1 << 16, sys::pages::Advice::Default).unwrap();
        crew.fill(pages.as_mut_slice()).unwrap();
        assert!(pages.as_slice::<u64>().iter().all(|&word| word == kernels::WRITTEN));
        let (_, kernel) = kernels::best(Op::FullCopy, Store::Temporal).unwrap();
        let arrays = Arrays { dst: copy.as_mut_slice(), a: pages.as_slice(), b: &[] };
        crew.pass(kernel, arrays, 2).unwrap();
        assert_eq!(copy.as_slice::<u64>(), pages.as_slice::<u64>());
    }

    #[test]
    fn loaders_stop_when_the_walker_does() {
        let mut crew = PassTeam::start(&cpus(2)).unwrap();
        let mut words = vec![0u64; 1 << 12];
        let shape =
            Shape { order: WalkOrder::Shuffled, links: Links::Offsets, range: 1 << 15, stride: 64, seed: 3 };
        shape.build(&mut words).unwrap();
        let load = vec![1u64; 1 << 12];
        let walker = Walker::start(&shape, &words);
        let done = crew.walk(walker, &words, 50, true, Some((&load, 100))).unwrap();
        let mut alone = walker;
        alone.walk(&words, 50);
        assert_eq!(done.parts[0].out.walker, Some(alone));
        assert!(done.parts[0].out.walk_ns > 0 && UNIT > 0);
    }
}
