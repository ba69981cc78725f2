//! One machine, and what its values may look like: nothing in them is read by a shell or as an option.

use std::fmt;
use std::str::FromStr;

use model::decision::PriceText;

use super::secret::Secret;
use crate::ranges::is_name;

model::words! {
    /// The part that a machine plays in a load.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Role as word {
        /// It sends load.
        Generator = "generator",
        /// It is measured.
        Server = "server",
    }
}

model::words! {
    /// The protocol of a BMC.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum BmcKind as word {
        Ipmi = "ipmi",
        Redfish = "redfish",
    }
}

/// A machine of the inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The line of the file that says it, from 1 on.
    pub line: usize,
    pub name: String,
    /// A host name, an IPv4 or an IPv6 address: where ssh goes.
    pub address: String,
    /// The login; `None` leaves it to the user's ssh configuration, as does `port`.
    pub user: Option<String>,
    pub port: Option<u16>,
    pub roles: Vec<Role>,
    /// The groups that have it, those of `[groups]` too.
    pub groups: Vec<String>,
    pub price: Option<PriceText>,
    pub watts: Option<f64>,
    /// Its BMC may turn it off and on where it hangs in a run.
    pub cycle_on_hang: bool,
    pub rack: Option<String>,
    /// Its place in the rack, counted as the rack's labels do.
    pub position: Option<u64>,
    pub mac: Option<Mac>,
    pub bmc: Option<Bmc>,
    /// Where its console is reached over TCP, in place of its BMC's.
    pub console: Option<Console>,
}

model::words! {
    /// How bytes of a console travel.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum ConsoleKind as word {
        /// As they are.
        Tcp = "tcp",
        /// With the commands of telnet among them.
        Telnet = "telnet",
    }
}

/// The place of a console: a port of a serial server, a switch or a virtual machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Console {
    pub kind: ConsoleKind,
    /// A name or an address.
    pub host: String,
    pub port: u16,
}

impl fmt::Display for Console {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.host.contains(':') {
            true => write!(out, "{}://[{}]:{}", self.kind.word(), self.host, self.port),
            false => write!(out, "{}://{}:{}", self.kind.word(), self.host, self.port),
        }
    }
}

impl Node {
    /// A node with a name and an address and nothing else.
    pub fn new(line: usize, name: impl Into<String>, address: impl Into<String>) -> Node {
        Node {
            line,
            name: name.into(),
            address: address.into(),
            user: None,
            port: None,
            roles: Vec::new(),
            groups: Vec::new(),
            price: None,
            watts: None,
            cycle_on_hang: false,
            rack: None,
            position: None,
            mac: None,
            bmc: None,
            console: None,
        }
    }
}

/// The controller that switches a machine on and off and has its console.
#[derive(Clone, Debug, PartialEq)]
pub struct Bmc {
    pub kind: BmcKind,
    pub address: String,
    pub port: Option<u16>,
    pub user: Option<String>,
    /// The place of its password.
    pub secret: Option<Secret>,
    pub mac: Option<Mac>,
    /// The certificates that its HTTPS server may show; without any, only `--insecure` speaks with it.
    pub fingerprints: Vec<Fingerprint>,
}

/// Nodes that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub line: usize,
    pub name: String,
    /// Names of nodes, in the order of the nodes.
    pub nodes: Vec<String>,
}

/// The SHA-256 hash of a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub [u8; 32]);

impl FromStr for Fingerprint {
    type Err = &'static str;

    /// Reads 64 hexadecimal digits, with or without colons, as `openssl x509 -fingerprint -sha256` prints them.
    fn from_str(text: &str) -> Result<Fingerprint, &'static str> {
        let shape = "a fingerprint is 64 hexadecimal digits (SHA-256)";
        let digits: String = text.chars().filter(|c| *c != ':').collect();
        let mut bytes = [0; 32];
        if digits.len() != 64 || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(shape);
        }
        for (at, byte) in bytes.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).map_err(|_| shape)?;
        }
        Ok(Fingerprint(bytes))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
    }
}

/// The address of a network card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl FromStr for Mac {
    type Err = &'static str;

    /// Reads `00:25:90:ab:cd:ef`, with colons or hyphens.
    fn from_str(text: &str) -> Result<Mac, &'static str> {
        let shape = "a MAC address is six pairs of hexadecimal digits";
        let sign = if text.contains(':') { ':' } else { '-' };
        let pairs: Vec<&str> = text.split(sign).collect();
        let mut bytes = [0; 6];
        if pairs.len() != bytes.len() {
            return Err(shape);
        }
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            let is_pair = pair.len() == 2 && pair.bytes().all(|digit| digit.is_ascii_hexdigit());
            *byte = u8::from_str_radix(pair, 16).ok().filter(|_| is_pair).ok_or(shape)?;
        }
        if bytes[0] & 1 == 1 || bytes == [0; 6] {
            return Err("this is an address of no single card");
        }
        Ok(Mac(bytes))
    }
}

impl fmt::Display for Mac {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        out.write_str(&pairs.join(":"))
    }
}

const MOST_LETTERS: usize = 64;

/// True for the name of a group or a rack: small letters, digits, `-`, `_` and single dots.
pub fn is_label(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let fits = (1..=MOST_LETTERS).contains(&text.len()) && text.chars().all(is_letter);
    fits && !text.starts_with(['-', '.']) && !text.contains("..")
}

/// True for a login: letters, digits, `-`, `_` and dots, so that ssh never reads it as an option.
pub fn is_user(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    (1..=MOST_LETTERS).contains(&text.len()) && text.chars().all(is_letter) && !text.starts_with(['-', '.'])
}

/// True for where a machine answers: a name, an IPv4 or an IPv6 address.
pub fn is_place(text: &str) -> bool {
    is_name(text) || text.parse::<core::net::Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mac_address_is_read_and_written() {
        assert_eq!(
            "00-25-90-AB-CD-EF".parse::<Mac>().map(|mac| mac.to_string()),
            Ok("00:25:90:ab:cd:ef".into())
        );
        for bad in [
            "",
            "00:25:90:ab:cd",
            "00:25:90:ab:cd:e",
            "00:25:90:ab:cd:+e",
            "01:00:5e:00:00:01",
            "00:00:00:00:00:00",
        ] {
            assert!(bad.parse::<Mac>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_fingerprint_is_read_as_openssl_prints_it() {
        let plain = "0123456789abcdef".repeat(4);
        let pairs: Vec<&str> = (0..32).map(|at| &plain[2 * at..2 * at + 2]).collect();
        for text in [plain.clone(), pairs.join(":").to_uppercase()] {
            assert_eq!(text.parse::<Fingerprint>().map(|one| one.to_string()), Ok(plain.clone()));
        }
        for bad in ["", "ab", &"x".repeat(64), &"\u{e4}".repeat(32)] {
            assert!(bad.parse::<Fingerprint>().is_err(), "{bad}");
        }
    }

    #[test]
    fn logins_and_labels_hold_no_option_and_no_path() {
        assert!(is_user("root") && is_user("ADMIN") && is_user("svc-lab.1") && is_label("rack-1"));
        for bad in ["", "-oProxyCommand=x", "a b", "$(x)", "a'b", "a\nb", "../a", "a:b", "a@b", ".a"] {
            assert!(!is_user(bad) && !is_label(bad), "{bad}");
        }
        assert!(is_place("fd00::1") && is_place("10.0.0.1") && !is_place("10.0.0.0") && !is_place("a/b"));
    }
}
