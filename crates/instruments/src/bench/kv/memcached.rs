//! memcached's text protocol for a client that asks one thing at a time. A miss is an answer without the value.

use model::login::Login;

use super::wire::{Answer, Course, Failure, KvRequest, Wire};
use crate::store_protocol::memcached::{self, MOST_KEY, Memcached, Piece, scan};
use crate::store_protocol::{Junk, Scan, shown};

fn junk(bytes: &[u8], at: usize) -> Failure {
    Failure::Junk { protocol: "memcached", text: shown(bytes.get(at..).unwrap_or_default()) }
}

/// The effect of a piece on the answer.
enum Sense {
    More,
    Done,
    Wrong,
}

fn note(asked: KvRequest, course: &mut Course, piece: Piece<'_>) -> Result<Sense, Failure> {
    let nth = course.pieces;
    let last = |count: u32| if nth + 1 == count { Sense::Done } else { Sense::More };
    let answer: &mut Answer = &mut course.answer;
    Ok(match (asked, piece) {
        (_, Piece::Error(text)) => return Err(Failure::Store(memcached::error(text), shown(text))),
        (KvRequest::Get(keys), Piece::Value(from, value)) => {
            answer.count += 1;
            answer.bytes += value.len() as u64;
            answer.last = (from, from + value.len());
            if answer.count > keys { Sense::Wrong } else { Sense::More }
        }
        (KvRequest::Get(_), Piece::End) => Sense::Done,
        (KvRequest::Set(count), Piece::Stored) => {
            answer.count += 1;
            last(count)
        }
        (KvRequest::Delete(count), Piece::Deleted) => {
            answer.count += 1;
            last(count)
        }
        (KvRequest::Delete(count), Piece::NotFound) => last(count),
        (KvRequest::Text, Piece::Stat) => Sense::More,
        (KvRequest::Text, Piece::End) => {
            answer.last = (0, course.at);
            Sense::Done
        }
        _ => Sense::Wrong,
    })
}

impl Wire for Memcached {
    fn name(&self) -> &'static str {
        "memcached"
    }

    fn most_key(&self) -> usize {
        MOST_KEY
    }

    fn get(&self, out: &mut Vec<u8>, keys: &mut dyn ExactSizeIterator<Item = &[u8]>) {
        memcached::get_many(out, keys);
    }

    fn set(&self, out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
        memcached::set(out, key, value);
    }

    fn delete(&self, out: &mut Vec<u8>, key: &[u8]) {
        memcached::delete(out, key);
    }

    fn wait(&self, _: &mut Vec<u8>, _: u32, _: u64) -> bool {
        false
    }

    /// SASL is of its binary protocol alone.
    fn login(&self, _: &mut Vec<u8>, _: &Login) -> bool {
        false
    }

    fn text(&self, out: &mut Vec<u8>, part: &str) {
        memcached::stats(out, part);
    }

    fn read(&self, asked: KvRequest, bytes: &[u8], course: &mut Course) -> Result<Option<usize>, Failure> {
        loop {
            match scan(bytes, course.at) {
                Ok(Scan::Short { least }) => return Ok(Some(least)),
                Ok(Scan::Whole { item, used }) => {
                    let sense = note(asked, course, item)?;
                    let before = course.at;
                    (course.at, course.pieces) = (used, course.pieces + 1);
                    match sense {
                        Sense::More => {}
                        Sense::Done if used == bytes.len() => return Ok(None),
                        Sense::Done => return Err(junk(bytes, used)),
                        Sense::Wrong => return Err(junk(bytes, before)),
                    }
                }
                Err(Junk) => return Err(junk(bytes, course.at)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(asked: KvRequest, bytes: &[u8]) -> Result<(Option<usize>, Answer), Failure> {
        let mut course = Course::default();
        Memcached.read(asked, bytes, &mut course).map(|more| (more, course.answer))
    }

    /// As memcached 1.6.18 answers.
    #[test]
    fn answers_of_memcached_are_understood() {
        let answer = |count, bytes, last| Ok((None, Answer { count, bytes, last }));
        assert_eq!(read(KvRequest::Get(1), b"VALUE a 0 3\r\nabc\r\nEND\r\n"), answer(1, 3, (13, 16)));
        assert_eq!(read(KvRequest::Get(1), b"END\r\n"), answer(0, 0, (0, 0)));
        let two = b"VALUE a 0 1\r\nx\r\nVALUE b 0 2\r\nyz\r\nEND\r\n";
        assert_eq!(read(KvRequest::Get(3), two), answer(2, 3, (29, 31)));
        assert_eq!(read(KvRequest::Set(2), b"STORED\r\nSTORED\r\n"), answer(2, 0, (0, 0)));
        assert_eq!(read(KvRequest::Delete(2), b"DELETED\r\nNOT_FOUND\r\n"), answer(1, 0, (0, 0)));
        assert_eq!(
            read(KvRequest::Text, b"STAT pid 1\r\nSTAT version 1.6.18\r\nEND\r\n"),
            answer(0, 0, (0, 33))
        );
        assert_eq!(read(KvRequest::Get(1), b"VALUE a 0 1000\r\nab").map(|(more, _)| more), Ok(Some(1018)));
    }

    #[test]
    fn errors_have_kinds_and_the_rest_is_junk() {
        for (asked, said, wanted) in [
            (KvRequest::Set(1), &b"SERVER_ERROR object too large for cache\r\n"[..], "too_large"),
            (KvRequest::Set(1), b"SERVER_ERROR out of memory storing object\r\n", "out_of_memory"),
            (KvRequest::Get(1), b"CLIENT_ERROR unauthenticated\r\n", "auth"),
            (KvRequest::Get(1), b"ERROR\r\n", "refused"),
            (KvRequest::Get(1), b"CLIENT_ERROR bad command line format\r\n", "refused"),
            (KvRequest::Get(1), b"STORED\r\n", "bad_response"),
            (KvRequest::Get(1), b"VALUE a 0 1\r\nx\r\nVALUE b 0 1\r\ny\r\nEND\r\n", "bad_response"),
            (KvRequest::Get(1), b"VALUE a 0\r\n", "bad_response"),
            (KvRequest::Get(1), b"VALUE a 0 1 9\r\nx\r\nEND\r\n", "bad_response"),
            (KvRequest::Get(1), b"VALUE a 0 1\r\nxyz\r\nEND\r\n", "bad_response"),
            (KvRequest::Set(1), b"STORED\r\nSTORED\r\n", "bad_response"),
            (KvRequest::Set(1), b"-ERR unknown command\r\n", "bad_response"),
        ] {
            let failure = read(asked, said).unwrap_err();
            assert_eq!(failure.kind(), wanted, "{}", shown(said));
        }
    }

    #[test]
    fn requests_are_lines() {
        let mut out = Vec::new();
        Memcached.get(&mut out, &mut [&b"a"[..], b"bc"].into_iter());
        Memcached.set(&mut out, b"a", b"xyz");
        Memcached.delete(&mut out, b"a");
        Memcached.text(&mut out, "");
        assert_eq!(out, b"get a bc\r\nset a 0 0 3\r\nxyz\r\ndelete a\r\nstats\r\n");
        assert!(!Memcached.wait(&mut out, 1, 1000));
    }
}
