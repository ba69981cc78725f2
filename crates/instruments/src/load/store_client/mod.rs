//! Key-value stores: reads and writes of keys of our own, built as they are sent, answers parsed as they come.
//!
//! One request is in flight on a connection, as a client without pipelining has it. The protocols are those of
//! `store_protocol`; `resp` and `memcached` say what their answers mean to a load. An answer is good when
//! it is whole and its value as long as the one that was written; its bytes are not compared. A key without a value has
//! failed, since all were written before (`data`).

pub mod data;
#[cfg(test)]
mod fuzz;
pub mod greeted;
pub mod keys;
mod memcached;
mod resp;

use std::marker::PhantomData;

use serde::{Deserialize, Serialize};

use super::failure::Failure;
use super::protocol::{Answer, Protocol, Step};
use crate::bench::kernels::random::Random;
use crate::store_protocol::MOST_LINE;
use crate::store_protocol::memcached::Memcached;
use crate::store_protocol::resp::Resp;
use keys::{Keys, Popularity, Sizes, parts};
use model::url::Scheme;

/// The number of a key has so many digits at least.
const DIGITS: usize = 10;
pub const MOST_KEYS: u32 = 1 << 30;
/// Bytes of requests that all connections may hold together.
const MOST_HELD: u64 = 256 << 20;
/// Bytes of a line that are kept.
const KEPT: usize = 1024;

/// The keys and values of a load, and how often they are read and written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    pub keys: u32,
    /// How every key begins: no other key of the store does.
    pub prefix: String,
    /// Bytes of a key, its prefix included.
    pub key_bytes: usize,
    pub popularity: Popularity,
    /// The share of requests that read.
    pub reads: f64,
    pub sizes: Sizes,
    /// For the sizes and the bytes of the values.
    pub seed: u64,
}

impl Spec {
    /// Fails, with the reason, when there cannot be such a load.
    pub fn check(&self, scheme: Scheme, connections: usize) -> Result<(), String> {
        let most_key = match scheme {
            Scheme::Memcached => Memcached::MOST_KEY,
            _ => Resp::MOST_KEY,
        };
        let least_key = self.prefix.len() + DIGITS;
        if self.keys == 0 || self.keys > MOST_KEYS {
            return Err(format!("{} keys: from 1 to {MOST_KEYS} are possible", self.keys));
        }
        if !(least_key..=most_key).contains(&self.key_bytes) {
            let why = format!("keys of {} B: from {least_key} to {most_key} are possible", self.key_bytes);
            return Err(why);
        }
        let is_plain = |byte: u8| byte.is_ascii_graphic();
        if self.prefix.is_empty() || !self.prefix.bytes().all(is_plain) {
            return Err("a prefix of keys is visible ASCII without blanks".to_owned());
        }
        if !(0.0..=1.0).contains(&self.reads) {
            return Err(format!("a share of {} reads: from 0 to 1", self.reads));
        }
        let held = connections as u64 * (u64::from(self.sizes.most()) + self.key_bytes as u64 + 64);
        if self.reads < 1.0 && held > MOST_HELD {
            return Err(format!(
                "{connections} connections that write values of up to {} B hold {held} B of requests; at most \
                 {MOST_HELD} are possible: take fewer connections or smaller values",
                self.sizes.most()
            ));
        }
        Ok(())
    }

    /// The keys and their values alone: how they are drawn changes nothing in a store.
    pub fn of_data(&self) -> Spec {
        Spec { reads: 1.0, popularity: Popularity::Uniform, ..self.clone() }
    }

    /// Puts the name of a key into `name`.
    pub fn name(&self, key: u32, name: &mut Vec<u8>) {
        name.clear();
        name.extend_from_slice(self.prefix.as_bytes());
        name.resize(self.key_bytes, b'0');
        let mut left = key;
        for byte in name.iter_mut().rev().take(DIGITS) {
            *byte = b'0' + (left % 10) as u8;
            left /= 10;
        }
    }

