//! Copies the user's files into the private folder of a server, each held against its hash. Sizes are bytes.
//!
//! They are copied since the account that a server runs as may not enter the user's folders, and so that nothing of the
//! user's is changed. A file that is not the one of the plan is an error: another one would be another load.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use model::tree::{ServedFile, ServedTree};
use ring::digest::{Context, SHA256};

use super::content::READY;
use super::kind::ServerError;
use super::private_folder::PrivateFolder;

const CHUNK: usize = 1 << 20;

/// Copies every file of a tree to `root`, which lies in `place`. `going` is called with the size of each piece; an
/// error from it stops the copying. Fails where the tree is not here, or is another one.
pub fn copy(
    tree: &ServedTree,
    place: &PrivateFolder,
    root: &Path,
    going: &mut dyn FnMut(u64) -> Result<(), String>,
) -> Result<(), ServerError> {
    tree.check().map_err(|why| ServerError::Refused(format!("{}: {why}", tree.source)))?;
    if tree.files.iter().any(|file| file.name == READY) {
        let why = format!("{}: {READY}: boxscore has a file of this name there itself", tree.source);
        return Err(ServerError::Refused(why));
    }
    let from = home(&tree.folder)?;
    if !from.is_dir() {
        return Err(ServerError::Missing(format!(
            "the folder of --content is not on this machine: {} (--on sends it to nodes)",
            from.display()
        )));
    }
    let mut made = BTreeSet::new();
    for file in &tree.files {
        for folder in parents(&file.name) {
            if made.insert(folder.to_owned()) {
                let path = root.join(folder);
                let failed = |error| format!("cannot make {}: {error}", path.display());
                fs::create_dir(&path).map_err(failed).map_err(ServerError::Failed)?;
                place.give(&path, 0o700).map_err(ServerError::Failed)?;
            }
        }
        let to = root.join(&file.name);
        copied(file, &from.join(&file.name), &to, going).map_err(ServerError::Failed)?;
        place.give(&to, 0o400).map_err(ServerError::Failed)?;
    }
    Ok(())
}

/// The folders above a file, the outermost first.
fn parents(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').filter_map(|(at, _)| name.get(..at))
}

/// A folder whose home is that of this process.
fn home(folder: &str) -> Result<PathBuf, ServerError> {
    match folder.strip_prefix("~/") {
        None => Ok(PathBuf::from(folder)),
        Some(rest) => match std::env::var_os("HOME") {
            Some(home) => Ok(PathBuf::from(home).join(rest)),
            None => Err(ServerError::Missing(format!("{folder}: HOME is not set here"))),
        },
    }
}

/// Copies one file. Fails where it is not the one that the plan has.
fn copied(
    file: &ServedFile,
    from: &Path,
    to: &Path,
    going: &mut dyn FnMut(u64) -> Result<(), String>,
) -> Result<(), String> {
    let unread = |error: std::io::Error| format!("cannot read {}: {error}", from.display());
    let unwritten = |error: std::io::Error| format!("cannot write {}: {error}", to.display());
    let mut source = File::open(from).map_err(unread)?;
    let mut target = OpenOptions::new().write(true).create_new(true).open(to).map_err(unwritten)?;
    let mut hash = Context::new(&SHA256);
    let mut chunk = vec![0; CHUNK];
    let mut bytes = 0u64;
    loop {
        let count = source.read(&mut chunk).map_err(unread)?;
        let part = chunk.get(..count).unwrap_or_default();
        if part.is_empty() {
            break;
        }
        hash.update(part);
        target.write_all(part).map_err(unwritten)?;
        bytes += count as u64;
        going(count as u64)?;
    }
    let sha256: String = hash.finish().as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    match bytes == file.bytes && sha256 == file.sha256 {
        true => Ok(()),
        false => Err(format!(
            "{} is not the file that --content names: {bytes} bytes of {}, and its sha256 is {sha256}",
            from.display(),
            file.bytes
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a b/c.txt` with `abc`, and an empty `d`.
    fn tree(folder: &Path) -> ServedTree {
        fs::create_dir(folder.join("a b")).unwrap();
        fs::write(folder.join("a b/c.txt"), "abc").unwrap();
        fs::write(folder.join("d"), "").unwrap();
        let hashes = [
            ("a b/c.txt", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            ("d", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ];
        let file = |(name, bytes, sha256): (&str, u64, &str)| ServedFile {
            name: name.to_owned(),
            bytes,
            sha256: sha256.to_owned(),
        };
        let folder = folder.display().to_string();
        ServedTree { source: folder.clone(), folder, files: hashes.map(file).to_vec() }
    }

    fn copied_to(tree: &ServedTree) -> Result<(tempfile::TempDir, PathBuf, PrivateFolder), String> {
        let dir = tempfile::tempdir().unwrap();
        let place = PrivateFolder::make(dir.path(), None).unwrap();
        let root = place.folder("docs").unwrap();
        copy(tree, &place, &root, &mut |_| Ok(())).map_err(|error| error.to_string())?;
        Ok((dir, root, place))
    }

    #[test]
    fn files_are_copied_with_their_folders() {
        let dir = tempfile::tempdir().unwrap();
        let (_dir, root, _place) = copied_to(&tree(dir.path())).unwrap();
        assert_eq!(fs::read_to_string(root.join("a b/c.txt")).unwrap(), "abc");
        assert_eq!(fs::metadata(root.join("d")).unwrap().len(), 0);
        assert_eq!(parents("a/b/c").collect::<Vec<_>>(), ["a", "a/b"]);
    }

    #[test]
    fn other_files_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let tree = tree(dir.path());
        fs::write(dir.path().join("a b/c.txt"), "abd").unwrap();
        assert!(copied_to(&tree).unwrap_err().contains("a b/c.txt is not the file that --content names"));
        fs::remove_file(dir.path().join("a b/c.txt")).unwrap();
        assert!(copied_to(&tree).unwrap_err().contains("cannot read "));
        let gone = ServedTree { folder: "/no/such".to_owned(), ..tree.clone() };
        assert!(copied_to(&gone).unwrap_err().contains("not on this machine: /no/such"));
        let mut taken = tree.clone();
        taken.files[1].name = READY.to_owned();
        assert!(copied_to(&taken).unwrap_err().contains(READY));
        let mut out = tree;
        out.files[0].name = "../x".to_owned();
        assert!(copied_to(&out).unwrap_err().contains("no path within the tree"));
    }
}
