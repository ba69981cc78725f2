//! The state of one connection of an event loop.

use std::os::fd::OwnedFd;

use crate::load::recorder::Times;

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no connection.
    Closed,
    /// TCP or TLS is being set up, for a request or ahead of one.
    Connecting,
    Idle,
    /// Part of the request is not sent yet.
    Sending,
    Waiting,
    /// The answer has come and the server should close first, so that TIME_WAIT holds its port and not ours.
    Lingering,
}

/// One connection of a thread. It keeps its index when it is closed and opened again.
#[derive(Debug)]
pub struct Connection<R, T> {
    pub fd: Option<OwnedFd>,
    pub transport: Option<T>,
    pub state: State,
    /// Incremented at each connect, to tell events of an earlier connection apart.
    pub generation: u32,
    /// True while a request is in flight.
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
