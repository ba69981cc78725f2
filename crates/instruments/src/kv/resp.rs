//! RESP2 as Redis and Valkey speak it: requests are arrays of bulk strings, answers are read piece by piece.
//!
//! Pure over bytes; `scan` is the reader of whatever is asked of such a store by itself (also `store/replies`,
//! `store/beside`). It needs a piece whole: the load engine, which keeps no value, reads what streams by
//! (`load/kv/resp`). Not read: RESP3 types, which a server sends only to who asks with HELLO 3.

use model::login::Login;

use super::wire::{Answer, Asked, Course, Failure, Junk, Scan, Wire, length, line, shown};
use crate::load::failure::Failure as Kind;
use crate::load::kv::push_number;
use crate::load::kv::resp::{self, push_bulk};

/// No key is longer here: those of the tests have 30 B, and at most 60,000.
const MOST_KEY: usize = 65_535;
/// How long WAIT waits, in milliseconds.
pub const WAITED_MS: u64 = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resp;

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

/// The piece that begins at `from`.
pub fn scan(bytes: &[u8], from: usize) -> Result<Scan<Piece<'_>>, Junk> {
    let (head, used) = match line(bytes, from)? {
        // What begins wrongly is junk before its line ends.
        Scan::Short { least } => {
            return match bytes.get(from) {
                Some(b'+' | b'-' | b':' | b'$' | b'*') | None => Ok(Scan::Short { least }),
                Some(_) => Err(Junk),
            };
        }
        Scan::Whole { item, used } => (item, used),
    };
    let (kind, rest) = head.split_first().ok_or(Junk)?;
    let item = match kind {
        b'+' => Piece::Status(rest),
        b'-' => Piece::Error(rest),
        b':' => Piece::Int(std::str::from_utf8(rest).ok().and_then(|text| text.parse().ok()).ok_or(Junk)?),
        b'*' => Piece::Array(length(rest).and_then(|count| u32::try_from(count).ok()).ok_or(Junk)?),
        b'$' if rest == b"-1" => Piece::Bulk(None),
        b'$' => {
            let size = usize::try_from(length(rest).ok_or(Junk)?).map_err(|_| Junk)?;
            let end = used + size + 2;
            return match bytes.get(used..end) {
                Some(body) => match body.split_last_chunk::<2>() {
                    Some((value, b"\r\n")) => {
                        Ok(Scan::Whole { item: Piece::Bulk(Some((used, value))), used: end })
                    }
                    _ => Err(Junk),
                },
                None => Ok(Scan::Short { least: end }),
            };
        }
        _ => return Err(Junk),
    };
    Ok(Scan::Whole { item, used })
}

/// What an error answer means, in the words of the store where they say more.
#[must_use]
pub fn error(text: &[u8]) -> Failure {
    let said = || shown(text);
    match resp::error(text) {
        Kind::Auth => Failure::Auth(said()),
        Kind::Moved => Failure::Moved(said()),
        Kind::Loading => Failure::Loading,
        Kind::OutOfMemory => Failure::Memory(said()),
        Kind::ReadOnly => Failure::ReadOnly,
        Kind::TooLarge => Failure::TooLarge(said()),
        _ => Failure::Refused(said()),
    }
}

fn push_head(out: &mut Vec<u8>, words: usize, name: &[u8]) {
    out.push(b'*');
    push_number(out, words);
    out.extend_from_slice(b"\r\n");
    push_bulk(out, name);
}

impl Resp {
    fn junk(bytes: &[u8], at: usize) -> Failure {
        Failure::Junk { protocol: "RESP", text: shown(bytes.get(at..).unwrap_or_default()) }
    }
}

/// How many pieces an answer has; an array counts with its elements.
fn pieces(asked: Asked) -> u32 {
    match asked {
        Asked::Get(1) | Asked::Wait(_) | Asked::Text => 1,
        Asked::Get(keys) => keys.saturating_add(1),
        Asked::SetWait(_) => 2,
        Asked::Set(count) | Asked::Delete(count) => count,
    }
}

