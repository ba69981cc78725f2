//! What one thread sends next, and when: its share of the schedule, and which request by the weights.
//!
//! Requests that are due and find no free connection are not stored: they stay in the schedule, which gives them out in
//! order. So a backlog of any length costs no memory, and each keeps its intended time.

use std::iter::{Peekable, Skip, StepBy, Take};

use crate::bench::kernels::random::Random;
use crate::load::kv::keys::Keys;
use crate::load::schedule::{Arrival, Arrivals, Schedule};

/// A request to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// `None` in a closed loop: it is due when it is sent.
    pub intended_ns: Option<u64>,
    pub which: u32,
}

#[derive(Debug)]
enum Kind {
    Closed { left: u64 },
    Open(Box<Peekable<StepBy<Skip<Take<Arrivals>>>>>),
}

#[derive(Debug)]
pub struct Source {
    kind: Kind,
    pick: Pick,
    start_ns: u64,
    /// What is due at this time or later is not sent.
    end_ns: u64,
}

/// One thread's part of a load, or one generator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Part {
    pub thread: usize,
    pub threads: usize,
}

impl Part {
    /// How many of `all` fall to this thread.
    #[must_use]
    pub fn of(self, all: u64) -> u64 {
        let (thread, threads) = (self.thread as u64, self.threads as u64);
        all / threads + u64::from(thread < all % threads)
    }
}

impl Source {
    pub fn new(schedule: &Schedule, requests: Option<u64>, part: Part, pick: Pick) -> Source {
        let all = requests.and_then(|requests| usize::try_from(requests).ok()).unwrap_or(usize::MAX);
        let kind = match schedule.arrivals() {
            None => Kind::Closed { left: requests.map_or(u64::MAX, |requests| part.of(requests)) },
            Some(arrivals) => {
                let mine = arrivals.take(all).skip(part.thread).step_by(part.threads.max(1));
                Kind::Open(Box::new(mine.peekable()))
            }
        };
        Source { kind, pick, start_ns: 0, end_ns: 0 }
    }

    /// Fixes the start and the end of the window.
    pub fn begin(&mut self, start_ns: u64, end_ns: u64) {
        self.start_ns = start_ns;
        self.end_ns = end_ns;
    }

    /// Ends the window earlier.
    pub fn cut(&mut self, end_ns: u64) {
        self.end_ns = self.end_ns.min(end_ns);
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.kind, Kind::Closed { .. })
    }

    fn peek(&mut self) -> Option<(u64, Arrival)> {
        let Kind::Open(arrivals) = &mut self.kind else { return None };
        let arrival = *arrivals.peek()?;
        let at_ns = self.start_ns.saturating_add(arrival.at_ns);
        (at_ns < self.end_ns).then_some((at_ns, arrival))
    }

    /// When the next request of an open loop is due; `None` when there is none.
    pub fn next_ns(&mut self) -> Option<u64> {
        self.peek().map(|(at_ns, _)| at_ns)
    }

    /// Whether a closed loop may still send.
    pub fn goes_on(&self, now_ns: u64) -> bool {
        matches!(self.kind, Kind::Closed { left } if left > 0) && now_ns < self.end_ns
    }

    /// The next request, if one may be sent now.
    #[inline]
    pub fn take(&mut self, now_ns: u64) -> Option<Due> {
        if let Kind::Closed { left } = &mut self.kind {
            if *left == 0 || now_ns >= self.end_ns {
                return None;
            }
            *left -= 1;
            return Some(Due { intended_ns: None, which: self.pick.draw() });
        }
        let (at_ns, arrival) = self.peek().filter(|&(at_ns, _)| at_ns <= now_ns)?;
        if let Kind::Open(arrivals) = &mut self.kind {
            arrivals.next();
        }
        let which = arrival.target.unwrap_or_else(|| self.pick.draw());
        Some(Due { intended_ns: Some(at_ns), which })
    }
}

/// By what requests are chosen.
#[derive(Clone, Debug)]
pub enum Choice {
    /// In proportion to these weights.
    Weights(Vec<f64>),
    /// A key, and whether to read or write it.
    Keys(Keys),
}

/// Chooses requests at random, from a seed.
#[derive(Clone, Debug)]
pub struct Pick {
    by: By,
    random: Random,
}

