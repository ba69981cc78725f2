//! Recovery of what dead writers left: journals go into the store, and runs are marked as interrupted. Readers see what
//! waits in a journal beside what is stored.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rusqlite::Connection;
use rusqlite::backup::Backup;

use crate::engine::{Db, args};
use crate::error::{StoreError, parent};
use crate::file::RETRY;
use crate::journal::{self, Contents, Journal};
use crate::{Result, Store};

impl Store {
    /// Looks at every run that says `running` and at every journal beside the store; what a living process holds
    /// is left to it.
    pub(crate) fn recover(&mut self) -> Result<()> {
        let mut numbers =
            self.rows("SELECT no FROM run WHERE status = 'running'", &[], |row| row.get::<i64>(0))?;
        numbers.extend(self.journals()?);
        numbers.sort_unstable();
        numbers.dedup();
        for no in numbers {
            let path = journal::path_of(&self.side, no);
            let named = self.db.first::<String>("SELECT id FROM run WHERE no = $1", args![no]);
            let run = named.map_err(|error| self.sql(&error))?;
            let Some(run) = run else {
                self.recovered.push(format!("{} is of no run here, and was left alone", path.display()));
                continue;
            };
            if self.lock_run(no)? {
                let recovered = self.recover_one(&run, &path);
                self.let_go(no)?;
                recovered?;
            }
        }
        Ok(())
    }

    /// Recovers a run that no other session on a server holds.
    fn recover_one(&mut self, run: &str, path: &Path) -> Result<()> {
        if self.remote.is_some() && !path.exists() {
            // Its writer was on another machine, where what it could not store is taken in.
            return self.interrupt(run);
        }
        match Journal::open(path, run, self.owner) {
            Ok(None) => Ok(()),
            Ok(Some((journal, contents))) => self.recover_run(run, journal, &contents),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.recovered.push(format!("{} could not be read: {error}", path.display()));
                Ok(())
            }
            Err(error) => Err(StoreError::io(path, &error)),
        }
    }

    fn interrupt(&mut self, run: &str) -> Result<()> {
        let sql = "UPDATE run SET status = 'interrupted' WHERE id = $1 AND status = 'running'";
        self.transact(|tx| tx.execute(sql, args![run])).map(|_| ())
    }

    /// For a reader, who changes no file: entries that wait in journals are added to a copy of the store in memory,
    /// which is read from then on. Fails if the store or a journal cannot be read.
    pub(crate) fn overlay(&mut self) -> Result<()> {
        if self.remote.is_some() {
            // What waits on this machine is in no session's sight until the next writer here takes it in.
            return Ok(());
        }
        let mut waiting = Vec::new();
        for no in self.journals()? {
            let path = journal::path_of(&self.side, no);
            match journal::peek(&path) {
                Ok(contents) if contents.entries.is_empty() => {}
                Ok(contents) => waiting.push((no, contents)),
                // Of another user: the store's own takes are read without it.
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                Err(error) => return Err(StoreError::io(&path, &error)),
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        // Copied after the journals were read: what a writer moves meanwhile is in both, and is applied once.
        let Db::Sqlite(db) = &self.db else { return Ok(()) };
        let fail = |error: rusqlite::Error| StoreError::sqlite(&self.path, &error);
        let mut copy = Connection::open_in_memory().map_err(fail)?;
        let pages = Backup::new(db, &mut copy).map_err(fail)?;
        pages.run_to_completion(i32::MAX, RETRY, None).map_err(fail)?;
        drop(pages);
        copy.pragma_update(None, "foreign_keys", true).map_err(fail)?;
        self.db = Db::Sqlite(copy);
        for (no, contents) in waiting {
            let ids = self.rows("SELECT id FROM run WHERE no = $1", args![no], |row| row.get::<String>(0))?;
            if ids.contains(&contents.run) {
                for entry in &contents.entries {
                    self.apply(&contents.run, entry, true)?;
                }
            }
        }
        Ok(())
    }

    /// Numbers of the journals beside the store.
    fn journals(&self) -> Result<Vec<i64>> {
        let dir = parent(&self.side);
        let mut prefix = self.side.file_name().unwrap_or_default().as_bytes().to_vec();
        prefix.extend(b".journal-");
        let number = |name: &OsStr| -> Option<i64> {
            std::str::from_utf8(name.as_bytes().strip_prefix(prefix.as_slice())?).ok()?.parse().ok()
        };
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.remote.is_some() => {
                return Ok(Vec::new());
            }
            // A directory may allow its files to be opened without being listed.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io(dir, &error)),
        };
        let names: io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.file_name())).collect();
        let names = names.map_err(|error| StoreError::io(dir, &error))?;
        Ok(names.iter().filter_map(|name| number(name)).collect())
    }

    fn recover_run(&mut self, run: &str, journal: Journal, contents: &Contents) -> Result<()> {
        let path = journal.path.clone();
        if !contents.entries.is_empty() && contents.run != run {
            let whose = &contents.run;
            let said = format!("{} belongs to run {whose}, not to {run}, and was left alone", path.display());
            self.recovered.push(said);
            return Ok(());
        }
        for entry in &contents.entries {
            self.apply(run, entry, true)?;
        }
        self.interrupt(run)?;
        if !contents.entries.is_empty() {
            let count = contents.entries.len();
            self.recovered.push(format!("{count} entries of run {run} came back from its journal"));
        }
        if contents.damaged_bytes > 0 {
            let kept = path.with_added_extension("damaged");
            fs::rename(&path, &kept).map_err(|error| StoreError::io(&path, &error))?;
            self.recovered.push(format!(
                "{} bytes at the end of the journal of run {run} are no record: a write that was cut; kept in {}",
                contents.damaged_bytes,
                kept.display()
            ));
            return Ok(());
        }
        journal.remove().map_err(|error| StoreError::io(&path, &error))
    }
}