/// Takes note of one piece; `false` where it is none that this request is answered with.
fn note(asked: Asked, nth: u32, piece: Piece<'_>, answer: &mut Answer) -> Result<bool, Failure> {
    match (asked, piece) {
        (_, Piece::Error(text)) => return Err(error(text)),
        (Asked::Get(keys), Piece::Array(count)) => return Ok(keys > 1 && nth == 0 && count == keys),
        (Asked::Get(keys), Piece::Bulk(value)) => {
            if keys > 1 && nth == 0 {
                return Ok(false);
            }
            if let Some((from, value)) = value {
                answer.count += 1;
                answer.bytes += value.len() as u64;
                answer.last = (from, from + value.len());
            }
        }
        (Asked::Set(_), Piece::Status(b"OK")) => answer.count += 1,
        (Asked::SetWait(_), Piece::Status(b"OK")) => return Ok(nth == 0),
        (Asked::SetWait(want), Piece::Int(have)) if nth == 1 => {
            if have < u64::from(want) {
                return Err(Failure::Replicas { have, want, ms: WAITED_MS });
            }
            answer.count = 1;
        }
        (Asked::Wait(want), Piece::Int(have)) => {
            if have < u64::from(want) {
                return Err(Failure::Replicas { have, want, ms: WAITED_MS });
            }
        }
        (Asked::Delete(_), Piece::Int(removed)) => {
            answer.count = answer.count.saturating_add(u32::try_from(removed).unwrap_or(u32::MAX));
        }
        (Asked::Text, Piece::Bulk(Some((from, text)))) => answer.last = (from, from + text.len()),
        _ => return Ok(false),
    }
    Ok(true)
}

