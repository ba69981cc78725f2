//! The threads of the built-in server: each has its own event queue and accepts new connections.
//!
//! A connection is read once per event, its requests are answered, and it waits again. A slow reader waits in the
//! queue and never blocks a thread. There is no timeout: the process that started the server ends it.

use std::io::{ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::ServeOrder;
use super::files::{Body, Files, Then};
use super::request;

/// Files that the server needs beside those of its connections.
pub const SPARE_FILES: u64 = 64;
const LISTENER: u64 = u64::MAX;
const EVENTS: usize = 512;
/// Bytes read at once from a connection, or from a file for one.
const CHUNK: usize = 64 << 10;
/// After this many answers to one connection the others get their turn.
const TURN: usize = 64;
/// How long a new connection waits for a free file descriptor.
const FULL: Duration = Duration::from_millis(10);

/// Serves `files` until something fails.
pub fn run(order: &ServeOrder, files: Files) -> Result<(), String> {
    raise_open_files()?;
    let failed = |error: std::io::Error| format!("cannot listen on {}: {error}", order.address);
    let listener = TcpListener::bind(order.address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    rustix::net::listen(&listener, order.backlog).map_err(|error| failed(error.into()))?;
    let shared = Arc::new((listener, files));
    let cpus = sys::affinity::allowed().map_err(|error| error.to_string())?;
    let (say, said) = channel();
    for number in 0..order.threads {
        let (shared, say, sendfile) = (Arc::clone(&shared), say.clone(), order.sendfile);
        // More threads than CPUs are left to the kernel.
        let cpu = cpus.get(number).copied().filter(|_| order.threads <= cpus.len());
        let body = move || {
            let ended =
                Worker::start(&shared.0, &shared.1, cpu, sendfile).and_then(|mut worker| worker.serve());
            // Nobody hears it when another thread failed first.
            let _heard = say.send(ended);
        };
        let named = std::thread::Builder::new().name(format!("builtin-{number}"));
        named.spawn(body).map_err(|error| format!("cannot start a thread: {error}"))?;
    }
    drop(say);
    said.recv().map_err(|error| error.to_string())?
}

/// Raises the limit of open files to the highest that this process may have. Fails when the kernel refuses.
pub fn raise_open_files() -> Result<(), String> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    setrlimit(Resource::Nofile, raised)
        .map_err(|error| format!("cannot raise the limit of open files: {error}"))
}

/// An answer being sent.
#[derive(Clone, Copy, Debug)]
struct Sending {
    answer: usize,
    then: Then,
    /// Bytes sent, of the head and then of the body.
    sent: u64,
    /// Bytes of the body to send; 0 for HEAD.
    body: u64,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    /// Bytes read and not answered yet.
    input: Vec<u8>,
    /// Bytes of a request's body still to be dropped.
    skip: usize,
    sending: Option<Sending>,
    waits_to_write: bool,
}

/// The event for which a connection waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Read,
    Write,
    Gone,
}

struct Worker<'a> {
    listener: &'a TcpListener,
    files: &'a Files,
    sendfile: bool,
    queue: std::os::fd::OwnedFd,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    chunk: Vec<u8>,
}

