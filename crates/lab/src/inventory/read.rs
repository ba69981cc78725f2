//! `lab.toml` into an inventory. A line of nodes may be a range; of addresses, positions and MAC addresses it has as
//! many.

use model::decision::{PriceText, parse_price};
use model::toml_file::{At, FileError, TableText, with_table};

use super::node::{
    Bmc, BmcKind, Console, ConsoleKind, Fingerprint, Group, Mac, Node, Role, is_label, is_place, is_user,
};
use super::secret::Secret;
use super::{Inventory, Settings};
use crate::ranges::{DefaultName, Known, MOST, NAME_HINT, RangeError, expand, plain_numbers};

const HINT: &str = "docs/guide/lab.md says what an inventory holds";
const KEYS: &[&str] = &["default_name", "default_subnet", "currency", "defaults", "groups", "nodes"];
const DEFAULTS: &[&str] = &["user", "port", "roles", "price", "watts", "rack", "bmc", "cycle_on_hang"];
const NODE: &[&str] = &[
    "name",
    "address",
    "user",
    "port",
    "roles",
    "groups",
    "price",
    "watts",
    "rack",
    "position",
    "mac",
    "bmc",
    "cycle_on_hang",
    "console",
];
const BMC: &[&str] = &[
    "kind",
    "address",
    "port",
    "user",
    "password_file",
    "password_env",
    "password_cmd",
    "mac",
    "fingerprint",
];
/// Those that are the same for several nodes.
const COMMON_BMC: &[&str] =
    &["kind", "port", "user", "password_file", "password_env", "password_cmd", "fingerprint"];
const MOST_POSITION: u64 = 9999;

/// Reads an inventory. The error is the first thing that is wrong in it.
pub fn read(text: &str) -> Result<Inventory, FileError> {
    read_from(text, &|line| line)
}

/// Reads an inventory whose lines were made from others: `origin` gives the line that a line comes from.
pub fn read_from(text: &str, origin: &dyn Fn(usize) -> usize) -> Result<Inventory, FileError> {
    let parts = with_table(text, HINT, parts);
    let (mut nodes, mut groups, settings) =
        parts.map_err(|error| FileError { line: origin(error.line), ..error })?;
    nodes.iter_mut().for_each(|node| node.line = origin(node.line));
    groups.iter_mut().for_each(|group| group.line = origin(group.line));
    Inventory::new(nodes, groups, settings)
}

type Parts = (Vec<Node>, Vec<Group>, Settings);

fn parts(table: TableText<'_>) -> Result<Parts, FileError> {
    table.only(KEYS)?;
    let settings = settings(table)?;
    let defaults = match table.table("defaults", "[defaults]")? {
        Some(defaults) => {
            defaults.only(DEFAULTS)?;
            Common::read(defaults, COMMON_BMC)?
        }
        None => Common::default(),
    };
    let mut nodes = Vec::new();
    for line in table.tables("nodes", "[[nodes]]")? {
        nodes.extend(read_nodes(line, &defaults)?);
        if nodes.len() > MOST {
            return Err(FileError::new(line.line(), format!("more than {MOST} nodes"), "name fewer"));
        }
    }
    if nodes.is_empty() {
        let hint = "[[nodes]] and below it name = \"atom[001-044]\"";
        return Err(FileError::new(1, "there is no [[nodes]]", hint));
    }
    let groups = groups(table, &mut nodes, &settings)?;
    Ok((nodes, groups, settings))
}

fn settings(table: TableText<'_>) -> Result<Settings, FileError> {
    let mut settings = Settings::default();
    if let Some(At { line, value }) = table.string("default_name", "default_name = \"atom%03d\"")? {
        let wrong =
            || FileError::new(line, "default_name: no name with one number", "write atom%03d or node%d");
        settings.default_name = Some(DefaultName::parse(&value).ok_or_else(wrong)?);
    }
    if let Some(At { line, value }) = table.string("default_subnet", "default_subnet = \"192.168.5.0/24\"")? {
        let wrong =
            || FileError::new(line, "default_subnet: no network of 256 addresses", "write 192.168.5.0/24");
        settings.default_subnet = Some(subnet(&value).ok_or_else(wrong)?);
    }
    if let Some(At { line, value }) = table.string("currency", "currency = \"EUR\"")? {
        if value.len() != 3 || !value.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err(FileError::new(line, "currency: no code of a currency", "write EUR or USD"));
        }
        settings.currency = Some(value);
    }
    Ok(settings)
}

