//! How long an answer at most lay ready before its turn to be read came, in nanoseconds of the thread's clock.
//!
//! A poll tells of everything that became ready since the poll before. If it had to sleep, nothing was ready, and its
//! first event is what woke it: that one waited for nothing. Else the events may have lain there since the poll before.
//! The events of one poll then wait for each other. Not counted: how long the kernel takes to wake the thread, the
//! reading of the answer itself, and a preemption inside of a poll that may sleep, which looks like sleep.

/// A poll that may sleep and took no longer than this, and so much more for each event, may not have slept.
const AWAKE_NS: u64 = 4_000;
const EVENT_NS: u64 = 100;

#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    /// When nothing more was ready than the polls had told of by then.
    since_ns: u64,
    /// How long the events of this poll may have been ready when it returned.
    ready_ns: u64,
    /// The end of this poll.
    polled_ns: u64,
    is_first: bool,
}

impl Turns {
    /// A poll lasted from `asked_ns`, of one that cannot sleep `None`, to `polled_ns` and gave so many events, of
    /// `most` at once.
    #[inline]
    pub fn polled(&mut self, asked_ns: Option<u64>, polled_ns: u64, count: usize, most: usize) {
        let awake_ns = AWAKE_NS + EVENT_NS * count as u64;
        let slept_from_ns = asked_ns.filter(|asked_ns| polled_ns.saturating_sub(*asked_ns) > awake_ns);
        // The first poll knows of no other.
        let begun_ns = if self.since_ns == 0 { polled_ns } else { self.since_ns };
        self.ready_ns = if slept_from_ns.is_some() { 0 } else { polled_ns.saturating_sub(begun_ns) };
        self.polled_ns = polled_ns;
        self.is_first = true;
        // A full poll leaves events behind, which have been ready for as long as those that it told of.
        if count < most {
            self.since_ns = polled_ns;
        } else if let Some(asked_ns) = slept_from_ns {
            self.since_ns = asked_ns;
        }
    }

    /// The next event of this poll has its turn.
    #[inline]
    pub fn next(&mut self) {
        self.is_first = false;
    }

    /// How long an answer that is handled at `now_ns` at most waited for its turn.
    #[inline]
    pub fn waited_ns(&self, now_ns: u64) -> u64 {
        let behind_ns = if self.is_first { 0 } else { now_ns.saturating_sub(self.polled_ns) };
        self.ready_ns + behind_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000;

    #[test]
    fn what_woke_the_thread_waited_for_nothing_and_the_others_for_it() {
        let mut turns = Turns::default();
        turns.polled(Some(10 * US), 100 * US, 2, 8);
        assert_eq!(turns.waited_ns(102 * US), 0);
        turns.next();
        assert_eq!(turns.waited_ns(109 * US), 9 * US);
    }

    #[test]
    fn what_came_while_the_thread_was_busy_waited_since_the_poll_before() {
        let mut turns = Turns::default();
        turns.polled(Some(10 * US), 100 * US, 1, 8);
        // It was busy for 70 us; the next poll came back at once.
        turns.polled(Some(170 * US), 171 * US, 1, 8);
        assert_eq!(turns.waited_ns(172 * US), 71 * US);
        // And it slept.
        turns.polled(Some(180 * US), 250 * US, 1, 8);
        assert_eq!(turns.waited_ns(251 * US), 0);
        // A poll that cannot sleep took long all the same.
        turns.polled(None, 300 * US, 1, 8);
        assert_eq!(turns.waited_ns(301 * US), 50 * US);
    }

    #[test]
    fn what_a_full_poll_leaves_behind_waits_on() {
        let mut turns = Turns::default();
        turns.polled(Some(10 * US), 100 * US, 1, 2);
        turns.polled(Some(150 * US), 151 * US, 2, 2);
        turns.polled(Some(160 * US), 161 * US, 1, 2);
        assert_eq!(turns.waited_ns(162 * US), 61 * US, "since the poll that was not full");
    }
}
