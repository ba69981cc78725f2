//! The bytes of HTTP/1.1 requests, built before the load starts.
//!
//! `Host`, `User-Agent` and `Accept` are sent unless the user gives them; `Content-Length` when there is a body.

/// The parts that all requests of a load share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// As in the URL: name or address, and the port unless it is the scheme's own.
    pub host: String,
    pub method: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub keepalive: bool,
}

/// The expected body; `None` is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Expected {
    pub length: Option<u64>,
    pub crc32c: Option<u32>,
}

impl Expected {
    pub fn holds(&self, length: u64, crc32c: Option<u32>) -> bool {
        self.length.is_none_or(|want| want == length) && self.crc32c.is_none_or(|want| Some(want) == crc32c)
    }
}

/// One request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Path and query.
    pub path: String,
    pub expected: Expected,
    /// Its own method; none: that of all.
    pub method: Option<String>,
    /// Closes its connection, whatever the others do.
    pub closes: bool,
}

/// A token of RFC 9110, section 5.6.2.
fn is_token(text: &str) -> bool {
    let ok = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(ok)
}

/// Parses `name: value`. Fails when it is malformed.
pub fn header(text: &str) -> Result<(String, String), String> {
    let wrong = |what: &str| format!("header `{}`: {what}; write it as `name: value`", text.escape_debug());
    let (name, value) = text.split_once(':').ok_or_else(|| wrong("no colon"))?;
    if !is_token(name) {
        return Err(wrong("the name may not be empty or hold blanks"));
    }
    let value = value.trim();
    if value.bytes().any(|byte| byte == b'\r' || byte == b'\n' || byte == 0) {
        return Err(wrong("the value holds a line end"));
    }
    Ok((name.to_owned(), value.to_owned()))
}

/// True if one of the headers is `Connection: close`: no further request may be sent on that connection (RFC 9112,
/// section 9.6), whatever the answer says.
pub fn asks_to_close(headers: &[(String, String)]) -> bool {
    let is_close = |option: &str| option.trim().eq_ignore_ascii_case("close");
    let closes = |(name, value): &(String, String)| {
        name.eq_ignore_ascii_case("Connection") && value.split(',').any(is_close)
    };
    headers.iter().any(closes)
}

impl Origin {
    /// The method of a request.
    pub fn method_of<'a>(&'a self, wanted: &'a Wanted) -> &'a str {
        wanted.method.as_deref().unwrap_or(&self.method)
    }

