//! One blocking connection to a store, with TCP_NODELAY: a request is built, then sent and its answer read whole.
//!
//! `turn` is all that is timed: a write, reads until the last byte is there, and the look that tells so. It reads no
//! clock and allocates nothing where the buffers have their size. Times are seconds and nanoseconds where named so.

use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::time::Duration;

use model::failure::Failure as Kind;
use model::login::{Login, refusal};

use super::resp::WAITED_MS;
use super::wire::{Answer, Course, Failure, KvRequest, Wire};
use crate::bench::net::frame::Wait;
use crate::bench::net::pipe::Pipe;

/// How long a store may be silent in the middle of an answer.
pub const PATIENCE: Duration = Duration::from_secs(10);
/// Room for answers at first, in bytes.
const ROOM: usize = 64 << 10;
/// No answer is longer, in bytes: 5000 values of a multi-read, or a value of 64 MiB.
const MOST_ANSWER: usize = 256 << 20;

#[derive(Debug)]
pub struct Connection {
    stream: TcpStream,
    wire: &'static dyn Wire,
    wait: Wait,
    patience: Duration,
    /// The next request, whole.
    out: Vec<u8>,
    asked: KvRequest,
    inbox: Vec<u8>,
}

impl Connection {
    /// Connects, and logs in where there is a login and the protocol has a word for it. Fails when nothing listens or
    /// the store refuses.
    pub fn open(
        address: SocketAddr,
        wire: &'static dyn Wire,
        wait: Wait,
        login: Option<&Login>,
    ) -> Result<Connection, Failure> {
        let patience = PATIENCE;
        let stream = connect(address, patience)?;
        Pipe::new(stream.as_fd(), wait, patience).map_err(Failure::Broken)?;
        let (out, inbox) = (Vec::with_capacity(ROOM), vec![0; ROOM]);
        let mut to = Connection { stream, wire, wait, patience, out, asked: KvRequest::Text, inbox };
        match login {
            Some(login) if wire.login(&mut to.out, login) => to.log_in().map(|()| to),
            _ => Ok(to),
        }
    }

    /// Sends the login that is in `out`, which is answered as a write is.
    fn log_in(&mut self) -> Result<(), Failure> {
        self.asked = KvRequest::Set(1);
        let answered = self.turn();
        // It is not kept.
        self.out.fill(0);
        match answered {
            Ok(_taken) => Ok(()),
            Err(
                failure @ (Failure::Ended
                | Failure::Silent(_)
                | Failure::Broken(_)
                | Failure::Store(Kind::Loading, _)),
            ) => Err(failure),
            // Its own words may repeat the password.
            Err(_refused) => Err(Failure::Store(Kind::Auth, refusal(&self.inbox))),
        }
    }

