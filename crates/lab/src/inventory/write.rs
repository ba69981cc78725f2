//! An inventory as `lab.toml`. Nodes that differ in names, addresses and positions alone share a line, where their
//! ranges give the same names in the same order.

use model::decision::PriceText;
use model::toml_file::quoted;

use super::node::{Bmc, Node};
use super::secret::Secret;
use super::{Inventory, Settings};
use crate::ranges::{Known, expand, fold};

/// The file. Reading it gives the same inventory.
pub fn write(inventory: &Inventory) -> String {
    let mut out = settings(inventory.settings());
    if !inventory.groups().is_empty() {
        out.push_str("[groups]\n");
        for group in inventory.groups() {
            let names = fold(group.nodes.iter().map(String::as_str));
            out.push_str(&format!("{} = {}\n", key(&group.name), quoted(&names)));
        }
        out.push('\n');
    }
    let mut rest = inventory.nodes();
    while !rest.is_empty() {
        let count = alike(rest);
        let (these, behind) = rest.split_at(count);
        out.push_str(&block(these));
        out.push('\n');
        rest = behind;
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn settings(settings: &Settings) -> String {
    let mut out = String::new();
    let mut line = |key: &str, value: Option<String>| {
        if let Some(value) = value {
            out.push_str(&format!("{key} = {}\n", quoted(&value)));
        }
    };
    line("default_name", settings.default_name.as_ref().map(ToString::to_string));
    line("default_subnet", settings.default_subnet.map(|[a, b, c]| format!("{a}.{b}.{c}.0/24")));
    line("currency", settings.currency.clone());
    if !out.is_empty() {
        out.push('\n');
    }
    out
}

/// A key that TOML reads as one name.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.chars().all(is_bare) { name.to_owned() } else { quoted(name) }
}

/// How many of the first nodes one line can say.
fn alike(nodes: &[Node]) -> usize {
    let Some(first) = nodes.first().map(rest_of) else { return 0 };
    let is_line = |nodes: &[Node]| nodes.iter().all(|node| rest_of(node) == first) && folds(nodes);
    // Steps grow while a stretch is one line, and shrink where it is not.
    let (mut count, mut step) = (1, 1);
    while count < nodes.len() && step > 0 {
        let next = (count + step).min(nodes.len());
        if nodes.get(..next).is_some_and(is_line) {
            count = next;
            step *= 2;
        } else {
            step /= 2;
        }
    }
    count
}

/// The lines of a node that do not differ within a range.
fn rest_of(node: &Node) -> String {
    let bmc = node.bmc.as_ref().map(|bmc| bmc_fields(bmc, ""));
    format!(
        "{} {:?} {bmc:?} {:?} {:?} {:?}",
        common(node),
        node.position.is_some(),
        node.mac.is_some(),
        node.bmc.is_some(),
        node.console.is_some()
    )
}

/// True where ranges give these names, addresses and positions again, in their order.
fn folds(nodes: &[Node]) -> bool {
    let is_same = |texts: Vec<&str>| {
        let folded = fold(texts.iter().copied());
        let back = expand(&folded, &Known::default());
        is_one_range(&folded) && back.is_ok_and(|back| back.names.iter().eq(texts.iter().copied()))
    };
    let bmcs: Vec<&str> =
        nodes.iter().filter_map(|node| node.bmc.as_ref()).map(|bmc| bmc.address.as_str()).collect();
    let positions: Vec<u64> = nodes.iter().filter_map(|node| node.position).collect();
    is_same(nodes.iter().map(|node| node.name.as_str()).collect())
        && (nodes.iter().all(|node| node.address == node.name)
            || is_same(nodes.iter().map(|node| node.address.as_str()).collect()))
        && (bmcs.is_empty() || is_same(bmcs))
        && positions.windows(2).all(|pair| pair[1] == pair[0] + 1)
}

/// True for an expression without a comma outside of brackets.
fn is_one_range(folded: &str) -> bool {
    let mut outside = folded.split('[').map(|part| part.split_once(']').map_or(part, |(_, behind)| behind));
    outside.all(|part| !part.contains(','))
}

fn block(nodes: &[Node]) -> String {
    let Some(first) = nodes.first() else { return String::new() };
    let mut out = String::from("[[nodes]]\n");
    let names = fold(nodes.iter().map(|node| node.name.as_str()));
    out.push_str(&format!("name = {}\n", quoted(&names)));
    if nodes.iter().any(|node| node.address != node.name) {
        out.push_str(&format!(
            "address = {}\n",
            quoted(&places(nodes.iter().map(|node| node.address.as_str())))
        ));
    }
    out.push_str(&common(first));
    match (first.position, nodes.len()) {
        (None, _) => {}
        (Some(position), 1) => out.push_str(&format!("position = {position}\n")),
        (Some(position), count) => out.push_str(&format!("position = \"{position}+{count}\"\n")),
    }
    let macs = nodes.iter().filter_map(|node| node.mac).map(|mac| quoted(&mac.to_string()));
    out.push_str(&list("mac = ", &macs.collect::<Vec<_>>(), "\n"));
    let consoles = nodes.iter().filter_map(|node| node.console.as_ref());
    let consoles: Vec<String> = consoles.map(|console| quoted(&console.to_string())).collect();
    out.push_str(&list("console = ", &consoles, "\n"));
    if let Some(bmc) = &first.bmc {
        let all = nodes.iter().filter_map(|node| node.bmc.as_ref());
        let address = places(all.clone().map(|bmc| bmc.address.as_str()));
        let macs: Vec<String> = all.filter_map(|bmc| bmc.mac).map(|mac| quoted(&mac.to_string())).collect();
        out.push_str(&format!("bmc = {{ {}{} }}\n", bmc_fields(bmc, &address), list(", mac = ", &macs, "")));
    }
    out
}

/// Addresses as a range; a single one as it is.
fn places<'n>(addresses: impl Iterator<Item = &'n str>) -> String {
    let all: Vec<&str> = addresses.collect();
    match all.as_slice() {
        [one] => (*one).to_owned(),
        several => fold(several.iter().copied()),
    }
}

