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

    /// The words by which a person reaches it: `-p 2222 root@10.0.0.1`.
    pub fn by_hand(&self) -> String {
        let place = self.address.as_deref().unwrap_or(&self.name);
        let port = self.port.map(|port| format!("-p {port} ")).unwrap_or_default();
        let user = self.user.as_deref().map(|user| format!("{user}@")).unwrap_or_default();
        format!("{port}{user}{place}")
    }

    /// The name of its key among the known ones.
    pub fn key_name(&self) -> String {
        let place = self.address.as_deref().unwrap_or(&self.name);
        match self.port.filter(|port| *port != 22) {
            Some(port) => format!("'[{place}]:{port}'"),
            None => place.to_owned(),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
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
    fn a_host_says_how_it_is_reached_by_hand() {
        let far = Host::new("a", Some("10.0.0.1"), Some("root"), Some(2222)).unwrap();
        assert_eq!((far.to_string().as_str(), far.by_hand().as_str()), ("a", "-p 2222 root@10.0.0.1"));
        assert_eq!(far.key_name(), "'[10.0.0.1]:2222'");
        let near = Host::new("atom_1.lab-net", None, None, None).unwrap();
        assert_eq!((near.by_hand(), near.key_name()), ("atom_1.lab-net".into(), "atom_1.lab-net".into()));
        assert_eq!(Host::new("b", Some("10.0.0.1"), None, Some(22)).unwrap().key_name(), "10.0.0.1");
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
            &"x".repeat(LONGEST + 1),
        ] {
            let error = Host::new(bad, None, None, None).unwrap_err().to_string();
            assert!(!error.contains('\n') && error.contains("is no name of a"), "{bad}: {error}");
        }
        for bad in ["-x", "", "a b", "a@b"] {
            let error = Host::new("a", None, Some(bad), None).unwrap_err().to_string();
            assert!(error.contains("is no name of a user"), "{bad}: {error}");
        }
        assert!(Host::new("a", Some("-x"), None, None).unwrap_err().to_string().contains("no address"));
        assert!(Host::new("a", Some("fe80::1"), Some("u"), Some(22)).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_a_host_that_is_an_option(text in "\\PC{0,40}") {
            if let Ok(host) = Host::new(&text, None, None, None) {
                proptest::prop_assert!(!host.name().starts_with('-') && !host.name().contains(['/', ' ', '$']));
            }
            if let Ok(host) = Host::new("a", None, Some(&text), None) {
                proptest::prop_assert!(host.user().is_none_or(|user| !user.starts_with('-')));
            }
        }
    }
}
