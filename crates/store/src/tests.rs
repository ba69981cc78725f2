//! Tests that need the inside of a store: migrations, a disk that fills up midway, a spill and its way back.

use std::path::Path;

use model::data::Status;
use model::reading::{Phase, Reading, SeriesKey, Take, Value};
use model::{Better, Params, Unit};
use model::{Note, NoteBody};

use crate::open::{Mode, Options};
use crate::schema::{self, MIGRATIONS, Migration};
use crate::{Appended, NewRun, Store, StoreError, journal};

fn plan() -> model::plan::Plan {
    model::Plan { seed: u64::MAX, ..model::Plan::bare(Vec::new(), model::plan::Takes::Fixed(3)) }
}

fn begin(path: &Path, id: &str) -> Store {
    let mut store = Store::open(path, Mode::Create).unwrap();
    store.begin_study("s", &plan()).unwrap();
    store.begin_run(&NewRun { id: id.into(), study: "s".into(), ..NewRun::default() }).unwrap();
    store
}

fn take(seq: u64) -> Take {
    let key = SeriesKey {
        instrument: "i".into(),
        metric: "m".repeat(2000),
        unit: Unit::Second,
        params: Params::default(),
        arm: seq.to_string(),
        definition: 1,
    };
    let value = Value::Number(1.0);
    let readings = vec![Reading { key, better: Better::Lower, at_ns: 1, window_ns: 1, value }];
    let phase = Phase::Measured;
    Take {
        seq,
        block: 0,
        sitting: 0,
        phase,
        cell: 0,
        arm: 0,
        start_ns: 0,
        end_ns: 1,
        repeats: 1,
        readings,
        refusals: vec![],
        notes: vec![],
        fault: None,
    }
}

fn sqlite(store: &Store) -> &rusqlite::Connection {
    match &store.db {
        crate::engine::Db::Sqlite(db) => db,
        crate::engine::Db::Postgres(_) => panic!("a file is asked about"),
    }
}

/// Fills the database up to its pages of now, as a full disk would.
fn fill(store: &Store, full: bool) {
    let pages: i64 = sqlite(store).pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    let most = if full { pages } else { 1_000_000 };
    sqlite(store).query_row(&format!("PRAGMA max_page_count = {most}"), [], |_| Ok(())).unwrap();
}

fn seqs(store: &Store, run: &str) -> Vec<u64> {
    store.finished_takes(run).unwrap().iter().map(|take| take.seq).collect()
}

/// Appends until the first take spills; returns its number.
fn spill(store: &mut Store, run: &str) -> u64 {
    for seq in 1..1000 {
        match store.append_take(run, &take(seq), &[], &[]).unwrap() {
            Appended::Stored => {}
            Appended::Spilled(reason) => {
                assert_eq!(reason.kind(), "store-full");
                return seq;
            }
        }
    }
    panic!("a full database took a thousand takes");
}

#[test]
fn a_disk_that_fills_up_midway_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = begin(&path, "r");
    store.append_take("r", &take(0), &[], &[]).unwrap();
    fill(&store, true);
    let first = spill(&mut store, "r");
    let note = Note::of_run(NoteBody::remark("doubt", "x"));
    assert!(matches!(store.note("r", &note).unwrap(), Appended::Spilled(_)));
    assert_eq!(seqs(&store, "r"), (0..first).collect::<Vec<_>>());
    fill(&store, false);
    assert!(matches!(store.append_take("r", &take(first + 1), &[], &[]).unwrap(), Appended::Stored));
    assert_eq!(seqs(&store, "r"), (0..first + 2).collect::<Vec<_>>());
    let data = store.load("r").unwrap();
    assert_eq!((data.notes, data.series.len() as u64), (vec![note], first + 2));
    store.finish("r", Status::Complete, 1.0, None).unwrap();
    assert!(!journal::path_of(&path, 1).exists());
}

#[test]
fn a_spill_comes_back_at_the_next_open_once() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = begin(&path, "r");
    fill(&store, true);
    let first = spill(&mut store, "r");
    let ended = store.finish("r", Status::Complete, 1.5, None).unwrap();
    assert!(matches!(ended, Appended::Spilled(_)));
    let bytes = std::fs::read(journal::path_of(&path, 1)).unwrap();
    drop(store);
    for round in 0..2 {
        let mut store = Store::open(&path, Mode::ReadWrite).unwrap();
        assert_eq!(store.recovered(), ["2 entries of run r came back from its journal"], "round {round}");
        assert_eq!(seqs(&store, "r").last(), Some(&first));
        let head = store.load("r").unwrap().head;
        assert_eq!((head.status, head.seconds), (Status::Complete, Some(1.5)));
        assert_eq!(store.append_take("r", &take(0), &[], &[]).unwrap_err().kind(), "run-unclaimed");
        // As if the power had failed before the journal was removed.
        std::fs::write(journal::path_of(&path, 1), &bytes).unwrap();
    }
}

