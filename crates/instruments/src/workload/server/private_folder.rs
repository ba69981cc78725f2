//! A private folder for one server or one set of content: newly made, owned by the server's account, removed on drop.
//!
//! If this program is killed, the guard removes the folder. If the guard was killed too, a lock file in the folder
//! shows that it is no longer used, and the next folder made beside it removes it. Nothing else is ever removed.

use std::fs::{self, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sys::files::{Lock, LockFile};

use super::account::Unprivileged;
use crate::workload::guard::{self, PRIVATE as PREFIX, Private};

const LOCK: &str = "lock";
/// Folders that every account can reach, used when the wanted one cannot be reached.
const PUBLIC: [&str; 2] = ["/var/tmp", "/tmp"];
const TRIES: usize = 100;

static MADE: AtomicU64 = AtomicU64::new(0);

/// A folder that only its owner and root can enter.
#[derive(Debug)]
pub struct PrivateFolder {
    path: PathBuf,
    /// Held while the folder is used; the kernel releases it if we die.
    _lock: LockFile,
    owner: Option<(u32, u32)>,
    /// Why the folder is not in the wanted place, if so.
    pub moved: Option<String>,
    ward: Option<Private>,
    removed: bool,
}

impl PrivateFolder {
    /// A new folder under `wanted`, or under a public one if `account` could not reach it. Fails when none can be
    /// made.
    pub fn make(wanted: &Path, account: Option<&Unprivileged>) -> Result<PrivateFolder, String> {
        // Servers resolve what they are told from where they start, which is the folder itself.
        let wanted = std::path::absolute(wanted).map_err(|error| format!("{}: {error}", wanted.display()))?;
        let wanted = wanted.as_path();
        let parent = parent(wanted, account)?;
        let ours = [Some(sys::files::effective_ids().0), account.map(|account| account.account.uid)];
        sweep(&parent, &ours);
        let moved = (parent != wanted).then(|| {
            let name = account.map_or("the server", |account| account.name.as_str());
            format!("{name} cannot reach {}, so {} is used", wanted.display(), parent.display())
        });
        let owner = account.map(|account| (account.account.uid, account.account.gid));
        for _ in 0..TRIES {
            let unique = MADE.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}-{}-{unique}", std::process::id(), sys::clock::now_ns());
            let path = parent.join(name);
            // The guard must know it before it is there.
            let ward = Private::tell(&path)?;
            if let Err(error) = fs::DirBuilder::new().mode(0o700).create(&path) {
                ward.into_iter().for_each(Private::forget);
                match error.kind() {
                    ErrorKind::AlreadyExists => continue,
                    _ => return Err(format!("cannot make {}: {error}", path.display())),
                }
            }
            // Busy: a sweeper was quicker, and removes it.
            let lock = match LockFile::try_acquire(&path.join(LOCK)).map_err(|error| error.to_string())? {
                Lock::Held(lock) if lock.path().exists() => lock,
                Lock::Held(_) | Lock::Busy { .. } => continue,
            };
            let place = PrivateFolder { path, _lock: lock, owner, moved, ward, removed: false };
            place.give(&place.path, 0o700)?;
            return Ok(place);
        }
        Err(format!("cannot make a folder of our own under {}", parent.display()))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gives `path`, which we made within this folder, to the server's account, with exactly this mode. Fails when the
    /// kernel refuses.
    pub fn give(&self, path: &Path, mode: u32) -> Result<(), String> {
        let set = fs::set_permissions(path, Permissions::from_mode(mode));
        set.map_err(|error| format!("cannot set the mode of {}: {error}", path.display()))?;
        match self.owner {
            Some((uid, gid)) => sys::files::chown(path, uid, gid).map_err(|error| error.to_string()),
            None => Ok(()),
        }
    }

    /// Makes a folder in it. Fails when it cannot be made.
    pub fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let path = self.path.join(name);
        fs::create_dir(&path).map_err(|error| format!("cannot make {}: {error}", path.display()))?;
        self.give(&path, 0o700)?;
        Ok(path)
    }

    /// Writes a small file in it. Fails when it cannot be written.
    pub fn file(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let path = self.path.join(name);
        sys::files::atomic_write(&path, text.as_bytes(), 0o600).map_err(|error| error.to_string())?;
        self.give(&path, 0o600)?;
        Ok(path)
    }

    /// Removes the folder and everything in it, as dropping does. Fails when something cannot be removed.
    pub fn remove(mut self) -> Result<(), String> {
        self.clear()
    }

    fn clear(&mut self) -> Result<(), String> {
        if self.removed {
            return Ok(());
        }
        fs::remove_dir_all(&self.path)
            .map_err(|error| format!("cannot remove {}: {error}", self.path.display()))?;
        self.removed = true;
        self.ward.take().into_iter().for_each(Private::forget);
        Ok(())
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        // A drop has nobody to tell; the guard tries again, and the next folder made here.
        let _left_for_the_sweep = self.clear();
    }
}

