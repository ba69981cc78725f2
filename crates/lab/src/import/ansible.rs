//! Ansible's idea of an inventory: groups of hosts, groups of groups, and variables of both.
//!
//! Taken are address, login and port. A variable of a host counts before one of its groups, and that of an inner group
//! before that of the group around it. Passwords and all other variables are left out.

use std::collections::{BTreeMap, BTreeSet};

use model::toml_file::FileError;

use super::draft::{Draft, Drafts, group_name};
use crate::ranges::{Known, expand};

/// The group of all hosts, and that of those in no other.
const EVERY: &str = "all";
const REST: &str = "ungrouped";
/// How deep groups may stand in each other.
const DEEPEST: usize = 32;

pub type Vars = BTreeMap<String, String>;

#[derive(Clone, Debug, Default)]
pub struct Group {
    pub hosts: Vec<Host>,
    pub vars: Vars,
    pub children: Vec<String>,
}

/// A host, or a range of them, in a group.
#[derive(Clone, Debug)]
pub struct Host {
    pub line: usize,
    pub name: String,
    pub vars: Vars,
}

/// Groups by name, in the order in which they were first named.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    pub order: Vec<String>,
    pub by_name: BTreeMap<String, Group>,
}

impl Groups {
    pub fn group(&mut self, name: &str) -> &mut Group {
        if !self.by_name.contains_key(name) {
            self.order.push(name.to_owned());
        }
        self.by_name.entry(name.to_owned()).or_default()
    }
}

/// Keys of a node and the variables that say it, the newest first.
const TAKEN: &[(&str, &[&str])] = &[
    ("address", &["ansible_host", "ansible_ssh_host"]),
    ("user", &["ansible_user", "ansible_ssh_user", "ansible_user_id"]),
    ("port", &["ansible_port", "ansible_ssh_port"]),
];
const PASSWORDS: &[&str] =
    &["ansible_password", "ansible_ssh_pass", "ansible_become_pass", "ansible_become_password"];

pub fn drafts(groups: Groups) -> Result<Drafts, FileError> {
    let mut drafts = Drafts::default();
    let parents = parents(&groups);
    for group in &groups.order {
        for host in groups.by_name.get(group).map_or(&[][..], |group| &group.hosts) {
            for name in names(host)? {
                add(&mut drafts, &name, host, group);
            }
        }
    }
    let lines: Vec<usize> =
        groups.by_name.values().flat_map(|group| &group.hosts).map(|host| host.line).collect();
    let first = lines.into_iter().min().unwrap_or(1);
    for node in &mut drafts.nodes {
        let above = above(&node.groups, &parents);
        // From the group around all to the innermost one, each over those before it.
        let mut vars = Vars::new();
        for group in std::iter::once(EVERY)
            .chain(above.iter().rev().map(String::as_str).filter(|group| *group != EVERY))
        {
            vars.extend(groups.by_name.get(group).map(|group| group.vars.clone()).unwrap_or_default());
        }
        for (key, names) in TAKEN {
            let is_set = node.values.iter().any(|(own, _)| own == key);
            if let Some(value) = names.iter().find_map(|name| vars.get(*name)).filter(|_| !is_set) {
                node.set(key, value);
            }
        }
        let kept: BTreeSet<String> = above.iter().filter_map(|group| group_name(group)).collect();
        node.groups = kept.into_iter().filter(|group| group != EVERY && group != REST).collect();
    }
    let all_vars = groups.by_name.values().flat_map(|group| {
        let of_hosts = group.hosts.iter().map(|host| &host.vars);
        std::iter::once(&group.vars).chain(of_hosts)
    });
    if all_vars.flat_map(BTreeMap::keys).any(|key| PASSWORDS.contains(&key.as_str())) {
        drafts.note(
            first,
            "left out: passwords; an inventory holds none (password_file, password_env, password_cmd)",
        );
    }
    Ok(drafts)
}

/// The names of a host, which may be a range as Ansible writes it: `web[01:50].lab`, `db[a:c]`.
fn names(host: &Host) -> Result<Vec<String>, FileError> {
    let mut texts = vec![String::new()];
    let mut rest = host.name.as_str();
    while let Some((before, behind)) = rest.split_once('[') {
        let wrong = || {
            let what = format!("`{}` is no range of hosts", host.name.escape_debug());
            FileError::new(host.line, what, "Ansible writes web[01:50] or db[a:f]")
        };
        let (inside, after) = behind.split_once(']').ok_or_else(wrong)?;
        let ends: Vec<&str> = inside.split(':').collect();
        let middle: Vec<String> = match ends.as_slice() {
            [from, to] if is_letter(from) && is_letter(to) => {
                let (from, to) = (from.as_bytes()[0], to.as_bytes()[0]);
                (from..=to).map(|letter| char::from(letter).to_string()).collect()
            }
            [from, to] => vec![format!("[{from}-{to}]")],
            [from, to, step] => vec![format!("[{from}-{to}/{step}]")],
            _ => return Err(wrong()),
        };
        texts = texts
            .iter()
            .flat_map(|text| middle.iter().map(move |part| format!("{text}{before}{part}")))
            .collect();
        if texts.len() > crate::ranges::MOST {
            return Err(wrong());
        }
        rest = after;
    }
    let mut all = Vec::new();
    for text in texts {
        let text = format!("{text}{rest}");
        if !text.contains('[') {
            all.push(text);
            continue;
        }
        let of = |error: crate::ranges::RangeError| {
            FileError::new(host.line, format!("`{}`: {}", host.name.escape_debug(), error.what), error.hint)
        };
        all.extend(expand(&text, &Known::default()).map_err(of)?.names);
    }
    Ok(all)
}

fn is_letter(text: &str) -> bool {
    text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// One host of one group: a new draft, or the one that there is.
fn add(drafts: &mut Drafts, name: &str, host: &Host, group: &str) {
    let Some(name) = drafts.named(host.line, name) else { return };
    let known = drafts.nodes.iter().position(|node| node.name == name);
    let at = known.unwrap_or_else(|| {
        drafts.nodes.push(Draft::new(host.line, name));
        drafts.nodes.len() - 1
    });
    let Some(node) = drafts.nodes.get_mut(at) else { return };
    for (key, names) in TAKEN {
        if let Some(value) = names.iter().find_map(|name| host.vars.get(*name)) {
            node.set(key, value);
        }
    }
    if !node.groups.iter().any(|own| own == group) {
        node.groups.push(group.to_owned());
    }
}

/// The groups that each group is a child of.
fn parents(groups: &Groups) -> BTreeMap<String, Vec<String>> {
    let mut parents: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in &groups.order {
        for child in groups.by_name.get(name).map_or(&[][..], |group| &group.children) {
            parents.entry(child.clone()).or_default().push(name.clone());
        }
    }
    parents
}

/// These groups and all around them, the innermost first. A group that is around itself is named once.
fn above(groups: &[String], parents: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut level: Vec<String> = groups.to_vec();
    for _ in 0..DEEPEST {
        let new: Vec<String> = level.into_iter().filter(|group| !found.contains(group)).collect();
        if new.is_empty() {
            break;
        }
        level = new.iter().filter_map(|group| parents.get(group)).flatten().cloned().collect();
        found.extend(new);
    }
    found
}