fn subnet(text: &str) -> Option<[u8; 3]> {
    let network: core::net::Ipv4Addr = text.strip_suffix("/24")?.parse().ok()?;
    let [a, b, c, last] = network.octets();
    (last == 0).then_some([a, b, c])
}

/// Values that are the same for all nodes of a line, or of the file.
#[derive(Clone, Debug, Default)]
struct Common {
    user: Option<String>,
    port: Option<u16>,
    roles: Option<Vec<Role>>,
    price: Option<PriceText>,
    watts: Option<f64>,
    cycle_on_hang: Option<bool>,
    rack: Option<String>,
    bmc: CommonBmc,
}

#[derive(Clone, Debug, Default)]
struct CommonBmc {
    kind: Option<BmcKind>,
    port: Option<u16>,
    user: Option<String>,
    secret: Option<Secret>,
    fingerprints: Option<Vec<Fingerprint>>,
}

impl Common {
    /// Reads them; a BMC has these keys.
    fn read(table: TableText<'_>, keys: &[&str]) -> Result<Common, FileError> {
        let bmc = table.table("bmc", "bmc = { kind = \"ipmi\", user = \"ADMIN\" }")?;
        Ok(Common {
            user: user(table)?,
            port: port(table)?,
            roles: roles(table)?,
            price: price(table)?,
            watts: watts(table)?,
            cycle_on_hang: table.switch("cycle_on_hang", "cycle_on_hang = true")?.map(|at| at.value),
            rack: labels(table, "rack", "rack = \"r1\"")?.pop(),
            bmc: bmc.map(|bmc| CommonBmc::read(bmc, keys)).transpose()?.unwrap_or_default(),
        })
    }

    /// These values, and those of `other` where there is none.
    fn or(self, other: &Common) -> Common {
        let (own, other) = (self, other.clone());
        Common {
            user: own.user.or(other.user),
            port: own.port.or(other.port),
            roles: own.roles.or(other.roles),
            price: own.price.or(other.price),
            watts: own.watts.or(other.watts),
            cycle_on_hang: own.cycle_on_hang.or(other.cycle_on_hang),
            rack: own.rack.or(other.rack),
            bmc: CommonBmc {
                kind: own.bmc.kind.or(other.bmc.kind),
                port: own.bmc.port.or(other.bmc.port),
                user: own.bmc.user.or(other.bmc.user),
                secret: own.bmc.secret.or(other.bmc.secret),
                fingerprints: own.bmc.fingerprints.or(other.bmc.fingerprints),
            },
        }
    }
}

impl CommonBmc {
    fn read(table: TableText<'_>, keys: &[&str]) -> Result<CommonBmc, FileError> {
        refuse_password(table)?;
        table.only(keys)?;
        let kind = match table.string("kind", "kind = \"ipmi\"")? {
            None => None,
            Some(At { line, value }) => {
                let hint = format!("the kinds are {}", BmcKind::WORDS.join(", "));
                let wrong =
                    || FileError::new(line, format!("`{}` is no kind of BMC", value.escape_debug()), hint);
                Some(BmcKind::parse(&value).ok_or_else(wrong)?)
            }
        };
        let fingerprints = fingerprints(table)?;
        Ok(CommonBmc { kind, port: port(table)?, user: user(table)?, secret: secret(table)?, fingerprints })
    }
}

fn fingerprints(table: TableText<'_>) -> Result<Option<Vec<Fingerprint>>, FileError> {
    let hint = "`openssl x509 -noout -fingerprint -sha256` prints one";
    let one = |At { line, value }: At<String>| {
        value.parse::<Fingerprint>().map_err(|why| FileError::new(line, format!("fingerprint: {why}"), hint))
    };
    let all = table.strings("fingerprint", hint)?.into_iter().map(one).collect::<Result<Vec<_>, _>>()?;
    Ok(if all.is_empty() { None } else { Some(all) })
}

