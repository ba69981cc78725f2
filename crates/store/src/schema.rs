//! The schema and its migrations: the one-way decisions, in one place.
//!
//! Portable types only (TEXT, BIGINT, DOUBLE PRECISION, `{BLOB}`). Other words in braces differ between the engines.
//! Public ids are text made by the caller, so that stores merge; `no` is a number local to this store.
//! Times are nanoseconds since the run's start, except where a column says otherwise. No summary is stored.
//!
//! A double that SQL cannot keep (NaN, infinities, negative zero) is its bits in `bits`, and `value` is null.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// `BOXS`: marks the file as ours.
pub(crate) const APPLICATION_ID: i32 = 0x424f_5853;

/// One step: brings a store from the version before to `version`.
pub(crate) struct Migration {
    pub version: i64,
    pub sql: &'static str,
}

pub(crate) const MIGRATIONS: &[Migration] = &[
    Migration { version: 1, sql: V1 },
    Migration { version: 2, sql: V2 },
    Migration { version: 3, sql: V3 },
    Migration { version: 4, sql: V4 },
    Migration { version: 5, sql: V5 },
    Migration { version: 6, sql: V6 },
];

const V1: &str = "
CREATE TABLE schema_version (version BIGINT NOT NULL PRIMARY KEY, at_ns BIGINT NOT NULL);
CREATE TABLE write_check (no BIGINT NOT NULL PRIMARY KEY, at_ns BIGINT NOT NULL);
CREATE TABLE study (id TEXT NOT NULL PRIMARY KEY, plan TEXT NOT NULL, seed TEXT NOT NULL);
CREATE TABLE run (
    no BIGINT NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, study TEXT NOT NULL REFERENCES study (id),
    status TEXT NOT NULL, config_class TEXT NOT NULL, label TEXT,
    price DOUBLE PRECISION, price_per TEXT, currency TEXT, watts DOUBLE PRECISION,
    started_ns BIGINT NOT NULL, seconds DOUBLE PRECISION,
    agent_cpu_seconds DOUBLE PRECISION, telemetry_cpu_seconds DOUBLE PRECISION, cost_seconds DOUBLE PRECISION);
CREATE TABLE participant (
    run BIGINT NOT NULL REFERENCES run (no), no BIGINT NOT NULL, role TEXT NOT NULL,
    machine_id TEXT NOT NULL, machine TEXT NOT NULL, hostname TEXT NOT NULL, boot_id TEXT, build TEXT NOT NULL,
    target TEXT NOT NULL, clock_source TEXT, PRIMARY KEY (run, no));
CREATE INDEX participant_machine ON participant (machine_id, run);
CREATE TABLE fact_value (
    no BIGINT NOT NULL PRIMARY KEY, key TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, unit TEXT NOT NULL,
    source TEXT NOT NULL, why TEXT, hash BIGINT NOT NULL);
CREATE INDEX fact_value_hash ON fact_value (hash);
CREATE TABLE fact (
    run BIGINT NOT NULL, participant BIGINT NOT NULL, ord BIGINT NOT NULL, fact_value BIGINT NOT NULL
    REFERENCES fact_value (no), PRIMARY KEY (run, participant, ord),
    FOREIGN KEY (run, participant) REFERENCES participant (run, no)) {CLUSTERED};
CREATE TABLE series (
    no BIGINT NOT NULL PRIMARY KEY, run BIGINT NOT NULL, participant BIGINT NOT NULL, arm TEXT NOT NULL,
    instrument TEXT NOT NULL, metric TEXT NOT NULL, unit TEXT NOT NULL, params TEXT NOT NULL,
    definition BIGINT NOT NULL, better TEXT NOT NULL,
    {SERIES_KEY}
    FOREIGN KEY (run, participant) REFERENCES participant (run, no));
{SERIES_INDEX}
CREATE TABLE take (
    run BIGINT NOT NULL REFERENCES run (no), seq BIGINT NOT NULL, block BIGINT NOT NULL,
    sitting BIGINT NOT NULL, warm_up BIGINT NOT NULL, cell BIGINT NOT NULL, arm BIGINT NOT NULL,
    start_ns BIGINT NOT NULL, end_ns BIGINT NOT NULL, repeats BIGINT NOT NULL,
    fault TEXT, fault_kind TEXT, refusals TEXT, PRIMARY KEY (run, seq));
