//! URLs of `http` and `https`, of `redis` and `memcached`.
//!
//! Input: the text of a URL. Output: its scheme, host, port and path, or the error in it. Pure: no name is resolved.
//! Only what a load needs of RFC 3986: no user names, no relative references; a fragment is dropped.

use core::net::{IpAddr, Ipv6Addr};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

crate::words! {
    /// The scheme of a URL: the protocol that its server speaks.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Scheme as name {
        Http = "http",
        Https = "https",
        /// RESP, as Redis and Valkey speak it.
        Redis = "redis",
        Memcached = "memcached",
    }
}

impl Scheme {
    /// The scheme that a text begins with, whatever follows it.
    pub fn of_url(url: &str) -> Option<Scheme> {
        let word = url.split_once("://")?.0;
        Scheme::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(word))
    }

    /// The scheme that a text begins with, where it is a store's.
    pub fn of_store_url(url: &str) -> Option<Scheme> {
        Scheme::of_url(url).filter(|scheme| scheme.is_store())
    }

    /// The port where none is given.
    pub const fn port(self) -> u16 {
        match self {
            Scheme::Http => 80,
            Scheme::Https => 443,
            Scheme::Redis => 6379,
            Scheme::Memcached => 11_211,
        }
    }

    pub const fn is_store(self) -> bool {
        matches!(self, Scheme::Redis | Scheme::Memcached)
    }
}

/// An absolute URL.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Url {
    pub scheme: Scheme,
    /// A name, an IPv4 address, or an IPv6 address without brackets.
    pub host: String,
    pub port: u16,
    /// Path and query; starts with `/`.
    pub path: String,
}

/// The error of a text that is no URL to load.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{url}` is not a URL to load: {why}")]
pub struct BadUrl {
    url: String,
    why: &'static str,
}

impl FromStr for Url {
    type Err = BadUrl;

    fn from_str(text: &str) -> Result<Url, BadUrl> {
        read(text).map_err(|why| BadUrl { url: shown(text).escape_debug().to_string(), why })
    }
}

/// Splits a text at its user name and password: what stands before them, they, and what stands behind their `@`.
/// `None` where it has none. They end at the last `@`, since a password may hold any character.
pub fn split_user(text: &str) -> Option<(&str, &str, &str)> {
    let (head, rest) = text.split_at(text.find("://").map_or(0, |at| at + 3));
    let (user, rest) = rest.rsplit_once('@')?;
    Some((head, user, rest))
}

/// Host and port as a text has them, without user and password; of several URLs those of the first. Empty where it has
/// none.
pub fn authority(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#', ' ']).next().unwrap_or_default();
    host.rsplit_once('@').map_or(host, |(_, host)| host)
}

/// The host of an address or a URL, without its port; an IPv6 address keeps its brackets.
pub fn host(address: &str) -> &str {
    let authority = authority(address);
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// Without what may be a password.
fn shown(text: &str) -> String {
    split_user(text).map_or_else(|| text.to_owned(), |(head, _, rest)| format!("{head}...@{rest}"))
}

fn read(text: &str) -> Result<Url, &'static str> {
    let word = text.find("://").and_then(|at| text.get(..at)).unwrap_or("");
    let scheme = match (word, Scheme::of_url(text)) {
        ("", _) => return Err("it must begin with http:// or https://, redis:// or memcached://"),
        (_, None) => return Err("only http://, https://, redis:// and memcached:// are known"),
        (_, Some(scheme)) => scheme,
    };
    let rest = &text[word.len() + 3..];
    let rest = rest.split('#').next().unwrap_or("");
    let cut = rest.find(['/', '?']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(cut);
    if authority.contains('@') {
        return Err(match scheme.is_store() {
            true => {
                "it holds a user name or password, which would be stored; give BOXSCORE_KV_PASSWORD in the environment"
            }
            false => "it holds a user name; give an Authorization header instead",
        });
    }
    let (host, port) = split_port(authority)?;
    let port = match port {
        None => scheme.port(),
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok().filter(|&port| port > 0).ok_or("its port is not 1 to 65535")?
        }
        Some(_) => return Err("its port is not a number"),
    };
    if path.bytes().any(|byte| !(0x21..0x7f).contains(&byte)) {
        return Err("its path holds a blank or other than ASCII; write it as %XX");
    }
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    if scheme.is_store() && path != "/" {
        return Err("a store has no paths: a load uses keys of its own, in database 0");
    }
    Ok(Url { scheme, host, port, path })
}

/// Host without brackets, and what stands after its colon.
fn split_port(authority: &str) -> Result<(String, Option<&str>), &'static str> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, rest) = rest.split_once(']').ok_or("its `[` is not closed")?;
        let address: Ipv6Addr =
            address.parse().map_err(|_| "what stands in brackets is not an IPv6 address")?;
        let port = match rest {
            "" => None,
            _ => Some(rest.strip_prefix(':').ok_or("after `]` only a port may follow")?),
        };
        return Ok((address.to_string(), port));
    }
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    if port.is_some_and(|port| port.contains(':')) {
        return Err("an IPv6 address stands in brackets: http://[::1]:8080/");
    }
    let ok = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if host.is_empty() || !host.bytes().all(ok) {
        return Err("its host is empty or holds a character that no host name has");
    }
    Ok((host.to_ascii_lowercase(), port))
}

