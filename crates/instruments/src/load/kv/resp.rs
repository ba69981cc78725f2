//! RESP2, as Redis and Valkey speak it: `GET`, `SET` and `DEL` of one key.
//!
//! Requests are arrays of bulk strings. Answers are read as they stream by, and no value is kept: `kv/resp` reads
//! pieces that are there as a whole, which would cost each request of a load a copy of its value. Both know the same
//! errors. Not read: RESP3, which a server speaks only to who asks with `HELLO 3`.

use super::{Asked, Dialect, Head, number, push_number};
use crate::load::failure::Failure;

#[derive(Clone, Copy, Debug, Default)]
pub struct Resp;

/// One bulk string.
#[inline]
pub fn push_bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    out.push(b'$');
    push_number(out, bytes.len());
    out.extend_from_slice(b"\r\n");
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// What an error answer means, by its first word.
#[must_use]
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

impl Dialect for Resp {
    const NAME: &'static str = "RESP";
    const MOST_KEY: usize = 65_535;
    const TAIL: &'static [u8] = b"\r\n";

    fn get(out: &mut Vec<u8>, key: &[u8]) {
        out.extend_from_slice(b"*2\r\n$3\r\nGET\r\n");
        push_bulk(out, key);
    }

    fn set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
        out.extend_from_slice(b"*3\r\n$3\r\nSET\r\n");
        push_bulk(out, key);
        push_bulk(out, value);
    }

    fn delete(out: &mut Vec<u8>, key: &[u8]) {
        out.extend_from_slice(b"*2\r\n$3\r\nDEL\r\n");
        push_bulk(out, key);
    }

    fn may_begin(byte: u8) -> bool {
        b"+-:$".contains(&byte)
    }

    fn head(line: &[u8], asked: Asked) -> Result<Head, Failure> {
        let (kind, rest) = line.split_first().ok_or(Failure::BadResponse)?;
        match (kind, asked) {
            (b'-', _) => Ok(Head::Done(Some(error(rest)))),
            (b'+', Asked::Write) if rest == b"OK" => Ok(Head::Done(None)),
            (b':', Asked::Delete) if number(rest).is_some() => Ok(Head::Done(None)),
            (b'$', Asked::Read) if rest == b"-1" => Ok(Head::Done(Some(Failure::Missing))),
            (b'$', Asked::Read) => number(rest).map(Head::Value).ok_or(Failure::BadResponse),
            _ => Err(Failure::BadResponse),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_what_servers_read() {
        let text = |make: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            make(&mut out);
            String::from_utf8(out).unwrap()
        };
        assert_eq!(text(&|out| Resp::get(out, b"k1")), "*2\r\n$3\r\nGET\r\n$2\r\nk1\r\n");
        let set = "*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$12\r\nabcdefghijkl\r\n";
        assert_eq!(text(&|out| Resp::set(out, b"k", b"abcdefghijkl")), set);
        assert_eq!(text(&|out| Resp::delete(out, b"k")), "*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n");
    }

    #[test]
    fn errors_have_kinds() {
        for (line, kind) in [
            ("-ERR unknown command", Failure::Refused),
            ("-OOM command not allowed when used memory > 'maxmemory'.", Failure::OutOfMemory),
            ("-MOVED 866 127.0.0.1:7001", Failure::Moved),
            ("-LOADING Redis is loading the dataset in memory", Failure::Loading),
            ("-NOAUTH Authentication required.", Failure::Auth),
            ("-READONLY You can't write against a read only replica.", Failure::ReadOnly),
            ("-ERR Protocol error: invalid bulk length", Failure::TooLarge),
            ("-", Failure::Refused),
        ] {
            assert_eq!(Resp::head(line.as_bytes(), Asked::Write), Ok(Head::Done(Some(kind))), "{line}");
        }
        for (line, asked) in [
            ("+OK", Asked::Read),
            ("+PONG", Asked::Write),
            ("$-2", Asked::Read),
            ("$5", Asked::Write),
            (":x", Asked::Delete),
            ("", Asked::Read),
            ("$99999999999999999999", Asked::Read),
        ] {
            assert_eq!(Resp::head(line.as_bytes(), asked), Err(Failure::BadResponse), "{line}");
        }
    }
}
