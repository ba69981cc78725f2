//! How bytes travel on a connection: plain TCP here, TLS in `tls.rs`. All calls are non-blocking.

use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::SendFlags;

use super::failure::Failure;

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Got {
    Bytes {
        count: usize,
        /// When the last of them arrived in this host, in nanoseconds of the wall clock. `None`: the kernel did not
        /// say.
        arrived_ns: Option<u64>,
    },
    /// No bytes yet.
    Blocked,
    /// The other side has closed and will send no more.
    Ended,
}

pub trait Transport: Sized {
    /// State that all connections share.
    type Shared: Sync;
    /// True if the transport may hold received bytes that epoll does not see. Then reads go on until `Blocked`.
    const BUFFERS: bool;

    fn new(shared: &Self::Shared) -> Result<Self, Failure>;
    /// Continues the handshake; true when requests may be sent. Fails when the other side refuses or is gone.
    fn advance(&mut self, fd: BorrowedFd<'_>) -> Result<bool, Failure>;
    /// True while bytes to send wait inside for the socket.
    fn is_blocked(&self) -> bool;
    /// Sends a prefix of `bytes` and returns its length; 0 when blocked. Fails when the connection is gone.
    fn send(&mut self, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Failure>;
    fn recv(&mut self, fd: BorrowedFd<'_>, into: &mut [u8]) -> Result<Got, Failure>;
}

/// The failure for an error on an established connection.
pub(super) fn kind(error: Errno) -> Failure {
    match error {
        Errno::TIMEDOUT => Failure::Timeout,
        _ => Failure::Reset,
    }
}

/// Sends a prefix of `bytes` on a plain socket and returns its length; 0 when blocked. Fails when the connection is
/// gone.
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

/// Reads from a plain socket. Fails when the connection is gone.
#[inline]
pub(super) fn recv(fd: BorrowedFd<'_>, into: &mut [u8]) -> Result<Got, Failure> {
    loop {
        match sys::net::recv_stamped(fd, &mut *into) {
            Ok((0, _)) => return Ok(Got::Ended),
            Ok((count, arrived_ns)) => return Ok(Got::Bytes { count, arrived_ns }),
            Err(error) => match Errno::from_io_error(&error) {
                Some(Errno::AGAIN) => return Ok(Got::Blocked),
                Some(Errno::INTR) => {}
                Some(error) => return Err(kind(error)),
                None => return Err(Failure::Reset),
            },
        }
    }
}

/// Plain TCP.
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
