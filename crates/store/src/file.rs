//! A store in a file of SQLite: making the file, opening it, its schema, and its settings.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::Result;
use crate::engine::Db;
use crate::error::{StoreError, parent};
use crate::journal;
use crate::open::{Mode, Options};
use crate::schema::{self, Migration};

/// The pause before a change to write-ahead logging is tried again.
pub(crate) const RETRY: Duration = Duration::from_millis(5);
/// Below it, a checkpoint that races a write can lose committed takes.
const LEAST_SQLITE: (i32, &str) = (3_051_003, "3.51.3");

/// The opened file, brought to the newest schema, and who owns files made beside it.
pub(crate) fn open(
    path: &Path,
    options: &Options,
    migrations: &[Migration],
) -> Result<(Db, Option<(u32, u32)>)> {
    refuse_old_sqlite(rusqlite::version_number(), rusqlite::version())?;
    let owner = prepare_file(path, options)?;
    let mut db = connect(path, options)?;
    check_schema(path, &mut db, options, migrations, owner)?;
    Ok((Db::Sqlite(db), owner))
}

pub(crate) fn refuse_old_sqlite(number: i32, found: &str) -> Result<()> {
    if number < LEAST_SQLITE.0 {
        return Err(StoreError::OldSqlite { found: found.to_owned(), least: LEAST_SQLITE.1 });
    }
    Ok(())
}

/// Makes the file where that is wanted; says who owns files made beside it.
fn prepare_file(path: &Path, options: &Options) -> Result<Option<(u32, u32)>> {
    match fs::metadata(path) {
        Ok(data) if data.is_dir() => return Err(StoreError::Directory { path: absolute(path) }),
        Ok(data) if !data.is_file() => {
            return Err(StoreError::Foreign {
                path: path.to_path_buf(),
                what: "not a regular file".to_owned(),
            });
        }
        // Files beside it belong to whom it belongs.
        Ok(data) => return Ok(Some((data.uid(), data.gid()))),
        Err(error) if error.kind() == io::ErrorKind::NotFound && options.mode == Mode::Create => {}
        Err(error) if options.mode == Mode::Create => return Err(unmade(path, path, &error)),
        Err(error) => return Err(StoreError::io(path, &error)),
    }
    if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
        return Err(StoreError::Directory { path: absolute(path) });
    }
    make_dirs(path, options.owner)?;
    let made = OpenOptions::new().write(true).create_new(true).mode(0o644).open(path);
    match made {
        Ok(file) => {
            if let Some((uid, gid)) = options.owner {
                std::os::unix::fs::fchown(&file, Some(uid), Some(gid))
                    .map_err(|error| StoreError::io(path, &error))?;
            }
            Ok(options.owner)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(options.owner),
        Err(error) => Err(unmade(path, path, &error)),
    }
}

/// Why a store could not be made: where nothing can be made, that it does not exist yet is not what is wrong.
fn unmade(store: &Path, part: &Path, error: &io::Error) -> StoreError {
    let dir = parent(part);
    let what = match error.kind() {
        io::ErrorKind::NotFound => format!("nothing can be made in {}: {error}", dir.display()),
        io::ErrorKind::NotADirectory => {
            let file = part.ancestors().find(|part| part.is_file()).unwrap_or(dir);
            format!("{} is a file, so nothing can be made in it", file.display())
        }
        _ => return StoreError::io(part, error),
    };
    StoreError::ReadOnly { path: store.to_path_buf(), what }
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf())
}

/// Makes the directories that a store stands in.
fn make_dirs(store: &Path, owner: Option<(u32, u32)>) -> Result<()> {
    let missing: Vec<&Path> = parent(store)
        .ancestors()
        .filter(|part| !part.as_os_str().is_empty())
        .take_while(|part| !part.exists())
        .collect();
    for part in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o755).create(part) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(error) => return Err(unmade(store, part, &error)),
        }
        if let Some((uid, gid)) = owner {
            std::os::unix::fs::chown(part, Some(uid), Some(gid))
                .map_err(|error| StoreError::io(part, &error))?;
        }
    }
    Ok(())
}

fn connect(path: &Path, options: &Options) -> Result<Connection> {
    let fail = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    let flags = OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_EXRESCODE;
    let db = match options.mode {
        Mode::ReadOnly => connect_reading(path, flags)?,
        Mode::ReadWrite | Mode::Create => {
            // SQLite would quietly fall back to reading; the reason must show.
            OpenOptions::new().write(true).open(path).map_err(|error| StoreError::io(path, &error))?;
            Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fail)?
        }
    };
    db.busy_timeout(options.busy).map_err(fail)?;
    db.pragma_update(None, "foreign_keys", true).map_err(fail)?;
    db.pragma_update(None, "cache_size", -8000).map_err(fail)?; // 8 MB, whatever the store's size
    // Else a statement is prepared again for each value that it is asked with.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
    db.set_prepared_statement_cache_capacity(64);
    Ok(db)
}

