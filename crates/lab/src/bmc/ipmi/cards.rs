//! The MAC address of a BMC, by the settings of its network that `ipmitool` prints.

use super::Ipmi;
use crate::bmc::cards::{Cards, TellsCards};
use crate::bmc::{Access, Failure};
use crate::inventory::Mac;

impl TellsCards for Ipmi<'_> {
    fn cards(&self, of: &[&Access]) -> Vec<Result<Cards, Failure>> {
        self.by_ipmitool("OPERATOR", &["lan", "print"], of, |said| match own(said) {
            Some(mac) => Ok(Cards { bmc: Some(mac), ports: Vec::new() }),
            None => Err(Failure::Other { said: "its BMC does not tell its MAC address".to_owned() }),
        })
    }
}

/// The line `MAC Address             : 00:25:90:ab:cd:ef`.
fn own(said: &str) -> Option<Mac> {
    let values = said.lines().filter_map(|line| line.split_once(':'));
    let mut found = values.filter(|(name, _)| name.trim() == "MAC Address");
    found.find_map(|(_, value)| value.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_found_among_the_settings() {
        let said = "Set in Progress         : Set Complete\nIP Address              : 172.31.2.11\n\
                    MAC Address             : 00:25:90:ab:cd:ef\nSNMP Community String   : public\n";
        assert_eq!(own(said).map(|mac| mac.to_string()).as_deref(), Some("00:25:90:ab:cd:ef"));
        for none in ["", "MAC Address : 00:00:00:00:00:00\n", "Backup Gateway MAC : 00:25:90:ab:cd:ef\n"] {
            assert_eq!(own(none), None, "{none}");
        }
    }
}
