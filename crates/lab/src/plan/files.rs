//! A plan as the files of others, and as `lab.toml`.

use std::collections::HashMap;
use std::fmt::Write as _;

use model::toml_file::FileError;

use super::assign::{Plan, Row, RowKind};
use crate::inventory::{Bmc, Group, Inventory, Node, Settings, write};
use crate::ranges::fold;

/// The first line of each file, by which it is known that it may be written again.
const MADE: &str = "# made by `boxscore lab plan`\n";
/// The first line of the CSV, which has no remarks.
const HEADS: &str = "name,address,kind,machine,chassis,slot,mac,network\n";

/// True for the text of a file that a plan was written as.
pub fn is_made(text: &str) -> bool {
    text.starts_with(MADE) || text.starts_with(HEADS)
}

/// `/etc/hosts`.
pub fn hosts(plan: &Plan) -> String {
    let mut out = MADE.to_owned();
    for row in &plan.rows {
        let names = match &plan.domain {
            Some(domain) => format!("{0}.{domain} {0}", row.name),
            None => row.name.clone(),
        };
        let _ = writeln!(out, "{:<15} {names}", row.address.to_string());
    }
    out
}

/// A configuration of dnsmasq: static DHCP for the known MAC addresses, and DNS for all names.
pub fn dnsmasq(plan: &Plan) -> String {
    let mut out = format!("{MADE}# dnsmasq --test -C FILE checks it\n");
    if let Some(domain) = &plan.domain {
        let _ = writeln!(out, "domain={domain}");
    }
    for (at, subnet) in plan.subnets.iter().enumerate() {
        if plan.rows.iter().any(|row| row.subnet == at && row.mac.is_some()) {
            let _ = writeln!(out, "dhcp-range={},static,{}", subnet.network(), subnet.mask());
        }
    }
    for row in &plan.rows {
        if let Some(mac) = row.mac {
            let _ = writeln!(out, "dhcp-host={mac},{},{}", row.address, row.name);
        }
    }
    let without = plan.rows.iter().filter(|row| row.mac.is_none()).map(|row| row.name.as_str());
    let without = fold(without);
    if !without.is_empty() {
        let _ = writeln!(out, "# no DHCP without a MAC address: {without}");
    }
    for row in &plan.rows {
        let full = plan.domain.as_ref().map_or_else(String::new, |domain| format!(",{}.{domain}", row.name));
        let _ = writeln!(out, "host-record={}{full},{}", row.name, row.address);
    }
    out
}

/// A configuration of ssh for the hosts.
pub fn ssh(plan: &Plan) -> String {
    let mut out = MADE.to_owned();
    for row in of_kind(plan, RowKind::Host) {
        let _ = write!(out, "Host {}\n    HostName {}\n", row.name, row.address);
        if let Some(user) = &plan.user {
            let _ = writeln!(out, "    User {user}");
        }
    }
    out
}

/// Ansible's inventory in INI, a group for each chassis.
pub fn ansible(plan: &Plan) -> String {
    let mut out = MADE.to_owned();
    let section = |out: &mut String, wanted: Option<&str>| {
        for row in of_kind(plan, RowKind::Host).filter(|row| row.chassis.as_deref() == wanted) {
            let user = plan.user.as_ref().map_or_else(String::new, |user| format!(" ansible_user={user}"));
            let _ = writeln!(out, "{} ansible_host={}{user}", row.name, row.address);
        }
    };
    section(&mut out, None);
    for chassis in &plan.chassis {
        let _ = write!(out, "\n[{chassis}]\n");
        section(&mut out, Some(chassis));
    }
    out
}

/// Every name with what is known of it; an earlier plan is read from this.
pub fn csv(plan: &Plan) -> String {
    let mut out = HEADS.to_owned();
    for row in &plan.rows {
        let slot = row.slot.map(|slot| slot.to_string()).unwrap_or_default();
        let mac = row.mac.map(|mac| mac.to_string()).unwrap_or_default();
        let network = plan.subnets.get(row.subnet).map(ToString::to_string).unwrap_or_default();
        let chassis = row.chassis.as_deref().unwrap_or_default();
        let Row { name, address, kind, machine, .. } = row;
        let _ = writeln!(out, "{name},{address},{},{machine},{chassis},{slot},{mac},{network}", kind.word());
    }
    out
}

/// `lab.toml`: the hosts and the managers.
pub fn lab_file(plan: &Plan) -> Result<String, FileError> {
    inventory(plan).map(|made| format!("{MADE}{}", write(&made)))
}

/// The hosts and the managers as an inventory, each chassis a group and a rack.
fn inventory(plan: &Plan) -> Result<Inventory, FileError> {
    let rows: HashMap<&str, &Row> =
        of_kind(plan, RowKind::Bmc).map(|row| (row.machine.as_str(), row)).collect();
    let bmc = |host: &str| {
        let (rule, row) = (plan.bmcs.get(host)?, rows.get(host)?);
        let (port, user, secret) = (None, rule.user.clone(), None);
        let (kind, address, mac) = (rule.kind, row.address.to_string(), row.mac);
        Some(Bmc { kind, address, port, user, secret, mac, fingerprints: Vec::new() })
    };
    let node = |row: &Row| Node {
        user: plan.user.clone().filter(|_| row.kind == RowKind::Host),
        groups: row.chassis.iter().cloned().collect(),
        rack: row.chassis.clone(),
        position: row.slot.map(|slot| slot as u64),
        mac: row.mac,
        bmc: if row.kind == RowKind::Host { bmc(&row.machine) } else { None },
        ..Node::new(1, &row.name, row.address.to_string())
    };
    let is_node = |row: &&Row| matches!(row.kind, RowKind::Host | RowKind::Manager);
    let nodes: Vec<Node> = plan.rows.iter().filter(is_node).map(node).collect();
    let group = |chassis: &String| Group {
        line: 1,
        name: chassis.clone(),
        nodes: nodes
            .iter()
            .filter(|node| node.groups.contains(chassis))
            .map(|node| node.name.clone())
            .collect(),
    };
    let groups = plan.chassis.iter().map(group).filter(|group| !group.nodes.is_empty()).collect();
    Inventory::new(nodes, groups, Settings::default())
}

fn of_kind(plan: &Plan, kind: RowKind) -> impl Iterator<Item = &Row> {
    plan.rows.iter().filter(move |row| row.kind == kind)
}
