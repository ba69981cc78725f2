//! Recovery of what dead writers left: journals go into the store, and runs are marked as interrupted. Readers see what
//! waits in a journal beside what is stored.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OptionalExtension};

use crate::error::{StoreError, parent};
use crate::journal::{self, Contents, Journal};
use crate::open::RETRY;
use crate::{Result, Store};

impl Store {
    /// Looks at every run that says `running` and at every journal beside the store; what a living process holds
    /// is left to it.
    pub(crate) fn recover(&mut self) -> Result<()> {
        let mut numbers =
            self.rows("SELECT no FROM run WHERE status = 'running'", [], |row| row.get::<_, i64>(0))?;
        numbers.extend(self.journals()?);
        numbers.sort_unstable();
        numbers.dedup();
        for no in numbers {
            let path = journal::path_of(&self.path, no);
            let run = self
                .db
                .query_row("SELECT id FROM run WHERE no = $1", [no], |row| row.get::<_, String>(0))
                .optional()
                .map_err(|error| self.sql(&error))?;
            let Some(run) = run else {
                self.recovered.push(format!("{} is of no run here, and was left alone", path.display()));
                continue;
            };
            match Journal::open(&path, &run, self.owner) {
                Ok(None) => {}
                Ok(Some((journal, contents))) => self.recover_run(&run, journal, &contents)?,
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    self.recovered.push(format!("{} could not be read: {error}", path.display()));
                }
                Err(error) => return Err(StoreError::io(&path, &error)),
            }
        }
        Ok(())
    }

    /// For a reader, who changes no file: entries that wait in journals are added to a copy of the store in memory,
    /// which is read from then on. Fails if the store or a journal cannot be read.
    pub(crate) fn overlay(&mut self) -> Result<()> {
        let mut waiting = Vec::new();
        for no in self.journals()? {
            let path = journal::path_of(&self.path, no);
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
        let fail = |error: rusqlite::Error| StoreError::sql(&self.path, &error);
        let mut copy = Connection::open_in_memory().map_err(fail)?;
        let pages = Backup::new(&self.db, &mut copy).map_err(fail)?;
        pages.run_to_completion(i32::MAX, RETRY, None).map_err(fail)?;
        drop(pages);
        copy.pragma_update(None, "foreign_keys", true).map_err(fail)?;
        self.db = copy;
        for (no, contents) in waiting {
            let ids = self.rows("SELECT id FROM run WHERE no = $1", [no], |row| row.get::<_, String>(0))?;
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
        let dir = parent(&self.path);
        let mut prefix = self.path.file_name().unwrap_or_default().as_bytes().to_vec();
        prefix.extend(b".journal-");
        let number = |name: &OsStr| -> Option<i64> {
            std::str::from_utf8(name.as_bytes().strip_prefix(prefix.as_slice())?).ok()?.parse().ok()
        };
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
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
        let interrupt = "UPDATE run SET status = 'interrupted' WHERE id = $1 AND status = 'running'";
        self.transact(|tx| tx.execute(interrupt, [run]))?;
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
