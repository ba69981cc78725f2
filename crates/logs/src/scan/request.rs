//! The first line of a request, as logs quote it: `GET /path?query HTTP/1.1`.
//!
//! Anybody may send anything: what is no request line is a request of no method and no path, not a line to skip.

use memchr::{memchr, memchr2, memrchr};
use serde::{Deserialize, Serialize};

use super::marks;
use super::record::{Record, present};

model::words! {
    /// Method of a request.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum Method as name {
        Get = "GET",
        Head = "HEAD",
        Post = "POST",
        Put = "PUT",
        Delete = "DELETE",
        Options = "OPTIONS",
        Patch = "PATCH",
        Connect = "CONNECT",
        Trace = "TRACE",
        /// Any other word (WebDAV's and one's own).
        Other = "other",
    }
}

impl Method {
    /// The method of this name, in capital letters; `Other` for an unknown one.
    #[inline]
    pub fn from_word(word: &[u8]) -> Method {
        match word {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"DELETE" => Method::Delete,
            b"OPTIONS" => Method::Options,
            b"PATCH" => Method::Patch,
            b"CONNECT" => Method::Connect,
            b"TRACE" => Method::Trace,
            _ => Method::Other,
        }
    }
}

/// A request line.
#[inline(always)]
pub fn line<'l>(value: &'l [u8], record: &mut Record<'l>) {
    if let Some(rest) = value.strip_prefix(b"GET ") {
        record.method = Some(Method::Get);
        return target(rest, record);
    }
    other(value, record);
}

/// A request line of another method than the usual one.
#[inline(never)]
fn other<'l>(value: &'l [u8], record: &mut Record<'l>) {
    let space =
        if value.get(3) == Some(&b' ') { Some(3) } else { memchr(b' ', &value[..value.len().min(32)]) };
    let Some(space) = space else { return };
    let (word, rest) = (&value[..space], &value[space + 1..]);
    if word.is_empty() || !word.iter().all(|byte| byte.is_ascii_uppercase() || *byte == b'-') {
        return;
    }
    record.method = Some(Method::from_word(word));
    target(rest, record);
}

/// Reads target and protocol, which follow the method.
#[inline(always)]
fn target<'l>(rest: &'l [u8], record: &mut Record<'l>) {
    match rest.split_last_chunk::<9>() {
        // `... HTTP/1.1`: the common end, found without looking.
        Some((before, end @ [start @ .., _]))
            if u64::from_le_bytes(*start) & !(0xff << 48) == u64::from_le_bytes(*b" HTTP/\0.") =>
        {
            record.protocol = Some(&end[1..]);
            path(before, record);
        }
        _ => target_without_version(rest, record),
    }
}

/// The same where no `HTTP/1.1` or the like ends it.
#[cold]
#[inline(never)]
fn target_without_version<'l>(rest: &'l [u8], record: &mut Record<'l>) {
    let end = memrchr(b' ', rest).filter(|at| rest[at + 1..].starts_with(b"HTTP/")).unwrap_or(rest.len());
    record.protocol = rest.get(end + 1..).and_then(present);
    path(&rest[..end], record);
}

/// A target: path and query.
#[inline(always)]
pub fn path<'l>(value: &'l [u8], record: &mut Record<'l>) {
    // Such a one is not so short that it could be a dash.
    if marks::has_none(value) {
        record.path = Some(value);
    } else {
        path_and_query(value, record);
    }
}

/// The same whatever the target is.
#[inline(never)]
fn path_and_query<'l>(value: &'l [u8], record: &mut Record<'l>) {
    match memchr2(b'?', b'#', value) {
        Some(at) => {
            record.path = present(&value[..at]);
            record.query = present(&value[at + 1..]);
        }
        None => record.path = present(value),
    }
}