    pub fn size(&self, key: u32) -> u32 {
        self.sizes.size_of(key, self.seed)
    }

    /// Bytes of all keys and values together, nearly.
    pub fn bytes(&self) -> f64 {
        f64::from(self.keys) * (self.sizes.mean() + self.key_bytes as f64)
    }

    pub fn draws(&self) -> Keys {
        Keys::new(self.keys, self.popularity, self.reads)
    }

    /// The bytes of which each value is the beginning.
    pub fn values(&self) -> Vec<u8> {
        Random::new(self.seed).bytes(self.sizes.most() as usize)
    }
}

/// The kind of a request, as far as its answer depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RequestKind {
    #[default]
    Read,
    Write,
    Delete,
}

/// The first line of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head {
    /// All: the answer is good, or has failed.
    Done(Option<Failure>),
    /// So many bytes of a value follow, and what ends it.
    Value(u64),
}

/// A protocol of stores.
pub trait Dialect {
    /// As in `no answer of NAME`.
    const NAME: &'static str;
    /// Bytes of the longest key.
    const MOST_KEY: usize;
    /// The bytes that follow a value.
    const TAIL: &'static [u8];
    fn get(out: &mut Vec<u8>, key: &[u8]);
    fn set(out: &mut Vec<u8>, key: &[u8], value: &[u8]);
    fn delete(out: &mut Vec<u8>, key: &[u8]);
    /// True if an answer may begin with this byte.
    fn may_begin(byte: u8) -> bool;
    /// Reads the first line of an answer, without its end.
    fn head(line: &[u8], asked: RequestKind) -> Result<Head, Failure>;
}

/// The requests of a load on a store.
#[derive(Clone, Debug)]
pub struct Kv<D> {
    spec: Spec,
    values: Box<[u8]>,
    dialect: PhantomData<D>,
}

/// One request and how far its answer has come.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    request: Vec<u8>,
    name: Vec<u8>,
    /// The first line, as far as it was kept.
    line: Vec<u8>,
    seen: usize,
    at: At,
    asked: RequestKind,
    /// Bytes of the value that must come.
    wanted: u64,
    value: u64,
    /// Bytes of the value that is written.
    written: u64,
    failure: Option<Failure>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum At {
    #[default]
    Head,
    /// So many bytes of the value are still to come.
    Value(u64),
    /// So many bytes of what ends it came.
    Tail(usize),
    Done,
}

impl Reply {
    /// Waits for the answer to what asks so; a value must have that many bytes.
    pub fn expect(&mut self, asked: RequestKind, wanted: u64) {
        self.line.clear();
        (self.seen, self.at, self.failure, self.value) = (0, At::Head, None, 0);
        (self.asked, self.wanted, self.written) = (asked, wanted, 0);
    }

    /// The first line of the answer, as far as it came and was kept.
    pub fn line(&self) -> &[u8] {
        self.line.strip_suffix(b"\r").unwrap_or(&self.line)
    }

    /// The failure that a complete answer reports, if any.
    pub fn failure(&self) -> Option<Failure> {
        self.failure
    }

    /// Reads further bytes of an answer. Fails on bytes that are no answer of the protocol.
    pub fn feed<D: Dialect>(&mut self, bytes: &[u8]) -> Result<Step, Failure> {
        let mut used = 0;
        while let Some(rest) = bytes.get(used..).filter(|rest| !rest.is_empty()) {
            used += match self.at {
                At::Head => self.head::<D>(rest)?,
                At::Value(left) => {
                    let here = left.min(rest.len() as u64);
                    self.at = if here == left { At::Tail(0) } else { At::Value(left - here) };
                    here as usize
                }
                At::Tail(came) => {
                    let wanted = D::TAIL.get(came..).unwrap_or_default();
                    let here = wanted.len().min(rest.len());
                    if rest.get(..here) != wanted.get(..here) {
                        return Err(Failure::BadResponse);
                    }
                    self.at = if here == wanted.len() { At::Done } else { At::Tail(came + here) };
                    here
                }
                At::Done => return Ok(Step::Done { used }),
            };
        }
        Ok(if self.at == At::Done { Step::Done { used } } else { Step::More })
    }

