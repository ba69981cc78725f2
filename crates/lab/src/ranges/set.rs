//! Names, each once, in the order in which they were first seen.

use std::collections::HashSet;

#[derive(Clone, Debug, Default)]
pub struct NameSet {
    names: Vec<String>,
    index: HashSet<String>,
}

impl NameSet {
    /// Adds a name; false where it is there already.
    pub fn insert(&mut self, name: String) -> bool {
        let is_new = self.index.insert(name.clone());
        if is_new {
            self.names.push(name);
        }
        is_new
    }

    pub fn contains(&self, name: &str) -> bool {
        self.index.contains(name)
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    /// The names that `wanted` accepts.
    #[must_use]
    pub fn filtered(self, wanted: impl Fn(&str) -> bool) -> NameSet {
        self.names.into_iter().filter(|name| wanted(name)).collect()
    }
}

/// Sets are equal whatever the order of their names.
impl PartialEq for NameSet {
    fn eq(&self, other: &NameSet) -> bool {
        self.index == other.index
    }
}

impl FromIterator<String> for NameSet {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> NameSet {
        let mut set = NameSet::default();
        set.extend(names);
        set
    }
}

impl Extend<String> for NameSet {
    fn extend<I: IntoIterator<Item = String>>(&mut self, names: I) {
        for name in names {
            self.insert(name);
        }
    }
}

impl IntoIterator for NameSet {
    type Item = String;
    type IntoIter = std::vec::IntoIter<String>;

    fn into_iter(self) -> Self::IntoIter {
        self.names.into_iter()
    }
}