impl Wire for Resp {
    fn name(&self) -> &'static str {
        "RESP"
    }

    fn most_key(&self) -> usize {
        MOST_KEY
    }

    fn get(&self, out: &mut Vec<u8>, keys: &mut dyn ExactSizeIterator<Item = &[u8]>) {
        let count = keys.len();
        push_head(out, count + 1, if count == 1 { b"GET" } else { b"MGET" });
        keys.for_each(|key| push_bulk(out, key));
    }

    fn set(&self, out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
        push_head(out, 3, b"SET");
        push_bulk(out, key);
        push_bulk(out, value);
    }

    fn delete(&self, out: &mut Vec<u8>, key: &[u8]) {
        push_head(out, 2, b"DEL");
        push_bulk(out, key);
    }

    fn wait(&self, out: &mut Vec<u8>, replicas: u32, ms: u64) -> bool {
        push_head(out, 3, b"WAIT");
        push_bulk(out, replicas.to_string().as_bytes());
        push_bulk(out, ms.to_string().as_bytes());
        true
    }

    fn login(&self, out: &mut Vec<u8>, login: &Login) -> bool {
        out.extend(login.resp());
        true
    }

    fn text(&self, out: &mut Vec<u8>, part: &str) {
        push_head(out, 2, b"INFO");
        push_bulk(out, part.as_bytes());
    }

    fn read(&self, asked: Asked, bytes: &[u8], course: &mut Course) -> Result<Option<usize>, Failure> {
        let wanted = pieces(asked);
        while course.pieces < wanted {
            match scan(bytes, course.at) {
                Ok(Scan::Short { least }) => return Ok(Some(least)),
                Ok(Scan::Whole { item, used }) => {
                    if !note(asked, course.pieces, item, &mut course.answer)? {
                        return Err(Resp::junk(bytes, course.at));
                    }
                    (course.at, course.pieces) = (used, course.pieces + 1);
                }
                Err(Junk) => return Err(Resp::junk(bytes, course.at)),
            }
        }
        if course.at == bytes.len() { Ok(None) } else { Err(Resp::junk(bytes, course.at)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(asked: Asked, bytes: &[u8]) -> Result<(Option<usize>, Answer), Failure> {
        let mut course = Course::default();
        Resp.read(asked, bytes, &mut course).map(|more| (more, course.answer))
    }

    fn kind(asked: Asked, bytes: &[u8]) -> &'static str {
        read(asked, bytes).unwrap_err().kind()
    }

    /// As Redis 7.0.15 answers.
    #[test]
    fn answers_of_redis_are_understood() {
        let answer = |count, bytes, last| Ok((None, Answer { count, bytes, last }));
        assert_eq!(read(Asked::Get(1), b"$5\r\nhello\r\n"), answer(1, 5, (4, 9)));
        assert_eq!(read(Asked::Get(1), b"$-1\r\n"), answer(0, 0, (0, 0)));
        assert_eq!(read(Asked::Get(2), b"*2\r\n$1\r\na\r\n$-1\r\n"), answer(1, 1, (8, 9)));
        assert_eq!(read(Asked::Set(2), b"+OK\r\n+OK\r\n"), answer(2, 0, (0, 0)));
        assert_eq!(read(Asked::SetWait(2), b"+OK\r\n:2\r\n"), answer(1, 0, (0, 0)));
        assert_eq!(read(Asked::Delete(2), b":1\r\n:0\r\n"), answer(1, 0, (0, 0)));
        assert_eq!(read(Asked::Text, b"$6\r\na:1\r\nb\r\n"), answer(0, 0, (4, 10)));
        // Short ones say how many bytes there must be.
        assert_eq!(read(Asked::Get(1), b"$1000\r\nab").map(|(more, _)| more), Ok(Some(1009)));
        assert_eq!(read(Asked::Get(1), b"$10").map(|(more, _)| more), Ok(Some(4)));
    }

    #[test]
    fn a_write_that_too_few_replicas_have_is_a_failure() {
        assert_eq!(
            read(Asked::SetWait(2), b"+OK\r\n:1\r\n"),
            Err(Failure::Replicas { have: 1, want: 2, ms: WAITED_MS })
        );
        assert_eq!(kind(Asked::Wait(1), b":0\r\n"), "replicas");
    }

    #[test]
    fn errors_have_kinds() {
        for (said, wanted) in [
            (&b"-NOAUTH Authentication required.\r\n"[..], "auth"),
            (b"-DENIED Redis is running in protected mode\r\n", "auth"),
            (b"-MOVED 3999 127.0.0.1:6381\r\n", "moved"),
            (b"-CLUSTERDOWN Hash slot not served\r\n", "moved"),
            (b"-LOADING Redis is loading the dataset in memory\r\n", "loading"),
            (b"-OOM command not allowed when used memory > 'maxmemory'.\r\n", "out_of_memory"),
            (b"-READONLY You can't write against a read only replica.\r\n", "read_only"),
            (b"-ERR Protocol error: invalid bulk length\r\n", "too_large"),
            (b"-ERR unknown command 'version'\r\n", "refused"),
            (b"-MISCONF Redis is configured to save RDB snapshots\r\n", "refused"),
        ] {
            assert_eq!(kind(Asked::Set(1), said), wanted, "{}", shown(said));
        }
    }

    #[test]
    fn what_was_not_asked_for_is_junk() {
        for (asked, said) in [
            (Asked::Get(1), &b"HTTP/1.1 400 Bad Request\r\n"[..]),
            (Asked::Get(1), b"+OK\r\n"),
            (Asked::Get(1), b"$1\r\nabc\r\n"),
            (Asked::Get(1), b"$1\r\na\r\n+OK\r\n"),
            (Asked::Get(1), b"$70000000000\r\n"),
            (Asked::Get(2), b"$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n"),
            (Asked::Get(2), b"*3\r\n"),
            (Asked::Set(1), b":1\r\n"),
            (Asked::SetWait(1), b":1\r\n+OK\r\n"),
            (Asked::Set(1), b"+OK\n"),
            (Asked::Get(1), b"\xff\xfe"),
        ] {
            assert_eq!(kind(asked, said), "bad_response", "{}", shown(said));
        }
    }

    #[test]
    fn requests_are_arrays_of_bulk_strings() {
        let mut out = Vec::new();
        Resp.get(&mut out, &mut [&b"a"[..]].into_iter());
        assert_eq!(out, b"*2\r\n$3\r\nGET\r\n$1\r\na\r\n");
        out.clear();
        Resp.get(&mut out, &mut [&b"a"[..], b"bc"].into_iter());
        assert_eq!(out, b"*3\r\n$4\r\nMGET\r\n$1\r\na\r\n$2\r\nbc\r\n");
        out.clear();
        Resp.set(&mut out, b"a", b"xyz");
        assert!(Resp.wait(&mut out, 2, 1000));
        assert_eq!(
            out,
            b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$3\r\nxyz\r\n*3\r\n$4\r\nWAIT\r\n$1\r\n2\r\n$4\r\n1000\r\n"
        );
    }
}
