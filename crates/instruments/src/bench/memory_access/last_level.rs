//! The last-level cache as its latency shows it. A hypervisor may report another one than there is, or one that is
//! shared with strangers.
//!
//! Working sets of growing size are read through once, then loads at random places of them are timed: those that the
//! cache still holds are fast. The same loads with their lines flushed first say what memory takes, page walks
//! included. The share of fast loads times the size is what the cache holds. Sizes are bytes, times nanoseconds. It
//! takes about half a second, once a process, and is part of no take.

use std::path::Path;
use std::sync::OnceLock;

use model::params::show_bytes;
use model::{Fault, Setup, Size, Unfit};
use sys::pages::{Advice, Pages};

use super::caches;
use super::chain::{CAN_FLUSH, Links, Shape, UNIT, WalkOrder, Walker};
use super::kernels::{self, Op, Store};
use super::pass::{self, Arrays, PassTeam};

/// The smallest working set: beyond the second level nearly everywhere.
const FIRST: u64 = 4 << 20;
/// Working sets go at least this far, and at most so far, if memory allows.
const FAR: u64 = 256 << 20;
const FARTHEST: u64 = 1 << 30;
/// They take at most memory divided by this.
const SHARE: u64 = 8;
/// Loads that are timed at each size, about.
const LOADS: u64 = 20_000;
/// Times that each size is walked; the fastest walk counts.
const TURNS: usize = 3;
/// A smaller share of fast loads says too little: a walk that is 5 % off moves it by up to 0.06. Every set up to twice
/// the cache holds more, and such sets are always among the steps.
const LEAST_SHARE: f64 = 0.4;
/// A cache must be so much faster than memory to be told from it.
const LEAST_CONTRAST: f64 = 1.3;

/// The size of the last-level cache, and who says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LastLevel {
    pub reported: Option<u64>,
    pub found: Option<u64>,
}

impl LastLevel {
    /// The size that was found, else the reported one.
    pub fn bytes(self) -> Option<u64> {
        self.found.or(self.reported)
    }

    /// `; last-level cache 30MiB by its latency, 32MiB reported`; nothing where nothing was found.
    pub fn sentence(self) -> String {
        let Some(found) = self.found else { return String::new() };
        let reported = self.reported.map_or("none".to_owned(), show_bytes_of);
        format!("; last-level cache {} by its latency, {reported} reported", show_bytes_of(found))
    }
}

/// In whole MiB.
fn show_bytes_of(bytes: u64) -> String {
    show_bytes((bytes >> 20).max(1) << 20)
}

/// One working set.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Step {
    bytes: u64,
    /// A load after the set was read through.
    warm_ns: f64,
    /// The same load with its line flushed.
    flushed_ns: f64,
}

/// The cache beside this setup, found where the parameter `key` leaves a size to the machine. Fails when the walk does.
pub fn beside(setup: &Setup, key: &str) -> Result<LastLevel, Unfit> {
    static FOUND: OnceLock<Option<u64>> = OnceLock::new();
    let reported = setup.llc;
    let is_auto = setup.params.get(key).is_none_or(|value| value == "auto");
    if setup.size == Size::Smoke || !is_auto || !CAN_FLUSH {
        return Ok(LastLevel { reported, found: None });
    }
    if let Some(&found) = FOUND.get() {
        return Ok(LastLevel { reported, found });
    }
    let found = fit(&measure(setup)?);
    Ok(LastLevel { reported, found: *FOUND.get_or_init(|| found) })
}

/// Working sets by powers of two, as far as twice the reported cache.
fn sizes(setup: &Setup) -> Vec<u64> {
    let wanted = setup.llc.unwrap_or(0).saturating_mul(2).clamp(FAR, FARTHEST);
    let most = setup.memory.map_or(FAR, |memory| memory / SHARE);
    let cpu = setup.cpus.first().copied().unwrap_or_default();
    let levels = caches::of_cpu(Path::new("/sys"), cpu);
    let second = levels.iter().find(|(level, _)| *level == 2).map_or(0, |&(_, bytes)| bytes);
    // Not inside the second level: the first step says how fast the last level is.
    let first = FIRST.max(second.saturating_mul(2).next_power_of_two().min(FAR / 16));
    let all = std::iter::successors(Some(first), |bytes| bytes.checked_mul(2));
    all.take_while(|&bytes| bytes <= wanted.next_power_of_two().min(most)).collect()
}

fn measure(setup: &Setup) -> Result<Vec<Step>, Unfit> {
    let unfit = |error: &dyn std::fmt::Display| Unfit::new(error.to_string());
    let sizes = sizes(setup);
    let Some(&most) = sizes.last() else { return Ok(Vec::new()) };
    let most = usize::try_from(most).map_err(|error| unfit(&error))?;
    let mut pages = Pages::new(most, Advice::Huge).map_err(|error| unfit(&error))?;
    let mut crew = PassTeam::start(setup.cpus.get(..1).unwrap_or_default())?;
    pass::fill(&mut crew, &[], pages.as_mut_slice()).map_err(|fault| unfit(&fault))?;
    let step = |&bytes: &u64| {
        let words = usize::try_from(bytes / 8).unwrap_or(usize::MAX);
        step(&mut crew, pages.as_mut_slice::<u64>().get_mut(..words).unwrap_or_default(), setup.seed)
    };
    sizes.iter().map(step).collect::<Result<_, Fault>>().map_err(|fault| unfit(&fault))
}

