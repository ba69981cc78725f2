//! The thread of the faulty server: it reads requests, holds each for its time, and then does the planted fault.
//!
//! Requests of a connection are handled one after another. Nothing waits for a slow client: an answer that does not
//! fit into the buffers of its connection ends the connection and is not counted as given.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use sys::clock;

use super::account::Account;
use super::{Fault, Faults, RECORD};
use crate::workload::server::builtin::files::Then;
use crate::workload::server::builtin::request;
use crate::workload::server::builtin::serving::raise_open_files;

const LISTENER: u64 = u64::MAX;
const EVENTS: usize = 256;
const CHUNK: usize = 16 << 10;
const BACKLOG: i32 = 4096;
/// Time between two bytes of a bytewise answer.
const BYTE_NS: u64 = 50_000;
/// Time between two parts of an endless head; `PARTS` bounds their number.
const PART_NS: u64 = 100_000;
const PARTS: u64 = 10_000;
/// Time limit for reading the record.
const ASKED: Duration = Duration::from_secs(10);

/// A listening server, on a port that the system chose.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    faults: Faults,
}

impl Server {
    /// Listens on the loopback. Fails when no socket can be opened.
    pub fn bind(faults: Faults) -> Result<Server, String> {
        let failed = |error: std::io::Error| format!("cannot listen on 127.0.0.1: {error}");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        rustix::net::listen(&listener, BACKLOG).map_err(|error| failed(error.into()))?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Server { listener, address, faults })
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until something fails; normally the process that started it ends it.
    pub fn serve(self) -> Result<(), String> {
        raise_open_files()?;
        if let Some(cpu) = self.faults.cpu {
            sys::affinity::set_allowed(&[cpu]).map_err(|error| error.to_string())?;
        }
        let failed = |error: rustix::io::Errno| format!("cannot wait for connections: {error}");
        let queue = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
        epoll::add(&queue, &self.listener, EventData::new_u64(LISTENER), EventFlags::IN).map_err(failed)?;
        let good = good(self.faults.body);
        let mut worker = Worker {
            server: self,
            queue,
            good,
            connections: Vec::new(),
            free: Vec::new(),
            due: BinaryHeap::new(),
            account: Account::default(),
            made: 0,
            busy_ns: 0,
            in_flight: 0,
            since_ns: clock::now_ns(),
        };
        worker.serve()
    }
}

/// A request that was read and is not finished.
#[derive(Clone, Copy, Debug)]
struct Pending {
    arrived_ns: u64,
    fault: Option<Fault>,
    then: Then,
    /// Bytes or parts of its answer that were sent, where it is sent in many.
    sent: u64,
}

#[derive(Debug)]
struct Connection {
    /// Tells it apart from earlier requests in the same slot.
    id: u64,
    stream: TcpStream,
    input: Vec<u8>,
    pending: Option<Pending>,
}

#[derive(Debug)]
struct Worker {
    server: Server,
    queue: std::os::fd::OwnedFd,
    /// The complete good answer.
    good: Vec<u8>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// When something is to be sent, and on which connection.
    due: BinaryHeap<Reverse<(u64, usize, u64)>>,
    account: Account,
    made: u64,
    /// A serial server works on earlier requests until this time.
    busy_ns: u64,
    in_flight: u64,
    since_ns: u64,
}

/// The next step on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The request is finished.
    Over,
    /// More of its answer is due at this time.
    More(u64),
    Gone,
}

fn good(body: u64) -> Vec<u8> {
    let mut answer =
        format!("HTTP/1.1 200 OK\r\nServer: faulty\r\nContent-Length: {body}\r\n\r\n").into_bytes();
    answer.extend((0..body).map(|_| b'x'));
    answer
}

