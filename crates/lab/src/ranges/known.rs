//! The names and groups that expressions may speak of, and what a bare number stands for.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::name::is_name;

/// The source of the groups that are named without one.
const GROUPS: &str = "group";

/// Names, groups and defaults, as an inventory has them. Without any, names are read as they are written.
#[derive(Clone, Debug, Default)]
pub struct Known {
    names: Vec<String>,
    index: HashSet<String>,
    /// By source and name.
    groups: BTreeMap<(String, String), Vec<String>>,
    /// Names by the addresses that stand for them.
    aliases: HashMap<String, Vec<String>>,
    default_name: Option<DefaultName>,
    /// The first three octets of the addresses that `.2` stands for.
    default_subnet: Option<[u8; 3]>,
}

impl Known {
    /// No names yet, with what bare numbers and `.2` stand for.
    pub fn with_defaults(default_name: Option<DefaultName>, default_subnet: Option<[u8; 3]>) -> Known {
        Known { default_name, default_subnet, ..Known::default() }
    }

    /// The name that a bare number stands for.
    pub fn default_name(&self) -> Option<&DefaultName> {
        self.default_name.as_ref()
    }

    /// The first three octets of the address that `.2` stands for.
    pub fn default_subnet(&self) -> Option<[u8; 3]> {
        self.default_subnet
    }

    pub fn add_name(&mut self, name: &str) {
        if self.index.insert(name.to_owned()) {
            self.names.push(name.to_owned());
        }
    }

    /// Adds names to a group of a source; `None` is that of groups named without one.
    pub fn add_to_group(
        &mut self,
        source: Option<&str>,
        group: &str,
        names: impl IntoIterator<Item = String>,
    ) {
        let key = (source.unwrap_or(GROUPS).to_owned(), group.to_owned());
        self.groups.entry(key).or_default().extend(names);
    }

    /// Lets an address stand for a name; it may stand for several.
    pub fn add_alias(&mut self, alias: &str, name: &str) {
        let names = self.aliases.entry(alias.to_owned()).or_default();
        if !names.iter().any(|own| own == name) {
            names.push(name.to_owned());
        }
    }

    /// The names that a text stands for: itself, unless it is only an alias.
    pub fn meant<'k>(&'k self, text: &str) -> Option<&'k [String]> {
        if self.has(text) { None } else { self.aliases.get(text).map(Vec::as_slice) }
    }

    pub fn has(&self, name: &str) -> bool {
        self.index.contains(name)
    }

    /// In the order in which they were added.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub fn group(&self, source: Option<&str>, group: &str) -> Option<&[String]> {
        let key = (source.unwrap_or(GROUPS).to_owned(), group.to_owned());
        self.groups.get(&key).map(Vec::as_slice)
    }

    /// The groups as expressions name them: `leaf1`, `role:server`.
    pub fn group_names(&self) -> Vec<String> {
        let shown = |(source, name): &(String, String)| match source.as_str() {
            GROUPS => name.clone(),
            source => format!("{source}:{name}"),
        };
        self.groups.keys().map(shown).collect()
    }
}

/// The name that a bare number stands for: `atom%03d` makes `atom007` of 7.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefaultName {
    prefix: String,
    width: usize,
    suffix: String,
}

impl DefaultName {
    /// Reads `atom%03d` or `node%d.lab`; `None` where it has no such number or its names would be none.
    pub fn parse(text: &str) -> Option<DefaultName> {
        let (prefix, rest) = text.split_once('%')?;
        let (width, suffix) = rest.split_once('d')?;
        let width = match width {
            "" => 1,
            padded => padded.strip_prefix('0')?.parse().ok().filter(|width| (1..=18).contains(width))?,
        };
        let read = DefaultName { prefix: prefix.to_owned(), width, suffix: suffix.to_owned() };
        let is_named = !prefix.is_empty() || !suffix.is_empty();
        (is_named && is_name(&read.name(1))).then_some(read)
    }

    pub fn name(&self, number: u64) -> String {
        format!("{}{number:0width$}{}", self.prefix, self.suffix, width = self.width)
    }
}

/// As it is read.
impl std::fmt::Display for DefaultName {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.width {
            1 => write!(out, "{}%d{}", self.prefix, self.suffix),
            width => write!(out, "{}%0{width}d{}", self.prefix, self.suffix),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_name_is_read_and_written_alike() {
        for (text, name) in [("atom%03d", "atom007"), ("n%d.lab", "n7.lab"), ("%02dx", "07x")] {
            let read = DefaultName::parse(text).expect(text);
            assert_eq!((read.name(7).as_str(), read.to_string().as_str()), (name, text));
        }
        for bad in ["atom", "atom%s", "%d", "A%d", "a%3d", "a%000d", "$(x)%d", "a%099d"] {
            assert_eq!(DefaultName::parse(bad), None, "{bad}");
        }
    }
}
