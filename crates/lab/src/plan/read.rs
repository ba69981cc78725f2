//! A plan file into rules: subnets, hosts with their further ports, and chassis.

use core::net::Ipv4Addr;

use model::toml_file::{At, FileError, TableText, with_table};

use super::subnet::Subnet;
use crate::inventory::{BmcKind, is_user};
use crate::ranges::{Known, expand, is_name};

const HINT: &str = "docs/guide/lab.md says what a plan holds";
const KEYS: &[&str] = &["domain", "user", "subnets", "hosts", "chassis"];
const SUBNET: &[&str] = &["name", "network", "from", "used", "usage"];
const HOSTS: &[&str] = &["name", "subnet", "nics", "bmc"];
const BMC: &[&str] = &["suffix", "subnet", "kind", "user"];
const CHASSIS: &[&str] = &["name", "slots", "hosts", "managers", "subnet"];
/// A suffix of a name has so many letters at most.
const MOST_SUFFIX: usize = 8;
const MOST_SLOTS: u64 = 4096;

/// A plan file as it is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Rules {
    pub domain: Option<String>,
    /// The login of the hosts.
    pub user: Option<String>,
    pub subnets: Vec<Subnet>,
    pub hosts: Vec<HostsRule>,
    pub chassis: Vec<ChassisRule>,
}

