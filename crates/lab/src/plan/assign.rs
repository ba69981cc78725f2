//! Rules into rows. Each subnet gives out its lowest free address, in the order of the rows; an address of an earlier
//! plan stays with its name.

use core::net::Ipv4Addr;
use std::collections::{HashMap, HashSet};
use std::fmt;

use model::toml_file::FileError;

use super::earlier::{Earlier, Macs};
use super::read::{BmcRule, Rules, overflow};
use super::subnet::Subnet;
use crate::bmc::cards::Cards;
use crate::inventory::Mac;
use crate::ranges::{MOST, NAME_HINT, fold, is_name};

model::words! {
    /// The thing that has an address.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum RowKind as word {
        /// The first port of a host.
        Host = "host",
        /// A further port.
        Nic = "nic",
        Bmc = "bmc",
        /// A manager of a chassis.
        Manager = "manager",
    }
}

/// A name and its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub name: String,
    pub kind: RowKind,
    /// The host or the chassis that it belongs to.
    pub machine: String,
    /// The letters behind the machine's name in its own.
    pub suffix: String,
    /// A place in [`Plan::subnets`].
    pub subnet: usize,
    pub address: Ipv4Addr,
    pub mac: Option<Mac>,
    pub chassis: Option<String>,
    /// From 1 on in each chassis.
    pub slot: Option<usize>,
}

/// All names with their addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub domain: Option<String>,
    pub user: Option<String>,
    pub subnets: Vec<Subnet>,
    /// Chassis by chassis as the file names them.
    pub chassis: Vec<String>,
    pub rows: Vec<Row>,
    /// The BMC of each host that has one.
    pub bmcs: HashMap<String, BmcRule>,
    pub notes: Vec<PlanNote>,
}

/// A thing that a user of an earlier plan should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanNote {
    /// These names of the earlier plan are in this one no more, so their addresses may be given out again.
    Gone(Vec<String>),
    /// These names have another address than before.
    Moved(Vec<String>),
}

impl fmt::Display for PlanNote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folded = |names: &[String]| fold(names.iter().map(String::as_str));
        match self {
            PlanNote::Gone(names) => {
                write!(out, "no longer planned: {}; their addresses may be given out again", folded(names))
            }
            PlanNote::Moved(names) => {
                write!(out, "moved to another subnet, so the address is a new one: {}", folded(names))
            }
        }
    }
}

/// Gives every name an address. Fails where a subnet has too few, or two things would have one name.
pub fn plan(rules: Rules, earlier: &Earlier) -> Result<Plan, FileError> {
    let mut wanted = wanted(&rules)?;
    let given = addresses(&rules, &wanted, earlier)?;
    for row in &mut wanted {
        if let Some(address) = given.get(&row.name) {
            row.address = *address;
        }
        row.mac = earlier.mac(&row.name);
    }
    let mut notes = Vec::new();
    let gone = earlier.names().filter(|name| !given.contains_key(*name)).map(str::to_owned);
    let moved =
        wanted.iter().filter(|row| earlier.get(&row.name).is_some_and(|before| before != row.address));
    let (gone, moved): (Vec<_>, Vec<_>) = (gone.collect(), moved.map(|row| row.name.clone()).collect());
    notes.extend((!gone.is_empty()).then_some(PlanNote::Gone(gone)));
    notes.extend((!moved.is_empty()).then_some(PlanNote::Moved(moved)));
    let bmcs = rules.hosts.iter().flat_map(|rule| {
        let bmc = move |name: &String| Some((name.clone(), rule.bmc.clone()?));
        rule.names.iter().filter_map(bmc)
    });
    Ok(Plan {
        bmcs: bmcs.collect(),
        chassis: rules.chassis.iter().flat_map(|rule| rule.names.clone()).collect(),
        domain: rules.domain,
        user: rules.user,
        subnets: rules.subnets,
        rows: wanted,
        notes,
    })
}

impl Plan {
    /// The plan with MAC addresses. Fails for the first whose name is none of the plan, with the line of their list.
    pub fn with_macs(mut self, macs: &Macs) -> Result<Plan, FileError> {
        let names: HashSet<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
        if let Some((line, name)) = macs.first_unknown(|name| names.contains(name)) {
            let hint = match model::nearest::nearest(name, self.rows.iter().map(|row| row.name.as_str())) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "a MAC address belongs to a name of the plan".to_owned(),
            };
            return Err(FileError::new(
                line,
                format!("`{}` is no name of the plan", name.escape_debug()),
                hint,
            ));
        }
        self.take_macs(&macs.each().map(|(name, mac)| (name.to_owned(), mac)).collect());
        Ok(self)
    }

    /// Gives names these MAC addresses. A card that another name had is taken from it.
    fn take_macs(&mut self, new: &HashMap<String, Mac>) {
        let moved: HashSet<Mac> = new.values().copied().collect();
        for row in &mut self.rows {
            row.mac = new.get(&row.name).copied().or(row.mac.filter(|mac| !moved.contains(mac)));
        }
    }

    /// The plan with the MAC addresses that BMCs told of their nodes: ports in the order of the plan, first that of the
    /// host, then its further ones. Fails, with what is wrong, for a node that is no host of the plan, and where two
    /// names would have one address.
    pub fn with_cards(mut self, told: &[(String, Cards)]) -> Result<Plan, String> {
        let mut new: HashMap<String, Mac> = HashMap::new();
        let mut names: HashMap<Mac, &str> = HashMap::new();
        for (node, cards) in told {
            let of_node = || self.rows.iter().filter(|row| row.machine == *node);
            if !of_node().any(|row| row.kind == RowKind::Host) {
                return Err(format!("`{node}` is no host of the plan"));
            }
            let mut ports = cards.ports.iter();
            for row in of_node() {
                let mac = match row.kind {
                    RowKind::Host | RowKind::Nic => ports.next().copied(),
                    RowKind::Bmc => cards.bmc,
                    RowKind::Manager => None,
                };
                let Some(mac) = mac else { continue };
                if let Some(first) = names.insert(mac, &row.name) {
                    return Err(format!("BMCs tell one MAC address, {mac}, of {first} and of {}", row.name));
                }
                new.insert(row.name.clone(), mac);
            }
        }
        self.take_macs(&new);
        Ok(self)
    }
}

