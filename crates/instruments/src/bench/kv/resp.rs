//! RESP2 for a client that asks one thing at a time: how many pieces each answer has, and what they mean.

use model::login::Login;

use super::wire::{Answer, Course, Failure, KvRequest, Wire};
use crate::store_protocol::resp::{self, MOST_KEY, Piece, Resp, scan};
use crate::store_protocol::{Junk, Scan, shown};

/// How long WAIT waits, in milliseconds.
pub const WAITED_MS: u64 = 1000;

fn junk(bytes: &[u8], at: usize) -> Failure {
    Failure::Junk { protocol: "RESP", text: shown(bytes.get(at..).unwrap_or_default()) }
}

/// How many pieces an answer has; an array counts with its elements.
fn pieces(asked: KvRequest) -> u32 {
    match asked {
        KvRequest::Get(1) | KvRequest::Wait(_) | KvRequest::Text => 1,
        KvRequest::Get(keys) => keys.saturating_add(1),
        KvRequest::SetWait(_) => 2,
        KvRequest::Set(count) | KvRequest::Delete(count) => count,
    }
}

/// Takes note of one piece; `false` where it is none that this request is answered with.
fn note(asked: KvRequest, nth: u32, piece: Piece<'_>, answer: &mut Answer) -> Result<bool, Failure> {
    match (asked, piece) {
        (_, Piece::Error(text)) => return Err(Failure::Store(resp::error(text), shown(text))),
        (KvRequest::Get(keys), Piece::Array(count)) => return Ok(keys > 1 && nth == 0 && count == keys),
        (KvRequest::Get(keys), Piece::Bulk(value)) => {
            if keys > 1 && nth == 0 {
                return Ok(false);
            }
            if let Some((from, value)) = value {
                answer.count += 1;
                answer.bytes += value.len() as u64;
                answer.last = (from, from + value.len());
            }
        }
        (KvRequest::Set(_), Piece::Status(b"OK")) => answer.count += 1,
        (KvRequest::SetWait(_), Piece::Status(b"OK")) => return Ok(nth == 0),
        (KvRequest::SetWait(want), Piece::Int(have)) if nth == 1 => {
            if have < u64::from(want) {
                return Err(Failure::Replicas { have, want, ms: WAITED_MS });
            }
            answer.count = 1;
        }
        (KvRequest::Wait(want), Piece::Int(have)) => {
            if have < u64::from(want) {
                return Err(Failure::Replicas { have, want, ms: WAITED_MS });
            }
        }
        (KvRequest::Delete(_), Piece::Int(removed)) => {
            answer.count = answer.count.saturating_add(u32::try_from(removed).unwrap_or(u32::MAX));
        }
        (KvRequest::Text, Piece::Bulk(Some((from, text)))) => answer.last = (from, from + text.len()),
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
        match keys.len() {
            1 => keys.for_each(|key| resp::get(out, key)),
            _ => resp::get_many(out, keys),
        }
    }

    fn set(&self, out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
        resp::set(out, key, value);
    }

    fn delete(&self, out: &mut Vec<u8>, key: &[u8]) {
        resp::delete(out, key);
    }

    fn wait(&self, out: &mut Vec<u8>, replicas: u32, ms: u64) -> bool {
        resp::wait(out, replicas, ms);
        true
    }

    fn login(&self, out: &mut Vec<u8>, login: &Login) -> bool {
        out.extend(login.resp());
        true
    }

    fn text(&self, out: &mut Vec<u8>, part: &str) {
        resp::info(out, part);
    }

    fn read(&self, asked: KvRequest, bytes: &[u8], course: &mut Course) -> Result<Option<usize>, Failure> {
        let wanted = pieces(asked);
        while course.pieces < wanted {
            match scan(bytes, course.at) {
                Ok(Scan::Short { least }) => return Ok(Some(least)),
                Ok(Scan::Whole { item, used }) => {
                    if !note(asked, course.pieces, item, &mut course.answer)? {
                        return Err(junk(bytes, course.at));
                    }
                    (course.at, course.pieces) = (used, course.pieces + 1);
                }
                Err(Junk) => return Err(junk(bytes, course.at)),
            }
        }
        if course.at == bytes.len() { Ok(None) } else { Err(junk(bytes, course.at)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(asked: KvRequest, bytes: &[u8]) -> Result<(Option<usize>, Answer), Failure> {
        let mut course = Course::default();
        Resp.read(asked, bytes, &mut course).map(|more| (more, course.answer))
    }

    fn kind(asked: KvRequest, bytes: &[u8]) -> &'static str {
        read(asked, bytes).unwrap_err().kind()
    }

    /// As Redis 7.0.15 answers.
    #[test]
    fn answers_of_redis_are_understood() {
        let answer = |count, bytes, last| Ok((None, Answer { count, bytes, last }));
        assert_eq!(read(KvRequest::Get(1), b"$5\r\nhello\r\n"), answer(1, 5, (4, 9)));
        assert_eq!(read(KvRequest::Get(1), b"$-1\r\n"), answer(0, 0, (0, 0)));
        assert_eq!(read(KvRequest::Get(2), b"*2\r\n$1\r\na\r\n$-1\r\n"), answer(1, 1, (8, 9)));
        assert_eq!(read(KvRequest::Set(2), b"+OK\r\n+OK\r\n"), answer(2, 0, (0, 0)));
        assert_eq!(read(KvRequest::SetWait(2), b"+OK\r\n:2\r\n"), answer(1, 0, (0, 0)));
        assert_eq!(read(KvRequest::Delete(2), b":1\r\n:0\r\n"), answer(1, 0, (0, 0)));
        assert_eq!(read(KvRequest::Text, b"$6\r\na:1\r\nb\r\n"), answer(0, 0, (4, 10)));
        // Short ones say how many bytes there must be.
        assert_eq!(read(KvRequest::Get(1), b"$1000\r\nab").map(|(more, _)| more), Ok(Some(1009)));
        assert_eq!(read(KvRequest::Get(1), b"$10").map(|(more, _)| more), Ok(Some(4)));
    }

    #[test]
    fn a_write_that_too_few_replicas_have_is_a_failure() {
        assert_eq!(
            read(KvRequest::SetWait(2), b"+OK\r\n:1\r\n"),
            Err(Failure::Replicas { have: 1, want: 2, ms: WAITED_MS })
        );
        assert_eq!(kind(KvRequest::Wait(1), b":0\r\n"), "replicas");
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
            assert_eq!(kind(KvRequest::Set(1), said), wanted, "{}", shown(said));
        }
    }

    #[test]
    fn what_was_not_asked_for_is_junk() {
        for (asked, said) in [
            (KvRequest::Get(1), &b"HTTP/1.1 400 Bad Request\r\n"[..]),
            (KvRequest::Get(1), b"+OK\r\n"),
            (KvRequest::Get(1), b"$1\r\nabc\r\n"),
            (KvRequest::Get(1), b"$1\r\na\r\n+OK\r\n"),
            (KvRequest::Get(1), b"$70000000000\r\n"),
            (KvRequest::Get(2), b"$1\r\na\r\n$1\r\na\r\n$1\r\na\r\n"),
            (KvRequest::Get(2), b"*3\r\n"),
            (KvRequest::Set(1), b":1\r\n"),
            (KvRequest::SetWait(1), b":1\r\n+OK\r\n"),
            (KvRequest::Set(1), b"+OK\n"),
            (KvRequest::Get(1), b"\xff\xfe"),
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
