//! Modules of a kernel: which a device wants (`modules.alias`), and which must be loaded before them (`modules.dep`).

use std::collections::{BTreeMap, BTreeSet};

/// The modules of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Modules {
    /// Paths below the folder of the kernel, each with those that it needs, as `modules.dep` orders them: what is
    /// loaded first stands last.
    needs: BTreeMap<String, Vec<String>>,
    /// The path of each by its name.
    paths: BTreeMap<String, String>,
    /// Patterns of devices, each with a name.
    aliases: Vec<(String, String)>,
}

/// A name as the kernel has it: of the file without its ends, with `_` for `-`.
fn name_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file).replace('-', "_")
}

impl Modules {
    /// From the texts of `modules.dep` and `modules.alias`.
    pub fn read(dep: &str, alias: &str) -> Modules {
        let mut modules = Modules::default();
        for (path, needs) in dep.lines().filter_map(|line| line.split_once(':')) {
            modules.paths.insert(name_of(path), path.to_owned());
            modules.needs.insert(path.to_owned(), needs.split_whitespace().map(str::to_owned).collect());
        }
        for line in alias.lines() {
            let mut words = line.split_whitespace();
            if let (Some("alias"), Some(pattern), Some(name)) = (words.next(), words.next(), words.next()) {
                modules.aliases.push((pattern.to_owned(), name.replace('-', "_")));
            }
        }
        modules
    }

    /// The path of a module and of each that it needs, in the order in which they are loaded; nothing for one that is
    /// not there, as those that are part of the kernel.
    pub fn order(&self, name: &str) -> Vec<&str> {
        let Some(path) = self.paths.get(&name.replace('-', "_")) else { return Vec::new() };
        let needs = self.needs.get(path).map_or(&[][..], Vec::as_slice);
        needs.iter().rev().map(String::as_str).chain([path.as_str()]).collect()
    }

    /// The names of the modules that a device wants, by what it says of itself (`modalias`).
    pub fn wanted<'a>(&'a self, modalias: &'a str) -> impl Iterator<Item = &'a str> {
        let wanted = self.aliases.iter().filter(move |(pattern, _)| matches(pattern, modalias));
        wanted.map(|(_, name)| name.as_str())
    }

    /// All modules below these folders or with this path, and what they need.
    pub fn below(&self, folders: &[&str]) -> BTreeSet<&str> {
        let own = self.needs.iter().filter(|(path, _)| folders.iter().any(|folder| path.starts_with(folder)));
        own.flat_map(|(path, needs)| needs.iter().chain([path])).map(String::as_str).collect()
    }
}

/// True if a text is of a pattern with `*`, `?` and `[a-f0]`.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t) = (0, 0);
    // Where to go on after the last star: it takes one letter more.
    let mut star: Option<(usize, usize)> = None;
    loop {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, t));
                p += 1;
                continue;
            }
            None if t == text.len() => return true,
            Some(_) if t < text.len() => {
                if let Some(length) = one(&pattern[p..], text[t]) {
                    (p, t) = (p + length, t + 1);
                    continue;
                }
            }
            _ => {}
        }
        match star {
            Some((after, from)) if from < text.len() => {
                star = Some((after, from + 1));
                (p, t) = (after, from + 1);
            }
            _ => return false,
        }
    }
}

/// The length of the first part of a pattern if a letter is of it.
fn one(pattern: &[u8], letter: u8) -> Option<usize> {
    match pattern {
        [b'?', ..] => Some(1),
        [b'[', rest @ ..] => {
            let end = rest.iter().position(|byte| *byte == b']')?;
            let (mut set, mut is_in) = (&rest[..end], false);
            while let [first, more @ ..] = set {
                (is_in, set) = match more {
                    [b'-', last, more @ ..] => (is_in || (*first..=*last).contains(&letter), more),
                    _ => (is_in || *first == letter, more),
                };
            }
            is_in.then_some(end + 2)
        }
        [first, ..] => (*first == letter).then_some(1),
        [] => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DEP: &str = "kernel/drivers/virtio/virtio_pci.ko: kernel/drivers/virtio/virtio_pci_legacy_dev.ko \
                       kernel/drivers/virtio/virtio.ko kernel/drivers/virtio/virtio_ring.ko\n\
                       kernel/drivers/virtio/virtio_pci_legacy_dev.ko:\nkernel/drivers/virtio/virtio_ring.ko:\n\
                       kernel/drivers/virtio/virtio.ko: kernel/drivers/virtio/virtio_ring.ko\n\
                       kernel/drivers/net/net-x.ko.xz: kernel/net/core/failover.ko\nkernel/net/core/failover.ko:\n";
    const ALIAS: &str =
        "# a remark\nalias pci:v00001AF4d*sv*sd*bc*sc*i* virtio_pci\nalias virtio:d0000000[1-3]v* net-x\n";

    #[test]
    fn what_is_needed_is_loaded_first() {
        let modules = Modules::read(DEP, ALIAS);
        let names = |name: &str| modules.order(name).into_iter().map(name_of).collect::<Vec<_>>();
        assert_eq!(names("virtio_pci"), ["virtio_ring", "virtio", "virtio_pci_legacy_dev", "virtio_pci"]);
        assert_eq!(names("net_x"), ["failover", "net_x"]);
        assert!(names("ext4").is_empty());
        let wanted = |alias: &'static str| modules.wanted(alias).collect::<Vec<_>>();
        assert_eq!(wanted("pci:v00001AF4d00001000sv00001AF4sd00000001bc02sc00i00"), ["virtio_pci"]);
        assert_eq!(wanted("virtio:d00000001v00001AF4"), ["net_x"]);
        assert!(wanted("virtio:d00000004v00001AF4").is_empty());
        let below = modules.below(&["kernel/drivers/net/"]);
        assert_eq!(
            below.into_iter().collect::<Vec<_>>(),
            ["kernel/drivers/net/net-x.ko.xz", "kernel/net/core/failover.ko"]
        );
    }

    proptest! {
        #[test]
        fn patterns_hold_for_what_they_were_made_of(parts in prop::collection::vec("[a-f]{0,4}", 1..5), text in ".{0,20}") {
            let pattern = parts.join("*");
            prop_assert!(matches(&pattern, &parts.join("xyz")));
            prop_assert!(matches(&pattern, &parts.concat()));
            prop_assert!(matches("*", &text));
            let _ended = matches(&text, &text);
        }
    }
}