/// The rows before they have addresses: hosts, their further ports, their BMCs, and the managers of chassis.
fn wanted(rules: &Rules) -> Result<Vec<Row>, FileError> {
    let mut slots: HashMap<&str, (&str, usize)> = HashMap::new();
    for rule in &rules.chassis {
        for (at, host) in rule.hosts.iter().enumerate() {
            let Some(chassis) = rule.names.get(at / rule.slots) else { continue };
            if slots.insert(host, (chassis, at % rule.slots + 1)).is_some() {
                let what = format!("`{host}` stands in two chassis");
                return Err(FileError::new(rule.line, what, "say with hosts = which ones are in them"));
            }
        }
    }
    let mut rows: Vec<Row> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut push = |line: usize, row: Row| {
        if !is_name(&row.name) {
            return Err(FileError::new(line, format!("`{}` is no name", row.name.escape_debug()), NAME_HINT));
        }
        if let Some(first) = seen.insert(row.name.clone(), line) {
            let what = format!("two things are called `{}`: lines {first} and {line}", row.name);
            return Err(FileError::new(line, what, "choose other names or suffixes"));
        }
        rows.push(row);
        match rows.len() > MOST {
            true => Err(FileError::new(line, format!("more than {MOST} names"), "make a plan of each site")),
            false => Ok(()),
        }
    };
    for rule in &rules.hosts {
        let nics = rule.nics.iter().map(|(suffix, subnet)| (RowKind::Nic, suffix.as_str(), *subnet));
        let bmc = rule.bmc.iter().map(|bmc| (RowKind::Bmc, bmc.suffix.as_str(), bmc.subnet));
        for (kind, suffix, subnet) in std::iter::once((RowKind::Host, "", rule.subnet)).chain(nics).chain(bmc)
        {
            for host in &rule.names {
                let place = slots.get(host.as_str());
                let chassis = place.map(|(chassis, _)| *chassis);
                push(rule.line, row(kind, (host, suffix), subnet, chassis, place.map(|(_, slot)| *slot)))?;
            }
        }
    }
    for rule in &rules.chassis {
        for manager in &rule.managers {
            for chassis in &rule.names {
                let subnet = rule.subnet.unwrap_or_default();
                push(rule.line, row(RowKind::Manager, (chassis, manager), subnet, Some(chassis), None))?;
            }
        }
    }
    Ok(rows)
}

fn row(
    kind: RowKind,
    (machine, suffix): (&str, &str),
    subnet: usize,
    chassis: Option<&str>,
    slot: Option<usize>,
) -> Row {
    Row {
        name: format!("{machine}{suffix}"),
        kind,
        machine: machine.to_owned(),
        suffix: suffix.to_owned(),
        subnet,
        address: Ipv4Addr::UNSPECIFIED,
        mac: None,
        chassis: chassis.map(str::to_owned),
        slot,
    }
}

/// The address of each row by its name: first those that are kept, then the lowest free ones.
fn addresses(rules: &Rules, rows: &[Row], earlier: &Earlier) -> Result<HashMap<String, Ipv4Addr>, FileError> {
    let mut given: HashMap<String, Ipv4Addr> = HashMap::new();
    let mut taken: HashSet<Ipv4Addr> = HashSet::new();
    for row in rows {
        let subnet = rules.subnets.get(row.subnet);
        if let (Some(before), Some(subnet)) = (earlier.get(&row.name), subnet)
            && subnet.has(before)
        {
            given.insert(row.name.clone(), before);
            taken.insert(before);
        }
    }
    for (place, subnet) in rules.subnets.iter().enumerate() {
        let mut free = subnet.addresses().filter(|address| !taken.contains(address));
        let own = || rows.iter().filter(|row| row.subnet == place);
        for row in own().filter(|row| earlier.get(&row.name).is_none_or(|before| !subnet.has(before))) {
            let Some(address) = free.next() else {
                return Err(overflow(subnet, subnet.line, own().count() as u64));
            };
            given.insert(row.name.clone(), address);
        }
    }
    Ok(given)
}
