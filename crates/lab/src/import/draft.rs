//! Drafts of nodes: names, and lines of `lab.toml` for them.

use std::fmt;

use model::toml_file::{FileError, quoted};

use crate::inventory::{Inventory, is_label, read_from};
use crate::ranges::{fold, is_name};

/// A node as a list says it: its keys with values as `lab.toml` writes them.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The line of the list, from 1 on.
    pub line: usize,
    pub name: String,
    pub values: Vec<(&'static str, String)>,
    /// Keys of its BMC.
    pub bmc: Vec<(&'static str, String)>,
    pub groups: Vec<String>,
}

impl Draft {
    pub fn new(line: usize, name: impl Into<String>) -> Draft {
        Draft { line, name: name.into(), ..Draft::default() }
    }

    /// Sets a key to a text.
    pub fn set(&mut self, key: &'static str, value: &str) {
        self.values.retain(|(own, _)| *own != key);
        self.values.push((key, quoted(value)));
    }
}

/// A thing of a list that the inventory has not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportNote {
    pub line: usize,
    pub what: String,
}

impl fmt::Display for ImportNote {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}: {}", self.line, self.what)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Drafts {
    pub nodes: Vec<Draft>,
    pub notes: Vec<ImportNote>,
}

/// The inventory of a list, and what it has not of it.
#[derive(Clone, Debug)]
pub struct Imported {
    pub inventory: Inventory,
    pub notes: Vec<ImportNote>,
}

impl Drafts {
    pub fn note(&mut self, line: usize, what: impl Into<String>) {
        self.notes.push(ImportNote { line, what: what.into() });
    }

    /// The name in small letters, where it is one; else a note that its line is left out.
    pub fn named(&mut self, line: usize, text: &str) -> Option<String> {
        let name = text.to_ascii_lowercase();
        if is_name(&name) {
            return Some(name);
        }
        self.note(line, format!("left out: `{}` is no name of a machine", text.escape_debug()));
        None
    }

    /// The inventory. An error has the line of the list, not that of the text between.
    pub fn finish(self) -> Result<Imported, FileError> {
        if self.nodes.is_empty() {
            let hint = "--format says which form it has; docs/guide/lab.md shows them";
            return Err(FileError::new(1, "there is no machine in it", hint));
        }
        let mut file = Text::default();
        let mut groups: Vec<(&String, usize, Vec<&str>)> = Vec::new();
        for node in &self.nodes {
            for group in &node.groups {
                match groups.iter_mut().find(|(name, ..)| *name == group) {
                    Some((.., members)) => members.push(&node.name),
                    None => groups.push((group, node.line, vec![&node.name])),
                }
            }
        }
        if !groups.is_empty() {
            file.line(1, "[groups]".to_owned());
        }
        for (name, line, members) in groups {
            file.line(line, format!("{} = {}", quoted(name), quoted(&fold(members))));
        }
        for Draft { line, name, values, bmc, .. } in &self.nodes {
            file.line(*line, "[[nodes]]".to_owned());
            file.line(*line, format!("name = {}", quoted(&fold([name.as_str()]))));
            for (key, value) in values {
                file.line(*line, format!("{key} = {value}"));
            }
            if !bmc.is_empty() {
                let fields: Vec<String> = bmc.iter().map(|(key, value)| format!("{key} = {value}")).collect();
                file.line(*line, format!("bmc = {{ {} }}", fields.join(", ")));
            }
        }
        let inventory = read_from(&file.text, &|line| file.origin(line))?;
        Ok(Imported { inventory, notes: self.notes })
    }
}

/// A text whose lines know the lines that they come from.
#[derive(Default)]
struct Text {
    text: String,
    origins: Vec<usize>,
}

impl Text {
    fn line(&mut self, origin: usize, line: String) {
        self.text.push_str(&line);
        self.text.push('\n');
        self.origins.push(origin);
    }

    fn origin(&self, line: usize) -> usize {
        self.origins.get(line.saturating_sub(1)).or(self.origins.last()).copied().unwrap_or(1)
    }
}

/// A group's name as an inventory has it: small letters, other characters as `-`; `None` where nothing is left.
pub fn group_name(text: &str) -> Option<String> {
    let letter = |c: char| match c.to_ascii_lowercase() {
        c if c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.' => c,
        _ => '-',
    };
    let name: String = text.chars().map(letter).collect();
    let name = name.trim_matches(['-', '.']).to_owned();
    is_label(&name).then_some(name)
}