CREATE INDEX take_fault ON take (run) WHERE fault IS NOT NULL;
CREATE TABLE reading (
    series BIGINT NOT NULL REFERENCES series (no), seq BIGINT NOT NULL, ord BIGINT NOT NULL, block BIGINT NOT NULL,
    sitting BIGINT NOT NULL, warm_up BIGINT NOT NULL, at_ns BIGINT NOT NULL, window_ns BIGINT NOT NULL,
    value DOUBLE PRECISION, bits BIGINT, histogram {BLOB}, PRIMARY KEY (series, seq, ord)) {CLUSTERED};
CREATE TABLE note (
    run BIGINT NOT NULL REFERENCES run (no), ord BIGINT NOT NULL, kind TEXT NOT NULL, body TEXT NOT NULL,
    at_ns BIGINT, PRIMARY KEY (run, ord));
CREATE TABLE traffic (run BIGINT NOT NULL PRIMARY KEY REFERENCES run (no), document TEXT NOT NULL);
CREATE TABLE telemetry (
    run BIGINT NOT NULL REFERENCES run (no), ord BIGINT NOT NULL, source TEXT NOT NULL, segment {BLOB} NOT NULL,
    PRIMARY KEY (run, ord));
CREATE TABLE clock_offset (
    run BIGINT NOT NULL, participant BIGINT NOT NULL, at_ns BIGINT NOT NULL, offset_ns BIGINT NOT NULL,
    error_ns BIGINT NOT NULL, PRIMARY KEY (run, participant, at_ns),
    FOREIGN KEY (run, participant) REFERENCES participant (run, no));
CREATE TABLE machine (id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, source TEXT NOT NULL, at_ns BIGINT NOT NULL);
CREATE TABLE machine_fact (
    machine_id TEXT NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL, value TEXT NOT NULL, unit TEXT NOT NULL,
    source TEXT NOT NULL, why TEXT, at_ns BIGINT NOT NULL, PRIMARY KEY (machine_id, key));
";

/// Runs that the user hides.
const V2: &str = "ALTER TABLE run ADD COLUMN hidden BIGINT NOT NULL DEFAULT 0";

/// Telemetry of hosts of targets: whose it is. Null: of the machine that measures.
const V3: &str = "ALTER TABLE telemetry ADD COLUMN target TEXT";

/// Counts of takes, so that a list of many runs need not read all takes. They are null from the moment that a take is
/// added until the run ends; then the takes are counted anew.
const V4: &str = "
ALTER TABLE run ADD COLUMN takes BIGINT;
ALTER TABLE run ADD COLUMN faults BIGINT;
ALTER TABLE run ADD COLUMN measured BIGINT;
UPDATE run SET
    takes = (SELECT count(*) FROM take WHERE take.run = run.no),
    faults = (SELECT count(*) FROM take WHERE take.run = run.no AND fault IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM take AS later WHERE later.run = take.run AND later.cell = take.cell
            AND later.arm = take.arm AND later.block = take.block AND later.warm_up = take.warm_up
            AND later.sitting > take.sitting)),
    measured = (SELECT count(*) FROM take WHERE take.run = run.no AND fault IS NULL AND warm_up = 0)
    WHERE status IN ('complete', 'faulty');
CREATE INDEX run_study ON run (study);
CREATE INDEX run_running ON run (no) WHERE status = 'running';
";

