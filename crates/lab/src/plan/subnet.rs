//! IPv4 subnets and the addresses in them that a machine may have.

use core::net::Ipv4Addr;
use std::fmt;

/// A subnet of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subnet {
    pub line: usize,
    pub name: String,
    network: u32,
    bits: u8,
    /// The first address that is given out.
    from: u32,
    /// Addresses that are in use already: such a subnet gives out none.
    pub used: Option<u64>,
    pub usage: String,
}

impl Subnet {
    /// Reads `192.168.3.0/24`; the error says what is wrong with it.
    pub fn parse(line: usize, name: &str, text: &str) -> Result<Subnet, String> {
        const LEAST: u8 = 8;
        const MOST: u8 = 30;
        let (address, bits) = text.split_once('/').ok_or("no `/` and number of bits")?;
        let address: Ipv4Addr =
            address.parse().map_err(|_| format!("`{}` is no IPv4 address", address.escape_debug()))?;
        let bits: u8 = bits
            .parse()
            .ok()
            .filter(|bits| (LEAST..=MOST).contains(bits))
            .ok_or_else(|| format!("the number of bits is from {LEAST} to {MOST}"))?;
        let network = u32::from(address);
        if network & !mask(bits) != 0 {
            let base = Ipv4Addr::from(network & mask(bits));
            return Err(format!("{address} is inside of the network {base}/{bits}"));
        }
        let (used, usage) = (None, String::new());
        Ok(Subnet { line, name: name.to_owned(), network, bits, from: network, used, usage })
    }

    /// The same subnet, giving out addresses from one on; `None` where that is not in it.
    #[must_use]
    pub fn starting(self, from: Ipv4Addr) -> Option<Subnet> {
        self.contains(from).then(|| Subnet { from: u32::from(from), ..self })
    }

    pub fn contains(&self, address: Ipv4Addr) -> bool {
        u32::from(address) & mask(self.bits) == self.network
    }

    pub fn overlaps(&self, other: &Subnet) -> bool {
        let shorter = mask(self.bits.min(other.bits));
        self.network & shorter == other.network & shorter
    }

    pub fn mask(&self) -> Ipv4Addr {
        Ipv4Addr::from(mask(self.bits))
    }

    pub fn network(&self) -> Ipv4Addr {
        Ipv4Addr::from(self.network)
    }

    /// True for an address that a machine may have: neither that of the network nor that of all, and no .0 or .255.
    pub fn has(&self, address: Ipv4Addr) -> bool {
        let number = u32::from(address);
        let is_end = number == self.network || number == self.network | !mask(self.bits);
        self.contains(address) && !is_end && !matches!(number & 0xff, 0 | 0xff)
    }

    /// The addresses that are given out, the lowest first.
    pub fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> {
        let last = self.network | !mask(self.bits);
        (self.from..=last).map(Ipv4Addr::from).filter(|address| self.has(*address))
    }

    /// How many that are.
    pub fn count(&self) -> u64 {
        let last = self.network | !mask(self.bits);
        let ends = |number: u32| u64::from(number / 256);
        // Of each 256 numbers 254 are left; the few of the first and the last part are counted one by one.
        if last - self.from < 1024 {
            return self.addresses().count() as u64;
        }
        let (first_whole, last_whole) = (self.from.div_ceil(256) * 256, last / 256 * 256);
        let head = (self.from..first_whole).filter(|number| self.has(Ipv4Addr::from(*number))).count() as u64;
        let tail = (last_whole..=last).filter(|number| self.has(Ipv4Addr::from(*number))).count() as u64;
        head + (ends(last_whole) - ends(first_whole)) * 254 + tail
    }
}

/// `192.168.3.0/24`
impl fmt::Display for Subnet {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}", self.network(), self.bits)
    }
}

fn mask(bits: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subnet(text: &str) -> Subnet {
        Subnet::parse(1, "x", text).expect(text)
    }

    #[test]
    fn the_ends_and_every_0_and_255_are_skipped() {
        let count = |text: &str| subnet(text).count();
        assert_eq!(
            [count("10.0.0.0/24"), count("10.0.0.0/25"), count("10.0.0.128/25"), count("10.0.0.0/30")],
            [254, 126, 126, 2]
        );
        assert_eq!(count("10.0.0.0/23"), 2 * 254);
        assert_eq!(count("10.0.0.0/20"), 16 * 254);
        for text in ["10.0.0.0/21", "10.0.0.0/20"] {
            assert_eq!(count(text), subnet(text).addresses().count() as u64);
        }
        let from = subnet("10.0.0.0/20").starting(Ipv4Addr::new(10, 0, 3, 250)).expect("in it");
        assert_eq!(from.count(), from.addresses().count() as u64);
        let first: Vec<String> =
            subnet("10.0.0.0/23").addresses().skip(253).take(2).map(|a| a.to_string()).collect();
        assert_eq!(first, ["10.0.0.254", "10.0.1.1"]);
    }

    #[test]
    fn overlap_and_bad_networks_are_seen() {
        assert!(subnet("10.0.0.0/23").overlaps(&subnet("10.0.1.0/24")));
        assert!(!subnet("10.0.0.0/24").overlaps(&subnet("10.0.1.0/24")));
        for bad in ["10.0.0.0", "10.0.0/24", "10.0.0.1/24", "10.0.0.0/31", "10.0.0.0/x", "10.0.0.0/7"] {
            assert!(Subnet::parse(1, "x", bad).is_err(), "{bad}");
        }
    }
}