fn parent(wanted: &Path, account: Option<&Unprivileged>) -> Result<PathBuf, String> {
    if !wanted.is_dir() {
        return Err(format!("{} is not a folder", wanted.display()));
    }
    let Some(account) = account else { return Ok(wanted.to_owned()) };
    let choices = std::iter::once(wanted).chain(PUBLIC.iter().map(Path::new));
    let found = choices.filter(|dir| dir.is_dir()).find(|dir| account.reaches(dir));
    found.map(Path::to_owned).ok_or_else(|| {
        format!(
            "{} (servers that root starts run as that) cannot reach {}, nor {}; name a folder that everybody can enter",
            account.name,
            wanted.display(),
            PUBLIC.join(" or ")
        )
    })
}

/// Removes the folders of processes that were killed. A folder that cannot be removed stays.
fn sweep(parent: &Path, ours: &[Option<u32>]) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let lock = entry.path().join(LOCK);
        // Other users may write to public folders. A link is not followed.
        let is_folder = entry.metadata().is_ok_and(|meta| meta.is_dir() && ours.contains(&Some(meta.uid())));
        // A folder without a lock is just being made, or not ours.
        if !is_ours || !is_folder || !fs::symlink_metadata(&lock).is_ok_and(|meta| meta.is_file()) {
            continue;
        }
        if let Ok(Lock::Held(_lock)) = LockFile::try_acquire(&lock) {
            // What it left elsewhere cannot be taken away without it, and who could be told did not make it.
            let _left = guard::leave(&entry.path());
            let _stays = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn a_place_is_private_and_goes() {
        let dir = tempfile::tempdir().unwrap();
        let place = PrivateFolder::make(dir.path(), None).unwrap();
        assert_eq!(fs::metadata(place.path()).unwrap().permissions().mode() & 0o7777, 0o700);
        let folder = place.folder("sub").unwrap();
        assert!(folder.is_dir() && place.folder("sub").is_err());
        let file = place.file("conf", "x").unwrap();
        assert_eq!(fs::read_to_string(file).unwrap(), "x");
        assert_eq!(place.moved, None);
        place.remove().unwrap();
        assert_eq!(names(dir.path()), 0);
        drop(PrivateFolder::make(dir.path(), None).unwrap());
        assert_eq!(names(dir.path()), 0);
    }

    #[test]
    fn a_place_is_named_from_the_root_on() {
        let place = PrivateFolder::make(Path::new("."), None).unwrap();
        assert!(place.path().is_absolute() && place.moved.is_none(), "{}", place.path().display());
        place.remove().unwrap();
        assert!(PrivateFolder::make(Path::new(""), None).is_err());
    }

    #[test]
    fn left_overs_go_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let used = PrivateFolder::make(dir.path(), None).unwrap();
        let left = dir.path().join(format!("{PREFIX}1-1-0"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join(LOCK), "1\n").unwrap();
        fs::write(left.join("big"), "x").unwrap();
        let unlocked = dir.path().join(format!("{PREFIX}mine"));
        fs::create_dir(&unlocked).unwrap();
        let other = dir.path().join("other");
        fs::create_dir(&other).unwrap();
        fs::write(other.join(LOCK), "").unwrap();
        let new = PrivateFolder::make(dir.path(), None).unwrap();
        assert!(!left.exists());
        assert!(unlocked.exists() && other.exists() && used.path().exists() && new.path().exists());
    }

    #[test]
    fn missing_folders_are_named() {
        let why = PrivateFolder::make(Path::new("/no/such"), None).unwrap_err();
        assert_eq!(why, "/no/such is not a folder");
        let why = PrivateFolder::make(Path::new("/proc"), None).unwrap_err();
        assert!(why.contains("/proc/.boxscore-server-"), "{why}");
    }

    #[test]
    fn what_the_account_cannot_reach_is_not_used() {
        let somebody = Unprivileged {
            name: "somebody".to_owned(),
            account: sys::process::Account { uid: 65_533, gid: 65_533, groups: vec![65_533] },
        };
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        fs::set_permissions(dir.path(), Permissions::from_mode(0o700)).unwrap();
        let found = parent(dir.path(), Some(&somebody)).unwrap();
        assert!(PUBLIC.iter().any(|public| Path::new(public) == found), "{}", found.display());
        fs::set_permissions(dir.path(), Permissions::from_mode(0o711)).unwrap();
        assert_eq!(parent(dir.path(), Some(&somebody)).unwrap(), dir.path());
    }
}
