//! What the protocols of key-value stores have in common for a client that asks one thing at a time.
//!
//! Pure: requests are put into a buffer, answers are read from bytes. No socket, no clock, and on the way of a request
//! nothing is allocated once the buffers have their size.

use model::login::{Login, REMEDY};

use crate::net::pipe::Lost;
use crate::workload::ramcloud::Trouble;

/// No line of an answer is longer, in bytes.
pub const MOST_LINE: usize = 64 << 10;
/// No value is longer, in bytes: what announces more is no answer to what was asked.
pub const MOST_VALUE: u64 = 64 << 20;

/// What is no answer of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Junk;

/// How much of an answer's next piece is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan<T> {
    /// Not all of it: it has at least this many bytes.
    Short { least: usize },
    /// All of it, in that many bytes.
    Whole { item: T, used: usize },
}

/// What was asked for, as far as the answer depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
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
    /// What the server says of itself.
    Text,
}

/// What an answer said.
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
    #[error("the store wants a password, or another one: `{0}`; {REMEDY}")]
    Auth(String),
    #[error("the store is one node of a cluster and other nodes have some of the keys: `{0}`")]
    Moved(String),
    #[error("the store is still loading its data; try again when it has")]
    Loading,
    #[error("the store is out of memory: `{0}`")]
    Memory(String),
    #[error("the store does not take values as large as this: `{0}`")]
    TooLarge(String),
    #[error("the store is a replica, which takes no writes")]
    ReadOnly,
    #[error("{have} of {want} replicas had the write within {ms} ms")]
    Replicas { have: u64, want: u32, ms: u64 },
    #[error("the store does not have what was written to it: {0}")]
    Missing(String),
    #[error("the store refuses: `{0}`")]
    Refused(String),
    #[error("what came is no answer of {protocol}: `{text}`")]
    Junk { protocol: &'static str, text: String },
    /// Nobody waits for it any more.
    #[error("{0}")]
    Left(String),
    #[error("{0}")]
    RamCloud(Trouble),
}

impl Failure {
    /// One word for it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Failure::Connect(_) => "connect",
            Failure::Ended => "ended",
            Failure::Silent(_) => "timeout",
            Failure::Broken(_) => "reset",
            Failure::Auth(_) => "auth",
            Failure::Moved(_) => "moved",
            Failure::Loading => "loading",
            Failure::Memory(_) => "out_of_memory",
            Failure::TooLarge(_) => "too_large",
            Failure::ReadOnly => "read_only",
            Failure::Replicas { .. } => "replicas",
            Failure::Missing(_) => "missing",
            Failure::Refused(_) => "refused",
            Failure::Junk { .. } => "bad_response",
            Failure::Left(_) => "left",
            Failure::RamCloud(trouble) => trouble.kind(),
        }
    }

    #[must_use]
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
    fn read(&self, asked: Asked, bytes: &[u8], course: &mut Course) -> Result<Option<usize>, Failure>;
}

/// Where a line ends, and where the next one begins; how many bytes it must have at least where it has no end yet.
/// Junk where it is too long for a line, or ends otherwise.
pub fn line(bytes: &[u8], from: usize) -> Result<Scan<&[u8]>, Junk> {
    let rest = bytes.get(from..).unwrap_or_default();
    match memchr::memchr(b'\n', rest.get(..rest.len().min(MOST_LINE)).unwrap_or_default()) {
        Some(end) => match rest.get(..end).and_then(|line| line.strip_suffix(b"\r")) {
            Some(line) => Ok(Scan::Whole { item: line, used: from + end + 1 }),
            None => Err(Junk),
        },
        None if rest.len() >= MOST_LINE => Err(Junk),
        None => Ok(Scan::Short { least: bytes.len() + 1 }),
    }
}

/// A length in digits, of at most [`MOST_VALUE`].
#[must_use]
pub fn length(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 10 {
        return None;
    }
    let mut number = 0u64;
    for digit in digits {
        number = number * 10 + u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    (number <= MOST_VALUE).then_some(number)
}

/// What to show of bytes: the beginning, in one line.
#[must_use]
pub fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 80;
    let head = bytes.get(..bytes.len().min(MOST)).unwrap_or_default();
    let dots = if bytes.len() > MOST { "..." } else { "" };
    format!("{}{dots}", head.trim_ascii_end().escape_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_digits() {
        assert_eq!(length(b"1048576"), Some(1 << 20));
        for bad in [&b""[..], b"-1", b"1a", b"99999999999", b"99999999", b" 1"] {
            assert_eq!(length(bad), None, "{}", shown(bad));
        }
    }

    #[test]
    fn lines_end_with_both_characters() {
        assert_eq!(line(b"ab\r\ncd", 0), Ok(Scan::Whole { item: &b"ab"[..], used: 4 }));
        assert_eq!(line(b"ab\r\ncd", 4), Ok(Scan::Short { least: 7 }));
        assert_eq!(line(b"ab\n", 0), Err(Junk));
        assert_eq!(line(&vec![b'x'; MOST_LINE], 0), Err(Junk));
        assert_eq!(line(b"", 9), Ok(Scan::Short { least: 1 }));
    }
}
