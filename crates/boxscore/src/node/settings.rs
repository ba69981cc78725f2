//! The settings of a booted node, on the kernel's command line.

use std::net::{Ipv4Addr, SocketAddr};

use lab::inventory::Mac;

use crate::error::CliError;

/// Who the node is, and where its controller answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    pub name: String,
    /// By which controller and node know each other.
    pub key: String,
    pub controller: SocketAddr,
    pub mac: Mac,
    pub address: Ipv4Addr,
    /// Bits of its network.
    pub prefix: u8,
    /// True if the controller may have it write an image to a disk; else nobody can.
    pub may_write: bool,
}

impl Settings {
    /// The words of the command line by which a node is told them.
    pub fn words(&self) -> String {
        let Settings { name, key, controller, mac, address, prefix, may_write } = self;
        let write = if *may_write { " boxscore.write=yes" } else { "" };
        format!(
            "boxscore.name={name} boxscore.key={key} boxscore.controller={controller} boxscore.mac={mac} \
             boxscore.ip={address}/{prefix}{write}"
        )
    }

    /// Fails for a word that is missing or wrong.
    pub fn read(text: &str) -> Result<Settings, CliError> {
        let wrong = |name: &str| {
            CliError::data(format!("the kernel's command line has no right boxscore.{name}: {}", text.trim()))
        };
        let word = |name: &str| {
            let mut words = text.split_whitespace().filter_map(|word| word.strip_prefix("boxscore."));
            let value = words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            value.ok_or_else(|| wrong(name))
        };
        let ip = word("ip")?;
        let (address, prefix) = ip.split_once('/').ok_or_else(|| wrong("ip"))?;
        Ok(Settings {
            name: word("name")?.to_owned(),
            key: word("key")?.to_owned(),
            controller: word("controller")?.parse().map_err(|_| wrong("controller"))?,
            mac: word("mac")?.parse().map_err(|_| wrong("mac"))?,
            address: address.parse().map_err(|_| wrong("ip"))?,
            prefix: prefix.parse().ok().filter(|bits| *bits <= 32).ok_or_else(|| wrong("ip"))?,
            may_write: word("write").is_ok_and(|word| word == "yes"),
        })
    }

    pub fn mask(&self) -> Ipv4Addr {
        Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_reads_what_it_was_told() {
        let settings = Settings {
            name: "atom001".into(),
            key: "0a".into(),
            controller: "10.88.0.1:4000".parse().unwrap(),
            mac: "52:54:00:88:00:01".parse().unwrap(),
            address: Ipv4Addr::new(10, 88, 0, 101),
            prefix: 24,
            may_write: true,
        };
        let line = format!("console=ttyS0 {} quiet\n", settings.words());
        assert_eq!(Settings::read(&line).unwrap(), settings);
        let other = Settings { may_write: false, ..settings.clone() };
        assert_eq!(Settings::read(&other.words()).unwrap(), other);
        assert_eq!(settings.mask().to_string(), "255.255.255.0");
        for (word, by) in
            [("boxscore.key=0a", ""), ("/24", "/33"), ("10.88.0.1:4000", "x"), ("52:54", "zz:54")]
        {
            assert!(Settings::read(&line.replace(word, by)).is_err(), "{word}");
        }
    }
}
