//! The request queue of one thread: which request is due next, and when.
//!
//! In: a schedule, this thread's part of it, and how requests are chosen. Out: one [`Due`] at a time. Times are
//! nanoseconds of the monotonic clock.
//!
//! Requests that are due and find no free connection are not stored: they stay in the schedule, which gives them out
//! in order. So a backlog of any length costs no memory, and each request keeps its intended time.

use crate::bench::kernels::random::Random;
use crate::load::schedule::{Arrival, Arrivals, Part, Schedule, held};
use crate::load::store_client::keys::Keys;

/// A request to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Intended start. `None` in a closed loop, where a request is due when it is sent.
    pub intended_ns: Option<u64>,
    pub which: u32,
}

#[derive(Debug)]
enum Kind {
    Closed { left: u64 },
    Open(Box<ThreadArrivals>),
}

/// The arrivals of an open loop that fall to one thread.
#[derive(Debug)]
struct ThreadArrivals {
    all: Arrivals,
    /// Arrivals of other threads to skip: before the next own one, and between two own ones.
    before: usize,
    between: usize,
    /// The next arrival, if it was already drawn.
    seen: Option<Arrival>,
    /// How many more arrivals may be drawn.
    left: u64,
}

/// Upper bound of one thread's arrivals.
const MOST: u64 = 1 << 50;

impl ThreadArrivals {
    #[inline]
    fn peek(&mut self) -> Option<Arrival> {
        if self.seen.is_none() && self.left > 0 {
            self.seen = self.all.nth(self.before);
            self.before = self.between;
            self.left = if self.seen.is_some() { self.left - 1 } else { 0 };
        }
        self.seen
    }

    /// Due time of the `nth` arrival after the next one, in nanoseconds from the start.
    fn ahead(&self, nth: u64) -> Option<u64> {
        let skipped = |from: u64| {
            let (before, between) = (self.before as u64, self.between as u64);
            self.all.ahead(before.saturating_add(from.saturating_mul(between + 1)))
        };
        match (self.seen, nth.checked_sub(1)) {
            (Some(seen), None) => Some(seen.at_ns),
            (Some(_), Some(after)) => skipped(after),
            (None, _) => skipped(nth),
        }
    }
}

/// The arrivals that are still due in the window.
#[derive(Debug)]
pub struct Backlog<'a> {
    mine: &'a ThreadArrivals,
    start_ns: u64,
    pub count: u64,
}

impl Backlog<'_> {
    /// Due time of the `nth` of them.
    pub fn at(&self, nth: u64) -> u64 {
        // Each that counts has a time.
        self.start_ns.saturating_add(self.mine.ahead(nth).unwrap_or(u64::MAX))
    }
}

#[derive(Debug)]
pub struct ArrivalQueue {
    kind: Kind,
    pick: Pick,
    start_ns: u64,
    /// Requests due at this time or later are not sent.
    end_ns: u64,
}

impl ArrivalQueue {
    pub fn new(schedule: &Schedule, requests: Option<u64>, part: Part, pick: Pick) -> ArrivalQueue {
        let part = Part { threads: part.threads.max(1), ..part };
        let left = requests.map_or(u64::MAX, |requests| part.share_of(requests));
        let kind = match schedule.arrivals() {
            None => Kind::Closed { left },
            Some(all) => {
                let (before, between) = (part.thread, part.threads - 1);
                Kind::Open(Box::new(ThreadArrivals { all, before, between, seen: None, left }))
            }
        };
        ArrivalQueue { kind, pick, start_ns: 0, end_ns: 0 }
    }

    /// Sets the start and the end of the window.
    pub fn begin(&mut self, start_ns: u64, end_ns: u64) {
        self.start_ns = start_ns;
        self.end_ns = end_ns;
    }

    /// Moves the end of the window to an earlier time.
    pub fn cut(&mut self, end_ns: u64) {
        self.end_ns = self.end_ns.min(end_ns);
    }

    pub fn is_closed(&self) -> bool {
        matches!(self.kind, Kind::Closed { .. })
    }

    fn peek(&mut self) -> Option<(u64, Arrival)> {
        let Kind::Open(mine) = &mut self.kind else { return None };
        let arrival = mine.peek()?;
        let at_ns = self.start_ns.saturating_add(arrival.at_ns);
        (at_ns < self.end_ns).then_some((at_ns, arrival))
    }

    /// Due time of the next request of an open loop; `None` when no more are due.
    pub fn next_ns(&mut self) -> Option<u64> {
        self.peek().map(|(at_ns, _)| at_ns)
    }

