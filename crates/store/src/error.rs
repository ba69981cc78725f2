//! Errors of a store: a kind for programs, a sentence that names the path, and advice.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use crate::engine::SqlError;
use crate::server::address::{is_server, reason};

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("there is no store at {path}", path = path.display())]
    Missing { path: PathBuf },
    #[error("{path} is a directory, and the store is a file", path = path.display())]
    Directory { path: PathBuf },
    #[error("{path} is not a boxscore store: {what}", path = path.display())]
    Foreign { path: PathBuf, what: String },
    #[error("the store {path} is damaged: {what}", path = path.display())]
    Corrupt { path: PathBuf, what: String },
    #[error("the store {path} has schema {found}, and this build knows schemas up to {known}", path = path.display())]
    Newer { path: PathBuf, found: i64, known: i64 },
    #[error("the store {path} has schema {found} and must be migrated to {known} first", path = path.display())]
    Older { path: PathBuf, found: i64, known: i64 },
    #[error("the store {path} cannot be written: {what}", path = path.display())]
    ReadOnly { path: PathBuf, what: String },
    #[error("no permission to open {path}: {what}", path = path.display())]
    Permission { path: PathBuf, what: String },
    #[error("the store {path} is locked by another process", path = path.display())]
    Locked { path: PathBuf },
    #[error("no space left for the store {path}", path = path.display())]
    Full { path: PathBuf },
    #[error("SQLite {found} can lose committed writes; {least} or newer is needed")]
    OldSqlite { found: String, least: &'static str },
    #[error("the store {path} could not be migrated from schema {from}: {what}", path = path.display())]
    Migration { path: PathBuf, from: i64, what: String, backup: Option<PathBuf> },
    #[error("no run is called `{what}`")]
    NoRun { what: String },
    #[error("`{what}` may be any of {count} runs: {list}", count = runs.len(), list = runs.join(", "))]
    Ambiguous { what: String, runs: Vec<String> },
    #[error("run {run} is being written by another process")]
    Busy { run: String },
    #[error("run {run} was not opened for writing by this process")]
    Unclaimed { run: String },
    #[error("run {run} is in the store {path} with other content: {what}", path = path.display())]
    Differs { path: PathBuf, run: String, what: String },
    #[error("{path}: {what}", path = path.display())]
    Address { path: PathBuf, what: String },
    #[error("the store {path} is out of reach: {what}", path = path.display())]
    Server { path: PathBuf, what: String, hint: String },
    #[error("the connection to the store {path} was lost: {what}", path = path.display())]
    Lost { path: PathBuf, what: String },
    #[error("{path}: {what}", path = path.display())]
    Io { path: PathBuf, what: String },
    #[error("the store {path} is damaged, or a newer boxscore wrote it: {what}", path = path.display())]
    Data { path: PathBuf, what: String },
    #[error("the database engine refused for {path}: {what}", path = path.display())]
    Sql { path: PathBuf, what: String },
}

