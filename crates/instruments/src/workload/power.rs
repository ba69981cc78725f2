//! The power of a machine whose CPUs are idle, busy at shares of what they can do, and full; and the energy a job.
//!
//! SERT's idea, with work of our own. A job is a fixed piece of work in a core's own caches: numbers are mixed, sorted
//! and searched, and a small matrix is multiplied; its result is checked. At 100 % every CPU does one job after the
//! other. Below that each CPU has jobs due at its share of the saturation that was measured before, in batches of
//! random size at random moments, and sleeps where none is due. Not in it: disks, network, memory beyond the caches.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use model::metrics::power::{JOULES_PER_JOB, RATE, SAMPLE, SAMPLE_AT, SATURATION, WATTS};
use model::{
    Cadence, Card, Example, Family, Fault, Joules, Need, Params, PerSec, Probe, Record, RecordExt, Role,
    Seconds, Setup, Shown, Simple, Size, Tell, Tier, Unfit, Variant,
};
use model::{ParamKind, ParamSpec};
use sys::clock;

use super::levels::meter::Source;
use super::levels::{DURATION, FLAGS, OWN, SETTLE, SORTED, fit_meter, level_of, time_of, wait};
use crate::bench::spread;
use crate::bench::team::{Done, Team};
use crate::progress;

const TIME: ParamSpec = ParamSpec::new(
    "duration",
    ParamKind::Seconds { max: 86_400 },
    DURATION,
    "seconds for which a level is measured",
);
const PARAMS: [ParamSpec; OWN.len() + 1] = model::joined(&[&OWN, &[TIME]]);

static CARD: Card = Card {
    name: model::names::instrument::POWER,
    family: Family::Cpu,
    says: "power at levels of work on all CPUs, and the energy a job",
    source: "own; levels as SERT's",
    shown: Shown {
        label: "power",
        main: WATTS.name(),
        tells: &[Tell::always("level"), Tell::always("meter")],
        sorted: SORTED,
        place: 900,
        ..Shown::PLAIN
    },
    role: Role::Power { load: None },
    cadence: Cadence::Repeat,
    definition: 1,
    params: &PARAMS,
    metrics: &[
        JOULES_PER_JOB.info(),
        WATTS.info(),
        RATE.info(),
        SAMPLE.info(),
        SAMPLE_AT.info(),
        SATURATION.info(),
    ],
    needs: &[Need::Meter],
    variants: &[
        Variant { tier: Tier::Full, set: "level=idle", headline: &[WATTS.name()] },
        Variant { tier: Tier::Full, set: "level=25|50|75", headline: &[] },
        Variant { tier: Tier::Full, set: "level=100", headline: &[JOULES_PER_JOB.name()] },
    ],
    flags: FLAGS,
    examples: &[Example::new(
        "boxscore run power",
        "power of idle, half busy and full CPUs, and joules a job",
    )],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare).fits(fit).lasts(seconds);

/// Bursts by which saturation is found, and how long each lasts.
const BURSTS: usize = 3;
const BURST: Duration = Duration::from_millis(700);
/// Jobs of a batch on average, and at most.
const BATCH: u64 = 8;
/// Numbers that a job sorts, and the side of its matrix.
const NUMBERS: usize = 1024;
const SIDE: usize = 24;

fn seconds(params: &Params) -> Option<f64> {
    let number = |name: &str| params.get(name)?.parse::<f64>().ok();
    Some(number(SETTLE)? + number("duration")?)
}

fn fit(setup: &Setup) -> Result<(), Unfit> {
    fit_meter(setup)
}

fn prepare(setup: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    let level = level_of(setup)?;
    let is_smoke = setup.size == Size::Smoke;
    let of = |name: &str, smoke: Duration| if is_smoke { Ok(smoke) } else { time_of(setup, name) };
    let times = (of(SETTLE, Duration::ZERO)?, of("duration", BURST)?);
    let source = Source::open(setup, &format!("CPUs {}", model::power::level_name(level)))?;
    let cpus = spread::cpus(&setup.cpus);
    let team = Team::start(&cpus, |member| Ok(worker(member)))?;
    Ok(Box::new(CpuLevels { level, times, source, team, cpus, seed: setup.seed, saturation: None }))
}

/// The order of each member: how long, and how many jobs a second; `None`: as many as it can.
#[derive(Clone, Copy, Debug)]
struct Order {
    long: Duration,
    rate: Option<f64>,
    seed: u64,
}