    /// The arrivals of an open loop still due in the window, if there are at least `many`. They stay in the queue. For
    /// random arrivals these are expected values.
    pub fn backlog(&self, many: u64) -> Option<Backlog<'_>> {
        let Kind::Open(mine) = &self.kind else { return None };
        let is_due =
            |nth: u64| mine.ahead(nth).is_some_and(|at_ns| self.start_ns.saturating_add(at_ns) < self.end_ns);
        let most = mine.left.saturating_add(u64::from(mine.seen.is_some())).min(MOST);
        let count = held(0, most, is_due);
        (count >= many).then_some(Backlog { mine, start_ns: self.start_ns, count })
    }

    /// True if a closed loop may still send.
    pub fn goes_on(&self, now_ns: u64) -> bool {
        matches!(self.kind, Kind::Closed { left } if left > 0) && now_ns < self.end_ns
    }

    /// The next request, if one may be sent at `now_ns`.
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
        if let Kind::Open(mine) = &mut self.kind {
            mine.seen = None;
        }
        let which = arrival.target.unwrap_or_else(|| self.pick.draw());
        Some(Due { intended_ns: Some(at_ns), which })
    }
}

/// How requests are chosen.
#[derive(Clone, Debug)]
pub enum Choice {
    /// At random, in proportion to these weights.
    Weights(Vec<f64>),
    /// A random key, read or written.
    Keys(Keys),
}

/// Chooses requests at random from a seed.
#[derive(Clone, Debug)]
pub struct Pick {
    by: By,
    random: Random,
}

#[derive(Clone, Debug)]
enum By {
    /// Cumulative weights scaled to 2^53; empty for a single request.
    Ends(Vec<u64>),
    Keys(Keys),
}

impl Pick {
    /// Expects weights that are finite and not negative, with at least one over 0.
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
    use crate::load::recorder::Recorder;
    use crate::load::shape::Shape;

    const ALL: Part = Part { thread: 0, threads: 1 };

    fn one() -> Pick {
        Pick::new(&Choice::Weights(vec![1.0]), 0)
    }

    #[test]
    fn a_backlog_is_given_out_in_order_and_in_full() {
        let mut arrivals = ArrivalQueue::new(&Schedule::Constant { rate: 1000.0 }, None, ALL, one());
        arrivals.begin(5_000_000, 8_000_000);
        assert_eq!(arrivals.take(4_999_999), None);
        assert_eq!(arrivals.next_ns(), Some(5_000_000));
        let got: Vec<_> =
            std::iter::from_fn(|| arrivals.take(100_000_000)).map(|due| due.intended_ns).collect();
        assert_eq!(got, [Some(5_000_000), Some(6_000_000), Some(7_000_000)]);
        assert_eq!(arrivals.next_ns(), None);
    }

    #[test]
    fn a_closed_loop_ends_by_count_and_by_time() {
        let mut arrivals = ArrivalQueue::new(&Schedule::Closed, Some(2), ALL, one());
        arrivals.begin(10, u64::MAX);
        assert_eq!(arrivals.take(10), Some(Due { intended_ns: None, which: 0 }));
        assert!(arrivals.goes_on(11) && arrivals.take(11).is_some() && arrivals.take(12).is_none());
        assert!(!arrivals.goes_on(12));
        let mut arrivals = ArrivalQueue::new(&Schedule::Closed, None, ALL, one());
        arrivals.begin(10, 20);
        assert!(arrivals.take(19).is_some() && arrivals.take(20).is_none());
        arrivals.begin(10, 30);
        arrivals.cut(15);
        assert!(arrivals.take(14).is_some() && arrivals.take(15).is_none() && !arrivals.goes_on(15));
    }

    #[test]
    fn threads_share_a_count_exactly() {
        for (all, threads) in [(10, 3), (2, 4), (0, 2), (7, 7)] {
            let sum: u64 = (0..threads).map(|thread| Part { thread, threads }.share_of(all)).sum();
            assert_eq!(sum, all);
            for thread in 0..threads {
                let part = Part { thread, threads };
                let mut arrivals =
                    ArrivalQueue::new(&Schedule::Constant { rate: 1.0 }, Some(all), part, one());
                arrivals.begin(0, u64::MAX);
                assert_eq!(std::iter::from_fn(|| arrivals.take(u64::MAX)).count() as u64, part.share_of(all));
            }
        }
    }