/// A path as it can be asked for: from `/` on, visible ASCII; `\xHH`, as servers log other bytes, becomes `%HH`. None
/// where it is no such path.
pub fn sendable(path: &[u8]) -> Option<String> {
    let mut text = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((&byte, after)) = rest.split_first() {
        rest = match rest {
            [b'\\', b'x', high, low, after @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                text.extend(['%', char::from(*high), char::from(*low)]);
                after
            }
            [b'\\', quoted @ (b'"' | b'\\'), after @ ..] => {
                text.push_str(if *quoted == b'"' { "%22" } else { "%5C" });
                after
            }
            _ if (0x21..0x7f).contains(&byte) => {
                text.push(char::from(byte));
                after
            }
            _ => return None,
        };
    }
    text.starts_with('/').then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_read_without_looking_is_read_as_with_a_look_at_every_byte(
            path in proptest::collection::vec(
                prop_oneof![20 => b'a'..=b'z', 2 => Just(b'/'), 1 => Just(b'?'), 1 => Just(b'#'), 1 => any::<u8>()],
                0..70,
            ),
            end in prop_oneof![3 => Just(" HTTP/1.1"), 1 => Just(" HTTP/2"), 1 => Just("HTTP/1.1"), 1 => Just(" -")],
        ) {
            let (mut quick, mut careful) = (Record::default(), Record::default());
            super::path(&path, &mut quick);
            path_and_query(&path, &mut careful);
            prop_assert_eq!(quick, careful);
            let rest = [&path[..], end.as_bytes()].concat();
            (quick, careful) = (Record::default(), Record::default());
            target(&rest, &mut quick);
            target_without_version(&rest, &mut careful);
            prop_assert_eq!(quick, careful);
        }
    }

    fn read(text: &str) -> (Option<Method>, String, String, String) {
        let mut record = Record::default();
        line(text.as_bytes(), &mut record);
        let string =
            |part: Option<&[u8]>| part.map_or(String::new(), |part| String::from_utf8_lossy(part).into());
        (record.method, string(record.path), string(record.query), string(record.protocol))
    }

    #[test]
    fn request_lines_and_what_else_is_sent() {
        let of = |method, path: &str, query: &str, protocol: &str| {
            (method, path.to_owned(), query.to_owned(), protocol.to_owned())
        };
        assert_eq!(read("GET /a?b=1 HTTP/1.1"), of(Some(Method::Get), "/a", "b=1", "HTTP/1.1"));
        assert_eq!(read("POST / HTTP/2"), of(Some(Method::Post), "/", "", "HTTP/2"));
        assert_eq!(read("GET /"), of(Some(Method::Get), "/", "", ""));
        assert_eq!(read("GET /a b HTTP/1.0"), of(Some(Method::Get), "/a b", "", "HTTP/1.0"));
        assert_eq!(read("M-SEARCH * HTTP/1.1"), of(Some(Method::Other), "*", "", "HTTP/1.1"));
        assert_eq!(read("GET  HTTP/1.1"), of(Some(Method::Get), "", "", "HTTP/1.1"));
        for nothing in ["", "-", "\\x16\\x03\\x01", "hello world", " GET / HTTP/1.1", "GET"] {
            assert_eq!(read(nothing), of(None, "", "", ""), "{nothing}");
        }
    }

    #[test]
    fn methods_are_their_names() {
        for method in Method::ALL {
            assert_eq!(Method::from_word(method.name().as_bytes()), method);
        }
    }

    #[test]
    fn paths_that_can_be_asked_for() {
        let of = |path: &str| sendable(path.as_bytes());
        for (path, asked) in [
            ("/a/b.gif", "/a/b.gif"),
            ("/a?b=c", "/a?b=c"),
            ("/\\x22\\xC3\\xa9", "/%22%C3%a9"),
            ("/\\\"\\\\", "/%22%5C"),
            ("/\\x2", "/\\x2"),
        ] {
            assert_eq!(of(path).as_deref(), Some(asked));
        }
        for other in ["", "*", "a", "http://a/", "/a b", "/\u{e9}", "/\0"] {
            assert_eq!(of(other), None, "{other:?}");
        }
    }
}
