//! The hashes of a host's files, as `sha256sum` prints them: `HASH  ./NAME`, with a backslash first where the name
//! holds one.

use std::collections::HashMap;

use super::tree::{ContentFile, Tree};
use crate::ssh::failure::Failure;
use crate::ssh::session::Sink;

/// The most bytes of a list: a million files and more.
const MOST: usize = 256 << 20;

/// A list as it comes.
#[derive(Debug, Default)]
pub(super) struct Listing(Vec<u8>);

impl Sink for Listing {
    fn take(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        if self.0.len() + bytes.len() > MOST {
            return Err(Failure::Copy { said: "it lists files without end".to_owned() });
        }
        self.0.extend_from_slice(bytes);
        Ok(())
    }
}

/// The files of a host.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    /// The path of its folder.
    pub folder: String,
    pub has_rsync: bool,
    hashes: HashMap<String, String>,
}

impl Listing {
    /// The lines between the mark and the end; `None` where one of them is missing. Lines before the mark are of
    /// the shell's start.
    pub(super) fn read(&self) -> Option<Listed> {
        // A name that is no text is none of ours.
        let text = String::from_utf8_lossy(&self.0);
        let mut lines = text.lines().skip_while(|line| !line.starts_with("boxscore-content /"));
        let folder = lines.next()?.strip_prefix("boxscore-content ")?.to_owned();
        let mut listed = Listed { folder, has_rsync: lines.next()? == "rsync", hashes: HashMap::new() };
        for line in lines {
            if line == "boxscore-end" {
                return Some(listed);
            }
            if let Some((hash, name)) = file(line) {
                listed.hashes.insert(name, hash);
            }
        }
        None
    }
}

fn file(line: &str) -> Option<(String, String)> {
    let (is_escaped, line) = line.strip_prefix('\\').map_or((false, line), |rest| (true, rest));
    let (hash, name) = line.split_once(' ')?;
    let name = name.get(1..)?.strip_prefix("./")?;
    // No file of a tree has a line break in its name, so `\n` need not be read.
    let name = if is_escaped { name.replace("\\\\", "\\") } else { name.to_owned() };
    Some((hash.to_owned(), name))
}

impl Listed {
    /// The files of the tree that are not there, or are there with another hash.
    pub(super) fn lacks<'a>(&self, tree: &'a Tree) -> Vec<&'a ContentFile> {
        tree.files().iter().filter(|file| self.hashes.get(&file.name) != Some(&file.sha256)).collect()
    }

    /// How many files are there that the tree does not have.
    pub(super) fn others(&self, tree: &Tree) -> usize {
        let own = tree.files().iter().filter(|file| self.hashes.contains_key(&file.name)).count();
        self.hashes.len() - own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_from_its_mark_to_its_end() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a b"), "abc").unwrap();
        std::fs::write(dir.path().join("c\\d"), "abc").unwrap();
        let tree = Tree::read(dir.path()).unwrap();
        let hash = tree.files()[0].sha256.clone();
        let text = format!(
            "Welcome\nboxscore-content /srv/x\nrsync\n{hash}  ./a b\n\\{hash}  ./c\\\\d\n00  ./old\nboxscore-end\n"
        );
        let listed = Listing(text.clone().into_bytes()).read().unwrap();
        assert_eq!((listed.folder.as_str(), listed.has_rsync), ("/srv/x", true));
        assert!(listed.lacks(&tree).is_empty());
        assert_eq!(listed.others(&tree), 1);
        let other =
            Listing(text.replace(&format!("{hash}  ./a b"), "00  ./a b").into_bytes()).read().unwrap();
        assert_eq!(other.lacks(&tree).iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["a b"]);
        for cut in ["boxscore-end\n", "boxscore-content /srv/x\n"] {
            assert_eq!(Listing(text.replace(cut, "").into_bytes()).read(), None, "{cut}");
        }
    }
}
