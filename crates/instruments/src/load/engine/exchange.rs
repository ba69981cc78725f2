//! One connection: connecting, sending a request, reading its answer, and what becomes of it then.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, EventFlags};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, SocketFlags, SocketType, sockopt};

use super::lane::{LINGER_NS, Lane, REST_NS};
use super::slots::{Slot, State};
use super::source::Due;
use crate::load::connection::{Protocol, Step};
use crate::load::failure::Failure;
use crate::load::recorder::Times;
use crate::load::wire::{Got, Wire};
use sys::clock;

/// What reading gave.
enum Read {
    Pending,
    /// The answer is complete; whether the server has ended the connection too.
    Done {
        ended: bool,
    },
    Failed(Failure),
}

/// How often a wire that holds bytes back is asked before others have their turn.
const ROUNDS: u32 = 16;
const ENDED: EventFlags = EventFlags::RDHUP.union(EventFlags::HUP).union(EventFlags::ERR);

impl<P: Protocol, W: Wire> Lane<'_, P, W> {
    /// Begins a request on a connection that is free; it could have been sent from `ready_ns` on, were it due.
    pub(super) fn start(&mut self, index: u32, due: Due, ready_ns: u64) {
        self.spin(false);
        // A closed loop sends on the answer before: the clock that timed that one times this one.
        let started_ns = if due.intended_ns.is_none() && ready_ns > 0 { ready_ns } else { clock::now_ns() };
        let slot = &mut self.slots[index as usize];
        let intended_ns = due.intended_ns.unwrap_or(started_ns);
        slot.times = Times { intended_ns, started_ns, ended_ns: 0 };
        slot.which = due.which;
        slot.sent = 0;
        slot.busy = true;
        self.protocol.begin(&mut slot.reply, due.which);
        if due.intended_ns.is_some() {
            self.record.late.record(started_ns.saturating_sub(intended_ns.max(ready_ns)));
            if ready_ns > intended_ns {
                self.record.waited.record(ready_ns - intended_ns);
            }
        }
        self.record.start(started_ns);
        self.order.push(index);
        match slot.state {
            State::Idle => self.send(index),
            _ => self.connect(index),
        }
    }

    /// The connection is free: the next request, or the end of the queue of free ones.
    pub(super) fn release(&mut self, index: u32, now_ns: u64) {
        let due = if self.may_send(now_ns) { self.source.take(now_ns) } else { None };
        match due {
            Some(due) => self.start(index, due, now_ns),
            None => self.free.push_back(index),
        }
    }

    pub(super) fn close(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        // Closing takes it out of the epoll.
        slot.fd = None;
        slot.wire = None;
        slot.state = State::Closed;
    }

    /// The request in flight, or the connecting ahead of one, has failed.
    pub(super) fn fail(&mut self, index: u32, kind: Failure) {
        self.close(index);
        let slot = &mut self.slots[index as usize];
        if !slot.busy {
            return;
        }
        slot.busy = false;
        let ended_ns = clock::now_ns();
        let times = Times { ended_ns, ..slot.times };
        self.order.remove(index);
        self.record.failed(times, kind);
        // A closed loop would otherwise do nothing but fail to connect.
        if kind == Failure::Connect && self.source.is_closed() {
            self.resting.push_back((ended_ns + REST_NS, index));
        } else {
            self.failed.push_back(index);
        }
    }

    /// Opens a connection, and goes on as far as that is possible at once.
    pub(super) fn connect(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.generation = slot.generation.wrapping_add(1);
        slot.connecting_ns = if slot.busy { slot.times.started_ns } else { clock::now_ns() };
        let opened = W::new(self.wires).and_then(|wire| {
            let (fd, stands) = open(&self.rules.address).map_err(|_refused| Failure::Connect)?;
            Ok((wire, fd, stands))
        });
        let (wire, fd, stands) = match opened {
            Ok(opened) => opened,
            Err(kind) => return self.fail(index, kind),
        };
        let flags = if stands && !W::BUFFERS { EventFlags::empty() } else { EventFlags::OUT };
        let data = Self::interest(index, slot.generation);
        let added = epoll::add(&self.epoll, &fd, data, flags | EventFlags::IN | EventFlags::RDHUP);
        slot.wire = Some(wire);
        slot.fd = Some(fd);
        slot.state = State::Connecting;
        match added {
            Err(_no_memory) => self.fail(index, Failure::Connect),
            Ok(()) if stands && !W::BUFFERS => self.connected(index),
            Ok(()) => {}
        }
    }

    /// The connection stands.
    fn connected(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        slot.state = State::Idle;
        self.record.connect.record(clock::now_ns().saturating_sub(slot.connecting_ns));
        if slot.busy {
            self.send(index);
        }
    }

    fn advance(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        let Some((fd, wire)) = parts(slot) else { return };
        if sockopt::socket_error(fd).map_or(true, |error| error.is_err()) {
            return self.fail(index, Failure::Connect);
        }
        match wire.advance(fd) {
            Err(kind) => self.fail(index, kind),
            Ok(true) => {
                self.watch(index, false);
                self.connected(index);
            }
            Ok(false) => {
                let is_blocked = wire.is_blocked();
                self.watch(index, is_blocked);
            }
        }
    }

    /// Asks to be told when the socket takes more, or no longer.
    fn watch(&mut self, index: u32, writes: bool) {
        let slot = &mut self.slots[index as usize];
        let Some(fd) = slot.fd.as_ref() else { return };
        let flags = if writes { EventFlags::OUT } else { EventFlags::empty() };
        let data = Self::interest(index, slot.generation);
        if epoll::modify(&self.epoll, fd, data, flags | EventFlags::IN | EventFlags::RDHUP).is_err() {
            self.fail(index, Failure::Connect);
        }
    }

    /// Sends the request, or what is left of it.
    fn send(&mut self, index: u32) {
        let slot = &mut self.slots[index as usize];
        let was_sending = slot.state == State::Sending;
        let request = self.protocol.request(&slot.reply, slot.which);
        let rest = request.get(slot.sent..).unwrap_or_default();
        let left = rest.len();
        let sent = match (slot.fd.as_ref(), slot.wire.as_mut()) {
            (Some(fd), Some(wire)) => wire.send(fd.as_fd(), rest).map(|sent| (sent, wire.is_blocked())),
            _ => Err(Failure::Reset),
        };
        match sent {
            Err(kind) => self.fail(index, kind),
            Ok((sent, is_blocked)) => {
                slot.sent += sent;
                self.record.sent_bytes += sent as u64;
                let is_whole = sent == left && !is_blocked;
                slot.state = if is_whole { State::Waiting } else { State::Sending };
                if was_sending == is_whole {
                    self.watch(index, !is_whole);
                }
            }
        }
    }

    /// Acts on what the poll tells of a connection.
    #[inline]
    pub(super) fn handle(&mut self, index: u32, generation: u32, flags: EventFlags) {
        let Some(slot) = self.slots.get(index as usize).filter(|slot| slot.generation == generation) else {
            return;
        };
        match slot.state {
            State::Closed => {}
            State::Connecting => self.advance(index),
            State::Waiting => self.receive(index, flags),
            State::Sending => {
                if flags.intersects(EventFlags::IN | ENDED) {
                    self.receive(index, flags);
                }
                let slot = &self.slots[index as usize];
                if slot.state == State::Sending
                    && slot.generation == generation
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
            Read::Done { ended } => self.complete(index, ended),
            Read::Failed(kind) => self.fail(index, kind),
        }
    }

    fn read_answer(&mut self, index: u32, buffer: &mut [u8], hung_up: bool) -> Read {
        let slot = &mut self.slots[index as usize];
        let mut round = 0;
        loop {
            round += 1;
            let Slot { fd: Some(fd), wire: Some(wire), reply, .. } = slot else {
                return Read::Failed(Failure::Reset);
            };
            let got = match wire.recv(fd.as_fd(), buffer) {
                Ok(Got::Bytes(got)) => got,
                Ok(Got::Blocked) => return Read::Pending,
                Ok(Got::Ended) => {
                    let end = self.protocol.end(reply);
                    return end.map_or_else(Read::Failed, |()| Read::Done { ended: true });
                }
                Err(kind) => return Read::Failed(kind),
            };
            self.record.received_bytes += got as u64;
            match self.protocol.feed(&mut self.memo, reply, &buffer[..got]) {
                Err(kind) => return Read::Failed(kind),
                Ok(Step::Done { used }) if used < got => return Read::Failed(Failure::BadResponse),
                // A short read has taken all that was there, so that a hang-up leaves only the end to read.
                Ok(Step::Done { .. }) => {
                    return Read::Done { ended: hung_up && !W::BUFFERS && got < buffer.len() };
                }
                // The poll tells again of what is still in the socket, but not of what a wire holds back; after a
                // short read it holds nothing.
                Ok(Step::More) if !W::BUFFERS || round >= ROUNDS && got < buffer.len() => {
                    return Read::Pending;
                }
                Ok(Step::More) => {}
            }
        }
    }

    /// The answer is there.
    fn complete(&mut self, index: u32, ended: bool) {
        let now_ns = clock::now_ns();
        let slot = &mut self.slots[index as usize];
        let answer = self.protocol.judge(&slot.reply, slot.which);
        let times = Times { ended_ns: now_ns, ..slot.times };
        let was_sent = slot.state == State::Waiting;
        slot.busy = false;
        slot.state = State::Idle;
        self.order.remove(index);
        match answer.failure {
            None => {
                self.record.good(times, answer.body_bytes, now_ns <= self.window_end_ns);
                if answer.status >= 300 {
                    self.record.redirects.add(answer.status);
                }
            }
            Some(kind) => {
                self.record.failed(times, kind);
                self.record.statuses.add(answer.status, slot.which);
            }
        }
        if answer.keep && was_sent && !ended {
            return self.release(index, now_ns);
        }
        if ended || !was_sent {
            self.close(index);
            return self.release(index, now_ns);
        }
        slot.state = State::Lingering;
        self.lingering.push_back((now_ns + LINGER_NS, index, slot.generation));
        if W::BUFFERS {
            self.drain(index);
        }
    }

    /// Something happened on a connection without a request in flight: its end, or bytes that nobody asked for.
    fn drain(&mut self, index: u32) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let slot = &mut self.slots[index as usize];
        let got = parts(slot).map_or(Ok(Got::Ended), |(fd, wire)| wire.recv(fd, &mut buffer));
        self.buffer = buffer;
        let lingers = self.slots[index as usize].state == State::Lingering;
        match got {
            Ok(Got::Blocked) => {}
            Ok(Got::Bytes(bytes)) => {
                self.record.received_bytes += bytes as u64;
                self.record.unasked += 1;
                self.leave(index, lingers);
            }
            Ok(Got::Ended) | Err(_) => self.leave(index, lingers),
        }
    }

    /// Closes a connection without a request; one that lingered was not yet among the free ones.
    fn leave(&mut self, index: u32, lingers: bool) {
        self.close(index);
        if lingers {
            self.release(index, clock::now_ns());
        }
    }
}

fn parts<R, W: Wire>(slot: &mut Slot<R, W>) -> Option<(BorrowedFd<'_>, &mut W)> {
    Some((slot.fd.as_ref()?.as_fd(), slot.wire.as_mut()?))
}

/// A socket that connects; true if the connection stands already.
fn open(address: &std::net::SocketAddr) -> Result<(OwnedFd, bool), Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let fd = net::socket_with(family, SocketType::STREAM, flags, None)?;
    sockopt::set_tcp_nodelay(&fd, true)?;
    match net::connect(&fd, address) {
        Ok(()) => Ok((fd, true)),
        Err(Errno::INPROGRESS) => Ok((fd, false)),
        Err(error) => Err(error),
    }
}
