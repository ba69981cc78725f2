//! The connections of one thread, and the order in which their requests began.

use std::os::fd::OwnedFd;

use crate::load::recorder::Times;

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is none.
    Closed,
    /// TCP or TLS is being set up, for a request or ahead of one.
    Connecting,
    Idle,
    /// A part of the request is not sent yet.
    Sending,
    Waiting,
    /// Answered; the server is to close first, so that its port and not ours is held for a while.
    Lingering,
}

/// A connection's place: what stands there changes with each reconnect.
#[derive(Debug)]
pub struct Slot<R, W> {
    pub fd: Option<OwnedFd>,
    pub wire: Option<W>,
    pub state: State,
    /// Raised at each connect, so that events of a former connection are known.
    pub generation: u32,
    /// Whether a request is in flight.
    pub busy: bool,
    pub which: u32,
    pub sent: usize,
    pub times: Times,
    pub connecting_ns: u64,
    pub reply: R,
}

impl<R: Default, W> Default for Slot<R, W> {
    fn default() -> Slot<R, W> {
        Slot {
            fd: None,
            wire: None,
            state: State::Closed,
            generation: 0,
            busy: false,
            which: 0,
            sent: 0,
            times: Times::default(),
            connecting_ns: 0,
            reply: R::default(),
        }
    }
}

const NONE: u32 = u32::MAX;

/// Requests in flight by their start: all have the same time limit, so the first is the next to reach it.
#[derive(Debug)]
pub struct Order {
    links: Box<[(u32, u32)]>,
    first: u32,
    last: u32,
    len: usize,
}

impl Order {
    pub fn new(slots: usize) -> Order {
        Order { links: vec![(NONE, NONE); slots].into_boxed_slice(), first: NONE, last: NONE, len: 0 }
    }

    pub fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a slot that is not in it, as the latest.
    #[inline]
    pub fn push(&mut self, slot: u32) {
        self.links[slot as usize] = (self.last, NONE);
        if self.last == NONE {
            self.first = slot;
        } else {
            self.links[self.last as usize].1 = slot;
        }
        self.last = slot;
        self.len += 1;
    }

    /// Takes out a slot that is in it.
    #[inline]
    pub fn remove(&mut self, slot: u32) {
        let (before, after) = self.links[slot as usize];
        if before == NONE {
            self.first = after;
        } else {
            self.links[before as usize].1 = after;
        }
        if after == NONE {
            self.last = before;
        } else {
            self.links[after as usize].0 = before;
        }
        self.len -= 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_order_is_that_of_a_list(slots in proptest::collection::vec(0u32..12, 0..200)) {
            let mut order = Order::new(12);
            let mut list: Vec<u32> = Vec::new();
            for slot in slots {
                if let Some(at) = list.iter().position(|&one| one == slot) {
                    list.remove(at);
                    order.remove(slot);
                } else {
                    list.push(slot);
                    order.push(slot);
                }
                prop_assert_eq!(order.len(), list.len());
                prop_assert_eq!(order.first(), list.first().copied());
            }
            for slot in list {
                prop_assert_eq!(order.first(), Some(slot));
                order.remove(slot);
            }
            prop_assert_eq!(order.first(), None);
        }
    }
}