/// A password in the file would be in every copy and backup of it. The message has nothing of it.
fn refuse_password(table: TableText<'_>) -> Result<(), FileError> {
    match table.line_of_key("password") {
        None => Ok(()),
        Some(line) => {
            let what = "a password does not stand in the inventory";
            Err(FileError::new(
                line,
                what,
                "password_file = \"FILE\" (mode 0600), password_env or password_cmd",
            ))
        }
    }
}

fn secret(table: TableText<'_>) -> Result<Option<Secret>, FileError> {
    let file = table.string("password_file", "password_file = \"~/.bmc\"")?;
    let env = table.string("password_env", "password_env = \"BMC_PASSWORD\"")?;
    let cmd = table.strings("password_cmd", "password_cmd = [\"pass\", \"show\", \"bmc\"]")?;
    let mut all = Vec::new();
    all.extend(file.map(|at| (at.line, Secret::File(at.value))));
    if let Some(At { line, value }) = env {
        let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if value.is_empty() || !value.chars().all(is_letter) {
            // What stands there may be the password itself.
            return Err(FileError::new(
                line,
                "password_env: no name of a variable",
                "password_env = \"BMC_PASSWORD\"",
            ));
        }
        all.push((line, Secret::Env(value)));
    }
    if let Some(At { line, .. }) = cmd.first() {
        all.push((*line, Secret::Cmd(cmd.into_iter().map(|word| word.value).collect())));
    }
    if let [_, (line, _), ..] = all.as_slice() {
        let hint = "keep one of password_file, password_env and password_cmd";
        return Err(FileError::new(*line, "two places of one password", hint));
    }
    Ok(all.pop().map(|(_, secret)| secret))
}

fn user(table: TableText<'_>) -> Result<Option<String>, FileError> {
    match table.string("user", "user = \"root\"")? {
        None => Ok(None),
        Some(At { value, .. }) if is_user(&value) => Ok(Some(value)),
        Some(At { line, .. }) => {
            Err(FileError::new(line, "user: no login", "a login has letters, digits, -, _ and dots"))
        }
    }
}

fn port(table: TableText<'_>) -> Result<Option<u16>, FileError> {
    let port = table.whole("port", (1, 65_535), "port = 22")?;
    Ok(port.and_then(|at| u16::try_from(at.value).ok()))
}

fn roles(table: TableText<'_>) -> Result<Option<Vec<Role>>, FileError> {
    let words = table.strings("roles", "roles = [\"server\"]")?;
    let mut roles = Vec::new();
    for At { line, value } in &words {
        let hint = format!("the roles are {}", Role::WORDS.join(", "));
        let wrong = || FileError::new(*line, format!("`{}` is no role", value.escape_debug()), hint);
        roles.push(Role::parse(value).ok_or_else(wrong)?);
    }
    roles.sort();
    roles.dedup();
    Ok((!words.is_empty()).then_some(roles))
}

fn price(table: TableText<'_>) -> Result<Option<PriceText>, FileError> {
    let Some(At { line, value }) = table.plain("price", "price = \"429\"")? else { return Ok(None) };
    let wrong =
        || FileError::new(line, "price: not a price", "write 429 (bought), \"0.19/h\" or \"35/month\"");
    parse_price(&value).map(Some).ok_or_else(wrong)
}

fn watts(table: TableText<'_>) -> Result<Option<f64>, FileError> {
    let Some(At { line, value }) = table.plain("watts", "watts = 12.5")? else { return Ok(None) };
    let wrong = || FileError::new(line, "watts: not a power above 0", "write watts = 12.5");
    let watts = value.parse::<f64>().ok().filter(|watts| watts.is_finite() && *watts > 0.0);
    watts.map(Some).ok_or_else(wrong)
}

/// Names of groups or racks.
fn labels(table: TableText<'_>, key: &str, write: &str) -> Result<Vec<String>, FileError> {
    let words = table.strings(key, write)?;
    let one = |At { line, value }: At<String>| match is_label(&value) {
        true => Ok(value),
        false => {
            let hint = "small letters, digits, -, _ and single dots";
            Err(FileError::new(line, format!("{key}: `{}` is no name", value.escape_debug()), hint))
        }
    };
    words.into_iter().map(one).collect()
}