#[derive(Clone, Debug)]
enum By {
    /// Where each request's share ends, of 2^53; empty for a single request.
    Ends(Vec<u64>),
    Keys(Keys),
}

impl Pick {
    /// Weights are finite, none is negative, and one is over 0.
    pub fn new(choice: &Choice, seed: u64) -> Pick {
        let by = match choice {
            Choice::Weights(weights) => By::Ends(ends(weights)),
            Choice::Keys(keys) => By::Keys(keys.clone()),
        };
        Pick { by, random: Random::new(seed) }
    }

    #[inline]
    pub fn draw(&mut self) -> u32 {
        let ends = match &self.by {
            By::Ends(ends) if ends.is_empty() => return 0,
            By::Ends(ends) => ends,
            By::Keys(keys) => return keys.draw(&mut self.random),
        };
        let drawn = self.random.next() >> 11;
        // The last end may be rounded to below 2^53.
        ends.partition_point(|&end| end <= drawn).min(ends.len() - 1) as u32
    }
}

fn ends(weights: &[f64]) -> Vec<u64> {
    let total: f64 = weights.iter().sum();
    let mut sum = 0.0;
    let end = |weight: &f64| {
        sum += weight;
        (sum / total * (1u64 << 53) as f64) as u64
    };
    if weights.len() > 1 { weights.iter().map(end).collect() } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Part = Part { thread: 0, threads: 1 };

    fn one() -> Pick {
        Pick::new(&Choice::Weights(vec![1.0]), 0)
    }

    #[test]
    fn a_backlog_is_given_out_in_order_and_in_full() {
        let mut source = Source::new(&Schedule::Constant { rate: 1000.0 }, None, ALL, one());
        source.begin(5_000_000, 8_000_000);
        assert_eq!(source.take(4_999_999), None);
        assert_eq!(source.next_ns(), Some(5_000_000));
        let got: Vec<_> =
            std::iter::from_fn(|| source.take(100_000_000)).map(|due| due.intended_ns).collect();
        assert_eq!(got, [Some(5_000_000), Some(6_000_000), Some(7_000_000)]);
        assert_eq!(source.next_ns(), None);
    }

    #[test]
    fn a_closed_loop_ends_by_count_and_by_time() {
        let mut source = Source::new(&Schedule::Closed, Some(2), ALL, one());
        source.begin(10, u64::MAX);
        assert_eq!(source.take(10), Some(Due { intended_ns: None, which: 0 }));
        assert!(source.goes_on(11) && source.take(11).is_some() && source.take(12).is_none());
        assert!(!source.goes_on(12));
        let mut source = Source::new(&Schedule::Closed, None, ALL, one());
        source.begin(10, 20);
        assert!(source.take(19).is_some() && source.take(20).is_none());
        source.begin(10, 30);
        source.cut(15);
        assert!(source.take(14).is_some() && source.take(15).is_none() && !source.goes_on(15));
    }

    #[test]
    fn threads_share_a_count_exactly() {
        for (all, threads) in [(10, 3), (2, 4), (0, 2), (7, 7)] {
            let sum: u64 = (0..threads).map(|thread| Part { thread, threads }.of(all)).sum();
            assert_eq!(sum, all);
            for thread in 0..threads {
                let part = Part { thread, threads };
                let mut source = Source::new(&Schedule::Constant { rate: 1.0 }, Some(all), part, one());
                source.begin(0, u64::MAX);
                assert_eq!(std::iter::from_fn(|| source.take(u64::MAX)).count() as u64, part.of(all));
            }
        }
    }

    #[test]
    fn choices_follow_the_weights_and_the_seed() {
        let count = |seed| {
            let mut pick = Pick::new(&Choice::Weights(vec![1.0, 0.0, 3.0]), seed);
            let mut counts = [0u32; 3];
            (0..40_000).for_each(|_| counts[pick.draw() as usize] += 1);
            counts
        };
        let [first, none, third] = count(3);
        assert_eq!(none, 0);
        assert_eq!(first + third, 40_000);
        // Four standard deviations of a binomial of a quarter.
        assert!(first.abs_diff(10_000) < 350, "{first}");
        assert_eq!(count(3), count(3));
    }
}
