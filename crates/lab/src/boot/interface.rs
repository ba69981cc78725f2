//! The interface on which machines are booted: its address, and whether another DHCP server has given it.

use std::net::Ipv4Addr;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::child;
use crate::stop::{Limit, Stop};

/// How long `ip` may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// An address of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub address: Ipv4Addr,
    /// Bits of its network.
    pub prefix: u8,
    /// True if it has a lease of a DHCP server, which then is on the same network.
    pub is_leased: bool,
    /// True if it has a global IPv6 address, by which iPXE can be told that there is no router.
    pub has_ipv6: bool,
}

/// Why an interface is of no use.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadInterface {
    #[error("`{}` is no name of an interface", .0.escape_debug())]
    Name(String),
    #[error("{name}: {said}")]
    Unknown { name: String, said: String },
    #[error("{0} has no IPv4 address")]
    NoAddress(String),
    #[error("{0} is down")]
    Down(String),
}

impl Interface {
    /// Asks `ip` for the first address of an interface. Fails where it has none, and where it is down.
    pub fn find(name: &str, stop: &Stop) -> Result<Interface, BadInterface> {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
        if name.is_empty() || name.starts_with('-') || !name.chars().all(is_letter) {
            return Err(BadInterface::Name(name.to_owned()));
        }
        let unknown = |said: String| BadInterface::Unknown { name: name.to_owned(), said };
        let mut command = Command::new("ip");
        command.args(["-json", "address", "show", "dev", name]);
        let ended = child::run(command, b"", Limit::from_now(stop, Some(PATIENCE)))
            .map_err(|error| unknown(format!("`ip` gave no answer: {error:?}")))?;
        if !ended.status.success() {
            return Err(unknown(ended.stderr.trim().escape_debug().to_string()));
        }
        Interface::read(name, &ended.stdout)
    }

    fn read(name: &str, text: &str) -> Result<Interface, BadInterface> {
        let said = |error: serde_json::Error| BadInterface::Unknown {
            name: name.to_owned(),
            said: error.to_string(),
        };
        let links: Value = serde_json::from_str(text).map_err(said)?;
        let link = &links[0];
        let is_up = link["flags"].as_array().is_some_and(|flags| flags.iter().any(|flag| flag == "UP"));
        if !is_up {
            return Err(BadInterface::Down(name.to_owned()));
        }
        let all = link["addr_info"].as_array().map_or(&[][..], Vec::as_slice);
        let of = |family: &'static str| all.iter().filter(move |one| one["family"] == family);
        let usable = of("inet").find_map(|one| {
            let address = one["local"].as_str()?.parse().ok()?;
            let prefix = one["prefixlen"].as_u64().and_then(|bits| u8::try_from(bits).ok())?;
            Some((address, prefix.min(32)))
        });
        let (address, prefix) = usable.ok_or_else(|| BadInterface::NoAddress(name.to_owned()))?;
        let is_leased = of("inet").any(|one| one["dynamic"] == true);
        let has_ipv6 = of("inet6").any(|one| one["scope"] == "global");
        Ok(Interface { name: name.to_owned(), address, prefix, is_leased, has_ipv6 })
    }

    pub fn mask(&self) -> Ipv4Addr {
        Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0))
    }

    pub fn network(&self) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.address) & u32::from(self.mask()))
    }

    /// True for an address of its network that a node may have.
    pub fn may_serve(&self, address: Ipv4Addr) -> bool {
        let mask = u32::from(self.mask());
        let host = u32::from(address) & !mask;
        u32::from(address) & mask == u32::from(self.network())
            && address != self.address
            && host != 0
            && host != !mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(flags: &str, more: &str) -> String {
        format!(
            r#"[{{"flags":[{flags}],"addr_info":[{{"family":"inet6","local":"fe80::1","prefixlen":64,"scope":"link"}}{more}]}}]"#
        )
    }

    #[test]
    fn an_address_with_an_end_is_a_lease() {
        let own = r#",{"family":"inet","local":"10.88.0.1","prefixlen":24,"scope":"global"}"#;
        let leased = own.replace("\"scope\"", "\"dynamic\":true,\"scope\"");
        let read = |flags: &str, more: &str| Interface::read("br0", &text(flags, more));
        let found = read("\"UP\"", own).unwrap();
        assert_eq!(
            (found.network().to_string(), found.mask().to_string()),
            ("10.88.0.0".into(), "255.255.255.0".into())
        );
        assert!(!found.is_leased && !found.has_ipv6);
        assert!(read("\"UP\"", &leased).unwrap().is_leased);
        let six = r#",{"family":"inet6","local":"fd88::1","prefixlen":64,"scope":"global"}"#;
        assert!(read("\"UP\"", &format!("{own}{six}")).unwrap().has_ipv6);
        assert_eq!(read("\"UP\"", "").unwrap_err(), BadInterface::NoAddress("br0".into()));
        assert_eq!(read("\"BROADCAST\"", own).unwrap_err(), BadInterface::Down("br0".into()));
        assert!(matches!(Interface::read("br0", "[]"), Err(BadInterface::Down(_))));
        assert!(matches!(Interface::read("br0", "x"), Err(BadInterface::Unknown { .. })));
        for (address, is) in [
            ("10.88.0.2", true),
            ("10.88.0.1", false),
            ("10.88.0.0", false),
            ("10.88.0.255", false),
            ("10.89.0.2", false),
        ] {
            assert_eq!(found.may_serve(address.parse().unwrap()), is, "{address}");
        }
        let stop = Stop::new().unwrap();
        for bad in ["", "-x", "a b", "a;b"] {
            assert_eq!(Interface::find(bad, &stop), Err(BadInterface::Name(bad.to_owned())));
        }
    }
}