/// The nodes of one `[[nodes]]`.
fn read_nodes(table: TableText<'_>, defaults: &Common) -> Result<Vec<Node>, FileError> {
    refuse_password(table)?;
    table.only(NODE)?;
    let name = table.needed("name", "name = \"atom[001-044]\"")?;
    let line = name.line;
    let names = names(&name, "name")?;
    let count = names.len();
    let addresses = match table.string("address", "address = \"10.1.0.1+44\"")? {
        Some(address) => places(&address, "address", count)?,
        None => names.clone(),
    };
    let positions = positions(table, count)?;
    let macs = macs(table, count)?;
    let consoles = consoles(table, count)?;
    let groups = labels(table, "groups", "groups = [\"rack1\"]")?;
    let common = Common::read(table, BMC)?.or(defaults);
    let bmc = table.table("bmc", "bmc = { kind = \"ipmi\", address = \"10.2.0.1+44\" }")?;
    let bmcs = bmc.map(|bmc| bmcs(bmc, &common.bmc, count)).transpose()?.unwrap_or_default();
    let node = |(at, (name, address)): (usize, (String, String))| Node {
        user: common.user.clone(),
        port: common.port,
        roles: common.roles.clone().unwrap_or_default(),
        groups: groups.clone(),
        price: common.price,
        watts: common.watts,
        cycle_on_hang: common.cycle_on_hang.unwrap_or(false),
        rack: common.rack.clone(),
        position: positions.get(at).copied(),
        mac: macs.get(at).copied(),
        bmc: bmcs.get(at).cloned(),
        console: consoles.get(at).cloned(),
        ..Node::new(line, name, address)
    };
    Ok(names.into_iter().zip(addresses).enumerate().map(node).collect())
}

/// The names of a range.
fn names(At { line, value }: &At<String>, key: &str) -> Result<Vec<String>, FileError> {
    let expanded = expand(value, &Known::default()).map_err(|error| of_range(*line, key, value, &error))?;
    Ok(expanded.names.into_iter().collect())
}

fn of_range(line: usize, key: &str, text: &str, error: &RangeError) -> FileError {
    FileError::new(line, format!("{key} = `{}`: {error}", text.escape_debug()), error.hint.clone())
}

/// As many places as there are nodes.
fn places(address: &At<String>, key: &str, count: usize) -> Result<Vec<String>, FileError> {
    if is_place(&address.value) {
        return as_many(vec![address.value.clone()], address.line, key, count);
    }
    as_many(names(address, key)?, address.line, key, count)
}

fn as_many<T>(values: Vec<T>, line: usize, key: &str, count: usize) -> Result<Vec<T>, FileError> {
    if values.len() == count {
        return Ok(values);
    }
    let what = format!("{key}: {} for {count}", model::format::count(values.len(), "value"));
    Err(FileError::new(line, what, "a line has as many of each as it has names"))
}

fn positions(table: TableText<'_>, count: usize) -> Result<Vec<u64>, FileError> {
    let Some(At { line, value }) = table.plain("position", "position = \"1+44\"")? else {
        return Ok(Vec::new());
    };
    let all = plain_numbers(&value).map_err(|error| of_range(line, "position", &value, &error))?;
    if all.iter().any(|position| *position > MOST_POSITION) {
        return Err(FileError::new(
            line,
            format!("position: above {MOST_POSITION}"),
            "write position = \"1+44\"",
        ));
    }
    as_many(all, line, "position", count)
}

/// `tcp://HOST:PORT` or `telnet://HOST:PORT` each, or with `+COUNT` for so many ports.
fn consoles(table: TableText<'_>, count: usize) -> Result<Vec<Console>, FileError> {
    const WRITE: &str = "console = \"tcp://serial1:7001+44\"";
    let texts = table.strings("console", WRITE)?;
    let Some(line) = texts.first().map(|first| first.line) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for At { line, value } in &texts {
        let wrong = || {
            let what = format!(
                "console: `{}` is neither tcp://HOST:PORT nor telnet://HOST:PORT",
                value.escape_debug()
            );
            FileError::new(*line, what, format!("write {WRITE}"))
        };
        all.extend(ports(value).ok_or_else(wrong)?);
    }
    as_many(all, line, "console", count)
}

