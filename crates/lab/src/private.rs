//! A folder that only this user may enter, with a short name: for control sockets, whose paths have 107 bytes at most,
//! and for files with secrets that a tool reads.

use std::fs::{DirBuilder, Metadata};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// Bytes that the path of a socket may have, without what ssh puts behind it until the socket is ready.
const LONGEST: usize = 107 - ".XXXXXXXXXXXXXXXX".len();

/// The longest name of a file in the folder.
pub(crate) const LONGEST_NAME: usize = 32;

/// The folder, made and checked.
#[derive(Clone, Debug)]
pub struct PrivateFolder {
    path: PathBuf,
}

/// The folder cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the folder for connections, {}: {why}", .folder.display())]
pub struct NoFolder {
    folder: PathBuf,
    why: String,
}

impl PrivateFolder {
    /// In the user's folder for such things (`XDG_RUNTIME_DIR`), else in /tmp. Fails when it cannot be made, or is
    /// somebody else's.
    pub fn open() -> Result<PrivateFolder, NoFolder> {
        let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
        let user = sys::files::effective_ids().0;
        let inside = runtime.filter(|path| is_fit(path)).map(|path| path.join("boxscore"));
        PrivateFolder::at(inside.unwrap_or_else(|| PathBuf::from(format!("/tmp/boxscore-ssh-{user}"))), user)
    }

    pub(crate) fn at(path: PathBuf, user: u32) -> Result<PrivateFolder, NoFolder> {
        let wrong = |why: String| NoFolder { folder: path.clone(), why };
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                return Err(wrong(error.to_string()));
            }
            _ => {}
        }
        // Not of what a link leads to: in /tmp anybody may have made one.
        let found = path.symlink_metadata().map_err(|error| wrong(error.to_string()))?;
        match objection(&found, user) {
            Some(why) => Err(wrong(why.to_owned())),
            None => Ok(PrivateFolder { path }),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// True for a folder in which sockets have short paths, without letters that mean something to ssh.
fn is_fit(runtime: &Path) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    let length = runtime.as_os_str().len() + "/boxscore/".len() + LONGEST_NAME;
    runtime.is_absolute()
        && length <= LONGEST
        && runtime.to_str().is_some_and(|text| text.chars().all(is_plain))
        && runtime.is_dir()
}

/// Why a folder with these properties is not used.
fn objection(found: &Metadata, user: u32) -> Option<&'static str> {
    if !found.is_dir() {
        return Some("it is no folder");
    }
    if found.uid() != user {
        return Some("it belongs to somebody else; remove it, or set XDG_RUNTIME_DIR");
    }
    (found.mode() & 0o077 != 0).then_some("others may enter it; make it private (chmod 700)")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_that_others_may_enter_or_made_is_refused() {
        let base = tempfile::tempdir().unwrap();
        let user = sys::files::effective_ids().0;
        let path = base.path().join("s");
        let folder = PrivateFolder::at(path.clone(), user).unwrap();
        assert_eq!(folder.path(), path);
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        assert!(PrivateFolder::at(path.clone(), user).is_ok(), "a second time");
        assert!(PrivateFolder::at(path.clone(), user + 1).unwrap_err().to_string().contains("somebody else"));
        let link = base.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(PrivateFolder::at(link, user).unwrap_err().to_string().contains("no folder"));
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        assert!(PrivateFolder::at(path, user).unwrap_err().to_string().contains("chmod 700"));
        let missing = PrivateFolder::at(base.path().join("no/s"), user).unwrap_err().to_string();
        assert!(missing.contains("no/s"), "{missing}");
    }

    #[test]
    fn a_folder_with_a_long_or_odd_path_is_not_used() {
        let base = tempfile::tempdir().unwrap();
        assert!(is_fit(base.path()));
        for name in ["a b", "a%h", &"x".repeat(80)] {
            let odd = base.path().join(name);
            std::fs::create_dir(&odd).unwrap();
            assert!(!is_fit(&odd), "{name}");
        }
        assert!(!is_fit(Path::new("relative")) && !is_fit(&base.path().join("none")));
    }
}
