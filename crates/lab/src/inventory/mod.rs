//! The machines of a lab, as `lab.toml` lists them: names, addresses, logins, roles, costs, places, and the controllers
//! (BMC) that switch them on.
//!
//! `read` is text into this, `write` the way back, `secret` gets a password from where the file says. No password ever
//! stands in the file, and nothing here asks whether a machine answers.

mod node;
mod read;
mod secret;
mod write;

use std::collections::HashMap;

use model::nearest::nearest;
use model::toml_file::FileError;

pub use node::{Bmc, BmcKind, Console, ConsoleKind, Fingerprint, Group, Mac, Node, Role, is_label, is_user};
pub use read::{read, read_from};
pub use secret::{Password, Secret, SecretError};
pub use write::{price_text, write};

use crate::ranges::{DefaultName, Expanded, Known, MOST, NameSet, RangeError, RangeNote, expand, fold};

/// The usual name of the file.
pub const FILE: &str = "lab.toml";

/// Values of the file that are of no node in particular.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// The name that a bare number stands for.
    pub default_name: Option<DefaultName>,
    /// The first three octets of the addresses that `.2` stands for.
    pub default_subnet: Option<[u8; 3]>,
    /// Of all prices.
    pub currency: Option<String>,
}

/// All machines; names, addresses and MAC addresses are each there once.
#[derive(Clone, Debug)]
pub struct Inventory {
    nodes: Vec<Node>,
    groups: Vec<Group>,
    settings: Settings,
    known: Known,
    /// Nodes by name.
    index: HashMap<String, usize>,
}

/// The machines of an expression.
#[derive(Clone, Debug)]
pub struct Selection<'i> {
    /// Everything that the expression names.
    pub names: NameSet,
    /// The nodes among them, in the order of the expression.
    pub nodes: Vec<&'i Node>,
    /// Names that are no node.
    pub unknown: Vec<String>,
    pub notes: Vec<RangeNote>,
}

impl Inventory {
    /// An inventory of these nodes and groups. The members of a group are the nodes named in it. Fails where two nodes
    /// share a name, an address or a MAC address, naming the lines of both.
    pub fn new(nodes: Vec<Node>, groups: Vec<Group>, settings: Settings) -> Result<Inventory, FileError> {
        if nodes.len() > MOST {
            let line = nodes.last().map_or(1, |node| node.line);
            return Err(FileError::new(
                line,
                format!("more than {MOST} nodes"),
                "make an inventory of each site",
            ));
        }
        refuse_twins(&nodes)?;
        let mut known = Known::with_defaults(settings.default_name.clone(), settings.default_subnet);
        let mut index = HashMap::new();
        for (at, node) in nodes.iter().enumerate() {
            known.add_name(&node.name);
            for role in &node.roles {
                known.add_to_group(Some("role"), role.word(), [node.name.clone()]);
            }
            if let Some(rack) = &node.rack {
                known.add_to_group(Some("rack"), rack, [node.name.clone()]);
            }
            let addresses = [Some(&node.address), node.bmc.as_ref().map(|bmc| &bmc.address)];
            addresses.into_iter().flatten().for_each(|address| known.add_alias(address, &node.name));
            index.insert(node.name.clone(), at);
        }
        for group in &groups {
            known.add_to_group(None, &group.name, group.nodes.iter().cloned());
        }
        Ok(Inventory { nodes, groups, settings, known, index })
    }

    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The names and groups that expressions may speak of.
    pub fn known(&self) -> &Known {
        &self.known
    }

    pub fn find(&self, name: &str) -> Option<&Node> {
        self.index.get(name).and_then(|at| self.nodes.get(*at))
    }

    /// The names and nodes of an expression; names that are no node are kept apart.
    pub fn select(&self, expression: &str) -> Result<Selection<'_>, RangeError> {
        expand(expression, &self.known).map(|expanded| self.selection(expanded))
    }

    /// The nodes among names, and the names that are no node.
    pub fn selection(&self, Expanded { names, notes }: Expanded) -> Selection<'_> {
        let (mut nodes, mut unknown) = (Vec::new(), Vec::new());
        for name in names.iter() {
            match self.find(name) {
                Some(node) => nodes.push(node),
                None => unknown.push(name.to_owned()),
            }
        }
        Selection { names, nodes, unknown, notes }
    }

    /// The nodes of an expression, for a command that acts on them: at least one. Fails where a name is no node.
    pub fn targets(&self, expression: &str) -> Result<Vec<&Node>, RangeError> {
        let selection = self.select(expression)?;
        match selection.unknown.first() {
            None => Ok(selection.nodes),
            Some(name) => {
                let others = match selection.unknown.len() {
                    1 => String::new(),
                    count => format!(" (and {} more)", count - 1),
                };
                let what = format!("`{name}` is no node of the inventory{others}");
                Err(RangeError::new(1, what, self.hint_for(name)))
            }
        }
    }

    /// The way out for a name that is no node: those that differ from it in numbers alone, else the nearest.
    pub fn hint_for(&self, name: &str) -> String {
        let letters = |name: &str| -> Vec<String> {
            name.split(|c: char| c.is_ascii_digit())
                .filter(|part| !part.is_empty())
                .map(str::to_owned)
                .collect()
        };
        let wanted = letters(name);
        let names = || self.nodes.iter().map(|node| node.name.as_str());
        let alike = fold(names().filter(|own| letters(own) == wanted));
        match nearest(name, names()) {
            _ if !alike.is_empty() => format!("the inventory has {alike}"),
            Some(near) => format!("did you mean `{near}`?"),
            None => "`boxscore lab nodes '@*'` shows the nodes of the inventory".to_owned(),
        }
    }
}

/// Fails where two nodes share what only one can have.
fn refuse_twins(nodes: &[Node]) -> Result<(), FileError> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut once = |what: &str, value: String, line: usize| {
        let key = format!("{what} {value}");
        match seen.insert(key, line) {
            None => Ok(()),
            Some(first) => {
                let lines =
                    if first == line { format!("line {line}") } else { format!("lines {first} and {line}") };
                let text = format!("two nodes have the {what} {value}: {lines}");
                Err(FileError::new(line, text, "each node has names and addresses of its own"))
            }
        }
    };
    for node in nodes {
        once("name", node.name.clone(), node.line)?;
        // Several machines may answer at one address, each at a port of its own.
        once("address", with_port(&node.address, node.port), node.line)?;
        if let Some(mac) = node.mac {
            once("MAC address", mac.to_string(), node.line)?;
        }
        if let Some(bmc) = &node.bmc {
            once("BMC address", with_port(&bmc.address, bmc.port), node.line)?;
            if let Some(mac) = bmc.mac {
                once("MAC address", mac.to_string(), node.line)?;
            }
        }
    }
    Ok(())
}

fn with_port(address: &str, port: Option<u16>) -> String {
    port.map_or_else(|| address.to_owned(), |port| format!("{address} port {port}"))
}

#[cfg(test)]
mod tests;