/// The ports of `tcp://HOST:PORT+COUNT`.
fn ports(text: &str) -> Option<Vec<Console>> {
    let (kind, place) = text.split_once("://")?;
    let kind = ConsoleKind::parse(kind)?;
    let (host, ports) = place.rsplit_once(':')?;
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let (first, many) = match ports.split_once('+') {
        Some((first, many)) => (first, many.parse::<u16>().ok()?),
        None => (ports, 1),
    };
    let first = first.parse::<u16>().ok().filter(|port| *port > 0)?;
    let last = first.checked_add(many.checked_sub(1)?)?;
    is_place(host).then(|| (first..=last).map(|port| Console { kind, host: host.to_owned(), port }).collect())
}

fn macs(table: TableText<'_>, count: usize) -> Result<Vec<Mac>, FileError> {
    let texts = table.strings("mac", "mac = \"00:25:90:ab:cd:ef\"")?;
    let Some(line) = texts.first().map(|first| first.line) else { return Ok(Vec::new()) };
    let one = |At { line, value }: At<String>| {
        value.parse::<Mac>().map_err(|why| {
            let what = format!("mac: `{}`: {why}", value.escape_debug());
            FileError::new(line, what, "write 00:25:90:ab:cd:ef")
        })
    };
    let macs: Vec<Mac> = texts.into_iter().map(one).collect::<Result<_, _>>()?;
    as_many(macs, line, "mac", count)
}

fn bmcs(table: TableText<'_>, common: &CommonBmc, count: usize) -> Result<Vec<Bmc>, FileError> {
    let address = table.needed("address", "address = \"10.2.0.1+44\"")?;
    let macs = macs(table, count)?;
    let Some(kind) = common.kind else {
        return Err(FileError::new(
            address.line,
            "bmc: `kind` is missing",
            "write kind = \"ipmi\" or \"redfish\"",
        ));
    };
    let bmc = |(at, address): (usize, String)| Bmc {
        kind,
        address,
        port: common.port,
        user: common.user.clone(),
        secret: common.secret.clone(),
        mac: macs.get(at).copied(),
        fingerprints: common.fingerprints.clone().unwrap_or_default(),
    };
    Ok(places(&address, "bmc address", count)?.into_iter().enumerate().map(bmc).collect())
}

/// The groups of `[groups]` and of the nodes' own lines. Each node then knows all of its groups.
fn groups(table: TableText<'_>, nodes: &mut [Node], settings: &Settings) -> Result<Vec<Group>, FileError> {
    let mut known = Known::with_defaults(settings.default_name.clone(), settings.default_subnet);
    let mut found: Vec<Group> = Vec::new();
    nodes.iter().for_each(|node| known.add_name(&node.name));
    for node in nodes.iter() {
        for name in &node.groups {
            known.add_to_group(None, name, [node.name.clone()]);
            match found.iter_mut().find(|group| group.name == *name) {
                Some(group) => group.nodes.push(node.name.clone()),
                None => {
                    found.push(Group { line: node.line, name: name.clone(), nodes: vec![node.name.clone()] })
                }
            }
        }
    }
    let Some(listed) = table.table("groups", "[groups]")? else { return Ok(found) };
    for At { line, value: name } in listed.keys() {
        if !is_label(&name) {
            return Err(FileError::new(
                line,
                format!("`{}` is no name of a group", name.escape_debug()),
                NAME_HINT,
            ));
        }
        let expression = listed.needed(&name, &format!("{name} = \"atom[001-044]\""))?;
        let members = expand(&expression.value, &known)
            .map_err(|error| of_range(expression.line, &name, &expression.value, &error))?
            .names;
        if let Some(other) = members.iter().find(|member| !known.has(member)) {
            let what = format!("the group {name} names `{other}`, which is no node");
            return Err(FileError::new(expression.line, what, "a group holds nodes of this file"));
        }
        known.add_to_group(None, &name, members.iter().map(str::to_owned));
        let mut all = Vec::new();
        for node in nodes.iter_mut() {
            let is_own = node.groups.contains(&name);
            if !is_own && members.contains(&node.name) {
                node.groups.push(name.clone());
            }
            if is_own || members.contains(&node.name) {
                all.push(node.name.clone());
            }
        }
        match found.iter_mut().find(|group| group.name == name) {
            Some(group) => group.nodes = all,
            None => found.push(Group { line, name, nodes: all }),
        }
    }
    Ok(found)
}
