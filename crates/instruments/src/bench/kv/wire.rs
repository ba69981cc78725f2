//! Requests and answers of the tests of key-value stores, and the failures that replace an answer.
//!
//! Input: requests in the words of a test ([`Wire`]). Output: bytes to send, and an [`Answer`] or a
//! [`Failure`] of the bytes that came. Pure: no socket, no clock.

use model::failure::Failure as Kind;
use model::login::{Login, REMEDY};

use crate::bench::net::pipe::Lost;
use crate::workload::ramcloud::Trouble;

/// The kind of a request, as far as its answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KvRequest {
    /// Values of so many keys, by one request.
    Get(u32),
    /// So many writes, each by a request of its own.
    Set(u32),
    /// One write, and the word of so many replicas that they have it.
    SetWait(u32),
    /// So many removals, each by a request of its own.
    Delete(u32),
    /// The word of replicas alone: that they have everything.
    Wait(u32),
    /// The server's description of itself.
    Text,
}

/// The contents of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// Values that came, writes that were taken, or keys that were removed.
    pub count: u32,
    /// Bytes of the values that came.
    pub bytes: u64,
    /// Where the last of them, or the text, begins and ends in the bytes that were read.
    pub last: (usize, usize),
}

/// How far the reading of an answer has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// Bytes that were understood.
    pub at: usize,
    /// Pieces that were understood.
    pub pieces: u32,
    pub answer: Answer,
}

/// Why there is no answer as it was asked for. Each text is a whole line for the user.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Failure {
    #[error("nothing listens there, or it cannot be reached: {0}")]
    Connect(String),
    #[error("the store ended the connection in the middle of a request")]
    Ended,
    #[error("the store fell silent: nothing came for {0} s")]
    Silent(f64),
    #[error("the connection failed: {0}")]
    Broken(String),
    /// The store answered with an error of this kind, in these words.
    #[error("{}", of_store(*.0, .1))]
    Store(Kind, String),
    #[error("{have} of {want} replicas had the write within {ms} ms")]
    Replicas { have: u64, want: u32, ms: u64 },
    #[error("what came is no answer of {protocol}: `{text}`")]
    Junk { protocol: &'static str, text: String },
    /// Nobody waits for it any more.
    #[error("{0}")]
    Left(String),
    #[error("{0}")]
    RamCloud(Trouble),
}

/// The message for an error that a store answered with.
fn of_store(kind: Kind, text: &str) -> String {
    match kind {
        Kind::Auth => format!("the store wants a password, or another one: `{text}`; {REMEDY}"),
        Kind::Moved => {
            format!("the store is one node of a cluster and other nodes have some of the keys: `{text}`")
        }
        Kind::Loading => "the store is still loading its data; try again when it has".to_owned(),
        Kind::OutOfMemory => format!("the store is out of memory: `{text}`"),
        Kind::TooLarge => format!("the store does not take values as large as this: `{text}`"),
        Kind::ReadOnly => "the store is a replica, which takes no writes".to_owned(),
        Kind::Missing => format!("the store does not have what was written to it: {text}"),
        _ => format!("the store refuses: `{text}`"),
    }
}

impl Failure {
    /// The store does not have what it must have.
    pub fn missing(text: impl Into<String>) -> Failure {
        Failure::Store(Kind::Missing, text.into())
    }

    /// A key or a value is longer than the store takes.
    pub fn too_large(text: impl Into<String>) -> Failure {
        Failure::Store(Kind::TooLarge, text.into())
    }

    /// One word for it.
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Connect(_) => "connect",
            Failure::Ended => "ended",
            Failure::Silent(_) => "timeout",
            Failure::Broken(_) => "reset",
            Failure::Store(kind, _) => kind.name(),
            Failure::Replicas { .. } => "replicas",
            Failure::Junk { .. } => "bad_response",
            Failure::Left(_) => "left",
            Failure::RamCloud(trouble) => trouble.kind(),
        }
    }

    pub fn of_pipe(lost: Lost, patience_s: f64) -> Failure {
        match lost {
            Lost::Ended => Failure::Ended,
            Lost::Silent => Failure::Silent(patience_s),
            Lost::Broken(error) => Failure::Broken(error.to_string()),
        }
    }
}

/// A protocol. What it puts into `out` is one request or several, whole.
pub trait Wire: Send + Sync + std::fmt::Debug {
    fn name(&self) -> &'static str;
    /// The longest key, in bytes.
    fn most_key(&self) -> usize;
    /// One request for the values of all keys.
    fn get(&self, out: &mut Vec<u8>, keys: &mut dyn ExactSizeIterator<Item = &[u8]>);
    fn set(&self, out: &mut Vec<u8>, key: &[u8], value: &[u8]);
    fn delete(&self, out: &mut Vec<u8>, key: &[u8]);
    /// Wait until so many replicas have what was written before; `false` where the protocol has no word for it.
    fn wait(&self, out: &mut Vec<u8>, replicas: u32, ms: u64) -> bool;
    /// Says who asks; `false` where the protocol has no word for it.
    fn login(&self, out: &mut Vec<u8>, login: &Login) -> bool;
    /// Asks for what the server says of itself, as a whole or that part.
    fn text(&self, out: &mut Vec<u8>, part: &str);
    /// Goes on reading the answer: `None` when all of it was read, else how many bytes there must be at least.
    fn read(&self, asked: KvRequest, bytes: &[u8], course: &mut Course) -> Result<Option<usize>, Failure>;
}