/// Hosts that are named alike.
#[derive(Clone, Debug, PartialEq)]
pub struct HostsRule {
    pub line: usize,
    pub names: Vec<String>,
    /// The subnets are places in [`Rules::subnets`].
    pub subnet: usize,
    /// Further ports: what is put behind the name, and the subnet.
    pub nics: Vec<(String, usize)>,
    pub bmc: Option<BmcRule>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BmcRule {
    pub suffix: String,
    pub subnet: usize,
    pub kind: BmcKind,
    pub user: Option<String>,
}

/// Chassis that hold hosts, with managers of their own.
#[derive(Clone, Debug, PartialEq)]
pub struct ChassisRule {
    pub line: usize,
    pub names: Vec<String>,
    /// The hosts, chassis by chassis, so many in each.
    pub hosts: Vec<String>,
    pub slots: usize,
    /// The letters that are put behind the name of a chassis.
    pub managers: Vec<String>,
    pub subnet: Option<usize>,
}

/// Reads a plan file. The error is the first thing that is wrong in it.
pub fn read(text: &str) -> Result<Rules, FileError> {
    with_table(text, HINT, |table| {
        table.only(KEYS)?;
        let domain = word(table, "domain", "domain = \"lab.example\"", is_name)?.map(|at| at.value);
        let user = word(table, "user", "user = \"root\"", is_user)?.map(|at| at.value);
        let subnets = table.tables("subnets", "[[subnets]]")?;
        let subnets: Vec<Subnet> = subnets.into_iter().map(subnet).collect::<Result<_, _>>()?;
        refuse_overlap(&subnets)?;
        let hosts = table.tables("hosts", "[[hosts]]")?;
        let hosts: Vec<HostsRule> =
            hosts.into_iter().map(|one| hosts_rule(one, &subnets)).collect::<Result<_, _>>()?;
        let chassis = table.tables("chassis", "[[chassis]]")?;
        let chassis =
            chassis.into_iter().map(|one| chassis_rule(one, &subnets, &hosts)).collect::<Result<_, _>>()?;
        if hosts.is_empty() {
            return Err(FileError::new(
                1,
                "there is no [[hosts]]",
                "[[hosts]] and below it name = \"atom[001-044]\"",
            ));
        }
        Ok(Rules { domain, user, subnets, hosts, chassis })
    })
}

/// A text that has a form of its own.
fn word(
    table: TableText<'_>,
    key: &str,
    write: &str,
    is: impl Fn(&str) -> bool,
) -> Result<Option<At<String>>, FileError> {
    match table.string(key, write)? {
        Some(At { line, value }) if !is(&value) => {
            let what = format!("{key}: `{}` cannot be one", value.escape_debug());
            Err(FileError::new(line, what, format!("write {write}")))
        }
        found => Ok(found),
    }
}

fn needed_word(
    table: TableText<'_>,
    key: &str,
    write: &str,
    is: impl Fn(&str) -> bool,
) -> Result<At<String>, FileError> {
    table.needed(key, write)?;
    word(table, key, write, is)?
        .ok_or_else(|| FileError::new(table.line(), format!("`{key}` is missing"), write))
}

/// A title of a subnet may have any letters, but no line ends and nothing that draws on a screen.
fn is_title(text: &str) -> bool {
    (1..=64).contains(&text.chars().count()) && !text.contains(char::is_control)
}

fn is_suffix(text: &str) -> bool {
    (1..=MOST_SUFFIX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

fn subnet(table: TableText<'_>) -> Result<Subnet, FileError> {
    table.only(SUBNET)?;
    let name = needed_word(table, "name", "name = \"management\"", is_title)?;
    let network = table.needed("network", "network = \"192.168.5.0/24\"")?;
    let wrong = |why: String| {
        FileError::new(network.line, format!("network: {why}"), "write network = \"192.168.5.0/24\"")
    };
    let mut subnet = Subnet::parse(name.line, &name.value, &network.value).map_err(wrong)?;
    if let Some(At { line, value }) = table.string("from", "from = \"192.168.5.10\"")? {
        let network = subnet.to_string();
        let from = value.parse::<Ipv4Addr>().ok();
        let wrong = || {
            FileError::new(line, format!("from: no address in {network}"), "write from = \"192.168.5.10\"")
        };
        subnet = from.and_then(|from| subnet.starting(from)).ok_or_else(wrong)?;
    }
    if let Some(used) = table.whole("used", (0, u64::from(u32::MAX)), "used = 88")? {
        if used.value > subnet.count() {
            return Err(overflow(&subnet, used.line, used.value));
        }
        subnet.used = Some(used.value);
    }
    let usage = word(table, "usage", "usage = \"OS ports\"", |text| {
        text.is_empty() || !text.contains(char::is_control)
    })?;
    subnet.usage = usage.map(|at| at.value).unwrap_or_default();
    Ok(subnet)
}

/// More addresses than a subnet has.
pub fn overflow(subnet: &Subnet, line: usize, asked: u64) -> FileError {
    let what =
        format!("{} ({subnet}) has {} addresses, and {asked} are asked for", subnet.name, subnet.count());
    FileError::new(line, what, "make the subnet larger, or put some of them into another one")
}

fn refuse_overlap(subnets: &[Subnet]) -> Result<(), FileError> {
    for (at, one) in subnets.iter().enumerate() {
        let hint = "each address belongs to one subnet, and each subnet has a name of its own";
        for other in &subnets[..at] {
            let lines = format!("lines {} and {}", other.line, one.line);
            if one.name == other.name {
                return Err(FileError::new(
                    one.line,
                    format!("two subnets are called {}: {lines}", one.name),
                    hint,
                ));
            }
            if one.overlaps(other) {
                let what = format!("{} ({other}) and {} ({one}) overlap: {lines}", other.name, one.name);
                return Err(FileError::new(one.line, what, hint));
            }
        }
    }
    Ok(())
}

/// The place of the subnet that a key names.
fn place(At { line, value }: &At<String>, subnets: &[Subnet]) -> Result<usize, FileError> {
    let names: Vec<&str> = subnets.iter().map(|subnet| subnet.name.as_str()).collect();
    let Some(at) = names.iter().position(|name| name == value) else {
        let what = format!("there is no subnet `{}`", value.escape_debug());
        return Err(FileError::new(*line, what, format!("the subnets are {}", names.join(", "))));
    };
    match subnets.get(at).and_then(|subnet| subnet.used) {
        None => Ok(at),
        Some(_) => {
            let what = format!("the subnet `{value}` is in use already");
            Err(FileError::new(*line, what, "leave out `used` where this plan gives out its addresses"))
        }
    }
}

/// The names of a range.
fn names(at: &At<String>, key: &str) -> Result<Vec<String>, FileError> {
    let wrong = |error: crate::ranges::RangeError| {
        FileError::new(at.line, format!("{key} = `{}`: {error}", at.value.escape_debug()), error.hint)
    };
    Ok(expand(&at.value, &Known::default()).map_err(wrong)?.names.into_iter().collect())
}

fn hosts_rule(table: TableText<'_>, subnets: &[Subnet]) -> Result<HostsRule, FileError> {
    table.only(HOSTS)?;
    let name = table.needed("name", "name = \"atom[001-132]\"")?;
    let subnet = place(&table.needed("subnet", "subnet = \"os\"")?, subnets)?;
    let mut nics = Vec::new();
    if let Some(table) = table.table("nics", "nics = { a = \"eth1\" }")? {
        for At { line, value: suffix } in table.keys() {
            if !is_suffix(&suffix) {
                let what = format!("nics: `{}` is no suffix", suffix.escape_debug());
                return Err(FileError::new(line, what, "a suffix is a to e, or a few small letters"));
            }
            nics.push((suffix.clone(), place(&table.needed(&suffix, "a = \"eth1\"")?, subnets)?));
        }
    }
    let bmc = table.table("bmc", "bmc = { suffix = \"m\", subnet = \"management\" }")?;
    let bmc = bmc.map(|table| bmc_rule(table, subnets)).transpose()?;
    if let Some(bmc) = bmc.as_ref().filter(|bmc| nics.iter().any(|(suffix, _)| *suffix == bmc.suffix)) {
        let what = format!("the suffix {} is both of a port and of the BMC", bmc.suffix);
        return Err(FileError::new(name.line, what, "give each its own"));
    }
    Ok(HostsRule { line: name.line, names: names(&name, "name")?, subnet, nics, bmc })
}

fn bmc_rule(table: TableText<'_>, subnets: &[Subnet]) -> Result<BmcRule, FileError> {
    table.only(BMC)?;
    let suffix = needed_word(table, "suffix", "suffix = \"m\"", is_suffix)?.value;
    let subnet = place(&table.needed("subnet", "subnet = \"management\"")?, subnets)?;
    let kind = word(table, "kind", "kind = \"ipmi\", or \"redfish\"", |text| BmcKind::parse(text).is_some())?;
    let kind = kind.and_then(|at| BmcKind::parse(&at.value)).unwrap_or(BmcKind::Ipmi);
    let user = word(table, "user", "user = \"ADMIN\"", is_user)?.map(|at| at.value);
    Ok(BmcRule { suffix, subnet, kind, user })
}

fn chassis_rule(
    table: TableText<'_>,
    subnets: &[Subnet],
    hosts: &[HostsRule],
) -> Result<ChassisRule, FileError> {
    table.only(CHASSIS)?;
    let name = table.needed("name", "name = \"mercury[1-3]\"")?;
    let line = name.line;
    let names_of_chassis = names(&name, "name")?;
    let slots = table.whole("slots", (1, MOST_SLOTS), "slots = 44")?;
    let slots = slots.ok_or_else(|| FileError::new(line, "`slots` is missing", "write slots = 44"))?;
    let own: Vec<String> = match table.string("hosts", "hosts = \"atom[001-132]\"")? {
        Some(at) => {
            let listed = names(&at, "hosts")?;
            let is_planned = |name: &&String| !hosts.iter().any(|rule| rule.names.contains(name));
            if let Some(other) = listed.iter().find(is_planned) {
                return Err(FileError::new(
                    at.line,
                    format!("`{other}` is no host of this plan"),
                    "name it in [[hosts]]",
                ));
            }
            listed
        }
        None => hosts.iter().flat_map(|rule| rule.names.iter().cloned()).collect(),
    };
    let room = names_of_chassis.len() as u64 * slots.value;
    if own.len() as u64 > room {
        let what = format!("{} slots for {} hosts", room, own.len());
        return Err(FileError::new(slots.line, what, "name more chassis, or the hosts that are in them"));
    }
    let mut managers = Vec::new();
    for At { line, value } in table.strings("managers", "managers = [\"cmm\", \"cms\"]")? {
        if !is_suffix(&value) || managers.contains(&value) {
            let what = format!("managers: `{}` is no suffix, or stands there twice", value.escape_debug());
            return Err(FileError::new(line, what, "a suffix is a few small letters"));
        }
        managers.push(value);
    }
    let subnet = table.string("subnet", "subnet = \"management\"")?;
    let subnet = subnet.map(|at| place(&at, subnets)).transpose()?;
    if subnet.is_none() && !managers.is_empty() {
        return Err(FileError::new(line, "`subnet` is missing", "write the subnet of the managers"));
    }
    let slots = usize::try_from(slots.value).unwrap_or(usize::MAX);
    Ok(ChassisRule { line, names: names_of_chassis, hosts: own, slots, managers, subnet })
}