impl Worker {
    fn serve(&mut self) -> Result<(), String> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        // Until the process is killed.
        loop {
            events.clear();
            let timeout = self.timeout();
            match epoll::wait(&self.queue, spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(format!("cannot wait for connections: {error}")),
            }
            self.stand_still();
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    slot => self.read(usize::try_from(slot).unwrap_or(usize::MAX)),
                }
            }
            self.send_due();
        }
    }

    /// Time until something is due; `None`: wait for an event.
    fn timeout(&self) -> Option<Timespec> {
        let Reverse((due_ns, _, _)) = self.due.peek()?;
        let wait_ns = match self.server.faults.spin {
            true => 0,
            false => due_ns.saturating_sub(clock::now_ns()),
        };
        let seconds = i64::try_from(wait_ns / 1_000_000_000).unwrap_or(i64::MAX);
        Some(Timespec { tv_sec: seconds, tv_nsec: (wait_ns % 1_000_000_000) as _ })
    }

    /// Sleeps through a stall that has begun.
    fn stand_still(&mut self) {
        let (stall_ns, period_ns) = (self.server.faults.stall_us * 1000, self.server.faults.period_us * 1000);
        if stall_ns == 0 || self.account.first_ns == 0 {
            return;
        }
        let now_ns = clock::now_ns();
        let into_ns = now_ns.saturating_sub(self.account.first_ns) % period_ns;
        let begin_ns = (period_ns - stall_ns) / 2;
        if (begin_ns..begin_ns + stall_ns).contains(&into_ns) {
            clock::sleep_until(now_ns + (begin_ns + stall_ns - into_ns));
            self.account.stalls += 1;
            self.account.stalled_ns += clock::now_ns().saturating_sub(now_ns);
        }
    }

    fn accept(&mut self) -> Result<(), String> {
        // All that wait, up to a bound, so that those who are connected have their turn.
        for _ in 0..EVENTS {
            let stream = match self.server.listener.accept() {
                Ok((stream, _)) => stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                // The client has left again, or no file is free: the next look tells.
                Err(_) => return Ok(()),
            };
            // A client that has left already is noticed with the first read.
            if stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true)).is_err() {
                continue;
            }
            let slot = self.free.pop().unwrap_or_else(|| {
                self.connections.push(None);
                self.connections.len() - 1
            });
            epoll::add(&self.queue, &stream, EventData::new_u64(slot as u64), EventFlags::IN)
                .map_err(|error| format!("cannot wait for a connection: {error}"))?;
            self.made += 1;
            let connection = Connection { id: self.made, stream, input: Vec::new(), pending: None };
            if let Some(place) = self.connections.get_mut(slot) {
                *place = Some(connection);
            }
        }
        Ok(())
    }

    fn read(&mut self, slot: usize) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        let mut chunk = [0; CHUNK];
        match connection.stream.read(&mut chunk) {
            Ok(count) if count > 0 && connection.input.len() <= 2 * CHUNK => {
                connection.input.extend_from_slice(chunk.get(..count).unwrap_or_default());
                self.take_request(slot);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            _ => self.drop_connection(slot),
        }
    }

    fn drop_connection(&mut self, slot: usize) {
        let Some(place) = self.connections.get_mut(slot) else { return };
        if let Some(connection) = place.take() {
            self.free.push(slot);
            if connection.pending.is_some() {
                self.leave(clock::now_ns());
            }
        }
    }

    fn step(&mut self, now_ns: u64) {
        self.account.area_ns += u128::from(self.in_flight) * u128::from(now_ns.saturating_sub(self.since_ns));
        self.since_ns = self.since_ns.max(now_ns);
    }

    fn leave(&mut self, now_ns: u64) {
        self.step(now_ns);
        self.in_flight = self.in_flight.saturating_sub(1);
        self.account.last_ns = self.account.last_ns.max(now_ns);
    }

    /// Starts the next request of a connection, if it is complete and none is before it.
    fn take_request(&mut self, slot: usize) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        if connection.pending.is_some() {
            return;
        }
        let Some(found) = request::parse(&connection.input) else { return };
        let (whole, then, wants) = (found.head_bytes + found.body_bytes, found.then, found.wants.ok());
        if connection.input.len() < whole {
            return;
        }
        let asks = wants == Some(RECORD.as_bytes());
        connection.input.drain(..whole);
        if asks {
            tell(&connection.stream, &self.account.to_bytes());
            return self.drop_connection(slot);
        }
        let now_ns = clock::now_ns();
        let number = self.account.requests;
        let fault = self.server.faults.fault_at(number);
        let hold_ns = self.server.faults.hold_ns(number);
        let from_ns = if self.server.faults.serial { self.busy_ns.max(now_ns) } else { now_ns };
        self.busy_ns = from_ns + hold_ns;
        connection.pending = Some(Pending { arrived_ns: now_ns, fault, then, sent: 0 });
        let id = connection.id;
        self.account.requests += 1;
        if self.account.first_ns == 0 {
            self.account.first_ns = now_ns;
        }
        self.step(now_ns);
        self.in_flight += 1;
        if fault == Some(Fault::Silent) {
            // It stays in flight until its client has had enough.
            self.account.add(Fault::Silent);
        } else {
            self.due.push(Reverse((from_ns + hold_ns, slot, id)));
        }
    }

    fn send_due(&mut self) {
        while let Some(Reverse((due_ns, slot, id))) = self.due.peek().copied() {
            if due_ns > clock::now_ns() {
                return;
            }
            self.due.pop();
            let place = self.connections.get_mut(slot).and_then(Option::as_mut);
            let Some(connection) = place.filter(|connection| connection.id == id) else { continue };
            match connection.go_on(&self.good, &mut self.account) {
                Next::More(at_ns) => self.due.push(Reverse((at_ns, slot, id))),
                Next::Gone => self.drop_connection(slot),
                Next::Over => {
                    connection.pending = None;
                    self.leave(clock::now_ns());
                    self.take_request(slot);
                }
            }
        }
    }
}

