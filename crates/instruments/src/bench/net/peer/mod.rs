//! The far end of network tests: it listens, and takes part in one test at a time with an asker that knows the token.
//!
//! Connections that open with anything else are closed. The size of messages, the number of connections served at a
//! time and the time of each are limited. The peer measures what arrives; the asker measures everything else.

mod parts;

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
use crate::workload::perftest::PerftestOptions;
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
pub struct PeerOptions {
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

impl Default for PeerOptions {
    fn default() -> PeerOptions {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        PeerOptions { listen, token: Vec::new(), limit: LIMIT, cpus: Vec::new(), patience: PATIENCE }
    }
}

/// Receives the peer's log: a line per test, and a line for each problem.
pub type Say = dyn Fn(&str) + Send + Sync;

pub struct Peer {
    listener: TcpListener,
    peer: Arc<PeerState>,
}

/// State that all connections share.
struct PeerState {
    options: PeerOptions,
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
    peer: &'a PeerState,
    id: Id,
    joined: Receiver<TcpStream>,
}

impl Peer {
    /// A peer that listens as the options say. Fails when the address or port cannot be used.
    pub fn bind(options: PeerOptions, say: Box<Say>) -> Result<Peer, String> {
        let listener = TcpListener::bind(options.listen)
            .map_err(|error| format!("cannot listen on {}: {error}", options.listen))?;
        let address = listener.local_addr().map_err(|error| error.to_string())?;
        let (under_way, greeted) = (Mutex::new(None), AtomicUsize::new(0));
        Ok(Peer { listener, peer: Arc::new(PeerState { options, address, under_way, greeted, say }) })
    }

    pub fn address(&self) -> SocketAddr {
        self.peer.address
    }

    /// Serves until the listener fails.
    pub fn serve(&self) -> Result<Infallible, String> {
        let _pinned = self.peer.pin(0)?;
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
        if let Some(id) = self.peer.wants_connections(from.ip()) {
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
        if self.peer.greeted.fetch_add(1, Ordering::Relaxed) >= MOST_GREETED {
            self.peer.greeted.fetch_sub(1, Ordering::Relaxed);
            return;
        }
        let peer = Arc::clone(&self.peer);
        std::thread::spawn(move || {
            if let Err(why) = peer.greet(stream, from, head) {
                (peer.say)(&format!("{from}: {why}"));
            }
            peer.greeted.fetch_sub(1, Ordering::Relaxed);
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

impl PeerState {
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
        place::pin(&self.options.cpus, nth)
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
        let allowed = match frame::is_proof(&self.options.token, &challenge, asker, &proof) {
            true => test.check(self.options.limit).and_then(|()| self.turn(id, from, &test)),
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
                return Ok(Turn { peer: self, id, joined });
            }
            drop(under_way);
            std::thread::sleep(PAUSE);
        }
        Err(Refusal::Busy)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.peer.under_way() = None;
    }
}

impl Turn<'_> {
    fn patience(&self) -> Duration {
        self.peer.options.patience
    }

    fn serve(&self, stream: &mut TcpStream, test: &Test) -> Result<Report, String> {
        match *test {
            Test::Echo { size, wait, rounds } => parts::echo(self, stream, size, wait, rounds),
            Test::EchoDatagrams { size, wait } => parts::echo_datagrams(self, stream, size, wait),
            Test::Bulk { .. } => parts::bulk(self, stream, test),
            Test::Connections => parts::connections(self, stream),
            Test::Datagrams { size, .. } => parts::datagrams(self, stream, size),
            Test::Perftest { verb, size, iterations, ref device } => {
                serve(stream, &PerftestOptions { verb, size, iterations, device: device.clone() })
            }
        }
    }
}

/// A peer that another program starts. It reads its options on standard input and writes where it listens on standard
/// output. Fails when the options are malformed, and when it cannot listen.
pub fn child(mut input: impl Read, mut output: impl Write) -> Result<Infallible, String> {
    let mut text = String::new();
    let read = input.by_ref().take(1 << 16).read_to_string(&mut text);
    read.map_err(|error| format!("cannot read the options: {error}"))?;
    let options = order(&text).ok_or("malformed options; this is not meant to be started by hand")?;
    let peer = Peer::bind(options, Box::new(|_| ()))?;
    let said = writeln!(output, "{}", peer.address()).and_then(|()| output.flush());
    said.map_err(|error| format!("cannot say where it listens: {error}"))?;
    peer.serve()
}

/// The options as [`child`] reads them.
pub fn words(options: &PeerOptions) -> String {
    let cpus = model::params::show_cpus(&options.cpus);
    let token: String = options.token.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} {} {cpus} {token}\n", options.listen, options.limit)
}

fn order(text: &str) -> Option<PeerOptions> {
    let words: Vec<&str> = text.strip_suffix('\n')?.split(' ').collect();
    let [listen, limit, cpus, token] = words[..] else { return None };
    let pairs = token.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    Some(PeerOptions {
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
        let options = PeerOptions {
            listen: "[::1]:7".parse().unwrap(),
            token: vec![0, 255, 16],
            limit: 9,
            cpus: vec![0, 1, 5],
            ..PeerOptions::default()
        };
        let text = words(&options);
        let again = order(&text).unwrap();
        assert_eq!((again.listen, again.limit), (options.listen, 9));
        assert_eq!((again.cpus, again.token), (options.cpus, options.token));
        assert!(order(&words(&PeerOptions::default())).is_some_and(|options| options.cpus.is_empty()));
        for end in 0..text.len() {
            assert!(order(&text[..end]).is_none(), "{end}");
        }
        for bad in ["", "\n", "127.0.0.1:1 5 0 zz\n", "127.0.0.1:1 5 0 00 x\n", "127.0.0.1 5 0 00\n"] {
            assert!(order(bad).is_none(), "{bad:?}");
        }
    }
}
