//! memcached's classic text protocol: a line a request, values with their length before them.
//!
//! Input: keys and values; the bytes of an answer. Output: requests in a buffer; the answer's lines
//! ([`head`]) or whole pieces ([`scan`]). Flags and times of expiry are 0. Not used: the meta commands, which servers
//! before 1.6 lack, the binary protocol, UDP.

use model::failure::Failure;

use super::{Junk, MOST_VALUE, Scan, line, number, push_number};

/// The longest key, in bytes.
pub const MOST_KEY: usize = 250;
/// How an answer to a single request may begin.
pub const BEGINS: &[u8] = b"VESDNC";

/// The protocol, for what is generic over protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Memcached;

/// The first line of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head<'a> {
    /// Bytes of the value that follows.
    Value(u64),
    /// A line of statistics.
    Stat,
    End,
    Stored,
    Deleted,
    NotFound,
    Error(&'a [u8]),
}

/// One piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Where the value begins, and the value.
    Value(usize, &'a [u8]),
    /// A line of statistics.
    Stat,
    End,
    Stored,
    Deleted,
    NotFound,
    Error(&'a [u8]),
}

/// Reads the first line of a piece, without its end. Fails on a line of no known form.
#[inline]
pub fn head(line: &[u8]) -> Result<Head<'_>, Junk> {
    Ok(match line {
        b"END" => Head::End,
        b"STORED" => Head::Stored,
        b"DELETED" => Head::Deleted,
        b"NOT_FOUND" => Head::NotFound,
        b"ERROR" | b"NOT_STORED" => Head::Error(line),
        _ if line.starts_with(b"CLIENT_ERROR") || line.starts_with(b"SERVER_ERROR") => Head::Error(line),
        _ if line.starts_with(b"STAT ") => Head::Stat,
        _ => Head::Value(value(line).ok_or(Junk)?),
    })
}

/// The length in `VALUE key flags bytes`.
fn value(line: &[u8]) -> Option<u64> {
    let mut words = line.strip_prefix(b"VALUE ")?.split(|byte| *byte == b' ');
    let (key, flags, bytes) = (words.next()?, words.next()?, words.next()?);
    number(flags).filter(|_| !key.is_empty() && words.next().is_none())?;
    number(bytes)
}

/// The piece that begins at `from`. Fails on bytes that are none, and on a value of over [`MOST_VALUE`].
pub fn scan(bytes: &[u8], from: usize) -> Result<Scan<Piece<'_>>, Junk> {
    let (first, used) = match line(bytes, from)? {
        Scan::Short { least } => {
            return match bytes.get(from) {
                Some(b'A'..=b'Z') | None => Ok(Scan::Short { least }),
                Some(_) => Err(Junk),
            };
        }
        Scan::Whole { item, used } => (item, used),
    };
    let item = match head(first)? {
        Head::Stat => Piece::Stat,
        Head::End => Piece::End,
        Head::Stored => Piece::Stored,
        Head::Deleted => Piece::Deleted,
        Head::NotFound => Piece::NotFound,
        Head::Error(text) => Piece::Error(text),
        Head::Value(size) if size > MOST_VALUE => return Err(Junk),
        Head::Value(size) => {
            return Ok(match super::value(bytes, used, size)? {
                Scan::Short { least } => Scan::Short { least },
                Scan::Whole { item, used: end } => Scan::Whole { item: Piece::Value(used, item), used: end },
            });
        }
    };
    Ok(Scan::Whole { item, used })
}

#[inline]
pub fn get(out: &mut Vec<u8>, key: &[u8]) {
    get_many(out, &mut [key].into_iter());
}

/// One request for the values of all keys.
pub fn get_many<'k, I: Iterator<Item = &'k [u8]> + ?Sized>(out: &mut Vec<u8>, keys: &mut I) {
    out.extend_from_slice(b"get");
    for key in keys {
        out.push(b' ');
        out.extend_from_slice(key);
    }
    out.extend_from_slice(b"\r\n");
}

#[inline]
pub fn set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    out.extend_from_slice(b"set ");
    out.extend_from_slice(key);
    out.extend_from_slice(b" 0 0 ");
    push_number(out, value.len());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

#[inline]
pub fn delete(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b"delete ");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\r\n");
}

/// Asks for the server's description of itself, or that part of it.
pub fn stats(out: &mut Vec<u8>, part: &str) {
    out.extend_from_slice(b"stats");
    if !part.is_empty() {
        out.push(b' ');
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(b"\r\n");
}

/// The kind of failure of an error answer.
pub fn error(line: &[u8]) -> Failure {
    let text = line.to_ascii_lowercase();
    let has = |part: &[u8]| memchr::memmem::find(&text, part).is_some();
    match () {
        () if has(b"too large") => Failure::TooLarge,
        () if has(b"out of memory") => Failure::OutOfMemory,
        () if has(b"unauthenticated") => Failure::Auth,
        () => Failure::Refused,
    }
}