    /// Reads what has arrived of the first line, and gives the number of its bytes.
    fn head<D: Dialect>(&mut self, rest: &[u8]) -> Result<usize, Failure> {
        if self.seen == 0 && !rest.first().is_some_and(|first| D::may_begin(*first)) {
            return Err(Failure::BadResponse);
        }
        let end = rest.iter().position(|byte| *byte == b'\n');
        let (part, used) = match end {
            Some(end) => (rest.get(..end).unwrap_or_default(), end + 1),
            None => (rest, rest.len()),
        };
        self.seen += used;
        if self.seen > MOST_LINE {
            return Err(Failure::BadResponse);
        }
        let room = KEPT.saturating_sub(self.line.len());
        self.line.extend_from_slice(part.get(..room.min(part.len())).unwrap_or_default());
        if end.is_none() {
            return Ok(used);
        }
        // A line that was not kept whole can be a long error alone.
        let is_whole = self.seen - 1 == self.line.len();
        let line = match self.line.strip_suffix(b"\r") {
            Some(line) => line,
            None if is_whole => return Err(Failure::BadResponse),
            None => &self.line,
        };
        self.at = match D::head(line, self.asked)? {
            Head::Done(failure) => {
                self.failure = failure;
                At::Done
            }
            Head::Value(bytes) => {
                self.value = bytes;
                self.failure = (bytes != self.wanted).then_some(Failure::WrongBody);
                if bytes == 0 { At::Tail(0) } else { At::Value(bytes) }
            }
        };
        Ok(used)
    }
}

impl<D: Dialect> Kv<D> {
    /// The protocol for a checked `spec`.
    pub fn new(spec: Spec) -> Kv<D> {
        let values = spec.values().into_boxed_slice();
        Kv { spec, values, dialect: PhantomData }
    }

    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Puts the write of one key behind what is in `out`.
    pub fn write(&self, key: u32, name: &mut Vec<u8>, out: &mut Vec<u8>) {
        self.spec.name(key, name);
        D::set(out, name, self.values.get(..self.spec.size(key) as usize).unwrap_or_default());
    }
}

impl<D: Dialect> Protocol for Kv<D> {
    type Reply = Reply;
    type Memo = ();

    fn request<'r>(&'r self, reply: &'r Reply, _: u32) -> &'r [u8] {
        &reply.request
    }

    fn begin(&self, reply: &mut Reply, which: u32) {
        let (key, writes) = parts(which);
        reply.request.clear();
        let Reply { request, name, .. } = reply;
        if writes {
            self.write(key, name, request);
            reply.expect(RequestKind::Write, 0);
            reply.written = u64::from(self.spec.size(key));
            return;
        }
        self.spec.name(key, name);
        D::get(request, name);
        reply.expect(RequestKind::Read, u64::from(self.spec.size(key)));
    }

    fn feed(&self, _: &mut (), reply: &mut Reply, bytes: &[u8]) -> Result<Step, Failure> {
        reply.feed::<D>(bytes)
    }

    fn end(&self, reply: &Reply) -> Result<(), Failure> {
        Err(if reply.seen == 0 { Failure::Closed } else { Failure::ShortBody })
    }

    fn judge(&self, reply: &Reply, _: u32) -> Answer {
        // Statuses are of HTTP alone.
        let body_bytes = reply.value + reply.written;
        Answer { failure: reply.failure, keep: true, body_bytes, status: 0 }
    }

    fn redirected_to<'m>(&self, (): &'m ()) -> Option<&'m str> {
        None
    }

    fn content_coding<'m>(&self, (): &'m ()) -> Option<&'m str> {
        None
    }
}

