//! A store on a PostgreSQL server, which a team shares: sessions, its schema, and who writes which run.
//!
//! Writers take turns by a lock of the transaction, as on a file. A run's writer holds a lock of its session, which
//! ends with the session, however that ends. Takes that the server refuses wait in a journal on the writer's machine.

pub(crate) mod address;
mod passfile;
mod tls;

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::Result;
use crate::engine::{Db, Session, Sql, SqlError, args};
use crate::error::StoreError;
use crate::open::{Mode, Options};
use crate::schema::{self, Migration};

use address::Address;

/// Said of the table of versions: marks the tables as ours.
const OURS: &str = "boxscore store";
/// 1 where there is a table of versions.
const VERSIONS: &str = "SELECT count(*) FROM pg_class WHERE oid = to_regclass('schema_version')";
/// How long a lost server is waited for while a run measures.
pub(crate) const RECONNECT: Duration = Duration::from_secs(3);

/// A session, and all that is needed to begin another one.
pub(crate) struct Opened {
    pub db: Db,
    /// Journals of this machine's runs begin with this path.
    pub side: PathBuf,
    pub address: Address,
}

pub(crate) fn open(path: &Path, options: &Options, migrations: &[Migration]) -> Result<Opened> {
    let address = Address::parse(path)?;
    let mut session = connect(&address, options, options.busy)?;
    check_schema(&address.shown, &session, options, migrations)?;
    let fail = |error: SqlError| StoreError::sql(&address.shown, &error);
    let table: i64 = one(&session, "SELECT 'schema_version'::regclass::oid").map_err(fail)?;
    session.writers = table << 32;
    let host: String =
        one(&session, "SELECT system_identifier::text FROM pg_control_system()").map_err(fail)?;
    let side = address.side.join(format!("postgres-{host}-{table}"));
    Ok(Opened { db: Db::Postgres(Box::new(session)), side, address })
}

/// A new session in place of a lost one.
pub(crate) fn reconnect(address: &Address, options: &Options, writers: i64) -> Result<Db> {
    let mut session = connect(address, options, RECONNECT)?;
    session.writers = writers;
    Ok(Db::Postgres(Box::new(session)))
}

fn connect(address: &Address, options: &Options, wait: Duration) -> Result<Session> {
    let session = Session::new(address.connect(wait)?);
    let fail = |error: SqlError| StoreError::sql(&address.shown, &error);
    let encoding: String = one(&session, "SELECT current_setting('server_encoding')").map_err(fail)?;
    if encoding != "UTF8" {
        let what = format!("its database keeps texts as {encoding}, and a store needs UTF8");
        return Err(StoreError::Foreign { path: address.shown.clone(), what });
    }
    // Compiling the list of many runs takes the server longer than making it.
    let settings = format!(
        "SET lock_timeout = {}; SET idle_in_transaction_session_timeout = 60000; SET tcp_keepalives_idle = 60; \
         SET tcp_keepalives_interval = 10; SET tcp_keepalives_count = 3; SET default_transaction_read_only = {}; \
         SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'; \
         SELECT set_config('jit', 'off', false) WHERE current_setting('jit', true) IS NOT NULL",
        options.busy.as_millis().max(1),
        if options.mode == Mode::ReadOnly { "on" } else { "off" }
    );
    session.batch(&settings).map_err(fail)?;
    Ok(session)
}

/// The first column of the one row that the statement always has.
fn one<T: crate::engine::Column>(session: &Session, sql: &str) -> Sql<T> {
    let rows = session.query(sql, args![], |row| crate::engine::Row::Postgres(row).get(0))?;
    rows.into_iter().next().ok_or_else(|| SqlError::Stored("the server answered without a row".to_owned()))
}

/// The schema that the database has, 0 without tables. Fails where they are another program's.
fn found(path: &Path, session: &Session) -> Result<i64> {
    let fail = |error: SqlError| StoreError::sql(path, &error);
    let foreign = || {
        let what = "its tables are another program's".to_owned();
        StoreError::Foreign { path: path.to_path_buf(), what }
    };
    let sql = "SELECT count(*) FROM (VALUES ('run'), ('study'), ('reading')) AS ours (name)
        WHERE to_regclass(name) IS NOT NULL";
    // In this order: while another session makes the tables, all of them appear at once.
    let tables: i64 = one(session, sql).map_err(fail)?;
    let versions: i64 = one(session, VERSIONS).map_err(fail)?;
    if versions == 0 {
        return if tables == 0 { Ok(0) } else { Err(foreign()) };
    }
    let said = "SELECT coalesce(obj_description(to_regclass('schema_version'), 'pg_class'), '')";
    if one::<String>(session, said).map_err(fail)? != OURS {
        return Err(foreign());
    }
    one(session, "SELECT coalesce(max(version), 0) FROM schema_version").map_err(fail)
}

fn check_schema(path: &Path, session: &Session, options: &Options, migrations: &[Migration]) -> Result<()> {
    let known = schema::newest(migrations);
    let before = found(path, session)?;
    if before > known {
        return Err(StoreError::Newer { path: path.to_path_buf(), found: before, known });
    }
    match (before, options.mode) {
        (0, Mode::ReadOnly | Mode::ReadWrite) => {
            return Err(StoreError::Missing { path: path.to_path_buf() });
        }
        (_, Mode::ReadOnly) if before < known => {
            return Err(StoreError::Older { path: path.to_path_buf(), found: before, known });
        }
        _ => {}
    }
    if before < known {
        migrate(session, migrations).map_err(|error| match StoreError::sql(path, &error) {
            StoreError::Sql { path, what } | StoreError::Corrupt { path, what } => {
                StoreError::Migration { path, from: before, what, backup: None }
            }
            other => other,
        })?;
    }
    Ok(())
}

/// Every migration above the database's version, in one transaction that no other session's overlaps.
fn migrate(session: &Session, migrations: &[Migration]) -> Sql<()> {
    let lock = i64::from(schema::APPLICATION_ID);
    session.batch(&format!("BEGIN; SELECT pg_advisory_xact_lock({lock})"))?;
    let done = migrate_inside(session, migrations);
    let ended = session.batch(if done.is_ok() { "COMMIT" } else { "ROLLBACK" });
    done.and(ended)
}

fn migrate_inside(session: &Session, migrations: &[Migration]) -> Sql<()> {
    // Again, now that nobody else can migrate.
    let from = match one::<i64>(session, VERSIONS)? {
        0 => 0,
        _ => one(session, "SELECT coalesce(max(version), 0) FROM schema_version")?,
    };
    for step in migrations.iter().filter(|step| step.version > from) {
        session.batch(&schema::for_server(step.sql))?;
        let sql = "INSERT INTO schema_version (version, at_ns)
            VALUES ($1, CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) * 1000000)";
        session.execute(sql, args![step.version])?;
    }
    session.batch(&format!("COMMENT ON TABLE schema_version IS '{OURS}'"))
}
