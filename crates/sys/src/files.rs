//! Lock files, atomic replacement of files, and their owners.
//!
//! It never deletes a file that it did not create.

use crate::error::{Error, Result};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// A lock on a file (flock), held until it is dropped; the kernel releases it if we die. The file stays, since
/// removing it would let two holders lock two different files of the same name.
#[derive(Debug)]
pub struct LockFile {
    file: File,
    path: PathBuf,
}

/// The result of an attempt to lock.
#[derive(Debug)]
pub enum Lock {
    Held(LockFile),
    /// Another process holds it; the text gives its process id, if it wrote one.
    Busy {
        holder: Option<String>,
    },
}

impl LockFile {
    /// Tries to take the lock without waiting, and writes our process id into the file. Fails when the file cannot be
    /// opened or locked.
    pub fn try_acquire(path: &Path) -> Result<Lock> {
        let what = || format!("lock {}", path.display());
        // Not truncated: until we hold the lock the text is the holder's.
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .custom_flags(libc::O_NOFOLLOW)
            .mode(0o666)
            .open(path)
            .map_err(|e| Error::os(what(), e))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = (&file).take(64).read_to_string(&mut text);
                let holder = read.ok().map(|_| text.trim().to_owned());
                return Ok(Lock::Busy { holder: holder.filter(|text| !text.is_empty()) });
            }
            Err(TryLockError::Error(e)) => return Err(Error::os(what(), e)),
        }
        let write = |file: &mut File| {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            writeln!(file, "{}", std::process::id())
        };
        write(&mut file).map_err(|e| Error::os(what(), e))?;
        Ok(Lock::Held(Self { file, path: path.to_owned() }))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Releases the lock, as dropping does. Fails when the kernel refuses.
    pub fn release(self) -> Result<()> {
        let what = || format!("unlock {}", self.path.display());
        self.file.set_len(0).map_err(|e| Error::os(what(), e))?;
        self.file.unlock().map_err(|e| Error::os(what(), e))
    }
}

/// The folder that holds `path`; "." for a bare name.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Makes a created, renamed or removed name in `dir` survive a power cut. Fails when `dir` cannot be synced.
pub fn sync_dir(dir: &Path) -> Result<()> {
    File::open(dir)
        .and_then(|d| d.sync_all())
        .map_err(|e| Error::os(format!("sync the folder {}", dir.display()), e))
}

/// A file that is written under another name and takes its own once it is whole; until then readers see the old
/// content, and a drop leaves nothing behind.
#[derive(Debug)]
pub struct NewFile {
    /// Closed once it has its name.
    file: Option<File>,
    temporary: PathBuf,
    path: PathBuf,
}

impl NewFile {
    /// Begins a file that will be at `path`, with `mode` as the umask allows. Fails when the folder cannot be written.
    pub fn create(path: &Path, mode: u32) -> Result<Self> {
        let what = || format!("write {}", path.display());
        let name = path.file_name().ok_or_else(|| Error::invalid(what(), "it names no file"))?;
        let mut temporary = std::ffi::OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}.{}.tmp", std::process::id(), crate::clock::now_ns()));
        let temporary = folder(path).join(temporary);
        let opened = OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary);
        let file = opened.map_err(|e| Error::os(what(), e))?;
        Ok(Self { file: Some(file), temporary, path: path.to_owned() })
    }

    fn failed(&self, e: std::io::Error) -> Error {
        Error::os(format!("write {}", self.path.display()), e)
    }

    /// Adds to the end. Fails when the disk is full.
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let written = self.file.as_mut().map_or(Ok(()), |file| file.write_all(bytes));
        written.map_err(|e| self.failed(e))
    }

    /// Gives it its name, in place of what had it; it survives a power cut. Fails when the kernel refuses.
    pub fn finish(mut self) -> Result<()> {
        let file = self.file.as_ref().map_or(Ok(()), File::sync_all);
        file.and_then(|()| std::fs::rename(&self.temporary, &self.path)).map_err(|e| self.failed(e))?;
        self.file = None;
        sync_dir(folder(&self.path))
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            // What failed before is what matters; the temporary file is ours.
            let _removed = std::fs::remove_file(&self.temporary);
        }
    }
}