impl StoreError {
    /// One word for programs; stands in error documents.
    pub const fn kind(&self) -> &'static str {
        match self {
            StoreError::Missing { .. } => "store-missing",
            StoreError::Directory { .. } => "store-directory",
            StoreError::Foreign { .. } => "store-foreign",
            StoreError::Corrupt { .. } => "store-corrupt",
            StoreError::Newer { .. } => "store-newer",
            StoreError::Older { .. } => "store-older",
            StoreError::ReadOnly { .. } => "store-read-only",
            StoreError::Permission { .. } => "store-permission",
            StoreError::Locked { .. } => "store-locked",
            StoreError::Full { .. } => "store-full",
            StoreError::OldSqlite { .. } => "store-sqlite",
            StoreError::Migration { .. } => "store-migration",
            StoreError::NoRun { .. } => "no-run",
            StoreError::Ambiguous { .. } => "ambiguous-run",
            StoreError::Busy { .. } => "run-busy",
            StoreError::Unclaimed { .. } => "run-unclaimed",
            StoreError::Differs { .. } => "run-differs",
            StoreError::Address { .. } => "store-address",
            StoreError::Server { .. } => "store-server",
            StoreError::Lost { .. } => "store-lost",
            StoreError::Io { .. } => "store-io",
            StoreError::Data { .. } => "store-data",
            StoreError::Sql { .. } => "store-sql",
        }
    }

    /// Advice for the user.
    pub fn hint(&self) -> Option<String> {
        if let Some(text) = self.server_hint() {
            return Some(text);
        }
        let text = match self {
            StoreError::Missing { .. } => {
                "run `boxscore run` first, or name another file with --store".into()
            }
            StoreError::Directory { path } => {
                format!("did you mean --store {}?", path.join(FILE_NAME).display())
            }
            StoreError::Foreign { .. } => {
                "name another file with --store; this one was not changed; if it was a store, restore a backup".into()
            }
            StoreError::Corrupt { path, .. } | StoreError::Data { path, .. } => salvage(path),
            StoreError::Newer { .. } => "use a newer boxscore, or another file with --store".into(),
            StoreError::Older { .. } => {
                "open it once for writing: `boxscore run` migrates it after a backup".into()
            }
            StoreError::ReadOnly { .. } => {
                "make its directory writable, or name another file with --store".into()
            }
            StoreError::Permission { path, .. } => {
                format!("see `ls -l {}`, or name a file of your own with --store", path.display())
            }
            StoreError::Locked { .. } => "wait until the other process is done, or end it".into(),
            StoreError::Full { path } => format!(
                "free some space (`df -h {}`), or name a file on another disk with --store",
                parent(path).display()
            ),
            StoreError::OldSqlite { .. } => "build boxscore with its bundled SQLite".into(),
            StoreError::Migration { backup, .. } => match backup {
                Some(backup) => format!("nothing was changed; a copy is at {}", backup.display()),
                None => "nothing was changed".into(),
            },
            StoreError::NoRun { .. } => "`boxscore history` lists the runs".into(),
            StoreError::Ambiguous { .. } => "give more of the id".into(),
            StoreError::Busy { .. } => "wait for it, or start a run of your own".into(),
            StoreError::Differs { .. } => "leave the run out, or name another file with --store".into(),
            StoreError::Address { .. } => {
                "postgres://USER@HOST:PORT/DATABASE?sslmode=MODE; the password: PGPASSWORD or ~/.pgpass".into()
            }
            StoreError::Server { hint, .. } => hint.clone(),
            StoreError::Lost { .. } => "what was acknowledged is in the store; repeat this once it answers".into(),
            StoreError::Unclaimed { .. } | StoreError::Io { .. } | StoreError::Sql { .. } => return None,
        };
        Some(text)
    }

    /// Advice where a store on a server wants other advice than a file.
    fn server_hint(&self) -> Option<String> {
        let text = match self {
            StoreError::Missing { path } if is_server(path) => {
                "`boxscore run` makes it in this database, or name another store with --store"
            }
            StoreError::Foreign { path, .. } if is_server(path) => {
                "name a database of its own with --store; this one was not changed"
            }
            StoreError::Newer { path, .. } if is_server(path) => {
                "use a newer boxscore, or another store with --store"
            }
            StoreError::Older { path, .. } if is_server(path) => {
                "open it once for writing, after a `pg_dump`: `boxscore run` migrates it"
            }
            StoreError::Corrupt { path, .. } | StoreError::Data { path, .. } if is_server(path) => {
                "restore a dump of the database, or save what can be read: `boxscore export --all -o saved.json`"
            }
            StoreError::ReadOnly { path, .. } if is_server(path) => {
                "name the server that can be written, not a standby of it"
            }
            StoreError::Permission { path, .. } if is_server(path) => {
                "ask the database's owner for the rights on its schema and tables"
            }
            StoreError::Full { path } if is_server(path) => "free some space on the server",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// The sentence for an error of the operating system.
    pub(crate) fn io(path: &Path, error: &io::Error) -> StoreError {
        let path = path.to_path_buf();
        match error.kind() {
            io::ErrorKind::NotFound => StoreError::Missing { path },
            io::ErrorKind::PermissionDenied => StoreError::Permission { path, what: error.to_string() },
            io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly { path, what: error.to_string() },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full { path },
            io::ErrorKind::IsADirectory => StoreError::Directory { path },
            _ => StoreError::Io { path, what: error.to_string() },
        }
    }

    /// The sentence for an error of an engine.
    pub(crate) fn sql(path: &Path, error: &SqlError) -> StoreError {
        match error {
            SqlError::Sqlite(error) => StoreError::sqlite(path, error),
            SqlError::Postgres(error) => StoreError::postgres(path, error),
            SqlError::Stored(what) => StoreError::Corrupt { path: path.to_path_buf(), what: what.clone() },
            SqlError::Value(what) => StoreError::Sql { path: path.to_path_buf(), what: what.clone() },
        }
    }

    /// The sentence for an error of PostgreSQL.
    fn postgres(path: &Path, error: &postgres::Error) -> StoreError {
        let (path, what) = (path.to_path_buf(), reason(error));
        let Some(state) = error.code() else {
            // No refusal of the server's: the connection, or a value that is not of its type.
            let is_cut = error.is_closed() || io_below(error);
            return if is_cut { StoreError::Lost { path, what } } else { StoreError::Corrupt { path, what } };
        };
        match state.code() {
            "55P03" | "40P01" | "40001" | "57014" => StoreError::Locked { path },
            "53100" => StoreError::Full { path },
            "25006" => StoreError::ReadOnly { path, what },
            "42501" => StoreError::Permission { path, what },
            "42P01" | "42703" => {
                let what = format!("a table or a column is missing (PostgreSQL: {what})");
                StoreError::Corrupt { path, what }
            }
            "25P03" => StoreError::Lost { path, what },
            code if code.starts_with("57P") || code.starts_with("08") => StoreError::Lost { path, what },
            _ => StoreError::Sql { path, what },
        }
    }

    /// The sentence for an error of SQLite.
    pub(crate) fn sqlite(path: &Path, error: &rusqlite::Error) -> StoreError {
        let what = error.to_string();
        let path = path.to_path_buf();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Locked { path },
            Some(ErrorCode::DiskFull) => StoreError::Full { path },
            Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path, what },
            Some(
                ErrorCode::CannotOpen
                | ErrorCode::PermissionDenied
                | ErrorCode::AuthorizationForStatementDenied,
            ) => StoreError::Permission { path, what },
            Some(ErrorCode::NotADatabase) => {
                StoreError::Foreign { path, what: "not an SQLite database".into() }
            }
            Some(ErrorCode::SystemIoFailure) => StoreError::Io { path, what },
            _ => match damage(error) {
                Some(what) => StoreError::Corrupt { path, what },
                None => StoreError::Sql { path, what },
            },
        }
    }
}

