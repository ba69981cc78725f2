//! The requests of one thread in flight, in the order in which they began.
//!
//! All requests of a load have the same time limit, so the first one in the queue is the next to time out. Connections
//! are named by their index. Adding, removing and reading the first take constant time and allocate nothing.

const NONE: u32 = u32::MAX;

/// Indexes of connections with a request in flight, the oldest request first. A doubly linked list in an array.
#[derive(Debug)]
pub struct TimeoutQueue {
    links: Box<[(u32, u32)]>,
    first: u32,
    last: u32,
    len: usize,
}

impl TimeoutQueue {
    pub fn new(connections: usize) -> TimeoutQueue {
        TimeoutQueue {
            links: vec![(NONE, NONE); connections].into_boxed_slice(),
            first: NONE,
            last: NONE,
            len: 0,
        }
    }

    pub fn first(&self) -> Option<u32> {
        (self.first != NONE).then_some(self.first)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// Adds a connection that is not in the queue, at the end.
    #[inline]
    pub fn push(&mut self, connection: u32) {
        self.links[connection as usize] = (self.last, NONE);
        if self.last == NONE {
            self.first = connection;
        } else {
            self.links[self.last as usize].1 = connection;
        }
        self.last = connection;
        self.len += 1;
    }

    /// Removes a connection that is in the queue.
    #[inline]
    pub fn remove(&mut self, connection: u32) {
        let (before, after) = self.links[connection as usize];
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
        fn the_queue_keeps_the_order_of_a_list(toggled in proptest::collection::vec(0u32..12, 0..200)) {
            let mut queue = TimeoutQueue::new(12);
            let mut list: Vec<u32> = Vec::new();
            for connection in toggled {
                if let Some(at) = list.iter().position(|&one| one == connection) {
                    list.remove(at);
                    queue.remove(connection);
                } else {
                    list.push(connection);
                    queue.push(connection);
                }
                prop_assert_eq!(queue.len(), list.len());
                prop_assert_eq!(queue.first(), list.first().copied());
            }
            for connection in list {
                prop_assert_eq!(queue.first(), Some(connection));
                queue.remove(connection);
            }
            prop_assert_eq!(queue.first(), None);
        }
    }
}
