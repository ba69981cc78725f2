//! The files of a folder of this side with their hashes, in the order of their names. Sizes are bytes.
//!
//! Empty folders are left out. What is no plain file, such as a link, is refused.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::ssh::copy::{BadPath, LocalFile};

/// A file of a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentFile {
    /// Its path within the tree, with `/` between the parts.
    pub name: String,
    pub size: u64,
    pub mode: u32,
    pub sha256: String,
}

/// A folder that was read.
#[derive(Clone, Debug)]
pub struct Tree {
    folder: PathBuf,
    files: Vec<ContentFile>,
}

impl Tree {
    /// Reads and hashes every file. Fails for what cannot be read, what is neither file nor folder, a name with a line
    /// break, and a folder without files.
    pub fn read(folder: &Path) -> Result<Tree, BadPath> {
        let wrong = |why: String| BadPath::Local { path: folder.display().to_string(), why };
        let folder = std::path::absolute(folder).map_err(|error| wrong(error.to_string()))?;
        let mut files = Vec::new();
        let mut waiting = vec![(folder.clone(), String::new())];
        while let Some((path, prefix)) = waiting.pop() {
            let local = |error: std::io::Error| BadPath::Local {
                path: path.display().to_string(),
                why: error.to_string(),
            };
            for entry in std::fs::read_dir(&path).map_err(local)? {
                let entry = entry.map_err(local)?;
                let (path, kind) = (entry.path(), entry.file_type().map_err(local)?);
                let shown = || path.display().to_string();
                let own = entry.file_name();
                let own = own.to_str().ok_or_else(|| BadPath::Nameless(shown()))?;
                if own.contains('\n') {
                    return Err(BadPath::Lines(shown()));
                }
                let name = format!("{prefix}{own}");
                if kind.is_dir() {
                    waiting.push((path, format!("{name}/")));
                } else if kind.is_file() {
                    let file = LocalFile::read(&path)?;
                    let mode = entry.metadata().map_err(local)?.mode() & 0o777;
                    files.push(ContentFile {
                        name,
                        size: file.size(),
                        mode,
                        sha256: file.sha256().to_owned(),
                    });
                } else {
                    return Err(BadPath::Local { path: shown(), why: "it is no plain file".to_owned() });
                }
            }
        }
        if files.is_empty() {
            return Err(wrong("no file is in it".to_owned()));
        }
        files.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Tree { folder, files })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn files(&self) -> &[ContentFile] {
        &self.files
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.size).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_has_its_files_in_order_and_no_link() {
        let dir = tempfile::tempdir().unwrap();
        assert!(Tree::read(dir.path()).unwrap_err().to_string().contains("no file"));
        std::fs::create_dir_all(dir.path().join("b/c")).unwrap();
        std::fs::create_dir(dir.path().join("empty")).unwrap();
        std::fs::write(dir.path().join("b/c/x"), "abc").unwrap();
        std::fs::write(dir.path().join("a"), "").unwrap();
        let tree = Tree::read(dir.path()).unwrap();
        let names: Vec<&str> = tree.files().iter().map(|file| file.name.as_str()).collect();
        assert_eq!((names, tree.bytes()), (vec!["a", "b/c/x"], 3));
        assert!(tree.files()[1].sha256.starts_with("ba7816bf"));
        std::os::unix::fs::symlink("/etc/passwd", dir.path().join("b/link")).unwrap();
        assert!(Tree::read(dir.path()).unwrap_err().to_string().contains("b/link: it is no plain file"));
        std::fs::remove_file(dir.path().join("b/link")).unwrap();
        std::fs::write(dir.path().join("b/x\ny"), "").unwrap();
        assert!(Tree::read(dir.path()).unwrap_err().to_string().contains("line break"));
        assert!(Tree::read(Path::new("/nowhere")).unwrap_err().to_string().contains("/nowhere"));
    }
}
