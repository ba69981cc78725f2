//! RESP2 as Redis and Valkey speak it: requests are arrays of bulk strings, answers begin with a line.
//!
//! Input: keys and values; the bytes of an answer. Output: requests in a buffer; the answer's lines
//! ([`head`]) or whole pieces ([`scan`]). Not read: RESP3, which a server speaks only to who asks with `HELLO 3`.

use model::failure::Failure;

use super::{Junk, MOST_VALUE, Scan, line, number, push_number};

/// No key of a test is longer, in bytes.
pub const MOST_KEY: usize = 65_535;
/// How an answer to a single request may begin.
pub const BEGINS: &[u8] = b"+-:$";

/// The protocol, for what is generic over protocols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resp;

/// The first line of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head<'a> {
    Status(&'a [u8]),
    Error(&'a [u8]),
    Int(u64),
    /// Bytes of the value that follows; none where the key has none.
    Bulk(Option<u64>),
    /// How many pieces follow.
    Array(u32),
}

/// One piece of an answer; the elements of an array follow it as pieces of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    Status(&'a [u8]),
    Error(&'a [u8]),
    Int(u64),
    /// Where the value begins, and the value; none where the key has none.
    Bulk(Option<(usize, &'a [u8])>),
    Array(u32),
}

/// Reads the first line of a piece, without its end. Fails on a line of no known form.
#[inline]
pub fn head(line: &[u8]) -> Result<Head<'_>, Junk> {
    let (kind, rest) = line.split_first().ok_or(Junk)?;
    Ok(match kind {
        b'+' => Head::Status(rest),
        b'-' => Head::Error(rest),
        b':' => Head::Int(number(rest).ok_or(Junk)?),
        b'$' if rest == b"-1" => Head::Bulk(None),
        b'$' => Head::Bulk(Some(number(rest).ok_or(Junk)?)),
        b'*' => Head::Array(super::length(rest).and_then(|count| u32::try_from(count).ok()).ok_or(Junk)?),
        _ => return Err(Junk),
    })
}

/// The piece that begins at `from`. Fails on bytes that are none, and on a value of over [`MOST_VALUE`].
pub fn scan(bytes: &[u8], from: usize) -> Result<Scan<Piece<'_>>, Junk> {
    let (first, used) = match line(bytes, from)? {
        // What begins wrongly is junk before its line ends.
        Scan::Short { least } => {
            return match bytes.get(from) {
                Some(first) if *first != b'*' && !BEGINS.contains(first) => Err(Junk),
                _ => Ok(Scan::Short { least }),
            };
        }
        Scan::Whole { item, used } => (item, used),
    };
    let item = match head(first)? {
        Head::Status(text) => Piece::Status(text),
        Head::Error(text) => Piece::Error(text),
        Head::Int(number) => Piece::Int(number),
        Head::Array(count) => Piece::Array(count),
        Head::Bulk(None) => Piece::Bulk(None),
        Head::Bulk(Some(size)) if size > MOST_VALUE => return Err(Junk),
        Head::Bulk(Some(size)) => {
            return Ok(match super::value(bytes, used, size)? {
                Scan::Short { least } => Scan::Short { least },
                Scan::Whole { item, used: end } => {
                    Scan::Whole { item: Piece::Bulk(Some((used, item))), used: end }
                }
            });
        }
    };
    Ok(Scan::Whole { item, used })
}

/// One bulk string.
#[inline]
pub fn push_bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'$');
    push_number(out, bytes.len());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

fn push_head(out: &mut Vec<u8>, words: usize, name: &[u8]) {
    out.push(b'*');
    push_number(out, words);
    out.extend_from_slice(b"\r\n");
    push_bulk(out, name);
}

#[inline]
pub fn get(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b"*2\r\n$3\r\nGET\r\n");
    push_bulk(out, key);
}

/// One request for the values of all keys.
pub fn get_many(out: &mut Vec<u8>, keys: &mut dyn ExactSizeIterator<Item = &[u8]>) {
    push_head(out, keys.len() + 1, b"MGET");
    keys.for_each(|key| push_bulk(out, key));
}

#[inline]
pub fn set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
    out.extend_from_slice(b"*3\r\n$3\r\nSET\r\n");
    push_bulk(out, key);
    push_bulk(out, value);
}

#[inline]
pub fn delete(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b"*2\r\n$3\r\nDEL\r\n");
    push_bulk(out, key);
}

/// Wait until so many replicas have what was written before.
pub fn wait(out: &mut Vec<u8>, replicas: u32, ms: u64) {
    push_head(out, 3, b"WAIT");
    push_bulk(out, replicas.to_string().as_bytes());
    push_bulk(out, ms.to_string().as_bytes());
}

/// Asks for the server's description of itself, or that part of it.
pub fn info(out: &mut Vec<u8>, part: &str) {
    push_head(out, 2, b"INFO");
    push_bulk(out, part.as_bytes());
}

/// The kind of failure of an error answer, by its first word.
pub fn error(text: &[u8]) -> Failure {
    let word = text.split(|byte| *byte == b' ').next().unwrap_or_default();
    let has = |part: &[u8]| memchr::memmem::find(text, part).is_some();
    match word {
        b"NOAUTH" | b"WRONGPASS" | b"NOPERM" | b"DENIED" => Failure::Auth,
        b"MOVED" | b"ASK" | b"CLUSTERDOWN" | b"CROSSSLOT" | b"TRYAGAIN" => Failure::Moved,
        b"LOADING" => Failure::Loading,
        b"OOM" => Failure::OutOfMemory,
        b"READONLY" => Failure::ReadOnly,
        b"ERR" if has(b"invalid bulk length") || has(b"string exceeds maximum") => Failure::TooLarge,
        _ => Failure::Refused,
    }
}
