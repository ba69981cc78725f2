//! One request of HTTP/1.1 over TLS, with a limit: a connection for each, whose end is the end of the answer.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use super::tls::Pinned;
use crate::bmc::{Access, Failure};
use crate::ssh::printable;
use crate::stop::Limit;

/// How long a BMC may take to let us in, and how often a wait looks whether the user stopped.
const CONNECT: Duration = Duration::from_secs(4);
const LOOK: Duration = Duration::from_millis(200);

/// Bytes of an answer that are kept.
const MOST: usize = 4 << 20;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub status: u16,
    pub location: Option<String>,
    pub body: Vec<u8>,
}

/// Makes a request; `body` is JSON. Fails where there is no whole answer within the limit.
pub(super) fn request(
    access: &Access,
    insecure: bool,
    (method, path, body): (&str, &str, Option<&str>),
    limit: Limit<'_>,
) -> Result<Reply, Failure> {
    let verifier = Pinned::new(&access.fingerprints, insecure);
    let local = |error: String| Failure::Other { said: format!("on this side: {error}") };
    let config = verifier.config().map_err(|error| local(error.to_string()))?;
    let name = ServerName::try_from(access.host.clone()).map_err(|error| local(error.to_string()))?;
    let connection = ClientConnection::new(config, name).map_err(|error| local(error.to_string()))?;
    let socket = TcpStream::connect_timeout(&SocketAddr::new(access.ip, access.port), CONNECT)
        .map_err(|_| Failure::NoAnswer)?;
    socket
        .set_read_timeout(Some(LOOK))
        .and_then(|()| socket.set_write_timeout(Some(CONNECT)))
        .map_err(|error| local(error.to_string()))?;
    let mut stream = StreamOwned::new(connection, socket);
    let broken = |error: std::io::Error| match verifier.refused() {
        Some(shows) => {
            let known = !access.fingerprints.is_empty();
            Failure::Certificate { shows: shows.to_string(), known }
        }
        None if matches!(error.kind(), ErrorKind::TimedOut) => Failure::NoAnswer,
        None if error.kind() == ErrorKind::Interrupted => Failure::Interrupted,
        None if matches!(error.kind(), ErrorKind::ConnectionReset | ErrorKind::UnexpectedEof) => {
            Failure::Lost
        }
        None => Failure::Other { said: format!("HTTPS: {}", printable(error.to_string().as_bytes())) },
    };
    handshake(&mut stream, limit).map_err(&broken)?;
    stream.write_all(text(access, method, path, body).as_bytes()).map_err(&broken)?;
    let mut bytes = Vec::new();
    read(&mut stream, &mut bytes, limit).map_err(&broken)?;
    parse(&bytes).ok_or(Failure::Lost)
}

