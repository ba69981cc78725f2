//! The life of one request on a connection: connect, send, receive, judge, and release or close the connection.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use super::arrivals::Due;
use super::connection::{Connection, State};
use super::event_loop::{EventLoop, LINGER_NS, REST_NS};
use crate::load::failure::Failure;
use crate::load::protocol::{Protocol, Step};
use crate::load::recorder::Times;
use crate::load::transport::{Got, Transport};
use sys::clock;

/// The result of reading.
enum Read {
    Pending,
    /// The answer is complete. `ended`: the server has closed the connection too.
    Done {
        ended: bool,
        /// The kernel's stamp of the last bytes, of the wall clock.
        arrived_ns: Option<u64>,
    },
    Failed(Failure),
}

/// Reads of one connection in a row, where the transport buffers, before other connections get their turn.
const ROUNDS: u32 = 16;
const ENDED: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);

impl<P: Protocol, T: Transport> EventLoop<'_, P, T> {
    /// Starts a request on a free connection. `ready_ns` is when the connection was free, or 0 if it has waited.
    pub(super) fn start(&mut self, index: u32, due: Due, ready_ns: u64) {
        self.spin(false);
        // A closed loop sends on the answer before: the clock that timed that one times this one.
        let started_ns = if due.intended_ns.is_none() && ready_ns > 0 { ready_ns } else { clock::now_ns() };
        let connection = &mut self.connections[index as usize];
        let intended_ns = due.intended_ns.unwrap_or(started_ns);
        connection.times = Times { intended_ns, started_ns, ended_ns: 0 };
        connection.which = due.which;
        connection.sent = 0;
        connection.busy = true;
        self.protocol.begin(&mut connection.reply, due.which);
        if due.intended_ns.is_some() {
            self.record.late.record(started_ns.saturating_sub(intended_ns.max(ready_ns)));
            if ready_ns > intended_ns {
                self.record.waited.record(ready_ns - intended_ns);
            }
        }
        self.record.start(started_ns);
        self.timeouts.push(index);
        match connection.state {
            State::Idle => self.send(index),
            _ => self.connect(index),
        }
    }

    /// Sends the next due request on a free connection, or puts the connection at the end of the free queue.
    pub(super) fn release(&mut self, index: u32, now_ns: u64) {
        let due = if self.may_send(now_ns) { self.arrivals.take(now_ns) } else { None };
        match due {
            Some(due) => self.start(index, due, now_ns),
            None => self.free.push_back(index),
        }
    }

    pub(super) fn close(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        // Closing takes it out of the epoll.
        connection.fd = None;
        connection.transport = None;
        connection.state = State::Closed;
    }

    /// Records a failed request, or drops a connection that failed while it was opened ahead.
    pub(super) fn fail(&mut self, index: u32, kind: Failure) {
        self.close(index);
        let connection = &mut self.connections[index as usize];
        if !connection.busy {
            return;
        }
        connection.busy = false;
        let ended_ns = clock::now_ns();
        let times = Times { ended_ns, ..connection.times };
        self.timeouts.remove(index);
        self.record.failed(times, ended_ns, kind);
        // A closed loop would otherwise do nothing but fail to connect.
        if kind == Failure::Connect && self.arrivals.is_closed() {
            self.resting.push_back((ended_ns + REST_NS, index));
        } else {
            self.failed.push_back(index);
        }
    }

    /// Opens a connection and goes as far as possible without waiting.
    pub(super) fn connect(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        connection.generation = connection.generation.wrapping_add(1);
        connection.connecting_ns =
            if connection.busy { connection.times.started_ns } else { clock::now_ns() };
        let opened = T::new(self.shared).and_then(|transport| {
            let (fd, stands) = open(&self.rules.address).map_err(|_refused| Failure::Connect)?;
            Ok((transport, fd, stands))
        });
        let (transport, fd, stands) = match opened {
            Ok(opened) => opened,
            Err(kind) => return self.fail(index, kind),
        };
        let flags = if stands && !T::BUFFERS { EventFlags::empty() } else { EventFlags::OUT };
        let data = Self::interest(index, connection.generation);
        let added = epoll::add(&self.epoll, &fd, data, flags | EventFlags::IN | EventFlags::RDHUP);
        connection.transport = Some(transport);
        connection.fd = Some(fd);
        connection.state = State::Connecting;
        match added {
            Err(_no_memory) => self.fail(index, Failure::Connect),
            Ok(()) if stands && !T::BUFFERS => self.connected(index),
            Ok(()) => {}
        }
    }

    /// The connection is ready for requests.
    fn connected(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        connection.state = State::Idle;
        self.record.connect.record(clock::now_ns().saturating_sub(connection.connecting_ns));
        if connection.busy {
            self.send(index);
        }
    }

    fn advance(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        let Some((fd, transport)) = parts(connection) else { return };
        if sockopt::socket_error(fd).map_or(true, |error| error.is_err()) {
            return self.fail(index, Failure::Connect);
        }
        match transport.advance(fd) {
            Err(kind) => self.fail(index, kind),
            Ok(true) => {
                self.watch(index, false);
                self.connected(index);
            }
            Ok(false) => {
                let is_blocked = transport.is_blocked();
                self.watch(index, is_blocked);
            }
        }
    }

    /// Starts or stops watching for the socket to take more bytes.
    fn watch(&mut self, index: u32, writes: bool) {
        let connection = &mut self.connections[index as usize];
        let Some(fd) = connection.fd.as_ref() else { return };
        let flags = if writes { EventFlags::OUT } else { EventFlags::empty() };
        let data = Self::interest(index, connection.generation);
        if epoll::modify(&self.epoll, fd, data, flags | EventFlags::IN | EventFlags::RDHUP).is_err() {
            self.fail(index, Failure::Connect);
        }
    }

    /// Sends the request, or the rest of it.
    fn send(&mut self, index: u32) {
        let connection = &mut self.connections[index as usize];
        let was_sending = connection.state == State::Sending;
        let request = self.protocol.request(&connection.reply, connection.which);
        let rest = request.get(connection.sent..).unwrap_or_default();
        let left = rest.len();
        let sent = match (connection.fd.as_ref(), connection.transport.as_mut()) {
            (Some(fd), Some(transport)) => {
                transport.send(fd.as_fd(), rest).map(|sent| (sent, transport.is_blocked()))
            }
            _ => Err(Failure::Reset),
        };
        match sent {
            Err(kind) => self.fail(index, kind),
            Ok((sent, is_blocked)) => {
                connection.sent += sent;
                self.record.sent_bytes += sent as u64;
                let is_whole = sent == left && !is_blocked;
                connection.state = if is_whole { State::Waiting } else { State::Sending };
                if was_sending == is_whole {
                    self.watch(index, !is_whole);
                }
            }
        }
    }

    /// Handles an epoll event of a connection.
    #[inline]
    pub(super) fn handle(&mut self, index: u32, generation: u32, flags: EventFlags) {
        let Some(connection) =
            self.connections.get(index as usize).filter(|connection| connection.generation == generation)
        else {
            return;
        };
        match connection.state {
            State::Closed => {}
            State::Connecting => self.advance(index),
            State::Waiting => self.receive(index, flags),
            State::Sending => {
                if flags.intersects(EventFlags::IN | ENDED) {
                    self.receive(index, flags);
                }
                let connection = &self.connections[index as usize];
                if connection.state == State::Sending
                    && connection.generation == generation
                    && flags.contains(EventFlags::OUT)
                {
                    self.send(index);
                }
            }
            State::Idle | State::Lingering => self.drain(index),
        }
    }

    fn receive(&mut self, index: u32, flags: EventFlags) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let read = self.read_answer(index, &mut buffer, flags.intersects(ENDED));
        self.buffer = buffer;
        match read {
            Read::Pending => {}
            Read::Done { ended, arrived_ns } => self.complete(index, ended, arrived_ns),
            Read::Failed(kind) => self.fail(index, kind),
        }
    }

    fn read_answer(&mut self, index: u32, buffer: &mut [u8], hung_up: bool) -> Read {
        let connection = &mut self.connections[index as usize];
        let mut round = 0;
        loop {
            round += 1;
            let Connection { fd: Some(fd), transport: Some(transport), reply, .. } = connection else {
                return Read::Failed(Failure::Reset);
            };
            let (got, arrived_ns) = match transport.recv(fd.as_fd(), buffer) {
                Ok(Got::Bytes { count, arrived_ns }) => (count, arrived_ns),
                Ok(Got::Blocked) => return Read::Pending,
                Ok(Got::Ended) => {
                    let end = self.protocol.end(reply);
                    return end.map_or_else(Read::Failed, |()| Read::Done { ended: true, arrived_ns: None });
                }
                Err(kind) => return Read::Failed(kind),
            };
            self.record.received_bytes += got as u64;
            match self.protocol.feed(&mut self.memo, reply, &buffer[..got]) {
                Err(kind) => return Read::Failed(kind),
                Ok(Step::Done { used }) if used < got => return Read::Failed(Failure::BadResponse),
                // A short read has taken all that was there, so that a hang-up leaves only the end to read.
                Ok(Step::Done { .. }) => {
                    let ended = hung_up && !T::BUFFERS && got < buffer.len();
                    return Read::Done { ended, arrived_ns };
                }
                // The poll tells again of what is still in the socket, but not of what a transport holds back; after a
                // short read it holds nothing.
                Ok(Step::More) if !T::BUFFERS || round >= ROUNDS && got < buffer.len() => {
                    return Read::Pending;
                }
                Ok(Step::More) => {}
            }
        }
    }

    /// Records a complete answer and decides whether the connection is kept.
    fn complete(&mut self, index: u32, ended: bool, arrived_ns: Option<u64>) {
        let now_ns = clock::now_ns();
        let connection = &mut self.connections[index as usize];
        let answer = self.protocol.judge(&connection.reply, connection.which);
        let arrived_ns = self.receive_clock.arrival_ns(arrived_ns, connection.times.started_ns, now_ns);
        let times = Times { ended_ns: arrived_ns.unwrap_or(now_ns), ..connection.times };
        let was_sent = connection.state == State::Waiting;
        connection.busy = false;
        connection.state = State::Idle;
        self.timeouts.remove(index);
        match answer.failure {
            None => {
                if let Some(arrived_ns) = arrived_ns {
                    self.record.unread.record(now_ns - arrived_ns);
                }
                self.record.good(times, now_ns, answer.body_bytes, times.ended_ns <= self.window_end_ns);
                if answer.status >= 300 {
                    self.record.redirects.add(answer.status);
                }
            }
            Some(kind) => {
                self.record.failed(times, now_ns, kind);
                self.record.statuses.add(answer.status, connection.which);
            }
        }
        if answer.keep && was_sent && !ended {
            return self.release(index, now_ns);
        }
        if ended || !was_sent {
            self.close(index);
            return self.release(index, now_ns);
        }
        connection.state = State::Lingering;
        self.lingering.push_back((now_ns + LINGER_NS, index, connection.generation));
        if T::BUFFERS {
            self.drain(index);
        }
    }

    /// Handles an event on a connection without a request in flight: it was closed, or it sent bytes that nobody asked
    /// for.
    fn drain(&mut self, index: u32) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let connection = &mut self.connections[index as usize];
        let got = parts(connection).map_or(Ok(Got::Ended), |(fd, transport)| transport.recv(fd, &mut buffer));
        self.buffer = buffer;
        let lingers = self.connections[index as usize].state == State::Lingering;
        match got {
            Ok(Got::Blocked) => {}
            Ok(Got::Bytes { count, .. }) => {
                self.record.received_bytes += count as u64;
                self.record.unasked += 1;
                self.leave(index, lingers);
            }
            Ok(Got::Ended) | Err(_) => self.leave(index, lingers),
        }
    }

    /// Closes a connection that has no request. One that lingered was not yet in the free queue.
    fn leave(&mut self, index: u32, lingers: bool) {
        self.close(index);
        if lingers {
            self.release(index, clock::now_ns());
        }
    }
}

fn parts<R, T: Transport>(connection: &mut Connection<R, T>) -> Option<(BorrowedFd<'_>, &mut T)> {
    Some((connection.fd.as_ref()?.as_fd(), connection.transport.as_mut()?))
}

/// A socket that connects; true if it is connected already.
fn open(address: &std::net::SocketAddr) -> Result<(OwnedFd, bool), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    // Without stamps the record has none, and says so.
    let _refused = sys::net::stamp_arrivals(fd.as_fd());
    match net::connect(&fd, address) {
        Ok(()) => Ok((fd, true)),
        Err(Errno::INPROGRESS) => Ok((fd, false)),
        Err(error) => Err(error),
    }
}
