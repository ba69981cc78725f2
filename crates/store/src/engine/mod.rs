//! The database engine below the store: one statement runs on any of them, with the same arguments and columns.
//!
//! Placeholders are `$1..$n`, and first appear in that order: SQLite numbers them so. A truth is stored as 0 or 1.

mod arg;
mod column;
mod postgres;

pub(crate) use arg::{Arg, ToArg, args};
pub(crate) use column::{Column, Row};
pub(crate) use postgres::Session;

/// An error of an engine, or a value that no engine is given.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqlError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    #[error(transparent)]
    Postgres(#[from] ::postgres::Error),
    /// A stored value that is not of its type.
    #[error("{0}")]
    Stored(String),
    /// A value that cannot be written as text.
    #[error("{0}")]
    Value(String),
}

pub(crate) type Sql<T> = std::result::Result<T, SqlError>;

/// An open database.
pub(crate) enum Db {
    Sqlite(rusqlite::Connection),
    Postgres(Box<Session>),
}

impl Db {
    /// Runs a statement; says how many rows it changed.
    pub(crate) fn execute(&self, sql: &str, args: &[Arg<'_>]) -> Sql<u64> {
        match self {
            Db::Sqlite(db) => {
                let changed = db.prepare_cached(sql)?.execute(rusqlite::params_from_iter(args))?;
                Ok(changed as u64)
            }
            Db::Postgres(session) => session.execute(sql, args),
        }
    }

    /// Every row of the answer, as `each` reads it.
    pub(crate) fn query<T>(
        &self,
        sql: &str,
        args: &[Arg<'_>],
        mut each: impl FnMut(&Row<'_>) -> Sql<T>,
    ) -> Sql<Vec<T>> {
        match self {
            Db::Sqlite(db) => {
                let mut select = db.prepare_cached(sql)?;
                let mut rows = select.query(rusqlite::params_from_iter(args))?;
                let mut all = Vec::new();
                while let Some(row) = rows.next()? {
                    all.push(each(&Row::Sqlite(row))?);
                }
                Ok(all)
            }
            Db::Postgres(session) => session.query(sql, args, |row| each(&Row::Postgres(row))),
        }
    }

    /// The first column of the first row, where there is a row.
    pub(crate) fn first<T: Column>(&self, sql: &str, args: &[Arg<'_>]) -> Sql<Option<T>> {
        Ok(self.query(sql, args, |row| row.get(0))?.into_iter().next())
    }

    /// The first column of the one row that the statement always has.
    pub(crate) fn one<T: Column>(&self, sql: &str, args: &[Arg<'_>]) -> Sql<T> {
        self.first(sql, args)?.ok_or_else(|| SqlError::Value("the engine answered without a row".to_owned()))
    }

    /// Begins a transaction that no other writer's overlaps.
    pub(crate) fn begin(&self) -> Sql<Tx<'_>> {
        match self {
            Db::Sqlite(db) => db.execute_batch("BEGIN IMMEDIATE")?,
            Db::Postgres(session) => session.begin()?,
        }
        Ok(Tx { db: self, is_open: true })
    }

    /// Wall clock of the engine in nanoseconds since 1970, to the millisecond.
    pub(crate) fn now_ns(&self) -> Sql<i64> {
        let sql = match self {
            Db::Sqlite(_) => "SELECT CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER) * 1000000",
            Db::Postgres(_) => {
                "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) * 1000000"
            }
        };
        self.one(sql, &[])
    }

    fn batch(&self, sql: &str) -> Sql<()> {
        match self {
            Db::Sqlite(db) => Ok(db.execute_batch(sql)?),
            Db::Postgres(session) => session.batch(sql),
        }
    }
}

/// A transaction: what is not committed is taken back when it is dropped.
pub(crate) struct Tx<'a> {
    db: &'a Db,
    is_open: bool,
}

impl Tx<'_> {
    /// The next local number of a table; safe inside an immediate transaction.
    pub(crate) fn next_number(&self, table: &str) -> Sql<i64> {
        self.one(&format!("SELECT coalesce(max(no), 0) + 1 FROM {table}"), &[])
    }

    /// Fails if the engine cannot keep it; then nothing of it is there.
    pub(crate) fn commit(mut self) -> Sql<()> {
        let done = self.db.batch("COMMIT");
        // Where a commit fails, the transaction may still be open, and ends with the drop.
        self.is_open = done.is_err();
        done
    }
}

impl std::ops::Deref for Tx<'_> {
    type Target = Db;

    fn deref(&self) -> &Db {
        self.db
    }
}

impl Drop for Tx<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // The engine ends it itself where this fails: at an error, or with the connection.
            let _ = self.db.batch("ROLLBACK");
        }
    }
}