    pub fn wire(&self) -> &'static dyn Wire {
        self.wire
    }

    /// Room for an answer of so many bytes of values, touched now.
    pub fn make_room(&mut self, bytes: usize) {
        let wanted = bytes.saturating_add(ROOM).min(MOST_ANSWER);
        if self.inbox.len() < wanted {
            self.inbox.resize(wanted, 0);
        }
    }

    /// The next request is for one value.
    #[inline]
    pub fn ask_get(&mut self, key: &[u8]) {
        self.ask_gets(&mut std::iter::once(key));
    }

    /// The next request is for the values of all these keys at once.
    #[inline]
    pub fn ask_gets(&mut self, keys: &mut dyn ExactSizeIterator<Item = &[u8]>) {
        self.asked = KvRequest::Get(u32::try_from(keys.len()).unwrap_or(u32::MAX));
        self.out.clear();
        self.wire.get(&mut self.out, keys);
    }

    /// The next request writes a value and has so many replicas say that they have it too, in one piece.
    pub fn ask_set(&mut self, key: &[u8], value: &[u8], replicas: u32) {
        self.out.clear();
        self.wire.set(&mut self.out, key, value);
        self.asked = match replicas {
            0 => KvRequest::Set(1),
            // Who has no replicas is asked for none.
            count => match self.wire.wait(&mut self.out, count, WAITED_MS) {
                true => KvRequest::SetWait(count),
                false => KvRequest::Set(1),
            },
        };
    }

    /// The next request is several writes or removals, each put there by `put`; says how many bytes it has.
    pub fn ask_many(&mut self, asked: KvRequest, put: impl FnOnce(&dyn Wire, &mut Vec<u8>)) -> usize {
        self.out.clear();
        put(self.wire, &mut self.out);
        self.asked = asked;
        self.out.len()
    }

    /// Sends the request and reads its whole answer. Fails when none comes, or a wrong one.
    #[inline]
    pub fn turn(&mut self) -> Result<Answer, Failure> {
        let pipe = Pipe::again(self.stream.as_fd(), self.wait, self.patience);
        let lost = |lost| Failure::of_pipe(lost, self.patience.as_secs_f64());
        pipe.send_all(&self.out).map_err(lost)?;
        let mut course = Course::default();
        let (mut filled, mut least) = (0, 1);
        loop {
            let room = self.inbox.get_mut(filled..).unwrap_or_default();
            let got = pipe.recv(room).map_err(lost)?;
            if got == 0 {
                return Err(Failure::Ended);
            }
            filled += got;
            if filled >= least {
                let bytes = self.inbox.get(..filled).unwrap_or_default();
                match self.wire.read(self.asked, bytes, &mut course)? {
                    None => return Ok(course.answer),
                    Some(more) => least = more,
                }
            }
            if self.inbox.len() < least || filled == self.inbox.len() {
                grow(&mut self.inbox, least)?;
            }
        }
    }

    /// The last value that came, or the text.
    pub fn came(&self, answer: &Answer) -> &[u8] {
        self.inbox.get(answer.last.0..answer.last.1).unwrap_or_default()
    }

    /// The server's description of itself, as a whole or that part. Fails when the store does not give it.
    pub fn text(&mut self, part: &str) -> Result<String, Failure> {
        self.ask_many(KvRequest::Text, |wire, out| wire.text(out, part));
        let answer = self.turn()?;
        Ok(String::from_utf8_lossy(self.came(&answer)).into_owned())
    }

    /// The time of a TCP handshake, in nanoseconds: the other kernel answers it without the store. Fails when nothing
    /// listens.
    pub fn handshake(address: SocketAddr) -> Result<u64, Failure> {
        let from_ns = sys::clock::now_ns();
        let stream = TcpStream::connect_timeout(&address, PATIENCE);
        let took_ns = sys::clock::now_ns() - from_ns;
        stream.map(|_| took_ns).map_err(|error| Failure::Connect(error.to_string()))
    }

    /// Sends bytes of no protocol and returns the first bytes that come, by which a store is recognised. Fails when
    /// none come.
    pub fn probe(address: SocketAddr, word: &[u8], patience: Duration) -> Result<Vec<u8>, Failure> {
        let stream = connect(address, patience)?;
        let pipe = Pipe::new(stream.as_fd(), Wait::Block, patience).map_err(Failure::Broken)?;
        let lost = |lost| Failure::of_pipe(lost, patience.as_secs_f64());
        pipe.send_all(word).map_err(lost)?;
        let mut first = vec![0; 512];
        let got = pipe.recv(&mut first).map_err(lost)?;
        first.truncate(got);
        if first.is_empty() { Err(Failure::Ended) } else { Ok(first) }
    }
}

fn connect(address: SocketAddr, patience: Duration) -> Result<TcpStream, Failure> {
    let told = |error: std::io::Error| Failure::Connect(error.to_string());
    let stream = TcpStream::connect_timeout(&address, patience).map_err(told)?;
    stream.set_nodelay(true).map_err(told)?;
    Ok(stream)
}

/// Room for at least so many bytes, and some more.
#[cold]
fn grow(inbox: &mut Vec<u8>, least: usize) -> Result<(), Failure> {
    let wanted = least.max(inbox.len() + 1).next_multiple_of(ROOM) + ROOM;
    if wanted > MOST_ANSWER {
        let text = format!("an answer of more than {MOST_ANSWER} B");
        return Err(Failure::Junk { protocol: "a store", text });
    }
    inbox.resize(wanted, 0);
    Ok(())
}
