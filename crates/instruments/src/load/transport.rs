//! How bytes travel on a connection: plainly, or under TLS (`tls.rs`). Non-blocking throughout.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

use super::failure::Failure;

/// What a read gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    Bytes(usize),
    /// Nothing there yet.
    Blocked,
    /// The other side will send no more.
    Ended,
}

pub trait Transport: Sized {
    /// What all connections share.
    type Shared: Sync;
    /// Whether bytes can wait inside, where no poll sees them: reading goes on until `Blocked`.
    const BUFFERS: bool;

    fn new(shared: &Self::Shared) -> Result<Self, Failure>;
    /// Goes on with the handshake; true when requests may be sent.
    fn advance(&mut self, fd: BorrowedFd<'_>) -> Result<bool, Failure>;
    /// Whether bytes are held back until the socket takes more.
    fn is_blocked(&self) -> bool;
    /// Sends the first bytes of these, and says how many; none when blocked.
    fn send(&mut self, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Failure>;
    fn recv(&mut self, fd: BorrowedFd<'_>, into: &mut [u8]) -> Result<Got, Failure>;
}

/// The kind of a failed call on a connection that stood.
pub(super) fn kind(error: Errno) -> Failure {
    match error {
        Errno::TIMEDOUT => Failure::Timeout,
        _ => Failure::Reset,
    }
}

pub(super) fn send(fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Failure> {
    loop {
        match rustix::net::send(fd, bytes, SendFlags::NOSIGNAL) {
            Ok(sent) => return Ok(sent),
            Err(Errno::AGAIN) => return Ok(0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(kind(error)),
        }
    }
}

pub(super) fn recv(fd: BorrowedFd<'_>, into: &mut [u8]) -> Result<Got, Failure> {
    loop {
        match rustix::net::recv(fd, &mut *into, RecvFlags::empty()) {
            Ok((0, _)) => return Ok(Got::Ended),
            Ok((bytes, _)) => return Ok(Got::Bytes(bytes)),
            Err(Errno::AGAIN) => return Ok(Got::Blocked),
            Err(Errno::INTR) => {}
            Err(error) => return Err(kind(error)),
        }
    }
}

/// TCP as it is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Transport for Plain {
    type Shared = ();
    const BUFFERS: bool = false;

    fn new(_shared: &()) -> Result<Plain, Failure> {
        Ok(Plain)
    }

    fn advance(&mut self, _fd: BorrowedFd<'_>) -> Result<bool, Failure> {
        Ok(true)
    }

    fn is_blocked(&self) -> bool {
        false
    }

    #[inline]
    fn send(&mut self, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Failure> {
        send(fd, bytes)
    }

    #[inline]
    fn recv(&mut self, fd: BorrowedFd<'_>, into: &mut [u8]) -> Result<Got, Failure> {
        recv(fd, into)
    }
}
