//! Hosts as ssh is told them. A name is checked here once: what ssh would take as an option, or a shell as more than
//! a word, is refused.

use std::fmt;
use std::net::IpAddr;

/// The longest name that the domain name system has.
const LONGEST: usize = 253;

/// A host to log in to. Made by [`Host::new`] alone, so that each was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    name: String,
    address: Option<String>,
    user: Option<String>,
    port: Option<u16>,
}

/// A host that is refused, with the part that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadHost {
    #[error("`{}` is no name of a host: letters, digits, `.`, `_` and `-`, of which the last two do not come first", .0.escape_debug())]
    Name(String),
    #[error("{host}: `{}` is no address", .address.escape_debug())]
    Address { host: String, address: String },
    #[error("{host}: `{}` is no name of a user: letters, digits, `.`, `_` and `-`, and no `-` first", .user.escape_debug())]
    User { host: String, user: String },
    #[error("the list of hosts is empty")]
    Empty,
}

impl Host {
    /// A host by its name in the ssh configuration; `address`, `user` and `port` go before what that says. Fails for
    /// what is not of the grammar of names.
    pub fn new(
        name: &str,
        address: Option<&str>,
        user: Option<&str>,
        port: Option<u16>,
    ) -> Result<Host, BadHost> {
        if !is_host(name) {
            return Err(BadHost::Name(name.to_owned()));
        }
        if let Some(address) = address.filter(|address| !is_host(address)) {
            return Err(BadHost::Address { host: name.to_owned(), address: address.to_owned() });
        }
        if let Some(user) = user.filter(|user| !is_word(user)) {
            return Err(BadHost::User { host: name.to_owned(), user: user.to_owned() });
        }
        Ok(Host {
            name: name.to_owned(),
            address: address.map(str::to_owned),
            user: user.map(str::to_owned),
            port,
        })
    }

    /// The hosts of a list such as `atom001,root@atom002`, each once, in the order of the list. Fails for an empty list
    /// and for a name that is refused.
    pub fn list(text: &str) -> Result<Vec<Host>, BadHost> {
        let mut hosts: Vec<Host> = Vec::new();
        for part in text.split(',').filter(|part| !part.is_empty()) {
            let host = match part.split_once('@') {
                Some((user, name)) => Host::new(name, None, Some(user), None)?,
                None => Host::new(part, None, None, None)?,
            };
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        if hosts.is_empty() { Err(BadHost::Empty) } else { Ok(hosts) }
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    pub fn port(&self) -> Option<u16> {
        self.port
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.user {
            Some(user) => write!(out, "{user}@{}", self.name),
            None => out.write_str(&self.name),
        }
    }
}

fn is_host(text: &str) -> bool {
    is_word(text) && !text.starts_with('.') || text.parse::<IpAddr>().is_ok()
}

fn is_word(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    !text.is_empty() && text.len() <= LONGEST && !text.starts_with('-') && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_each_host_once_in_its_order() {
        let names = |text: &str| -> Vec<String> {
            Host::list(text).unwrap().iter().map(ToString::to_string).collect()
        };
        assert_eq!(names("b,a,b,root@a,::1,10.0.0.7"), ["b", "a", "root@a", "::1", "10.0.0.7"]);
        assert_eq!(names("atom_1.lab-net"), ["atom_1.lab-net"]);
    }

    #[test]
    fn what_ssh_or_a_shell_would_read_otherwise_is_refused() {
        for bad in [
            "-oProxyCommand=x",
            "a b",
            "$(id)",
            "a;b",
            "a\nb",
            "../x",
            "a/b",
            "a%h",
            "ä",
            "'a'",
            "a:1",
            ".",
            "-x@a",
            "@a",
            "a b@c",
            &"x".repeat(LONGEST + 1),
        ] {
            let error = Host::list(bad).unwrap_err().to_string();
            assert!(!error.contains('\n') && error.contains("is no name of a"), "{bad}: {error}");
        }
        assert_eq!(Host::list(",,").unwrap_err(), BadHost::Empty);
        assert!(Host::new("a", Some("-x"), None, None).unwrap_err().to_string().contains("no address"));
        assert!(Host::new("a", Some("fe80::1"), Some("u"), Some(22)).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_host_that_is_an_option(text in "\\PC{0,40}") {
            if let Ok(hosts) = Host::list(&text) {
                for host in hosts {
                    proptest::prop_assert!(!host.name().starts_with('-') && !host.name().contains(['/', ' ', '$']));
                    proptest::prop_assert!(host.user().is_none_or(|user| !user.starts_with('-')));
                }
            }
        }
    }
}
