//! One end of a connection or datagram socket under test: how it sends, and how it waits for bytes.
//!
//! Nothing is allocated here, and the clock is read only while nothing comes. Times are nanoseconds of `sys::clock`.

use std::os::fd::BorrowedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{RecvFlags, SendFlags, recv, send};

use super::frame::Wait;

/// How long the kernel polls a device for a reader, in microseconds.
const POLLED_US: u32 = 50;
/// Empty polls between two readings of the clock.
const LOOKS: u32 = 256;

/// Why no bytes came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Lost {
    #[error("ended")]
    Ended,
    #[error("fell silent")]
    Silent,
    #[error("failed: {0}")]
    Broken(Errno),
}

impl Lost {
    fn of(error: Errno) -> Lost {
        match error {
            Errno::AGAIN => Lost::Silent,
            Errno::PIPE | Errno::CONNRESET | Errno::CONNREFUSED => Lost::Ended,
            error => Lost::Broken(error),
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Pipe<'a> {
    fd: BorrowedFd<'a>,
    spins: bool,
    patience: Duration,
}

impl<'a> Pipe<'a> {
    /// A pipe that waits in this way, and at most `patience` for the next bytes or for room to send. Fails when the
    /// socket's options cannot be set.
    pub fn new(fd: BorrowedFd<'a>, wait: Wait, patience: Duration) -> Result<Pipe<'a>, String> {
        let set = |side| {
            set_socket_timeout(fd, side, Some(patience))
                .map_err(|error| format!("cannot set a socket's time limit: {error}"))
        };
        set(Timeout::Recv)?;
        set(Timeout::Send)?;
        if wait == Wait::BusyPoll {
            sys::net::busy_poll(fd, POLLED_US).map_err(|error| error.to_string())?;
        }
        Ok(Pipe { fd, spins: wait == Wait::Spin, patience })
    }

    /// A pipe over a socket whose options were set before.
    #[inline]
    pub fn again(fd: BorrowedFd<'a>, wait: Wait, patience: Duration) -> Pipe<'a> {
        Pipe { fd, spins: wait == Wait::Spin, patience }
    }

    /// Sends a prefix of `bytes` and returns its length. Fails when the socket takes nothing in time.
    #[inline]
    pub fn send(&self, bytes: &[u8]) -> Result<usize, Lost> {
        loop {
            match send(self.fd, bytes, SendFlags::NOSIGNAL) {
                Ok(count) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(error) => return Err(Lost::of(error)),
            }
        }
    }

    /// Sends all bytes. Fails when the socket takes nothing in time.
    #[inline]
    pub fn send_all(&self, bytes: &[u8]) -> Result<(), Lost> {
        let mut sent = 0;
        while let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
            sent += self.send(rest)?;
        }
        Ok(())
    }

    /// The next bytes of a connection (0 at its end), or the next datagram. Fails when nothing comes in time.
    #[inline]
    pub fn recv(&self, into: &mut [u8]) -> Result<usize, Lost> {
        let flags = if self.spins { RecvFlags::DONTWAIT } else { RecvFlags::empty() };
        let (mut looks, mut until_ns) = (0u32, 0u64);
        loop {
            match recv(self.fd, &mut *into, flags) {
                Ok((_, count)) => return Ok(count),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.spins => {
                    looks += 1;
                    if looks.is_multiple_of(LOOKS) {
                        let now_ns = sys::clock::now_ns();
                        if until_ns == 0 {
                            let patience = u64::try_from(self.patience.as_nanos()).unwrap_or(u64::MAX);
                            until_ns = now_ns.saturating_add(patience);
                        } else if now_ns >= until_ns {
                            return Err(Lost::Silent);
                        }
                    }
                    std::hint::spin_loop();
                }
                Err(error) => return Err(Lost::of(error)),
            }
        }
    }

    /// Fills the whole buffer from a connection. Fails when it ends before, or nothing comes in time.
    #[inline]
    pub fn recv_all(&self, into: &mut [u8]) -> Result<(), Lost> {
        let mut got = 0;
        while let Some(rest) = into.get_mut(got..).filter(|rest| !rest.is_empty()) {
            match self.recv(rest)? {
                0 => return Err(Lost::Ended),
                count => got += count,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    #[test]
    fn bytes_go_over_and_silence_and_ends_are_told_apart() {
        for wait in [Wait::Block, Wait::Spin] {
            let (near, far) = pair();
            let near_end = Pipe::new(near.as_fd(), wait, Duration::from_millis(30)).unwrap();
            let far_end = Pipe::new(far.as_fd(), wait, Duration::from_millis(30)).unwrap();
            near_end.send_all(b"hello").unwrap();
            let mut got = [0; 5];
            far_end.recv_all(&mut got).unwrap();
            assert_eq!(&got, b"hello");
            assert_eq!(far_end.recv_all(&mut got), Err(Lost::Silent), "{wait:?}");
            drop(near);
            assert_eq!(far_end.recv_all(&mut got), Err(Lost::Ended), "{wait:?}");
        }
    }
}
