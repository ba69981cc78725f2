//! MAC addresses by Redfish: the interfaces of the system, and the first one of its manager.

use serde_json::Value;

use super::{Redfish, Service, link, members};
use crate::bmc::cards::{Cards, TellsCards};
use crate::bmc::{Access, Failure};
use crate::inventory::Mac;

impl TellsCards for Redfish<'_> {
    fn cards(&self, of: &[&Access]) -> Vec<Result<Cards, Failure>> {
        self.each(of, |service| {
            let system = service.system()?;
            let manager = link(&system["Links"]["ManagedBy"][0]);
            let manager = manager.map(|path| service.find(&path)).transpose()?.flatten();
            let own = manager.map(|manager| service.interfaces(&manager)).transpose()?;
            let (bmc, ports) = (own.and_then(|all| all.first().copied()), service.interfaces(&system)?);
            match bmc.is_none() && ports.is_empty() {
                true => Err(Failure::Other { said: "its BMC tells no MAC address".to_owned() }),
                false => Ok(Cards { bmc, ports }),
            }
        })
    }
}

impl Service<'_> {
    /// The addresses of a resource's interfaces, by their names there.
    fn interfaces(&self, of: &Value) -> Result<Vec<Mac>, Failure> {
        let Some(path) = link(&of["EthernetInterfaces"]) else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for one in self.find(&path)?.iter().flat_map(members) {
            all.extend(self.find(&one)?);
        }
        all.sort_by(|a, b| natural(a).cmp(&natural(b)));
        Ok(all.iter().filter_map(address).collect())
    }
}

/// The name of an interface in parts, letters and the number behind them, so that `eth2` stands before `eth10`.
fn natural(interface: &Value) -> Vec<(&str, u64)> {
    let mut rest = interface["Id"].as_str().unwrap_or_default();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let digits = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let (letters, behind) = rest.split_at(digits);
        let end = behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len());
        parts.push((letters, behind[..end].parse().unwrap_or(u64::MAX)));
        rest = &behind[end..];
    }
    parts
}

/// That of the card itself goes before one that was set.
fn address(interface: &Value) -> Option<Mac> {
    let read = |name: &str| interface[name].as_str()?.parse().ok();
    read("PermanentMACAddress").or_else(|| read("MACAddress"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn interfaces_are_in_the_order_of_their_numbers() {
        let mut all = ["eth10", "NIC.Slot.2-1-1", "eth2", "NIC.Integrated.1-1-1", "eth1", ""];
        let name = |id: &str| json!({ "Id": id });
        all.sort_by(|a, b| natural(&name(a)).cmp(&natural(&name(b))));
        assert_eq!(all, ["", "NIC.Integrated.1-1-1", "NIC.Slot.2-1-1", "eth1", "eth2", "eth10"]);
        let both = json!({ "MACAddress": "02:00:00:00:00:01", "PermanentMACAddress": "00:25:90:00:00:01" });
        assert_eq!(address(&both).map(|mac| mac.to_string()).as_deref(), Some("00:25:90:00:00:01"));
        let set = json!({ "MACAddress": "02-00-00-00-00-01", "PermanentMACAddress": null });
        assert_eq!(address(&set).map(|mac| mac.to_string()).as_deref(), Some("02:00:00:00:00:01"));
        assert_eq!(address(&Value::Null), None);
    }
}
