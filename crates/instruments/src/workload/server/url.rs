//! A server that the user runs: nothing is started or stopped; it is asked once, and its processes are found when it
//! listens on this machine.

use std::net::{SocketAddr, ToSocketAddrs};
use std::time::Duration;

use super::kind::ServerError;
use super::{ready, sockets, tree};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Where a URL leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub is_tls: bool,
    /// Without brackets.
    pub host: String,
    pub port: u16,
    /// From the first `/` on; `/` at least.
    pub path: String,
}

impl Target {
    /// Reads `http://host[:port][/path]`, or says what is wrong with it.
    pub fn parse(url: &str) -> Result<Target, String> {
        let bad = |what: &str| format!("{url:?} is not a URL to load: {what}");
        let (scheme, rest) =
            url.split_once("://").ok_or_else(|| bad("it must start with http:// or https://"))?;
        let is_tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(bad("it must start with http:// or https://")),
        };
        if rest.chars().any(|c| c.is_control() || c == ' ') {
            return Err(bad("it has a blank in it"));
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let path = path.split('#').next().unwrap_or_default();
        if authority.contains('@') {
            return Err(bad("it has a user name in it"));
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or_else(|| bad("a `]` is missing"))?,
            None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
        };
        if host.is_empty() {
            return Err(bad("it names no host"));
        }
        let port = match port.strip_prefix(':') {
            Some(text) => {
                text.parse().ok().filter(|port| *port > 0).ok_or_else(|| bad("its port is no port"))?
            }
            None if !port.is_empty() => return Err(bad("something follows its host")),
            None if is_tls => 443,
            None => 80,
        };
        let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
        Ok(Target { is_tls, host: host.to_owned(), port, path })
    }
}

/// A server that runs without our doing.
#[derive(Clone, Debug)]
pub struct External {
    pub target: Target,
    pub address: SocketAddr,
    /// How it calls itself; unknown with TLS, and when it does not say.
    pub version: Option<String>,
}

impl External {
    /// Finds the server and asks it for the URL once, without TLS only. Any answer will do.
    pub fn attach(url: &str) -> Result<External, ServerError> {
        let target = Target::parse(url).map_err(ServerError::Refused)?;
        let failed = |why: String| ServerError::Failed(format!("{url}: {why}"));
        let found = (target.host.as_str(), target.port).to_socket_addrs();
        let found =
            found.map_err(|error| failed(format!("the name {} is not known: {error}", target.host)))?;
        let addresses: Vec<SocketAddr> = found.take(16).collect();
        let mut last = "the name has no address".to_owned();
        for address in addresses {
            let answer = if target.is_tls {
                let opened = std::net::TcpStream::connect_timeout(&address, TIMEOUT);
                opened.map(|_| None).map_err(|error| format!("{address}: {error}"))
            } else {
                ready::ask_head(address, &host_header(&target), &target.path, TIMEOUT).map(Some)
            };
            match answer {
                Ok(answer) => {
                    let version = answer.and_then(|answer| answer.server);
                    return Ok(External { target, address, version });
                }
                Err(why) => last = why,
            }
        }
        Err(failed(format!("no answer ({last}); is the server running?")))
    }

    /// Its processes' CPU time so far, or why that is not known here.
    pub fn usage(&self) -> Result<tree::Usage, String> {
        if !self.address.ip().to_canonical().is_loopback() {
            return Err(format!("the server at {} is not known to be on this machine", self.address));
        }
        tree::Usage::of(tree::family(&sockets::listeners(self.address)?)?)
    }
}

fn host_header(target: &Target) -> String {
    let host = if target.host.contains(':') { format!("[{}]", target.host) } else { target.host.clone() };
    match (target.is_tls, target.port) {
        (false, 80) | (true, 443) => host,
        (_, port) => format!("{host}:{port}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn target(is_tls: bool, host: &str, port: u16, path: &str) -> Target {
        Target { is_tls, host: host.to_owned(), port, path: path.to_owned() }
    }

    #[test]
    fn urls_are_read() {
        for (url, wanted, header) in [
            ("http://localhost", target(false, "localhost", 80, "/"), "localhost"),
            ("HTTP://a.b:8080/x?y#z", target(false, "a.b", 8080, "/x?y"), "a.b:8080"),
            ("https://h?q", target(true, "h", 443, "/?q"), "h"),
            ("https://[::1]:8443/", target(true, "::1", 8443, "/"), "[::1]:8443"),
        ] {
            let read = Target::parse(url).unwrap();
            assert_eq!(host_header(&read), header);
            assert_eq!(read, wanted);
        }
    }

    #[test]
    fn bad_urls_are_explained() {
        for (url, says) in [
            ("localhost:80", "http://"),
            ("ftp://x", "http://"),
            ("http://", "no host"),
            ("http://:80", "no host"),
            ("http://x:0", "no port"),
            ("http://x:65536", "no port"),
            ("http://x:", "no port"),
            ("http://[::1", "`]`"),
            ("http://[::1]x", "follows"),
            ("http://u@x", "user name"),
            ("http://x/a b", "blank"),
            ("http://x/\r\nHost: y", "blank"),
        ] {
            let why = Target::parse(url).unwrap_err();
            assert!(why.contains(says), "{url}: {why}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read(text: String) {
            let _any = Target::parse(&text);
            let _any = Target::parse(&format!("http://{text}"));
        }
    }

    #[test]
    fn nobody_at_home_is_an_error() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        for url in [format!("http://127.0.0.1:{port}/"), format!("https://127.0.0.1:{port}/")] {
            let why = External::attach(&url).unwrap_err().to_string();
            assert!(why.contains("running"), "{why}");
        }
        // Longer than a name can be, so that nobody is asked for it.
        let why = External::attach(&format!("http://{}/", "x".repeat(300))).unwrap_err().to_string();
        assert!(why.contains("is not known"), "{why}");
    }
}