/// True where an error came from the connection itself.
fn io_below(error: &postgres::Error) -> bool {
    let mut inner: Option<&dyn std::error::Error> = Some(error);
    while let Some(this) = inner {
        if this.is::<io::Error>() {
            return true;
        }
        inner = this.source();
    }
    false
}

/// Description of an error that a damaged file explains. `None` for other errors: exhausted memory, a value that is too
/// large, a wrong statement of ours.
fn damage(error: &rusqlite::Error) -> Option<String> {
    use rusqlite::Error as E;
    let what = match error {
        E::FromSqlConversionFailure(column, ..) => format!("a value in column {column} is not of its type"),
        E::IntegralValueOutOfRange(column, number) => {
            format!("the number {number} in column {column} is out of range")
        }
        E::Utf8Error(..) => "a text in it is not UTF-8".to_owned(),
        E::InvalidColumnType(_, name, found) => {
            format!("the column `{name}` holds a value of type {found}, which it cannot have")
        }
        E::SqlInputError { msg, .. } if lacks(msg) => "a table or a column is missing".to_owned(),
        E::SqliteFailure(failure, text) => match failure.code {
            ErrorCode::DatabaseCorrupt => "its pages or its tables do not fit together".to_owned(),
            ErrorCode::Unknown if text.as_deref().is_some_and(lacks) => {
                "a table or a column is missing".to_owned()
            }
            // The header's format of tables (bytes 44 to 47), which has no code of its own.
            ErrorCode::Unknown
                if text.as_deref().is_some_and(|text| text.contains("unsupported file format")) =>
            {
                "its header names a format that SQLite does not have".to_owned()
            }
            _ => return None,
        },
        _ => return None,
    };
    Some(format!("{what} (SQLite: {error})"))
}

/// True if the engine's text says that the schema lacks a table or column of every store.
fn lacks(text: &str) -> bool {
    ["no such table", "no such column", "has no column named"].iter().any(|said| text.contains(said))
}

fn salvage(path: &Path) -> String {
    format!(
        "restore a backup, or save what can be read: keep a copy, then `boxscore export --all --store {0} -o saved.json` \
         or `sqlite3 {0} .recover`; measure into another file with --store",
        path.display()
    )
}

/// The file that stands in a store's directory when only the directory is known.
pub const FILE_NAME: &str = "boxscore.db";

pub(crate) fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::{Connection, ffi};

    use super::*;

    fn said(error: &rusqlite::Error) -> (&'static str, String) {
        let error = StoreError::sqlite(Path::new("a.db"), error);
        (error.kind(), error.to_string())
    }

    #[test]
    fn only_what_a_damaged_file_explains_is_called_damage() {
        let failure =
            |code, text: &str| rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(text.to_owned()));
        for (error, text) in [
            (failure(ffi::SQLITE_CORRUPT, "database disk image is malformed"), "image is malformed"),
            (failure(ffi::SQLITE_ERROR, "no such table: run"), "no such table: run"),
            (failure(ffi::SQLITE_ERROR, "table run has no column named id"), "no column named id"),
        ] {
            let (kind, said) = said(&error);
            assert!(kind == "store-corrupt" && said.contains(text), "{said}");
        }
        for (error, text) in [
            (failure(ffi::SQLITE_NOMEM, "out of memory"), "out of memory"),
            (failure(ffi::SQLITE_TOOBIG, "string or blob too big"), "too big"),
            (failure(ffi::SQLITE_MISMATCH, "datatype mismatch"), "datatype mismatch"),
            (failure(ffi::SQLITE_ERROR, "no such savepoint: s"), "no such savepoint: s"),
            (rusqlite::Error::QueryReturnedNoRows, "no rows"),
        ] {
            let (kind, said) = said(&error);
            assert!(kind == "store-sql" && said.contains(text), "{said}");
        }
    }

    #[test]
    fn a_wrong_statement_is_no_damage_and_a_missing_column_is() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE t (x)").unwrap();
        let of = |sql: &str| said(&db.execute_batch(sql).unwrap_err());
        assert_eq!(of("COMMIT").0, "store-sql");
        assert_eq!(of("BEGIN; BEGIN").0, "store-sql");
        assert_eq!(said(&db.prepare("SELEC 1").unwrap_err()).0, "store-sql");
        for sql in ["SELECT y FROM t", "SELECT x FROM u", "INSERT INTO t (y) VALUES (1)"] {
            assert_eq!(said(&db.prepare(sql).unwrap_err()).0, "store-corrupt", "{sql}");
        }
    }
}
