//! Probes made from kernels: the same work on each thread of a team, its result checked beside its speed.
//!
//! A kernel does `repeats` units of work and hands back what is needed to judge and report it. The probe
//! finds how many units fill a take, times the team, turns a wrong result into a fault and lets the
//! instrument push its metrics from the tally. Not counted: preparing inputs and checking results that a
//! kernel does outside `run`.

use model::params::parse_bytes;
use model::{Fault, Label, ParamKind, ParamSpec, Probe, Record, Seconds, Setup, Size, Unfit};

use super::spread;
use super::team::{self, Done, Team};

/// The number of threads that work.
pub const THREADS: ParamSpec = ParamSpec::new("threads", ParamKind::Threads, "1", "threads at work")
    .label(Label::Count("thread", "threads"));

/// One thread's share of an instrument's work.
pub trait Kernel: 'static {
    /// The result of a take beside its time; `()` if time is all.
    type Out: Send + 'static;

    /// Does `repeats` units of work. A wrong result is a fault: its speed means nothing.
    fn run(&mut self, repeats: u64) -> Result<Self::Out, Fault>;
}

/// A finished take of all threads.
#[derive(Clone, Debug)]
pub struct Tally<Out> {
    /// Units of work that each thread did.
    pub repeats: u64,
    pub done: Done<Out>,
}

impl<Out> Tally<Out> {
    /// Time from the first start to the last end.
    pub fn time(&self) -> Seconds {
        self.done.time()
    }

    pub fn threads(&self) -> usize {
        self.done.parts.len()
    }

    /// Units of work that all threads did together.
    #[expect(clippy::cast_precision_loss, reason = "counts of work stay far below 2^53")]
    pub fn units(&self) -> f64 {
        self.repeats as f64 * self.threads() as f64
    }

    pub fn outs(&self) -> impl Iterator<Item = &Out> {
        self.done.parts.iter().map(|part| &part.out)
    }
}

type Push<Out> = Box<dyn Fn(&Tally<Out>, &mut dyn Record) -> Result<(), Fault>>;

/// A prepared kernel on every thread of a team.
pub struct KernelProbe<Out> {
    team: Team<u64, Result<Out, Fault>>,
    push: Push<Out>,
    footprint: u64,
}

impl<Out: Send + 'static> KernelProbe<Out> {
    /// Starts as many threads as the `threads` parameter of `setup` says (one without it). `make` builds the kernel of
    /// thread 0, 1, 2 … inside that thread; `push` reports a take; `footprint` is the memory of all threads together,
    /// in bytes. Fails when the threads cannot run here or a kernel cannot be built.
    pub fn boxed<K, M, P>(setup: &Setup, footprint: u64, make: M, push: P) -> Result<Box<dyn Probe>, Unfit>
    where
        K: Kernel<Out = Out>,
        M: Fn(usize) -> Result<K, Unfit> + Send + Sync + 'static,
        P: Fn(&Tally<Out>, &mut dyn Record) -> Result<(), Fault> + 'static,
    {
        let threads = setup.threads()?;
        let cpus = spread::cpus(&setup.cpus);
        let cpus = cpus.get(..threads).ok_or_else(|| Unfit::new("too few CPUs"))?;
        let team = Team::start(cpus, move |index| {
            let mut kernel = make(index)?;
            Ok(move |repeats| kernel.run(repeats))
        })?;
        Ok(Box::new(KernelProbe { team, push: Box::new(push), footprint }))
    }

    fn tally(&mut self, repeats: u64) -> Result<Tally<Out>, Fault> {
        let done = self.team.take(&repeats)?;
        let mut parts = Vec::with_capacity(done.parts.len());
        for part in done.parts {
            let team::Part { cpu, start_ns, end_ns, out } = part;
            parts.push(team::Part { cpu, start_ns, end_ns, out: out? });
        }
        let tally = Tally { repeats, done: Done { parts } };
        if tally.time().0 > 0.0 {
            Ok(tally)
        } else {
            Err(Fault::new("the clock did not move during the take"))
        }
    }
}

impl<Out: Send + 'static> Probe for KernelProbe<Out> {
    fn calibrate(&mut self, at_least: Seconds) -> Result<u64, Fault> {
        repeats_for(at_least, |repeats| Ok(self.tally(repeats)?.time()))
    }

    fn take(&mut self, repeats: u64, record: &mut dyn Record) -> Result<(), Fault> {
        let tally = self.tally(repeats.max(1))?;
        (self.push)(&tally, record)
    }

    fn cpus(&self) -> Vec<u32> {
        self.team.cpus()
    }

    fn footprint(&self) -> u64 {
        self.footprint
    }
}