fn text(access: &Access, method: &str, path: &str, body: Option<&str>) -> String {
    let login = STANDARD.encode(format!("{}:{}", access.user, access.password.text()));
    let host = if access.ip.is_ipv6() && access.host.contains(':') {
        format!("[{}]:{}", access.host, access.port)
    } else {
        format!("{}:{}", access.host, access.port)
    };
    let body = body.unwrap_or_default();
    let kind = if body.is_empty() { "" } else { "Content-Type: application/json\r\n" };
    format!(
        "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Basic {login}\r\nAccept: application/json\r\n\
         {kind}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Repeats what the short timeout of the socket cuts, until the limit.
fn patiently<T>(limit: Limit<'_>, mut work: impl FnMut() -> std::io::Result<T>) -> std::io::Result<T> {
    loop {
        // Also before the first time: a BMC may send byte by byte.
        if limit.stop.is_requested() {
            return Err(ErrorKind::Interrupted.into());
        }
        if limit.until_ns.is_some_and(|until| sys::clock::now_ns() >= until) {
            return Err(ErrorKind::TimedOut.into());
        }
        match work() {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            other => return other,
        }
    }
}

fn handshake(stream: &mut StreamOwned<ClientConnection, TcpStream>, limit: Limit<'_>) -> std::io::Result<()> {
    while stream.conn.is_handshaking() {
        patiently(limit, || stream.conn.complete_io(&mut stream.sock))?;
    }
    Ok(())
}

/// Reads until the answer is whole or the connection ends.
fn read(stream: &mut impl Read, bytes: &mut Vec<u8>, limit: Limit<'_>) -> std::io::Result<()> {
    let mut chunk = [0; 16 << 10];
    while !parse(bytes).is_some_and(|_| is_whole(bytes)) {
        match patiently(limit, || stream.read(&mut chunk)) {
            Ok(0) => return Ok(()),
            Ok(count) if bytes.len() + count <= MOST => bytes.extend_from_slice(&chunk[..count]),
            Ok(_) => return Err(std::io::Error::new(ErrorKind::InvalidData, "the answer is too long")),
            // Many servers close without a word of TLS.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

struct Head {
    status: u16,
    length: Option<usize>,
    chunked: bool,
    location: Option<String>,
    /// Where the body begins.
    at: usize,
}

fn head(bytes: &[u8]) -> Option<Head> {
    let mut headers = [httparse::EMPTY_HEADER; 64];
    let mut response = httparse::Response::new(&mut headers);
    let httparse::Status::Complete(at) = response.parse(bytes).ok()? else { return None };
    let status = response.code?;
    let value = |name: &str| {
        let found = headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(found.value).ok().map(|text| text.trim().to_owned())
    };
    let length = value("content-length").and_then(|text| text.parse().ok());
    let chunked = value("transfer-encoding").is_some_and(|text| text.eq_ignore_ascii_case("chunked"));
    Some(Head { status, length, chunked, location: value("location"), at })
}

/// True where no more has to come.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(head) = head(bytes) else { return false };
    let body = &bytes[head.at..];
    match (head.chunked, head.length) {
        (true, _) => chunks(body).is_some_and(|(_, ended)| ended),
        (false, Some(length)) => body.len() >= length,
        (false, None) => matches!(head.status, 204 | 304),
    }
}

/// The answer; `None` where its head or body is not whole.
fn parse(bytes: &[u8]) -> Option<Reply> {
    let head = head(bytes)?;
    let body = &bytes[head.at..];
    let body = match (head.chunked, head.length) {
        (true, _) => chunks(body).filter(|(_, ended)| *ended)?.0,
        (false, Some(length)) => body.get(..length)?.to_vec(),
        (false, None) => body.to_vec(),
    };
    Some(Reply { status: head.status, location: head.location, body })
}

/// The chunks that are there, and whether the last one is among them.
fn chunks(mut bytes: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut all = Vec::new();
    loop {
        let Ok(httparse::Status::Complete((at, size))) = httparse::parse_chunk_size(bytes) else {
            return Some((all, false));
        };
        let size = usize::try_from(size).ok()?;
        if size == 0 {
            return Some((all, true));
        }
        let end = at.checked_add(size)?;
        let Some(chunk) = bytes.get(at..end) else { return Some((all, false)) };
        all.extend_from_slice(chunk);
        bytes = bytes.get(end + 2..).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bmc::ipmi::tests::access;
    use crate::stop::Stop;

    #[test]
    fn an_answer_is_whole_by_its_length_or_its_chunks() {
        let of = |text: &str| parse(text.as_bytes()).map(|reply| (reply.status, reply.body));
        assert_eq!(of("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"), Some((200, b"abc".to_vec())));
        assert_eq!(of("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc"), None);
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n";
        assert_eq!(of(chunked), None);
        assert_eq!(of(&format!("{chunked}0\r\n\r\n")), Some((200, b"abcde".to_vec())));
        assert_eq!(of("HTTP/1.0 200 OK\r\n\r\nabc"), Some((200, b"abc".to_vec())));
        assert_eq!(
            of("HTTP/1.1 307 No\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n").map(|one| one.0),
            Some(307)
        );
        for bad in ["", "HTTP/1.1 200", "SSH-2.0-x\r\n\r\n"] {
            assert_eq!(of(bad), None, "{bad}");
        }
        assert!(is_whole(b"HTTP/1.1 204 No Content\r\n\r\n") && !is_whole(b"HTTP/1.1 200 OK\r\n\r\n"));
    }

    #[test]
    fn a_request_holds_the_password_in_its_head_alone() {
        let said = text(&access("a", "127.0.0.1", 8000), "PATCH", "/redfish/v1", Some("{}"));
        assert!(said.starts_with("PATCH /redfish/v1 HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n"), "{said}");
        assert!(
            said.contains("Authorization: Basic QURNSU46Z2VoZWlt\r\n") && said.ends_with("\r\n\r\n{}"),
            "{said}"
        );
    }

    #[test]
    fn nobody_behind_an_address_is_no_answer() {
        let stop = Stop::new().unwrap();
        let limit = Limit::from_now(&stop, Some(Duration::from_secs(9)));
        let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let none = request(&access("a", "127.0.0.1", free), true, ("GET", "/", None), limit);
        assert_eq!(none, Err(Failure::NoAnswer));
    }
}