    /// One by one, and all at once.
    fn both_ways(mut arrivals: ArrivalQueue, now_ns: u64) -> [Recorder; 2] {
        let mut at_once = Recorder::default();
        if let Some(rest) = arrivals.backlog(1) {
            at_once.unsent_many(rest.count, |nth| rest.at(nth), now_ns);
        }
        let mut each = Recorder::default();
        while let Some(due) = arrivals.take(u64::MAX) {
            each.unsent(due.intended_ns.unwrap(), now_ns);
        }
        assert_eq!((each.check(), at_once.check()), (Ok(()), Ok(())));
        [each, at_once]
    }

    #[test]
    fn what_is_never_sent_is_counted_at_once_as_one_by_one() {
        let ramp = |from, to| Schedule::Ramp { from, to, over_ns: 300_000_000 };
        let replay: Vec<Arrival> = [0, 5, 5, 7_000, 40_000_000, 900_000_000]
            .map(|at_ns| Arrival { at_ns, target: Some(1) })
            .to_vec();
        let start_ns = 1_000_000_007;
        for schedule in [
            Schedule::Constant { rate: 1.0 },
            Schedule::Constant { rate: 12_345.678 },
            Schedule::Constant { rate: 1e6 },
            Schedule::Constant { rate: 3e5 },
            ramp(0.0, 200_000.0),
            ramp(200_000.0, 0.0),
            ramp(50_000.0, 90_000.0),
            Schedule::Replay(replay.into()),
        ] {
            for (threads, requests, taken, after_ns) in [
                (1, None, 0, 0),
                (3, None, 1, 5_000),
                (2, Some(3000), 40, 0),
                (1, Some(0), 0, 7),
                (4, Some(2), 0, 1),
            ] {
                for thread in 0..threads {
                    let mut arrivals =
                        ArrivalQueue::new(&schedule, requests, Part { thread, threads }, one());
                    let end_ns = start_ns + 500_000_000;
                    arrivals.begin(start_ns, end_ns);
                    // Some were sent; the next one may have been looked at.
                    for _ in 0..taken {
                        let _sent = arrivals.take(u64::MAX);
                    }
                    if taken > 1 {
                        arrivals.next_ns();
                    }
                    let [each, at_once] = both_ways(arrivals, end_ns - 100_000_000 + after_ns);
                    let told = format!("{schedule:?} {thread} of {threads}, {requests:?}");
                    assert_eq!(at_once.requests(), each.requests(), "{told}");
                    assert_eq!(at_once.response_times(), each.response_times(), "{told}");
                    assert_eq!(at_once.failed.histogram(0), each.failed.histogram(0), "{told}");
                    let apart_ns = at_once.failed.sum_ns().abs_diff(each.failed.sum_ns());
                    assert!(apart_ns <= u128::from(each.requests()), "{told}: {apart_ns} ns");
                }
            }
        }
    }

    #[test]
    fn what_is_drawn_and_never_sent_is_counted_as_expected() {
        let shape = Shape::new([(1.0, 1.0), (1.0, 3.0)]).unwrap();
        for schedule in [
            Schedule::Poisson { rate: 1e6, seed: 5 },
            Schedule::Shaped { rate: 1e6, seed: 5, over_ns: 500_000_000, shape },
        ] {
            let mut arrivals = ArrivalQueue::new(&schedule, None, Part { thread: 1, threads: 2 }, one());
            arrivals.begin(0, 1_000_000_000);
            for _ in 0..10 {
                let _sent = arrivals.take(u64::MAX);
            }
            let [each, at_once] = both_ways(arrivals, 1_000_000_000);
            // Five standard deviations of half a million; the mean age by a like share.
            let (drawn, expected) = (each.requests(), at_once.requests());
            assert!(drawn.abs_diff(expected) < 3600 && expected > 400_000, "{drawn} {expected}");
            let mean = |of: &Recorder| of.failed.sum_ns() as f64 / of.requests() as f64;
            assert!((mean(&each) / mean(&at_once) - 1.0).abs() < 0.01, "{} {}", mean(&each), mean(&at_once));
        }
    }

    #[test]
    fn a_billion_a_second_is_counted_at_once() {
        let mut arrivals = ArrivalQueue::new(&Schedule::Constant { rate: 1e9 }, None, ALL, one());
        arrivals.begin(0, 3_600_000_000_000);
        let rest = arrivals.backlog(1).unwrap();
        let mut record = Recorder::default();
        record.unsent_many(rest.count, |nth| rest.at(nth), 3_600_000_000_000);
        assert_eq!((record.requests(), record.check()), (3_600_000_000_000, Ok(())));
        let mean_ns = record.failed.sum_ns() as f64 / 3.6e12;
        assert!((mean_ns / 1.8e12 - 1.0).abs() < 1e-9, "{mean_ns}");
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