/// Replaces `path` by `bytes` atomically: readers see the old or the new content, also after a power cut. A new file
/// gets `mode` as the umask allows. Fails when the folder cannot be written.
pub fn atomic_write(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    let mut file = NewFile::create(path, mode)?;
    file.append(bytes)?;
    file.finish()
}

/// User and group id of the file that `path` leads to. Fails when there is none.
pub fn owner(path: &Path) -> Result<(u32, u32)> {
    let meta =
        std::fs::metadata(path).map_err(|e| Error::os(format!("read the owner of {}", path.display()), e))?;
    Ok((meta.uid(), meta.gid()))
}

/// Gives `path` itself (not the target of a link) to a user and group. Fails when the kernel refuses.
pub fn chown(path: &Path, uid: u32, gid: u32) -> Result<()> {
    std::os::unix::fs::lchown(path, Some(uid), Some(gid))
        .map_err(|e| Error::os(format!("give {} to {uid}:{gid}", path.display()), e))
}

/// Effective user and group id of this process.
pub fn effective_ids() -> (u32, u32) {
    // SAFETY: no arguments, and they cannot fail.
    unsafe { (libc::geteuid(), libc::getegid()) }
}

/// The user for whom we run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    pub uid: u32,
    pub gid: u32,
    /// The name; known only under sudo.
    pub name: Option<String>,
    pub by_sudo: bool,
}

fn invoking(ids: (u32, u32), env: impl Fn(&str) -> Option<String>) -> User {
    let number = |name| env(name).and_then(|text| text.parse::<u32>().ok());
    // Only root is believed: anybody else could set these variables to anything.
    if let (0, Some(uid), Some(gid)) = (ids.0, number("SUDO_UID"), number("SUDO_GID")) {
        return User { uid, gid, name: env("SUDO_USER"), by_sudo: true };
    }
    User { uid: ids.0, gid: ids.1, name: None, by_sudo: false }
}

/// The user who called sudo, else the effective user.
pub fn invoking_user() -> User {
    invoking(effective_ids(), |name| std::env::var(name).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_exclusive_and_names_its_holder() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let Lock::Held(lock) = LockFile::try_acquire(&path).unwrap() else {
            panic!("not free");
        };
        match LockFile::try_acquire(&path).unwrap() {
            Lock::Busy { holder } => {
                assert_eq!(holder, Some(std::process::id().to_string()));
            }
            Lock::Held(_) => panic!("held twice"),
        }
        assert_eq!(lock.path(), path);
        lock.release().unwrap();
        assert!(matches!(LockFile::try_acquire(&path).unwrap(), Lock::Held(_)));
        assert!(LockFile::try_acquire(&path.join("x")).is_err());
    }

    #[test]
    fn replaces_whole_files_and_leaves_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        for text in ["one", "another"] {
            atomic_write(&path, text.as_bytes(), 0o600).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        }
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert!(atomic_write(&dir.path().join("no/f"), b"", 0o600).is_err());
        assert!(atomic_write(Path::new("/"), b"", 0o600).is_err());
        // A folder cannot be replaced by a file: the temporary file must go.
        std::fs::create_dir(dir.path().join("d")).unwrap();
        assert!(atomic_write(&dir.path().join("d"), b"", 0o600).is_err());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 2);
        assert_eq!(folder(Path::new("bare")), Path::new("."));
    }

    #[test]
    fn owners() {
        let dir = tempfile::tempdir().unwrap();
        let ids = effective_ids();
        assert_eq!(owner(dir.path()).unwrap().0, ids.0);
        chown(dir.path(), ids.0, ids.1).unwrap();
        assert!(owner(Path::new("/no/such")).is_err());
    }

    #[test]
    fn sudo_counts_for_root_only() {
        let env = |name: &str| match name {
            "SUDO_UID" | "SUDO_GID" => Some("1000".to_owned()),
            "SUDO_USER" => Some("ann".to_owned()),
            _ => None,
        };
        let user = invoking((0, 0), env);
        assert!(user.by_sudo && user.uid == 1000 && user.name.as_deref() == Some("ann"));
        assert_eq!(invoking((5, 6), env).uid, 5);
        let bad = |name: &str| (name == "SUDO_UID").then(|| "-1".to_owned());
        assert!(!invoking((0, 0), bad).by_sudo);
        assert_eq!(invoking_user().uid == 0, effective_ids().0 == 0 && !invoking_user().by_sudo);
    }
}