/// Reads one answer that comes in these pieces: its kind of failure and how many bytes it had. For tests and fuzzing.
pub fn read_all<D: Dialect>(bytes: &[u8], cuts: &[usize], asked: RequestKind, wanted: u64) -> Read {
    let mut reply = Reply::default();
    reply.expect(asked, wanted);
    let mut from = 0;
    for end in cuts.iter().copied().chain([bytes.len()]) {
        let Some(piece) = bytes.get(from..end) else { continue };
        match reply.feed::<D>(piece) {
            Err(kind) => return Read::Failed(kind),
            Ok(Step::Done { used }) => return Read::Whole { used: from + used, failure: reply.failure() },
            Ok(Step::More) => from = end,
        }
    }
    Read::More
}

/// The result of reading some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    More,
    Whole { used: usize, failure: Option<Failure> },
    Failed(Failure),
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn spec() -> Spec {
        Spec {
            keys: 100,
            prefix: "boxscore:1:".to_owned(),
            key_bytes: 30,
            popularity: Popularity::Uniform,
            reads: 0.5,
            sizes: Sizes::Fixed(10),
            seed: 3,
        }
    }

    #[test]
    fn keys_have_names_of_one_length() {
        let mut name = Vec::new();
        for (key, wanted) in
            [(0, "boxscore:1:0000000000000000000"), (1_073_741_823, "boxscore:1:0000000001073741823")]
        {
            spec().name(key, &mut name);
            assert_eq!(String::from_utf8_lossy(&name), wanted);
        }
    }

    #[test]
    fn what_cannot_be_is_explained() {
        assert_eq!(spec().check(Scheme::Memcached, 50), Ok(()));
        for (bad, says) in [
            (Spec { keys: 0, ..spec() }, "0 keys"),
            (Spec { key_bytes: 20, ..spec() }, "keys of 20 B: from 21"),
            (Spec { key_bytes: 251, ..spec() }, "to 250 are possible"),
            (Spec { prefix: "a b".to_owned(), ..spec() }, "visible ASCII"),
            (Spec { reads: 1.5, ..spec() }, "1.5 reads"),
            (Spec { sizes: Sizes::Fixed(16 << 20), ..spec() }, "fewer connections"),
        ] {
            let why = bad.check(Scheme::Memcached, 50).unwrap_err();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn a_value_of_another_length_is_a_wrong_one() {
        let whole = |used, failure| Read::Whole { used, failure };
        let resp = |bytes: &[u8], wanted| read_all::<Resp>(bytes, &[], RequestKind::Read, wanted);
        assert_eq!(resp(b"$3\r\nabc\r\n", 3), whole(9, None));
        assert_eq!(resp(b"$3\r\nabc\r\nmore", 4), whole(9, Some(Failure::WrongBody)));
        assert_eq!(resp(b"$0\r\n\r\n", 0), whole(6, None));
        assert_eq!(resp(b"$-1\r\n", 3), whole(5, Some(Failure::Missing)));
        assert_eq!(resp(b"$3\r\nabcde", 3), Read::Failed(Failure::BadResponse));
        assert_eq!(resp(b"HTTP/1.1 400", 3), Read::Failed(Failure::BadResponse));
        assert_eq!(resp(b"$3\n", 3), Read::Failed(Failure::BadResponse));
        assert_eq!(resp(b"$3\r\nab", 3), Read::More);
        let long = [b"-ERR ".as_slice(), &[b'x'; 5000], b"\r\n"].concat();
        assert_eq!(resp(&long, 3), whole(long.len(), Some(Failure::Refused)));
        let endless = [b"-ERR ".as_slice(), &[b'x'; MOST_LINE]].concat();
        assert_eq!(resp(&endless, 3), Read::Failed(Failure::BadResponse));
        let memcached = |bytes: &[u8]| read_all::<Memcached>(bytes, &[], RequestKind::Read, 3);
        assert_eq!(memcached(b"VALUE k 0 3\r\nabc\r\nEND\r\n"), whole(23, None));
        assert_eq!(memcached(b"VALUE k 0 3\r\nabc\r\nVALUE"), Read::Failed(Failure::BadResponse));
        assert_eq!(memcached(b"END\r\n"), whole(5, Some(Failure::Missing)));
    }
}
