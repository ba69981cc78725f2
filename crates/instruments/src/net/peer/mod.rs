//! The far end of network tests: it listens, and takes part in one test at a time with an asker that knows the token.
//!
//! Connections that open with anything else are closed. The size of messages, the number of connections served at a
//! time and the time of each are limited. The peer measures what arrives; the asker measures everything else.

mod tests_of;

use std::convert::Infallible;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::frame::{
    self, ASKING, Frame, Id, JOINING, LIMIT, MOST_STREAMS, OPENING, Refusal, Report, Test, opened,
};
use super::place;
use crate::workload::perftest::Order;
use crate::workload::perftest::serve::serve;

/// Connections that are greeted or served at a time.
const MOST_GREETED: usize = 4 * MOST_STREAMS as usize;
/// Time limit of a new connection to send its opening.
const GREETING: Duration = Duration::from_secs(5);
/// Time limit for silence of either end during a test.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// How often, and for how many ms each time, a test waits for the one before it to end.
const LOOKS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);
/// Time limit of one connection in a test of connections.
const CONNECTION: Duration = Duration::from_secs(1);

/// Options of a peer.
#[derive(Clone, Debug)]
pub struct Terms {
    pub listen: SocketAddr,
    /// The token that both ends know; empty for none.
    pub token: Vec<u8>,
    /// Largest message, in bytes.
    pub limit: u64,
    /// CPUs to which its threads are bound; empty for none.
    pub cpus: Vec<u32>,
    /// Time limit for silence of the asker.
    pub patience: Duration,
}

impl Default for Terms {
    fn default() -> Terms {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        Terms { listen, token: Vec::new(), limit: LIMIT, cpus: Vec::new(), patience: PATIENCE }
    }
}

/// Receives the peer's log: a line per test, and a line for each problem.
pub type Say = dyn Fn(&str) + Send + Sync;

pub struct Peer {
    listener: TcpListener,
    hall: Arc<Hall>,
}

/// State that all connections share.
struct Hall {
    terms: Terms,
    address: SocketAddr,
    under_way: Mutex<Option<UnderWay>>,
    greeted: AtomicUsize,
    say: Box<Say>,
}

/// The test that is running.
struct UnderWay {
    id: Id,
    from: IpAddr,
    /// Receives the connections that join the test.
    joins: SyncSender<TcpStream>,
    /// True for a test of connections, which are answered at once.
    connections: bool,
}

/// Exclusive use of the peer for one test, until this is dropped.
struct Turn<'a> {
    hall: &'a Hall,
    id: Id,
    joined: Receiver<TcpStream>,
}

impl Peer {
    /// A peer that listens as the options say. Fails when the address or port cannot be used.
    pub fn bind(terms: Terms, say: Box<Say>) -> Result<Peer, String> {
        let listener = TcpListener::bind(terms.listen)
            .map_err(|error| format!("cannot listen on {}: {error}", terms.listen))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let (under_way, greeted) = (Mutex::new(None), AtomicUsize::new(0));
        Ok(Peer { listener, hall: Arc::new(Hall { terms, address, under_way, greeted, say }) })
    }

    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.hall.address
    }

    /// Serves until the listener fails.
    pub fn serve(&self) -> Result<Infallible, String> {
        let _pinned = self.hall.pin(0)?;
        loop {
            match self.listener.accept() {
                Ok((stream, from)) => self.welcome(stream, from),
                Err(error) => match error.raw_os_error() {
                    // EBADF, EINVAL, ENOTSOCK: it will never accept again. All else passes.
                    Some(9 | 22 | 88) => return Err(format!("cannot accept connections: {error}")),
                    _ => std::thread::sleep(Duration::from_millis(10)),
                },
            }
        }
    }

    fn welcome(&self, mut stream: TcpStream, from: SocketAddr) {
        let mut head = None;
        if let Some(id) = self.hall.wants_connections(from.ip()) {
            match first(&mut stream, CONNECTION) {
                Some(bytes) if opened(&bytes) == (JOINING, id) => {
                    // Who asked counts what it is answered.
                    let _answered = stream.write_all(b".");
                    return;
                }
                Some(bytes) => head = Some(bytes),
                None => return,
            }
        }
        if self.hall.greeted.fetch_add(1, Ordering::Relaxed) >= MOST_GREETED {
            self.hall.greeted.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let hall = Arc::clone(&self.hall);
        std::thread::spawn(move || {
            if let Err(why) = hall.greet(stream, from, head) {
                (hall.say)(&format!("{from}: {why}"));
            }
            hall.greeted.fetch_sub(1, Ordering::Relaxed);
        });
    }
}