/// Jobs that a member finished in its time; `None` where one had a wrong result.
type Finished = Option<u64>;

/// A member of the team, with data of its own.
fn worker(member: usize) -> impl FnMut(Arc<Order>) -> Finished {
    let mut work = Work::new();
    move |order: Arc<Order>| {
        let seed = order.seed ^ (member as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        match order.rate {
            None => work.without_pause(order.long),
            Some(rate) => work.paced(order.long, Arrivals::new(rate, seed)),
        }
    }
}

/// The data of a job.
struct Work {
    numbers: Vec<u64>,
    left: Vec<f64>,
    right: Vec<f64>,
    product: Vec<f64>,
}

impl Work {
    fn new() -> Work {
        let entries = |step: usize| (0..SIDE * SIDE).map(|at| (at * step % 7) as f64).collect::<Vec<f64>>();
        Work {
            numbers: vec![0; NUMBERS],
            left: entries(3),
            right: entries(5),
            product: vec![0.0; SIDE * SIDE],
        }
    }

    /// One job. False where its result is wrong.
    fn job(&mut self) -> bool {
        let mut draw = Draw(7);
        self.numbers.iter_mut().for_each(|number| *number = draw.next());
        let sum = self.numbers.iter().fold(0, |sum: u64, number| sum.wrapping_add(*number));
        black_box(&mut self.numbers).sort_unstable();
        let after = self.numbers.iter().fold(0, |sum: u64, number| sum.wrapping_add(*number));
        let mut probe = Draw(7);
        let is_there = (0..NUMBERS).all(|_| self.numbers.binary_search(&probe.next()).is_ok());
        for row in 0..SIDE {
            for column in 0..SIDE {
                let terms = (0..SIDE).map(|k| self.left[row * SIDE + k] * self.right[k * SIDE + column]);
                self.product[row * SIDE + column] = terms.sum();
            }
        }
        // The entries are small whole numbers, so that any order of adding gives the same.
        let total: f64 = black_box(&self.product).iter().sum();
        sum == after && is_there && (total - PRODUCT).abs() < 0.5
    }

    fn without_pause(&mut self, long: Duration) -> Finished {
        let until = clock::now_ns().saturating_add(nanoseconds(long));
        let mut finished = 0;
        while clock::now_ns() < until {
            if !self.job() {
                return None;
            }
            finished += 1;
        }
        Some(finished)
    }

    /// Does what is due and sleeps between; what is late is made up for.
    fn paced(&mut self, long: Duration, mut arrivals: Arrivals) -> Finished {
        let from = clock::now_ns();
        let until = from.saturating_add(nanoseconds(long));
        let mut finished = 0;
        loop {
            let (at, jobs) = arrivals.next();
            let due = from.saturating_add(nanoseconds(at));
            let now = clock::now_ns();
            if due >= until || now >= until {
                std::thread::sleep(Duration::from_nanos(until.saturating_sub(now)));
                return Some(finished);
            }
            std::thread::sleep(Duration::from_nanos(due.saturating_sub(now)));
            for _ in 0..jobs {
                if clock::now_ns() >= until {
                    break;
                }
                if !self.job() {
                    return None;
                }
                finished += 1;
            }
        }
    }
}

/// The sum of the product of the matrices, which each job must have.
const PRODUCT: f64 = 124_169.0;

fn nanoseconds(long: Duration) -> u64 {
    u64::try_from(long.as_nanos()).unwrap_or(u64::MAX)
}

/// A generator of numbers (SplitMix64).
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Above 0 and at most 1.
    fn share(&mut self) -> f64 {
        ((self.next() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }
}

/// Batches of jobs: when each is due, and how many it has. Gaps are exponential, so that batches do not come in step
/// with anything; their number makes up the rate.
struct Arrivals {
    rate: f64,
    at: f64,
    draw: Draw,
}

impl Arrivals {
    fn new(rate: f64, seed: u64) -> Arrivals {
        Arrivals { rate, at: 0.0, draw: Draw(seed) }
    }

    fn next(&mut self) -> (Duration, u64) {
        let jobs = 1 + self.draw.next() % (2 * BATCH - 1);
        self.at += -self.draw.share().ln() * BATCH as f64 / self.rate;
        (Duration::try_from_secs_f64(self.at).unwrap_or(Duration::MAX), jobs)
    }
}

/// All CPUs at one level.
struct CpuLevels {
    level: f64,
    times: (Duration, Duration),
    source: Source,
    team: Team<Arc<Order>, Finished>,
    cpus: Vec<u32>,
    seed: u64,
    /// Jobs a second of all CPUs.
    saturation: Option<f64>,
}

/// Jobs a second of all members. Fails where a job had a wrong result.
fn rate_of(done: &Done<Finished>) -> Result<f64, Fault> {
    let each = done.parts.iter().map(|part| part.out.map(|jobs| jobs as f64 / part.time().0));
    let rate = each.sum::<Option<f64>>().ok_or_else(|| Fault::new("a job had a wrong result"))?;
    if rate > 0.0 { Ok(rate) } else { Err(Fault::new("no job was finished: raise --set duration")) }
}

impl CpuLevels {
    /// Jobs a second of all CPUs, for so long.
    fn work(team: &mut Team<Arc<Order>, Finished>, order: Order) -> Result<f64, Fault> {
        rate_of(&team.take(&Arc::new(order))?)
    }

    /// Jobs a second of all CPUs without a pause, measured once.
    fn saturation(&mut self) -> Result<f64, Fault> {
        if let Some(known) = self.saturation {
            return Ok(known);
        }
        let mut most = 0.0_f64;
        for _ in 0..BURSTS {
            progress::current().check().map_err(Fault::new)?;
            let order = Order { long: BURST, rate: None, seed: self.seed };
            most = most.max(Self::work(&mut self.team, order)?);
        }
        self.saturation = Some(most);
        Ok(most)
    }
}

impl Probe for CpuLevels {
    fn calibrate(&mut self, _: Seconds) -> Result<u64, Fault> {
        if self.level > 0.0 {
            self.saturation()?;
        }
        Ok(1)
    }

    fn take(&mut self, _repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let (settle, long) = self.times;
        if self.level <= 0.0 {
            wait(settle, record);
            let idle = || {
                wait(long, record);
                Ok(())
            };
            self.source.during(long, idle)?.1.push(record);
            return Ok(());
        }
        let saturation = self.saturation()?;
        let each = saturation / self.cpus.len() as f64;
        let rate = (self.level < 1.0).then_some(self.level * each);
        self.seed = self.seed.wrapping_add(1);
        let (seed, team) = (self.seed, &mut self.team);
        if !settle.is_zero() {
            Self::work(team, Order { long: settle, rate, seed: !seed })?;
        }
        let (rate, readings) = self.source.during(long, || Self::work(team, Order { long, rate, seed }))?;
        record.push(&RATE, PerSec(rate));
        readings.push(record);
        record.push_if(&JOULES_PER_JOB, readings.watts().map(|watts| Joules(watts / rate)));
        record.push(&SATURATION, PerSec(saturation));
        Ok(())
    }

    fn cpus(&self) -> Vec<u32> {
        self.cpus.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_has_its_result_and_a_changed_one_has_not() {
        let mut work = Work::new();
        assert!((0..3).all(|_| work.job()));
        work.left[0] += 1.0;
        assert!(!work.job());
    }

    #[test]
    fn batches_make_up_the_rate() {
        let mut arrivals = Arrivals::new(1_000.0, 3);
        let (mut jobs, mut sizes) = (0, std::collections::BTreeSet::new());
        let at = loop {
            let (at, batch) = arrivals.next();
            jobs += batch;
            sizes.insert(batch);
            if at >= Duration::from_secs(100) {
                break at;
            }
        };
        let rate = jobs as f64 / at.as_secs_f64();
        assert!((rate / 1_000.0 - 1.0).abs() < 0.03, "{rate}");
        assert_eq!((sizes.first(), sizes.last()), (Some(&1), Some(&15)));
    }

    #[test]
    fn a_paced_worker_does_what_is_due() {
        let mut work = worker(0);
        let most = work(Arc::new(Order { long: Duration::from_millis(300), rate: None, seed: 1 })).unwrap();
        let rate = most as f64 / 0.3 * 0.25;
        let order = Order { long: Duration::from_secs(1), rate: Some(rate), seed: 5 };
        let done = work(Arc::new(order)).unwrap() as f64;
        assert!(done > 0.3 * rate && done < 2.0 * rate, "{done} of {rate}");
    }
}