/// Walks one working set, warm and flushed, in turns.
#[expect(clippy::cast_precision_loss, reason = "times and loads stay far below 2^53")]
fn step(crew: &mut PassTeam, words: &mut [u64], seed: u64) -> Result<Step, Fault> {
    let range = size_of_val(words);
    // An odd number of lines, so that the places fall into all sets of the caches.
    let stride = ((range as u64 / LOADS / 64) | 1) as usize * 64;
    let shape = Shape { order: WalkOrder::Shuffled, links: Links::Offsets, range, stride, seed };
    let faulty = |error: super::chain::ShapeError| Fault::new(error.to_string());
    shape.build(words).map_err(faulty)?;
    let units = (shape.slots().map_err(faulty)? as u64 / UNIT).max(1);
    let (_, read) =
        kernels::best(Op::FullRead, Store::Temporal).ok_or_else(|| Fault::new("no kernel reads"))?;
    let (mut warm_ns, mut flushed_ns) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        crew.pass(read, Arrays { dst: &mut [], a: words, b: &[] }, 1)?;
        for (flush, least) in [(false, &mut warm_ns), (true, &mut flushed_ns)] {
            let done = crew.walk(Walker::start(&shape, words), words, units, flush, None)?;
            let walk_ns = done.parts.first().map_or(0, |part| part.out.walk_ns);
            *least = least.min(walk_ns as f64 / (units * UNIT) as f64);
        }
    }
    Ok(Step { bytes: range as u64, warm_ns, flushed_ns })
}

/// The most that any working set had in the cache. `None` where the cache cannot be told from memory, or holds the
/// largest set too.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes are far below 2^53"
)]
fn fit(steps: &[Step]) -> Option<u64> {
    let (first, last) = (steps.first()?, steps.last()?);
    let share = |step: &Step| {
        let contrast = step.flushed_ns - first.warm_ns;
        let share = (step.flushed_ns - step.warm_ns) / contrast;
        (contrast > 0.0 && share >= LEAST_SHARE).then_some(share.min(1.0))
    };
    if first.flushed_ns < first.warm_ns * LEAST_CONTRAST || share(last).is_some_and(|share| share > 0.6) {
        return None;
    }
    let held = steps.iter().filter_map(|step| Some(step.bytes as f64 * share(step)?));
    held.reduce(f64::max).map(|bytes| bytes as u64)
}

#[cfg(test)]
mod tests {
    use model::Params;
    use proptest::prelude::*;

    use super::*;

    /// Steps beside a cache of that size, read through once: what it holds of a larger set is its own size.
    fn planted(cache_mib: f64, top_mib: u32, noise: impl Fn(usize) -> f64) -> Vec<Step> {
        let (fast, slow) = (22.0, 105.0);
        let sizes = (2..).map(|bits| 1u32 << bits).take_while(|&mib| mib <= top_mib);
        let step = |(index, mib): (usize, u32)| {
            let held = (cache_mib / f64::from(mib)).min(1.0);
            // Page walks grow with the set, and are in both.
            let walks = f64::from(mib) / 20.0;
            let warm_ns = (held * fast + (1.0 - held) * slow + walks) * noise(index);
            Step { bytes: u64::from(mib) << 20, warm_ns, flushed_ns: slow + walks }
        };
        sizes.enumerate().map(step).collect()
    }

    proptest! {
        #[test]
        fn planted_caches_are_found(cache in 6.0f64..480.0, noise in proptest::collection::vec(0.95f64..1.05, 9)) {
            let steps = planted(cache, 1024, |index| noise[index]);
            let found = fit(&steps).unwrap() as f64 / f64::from(1 << 20);
            prop_assert!((0.7..1.4).contains(&(found / cache)), "{cache}: {found}");
        }
    }

    #[test]
    fn what_cannot_be_told_is_not_found() {
        assert_eq!(fit(&[]), None);
        // All of it is cached, or none.
        assert_eq!(fit(&planted(1e6, 256, |_| 1.0)), None);
        assert_eq!(fit(&planted(0.0, 256, |_| 1.0)), None);
    }

    #[test]
    fn both_sizes_are_said() {
        let both = LastLevel { reported: Some(480 << 20), found: Some((31 << 20) + 5) };
        assert_eq!(both.bytes(), Some((31 << 20) + 5));
        assert_eq!(both.sentence(), "; last-level cache 31MiB by its latency, 480MiB reported");
        assert_eq!(LastLevel { found: None, ..both }.sentence(), "");
        assert_eq!(LastLevel { found: None, ..both }.bytes(), both.reported);
    }

    #[test]
    fn this_machine_has_steps() {
        let cpus = sys::affinity::allowed().unwrap();
        let cpus = vec![u32::try_from(cpus[0]).unwrap()];
        let setup = Setup {
            llc: Some(8 << 20),
            memory: Some(256 << 20),
            ..Setup::bare(Params::default(), cpus, std::env::temp_dir())
        };
        let steps = measure(&setup).unwrap();
        assert!(
            steps.len() > 1 && steps.iter().all(|step| step.warm_ns > 0.0 && step.flushed_ns.is_finite())
        );
        let given = Setup { params: Params::parse("size=1MiB").unwrap(), ..setup };
        assert_eq!(beside(&given, "size").unwrap().found, None);
    }
}
