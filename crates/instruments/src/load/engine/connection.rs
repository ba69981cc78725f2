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
pub struct Connection<R, T> {
    pub fd: Option<OwnedFd>,
    pub transport: Option<T>,
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

impl<R: Default, T> Default for Connection<R, T> {
    fn default() -> Connection<R, T> {
        Connection {
            fd: None,
            transport: None,
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
