//! One stream of chunks, as its sender and its receiver see it.
//!
//! The first byte of a chunk says whether it is the last one; the others have no meaning. The receiver leaves out what
//! comes within the lead, while the connection gathers speed, and counts bytes by its own clock, in nanoseconds.

use sys::clock;

use super::frame::Report;
use super::pipe::{Lost, Pipe};

const MORE: u8 = b'm';
const LAST: u8 = b'l';

/// Sends chunks until `until_ns`, then a last one. Returns their number. Fails when the connection is lost.
pub fn send(pipe: &Pipe<'_>, chunk: &mut [u8], until_ns: u64) -> Result<u64, Lost> {
    let mut sent = 0;
    loop {
        let is_last = clock::now_ns() >= until_ns;
        if let Some(first) = chunk.first_mut() {
            *first = if is_last { LAST } else { MORE };
        }
        pipe.send_all(chunk)?;
        sent += 1;
        if is_last {
            return Ok(sent);
        }
    }
}

/// The bytes that a receiver counted between two moments of this machine's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Bytes after `from_ns`; the piece that came at `from_ns` is not included.
    pub bytes: u64,
    pub from_ns: u64,
    pub to_ns: u64,
    pub chunks: u64,
}

/// Receives until the last chunk. Fails when the connection is lost.
pub fn receive(pipe: &Pipe<'_>, chunk: &mut [u8], lead_ns: u64) -> Result<Counted, Lost> {
    let mut counted = Counted::default();
    let mut begin_ns = None;
    loop {
        let mut got = 0;
        while let Some(rest) = chunk.get_mut(got..).filter(|rest| !rest.is_empty()) {
            let piece = match pipe.recv(rest)? {
                0 => return Err(Lost::Ended),
                piece => piece,
            };
            let now_ns = clock::now_ns();
            let counts_from = *begin_ns.get_or_insert(now_ns) + lead_ns;
            if counted.from_ns > 0 {
                counted.bytes += piece as u64;
                counted.to_ns = now_ns;
            } else if now_ns >= counts_from {
                (counted.from_ns, counted.to_ns) = (now_ns, now_ns);
            }
            got += piece;
        }
        counted.chunks += 1;
        if chunk.first() == Some(&LAST) {
            return Ok(counted);
        }
    }
}

/// All streams of one direction together: their bytes, from the earliest start to the latest end.
pub fn together(all: &[Counted]) -> Report {
    let counted = || all.iter().filter(|one| one.from_ns > 0);
    let from = counted().map(|one| one.from_ns).min().unwrap_or(0);
    let to = counted().map(|one| one.to_ns).max().unwrap_or(0);
    Report {
        messages: all.iter().map(|one| one.chunks).sum(),
        bytes: counted().map(|one| one.bytes).sum(),
        span_ns: to.saturating_sub(from),
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;
    use std::time::Duration;

    use super::*;
    use crate::bench::net::frame::Wait;

    #[test]
    fn every_chunk_arrives_and_the_lead_is_left_out() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        let receiver = std::thread::spawn(move || {
            let pipe = Pipe::new(far.as_fd(), Wait::Block, Duration::from_secs(5)).unwrap();
            let all = receive(&pipe, &mut [0; 1000], 0).unwrap();
            (all, receive(&pipe, &mut [0; 1000], u64::MAX / 2).unwrap())
        });
        let pipe = Pipe::new(near.as_fd(), Wait::Block, Duration::from_secs(5)).unwrap();
        let sent = send(&pipe, &mut [0; 1000], clock::now_ns() + 20_000_000).unwrap();
        assert_eq!(send(&pipe, &mut [0; 1000], 0), Ok(1));
        let (all, led) = receiver.join().unwrap();
        assert!(sent > 1 && all.chunks == sent, "{sent} {all:?}");
        // The first piece is not counted: it came before the window began.
        assert!((1..=1000).contains(&(sent * 1000 - all.bytes)), "{sent} {all:?}");
        assert!(all.to_ns > all.from_ns);
        assert_eq!((led.bytes, led.from_ns, led.chunks), (0, 0, 1));
    }

    #[test]
    fn a_window_spans_all_streams() {
        let one = |bytes, from_ns, to_ns| Counted { bytes, from_ns, to_ns, chunks: 1 };
        let report = together(&[one(100, 10, 20), one(50, 5, 15), one(0, 0, 0)]);
        assert_eq!(report, Report { messages: 3, bytes: 150, span_ns: 15 });
        assert_eq!(together(&[]), Report::default());
    }
}