/// The opening of a connection, if it comes in time.
fn first(stream: &mut TcpStream, within: Duration) -> Option<[u8; OPENING]> {
    let mut bytes = [0; OPENING];
    stream.set_read_timeout(Some(within)).ok()?;
    stream.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

impl Hall {
    fn under_way(&self) -> MutexGuard<'_, Option<UnderWay>> {
        // What is behind this lock is whole between two statements.
        self.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wants_connections(&self, from: IpAddr) -> Option<Id> {
        let under_way = self.under_way();
        under_way.as_ref().filter(|test| test.connections && test.from == from).map(|test| test.id)
    }

    /// Binds the calling thread to one of the peer's CPUs, if it has any.
    fn pin(&self, nth: usize) -> Result<Option<sys::affinity::Pinned>, String> {
        place::pin(&self.terms.cpus, nth)
    }

    fn greet(
        &self,
        mut stream: TcpStream,
        from: SocketAddr,
        head: Option<[u8; OPENING]>,
    ) -> Result<(), String> {
        // Who says nothing, or says it too late, is not worth a word.
        let Some(bytes) = head.or_else(|| first(&mut stream, GREETING)) else { return Ok(()) };
        match opened(&bytes) {
            (JOINING, id) => {
                let under_way = self.under_way();
                let mine = under_way.as_ref().filter(|test| test.id == id && test.from == from.ip());
                // One that is too many, or too late, is closed.
                let _joined = mine.map(|test| test.joins.try_send(stream));
                Ok(())
            }
            (ASKING, asker) => self.asked(stream, from.ip(), &asker),
            _ => Err("speaks another protocol".to_owned()),
        }
    }

    fn asked(&self, mut stream: TcpStream, from: IpAddr, asker: &Id) -> Result<(), String> {
        let text = |error: frame::FrameError| format!("asked for no test: {error}");
        let io = |error: std::io::Error| error.to_string();
        let (id, challenge) = (frame::random()?, frame::random()?);
        stream.set_nodelay(true).map_err(io)?;
        stream.set_read_timeout(Some(GREETING)).map_err(io)?;
        stream.set_write_timeout(Some(GREETING)).map_err(io)?;
        stream.write_all(&[ASKING, id, challenge].concat()).map_err(io)?;
        let Frame::Ask { proof, test } = Frame::read(&mut stream).map_err(text)? else {
            return Err("asked for no test".to_owned());
        };
        let allowed = match frame::is_proof(&self.terms.token, &challenge, asker, &proof) {
            true => test.check(self.terms.limit).and_then(|()| self.turn(id, from, &test)),
            false => Err(Refusal::Token),
        };
        let turn = match allowed {
            Ok(turn) => turn,
            Err(refusal) => {
                Frame::Refused(refusal.clone()).write(&mut stream).map_err(text)?;
                return Err(format!("refused: {refusal}"));
            }
        };
        let _pinned = self.pin(0)?;
        let report = turn.serve(&mut stream, &test);
        // The asker may ask for the next test as soon as it has the report.
        drop(turn);
        Frame::Report(report?).write(&mut stream).map_err(|error| error.to_string())
    }

    /// Waits for the test before this one to end, and begins this one. A test whose asker is gone ends a moment later.
    fn turn(&self, id: Id, from: IpAddr, test: &Test) -> Result<Turn<'_>, Refusal> {
        for _ in 0..LOOKS {
            let mut under_way = self.under_way();
            if under_way.is_none() {
                let (joins, joined) = sync_channel(2 * usize::from(MOST_STREAMS));
                *under_way = Some(UnderWay { id, from, joins, connections: *test == Test::Connections });
                return Ok(Turn { hall: self, id, joined });
            }
            drop(under_way);
            std::thread::sleep(PAUSE);
        }
        Err(Refusal::Busy)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.hall.under_way() = None;
    }
}

