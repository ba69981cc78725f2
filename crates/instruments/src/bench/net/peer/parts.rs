//! The peer's part in each test: it sends messages back, counts what arrives, or sends as fast as it can.
//!
//! Times are nanoseconds of this machine's clock; only differences of them are sent to the asker.

use std::io::Read;
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::time::Duration;

use sys::clock;

use super::Turn;
use crate::bench::net::datagram;
use crate::bench::net::frame::{Frame, Id, MOST_DATAGRAM, MOST_MS, Refusal, Report, Test, Wait, Way, ending};
use crate::bench::net::pipe::{Lost, Pipe};
use crate::bench::net::stream::{self, Counted, together};

/// While waiting for datagrams: time between two looks at the asker's connection.
const LOOK: Duration = Duration::from_millis(100);
/// Datagrams that arrive later than this after the end of sending are not counted.
const LATE: Duration = Duration::from_millis(50);

fn buffer(size: u64) -> Vec<u8> {
    vec![0; usize::try_from(size).unwrap_or(0)]
}

fn go(stream: &mut TcpStream) -> Result<(), String> {
    Frame::Go.write(stream).map_err(|error| error.to_string())
}

/// Sends each message back whole. Fails when the connection is lost.
pub fn echo(
    turn: &Turn<'_>,
    stream: &mut TcpStream,
    size: u64,
    wait: Wait,
    rounds: u64,
) -> Result<Report, String> {
    let mut message = buffer(size);
    let pipe = Pipe::new(stream.as_fd(), wait, turn.patience())?;
    let go = Frame::Go.to_bytes().map_err(|error| error.to_string())?;
    pipe.send_all(&go).map_err(|lost| format!("the asker {lost}"))?;
    for round in 0..rounds {
        let turned = pipe.recv_all(&mut message).and_then(|()| pipe.send_all(&message));
        turned.map_err(|lost| format!("the asker {lost} after {round} of {rounds} messages"))?;
    }
    Ok(Report { messages: rounds, ..Report::default() })
}

/// A socket for the asker's datagrams, on the listener's port.
fn socket(turn: &Turn<'_>, stream: &mut TcpStream) -> Result<UdpSocket, String> {
    let here = stream.local_addr().map_err(|error| error.to_string())?;
    let port = turn.peer.address.port();
    let bound = UdpSocket::bind(SocketAddr::new(here.ip(), port));
    let socket = match bound {
        Ok(socket) => socket,
        Err(error) => {
            let why = format!("cannot use its UDP port {port}: {error}");
            let refused = Frame::Refused(Refusal::Other(why.clone())).write(stream);
            return Err(refused.err().map_or(why, |error| error.to_string()));
        }
    };
    go(stream)?;
    let from: IpAddr = stream.peer_addr().map_err(|error| error.to_string())?.ip();
    datagram::accept(&socket, from, &turn.id)?;
    Ok(socket)
}

/// The number of messages sent, once the asker has said End. Fails when the asker is gone.
fn ended(stream: &mut TcpStream) -> Result<Option<u64>, String> {
    stream.set_nonblocking(true).map_err(|error| error.to_string())?;
    let there = stream.peek(&mut [0]);
    stream.set_nonblocking(false).map_err(|error| error.to_string())?;
    match there {
        Ok(0) => Err("the asker ended".to_owned()),
        Ok(_) => end(stream).map(Some),
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(format!("the asker is gone: {error}")),
    }
}

fn end(stream: &mut TcpStream) -> Result<u64, String> {
    match Frame::read(stream) {
        Ok(Frame::End { sent }) => Ok(sent),
        Ok(_) => Err("the asker sent another frame than End".to_owned()),
        Err(error) => Err(format!("no End from the asker: {error}")),
    }
}

/// Passes every datagram of the asker to `each` until the end.
fn all(
    turn: &Turn<'_>,
    stream: &mut TcpStream,
    pipe: &Pipe<'_>,
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]) -> Result<(), Lost>,
) -> Result<(), String> {
    let last: Id = ending(&turn.id);
    let mut silent = Duration::ZERO;
    loop {
        match pipe.recv(buffer) {
            Ok(count) => {
                silent = Duration::ZERO;
                match buffer.get(..count) {
                    Some(bytes) if bytes == last => return end(stream).map(drop),
                    Some(bytes) => each(bytes).map_err(|lost| format!("the asker {lost}"))?,
                    None => {}
                }
            }
            // Also what the asker's host says of a socket that it closed.
            Err(Lost::Silent | Lost::Ended) => {
                if ended(stream)?.is_some() {
                    return Ok(());
                }
                silent += LOOK;
                if silent > turn.patience() {
                    return Err("the asker fell silent".to_owned());
                }
            }
            Err(lost) => return Err(format!("the asker {lost}")),
        }
    }
}

/// Sends each datagram back. Fails when the asker is gone.
pub fn echo_datagrams(
    turn: &Turn<'_>,
    stream: &mut TcpStream,
    size: u64,
    wait: Wait,
) -> Result<Report, String> {
    let socket = socket(turn, stream)?;
    let pipe = Pipe::new(socket.as_fd(), wait, LOOK)?;
    let mut report = Report::default();
    // Longer datagrams than were agreed upon are cut, and go back so.
    all(turn, stream, &pipe, &mut buffer(size.max(16)), |bytes| {
        report.messages += 1;
        pipe.send(bytes).map(drop)
    })?;
    Ok(report)
}