impl<'a> Worker<'a> {
    fn start(
        listener: &'a TcpListener,
        files: &'a Files,
        cpu: Option<usize>,
        sendfile: bool,
    ) -> Result<Worker<'a>, String> {
        if let Some(cpu) = cpu {
            sys::affinity::set_allowed(&[cpu]).map_err(|error| error.to_string())?;
        }
        let failed = |error: rustix::io::Errno| format!("cannot wait for connections: {error}");
        let queue = epoll::create(CreateFlags::CLOEXEC).map_err(failed)?;
        let flags = EventFlags::IN | EventFlags::EXCLUSIVE;
        epoll::add(&queue, listener, EventData::new_u64(LISTENER), flags).map_err(failed)?;
        let chunk = vec![0; CHUNK];
        Ok(Worker { listener, files, sendfile, queue, connections: Vec::new(), free: Vec::new(), chunk })
    }

    fn serve(&mut self) -> Result<(), String> {
        let mut events: Vec<Event> = Vec::with_capacity(EVENTS);
        // Until the process is killed.
        loop {
            events.clear();
            match epoll::wait(&self.queue, spare_capacity(&mut events), None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(format!("cannot wait for connections: {error}")),
            }
            for event in &events {
                match event.data.u64() {
                    LISTENER => self.accept()?,
                    slot => self.advance(usize::try_from(slot).unwrap_or(usize::MAX))?,
                }
            }
        }
    }

    /// Accepts one connection per call, so that the threads share them.
    fn accept(&mut self) -> Result<(), String> {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) => {
                let errno = error.raw_os_error().map(rustix::io::Errno::from_raw_os_error);
                if matches!(errno, Some(rustix::io::Errno::MFILE | rustix::io::Errno::NFILE)) {
                    std::thread::sleep(FULL);
                }
                // Another thread was quicker, or the client has left again.
                return Ok(());
            }
        };
        // A client that has left already is noticed with the first read.
        let set = stream.set_nonblocking(true).and_then(|()| stream.set_nodelay(true));
        if set.is_err() {
            return Ok(());
        }
        let slot = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        epoll::add(&self.queue, &stream, EventData::new_u64(slot as u64), EventFlags::IN)
            .map_err(|error| format!("cannot wait for a connection: {error}"))?;
        let connection =
            Connection { stream, input: Vec::new(), skip: 0, sending: None, waits_to_write: false };
        if let Some(place) = self.connections.get_mut(slot) {
            *place = Some(connection);
        }
        Ok(())
    }

    fn advance(&mut self, slot: usize) -> Result<(), String> {
        let Some(place) = self.connections.get_mut(slot) else { return Ok(()) };
        let Some(connection) = place else { return Ok(()) };
        let next = connection.go_on(self.files, self.sendfile, &mut self.chunk);
        if next == Next::Gone {
            // Closing it takes it out of the queue.
            *place = None;
            self.free.push(slot);
            return Ok(());
        }
        let waits_to_write = next == Next::Write;
        if waits_to_write != connection.waits_to_write {
            connection.waits_to_write = waits_to_write;
            let flags = if waits_to_write { EventFlags::OUT } else { EventFlags::IN };
            epoll::modify(&self.queue, &connection.stream, EventData::new_u64(slot as u64), flags)
                .map_err(|error| format!("cannot wait for a connection: {error}"))?;
        }
        Ok(())
    }
}

impl Connection {
    fn go_on(&mut self, files: &Files, sendfile: bool, chunk: &mut [u8]) -> Next {
        if !self.waits_to_write {
            match self.stream.read(chunk) {
                Ok(0) => return Next::Gone,
                Ok(count) => self.input.extend_from_slice(chunk.get(..count).unwrap_or_default()),
                Err(error) if is_later(&error) => return Next::Read,
                Err(_) => return Next::Gone,
            }
        }
        for _ in 0..TURN {
            if self.sending.is_none() && !self.take_request(files) {
                return Next::Read;
            }
            let Some(sending) = self.sending else { return Next::Read };
            match self.send(sending, files, sendfile, chunk) {
                Ok(()) => {}
                Err(error) if is_later(&error) => return Next::Write,
                Err(_) => return Next::Gone,
            }
            if sending.then == Then::Close {
                // What came meanwhile is read, since closing before that would cut off the answer.
                let _said = self.stream.shutdown(Shutdown::Write);
                let _unread = self.stream.read(chunk);
                return Next::Gone;
            }
            self.sending = None;
        }
        // Its turn is over; it can be written to, so it comes again after the others.
        Next::Write
    }

    /// Starts the next complete request of the input; `false` if there is none yet.
    fn take_request(&mut self, files: &Files) -> bool {
        let dropped = self.skip.min(self.input.len());
        self.input.drain(..dropped);
        self.skip -= dropped;
        if self.skip > 0 || self.input.is_empty() {
            return false;
        }
        let Some(found) = request::parse(&self.input) else { return false };
        let answer = match found.wants {
            Ok(path) => files.find(path),
            Err(refusal) => Files::refusal(refusal),
        };
        let body = files.get(answer).filter(|_| !found.is_head).map_or(0, |answer| answer.bytes);
        self.sending = Some(Sending { answer, then: found.then, sent: 0, body });
        self.skip = found.body_bytes;
        let head_bytes = found.head_bytes;
        self.input.drain(..head_bytes.min(self.input.len()));
        true
    }