/// The one machine of a study that was measured through a command has its name in its identity, as each of several has.
/// What was noted of it is noted of that. In the text of a plan only a name of a machine can follow these words: quotes
/// within texts are escaped there.
const V5: &str = "
CREATE TEMPORARY TABLE via_alone AS
    SELECT p.run, p.no, p.machine_id AS bare, p.machine_id || '/' || p.machine AS named
    FROM participant p JOIN run r ON r.no = p.run JOIN study s ON s.id = r.study
    WHERE p.machine <> '' AND replace(
            s.plan, '\"machines\":[{\"name\":\"' || p.machine || '\",\"command\":\"', '') <> s.plan
        AND replace(p.machine_id || '\n', '/' || p.machine || '\n', '') = p.machine_id || '\n';
INSERT INTO machine_fact (machine_id, key, kind, value, unit, source, why, at_ns)
    SELECT DISTINCT n.named, f.key, f.kind, f.value, f.unit, f.source, f.why, f.at_ns
    FROM via_alone n JOIN machine_fact f ON f.machine_id = n.bare WHERE true
    ON CONFLICT (machine_id, key) DO NOTHING;
UPDATE participant SET machine_id = machine_id || '/' || machine
    WHERE EXISTS (SELECT 1 FROM via_alone n WHERE n.run = participant.run AND n.no = participant.no);
DROP TABLE via_alone;
";

/// Which figures a run has (see `figures`), so that a choice among many runs need not read their series. Null of runs
/// that were stored before, and from the moment that a take is added until the run ends.
const V6: &str = "
CREATE TABLE figure_set (no BIGINT NOT NULL PRIMARY KEY, hash BIGINT NOT NULL, figures TEXT NOT NULL);
CREATE INDEX figure_set_hash ON figure_set (hash);
ALTER TABLE run ADD COLUMN figure_set BIGINT REFERENCES figure_set (no);
CREATE INDEX run_figure_set ON run (figure_set);
";

/// A step as a server runs it. Texts are ordered by their bytes, as in a file.
pub(crate) fn for_server(sql: &str) -> String {
    sql.replace("{BLOB}", "BYTEA")
        .replace("{CLUSTERED}", "")
        .replace("{SERIES_KEY}", "")
        .replace("{SERIES_INDEX}", SERIES_INDEX)
        .replace(" TEXT", " TEXT COLLATE \"C\"")
}

/// A name in it may be longer than an entry of an index there.
const SERIES_INDEX: &str = "CREATE UNIQUE INDEX series_key ON series (run, participant, definition,
    md5(instrument || chr(1) || metric || chr(1) || params || chr(1) || arm || chr(1) || unit));";
const SERIES_KEY: &str = "UNIQUE (run, participant, instrument, metric, params, arm, unit, definition),";

/// The version that a list of migrations leads to.
pub(crate) fn newest(migrations: &[Migration]) -> i64 {
    migrations.last().map_or(0, |migration| migration.version)
}

/// The schema that the file has: 0 when it is empty.
pub(crate) fn version(db: &Connection) -> rusqlite::Result<i64> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Carries out every migration above the file's version in one transaction: all of them, or none.
pub(crate) fn migrate(db: &mut Connection, migrations: &[Migration]) -> rusqlite::Result<()> {
    let tx = Transaction::new(db, TransactionBehavior::Immediate)?;
    let from = version(&tx)?; // again, now that nobody else can migrate
    for step in migrations.iter().filter(|step| step.version > from) {
        let sql = step
            .sql
            .replace("{BLOB}", "BLOB")
            .replace("{CLUSTERED}", "WITHOUT ROWID")
            .replace("{SERIES_KEY}", SERIES_KEY)
            .replace("{SERIES_INDEX}", "");
        tx.execute_batch(&sql)?;
        let counted = "INSERT INTO schema_version (version, at_ns)
            VALUES ($1, CAST(unixepoch('now', 'subsec') * 1000 AS INTEGER) * 1000000)";
        tx.execute(counted, [step.version])?;
    }
    if from < newest(migrations) {
        tx.pragma_update(None, "user_version", newest(migrations))?;
        tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    tx.commit()
}
