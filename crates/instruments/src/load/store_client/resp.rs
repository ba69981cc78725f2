//! RESP2 for the load engine: one key a request, and answers of which no value is kept.

use super::{Dialect, Head, RequestKind};
use crate::load::failure::Failure;
use crate::store_protocol::Junk;
use crate::store_protocol::resp::{self, Resp};

impl Dialect for Resp {
    const NAME: &'static str = "RESP";
    const MOST_KEY: usize = resp::MOST_KEY;
    const TAIL: &'static [u8] = b"\r\n";

    fn get(out: &mut Vec<u8>, key: &[u8]) {
        resp::get(out, key);
    }

    fn set(out: &mut Vec<u8>, key: &[u8], value: &[u8]) {
        resp::set(out, key, value);
    }

    fn delete(out: &mut Vec<u8>, key: &[u8]) {
        resp::delete(out, key);
    }

    fn may_begin(byte: u8) -> bool {
        resp::BEGINS.contains(&byte)
    }

    fn head(line: &[u8], asked: RequestKind) -> Result<Head, Failure> {
        match (resp::head(line).map_err(|Junk| Failure::BadResponse)?, asked) {
            (resp::Head::Error(text), _) => Ok(Head::Done(Some(resp::error(text)))),
            (resp::Head::Status(b"OK"), RequestKind::Write) | (resp::Head::Int(_), RequestKind::Delete) => {
                Ok(Head::Done(None))
            }
            (resp::Head::Bulk(None), RequestKind::Read) => Ok(Head::Done(Some(Failure::Missing))),
            (resp::Head::Bulk(Some(bytes)), RequestKind::Read) => Ok(Head::Value(bytes)),
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
            assert_eq!(Resp::head(line.as_bytes(), RequestKind::Write), Ok(Head::Done(Some(kind))), "{line}");
        }
        for (line, asked) in [
            ("+OK", RequestKind::Read),
            ("+PONG", RequestKind::Write),
            ("$-2", RequestKind::Read),
            ("$5", RequestKind::Write),
            (":x", RequestKind::Delete),
            ("", RequestKind::Read),
            ("$99999999999999999999", RequestKind::Read),
        ] {
            assert_eq!(Resp::head(line.as_bytes(), asked), Err(Failure::BadResponse), "{line}");
        }
    }
}