    /// Sends the rest of an answer, until it is complete or the connection takes no more.
    fn send(
        &mut self,
        mut sending: Sending,
        files: &Files,
        sendfile: bool,
        chunk: &mut [u8],
    ) -> std::io::Result<()> {
        let answer = files.get(sending.answer).ok_or(ErrorKind::NotFound)?;
        let head = answer.head(sending.then);
        let total = head.len() as u64 + sending.body;
        // Each round sends a byte at least, or ends.
        while sending.sent < total {
            let rest =
                usize::try_from(sending.sent).ok().and_then(|sent| head.get(sent..)).unwrap_or_default();
            let at = sending.sent.saturating_sub(head.len() as u64);
            let left = sending.body.saturating_sub(at);
            let count = match &answer.body {
                Body::Memory(body) => {
                    let body = body.get(usize::try_from(at).unwrap_or(usize::MAX)..).unwrap_or_default();
                    let body = if left == 0 { &[] } else { body };
                    self.stream.write_vectored(&[IoSlice::new(rest), IoSlice::new(body)])?
                }
                Body::File(_) if !rest.is_empty() => self.stream.write(rest)?,
                Body::File(file) if sendfile => {
                    let mut offset = at;
                    let most = usize::try_from(left.min(1 << 30)).unwrap_or(1 << 30);
                    rustix::fs::sendfile(&self.stream, file, Some(&mut offset), most)?
                }
                Body::File(file) => {
                    let most = usize::try_from(left).unwrap_or(CHUNK).min(chunk.len());
                    let part = chunk.get_mut(..most).unwrap_or_default();
                    let count = file.read_at(part, at)?;
                    self.stream.write(part.get(..count).unwrap_or_default())?
                }
            };
            if count == 0 {
                // The file became shorter: the client must see that its body is cut.
                return Err(ErrorKind::UnexpectedEof.into());
            }
            sending.sent = sending.sent.saturating_add(count as u64);
            self.sending = Some(sending);
        }
        Ok(())
    }
}

fn is_later(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::io::BufRead;

    use super::*;

    /// A server on a port of its own, in threads of this test.
    fn served(sendfile: bool) -> (tempfile::TempDir, u16) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("small"), "0123456789").unwrap();
        let big: Vec<u8> =
            (0..5_000_000u32).flat_map(|number| number.to_le_bytes()).take(5_000_001).collect();
        std::fs::write(dir.path().join("big"), big).unwrap();
        let local = std::net::Ipv4Addr::LOCALHOST.into();
        let port = crate::workload::server::port::Port::free(local).unwrap().number();
        let address = std::net::SocketAddr::new(local, port);
        let order = ServeOrder { address, threads: 2, backlog: 64, sendfile, root: dir.path().to_owned() };
        let files = Files::load(dir.path()).unwrap();
        std::thread::spawn(move || run(&order, files));
        let up = (0..1000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        assert!(up);
        (dir, port)
    }

    fn talk(port: u16, parts: &[&[u8]]) -> Vec<u8> {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        for part in parts {
            stream.write_all(part).unwrap();
        }
        let mut said = Vec::new();
        stream.read_to_end(&mut said).unwrap();
        said
    }

    fn count(said: &[u8], what: &str) -> usize {
        String::from_utf8_lossy(said).matches(what).count()
    }

    #[test]
    fn pipelined_split_and_refused_requests() {
        let (_dir, port) = served(true);
        let keep = b"GET /small HTTP/1.1\r\nHost: x\r\n\r\n".repeat(200);
        let close = b"GET /small HTTP/1.1\r\nConnection: close\r\n\r\n";
        let said = talk(port, &[&keep, close]);
        assert_eq!((count(&said, "HTTP/1.1 200 OK"), count(&said, "0123456789")), (201, 201));
        let bytes: Vec<&[u8]> = close.chunks(1).collect();
        assert_eq!(count(&talk(port, &bytes), "0123456789"), 1);
        let post = b"POST /small HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde";
        let said = talk(port, &[post, close]);
        assert_eq!((count(&said, "405 Method"), count(&said, "200 OK")), (1, 1));
        let said = talk(port, &[b"HEAD /big HTTP/1.1\r\n\r\n", close]);
        assert_eq!((count(&said, "Content-Length: 5000001"), count(&said, "0123456789")), (1, 1));
        for (bad, status) in [
            (&b"nonsense\r\n\r\n"[..], "400"),
            (b"GET /none HTTP/1.0\r\n\r\n", "404"),
            (b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "501"),
        ] {
            assert_eq!(count(&talk(port, &[bad]), &format!("HTTP/1.1 {status}")), 1, "{status}");
        }
    }

    #[test]
    fn a_slow_reader_gets_every_byte_of_a_large_file() {
        for sendfile in [true, false] {
            let (dir, port) = served(sendfile);
            let wanted = std::fs::read(dir.path().join("big")).unwrap();
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.write_all(b"GET /big HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
            // The buffers of both ends fill up, so the server must wait to write; meanwhile it serves others.
            std::thread::sleep(Duration::from_millis(200));
            let other = talk(port, &[b"GET /small HTTP/1.0\r\n\r\n"]);
            assert_eq!(count(&other, "0123456789"), 1);
            let mut reader = std::io::BufReader::new(stream);
            let mut line = String::new();
            while line != "\r\n" {
                line.clear();
                assert!(reader.read_line(&mut line).unwrap() > 0);
            }
            let mut body = Vec::new();
            reader.read_to_end(&mut body).unwrap();
            assert!(body == wanted, "sendfile={sendfile}: {} bytes", body.len());
        }
    }
}
