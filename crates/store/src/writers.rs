//! Who writes which run: on a file, who holds its journal; on a server, whose session holds its lock.

use std::fs;

use model::data::Status;

use crate::engine::{Db, Session, SqlError, args};
use crate::error::{StoreError, parent};
use crate::journal::{self, Journal};
use crate::{Result, Store, server};

impl Store {
    /// Takes hold of a run until it is let go, or this process ends. Fails while another process holds it.
    pub(crate) fn hold(&self, no: i64, run: &str) -> Result<Journal> {
        let busy = || StoreError::Busy { run: run.to_owned() };
        if !self.lock_run(no)? {
            return Err(busy());
        }
        let path = journal::path_of(&self.side, no);
        let opened = self.make_side().and_then(|()| {
            Journal::open(&path, run, self.owner).map_err(|error| StoreError::io(&path, &error))
        });
        match opened {
            Ok(Some((journal, _))) => Ok(journal),
            Ok(None) => self.let_go(no).and(Err(busy())),
            Err(error) => self.let_go(no).and(Err(error)),
        }
    }

    /// Journals of a store on a server lie in a folder of this machine, which is made where it is missing.
    fn make_side(&self) -> Result<()> {
        if self.remote.is_none() {
            return Ok(());
        }
        let folder = parent(&self.side);
        fs::create_dir_all(folder).map_err(|error| StoreError::io(folder, &error))
    }

    /// True where this process has the run now; on a file, the journal decides that.
    pub(crate) fn lock_run(&self, no: i64) -> Result<bool> {
        match &self.db {
            Db::Sqlite(_) => Ok(true),
            Db::Postgres(session) => lock(session, &self.db, no).map_err(|error| self.sql(&error)),
        }
    }

    /// Lets go of a run on a server; on a file, it ends with its journal.
    pub(crate) fn let_go(&self, no: i64) -> Result<()> {
        let Db::Postgres(session) = &self.db else { return Ok(()) };
        let key = session.writers | no;
        let unlocked = self.db.one::<bool>("SELECT pg_advisory_unlock($1)", args![key]);
        unlocked.map(|_| ()).map_err(|error| self.sql(&error))
    }

    /// True while a living process, here or elsewhere, writes the run.
    pub(crate) fn is_held(&self, no: i64) -> Result<bool> {
        let Db::Postgres(session) = &self.db else {
            return Ok(journal::held(&journal::path_of(&self.side, no)));
        };
        let sql = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid::bigint = $1
            AND objid::bigint = $2 AND objsubid = 1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        let holders: i64 =
            self.db.one(sql, args![session.writers >> 32, no]).map_err(|error| self.sql(&error))?;
        Ok(holders > 0)
    }

    /// Begins a new session where the server was lost, and takes hold again of the runs that this process writes. Fails
    /// while the server is away, or if another process took a run over.
    pub(crate) fn revive(&mut self) -> Result<()> {
        let (Db::Postgres(session), Some(remote)) = (&self.db, &self.remote) else { return Ok(()) };
        if !session.is_closed() {
            return Ok(());
        }
        let db = server::reconnect(&remote.address, &remote.options, session.writers)?;
        for (run, live) in &self.live {
            let Db::Postgres(session) = &db else { continue };
            if !lock(session, &db, live.no).map_err(|error| self.sql(&error))? {
                return Err(StoreError::Busy { run: run.clone() });
            }
            // Another controller may have taken its writer for dead.
            let sql = "UPDATE run SET status = $1 WHERE no = $2 AND status = $3";
            let words = (Status::Running.word(), Status::Interrupted.word());
            db.execute(sql, args![words.0, live.no, words.1]).map_err(|error| self.sql(&error))?;
        }
        self.db = db;
        Ok(())
    }
}

fn lock(session: &Session, db: &Db, no: i64) -> std::result::Result<bool, SqlError> {
    db.one("SELECT pg_try_advisory_lock($1)", args![session.writers | no])
}
