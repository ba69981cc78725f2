//! Folders whose files a server of ours serves (`--content`), and what they are called in a plan.
//!
//! A tree is called by the name of its folder and a digest of its files, so that figures of different ones are never
//! compared. Every file is hashed, once for all plans that one command makes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lab::ssh::content::{ContentFile, Tree};
use model::tree::{ServedFile, ServedTree};

use super::mixes;
use crate::error::CliError;
use crate::fleet::copy::tree_folder;

/// A tree, and its name in parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedTree {
    pub name: String,
    pub tree: ServedTree,
}

/// The folder that was read last: a run of nodes is planned twice, and what is sent to them must be what was planned.
static READ: Mutex<Option<(PathBuf, Tree)>> = Mutex::new(None);

/// The files of a folder, hashed. Fails where it is empty or has what cannot be sent.
pub fn hashed(folder: &Path) -> Result<Tree, CliError> {
    let wrong = |what: String| CliError::data(format!("--content {}: {what}", folder.display()));
    let path = folder.canonicalize().map_err(|error| wrong(error.to_string()))?;
    let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, tree)) = read.as_ref().filter(|(known, _)| *known == path) {
        return Ok(tree.clone());
    }
    let tree = Tree::read(&path).map_err(|error| wrong(error.to_string()))?;
    *read = Some((path, tree.clone()));
    Ok(tree)
}

/// The tree of a folder. Machines that are nodes have it in the folder where it is sent. Fails where it cannot be
/// served.
pub fn read(folder: &Path, are_nodes: bool) -> Result<NamedTree, CliError> {
    let wrong = |what: String| CliError::data(format!("--content {}: {what}", folder.display()));
    let files = hashed(folder)?;
    let source = files.folder().display().to_string();
    let there = if are_nodes { tree_folder(files.folder())? } else { source.clone() };
    let file = |one: &ContentFile| ServedFile {
        name: one.name.clone(),
        bytes: one.size,
        sha256: one.sha256.clone(),
    };
    let tree = ServedTree { folder: there, source, files: files.files().iter().map(file).collect() };
    tree.check().map_err(wrong)?;
    let label = files.folder().file_name().map(|name| name.to_string_lossy().into_owned());
    let digest = logs::hash::name(&serde_json::to_vec(&tree.files)?);
    Ok(NamedTree { name: mixes::name(&label.unwrap_or_default(), digest), tree })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_called_by_its_folder_and_its_files() {
        let dir = tempfile::tempdir().unwrap();
        let site = dir.path().join("my site");
        std::fs::create_dir(&site).unwrap();
        assert!(read(&site, false).unwrap_err().message.contains("my site: "));
        std::fs::write(site.join("a"), "abc").unwrap();
        let one = read(&site, false).unwrap();
        assert!(one.name.starts_with("my-site@") && one.name.len() == 24, "{}", one.name);
        assert_eq!((one.tree.folder.as_str(), one.tree.files.len()), (site.to_str().unwrap(), 1));
        let there = read(&site, true).unwrap();
        assert_eq!(
            (there.tree.folder.as_str(), &there.name),
            ("~/.cache/boxscore/content/my site", &one.name)
        );
        let other = dir.path().join("other");
        std::fs::create_dir(&other).unwrap();
        std::fs::write(other.join("boxes"), "abc").unwrap();
        assert_ne!(read(&other, false).unwrap().name[6..], one.name[8..]);
        for (path, says) in [("/no/such", "/no/such"), ("/proc/version", "--content /proc/version: ")] {
            assert!(read(Path::new(path), false).unwrap_err().message.contains(says), "{path}");
        }
    }
}
