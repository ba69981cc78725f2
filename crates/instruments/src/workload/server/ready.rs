//! Asks a server one thing, to check that it is up and is ours: one bounded request on a connection of its own.
//!
//! Not a load engine. Web servers are asked for one file by plain HTTP/1.1 with `Connection: close`; a Content-Length
//! or the end of the connection ends the body.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use sys::clock;

/// Largest head or body of an answer: thousands of nodes or tasks of a cluster are told in it.
const LIMIT: usize = 4 << 20;
const CONNECT: Duration = Duration::from_millis(500);

/// A server's answer to one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    pub status: u16,
    /// The `Server` header.
    pub server: Option<String>,
    pub body: Vec<u8>,
}

/// Requests `path`. Fails when the answer is not complete within `timeout`.
pub fn ask(address: SocketAddr, host: &str, path: &str, timeout: Duration) -> Result<Answer, String> {
    request("GET", address, host, path, timeout)
}

/// Asks for the end of what `path` names. Fails as [`ask`] does.
pub fn delete(address: SocketAddr, host: &str, path: &str, timeout: Duration) -> Result<Answer, String> {
    request("DELETE", address, host, path, timeout)
}

fn request(
    method: &str,
    address: SocketAddr,
    host: &str,
    path: &str,
    timeout: Duration,
) -> Result<Answer, String> {
    let request = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    exchange(address, request.as_bytes(), timeout, "HTTP server", parse)
}

/// Sends `request` and reads until `parse` has an answer; its flag says that no more bytes will come. Fails when the
/// answer is not a `what`, or not complete within `timeout`.
pub fn exchange<T>(
    address: SocketAddr,
    request: &[u8],
    timeout: Duration,
    what: &str,
    parse: impl Fn(&[u8], bool) -> Parsed<T>,
) -> Result<T, String> {
    let end_ns = clock::now_ns().saturating_add(u64::try_from(timeout.as_nanos()).unwrap_or(u64::MAX));
    let failed = |error: std::io::Error| format!("{address}: {error}");
    let mut stream = TcpStream::connect_timeout(&address, timeout.min(CONNECT)).map_err(failed)?;
    stream.set_write_timeout(Some(timeout)).map_err(failed)?;
    stream.write_all(request).map_err(failed)?;
    let mut bytes = Vec::new();
    let mut chunk = [0; 4096];
    // Each round reads a byte at least, or ends.
    while bytes.len() <= LIMIT {
        let left = Duration::from_nanos(end_ns.saturating_sub(clock::now_ns()));
        if left.is_zero() {
            return Err(format!("{address}: no complete answer within {} ms", timeout.as_millis()));
        }
        stream.set_read_timeout(Some(left)).map_err(failed)?;
        let count = match stream.read(&mut chunk) {
            Ok(count) => count,
            // The clock decides, at the top.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        };
        bytes.extend_from_slice(chunk.get(..count).unwrap_or_default());
        match parse(&bytes, count == 0) {
            Parsed::Partial if count == 0 => return Err(format!("{address}: it hung up within an answer")),
            Parsed::Partial => {}
            Parsed::Whole(answer) => return Ok(answer),
            Parsed::Bad => return Err(format!("{address}: what answers is no {what}")),
        }
    }
    Err(format!("{address}: an answer of more than {LIMIT} bytes"))
}

/// The result of parsing the first bytes of an answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Parsed<T> {
    Partial,
    Whole(T),
    Bad,
}

/// Parses an answer from its first bytes; `ended` when no more will come.
fn parse(bytes: &[u8], ended: bool) -> Parsed<Answer> {
    let Some(head_end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        let could_be = bytes.iter().zip(b"HTTP/1.").all(|(byte, wanted)| byte == wanted);
        return if ended || !could_be { Parsed::Bad } else { Parsed::Partial };
    };
    let (head, rest) = bytes.split_at(head_end);
    let body = rest.get(4..).unwrap_or_default();
    let head = String::from_utf8_lossy(head);
    let mut lines = head.split("\r\n");
    let Some(status) = lines.next().and_then(status) else { return Parsed::Bad };
    let mut answer = Answer { status, ..Answer::default() };
    let mut length = None;
    for (name, value) in lines.filter_map(|line| line.split_once(':')) {
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<usize>().ok();
        } else if name.eq_ignore_ascii_case("server") {
            answer.server = Some(value.trim().to_owned());
        }
    }
    match length {
        Some(length) if body.len() >= length => {
            body.get(..length).unwrap_or_default().clone_into(&mut answer.body)
        }
        None if ended => body.clone_into(&mut answer.body),
        _ if ended => return Parsed::Bad,
        _ => return Parsed::Partial,
    }
    Parsed::Whole(answer)
}

fn status(line: &str) -> Option<u16> {
    let mut words = line.split(' ');
    words.next().filter(|version| version.starts_with("HTTP/1."))?;
    words.next()?.parse().ok().filter(|status| (100..1000).contains(status))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use proptest::prelude::*;

    use super::*;

    const GOOD: &[u8] = b"HTTP/1.1 200 OK\r\nserver: x/1 (y)\r\nContent-Length: 3\r\n\r\nabc";

    #[test]
    fn answers_are_read_whole() {
        for end in 0..GOOD.len() {
            assert_eq!(parse(&GOOD[..end], false), Parsed::Partial, "{end}");
            assert_eq!(parse(&GOOD[..end], true), Parsed::Bad, "{end}");
        }
        let wanted = Answer { status: 200, server: Some("x/1 (y)".to_owned()), body: b"abc".to_vec() };
        assert_eq!(parse(GOOD, false), Parsed::Whole(wanted));
        let until_close = b"HTTP/1.0 404 No\r\n\r\nbody";
        assert_eq!(parse(until_close, false), Parsed::Partial);
        let Parsed::Whole(answer) = parse(until_close, true) else { panic!("not whole") };
        assert_eq!((answer.status, answer.body.as_slice()), (404, &b"body"[..]));
        for bad in
            [&b"SSH-2.0-x\r\n"[..], b"HTTP/1.1 99 x\r\n\r\n", b"HTTP/1.1\r\n\r\n", b"HTTP/2 200\r\n\r\n"]
        {
            assert_eq!(parse(bad, false), Parsed::Bad);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, ended: bool) {
            let _any = parse(&bytes, ended);
            let _any = parse(&[b"HTTP/1.1 200 \r\n\r\n", bytes.as_slice()].concat(), ended);
        }
    }

    #[test]
    fn a_mute_listener_and_a_closed_port_are_errors() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let why = ask(address, "x", "/", Duration::from_millis(50)).unwrap_err();
        assert!(why.contains("within 50 ms"), "{why}");
        drop(listener);
        assert!(ask(address, "x", "/", Duration::from_millis(50)).is_err());
    }
}