/// A store in WAL mode can be read where nothing can be written only when no writer is at work.
fn connect_reading(path: &Path, flags: OpenFlags) -> Result<Connection> {
    let fail = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    fs::File::open(path).map_err(|error| StoreError::io(path, &error))?;
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_READ_ONLY).map_err(fail)?;
    let looked = schema::version(&db);
    let Err(error) = looked else { return Ok(db) };
    let blocked = matches!(
        StoreError::sqlite(path, &error),
        StoreError::Permission { .. } | StoreError::ReadOnly { .. }
    );
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    let unwritten = fs::metadata(&wal).is_ok_and(|data| data.len() > 0);
    if !blocked || unwritten {
        return Err(fail(error));
    }
    let uri = format!("file:{}?immutable=1", escape(path));
    Connection::open_with_flags(uri, flags | OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
        .map_err(fail)
}

/// A path inside a `file:` address.
fn escape(path: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte);
    absolute(path)
        .as_os_str()
        .as_encoded_bytes()
        .iter()
        .map(|&byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Signs of whose database this is, all of one instant: another process may be making its tables meanwhile.
struct Found {
    tables: i64,
    id: i32,
    version: i64,
    /// The newest version in its table of versions.
    counted: rusqlite::Result<Option<i64>>,
}

fn look(db: &mut Connection) -> rusqlite::Result<Found> {
    let snapshot = db.transaction()?;
    Ok(Found {
        tables: snapshot.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?,
        id: snapshot.pragma_query_value(None, "application_id", |row| row.get(0))?,
        version: schema::version(&snapshot)?,
        counted: snapshot.query_row("SELECT max(version) FROM schema_version", [], |row| row.get(0)),
    })
}

/// Changes to write-ahead logging. While another process opens the same new store, SQLite refuses this at once
/// instead of waiting for its lock, so it is asked again for as long as a statement would wait.
fn use_wal(db: &Connection, wait: Duration) -> rusqlite::Result<()> {
    let tries = wait.as_millis() / RETRY.as_millis();
    for _ in 0..tries {
        match db.pragma_update(None, "journal_mode", "wal") {
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                std::thread::sleep(RETRY);
            }
            done => return done,
        }
    }
    db.pragma_update(None, "journal_mode", "wal")
}

fn check_schema(
    path: &Path,
    db: &mut Connection,
    options: &Options,
    migrations: &[Migration],
    owner: Option<(u32, u32)>,
) -> Result<()> {
    let fail = |error: rusqlite::Error| StoreError::sqlite(path, &error);
    let known = schema::newest(migrations);
    let Found { tables, id, version: found, counted } = look(db).map_err(fail)?;
    let blank = tables == 0 && id == 0 && found == 0;
    if !blank && id != schema::APPLICATION_ID {
        let what = format!("an SQLite database of another program (application id {id:#x})");
        return Err(StoreError::Foreign { path: path.to_path_buf(), what });
    }
    if found > known {
        return Err(StoreError::Newer { path: path.to_path_buf(), found, known });
    }
    if !blank {
        // The number stands twice in the file; an older one that differs is damage, and must not be migrated.
        if counted.map_err(fail)? != Some(found) {
            let what = format!("its header says schema {found}, and its tables another one");
            return Err(StoreError::Corrupt { path: path.to_path_buf(), what });
        }
    }
    if options.mode == Mode::ReadOnly {
        return match found {
            _ if blank => {
                Err(StoreError::Foreign { path: path.to_path_buf(), what: "an empty file".to_owned() })
            }
            _ if found < known => Err(StoreError::Older { path: path.to_path_buf(), found, known }),
            _ => Ok(()),
        };
    }
    use_wal(db, options.busy).map_err(fail)?;
    db.pragma_update(None, "synchronous", "full").map_err(fail)?;
    if found < known {
        let backup = if blank { None } else { Some(back_up(path, db, found, owner)?) };
        schema::migrate(db, migrations).map_err(|error| match StoreError::sqlite(path, &error) {
            StoreError::Sql { path, .. } | StoreError::Corrupt { path, .. } => {
                StoreError::Migration { path, from: found, what: error.to_string(), backup }
            }
            other => other,
        })?;
    }
    Ok(())
}

/// A copy beside the store, `<store>.schema-<version>`, never over an earlier one.
fn back_up(path: &Path, db: &Connection, version: i64, owner: Option<(u32, u32)>) -> Result<PathBuf> {
    let name = |n: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".schema-{version}"));
        if n > 0 {
            name.push(format!("-{n}"));
        }
        PathBuf::from(name)
    };
    let to = (0..).map(name).find(|name| !name.exists()).unwrap_or_else(|| name(0));
    db.backup("main", &to, None::<fn(rusqlite::backup::Progress)>)
        .map_err(|error| StoreError::sqlite(&to, &error))?;
    let file = fs::File::open(&to).map_err(|error| StoreError::io(&to, &error))?;
    journal::give_to(&file, owner).map_err(|error| StoreError::io(&to, &error))?;
    file.sync_all().map_err(|error| StoreError::io(&to, &error))?;
    Ok(to)
}
