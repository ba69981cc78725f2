//! Paths of the store and of its reports, and the owner of new files under sudo.

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use ::store::{Mode, Options, Store, StoreError, is_server};

use crate::cli::Global;
use crate::error::CliError;
use crate::out;

const STORE: &str = "BOXSCORE_STORE";

/// The database file: `--store`, `$BOXSCORE_STORE`, or the XDG data directory; never a temporary directory by default.
pub fn store(global: &Global) -> Result<PathBuf, CliError> {
    let given = global.store.clone().map(|path| ("--store", path));
    // An empty variable counts as unset.
    let set = || std::env::var_os(STORE).filter(|value| !value.is_empty()).map(|value| (STORE, value.into()));
    if let Some((by, path)) = given.or_else(set) {
        if is_server(&path) {
            return Ok(named(&path));
        }
        let text = path.display().to_string();
        if path.is_dir() {
            let full = path.join("store.db");
            return Err(CliError::usage(format!("{by} {text} is a directory; it names the database file"))
                .hint(format!("say --store {}", full.display())));
        }
        return Ok(path);
    }
    data_dir().map(|dir| dir.join("store.db"))
}

/// The name of a store as everything may show it: a URL loses its password here, which the store remembers. What the
/// server refuses waits in the data directory.
pub fn named(path: &Path) -> PathBuf {
    ::store::named(path, data_dir().ok().as_deref())
}

/// Opens the store for reading, where there is one: before the first run there is none. Fails where it may not be read,
/// and where the folder that it would lie in is missing, unless that is the usual one, which the first run makes.
pub fn existing(path: &Path) -> Result<Option<Store>, CliError> {
    if is_server(path) {
        return match Store::open(path, Mode::ReadOnly) {
            Err(StoreError::Missing { .. }) => Ok(None),
            opened => opened.map(Some).map_err(CliError::from),
        };
    }
    match std::fs::symlink_metadata(path) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            let folder = beside(path);
            if folder.is_dir() || data_dir().is_ok_and(|usual| usual == folder) {
                return Ok(None);
            }
            Err(CliError::data(format!("there is no folder {} for the store {}", folder.display(), path.display()))
                .hint("name an existing store with --store or BOXSCORE_STORE; `boxscore run` makes folder and store"))
        }
        _ => open(path).map(Some),
    }
}

/// Opens the store for reading. A file of an earlier schema is brought up to date first, and a copy of it kept; a
/// server's is not, since others may use it with an earlier boxscore.
pub fn open(path: &Path) -> Result<Store, CliError> {
    match Store::open(path, Mode::ReadOnly) {
        Err(StoreError::Older { found, known, .. }) if !is_server(path) => {
            drop(create(path)?);
            out::say(&format!(
                "note: the store was brought from schema {found} to {known}; a copy of it as it was is beside it, \
                 {}.schema-{found}",
                path.display()
            ));
            Store::open(path, Mode::ReadOnly).map_err(CliError::from)
        }
        opened => opened.map_err(CliError::from),
    }
}

/// Opens the store for writing, and makes it where it is not there yet.
pub fn create(path: &Path) -> Result<Store, CliError> {
    let options = Options { owner: owner(), ..Options::new(Mode::Create) };
    Store::open_with(path, &options).map_err(CliError::from)
}

/// `boxscore` in the XDG data directory of the user, or of the user who called sudo.
pub fn data_dir() -> Result<PathBuf, CliError> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(home) = sudo_home() {
        return Ok(home.join(".local/share/boxscore"));
    }
    let base = set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    base.map(|base| base.join("boxscore")).ok_or_else(|| {
        CliError::data("neither HOME nor XDG_DATA_HOME is set, so there is no place for the store")
            .hint("say --store FILE or set BOXSCORE_STORE")
    })
}

/// `boxscore` in the XDG configuration directory of the user, or of the user who called sudo; `None` where no home
/// directory is known.
pub fn config_dir() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(home) = sudo_home() {
        return Some(home.join(".config/boxscore"));
    }
    let base = set("XDG_CONFIG_HOME").or_else(|| set("HOME").map(|home| home.join(".config")));
    base.map(|base| base.join("boxscore"))
}

/// The home of the user who called sudo, when that is not root.
fn sudo_home() -> Option<PathBuf> {
    let user = sys::files::invoking_user();
    let name = user.name.filter(|_| user.by_sudo && user.uid != 0)?;
    let passwd = std::fs::read_to_string("/etc/passwd").ok()?;
    let entry =
        passwd.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|fields| fields[0] == name)?;
    entry.get(5).map(PathBuf::from).filter(|home| home.is_absolute())
}

/// Owner (user and group id) of new files: under sudo, the user who called it; else nobody in particular.
pub fn owner() -> Option<(u32, u32)> {
    let user = sys::files::invoking_user();
    user.by_sudo.then_some((user.uid, user.gid))
}

/// Writes a file whole or not at all; under sudo it belongs to the user who called it.
pub fn write(to: &Path, bytes: &[u8]) -> Result<(), CliError> {
    if to.exists() && !to.is_file() {
        // A pipe or a device cannot be replaced.
        let opened = std::fs::OpenOptions::new().write(true).open(to);
        return opened
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|error| CliError::data(format!("{}: {error}", to.display())));
    }
    sys::files::atomic_write(to, bytes, 0o644)?;
    match owner() {
        Some((uid, gid)) => {
            sys::files::chown(to, uid, gid).map_err(|error| CliError::data(error.to_string()))
        }
        None => Ok(()),
    }
}

/// The directory that a store's reports and test files go to: the one that it stands in; of a store on a server, the
/// data directory of the user here.
pub fn beside(store: &Path) -> PathBuf {
    if is_server(store) {
        let folder = data_dir().unwrap_or_else(|_| PathBuf::from("."));
        // Where it cannot be made, what is written into it says so.
        let _ = std::fs::create_dir_all(&folder);
        return folder;
    }
    match store.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

/// Where takes go that the store cannot take, in words.
pub fn journal(store: &Path) -> String {
    match is_server(store) {
        true => format!("a journal in {}", beside(store).display()),
        false => "the journal beside it".to_owned(),
    }
}

/// The folder, or where it is not there yet the nearest one above it that is.
pub fn nearest(folder: &Path) -> PathBuf {
    let above = folder.ancestors().map(|one| if one.as_os_str().is_empty() { Path::new(".") } else { one });
    above.into_iter().find(|one| one.exists()).unwrap_or(folder).to_path_buf()
}

/// A path as people write it: `~` for the home directory.
pub fn tilde(path: &Path) -> String {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    match home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}

/// A new folder under the system's temporary one, gone with everything in it when it is dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// Makes it; `word` becomes part of its name.
    pub fn new(word: &str) -> Result<Scratch, CliError> {
        let name = format!("boxscore-{word}-{}-{}", std::process::id(), sys::clock::now_ns());
        let folder = std::env::temp_dir().join(name);
        let made = std::fs::create_dir(&folder);
        made.map_err(|error| CliError::data(format!("{}: {error}", folder.display())))?;
        Ok(Scratch(folder))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Nothing in it is kept; a folder that stays is temporary.
        drop(std::fs::remove_dir_all(&self.0));
    }
}