/// Sends the record. A client that does not read it within [`ASKED`] does not get it.
fn tell(mut stream: &TcpStream, record: &[u8]) {
    let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {}\r\n\r\n", record.len());
    let ready = stream.set_nonblocking(false).and_then(|()| stream.set_write_timeout(Some(ASKED)));
    let _told = ready.and_then(|()| stream.write_all(&[head.as_bytes(), record].concat()));
}

impl Connection {
    /// Sends the due part of the answer, and records it.
    fn go_on(&mut self, good: &[u8], account: &mut Account) -> Next {
        let Some(pending) = &mut self.pending else { return Next::Gone };
        let Some(fault) = pending.fault else {
            let (arrived_ns, close) = (pending.arrived_ns, pending.then == Then::Close);
            return self.whole(good, arrived_ns, close, account);
        };
        let part: &[u8] = match fault {
            Fault::Short => good.get(..good.len() - body_of(good).div_ceil(2)).unwrap_or_default(),
            Fault::Half => b"HTTP/1.1 200 OK\r\nContent-Le",
            Fault::Chunks => b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
            Fault::Junk => b"SSH-2.0-OpenSSH_9.2\r\n",
            Fault::Extra => b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd",
            Fault::Missing => b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n",
            Fault::Busy => b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
            Fault::Reset | Fault::Closed | Fault::Silent => b"",
            Fault::Bytewise | Fault::Leaves | Fault::Endless => return self.in_parts(fault, good, account),
        };
        let arrived_ns = pending.arrived_ns;
        let held_ns = since(arrived_ns);
        if !part.is_empty() && !write(&self.stream, part) {
            return Next::Gone;
        }
        account.add(fault);
        account.answer(arrived_ns, held_ns);
        if fault == Fault::Reset {
            // Closing it now sends a reset instead of an end; without that it is an end, which the client tells apart.
            let _set = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
        }
        match fault {
            Fault::Missing | Fault::Busy if pending.then != Then::Close => Next::Over,
            // What is wrong with these shows without an end: the client must end it.
            Fault::Extra | Fault::Chunks | Fault::Junk => Next::Over,
            _ => Next::Gone,
        }
    }

    fn whole(&mut self, good: &[u8], arrived_ns: u64, close: bool, account: &mut Account) -> Next {
        let held_ns = since(arrived_ns);
        if !write(&self.stream, good) {
            return Next::Gone;
        }
        account.good += 1;
        account.answer(arrived_ns, held_ns);
        if close { Next::Gone } else { Next::Over }
    }

    /// Sends answers that go out in several pieces, and good answers with an odd end.
    fn in_parts(&mut self, fault: Fault, good: &[u8], account: &mut Account) -> Next {
        let Some(pending) = &mut self.pending else { return Next::Gone };
        let at = pending.sent;
        pending.sent += 1;
        let (arrived_ns, close) = (pending.arrived_ns, pending.then == Then::Close);
        let held_ns = since(arrived_ns);
        let later = |ns| Next::More(clock::now_ns() + ns);
        match fault {
            Fault::Endless => {
                if at == 0 {
                    account.add(fault);
                    account.answer(arrived_ns, held_ns);
                }
                let first: &[u8] = if at == 0 { b"HTTP/1.1 200 OK\r\n" } else { b"" };
                let more = [first, &b"X-More: and more, and more, and more\r\n".repeat(64)].concat();
                // Its client leaves; one who only listens is left in the end.
                if at < PARTS && write(&self.stream, &more) { later(PART_NS) } else { Next::Gone }
            }
            Fault::Bytewise => {
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                let Some(byte) = good.get(at..=at).filter(|byte| write(&self.stream, byte)) else {
                    return Next::Gone;
                };
                debug_assert_eq!(byte.len(), 1);
                if at + 1 < good.len() {
                    return later(BYTE_NS);
                }
                account.add(fault);
                account.good += 1;
                account.answer(arrived_ns, held_ns);
                if close { Next::Gone } else { Next::Over }
            }
            _ => {
                let before = account.good;
                let _gone_anyway = self.whole(good, arrived_ns, close, account);
                if account.good > before {
                    account.add(fault);
                }
                Next::Gone
            }
        }
    }
}