#[test]
fn a_reader_sees_what_waits_in_a_journal_and_changes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = begin(&path, "r");
    fill(&store, true);
    let first = spill(&mut store, "r");
    // While the run goes on, and after its end.
    let reader = Store::open(&path, Mode::ReadOnly).unwrap();
    assert_eq!(seqs(&reader, "r"), (1..=first).collect::<Vec<_>>());
    assert_eq!(reader.load("r").unwrap().head.status, Status::Running);
    store.finish("r", Status::Complete, 1.5, None).unwrap();
    drop(store);
    let side = journal::path_of(&path, 1);
    let before = (std::fs::read(&path).unwrap(), std::fs::read(&side).unwrap());
    let reader = Store::open(&path, Mode::ReadOnly).unwrap();
    let data = reader.load("r").unwrap();
    assert_eq!((data.takes.len() as u64, data.head.status), (first, Status::Complete));
    assert_eq!(data.series.len() as u64, first);
    drop(reader);
    assert!(before == (std::fs::read(&path).unwrap(), std::fs::read(&side).unwrap()));
}

#[test]
fn what_is_removed_leaves_no_row_and_what_is_held_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = begin(&path, "r");
    store.put_facts("r", &[model::Fact::text("a", "b", "c")]).unwrap();
    store.append_take("r", &take(0), &[], &[Note::of_run(NoteBody::remark("doubt", "x"))]).unwrap();
    let mut other = Store::open(&path, Mode::ReadWrite).unwrap();
    assert_eq!(other.remove("r").unwrap_err().kind(), "run-busy");
    assert_eq!(store.remove("r").unwrap_err().kind(), "run-busy");
    store.finish("r", Status::Complete, 1.0, None).unwrap();
    other.remove("r").unwrap();
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table'";
    let names = other.rows(tables, &[], |row| row.get::<String>(0)).unwrap();
    for name in names.iter().filter(|name| *name != "schema_version") {
        let count = other.rows(&format!("SELECT count(*) FROM {name}"), &[], |row| row.get::<i64>(0));
        assert_eq!(count.unwrap(), [0], "{name}");
    }
    assert!(!journal::path_of(&path, 1).exists());
    assert_eq!(other.remove("r").unwrap_err().kind(), "no-run");
}

#[test]
fn a_damaged_end_of_a_journal_is_reported_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = begin(&path, "r");
    fill(&store, true);
    let first = spill(&mut store, "r");
    store.append_take("r", &take(first + 1), &[], &[]).unwrap();
    drop(store);
    let side = journal::path_of(&path, 1);
    let mut bytes = std::fs::read(&side).unwrap();
    let last = bytes.iter().rposition(|&byte| byte != 0).unwrap();
    bytes[last - 3] ^= 0xff;
    std::fs::write(&side, bytes).unwrap();
    let store = Store::open(&path, Mode::ReadWrite).unwrap();
    assert_eq!(seqs(&store, "r").last(), Some(&first));
    assert_eq!(store.recovered().len(), 2);
    assert!(store.recovered()[1].contains("a write that was cut"), "{:?}", store.recovered());
    assert!(dir.path().join("a.db.journal-1.damaged").exists() && !side.exists());
    assert_eq!(store.interrupted().unwrap().len(), 1);
}

const OLD: &[Migration] = &[Migration {
    version: 1,
    sql: "CREATE TABLE schema_version (version BIGINT NOT NULL PRIMARY KEY, at_ns BIGINT NOT NULL);
          CREATE TABLE run (no BIGINT, status TEXT, id TEXT); INSERT INTO run VALUES (1, 'complete', 'old');",
}];

fn options() -> Options {
    Options::new(Mode::Create)
}

#[test]
fn the_one_machine_of_an_older_study_gets_its_name_as_each_of_several_has_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = Store::open_migrating(&path, &options(), &MIGRATIONS[..4]).unwrap();
    let via = |name: &str| model::plan::Via { name: name.to_owned(), command: Some("true".to_owned()) };
    let note = model::Fact::text("note", "in the cellar", "by hand");
    store.add_machine_facts("hw", &[note]).unwrap();
    let studies = [("here", vec![], "atom1", "hw"), ("alone", vec![via("atom1")], "atom1", "hw")];
    let several = ("several", vec![via("atom1"), via("atom2")], "atom1", "hw/atom1");
    for (name, machines, machine, id) in studies.into_iter().chain([several]) {
        store.begin_study(name, &model::Plan { machines: machines.into(), ..plan() }).unwrap();
        let (machine_id, machine) = (id.to_owned(), machine.to_owned());
        let run = NewRun { id: name.into(), study: name.into(), machine_id, machine, ..NewRun::default() };
        store.begin_run(&run).unwrap();
    }
    store.close().unwrap();
    let store = Store::open_migrating(&path, &options(), MIGRATIONS).unwrap();
    let heads = store.heads(&crate::Filter::default()).unwrap();
    let id = |run: &str| heads.iter().find(|head| head.id == run).unwrap().machine_id.clone();
    assert_eq!([id("here"), id("alone"), id("several")], ["hw", "hw/atom1", "hw/atom1"]);
    assert_eq!(store.machine_facts("hw/atom1").unwrap(), store.machine_facts("hw").unwrap());
    assert_eq!(store.machine_facts("hw").unwrap().len(), 1);
}

