//! Opening a store: every way in which that can fail has its own sentence, before anything is measured.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::engine::{Db, args};
use crate::error::StoreError;
use crate::schema::{MIGRATIONS, Migration};
use crate::series_numbers::SeriesNumbers;
use crate::server::address::is_server;
use crate::{Remote, Result, Store, file, server};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    ReadOnly,
    /// The store must exist.
    ReadWrite,
    /// The store and its directory are made where they are missing.
    Create,
}

#[derive(Clone, Debug)]
pub struct Options {
    pub mode: Mode,
    /// User and group that new files belong to: under sudo, those of the user who called it.
    pub owner: Option<(u32, u32)>,
    /// How long a statement waits for another process's transaction.
    pub busy: Duration,
}

impl Options {
    pub fn new(mode: Mode) -> Options {
        Options { mode, owner: None, busy: Duration::from_secs(10) }
    }
}

impl Store {
    /// Opens the store at `path`: a file, or the URL of a server.
    pub fn open(path: &Path, mode: Mode) -> Result<Store> {
        Store::open_with(path, &Options::new(mode))
    }

    pub fn open_with(path: &Path, options: &Options) -> Result<Store> {
        Store::open_migrating(path, options, MIGRATIONS)
    }

    pub(crate) fn open_migrating(path: &Path, options: &Options, migrations: &[Migration]) -> Result<Store> {
        let mut store = if is_server(path) {
            Store::on_server(path, options, migrations)?
        } else {
            let (db, owner) = file::open(path, options, migrations)?;
            Store::new(db, path, options.mode, owner)
        };
        match options.mode {
            Mode::ReadOnly => store.overlay()?,
            Mode::ReadWrite | Mode::Create => store.recover()?,
        }
        Ok(store)
    }

    fn on_server(path: &Path, options: &Options, migrations: &[Migration]) -> Result<Store> {
        let server::Opened { db, side, address } = server::open(path, options, migrations)?;
        let shown = address.shown.clone();
        let mut store = Store::new(db, &shown, options.mode, options.owner);
        store.side = side;
        store.remote = Some(Remote { address, options: options.clone() });
        Ok(store)
    }

    fn new(db: Db, path: &Path, mode: Mode, owner: Option<(u32, u32)>) -> Store {
        Store {
            db,
            path: path.to_path_buf(),
            side: path.to_path_buf(),
            remote: None,
            mode,
            owner,
            series: SeriesNumbers::default(),
            live: BTreeMap::new(),
            recovered: Vec::new(),
            plans: RefCell::default(),
            params: RefCell::default(),
            facts: RefCell::default(),
        }
    }

    /// Commits a small write now, so that a full disk, a lock or missing permission shows before measuring starts.
    /// Fails if it cannot be committed.
    pub fn check_writable(&self) -> Result<()> {
        self.must_write()?;
        let sql = "INSERT INTO write_check (no, at_ns) VALUES (1, $1)
            ON CONFLICT (no) DO UPDATE SET at_ns = excluded.at_ns";
        let write = || {
            let tx = self.db.begin()?;
            tx.execute(sql, args![tx.now_ns()?])?;
            tx.commit()
        };
        write().map_err(|error| self.sql(&error))
    }

    pub(crate) fn must_write(&self) -> Result<()> {
        if self.mode == Mode::ReadOnly {
            let what = "it was opened for reading".to_owned();
            return Err(StoreError::ReadOnly { path: self.path.clone(), what });
        }
        Ok(())
    }

    /// Writes everything into the one file and closes it. Dropping does the same, without saying what failed.
    pub fn close(self) -> Result<()> {
        self.checkpoint()
    }

    pub(crate) fn checkpoint(&self) -> Result<()> {
        if self.mode == Mode::ReadOnly {
            return Ok(());
        }
        match &self.db {
            // A reader elsewhere makes it incomplete (busy = 1); the next close does the rest.
            Db::Sqlite(db) => db
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
                .map_err(|error| StoreError::sqlite(&self.path, &error)),
            // Its session ends, and a reader elsewhere must see at once that nobody writes its runs any more.
            Db::Postgres(session) if session.is_closed() || self.live.is_empty() => Ok(()),
            Db::Postgres(session) => {
                session.batch("SELECT pg_advisory_unlock_all()").map_err(|error| self.sql(&error))
            }
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Nothing is lost when this fails: a file's write-ahead log is read at the next open, and a server's locks end
        // with the session.
        let _ = self.checkpoint();
    }
}

/// True for a path whose files a reboot or a cleaner removes.
pub fn is_temporary(path: &Path) -> bool {
    if is_server(path) {
        return false;
    }
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let resolved =
        absolute.ancestors().find_map(|part| fs::canonicalize(part).ok()).unwrap_or_else(|| absolute.clone());
    let roots = ["/tmp", "/var/tmp", "/dev/shm", "/run"].map(PathBuf::from);
    roots.iter().any(|root| absolute.starts_with(root) || resolved.starts_with(root))
}