    /// The bytes of the request. Fails when a header or path is malformed.
    pub fn bytes(&self, wanted: &Wanted) -> Result<Vec<u8>, String> {
        self.check(wanted)?;
        let method = self.method_of(wanted);
        let has = |name: &str| self.headers.iter().any(|(have, _)| have.eq_ignore_ascii_case(name));
        let mut head = format!("{method} {} HTTP/1.1\r\n", wanted.path);
        let mut add = |name: &str, value: &str| head.push_str(&format!("{name}: {value}\r\n"));
        for (name, value) in [("Host", self.host.as_str()), ("User-Agent", "boxscore"), ("Accept", "*/*")] {
            if !has(name) {
                add(name, value);
            }
        }
        self.headers.iter().for_each(|(name, value)| add(name, value));
        if (!self.keepalive || wanted.closes) && !has("Connection") {
            add("Connection", "close");
        }
        // A body's length must be known; POST and PUT have one even when they have no body.
        if !self.body.is_empty() || matches!(method, "POST" | "PUT" | "PATCH") {
            add("Content-Length", &self.body.len().to_string());
        }
        head.push_str("\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(&self.body);
        Ok(bytes)
    }

    fn check(&self, wanted: &Wanted) -> Result<(), String> {
        let method = self.method_of(wanted);
        if !is_token(method) {
            return Err(format!("method `{}` is not one word, such as GET", method.escape_debug()));
        }
        if method == "CONNECT" {
            return Err(
                "method CONNECT asks for a tunnel, not for an answer; use GET, HEAD or POST".to_owned()
            );
        }
        let path = &wanted.path;
        if !(path.starts_with('/') || path == "*") || path.bytes().any(|byte| !(0x21..0x7f).contains(&byte)) {
            return Err(format!(
                "path `{}` must start with `/` and hold only visible ASCII; write others as %XX",
                path.escape_debug()
            ));
        }
        for (name, value) in &self.headers {
            header(&format!("{name}: {value}"))?;
            if name.eq_ignore_ascii_case("Content-Length") || name.eq_ignore_ascii_case("Transfer-Encoding") {
                return Err(format!("header `{name}` follows from the body; leave it out"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin(method: &str) -> Origin {
        Origin { host: "h:81".to_owned(), method: method.to_owned(), keepalive: true, ..Origin::default() }
    }

    fn text(origin: &Origin, path: &str) -> String {
        let wanted = Wanted { path: path.to_owned(), ..Wanted::default() };
        String::from_utf8(origin.bytes(&wanted).unwrap()).unwrap()
    }

    #[test]
    fn a_header_that_asks_to_close_is_found() {
        let asks = |text: &str| asks_to_close(&[header(text).unwrap()]);
        assert!(asks("Connection: close") && asks("connection: TE, Close"));
        assert!(!asks("Connection: keep-alive") && !asks("X-Connection: close") && !asks_to_close(&[]));
    }

    #[test]
    fn requests_are_what_was_asked_for() {
        let plain = "GET /a?b=c HTTP/1.1\r\nHost: h:81\r\nUser-Agent: boxscore\r\nAccept: */*\r\n\r\n";
        assert_eq!(text(&origin("GET"), "/a?b=c"), plain);
        let mut post = origin("POST");
        post.headers = vec![header("host:  other ").unwrap(), header("X-A: b: c").unwrap()];
        post.body = b"xyz".to_vec();
        post.keepalive = false;
        let expected = "POST / HTTP/1.1\r\nUser-Agent: boxscore\r\nAccept: */*\r\nhost: other\r\nX-A: b: c\r\n\
                        Connection: close\r\nContent-Length: 3\r\n\r\nxyz";
        assert_eq!(text(&post, "/"), expected);
        let own = Wanted {
            path: "/".to_owned(),
            method: Some("HEAD".to_owned()),
            closes: true,
            ..Wanted::default()
        };
        let sent = String::from_utf8(origin("GET").bytes(&own).unwrap()).unwrap();
        assert!(
            sent.starts_with("HEAD / HTTP/1.1\r\n") && sent.contains("\r\nConnection: close\r\n"),
            "{sent}"
        );
    }

    #[test]
    fn nothing_can_be_smuggled_into_a_request() {
        for header_text in ["no colon", ": v", "a b: c", "a: b\r\nc: d", "a\n: b"] {
            assert!(header(header_text).is_err(), "{header_text:?}");
        }
        for path in ["", "a", "/a b", "/a\r\nX: y", "/\u{e9}", "/\0"] {
            let wanted = Wanted { path: path.to_owned(), ..Wanted::default() };
            assert!(origin("GET").bytes(&wanted).is_err(), "{path:?}");
        }
        for method in ["", "GE T", "GET\r\n", "CONNECT"] {
            let wanted = Wanted { path: "/".to_owned(), ..Wanted::default() };
            assert!(origin(method).bytes(&wanted).is_err(), "{method:?}");
        }
        let mut twice = origin("POST");
        twice.headers = vec![("Content-Length".to_owned(), "5".to_owned())];
        assert!(twice.bytes(&Wanted { path: "/".to_owned(), ..Wanted::default() }).is_err());
    }

    #[test]
    fn bodies_are_held_against_what_is_expected() {
        let both = Expected { length: Some(3), crc32c: Some(7) };
        assert!(both.holds(3, Some(7)));
        assert!(!both.holds(4, Some(7)) && !both.holds(3, Some(8)) && !both.holds(3, None));
        assert!(Expected::default().holds(9, None));
    }
}
