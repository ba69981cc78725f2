//! Stalls: periods in which requests were in flight and the server answered none of them, not even with an error.
//!
//! Units: nanoseconds on the thread's clock; in an outcome, from the start of the load. Each thread keeps its longest
//! stalls. Merging keeps the periods that all threads share, since a server that answers one thread does not stand
//! still. Not counted: time without a request in flight, timeouts (nobody answered), a silence that lasts to the end
//! (no answer ends it), and time in which the thread itself was kept from its core.

use serde::{Deserialize, Serialize};

/// Shorter stalls are not kept.
const LEAST_NS: u64 = 100_000_000;
/// Stalls that a thread keeps.
const KEPT: usize = 16;
/// One period without an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    pub from_ns: u64,
    pub to_ns: u64,
    /// Requests in flight at its end.
    pub waiting: u64,
}

impl Stall {
    pub const fn long_ns(&self) -> u64 {
        self.to_ns.saturating_sub(self.from_ns)
    }
}

/// The longest stalls of one thread, or those that several threads share.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stalls {
    kept: Vec<Stall>,
    /// Time of the last answer, or of the first request after a time with none in flight.
    since_ns: u64,
    /// When the thread last ran.
    awake_ns: u64,
    /// True once the thread has seen an answer. A thread without any tells nothing about stalls.
    answered: bool,
}

impl Stalls {
    /// The first request after a time with none in flight.
    #[inline]
    pub fn begin(&mut self, at_ns: u64) {
        self.since_ns = at_ns;
    }

    /// The thread runs again after waiting.
    #[inline]
    pub fn awake(&mut self, at_ns: u64) {
        self.awake_ns = at_ns;
    }

    /// An answer came while `waiting` requests were in flight.
    #[inline]
    pub fn answer(&mut self, at_ns: u64, waiting: u64) {
        let from_ns = std::mem::replace(&mut self.since_ns, at_ns);
        self.answered = true;
        if at_ns.saturating_sub(from_ns) >= LEAST_NS {
            self.keep(Stall { from_ns, to_ns: at_ns, waiting });
        }
    }

    #[cold]
    fn keep(&mut self, stall: Stall) {
        // A thread looks up twenty times a second: one that did not for most of it was kept from its core.
        if stall.to_ns.saturating_sub(self.awake_ns) > stall.long_ns() / 2 {
            return;
        }
        if self.kept.len() < KEPT {
            self.kept.push(stall);
        } else if let Some(least) = self.kept.iter_mut().min_by_key(|one| one.long_ns())
            && least.long_ns() < stall.long_ns()
        {
            *least = stall;
        }
    }

    /// The longest stall, if there was one.
    pub fn longest(&self) -> Option<Stall> {
        self.kept.iter().copied().max_by_key(Stall::long_ns)
    }

    /// Keeps the periods that both share. If one side saw no answer, keeps all of the other.
    pub fn merge(&mut self, other: &Stalls) {
        if !other.answered {
            return;
        }
        if !self.answered {
            self.clone_from(other);
            return;
        }
        let both = |a: &Stall, b: &Stall| Stall {
            from_ns: a.from_ns.max(b.from_ns),
            to_ns: a.to_ns.min(b.to_ns),
            waiting: a.waiting + b.waiting,
        };
        let all = self.kept.iter().flat_map(|mine| other.kept.iter().map(move |theirs| both(mine, theirs)));
        let mut kept: Vec<Stall> = all.filter(|stall| stall.long_ns() >= LEAST_NS).collect();
        kept.sort_by_key(|stall| (std::cmp::Reverse(stall.long_ns()), stall.from_ns));
        kept.truncate(KEPT);
        self.kept = kept;
        self.since_ns = self.since_ns.max(other.since_ns);
        self.awake_ns = self.awake_ns.max(other.awake_ns);
    }

    /// Makes all times relative to `start_ns`.
    pub fn count_from(&mut self, start_ns: u64) {
        for stall in &mut self.kept {
            stall.from_ns = stall.from_ns.saturating_sub(start_ns);
            stall.to_ns = stall.to_ns.saturating_sub(start_ns);
        }
        self.since_ns = self.since_ns.saturating_sub(start_ns);
        self.awake_ns = self.awake_ns.saturating_sub(start_ns);
    }

    /// Fails when the stalls are impossible, since an outcome from another process may hold anything.
    pub fn check(&self) -> Result<(), &'static str> {
        let known = |stall: &Stall| stall.from_ns <= stall.to_ns && stall.waiting <= 1 << 50;
        let sound = self.kept.len() <= KEPT && self.kept.iter().all(known);
        sound.then_some(()).ok_or("impossible stalls")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Answers at these times, in ms, of so many in flight; the thread looks up just before each.
    fn seen(answers: &[u64], waiting: u64) -> Stalls {
        let mut stalls = Stalls::default();
        for &at in answers {
            stalls.awake((at * MS).saturating_sub(1));
            stalls.answer(at * MS, waiting);
        }
        stalls
    }

    fn of(stalls: &Stalls) -> Option<(u64, u64, u64)> {
        stalls.longest().map(|stall| (stall.from_ns / MS, stall.to_ns / MS, stall.waiting))
    }

    #[test]
    fn the_longest_is_known_and_short_ones_are_none() {
        assert_eq!(of(&seen(&[1, 50, 149, 240], 3)), None);
        assert_eq!(of(&seen(&[1, 200, 1200, 1350], 3)), Some((200, 1200, 3)));
        let many: Vec<u64> = (1..40).map(|n| n * n * 20).collect();
        let stalls = seen(&many, 1);
        assert_eq!((stalls.kept.len(), of(&stalls)), (KEPT, Some((38 * 38 * 20, 39 * 39 * 20, 1))));
    }

    #[test]
    fn time_without_requests_and_a_thread_that_slept_are_no_stalls() {
        let mut stalls = seen(&[10], 1);
        stalls.begin(900 * MS);
        stalls.awake(910 * MS);
        stalls.answer(920 * MS, 1);
        assert_eq!(of(&stalls), None);
        // It looked up at 920 ms last, and the next answer it saw 600 ms later.
        stalls.awake(920 * MS);
        stalls.answer(1520 * MS, 1);
        assert_eq!(of(&stalls), None);
    }

    #[test]
    fn threads_share_a_stall_or_there_is_none() {
        let whole = |parts: &[Stalls]| {
            let mut all = Stalls::default();
            parts.iter().for_each(|part| all.merge(part));
            all
        };
        let (one, other) = (seen(&[1, 100, 1100], 5), seen(&[1, 120, 400, 1090, 1900], 6));
        assert_eq!(of(&whole(&[one.clone(), other.clone()])), Some((400, 1090, 11)));
        assert_eq!(of(&whole(&[one.clone(), Stalls::default()])), Some((100, 1100, 5)), "it knows nothing");
        assert_eq!(of(&whole(&[one, seen(&(1..1200).collect::<Vec<_>>(), 1)])), None, "it was answered");
        let mut shifted = other;
        shifted.count_from(100 * MS);
        assert_eq!((of(&shifted), shifted.check()), (Some((990, 1800, 6)), Ok(())));
    }
}