/// Counts datagrams of this size. Fails when the asker is gone.
pub fn datagrams(turn: &Turn<'_>, stream: &mut TcpStream, size: u64) -> Result<Report, String> {
    let socket = socket(turn, stream)?;
    let pipe = Pipe::new(socket.as_fd(), Wait::Block, LOOK)?;
    let size = usize::try_from(size).unwrap_or(usize::MAX);
    let (mut count, mut from_ns, mut to_ns) = (0u64, 0, 0);
    let mut buffer = buffer(MOST_DATAGRAM);
    let mut counts = |bytes: &[u8]| {
        if bytes == turn.id {
            // The answer to the opening was lost.
            return pipe.send(bytes).map(drop);
        }
        if bytes.len() == size {
            to_ns = clock::now_ns();
            if count == 0 {
                from_ns = to_ns;
            }
            count += 1;
        }
        Ok(())
    };
    all(turn, stream, &pipe, &mut buffer, &mut counts)?;
    // What was under way when the asker said the end.
    let late = Pipe::new(socket.as_fd(), Wait::Block, LATE)?;
    while let Ok(more) = late.recv(&mut buffer) {
        counts(buffer.get(..more).unwrap_or_default()).map_err(|lost: Lost| lost.to_string())?;
    }
    let bytes = count.saturating_sub(1) * size as u64;
    Ok(Report { messages: count, bytes, span_ns: to_ns.saturating_sub(from_ns) })
}

/// Waits for the end of a test of connections; they are answered where they are accepted. Fails when the asker is
/// gone.
pub fn connections(turn: &Turn<'_>, stream: &mut TcpStream) -> Result<Report, String> {
    go(stream)?;
    // It has nothing to say while it makes them.
    let patience = Duration::from_millis(u64::from(MOST_MS)) + turn.patience();
    stream.set_read_timeout(Some(patience)).map_err(|error| error.to_string())?;
    Ok(Report { messages: end(stream)?, ..Report::default() })
}

/// Joined connections by direction, as their first byte says.
struct Joined {
    to_receive: Vec<TcpStream>,
    to_send: Vec<TcpStream>,
}

fn joined(turn: &Turn<'_>, receiving: usize, sending: usize) -> Result<Joined, String> {
    let (mut to_receive, mut to_send) = (Vec::new(), Vec::new());
    while (to_receive.len(), to_send.len()) != (receiving, sending) {
        let joined = turn.joined.recv_timeout(super::GREETING);
        let mut joined = joined.map_err(|_| "not every stream joined in time".to_owned())?;
        let mut direction = [0];
        joined.read_exact(&mut direction).map_err(|error| error.to_string())?;
        match direction[0] {
            b's' if to_receive.len() < receiving => to_receive.push(joined),
            b'r' if to_send.len() < sending => to_send.push(joined),
            _ => return Err("a stream joined without a direction".to_owned()),
        }
    }
    Ok(Joined { to_receive, to_send })
}

/// Receives or sends chunks on joined connections, one thread each. Fails when a connection is lost or does not join.
pub fn bulk(turn: &Turn<'_>, control: &mut TcpStream, test: &Test) -> Result<Report, String> {
    let Test::Bulk { size, streams, way, lead_ms, span_ms } = *test else {
        return Err("no such test".to_owned());
    };
    go(control)?;
    let receiving = if way == Way::Receive { 0 } else { usize::from(streams) };
    let sending = if way == Way::Send { 0 } else { usize::from(streams) };
    let Joined { to_receive, to_send } = joined(turn, receiving, sending)?;
    go(control)?;
    let lead_ns = u64::from(lead_ms) * 1_000_000;
    let span_ns = lead_ns + u64::from(span_ms) * 1_000_000;
    let (peer, patience) = (turn.peer, turn.patience());
    std::thread::scope(|scope| {
        let receivers: Vec<_> = to_receive
            .iter()
            .enumerate()
            .map(|(nth, stream)| {
                scope.spawn(move || -> Result<Counted, String> {
                    let _pinned = peer.pin(nth)?;
                    let pipe = Pipe::new(stream.as_fd(), Wait::Block, patience)?;
                    stream::receive(&pipe, &mut buffer(size), lead_ns)
                        .map_err(|lost| format!("a stream {lost}"))
                })
            })
            .collect();
        let senders: Vec<_> = to_send
            .iter()
            .enumerate()
            .map(|(nth, stream)| {
                scope.spawn(move || -> Result<u64, String> {
                    let _pinned = peer.pin(receiving + nth)?;
                    let pipe = Pipe::new(stream.as_fd(), Wait::Block, patience)?;
                    let until_ns = clock::now_ns() + span_ns;
                    stream::send(&pipe, &mut buffer(size), until_ns)
                        .map_err(|lost| format!("a stream {lost}"))
                })
            })
            .collect();
        let lost = || "a thread of a stream failed".to_owned();
        for sender in senders {
            sender.join().map_err(|_| lost())??;
        }
        let counted: Vec<Counted> = receivers
            .into_iter()
            .map(|receiver| receiver.join().map_err(|_| lost())?)
            .collect::<Result<_, String>>()?;
        Ok(together(&counted))
    })
}
