//! Connections on which the store is told who asks (`AUTH`) before the first request, as a handshake is made.
//!
//! No request's time has it: connections are opened ahead, and what it takes is that of connecting.

use std::os::fd::BorrowedFd;

use crate::load::failure::Failure;
use crate::load::transport::{self, Got, Transport};

const TAKEN: &[u8] = b"+OK\r\n";

/// TCP as it is, once the store has taken the greeting.
#[derive(Debug)]
pub struct Greeted {
    /// The rest of the greeting, still to be sent.
    left: Vec<u8>,
    /// Bytes of the answer that came.
    came: usize,
}

impl Transport for Greeted {
    /// The greeting.
    type Shared = Vec<u8>;
    /// No byte waits inside, but a connection that stands is not one that may be used.
    const BUFFERS: bool = true;

    fn new(greeting: &Vec<u8>) -> Result<Greeted, Failure> {
        Ok(Greeted { left: greeting.clone(), came: 0 })
    }

    fn advance(&mut self, fd: BorrowedFd<'_>) -> Result<bool, Failure> {
        while !self.left.is_empty() {
            match transport::send(fd, &self.left)? {
                0 => return Ok(false),
                sent => drop(self.left.drain(..sent)),
            }
        }
        while let Some(wanted) = TAKEN.get(self.came..).filter(|wanted| !wanted.is_empty()) {
            let mut bytes = [0; TAKEN.len()];
            // No more than this is read: what follows belongs to a request.
            let room = bytes.get_mut(..wanted.len()).unwrap_or_default();
            let got = match transport::recv(fd, room)? {
                Got::Bytes { count, .. } => count,
                Got::Blocked => return Ok(false),
                Got::Ended => return Err(Failure::Closed),
            };
            if bytes.get(..got) != wanted.get(..got) {
                let is_error = self.came == 0 && bytes.first() == Some(&b'-');
                return Err(if is_error { Failure::Auth } else { Failure::BadResponse });
            }
            self.came += got;
        }
        Ok(true)
    }

    fn is_blocked(&self) -> bool {
        !self.left.is_empty()
    }

    #[inline]
    fn send(&mut self, fd: BorrowedFd<'_>, bytes: &[u8]) -> Result<usize, Failure> {
        transport::send(fd, bytes)
    }

    #[inline]
    fn recv(&mut self, fd: BorrowedFd<'_>, into: &mut [u8]) -> Result<Got, Failure> {
        transport::recv(fd, into)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    use super::*;

    /// The result of an answer in these pieces, and the bytes that are left in the socket.
    fn answered(pieces: &[&[u8]]) -> (Result<bool, Failure>, Vec<u8>) {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        ours.set_nonblocking(true).unwrap();
        let mut wire = Greeted::new(&b"hello".to_vec()).unwrap();
        let mut came = wire.advance(ours.as_fd());
        assert_eq!((came, wire.is_blocked()), (Ok(false), false));
        let mut greeting = [0; 5];
        theirs.read_exact(&mut greeting).unwrap();
        assert_eq!(&greeting, b"hello");
        for piece in pieces {
            theirs.write_all(piece).unwrap();
            came = wire.advance(ours.as_fd());
        }
        let mut rest = vec![0; 64];
        let left = match wire.recv(ours.as_fd(), &mut rest) {
            Ok(Got::Bytes { count, .. }) => count,
            _ => 0,
        };
        rest.truncate(left);
        (came, rest)
    }

    #[test]
    fn a_greeting_is_answered_before_anything_else() {
        assert_eq!(answered(&[b"+OK\r\n"]), (Ok(true), vec![]));
        assert_eq!(answered(&[b"+", b"OK\r", b"\n$-1\r\n"]), (Ok(true), b"$-1\r\n".to_vec()));
        assert_eq!(answered(&[b"+O"]).0, Ok(false));
        assert_eq!(answered(&[b"-WRONGPASS x\r\n"]).0, Err(Failure::Auth));
        assert_eq!(answered(&[b"+OX\r\n"]).0, Err(Failure::BadResponse));
        assert_eq!(answered(&[b"HTTP/1.1 400"]).0, Err(Failure::BadResponse));
    }
}
