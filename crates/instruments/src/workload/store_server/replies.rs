//! Stores' descriptions of themselves: the answers to `INFO` (Redis, Valkey) and `stats` (memcached), as names and
//! values.
//!
//! One bounded question on a connection of its own; not a client of stores, and nothing is timed.

use std::net::SocketAddr;
use std::time::Duration;

use model::login::{REMEDY, refusal};

use crate::store_protocol::resp::{Piece, scan};
use crate::store_protocol::{Junk, Scan};
use crate::workload::server::ready::{self, Parsed};

/// Lines of names and values, in the store's order and its own units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Info(Vec<(String, String)>);

impl Info {
    /// Lines of `name:value`; comments and what has no colon are left out.
    pub fn parse(text: &[u8]) -> Info {
        let text = String::from_utf8_lossy(text);
        let lines = text.lines().filter(|line| !line.starts_with('#'));
        Info(
            lines
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
                .collect(),
        )
    }

    /// Lines of `STAT name value`.
    fn of_stats(text: &[u8]) -> Info {
        let text = String::from_utf8_lossy(text);
        let lines = text.lines().filter_map(|line| line.strip_prefix("STAT ")?.split_once(' '));
        Info(lines.map(|(name, value)| (name.to_owned(), value.trim().to_owned())).collect())
    }

    /// The value of the first line of that name.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.lines().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    pub fn number(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    pub fn lines(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Facts, or an error in the store's words.
type Answer = Parsed<Result<Info, String>>;

/// Asks `question`; what `parse` cannot read comes from no `what`, and an error answer is an error in its words.
pub(super) fn ask(
    address: SocketAddr,
    question: &[u8],
    timeout: Duration,
    what: &str,
    parse: fn(&[u8], bool) -> Answer,
) -> Result<Info, String> {
    let answer = ready::exchange(address, question, timeout, what, parse)?;
    answer.map_err(|said| {
        let remedy = if said.starts_with("NOAUTH") { format!("; {REMEDY}") } else { String::new() };
        format!("{address}: it answers: {said}{remedy}")
    })
}

/// The same behind the answer to a login, which is an error by its kind alone: its words may repeat the password.
pub(super) fn info_behind_login(bytes: &[u8], ended: bool) -> Answer {
    match scan(bytes, 0) {
        Ok(Scan::Short { .. }) => Parsed::Partial,
        Ok(Scan::Whole { item: Piece::Status(b"OK"), used }) => {
            info(bytes.get(used..).unwrap_or_default(), ended)
        }
        Ok(Scan::Whole { item: Piece::Error(said), .. }) => {
            Parsed::Whole(Err(format!("it refuses AUTH: `{}`; {REMEDY}", refusal(said))))
        }
        Ok(Scan::Whole { .. }) | Err(Junk) => Parsed::Bad,
    }
}

/// A bulk string of RESP2 with lines of `name:value`, or an error of the store.
pub(super) fn info(bytes: &[u8], _ended: bool) -> Answer {
    match scan(bytes, 0) {
        Ok(Scan::Short { .. }) => Parsed::Partial,
        Ok(Scan::Whole { item: Piece::Bulk(Some((_, text))), .. }) => Parsed::Whole(Ok(Info::parse(text))),
        Ok(Scan::Whole { item: Piece::Error(said), .. }) => {
            Parsed::Whole(Err(String::from_utf8_lossy(said).into_owned()))
        }
        Ok(Scan::Whole { .. }) | Err(Junk) => Parsed::Bad,
    }
}

/// Lines of `STAT name value` up to `END`, or an error of memcached.
pub(super) fn stats(bytes: &[u8], _ended: bool) -> Answer {
    const WORDS: [&[u8]; 4] = [b"STAT ", b"END\r\n", b"ERROR", b"SERVER_ERROR "];
    let starts = |word: &[u8]| bytes.iter().zip(word).all(|(byte, wanted)| byte == wanted);
    if !WORDS.into_iter().any(starts) {
        return Parsed::Bad;
    }
    let is_error = bytes.contains(&b'\n') && (bytes.starts_with(b"ERROR") || bytes.starts_with(b"SERVER_"));
    if is_error {
        let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
        return Parsed::Whole(Err(String::from_utf8_lossy(line).into_owned()));
    }
    match bytes == b"END\r\n" || bytes.ends_with(b"\nEND\r\n") {
        true => Parsed::Whole(Ok(Info::of_stats(bytes))),
        false => Parsed::Partial,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const INFO: &[u8] = b"$44\r\n# Server\r\nprocess_id:7\r\n\r\n# x\r\nrole:master\r\n\r\n";
    const STATS: &[u8] = b"STAT pid 9\r\nSTAT version 1.6.18\r\nEND\r\n";

    #[test]
    fn answers_are_read_whole() {
        for (bytes, parse) in [(INFO, info as fn(&[u8], bool) -> Answer), (STATS, stats)] {
            for end in 0..bytes.len() {
                assert_eq!(parse(&bytes[..end], false), Parsed::Partial, "{end}");
            }
        }
        let Parsed::Whole(Ok(read)) = info(INFO, false) else { panic!("not whole") };
        assert_eq!((read.number("process_id"), read.text("role")), (Some(7), Some("master")));
        assert_eq!(read.lines().count(), 2);
        let Parsed::Whole(Ok(read)) = stats(STATS, false) else { panic!("not whole") };
        assert_eq!((read.number("pid"), read.text("version")), (Some(9), Some("1.6.18")));
        assert_eq!((read.number("version"), read.text("uptime")), (None, None));
        let behind = [b"+OK\r\n", INFO].concat();
        for end in 0..behind.len() {
            assert_eq!(info_behind_login(&behind[..end], false), Parsed::Partial, "{end}");
        }
        assert!(matches!(info_behind_login(&behind, false), Parsed::Whole(Ok(_))));
        let Parsed::Whole(Err(why)) = info_behind_login(b"-ERR unknown `AUTH`, `sesame`\r\n", false) else {
            panic!("no error")
        };
        assert!(why.contains("`ERR: it has no password") && !why.contains("sesame"), "{why}");
        assert_eq!(info_behind_login(b"HTTP/1.1", false), Parsed::Bad);
    }

    #[test]
    fn errors_and_other_servers_are_told_apart() {
        let said = |parsed| match parsed {
            Parsed::Whole(Err(said)) => said,
            other => panic!("{other:?}"),
        };
        assert_eq!(
            said(info(b"-NOAUTH Authentication required.\r\n", false)),
            "NOAUTH Authentication required."
        );
        assert_eq!(said(stats(b"ERROR\r\n", false)), "ERROR");
        for bad in [&b"HTTP/1.1 400 Bad\r\n"[..], b"$x\r\n", b"$1\r\nab\r\n", b"\r\n"] {
            assert_eq!(info(bad, false), Parsed::Bad);
        }
        assert_eq!(stats(b"-ERR unknown command\r\n", false), Parsed::Bad);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>) {
            for parse in [info, stats] {
                let _any = parse(&bytes, false);
                let _any = parse(&[b"$3\r\n", bytes.as_slice()].concat(), true);
                let _any = parse(&[b"STAT ", bytes.as_slice()].concat(), true);
            }
        }
    }
}
