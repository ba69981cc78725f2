//! The nodes of `--on` as one Hadoop cluster: where they reach each other, what they cost together, and the Hadoop that
//! they get from here.

use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs};
use std::path::Path;

use instruments::workload::hadoop::assembled;
use instruments::workload::hadoop::lab::member::{self, Member};
use lab::inventory::Node;
use lab::ssh::Host;
use lab::ssh::content::Tree;
use model::decision::PriceText;
use model::need::Ranged;

use super::content::Carried;
use crate::error::CliError;
use crate::lookup::paths;
use crate::out;

/// The nodes with their addresses, as the parameter has them. Fails where one has none that the others could use.
pub fn members(hosts: &[Host]) -> Result<String, CliError> {
    let all = hosts.iter().map(|host| {
        let name = host.name().to_owned();
        if !member::is_plain(&name) {
            let what =
                format!("{name} is no name for a node of a Hadoop cluster: letters, digits, `-` and `.`");
            return Err(
                CliError::data(what).hint("Java knows no host by another; name it otherwise in lab.toml")
            );
        }
        Ok(Member { address: address(host)?, name })
    });
    let all = all.collect::<Result<Vec<_>, _>>()?;
    let text = member::text(&all);
    member::parse(&text).map_err(CliError::data)?;
    Ok(text)
}

/// Where the other nodes reach a host: its address in the inventory, or what its name stands for here.
fn address(host: &Host) -> Result<Ipv4Addr, CliError> {
    let place = host.address().unwrap_or(host.name());
    let hint = "lab.toml says it: address = \"10.0.0.11\"";
    let found = match place.parse::<Ipv4Addr>() {
        Ok(address) => Some(address),
        Err(_) => (place, 0).to_socket_addrs().ok().into_iter().flatten().find_map(|one| match one.ip() {
            IpAddr::V4(address) => Some(address),
            IpAddr::V6(_) => None,
        }),
    };
    let none = || {
        CliError::data(format!("{host}: no IPv4 address is known at which the other nodes reach it"))
            .hint(hint)
    };
    let address = found.ok_or_else(none)?;
    match address.is_loopback() || address.is_unspecified() {
        true => {
            Err(CliError::data(format!("{host} is at {address}, where no other node reaches it")).hint(hint))
        }
        false => Ok(address),
    }
}

/// The price of all together; `None` where one has none, or another kind of price.
pub fn price(nodes: &[&Node]) -> Option<PriceText> {
    let mut all = nodes.iter().map(|node| node.price);
    let first = all.next()??;
    all.try_fold(first, |sum, next| {
        let next = next.filter(|next| next.term == sum.term)?;
        let (low, high) = (sum.amount.low + next.amount.low, sum.amount.high + next.amount.high);
        Some(PriceText { amount: Ranged { low, high }, ..sum })
    })
}

/// The watts of all together; `None` where those of one are not known.
pub fn watts(nodes: &[&Node]) -> Option<f64> {
    nodes.iter().map(|node| node.watts).sum()
}

/// The Hadoop of this host that was assembled here, for nodes; `None` where there is none, so that the nodes need their
/// own. Fails where it cannot be read.
pub fn distribution(names: Vec<String>) -> Result<Option<Carried>, CliError> {
    let home = std::env::var_os("HADOOP_HOME").map(std::path::PathBuf::from);
    let folder = home.map_or_else(|| paths::data_dir().map(|dir| assembled::folder(&dir)), Ok)?;
    if assembled::check(&folder).is_err() {
        out::say(
            "note: no Hadoop of `boxscore hadoop fetch` is here that could go to the nodes: each needs its own",
        );
        return Ok(None);
    }
    let tree = Tree::read(&folder)?;
    let there = assembled::folder(Path::new(DATA_DIR));
    Carried::new(tree, &there.display().to_string(), names).map(Some)
}

/// The folder of boxscore's data on a node.
const DATA_DIR: &str = "~/.local/share/boxscore";

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, address: Option<&str>) -> Host {
        Host::new(name, address, None, None).unwrap()
    }

    #[test]
    fn nodes_are_named_with_addresses_that_others_reach() {
        let both = [host("a1", Some("10.0.0.1")), host("a2", Some("10.0.0.2"))];
        assert_eq!(members(&both).unwrap(), "a1@10.0.0.1 a2@10.0.0.2");
        let why = |name: &str, address: &str| members(&[host(name, Some(address))]).unwrap_err().message;
        assert!(why("a1", "127.0.0.1").contains("where no other node reaches it"));
        assert!(why("a1", "fd00::1").contains("no IPv4 address is known"));
        assert!(why("a_1", "10.0.0.1").contains("no name for a node"));
        let twice = [host("a1", Some("10.0.0.1")), host("a2", Some("10.0.0.1"))];
        assert!(members(&twice).unwrap_err().message.contains("a1@10.0.0.1 too"));
    }

    #[test]
    fn all_together_cost_the_sum_of_like_prices() {
        let read = |text: &str| lab::inventory::read(text).unwrap();
        let nodes = |inventory: &lab::inventory::Inventory| -> (Option<PriceText>, Option<f64>) {
            let all: Vec<&Node> = inventory.nodes().iter().collect();
            (price(&all), watts(&all))
        };
        let one = |name: &str, rest: &str| {
            let last = name.len();
            format!("[[nodes]]\nname = \"{name}\"\naddress = \"10.0.0.{last}\"\n{rest}\n")
        };
        let like =
            read(&(one("a", "price = \"1/h\"\nwatts = 10") + &one("bb", "price = \"2/h\"\nwatts = 20")));
        let (price, watts) = nodes(&like);
        assert_eq!((price.map(|price| price.amount.low), watts), (Some(3.0), Some(30.0)));
        let other = read(&(one("a", "price = \"1/h\"\nwatts = 10") + &one("bb", "price = \"2\"")));
        assert_eq!(nodes(&other), (None, None));
    }
}
