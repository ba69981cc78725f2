//! memcached's classic text protocol: `get`, `set` and `delete` of one key, as every version speaks it.
//!
//! Flags and times of expiry are 0. Not used: the meta commands, the binary protocol, UDP.

use super::{Asked, Dialect, Head, number, push_number};
use crate::load::failure::Failure;

#[derive(Clone, Copy, Debug, Default)]
pub struct Memcached;

/// What an error answer means.
fn error(line: &[u8]) -> Option<Failure> {
    let text = line.strip_prefix(b"SERVER_ERROR ").map(<[u8]>::to_ascii_lowercase);
    match text {
        Some(text) if text.starts_with(b"out of memory") => Some(Failure::OutOfMemory),
        Some(text) if text.starts_with(b"object too large") => Some(Failure::TooLarge),
        Some(_) => Some(Failure::Refused),
        None if line.starts_with(b"CLIENT_ERROR unauthenticated") => Some(Failure::Auth),
        None if line == b"ERROR" || line == b"NOT_STORED" || line.starts_with(b"CLIENT_ERROR") => {
            Some(Failure::Refused)
        }
        None => None,
    }
}

/// The length in `VALUE key flags bytes`.
fn length(line: &[u8]) -> Option<u64> {
    let mut words = line.strip_prefix(b"VALUE ")?.split(|byte| *byte == b' ');
    number(words.nth(1)?)?;
    number(words.next()?)
}

impl Dialect for Memcached {
    const NAME: &'static str = "memcached's protocol";
    const MOST_KEY: usize = 250;
    const TAIL: &'static [u8] = b"\r\nEND\r\n";

    fn get(out: &mut Vec<u8>, key: &[u8]) {
        out.extend_from_slice(b"get ");
        out.extend_from_slice(key);
        out.extend_from_slice(b"\r\n");
    }

    fn set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
        out.extend_from_slice(b"set ");
        out.extend_from_slice(key);
        out.extend_from_slice(b" 0 0 ");
        push_number(out, value.len());
        out.extend_from_slice(b"\r\n");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }

    fn delete(out: &mut Vec<u8>, key: &[u8]) {
        out.extend_from_slice(b"delete ");
        out.extend_from_slice(key);
        out.extend_from_slice(b"\r\n");
    }

    fn may_begin(byte: u8) -> bool {
        b"VESDNC".contains(&byte)
    }

    fn head(line: &[u8], asked: Asked) -> Result<Head, Failure> {
        match (line, asked) {
            (b"STORED", Asked::Write) | (b"DELETED" | b"NOT_FOUND", Asked::Delete) => Ok(Head::Done(None)),
            (b"END", Asked::Read) => Ok(Head::Done(Some(Failure::Missing))),
            (line, asked) => match (length(line), error(line)) {
                (Some(length), _) if asked == Asked::Read => Ok(Head::Value(length)),
                (_, Some(failure)) => Ok(Head::Done(Some(failure))),
                _ => Err(Failure::BadResponse),
            },
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
            ("VALUE k 0 12", Asked::Read, Head::Value(12)),
            ("VALUE k 0 12 77", Asked::Read, Head::Value(12)),
            ("END", Asked::Read, Head::Done(Some(Failure::Missing))),
            ("STORED", Asked::Write, Head::Done(None)),
            ("NOT_FOUND", Asked::Delete, Head::Done(None)),
            ("NOT_STORED", Asked::Write, Head::Done(Some(Failure::Refused))),
            ("ERROR", Asked::Write, Head::Done(Some(Failure::Refused))),
            (
                "SERVER_ERROR out of memory storing object",
                Asked::Write,
                Head::Done(Some(Failure::OutOfMemory)),
            ),
            ("SERVER_ERROR Out of memory during read", Asked::Write, Head::Done(Some(Failure::OutOfMemory))),
            ("SERVER_ERROR object too large for cache", Asked::Write, Head::Done(Some(Failure::TooLarge))),
            ("CLIENT_ERROR unauthenticated", Asked::Read, Head::Done(Some(Failure::Auth))),
        ] {
            assert_eq!(Memcached::head(line.as_bytes(), asked), Ok(head), "{line}");
        }
        for (line, asked) in [
            ("STORED", Asked::Read),
            ("VALUE k 0 x", Asked::Read),
            ("VALUE k", Asked::Read),
            ("END", Asked::Write),
            ("", Asked::Write),
        ] {
            assert_eq!(Memcached::head(line.as_bytes(), asked), Err(Failure::BadResponse), "{line}");
        }
    }
}