/// Length of the body of a good answer.
fn body_of(good: &[u8]) -> usize {
    let end = good.windows(4).position(|four| four == b"\r\n\r\n").map_or(good.len(), |at| at + 4);
    good.len() - end
}

/// How long a request has been held. Read before its answer is written: a server that loses its CPU just after has not
/// held it longer.
fn since(arrived_ns: u64) -> u64 {
    clock::now_ns().saturating_sub(arrived_ns)
}

/// True if all bytes were sent.
fn write(mut stream: &TcpStream, bytes: &[u8]) -> bool {
    matches!(stream.write(bytes), Ok(count) if count == bytes.len())
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::ask;
    use super::*;

    fn served(faults: Faults) -> SocketAddr {
        let server = Server::bind(faults).unwrap();
        let address = server.address();
        std::thread::spawn(move || server.serve());
        address
    }

    fn said(address: SocketAddr, request: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut said = Vec::new();
        // A reset ends it too.
        let _end = stream.read_to_end(&mut said);
        String::from_utf8_lossy(&said).into_owned()
    }

    #[test]
    fn each_request_gets_its_turn_and_the_account_adds_up() {
        let kinds = vec![Fault::Short, Fault::Closed, Fault::Half, Fault::Bytewise];
        let address = served(Faults { every: 2, kinds, body: 10, ..Faults::default() });
        const ASK: &str = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
        let got: Vec<String> = (0..7).map(|_| said(address, ASK)).collect();
        assert!(got[0].ends_with("\r\n\r\nxxxxxxxxxx") && got[2] == got[0], "{got:?}");
        assert!(got[1].ends_with("Content-Length: 10\r\n\r\nxxxxx"), "{got:?}");
        assert_eq!(got[3], "");
        let account = ask(address).unwrap();
        assert_eq!((account.requests, account.good), (7, 4));
        let done = [Fault::Short, Fault::Closed, Fault::Half, Fault::Bytewise, Fault::Reset];
        assert_eq!(done.map(|fault| account.count(fault)), [1, 1, 1, 0, 0]);
        assert_eq!((account.held.count(), account.answered.count()), (7, 7));
        assert!(account.last_ns >= account.first_ns && account.first_ns > 0);
    }

    #[test]
    fn answers_are_held_for_their_time_one_after_another_where_asked() {
        let address = served(Faults { delay_us: 30_000, serial: true, ..Faults::default() });
        const ASK: &str = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
        let asking: Vec<_> = (0..3).map(|_| std::thread::spawn(move || said(address, ASK))).collect();
        asking.into_iter().for_each(|thread| assert!(thread.join().unwrap().contains("200 OK")));
        let account = ask(address).unwrap();
        // Three that each take 30 ms and wait for each other cannot be over within 90 ms.
        assert!(account.last_ns - account.first_ns >= 90_000_000, "{account:?}");
        assert!(account.area_ns >= 3 * 30_000_000, "{account:?}");
        assert_eq!(account.held.count(), 3);
    }

    #[test]
    fn a_stall_delays_what_comes_in_it() {
        // The middle half of every 400 ms.
        let address = served(Faults { stall_us: 200_000, period_us: 400_000, ..Faults::default() });
        const ASK: &str = "GET / HTTP/1.1\r\nConnection: close\r\n\r\n";
        let met = (0..200).any(|_| {
            assert!(said(address, ASK).contains("200 OK"));
            std::thread::sleep(Duration::from_millis(50));
            let account = ask(address).unwrap();
            assert_eq!(account.stalls > 0, account.stalled_ns > 0, "{account:?}");
            account.stalls > 0
        });
        assert!(met);
    }
}