impl Turn<'_> {
    fn patience(&self) -> Duration {
        self.hall.terms.patience
    }

    fn serve(&self, stream: &mut TcpStream, test: &Test) -> Result<Report, String> {
        match *test {
            Test::Echo { size, wait, rounds } => tests_of::echo(self, stream, size, wait, rounds),
            Test::EchoDatagrams { size, wait } => tests_of::echo_datagrams(self, stream, size, wait),
            Test::Bulk { .. } => tests_of::bulk(self, stream, test),
            Test::Connections => tests_of::connections(self, stream),
            Test::Datagrams { size, .. } => tests_of::datagrams(self, stream, size),
            Test::Perftest { verb, size, iterations, ref device } => {
                serve(stream, &Order { verb, size, iterations, device: device.clone() })
            }
        }
    }
}

/// A peer that another program starts. It reads its options on standard input and writes where it listens on standard
/// output. Fails when the options are malformed, and when it cannot listen.
pub fn child(mut input: impl Read, mut output: impl Write) -> Result<Infallible, String> {
    let mut text = String::new();
    let read = input.by_ref().take(1 << 16).read_to_string(&mut text);
    read.map_err(|error| format!("cannot read what to serve: {error}"))?;
    let terms = order(&text).ok_or("what to serve makes no sense; this is not started by hand")?;
    let peer = Peer::bind(terms, Box::new(|_| ()))?;
    let said = writeln!(output, "{}", peer.address()).and_then(|()| output.flush());
    said.map_err(|error| format!("cannot say where it listens: {error}"))?;
    peer.serve()
}

/// The options as [`child`] reads them.
#[must_use]
pub fn words(terms: &Terms) -> String {
    let cpus = model::params::show_cpus(&terms.cpus);
    let token: String = terms.token.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} {} {cpus} {token}\n", terms.listen, terms.limit)
}

fn order(text: &str) -> Option<Terms> {
    let words: Vec<&str> = text.strip_suffix('\n')?.split(' ').collect();
    let [listen, limit, cpus, token] = words[..] else { return None };
    let pairs = token.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    Some(Terms {
        listen: listen.parse().ok()?,
        limit: limit.parse().ok()?,
        cpus: if cpus.is_empty() { Vec::new() } else { model::params::parse_cpus(cpus)? },
        token: pairs.map(byte).collect::<Option<Vec<u8>>>()?,
        patience: PATIENCE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_understood() {
        let terms = Terms {
            listen: "[::1]:7".parse().unwrap(),
            token: vec![0, 255, 16],
            limit: 9,
            cpus: vec![0, 1, 5],
            ..Terms::default()
        };
        let text = words(&terms);
        let again = order(&text).unwrap();
        assert_eq!((again.listen, again.limit), (terms.listen, 9));
        assert_eq!((again.cpus, again.token), (terms.cpus, terms.token));
        assert!(order(&words(&Terms::default())).is_some_and(|terms| terms.cpus.is_empty()));
        for end in 0..text.len() {
            assert!(order(&text[..end]).is_none(), "{end}");
        }
        for bad in ["", "\n", "127.0.0.1:1 5 0 zz\n", "127.0.0.1:1 5 0 00 x\n", "127.0.0.1 5 0 00\n"] {
            assert!(order(bad).is_none(), "{bad:?}");
        }
    }
}
