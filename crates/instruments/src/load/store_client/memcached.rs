//! memcached's text protocol for the load engine: one key a request, and answers of which no value is kept.

use super::{Dialect, Head, RequestKind};
use crate::load::failure::Failure;
use crate::store_protocol::Junk;
use crate::store_protocol::memcached::{self, Memcached};

impl Dialect for Memcached {
    const NAME: &'static str = "memcached's protocol";
    const MOST_KEY: usize = memcached::MOST_KEY;
    const TAIL: &'static [u8] = b"\r\nEND\r\n";

    fn get(out: &mut Vec<u8>, key: &[u8]) {
        memcached::get(out, key);
    }

    fn set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
        memcached::set(out, key, value);
    }

    fn delete(out: &mut Vec<u8>, key: &[u8]) {
        memcached::delete(out, key);
    }

    fn may_begin(byte: u8) -> bool {
        memcached::BEGINS.contains(&byte)
    }

    fn head(line: &[u8], asked: RequestKind) -> Result<Head, Failure> {
        match (memcached::head(line).map_err(|Junk| Failure::BadResponse)?, asked) {
            (memcached::Head::Stored, RequestKind::Write)
            | (memcached::Head::Deleted | memcached::Head::NotFound, RequestKind::Delete) => {
                Ok(Head::Done(None))
            }
            (memcached::Head::End, RequestKind::Read) => Ok(Head::Done(Some(Failure::Missing))),
            (memcached::Head::Value(bytes), RequestKind::Read) => Ok(Head::Value(bytes)),
            (memcached::Head::Error(text), _) => Ok(Head::Done(Some(memcached::error(text)))),
            _ => Err(Failure::BadResponse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_what_servers_read() {
        let mut out = Vec::new();
        Memcached::set(&mut out, b"k", b"abc");
        Memcached::get(&mut out, b"k");
        Memcached::delete(&mut out, b"k");
        assert_eq!(out, b"set k 0 0 3\r\nabc\r\nget k\r\ndelete k\r\n");
    }

    #[test]
    fn answers_have_kinds() {
        for (line, asked, head) in [
            ("VALUE k 0 12", RequestKind::Read, Head::Value(12)),
            ("END", RequestKind::Read, Head::Done(Some(Failure::Missing))),
            ("STORED", RequestKind::Write, Head::Done(None)),
            ("NOT_FOUND", RequestKind::Delete, Head::Done(None)),
            ("NOT_STORED", RequestKind::Write, Head::Done(Some(Failure::Refused))),
            ("ERROR", RequestKind::Write, Head::Done(Some(Failure::Refused))),
            (
                "SERVER_ERROR out of memory storing object",
                RequestKind::Write,
                Head::Done(Some(Failure::OutOfMemory)),
            ),
            (
                "SERVER_ERROR Out of memory during read",
                RequestKind::Write,
                Head::Done(Some(Failure::OutOfMemory)),
            ),
            (
                "SERVER_ERROR object too large for cache",
                RequestKind::Write,
                Head::Done(Some(Failure::TooLarge)),
            ),
            ("CLIENT_ERROR unauthenticated", RequestKind::Read, Head::Done(Some(Failure::Auth))),
        ] {
            assert_eq!(Memcached::head(line.as_bytes(), asked), Ok(head), "{line}");
        }
        for (line, asked) in [
            ("STORED", RequestKind::Read),
            ("VALUE k 0 x", RequestKind::Read),
            ("VALUE k", RequestKind::Read),
            // `get` is never answered with the fifth word, which is of `gets`.
            ("VALUE k 0 12 77", RequestKind::Read),
            ("END", RequestKind::Write),
            ("", RequestKind::Write),
        ] {
            assert_eq!(Memcached::head(line.as_bytes(), asked), Err(Failure::BadResponse), "{line}");
        }
    }
}