#[test]
fn figures_of_runs_of_an_older_schema_are_read_from_their_series() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = begin(&path, "r");
    store.append_take("r", &take(1), &[], &[]).unwrap();
    store.finish("r", Status::Complete, 1.0, None).unwrap();
    let with = |store: &Store| store.newest_with(&["r".to_owned()], None, 1).unwrap();
    assert_eq!(with(&store), ["r"]);
    let set = |store: &Store| -> Option<i64> {
        sqlite(store).query_row("SELECT figure_set FROM run", [], |row| row.get(0)).unwrap()
    };
    assert!(set(&store).is_some());
    // As the migration leaves it.
    sqlite(&store).execute("UPDATE run SET figure_set = NULL", []).unwrap();
    assert_eq!((with(&store), set(&store)), (vec!["r".to_owned()], None));
}

#[test]
fn an_older_store_is_migrated_after_a_copy() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    Store::open_migrating(&path, &options(), OLD).unwrap().close().unwrap();
    let second =
        Migration { version: 2, sql: "ALTER TABLE run ADD COLUMN label TEXT; UPDATE run SET label = 'x'" };
    let both = [Migration { version: 1, sql: OLD[0].sql }, second];
    let reading = Options::new(Mode::ReadOnly);
    let refused = Store::open_migrating(&path, &reading, &both).unwrap_err();
    assert_eq!(refused.kind(), "store-older");
    let store = Store::open_migrating(&path, &options(), &both).unwrap();
    let label: String = sqlite(&store).query_row("SELECT label FROM run", [], |row| row.get(0)).unwrap();
    assert_eq!((label.as_str(), schema::version(sqlite(&store)).unwrap()), ("x", 2));
    drop(store);
    let copy = Store::open_migrating(&dir.path().join("a.db.schema-1"), &options(), OLD).unwrap();
    assert_eq!(schema::version(sqlite(&copy)).unwrap(), 1);
    // An older program refuses the new schema.
    let newer = Store::open_migrating(&path, &options(), OLD).unwrap_err();
    let want = format!("the store {} has schema 2, and this build knows schemas up to 1", path.display());
    assert_eq!((newer.kind(), newer.to_string()), ("store-newer", want));
}

#[test]
fn a_migration_that_fails_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    Store::open_migrating(&path, &options(), OLD).unwrap().close().unwrap();
    let bad = Migration { version: 2, sql: "UPDATE run SET id = 'changed'; UPDATE nothing SET x = 1" };
    let both = [Migration { version: 1, sql: OLD[0].sql }, bad];
    let error = Store::open_migrating(&path, &options(), &both).unwrap_err();
    assert!(matches!(&error, StoreError::Migration { from: 1, backup: Some(_), .. }), "{error:?}");
    assert!(error.hint().unwrap().contains("a.db.schema-1"));
    let store = Store::open_migrating(&path, &options(), OLD).unwrap();
    let id: String = sqlite(&store).query_row("SELECT id FROM run", [], |row| row.get(0)).unwrap();
    assert_eq!(id, "old");
}

#[test]
fn the_engine_is_set_for_durability() {
    let dir = tempfile::tempdir().unwrap();
    let store = begin(&dir.path().join("a.db"), "r");
    let text =
        |name: &str| sqlite(&store).pragma_query_value(None, name, |row| row.get::<_, String>(0)).unwrap();
    let number =
        |name: &str| sqlite(&store).pragma_query_value(None, name, |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(text("journal_mode"), "wal");
    assert_eq!((number("synchronous"), number("foreign_keys")), (2, 1));
    assert_eq!(number("application_id"), i64::from(schema::APPLICATION_ID));
    assert_eq!(number("user_version"), schema::newest(MIGRATIONS));
}

#[test]
fn versions_of_sqlite_that_lose_writes_are_refused() {
    let error = crate::file::refuse_old_sqlite(3_051_002, "3.51.2").unwrap_err();
    assert_eq!(error.to_string(), "SQLite 3.51.2 can lose committed writes; 3.51.3 or newer is needed");
    assert!(crate::file::refuse_old_sqlite(3_051_003, "3.51.3").is_ok());
}
