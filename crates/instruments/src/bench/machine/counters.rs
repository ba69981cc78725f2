//! Hardware counters of a take: cycles, instructions, misses of the last-level cache and of the translation caches, and
//! the clock that follows from them.
//!
//! Counted are the threads of this process in user mode, and what they start during the take; not the kernel, nor
//! servers that ran before. Counters that share a place in the processor are scaled, and `counted` says by how much.
//! Most virtual machines offer none: that is said once.

use std::sync::atomic::{AtomicBool, Ordering};

use model::metrics::machine::{COUNTED, CYCLES, EFFECTIVE_CLOCK, INSTRUCTIONS, LLC_MISSES, TLB_MISSES};
use model::{
    Cadence, Card, Count, Family, Fault, Hertz, Metric, Probe, Ratio, Record, RecordExt, Setup, Simple, Unfit,
};
use sys::perf::{self, Counter, Event};

static CARD: Card = Card {
    name: model::names::instrument::COUNTERS,
    family: Family::Machine,
    says: "hardware counters of each take: cycles, instructions, cache and TLB misses, effective clock",
    source: "own: perf_event_open",
    cadence: Cadence::Around,
    definition: 1,
    metrics: &[
        CYCLES.info(),
        INSTRUCTIONS.info(),
        LLC_MISSES.info(),
        TLB_MISSES.info(),
        EFFECTIVE_CLOCK.info(),
        COUNTED.info(),
    ],
    ..Card::DEFAULT
};

pub static INSTRUMENT: Simple = Simple::new(&CARD, prepare);

/// The counts of a take; the first must be there for any of the others.
const EVENTS: [Event; 5] =
    [Event::Cycles, Event::Instructions, Event::CacheMisses, Event::TlbMisses, Event::TaskClock];
/// A process with more threads is not counted: each takes a descriptor a counter.
const MOST_THREADS: usize = 128;

fn prepare(_: &Setup) -> Result<Box<dyn Probe>, Unfit> {
    static SAID: AtomicBool = AtomicBool::new(false);
    let here = |event: &Event| Counter::open(*event).is_ok();
    match Counter::open(Event::Cycles) {
        Ok(_) => Ok(Box::new(Counters::counting(EVENTS.into_iter().filter(here).collect()))),
        Err(_) if SAID.swap(true, Ordering::Relaxed) => Ok(Box::new(Counters::counting(Vec::new()))),
        Err(error) => Err(Unfit::new(format!("unknown ({error})"))),
    }
}

/// The events that this machine counts, and the counters of the take under way.
struct Counters {
    events: Vec<Event>,
    open: Vec<(Event, Counter)>,
}

impl Counters {
    fn counting(events: Vec<Event>) -> Counters {
        Counters { events, open: Vec::new() }
    }

    /// Starts every event on every thread. A thread that ended meanwhile is left out. Fails when there are too many.
    fn start(&mut self) -> Result<(), Fault> {
        self.open.clear();
        if self.events.is_empty() {
            return Ok(());
        }
        let threads = threads();
        if threads.len() > MOST_THREADS {
            return Err(Fault::new(format!("{} threads are more than {MOST_THREADS}", threads.len())));
        }
        for &event in &self.events {
            let counters = threads.iter().filter_map(|&thread| Counter::open_on(event, thread).ok());
            self.open.extend(counters.map(|counter| (event, counter)));
        }
        self.open
            .iter_mut()
            .try_for_each(|(_, counter)| counter.start())
            .map_err(|e| Fault::new(e.to_string()))
    }

    /// The sum of each event over the threads; missing where one of them never got to count.
    fn stop(&mut self) -> Result<Vec<(Event, perf::Count)>, Fault> {
        let mut counts: Vec<(Event, Option<perf::Count>)> = Vec::new();
        for (event, mut counter) in self.open.drain(..) {
            counts.push((event, counter.stop().map_err(|error| Fault::new(error.to_string()))?));
        }
        let sum_of = |&event: &Event| {
            let mine = counts.iter().filter(|(counted, _)| *counted == event).map(|(_, count)| *count);
            Some((event, sum(mine.collect::<Option<Vec<_>>>()?)?))
        };
        Ok(self.events.iter().filter_map(sum_of).collect())
    }
}

