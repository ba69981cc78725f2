//! The faulty server's record of itself: counts, times and requests in flight.
//!
//! Times are nanoseconds of the monotonic clock. A request is in flight from when it was read until its answer was
//! written. `held` ends just before the last byte of its answer leaves, `answered` just after: no client can have
//! waited less than `held`, and a client that waited more than `answered` waited elsewhere.

use model::Histogram;
use serde::{Deserialize, Serialize};
use sys::clock;

use super::Fault;

/// The record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// Requests that were read, without those for the record itself.
    pub requests: u64,
    /// Requests answered well, including slow answers and those before a connection ended.
    pub good: u64,
    done: [u64; Fault::ALL.len()],
    /// How long each answered request was held, without writing the answer.
    pub held: Histogram,
    /// The same, with writing the answer.
    pub answered: Histogram,
    /// Requests times nanoseconds in flight. Requests without an answer count until their client leaves.
    pub area_ns: u128,
    /// When the first request was read; `last_ns` is when the last answer was written.
    pub first_ns: u64,
    pub last_ns: u64,
    /// Number of stalls, and their total time.
    pub stalls: u64,
    pub stalled_ns: u64,
}

impl Account {
    /// How often this fault was done.
    pub fn count(&self, fault: Fault) -> u64 {
        self.done[fault as usize]
    }

    pub fn add(&mut self, fault: Fault) {
        self.done[fault as usize] += 1;
    }

    /// Records an answer that was just written, to a request that came at `arrived_ns` and was held for `held_ns`.
    pub fn answer(&mut self, arrived_ns: u64, held_ns: u64) {
        self.held.record(held_ns);
        self.answered.record(clock::now_ns().saturating_sub(arrived_ns));
    }

    /// Requests that a client must have counted as failed in this way.
    pub fn failed(&self, kind: &str) -> u64 {
        let same = |fault: &Fault| fault.counts_as() == Some(kind);
        Fault::ALL.into_iter().filter(same).map(|fault| self.count(fault)).sum()
    }

    /// Mean requests in flight from the first request to the last answer; `None` when no time passed.
    pub fn in_flight(&self) -> Option<f64> {
        let span = self.last_ns.saturating_sub(self.first_ns);
        (span > 0).then(|| self.area_ns as f64 / span as f64)
    }

    /// The record as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Nothing in it has a form that cannot be written.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    /// Parses [`Account::to_bytes`]; `None` if something is missing or malformed.
    pub fn parse(bytes: &[u8]) -> Option<Account> {
        postcard::from_bytes(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn accounts_are_told_and_understood(
            numbers in proptest::collection::vec(any::<u64>(), 6 + Fault::ALL.len()),
            area: u128,
            held in proptest::collection::vec(1u64..10_000_000_000, 0..50),
        ) {
            let mut account = Account {
                requests: numbers[0], good: numbers[1], area_ns: area, first_ns: numbers[2],
                last_ns: numbers[3], stalls: numbers[4], stalled_ns: numbers[5], ..Account::default()
            };
            held.iter().for_each(|ns| account.held.record(*ns));
            held.iter().for_each(|ns| account.answered.record(ns + 7));
            account.done.copy_from_slice(&numbers[6..]);
            let back = Account::parse(&account.to_bytes()).unwrap();
            prop_assert_eq!(back.to_bytes(), account.to_bytes());
            prop_assert_eq!(back.held.quantile_ns(0.9), account.held.quantile_ns(0.9));
            prop_assert_eq!(back.answered.quantile_ns(0.9), account.answered.quantile_ns(0.9));
        }

        #[test]
        fn any_text_is_read(text in "\\PC*", cut in 0usize..400) {
            let _any = Account::parse(text.as_bytes());
            let whole = Account::default().to_bytes();
            let part = whole.get(..cut.min(whole.len() - 2)).unwrap_or_default();
            prop_assert_eq!(Account::parse(part), None);
        }
    }

    #[test]
    fn kinds_of_one_failure_add_up() {
        let mut account = Account::default();
        for fault in [Fault::Junk, Fault::Extra, Fault::Junk, Fault::Short, Fault::Bytewise] {
            account.add(fault);
        }
        assert_eq!((account.failed("bad_response"), account.failed("short_body")), (3, 1));
        assert_eq!((account.failed("reset"), account.count(Fault::Bytewise)), (0, 1));
        assert_eq!(account.in_flight(), None);
    }
}