impl Url {
    /// As in a `Host` header: the port only where it is not the scheme's own.
    pub fn authority(&self) -> String {
        let host = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        if self.port == self.scheme.port() { host } else { format!("{host}:{}", self.port) }
    }

    /// True if the connection is under TLS.
    pub const fn is_tls(&self) -> bool {
        matches!(self.scheme, Scheme::Https)
    }

    /// True if the host is this machine: `localhost` or a loopback address. No name is resolved.
    pub fn is_loopback(&self) -> bool {
        let address = self.host.parse::<IpAddr>();
        address.map_or(self.host == "localhost", |address| address.is_loopback())
    }

    /// True if scheme, host and port are the same: one server answers both.
    pub fn same_server(&self, other: &Url) -> bool {
        (self.scheme, &self.host, self.port) == (other.scheme, &other.host, other.port)
    }
}

impl fmt::Display for Url {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.scheme.is_store() { "" } else { &self.path };
        write!(to, "{}://{}{path}", self.scheme.name(), self.authority())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> Url {
        text.parse().unwrap()
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(
            scheme in proptest::sample::select(Scheme::ALL.to_vec()),
            host in prop_oneof!["[a-z0-9][a-z0-9.-]{0,12}", any::<Ipv6Addr>().prop_map(|address| address.to_string())],
            port in 1u16..,
            path in "/[!-\"$-~]{0,20}",
        ) {
            let path = if scheme.is_store() { "/".to_owned() } else { path };
            let url = Url { scheme, host, port, path };
            prop_assert_eq!(url.to_string().parse::<Url>().unwrap(), url);
        }

        #[test]
        fn any_text_is_a_url_or_an_error(text in "((https?|redis|memcached)://)?[ -~\u{e9}]{0,30}") {
            if let Ok(url) = text.parse::<Url>() {
                prop_assert_eq!(url.to_string().parse::<Url>().unwrap(), url);
            }
        }
    }

    #[test]
    fn parts_are_found() {
        let plain = url("HTTP://Example.org");
        assert_eq!((plain.host.as_str(), plain.port, plain.path.as_str()), ("example.org", 80, "/"));
        let full = url("https://[2001:DB8::1]:8443/a/b?c=d#e");
        assert_eq!((full.scheme, full.host.as_str(), full.port), (Scheme::Https, "2001:db8::1", 8443));
        assert_eq!(url("redis://a").port, 6379);
        assert_eq!(url("Memcached://a/").to_string(), "memcached://a");
        assert_eq!((full.path.as_str(), full.authority().as_str()), ("/a/b?c=d", "[2001:db8::1]:8443"));
        assert_eq!(url("http://a?b").path, "/?b");
        assert_eq!(url("https://a:443/").authority(), "a");
        assert!(url("http://a/x").same_server(&url("http://a:80/y")));
        assert!(!url("http://a/").same_server(&url("https://a/")));
    }

    #[test]
    fn loopback_and_users_are_seen_in_the_text() {
        for (text, is_loopback) in [
            ("http://127.3.0.1:8/", true),
            ("redis://localhost", true),
            ("http://[::1]/", true),
            ("http://10.0.0.2/", false),
            ("http://localhost.example/", false),
        ] {
            assert_eq!(url(text).is_loopback(), is_loopback, "{text}");
        }
        assert_eq!(split_user("redis://a:p@q/x@h:1"), Some(("redis://", "a:p@q/x", "h:1")));
        assert_eq!(split_user("redis://h:1"), None);
        assert_eq!(
            (Scheme::of_url("REDIS://u:p@"), Scheme::of_url("localhost")),
            (Some(Scheme::Redis), None)
        );
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, why) in [
            ("", "begin with"),
            ("localhost:80/", "begin with"),
            ("ftp://a/", "only http"),
            ("redis://a/1", "no paths"),
            ("redis://:secret@a/", "password"),
            ("http://", "host is empty"),
            ("http://u:p@a/", "user name"),
            ("http://a:0/", "1 to 65535"),
            ("http://a:65536/", "1 to 65535"),
            ("http://a:x/", "not a number"),
            ("http://::1/", "brackets"),
            ("http://[::1", "not closed"),
            ("http://[1.2.3.4]/", "not an IPv6"),
            ("http://a/ b", "blank"),
            ("http://a b/", "host"),
        ] {
            let error = text.parse::<Url>().unwrap_err().to_string();
            assert!(error.contains(why) && !error.contains("secret"), "{text}: {error}");
        }
    }
}