/// The sum, and the least share of the time in which one of them counted. `None` of none.
fn sum(counts: Vec<perf::Count>) -> Option<perf::Count> {
    counts
        .into_iter()
        .reduce(|a, b| perf::Count { value: a.value + b.value, running: a.running.min(b.running) })
}

/// Numbers of the threads of this process.
fn threads() -> Vec<i32> {
    let Ok(folder) = std::fs::read_dir("/proc/self/task") else { return Vec::new() };
    folder.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect()
}

impl Probe for Counters {
    fn take(&mut self, side: u64, record: &mut dyn Record) -> Result<(), Fault> {
        if side == 0 {
            return self.start();
        }
        push(&self.stop()?, record);
        Ok(())
    }
}

fn push(counts: &[(Event, perf::Count)], record: &mut dyn Record) {
    let count_of =
        |event: Event| counts.iter().find(|(counted, _)| *counted == event).map(|(_, count)| *count);
    let mut value = |metric: &Metric<Count>, event: Event| {
        record.push_if(metric, count_of(event).map(|count| Count(count.value)));
    };
    value(&CYCLES, Event::Cycles);
    value(&INSTRUCTIONS, Event::Instructions);
    value(&LLC_MISSES, Event::CacheMisses);
    value(&TLB_MISSES, Event::TlbMisses);
    let time = count_of(Event::TaskClock).filter(|time| time.value > 0.0);
    let clock = count_of(Event::Cycles).zip(time).map(|(cycles, time)| cycles.value * 1e9 / time.value);
    record.push_if(&EFFECTIVE_CLOCK, clock.map(Hertz));
    let hardware = counts.iter().filter(|(event, _)| *event != Event::TaskClock);
    record.push_if(&COUNTED, hardware.map(|(_, count)| count.running).reduce(f64::min).map(Ratio));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::record::Values;

    fn count(value: f64, running: f64) -> perf::Count {
        perf::Count { value, running }
    }

    #[test]
    fn the_clock_is_cycles_by_cpu_time() {
        let mut values = Values::default();
        let counts = [
            (Event::Cycles, count(3.3e9, 0.5)),
            (Event::Instructions, count(6e9, 1.0)),
            (Event::TaskClock, count(1.1e9, 1.0)),
        ];
        push(&counts, &mut values);
        assert!(values.get("effective-clock").is_some_and(|hertz| (hertz - 3e9).abs() < 1.0));
        assert_eq!((values.get("instructions"), values.get("counted")), (Some(6e9), Some(0.5)));
        assert_eq!((values.get("llc-misses"), values.get("dtlb-misses")), (None, None));
    }

    #[test]
    fn threads_add_up_and_the_least_share_counts() {
        assert_eq!(sum(vec![count(2.0, 1.0), count(3.0, 0.25)]), Some(count(5.0, 0.25)));
        assert_eq!(sum(Vec::new()), None);
    }

    #[test]
    fn nothing_counted_is_missing() {
        let mut values = Values::default();
        push(&[], &mut values);
        push(&[(Event::Cycles, count(1.0, 1.0)), (Event::TaskClock, count(0.0, 1.0))], &mut values);
        assert_eq!(values.get("effective-clock"), None);
        assert_eq!(values.values.len(), 2, "cycles and their share: {:?}", values.values);
    }

    /// With the one counter that every kernel has: threads from before the take, and those that it starts.
    #[test]
    fn threads_from_before_are_counted() {
        if Counter::open(Event::TaskClock).is_err() {
            return;
        }
        let work = || std::hint::black_box((0..3_000_000u64).map(std::hint::black_box).sum::<u64>());
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let early = std::thread::spawn(move || wait.recv().map(|()| work()));
        let mut counters = Counters::counting(vec![Event::TaskClock]);
        counters.start().unwrap();
        go.send(()).unwrap();
        early.join().unwrap().unwrap();
        let counts = counters.stop().unwrap();
        assert!(counts[0].1.value > 1e5, "{counts:?}");
        assert!(counters.open.is_empty());
    }
}