fn list(before: &str, texts: &[String], behind: &str) -> String {
    match texts {
        [] => String::new(),
        [one] => format!("{before}{one}{behind}"),
        several => format!("{before}[{}]{behind}", several.join(", ")),
    }
}

/// The keys of a node that are the same for all of a line.
fn common(node: &Node) -> String {
    let mut out = String::new();
    if let Some(user) = &node.user {
        out.push_str(&format!("user = {}\n", quoted(user)));
    }
    if let Some(port) = node.port {
        out.push_str(&format!("port = {port}\n"));
    }
    if !node.roles.is_empty() {
        let roles: Vec<String> = node.roles.iter().map(|role| quoted(role.word())).collect();
        out.push_str(&format!("roles = [{}]\n", roles.join(", ")));
    }
    if let Some(price) = &node.price {
        out.push_str(&format!("price = {}\n", quoted(&price_text(price))));
    }
    if let Some(watts) = node.watts {
        out.push_str(&format!("watts = {watts:?}\n"));
    }
    if node.cycle_on_hang {
        out.push_str("cycle_on_hang = true\n");
    }
    if let Some(rack) = &node.rack {
        out.push_str(&format!("rack = {}\n", quoted(rack)));
    }
    out
}

/// A price as the file has it: `429`, `2000..2500`, `0.19/h`.
pub fn price_text(price: &PriceText) -> String {
    let (low, high, per) = (price.amount.low, price.amount.high, price.term.suffix());
    if low == high { format!("{low}{per}") } else { format!("{low}..{high}{per}") }
}

fn bmc_fields(bmc: &Bmc, address: &str) -> String {
    let mut fields =
        vec![format!("kind = {}", quoted(bmc.kind.word())), format!("address = {}", quoted(address))];
    fields.extend(bmc.port.map(|port| format!("port = {port}")));
    fields.extend(bmc.user.as_ref().map(|user| format!("user = {}", quoted(user))));
    fields.extend(bmc.secret.as_ref().map(|secret| match secret {
        Secret::File(path) => format!("password_file = {}", quoted(path)),
        Secret::Env(name) => format!("password_env = {}", quoted(name)),
        Secret::Cmd(words) => {
            let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
            format!("password_cmd = [{}]", words.join(", "))
        }
    }));
    let fingerprints: Vec<String> = bmc.fingerprints.iter().map(|one| quoted(&one.to_string())).collect();
    if !fingerprints.is_empty() {
        fields.push(format!("fingerprint = [{}]", fingerprints.join(", ")));
    }
    fields.join(", ")
}
