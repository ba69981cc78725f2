//! Parses one request from the bytes of a connection: what it asks for, and whether the connection goes on.

use super::files::{Refusal, Then};

/// Longest request head, in bytes.
pub const HEAD_BYTES: usize = 8 << 10;
/// Longest request body, in bytes.
const BODY_BYTES: usize = 1 << 20;

/// A parsed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The path, or why there is nothing to send.
    pub wants: Result<&'a [u8], Refusal>,
    /// True if only the head of the answer is wanted.
    pub is_head: bool,
    pub then: Then,
    /// Bytes of the head including its empty line.
    pub head_bytes: usize,
    /// Bytes of the body that follow it.
    pub body_bytes: usize,
}

/// The request at the start of `bytes`; `None` while its head is not complete.
pub fn parse(bytes: &[u8]) -> Option<Request<'_>> {
    let refused = |why: Refusal, head_bytes: usize| Request {
        wants: Err(why),
        is_head: false,
        then: Then::Close,
        head_bytes,
        body_bytes: 0,
    };
    let Some(end) = bytes.windows(4).take(HEAD_BYTES).position(|four| four == b"\r\n\r\n") else {
        return (bytes.len() > HEAD_BYTES).then(|| refused(Refusal::TooLarge, bytes.len()));
    };
    let head_bytes = end + 4;
    let mut lines =
        bytes.get(..end)?.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let Some((method, path, is_old)) = lines.next().and_then(first) else {
        return Some(refused(Refusal::Bad, head_bytes));
    };
    let (mut then, mut body_bytes) = (if is_old { Then::Close } else { Then::Keep }, 0);
    for line in lines {
        let Some((name, value)) = field(line) else { return Some(refused(Refusal::Bad, head_bytes)) };
        if name.eq_ignore_ascii_case(b"connection") {
            if value.eq_ignore_ascii_case(b"close") {
                then = Then::Close;
            } else if is_old && value.eq_ignore_ascii_case(b"keep-alive") {
                then = Then::KeepOld;
            }
        } else if name.eq_ignore_ascii_case(b"content-length") {
            match crate::telemetry::parse::number(value).map(usize::try_from) {
                Some(Ok(length)) if length <= BODY_BYTES => body_bytes = length,
                Some(_) => return Some(refused(Refusal::TooLarge, head_bytes)),
                None => return Some(refused(Refusal::Bad, head_bytes)),
            }
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            return Some(refused(Refusal::Coding, head_bytes));
        }
    }
    let is_head = method == b"HEAD";
    let path = path.split(|byte| *byte == b'?').next().unwrap_or_default();
    let wants = if is_head || method == b"GET" { Ok(path) } else { Err(Refusal::Method) };
    Some(Request { wants, is_head, then, head_bytes, body_bytes })
}

/// Method, target, and true for HTTP/1.0.
fn first(line: &[u8]) -> Option<(&[u8], &[u8], bool)> {
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    let is_old = match version {
        b"HTTP/1.1" => false,
        b"HTTP/1.0" => true,
        _ => return None,
    };
    let is_method = !method.is_empty() && method.iter().all(u8::is_ascii_uppercase);
    (words.next().is_none() && is_method && !target.is_empty()).then_some((method, target, is_old))
}

fn field(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let colon = line.iter().position(|byte| *byte == b':').filter(|colon| *colon > 0)?;
    Some((line.get(..colon)?, line.get(colon + 1..)?.trim_ascii()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wants(text: &str) -> (Result<&[u8], Refusal>, Then) {
        let request = parse(text.as_bytes()).unwrap();
        (request.wants, request.then)
    }

    #[test]
    fn requests_are_read() {
        for (text, path, then) in [
            ("GET /x HTTP/1.1\r\n\r\n", "/x", Then::Keep),
            ("GET /x?y=1 HTTP/1.1\r\nHost: a\r\n\r\nGET", "/x", Then::Keep),
            ("GET / HTTP/1.1\r\nCONNECTION:  Close \r\n\r\n", "/", Then::Close),
            ("GET / HTTP/1.0\r\n\r\n", "/", Then::Close),
            ("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", "/", Then::KeepOld),
        ] {
            assert_eq!(wants(text), (Ok(path.as_bytes()), then), "{text}");
        }
        let head = parse(b"HEAD /x HTTP/1.1\r\nContent-Length: 7\r\n\r\n").unwrap();
        assert!(head.is_head && head.body_bytes == 7 && head.head_bytes == 39);
    }

    #[test]
    fn what_cannot_be_served_is_refused() {
        for (text, refusal) in [
            ("\r\n\r\n", Refusal::Bad),
            ("GET /\r\n\r\n", Refusal::Bad),
            ("GET / HTTP/2\r\n\r\n", Refusal::Bad),
            ("get / HTTP/1.1\r\n\r\n", Refusal::Bad),
            ("GET / x HTTP/1.1\r\n\r\n", Refusal::Bad),
            ("GET / HTTP/1.1\r\nnonsense\r\n\r\n", Refusal::Bad),
            ("GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", Refusal::Bad),
            ("GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", Refusal::Bad),
            ("GET / HTTP/1.1\r\nContent-Length: 1048577\r\n\r\n", Refusal::TooLarge),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", Refusal::Coding),
        ] {
            assert_eq!(wants(text), (Err(refusal), Then::Close), "{text}");
        }
        let posted = parse(b"POST /x HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc").unwrap();
        assert_eq!((posted.wants, posted.then, posted.body_bytes), (Err(Refusal::Method), Then::Keep, 3));
        let endless = format!("GET / HTTP/1.1\r\n{}", "a: b\r\n".repeat(2000));
        assert_eq!(wants(&endless), (Err(Refusal::TooLarge), Then::Close));
    }

    const GOOD: &[u8] = b"GET /some/path?q HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\nab";

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes: Vec<u8>, at in 0usize..60, byte: u8) {
            let _any = parse(&bytes);
            let mut text = GOOD.to_vec();
            text[at] = byte;
            if let Some(request) = parse(&text) {
                prop_assert!(request.head_bytes <= text.len());
            }
        }
    }

    #[test]
    fn a_part_of_a_request_waits() {
        let whole = GOOD.len() - 2;
        for end in 0..GOOD.len() {
            assert_eq!(parse(&GOOD[..end]).is_some(), end >= whole, "{end}");
        }
    }
}