/// The number of units that last `at_least`: the first count found, from 1 upwards. The first unit, which pays for
/// cold caches and untouched pages, only warms up. Fails when a unit fails.
pub fn repeats_for(
    at_least: Seconds,
    mut time: impl FnMut(u64) -> Result<Seconds, Fault>,
) -> Result<u64, Fault> {
    /// No unit of work is so short that a take needs more.
    const MOST: u64 = 1 << 48;
    time(1)?;
    let mut repeats = 1u64;
    loop {
        let took = time(repeats)?;
        if took.0 >= at_least.0 || repeats >= MOST {
            return Ok(repeats);
        }
        repeats = next_repeats(repeats, took.0, at_least.0).min(MOST);
    }
}

/// 10 % more than proportion asks for, at least one more and at most sixteen times as many: short times say
/// little about long ones.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate, bounded on both sides in integers"
)]
fn next_repeats(repeats: u64, took: f64, wanted: f64) -> u64 {
    let proportional = repeats as f64 * (wanted / took.max(1e-9)) * 1.1;
    (proportional.ceil() as u64).clamp(repeats.saturating_add(1), repeats.saturating_mul(16))
}

/// A parameter that is a size in bytes. Fails when it is malformed.
pub fn bytes_param(setup: &Setup, name: &str) -> Result<usize, Unfit> {
    let text = setup.params.get(name).ok_or_else(|| Unfit::new(format!("no parameter {name}")))?;
    let bytes = parse_bytes(text).ok_or_else(|| Unfit::new(format!("{name}={text} is not a size")))?;
    usize::try_from(bytes)
        .map_err(|_| Unfit::new(format!("{name}={text} is more than this process can address")))
}

/// A parameter that is a whole number. Fails when it is malformed.
pub fn int_param(setup: &Setup, name: &str) -> Result<u64, Unfit> {
    let text = setup.params.get(name).ok_or_else(|| Unfit::new(format!("no parameter {name}")))?;
    text.parse().map_err(|_| Unfit::new(format!("{name}={text} is not a whole number")))
}

/// A parameter that is one word of a list. Fails when it is missing.
pub fn word_param<'a>(setup: &'a Setup, name: &str) -> Result<&'a str, Unfit> {
    setup.params.get(name).ok_or_else(|| Unfit::new(format!("no parameter {name}")))
}

/// A count as a number to calculate with.
#[expect(clippy::cast_precision_loss, reason = "counts of bytes and items stay far below 2^53")]
pub const fn float(count: usize) -> f64 {
    count as f64
}

/// Memory of `threads` threads that hold `each` bytes.
pub fn footprint(each: usize, threads: usize) -> u64 {
    u64::try_from(each.saturating_mul(threads)).unwrap_or(u64::MAX)
}

/// Fails when `bytes` is more than half of the usable memory.
pub fn room(setup: &Setup, bytes: u64) -> Result<(), Unfit> {
    match setup.memory {
        Some(memory) if bytes > memory / 2 => Err(Unfit::new(format!(
            "needs {} MiB, more than half of the {} MiB of memory here",
            bytes >> 20,
            memory >> 20
        ))),
        _ => Ok(()),
    }
}

/// `full`, or the smaller `smoke` in a smoke test.
pub fn sized<T>(setup: &Setup, full: T, smoke: T) -> T {
    match setup.size {
        Size::Full => full,
        Size::Smoke => smoke,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A clock where a unit lasts `unit` seconds and each take costs `fixed` on top.
    fn calibrated(unit: f64, fixed: f64, at_least: f64) -> (u64, u64) {
        let mut calls = 0;
        let repeats = repeats_for(Seconds(at_least), |n| {
            calls += 1;
            #[expect(clippy::cast_precision_loss, reason = "small counts")]
            Ok(Seconds(fixed + unit * n as f64))
        });
        (repeats.unwrap(), calls)
    }

    #[test]
    fn takes_last_long_enough_and_not_much_longer() {
        for unit in [3e-9, 1e-6, 0.7e-3, 0.049] {
            for fixed in [0.0, 1e-6] {
                let (repeats, calls) = calibrated(unit, fixed, 0.05);
                #[expect(clippy::cast_precision_loss, reason = "small counts")]
                let took = fixed + unit * repeats as f64;
                assert!((0.05..=0.1).contains(&took), "{unit} x {repeats} = {took}");
                assert!(calls < 16, "{calls} calls");
            }
        }
    }

    #[test]
    fn a_long_unit_is_done_once() {
        assert_eq!(calibrated(0.2, 0.0, 0.05).0, 1);
        assert_eq!(calibrated(0.2, 0.0, 0.0).0, 1);
    }

    #[test]
    fn a_clock_that_stands_still_ends() {
        assert!(calibrated(0.0, 0.0, 0.05).0 > 0);
    }

    #[test]
    fn faults_pass_through() {
        assert!(repeats_for(Seconds(1.0), |_| Err(Fault::new("no"))).is_err());
    }
}
