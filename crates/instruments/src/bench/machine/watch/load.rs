//! Load of other processes and steal, from /proc/stat, over a window long enough for its coarse ticks.
//!
//! /proc counts in ticks of 10 ms and a take may last 50 ms, so a take's own difference would be off by tens of
//! percent. The window of the background load therefore reaches back to the newest mark that is at least half a
//! second old, over the takes before; what this process and its study used there is subtracted. In CPUs (1 = one CPU
//! all the time). Steal is a share of the take's own window: coarse for one take, right in the mean.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::telemetry::parse::float;
use crate::telemetry::parse::stat::Stat;

/// The least that a window lasts where older marks exist.
const LEAST_NS: u64 = 500_000_000;
/// An older mark says nothing about this take.
const OLDEST_NS: u64 = 3_000_000_000;
const MARKS: usize = 128;

/// CPU counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub at_ns: u64,
    /// Ticks in which any CPU of the machine ran something.
    busy_ticks: u64,
    /// CPU time of this process and of its ended children.
    own_ns: u64,
    /// CPU time of the other processes of the study.
    study_ticks: u64,
    /// Stolen ticks and all ticks of the take's CPUs.
    stolen_ticks: u64,
    all_ticks: u64,
}

impl Mark {
    pub fn new(at_ns: u64, stat: &Stat, cpus: &[u32], own_ns: u64, study_ticks: u64) -> Option<Mark> {
        let busy_ticks = stat.all?.busy();
        let ours = cpus.iter().filter_map(|cpu| stat.cpu(*cpu));
        let (stolen_ticks, all_ticks) = ours.fold((0u64, 0u64), |(stolen, all), times| {
            (stolen.saturating_add(times.steal), all.saturating_add(times.total()))
        });
        Some(Mark { at_ns, busy_ticks, own_ns, study_ticks, stolen_ticks, all_ticks })
    }
}

/// CPUs that other processes kept busy between two marks; `None` when no time went by. They cannot have used less than
/// nothing, though rounding of the ticks may say so.
pub fn background(from: &Mark, to: &Mark, ticks_per_s: u64) -> Option<f64> {
    let elapsed_ns = to.at_ns.checked_sub(from.at_ns).filter(|ns| *ns > 0)?;
    let ticks = to.busy_ticks.saturating_sub(from.busy_ticks);
    let study = to.study_ticks.saturating_sub(from.study_ticks);
    let own_ns = to.own_ns.saturating_sub(from.own_ns);
    let ns_per_tick = 1e9 / float(ticks_per_s.max(1));
    let others_ns = float(ticks.saturating_sub(study)) * ns_per_tick - float(own_ns);
    Some(others_ns.max(0.0) / float(elapsed_ns))
}

/// Share of the time of the take's CPUs that the hypervisor gave to others between two marks of the same CPUs; `None`
/// when no tick went by.
pub fn steal(from: &Mark, to: &Mark) -> Option<f64> {
    let all = to.all_ticks.saturating_sub(from.all_ticks);
    let stolen = to.stolen_ticks.saturating_sub(from.stolen_ticks);
    (all > 0).then(|| (float(stolen) / float(all)).min(1.0))
}

/// Marks of the last seconds; every probe of this process adds to them, since takes of different CPUs alternate.
static RECENT: Mutex<VecDeque<Mark>> = Mutex::new(VecDeque::new());

pub fn remember(mark: Mark) {
    let mut recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    recent.push_back(mark);
    if recent.len() > MARKS {
        recent.pop_front();
    }
}

/// The newest remembered mark that is half a second older than `now_ns`, but not older than some seconds.
pub fn reach_back(now_ns: u64) -> Option<Mark> {
    let recent = RECENT.lock().unwrap_or_else(PoisonError::into_inner);
    newest_old_enough(recent.iter().copied(), |mark| now_ns.saturating_sub(mark.at_ns))
}

fn newest_old_enough<T>(marks: impl DoubleEndedIterator<Item = T>, age_ns: impl Fn(&T) -> u64) -> Option<T> {
    marks.rev().find(|mark| age_ns(mark) >= LEAST_NS).filter(|mark| age_ns(mark) <= OLDEST_NS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::parse::stat;

    fn mark(at_ns: u64, text: &str, own_ns: u64) -> Mark {
        Mark::new(at_ns, &stat::parse(text.as_bytes()), &[1], own_ns, 0).unwrap()
    }

    #[test]
    fn others_are_all_that_is_not_ours() {
        let from = mark(0, "cpu 100 0 0 100\ncpu0 50 0 0 50\ncpu1 50 0 0 50 0 0 0 0\n", 0);
        // A second later: 150 ticks of work on two CPUs, a CPU of them ours; 10 of CPU 1's 100 ticks stolen.
        let to = mark(
            1_000_000_000,
            "cpu 240 0 10 140\ncpu0 140 0 10 50\ncpu1 100 0 0 90 0 0 0 10\n",
            1_000_000_000,
        );
        assert!((background(&from, &to, 100).unwrap() - 0.5).abs() < 1e-9);
        assert!((steal(&from, &to).unwrap() - 0.1).abs() < 1e-9);
        assert_eq!((background(&to, &to, 100), steal(&to, &to)), (None, None));
        assert_eq!(background(&to, &from, 100), None);
        // Rounding that leaves less than nothing for the others is nothing.
        let idle = mark(500_000_000, "cpu 101 0 0 100\n", 400_000_000);
        assert_eq!((background(&from, &idle, 100), steal(&from, &idle)), (Some(0.0), None));
    }

    #[test]
    fn windows_reach_back_half_a_second() {
        let s = |tenths: u64| tenths * 100_000_000;
        let at = |times: &[u64]| newest_old_enough(times.iter().copied(), |at_ns| s(100) - at_ns);
        assert_eq!(at(&[s(80), s(90), s(96), s(99)]), Some(s(90)));
        assert_eq!(at(&[s(96), s(99)]), None);
        assert_eq!(at(&[s(60)]), None);
        assert_eq!(at(&[]), None);
    }
}
