//! Servers that cannot be used, or are lost midway: each case has its own kind, sentence and hint, and no password.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use crate::common::{begin, facts, full, number, take};
use crate::server::{self, Server};
use model::data::Status;
use store::{Appended, Filter, Mode, Store, StoreError};

const SECRET: &str = "hush-hush";

/// Kind, sentence and hint of the error of opening; none of them may show the password.
fn told(url: &str, mode: Mode) -> (&'static str, String, String) {
    let Err(error) = Store::open(Path::new(url), mode) else { panic!("{url} was opened") };
    let (said, hint) = (error.to_string(), error.hint().unwrap_or_default());
    assert!(!format!("{said} {hint} {error:?}").contains(SECRET), "{said} {hint}");
    (error.kind(), said, hint)
}

/// A server that asks for passwords, and shows a certificate for `localhost` by an authority of its own.
fn guarded() -> &'static Server {
    static GUARDED: OnceLock<Server> = OnceLock::new();
    GUARDED.get_or_init(|| {
        let rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n\
                     hostnossl plain all 127.0.0.1/32 scram-sha-256\n";
        let server = Server::start(&["max_connections=20"], Some(rules));
        let script = "exec 2>&1; new='openssl req -newkey rsa:2048 -nodes -days 2' && \
            $new -x509 -subj /CN=authority -keyout ca.key -out ca.crt && \
            $new -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout server.key -out server.csr && \
            openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
            -copy_extensions copy -out server.crt && \
            chmod 600 server.key && chown --reference=. server.key server.crt";
        let made = Command::new("sh").args(["-c", script]).current_dir(server.data()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stdout));
        server.kill();
        server.restart(&["ssl=on"]);
        server.ask("postgres", &format!("CREATE ROLE ann LOGIN CREATEDB PASSWORD '{SECRET}'"));
        for name in ["lab", "plain"] {
            server.ask("postgres", &format!("CREATE DATABASE {name} OWNER ann"));
        }
        server
    })
}

#[test]
fn who_may_not_come_in_is_told_what_to_do() {
    let port = guarded().port;
    let url = |who: &str, rest: &str| format!("postgres://{who}127.0.0.1:{port}/{rest}");
    let (kind, said, hint) = told(&url("ann:wrong@", "lab"), Mode::Create);
    assert_eq!(kind, "store-server");
    let shown = url("ann@", "lab");
    assert_eq!(said, format!("the store {shown} is out of reach: 127.0.0.1 refused the password of ann"));
    assert_eq!(hint, "set PGPASSWORD, or write it into ~/.pgpass (mode 600)");
    let (_, said, hint) = told(&url(&format!("ann:{SECRET}@"), "nowhere"), Mode::Create);
    assert!(said.ends_with("is out of reach: 127.0.0.1 has no database `nowhere`"), "{said}");
    assert!(hint.starts_with("make it with `createdb nowhere`"), "{hint}");
    let (_, said, _) = told(&url(&format!("ann:{SECRET}@"), "lab?sslmode=disable"), Mode::Create);
    assert!(said.contains("127.0.0.1 does not let ann in: no pg_hba.conf entry"), "{said}");
    let (kind, said, _) = told("postgres://ann@127.0.0.1:1/lab", Mode::ReadOnly);
    let want =
        "the store postgres://ann@127.0.0.1:1/lab is out of reach: 127.0.0.1, port 1, cannot be reached";
    assert!(kind == "store-server" && said.starts_with(want), "{said}");
    let (_, said, _) = told("postgres://ann@no-such-host.invalid/lab", Mode::ReadOnly);
    assert!(said.contains("no-such-host.invalid, port 5432, cannot be reached"), "{said}");
}

#[test]
fn tls_is_as_strict_as_it_was_asked_to_be() {
    let server = guarded();
    let root = server.data().join("ca.crt");
    let root = root.display();
    let url = |host: &str, rest: &str| format!("postgres://ann:{SECRET}@{host}:{}/{rest}", server.port);
    let open = |url: &str| Store::open(Path::new(url), Mode::Create).map(drop);
    // Encrypted is all that this database takes.
    open(&url("127.0.0.1", "lab")).unwrap();
    open(&url("127.0.0.1", "lab?sslmode=require")).unwrap();
    open(&url("127.0.0.1", &format!("lab?sslmode=verify-ca&sslrootcert={root}"))).unwrap();
    open(&url("127.0.0.1", "plain?sslmode=disable")).unwrap();
    open(&url("localhost", &format!("lab?sslmode=verify-full&sslrootcert={root}"))).unwrap();
    let (kind, said, _) = told(&url("localhost", "lab?sslmode=verify-full"), Mode::Create);
    assert!(kind == "store-server" && said.contains("certificate"), "{said}");
    let other = format!("lab?sslmode=verify-full&sslrootcert={root}");
    let (kind, said, hint) = told(&url("127.0.0.1", &other), Mode::Create);
    assert!(kind == "store-server" && said.contains("certificate"), "{said}");
    assert!(hint.contains("sslrootcert"), "{hint}");
}

#[test]
fn a_database_without_tables_of_ours_is_left_alone() {
    let name = server::database();
    let url = server::url(&name);
    for mode in [Mode::ReadOnly, Mode::ReadWrite] {
        assert_eq!(told(&url, mode).0, "store-missing");
    }
    server::ask(&name, "CREATE TABLE run (x int)");
    let (kind, said, hint) = told(&url, Mode::Create);
    let want = format!("{url} is not a boxscore store: its tables are another program's");
    assert_eq!((kind, said), ("store-foreign", want));
    assert_eq!(hint, "name a database of its own with --store; this one was not changed");
    assert_eq!(server::ask(&name, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"), "1");
}

#[test]
fn a_newer_schema_and_missing_columns_are_told() {
    let name = server::database();
    let url = server::url(&name);
    let mut store = Store::open(Path::new(&url), Mode::Create).unwrap();
    full(&mut store, "r");
    server::ask(&name, "ALTER TABLE note DROP COLUMN body");
    let error = store.load("r").unwrap_err();
    assert_eq!(error.kind(), "store-corrupt", "{error}");
    server::ask(&name, "INSERT INTO schema_version VALUES (99, 0)");
    for mode in [Mode::ReadOnly, Mode::ReadWrite, Mode::Create] {
        let (kind, said, _) = told(&url, mode);
        assert!(kind == "store-newer" && said.contains("has schema 99"), "{said}");
    }
}

#[test]
fn a_database_of_another_encoding_is_refused() {
    let sql = "CREATE DATABASE latin ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0";
    server::ask("postgres", sql);
    let (kind, said, _) = told(&server::url("latin"), Mode::Create);
    assert!(
        kind == "store-foreign" && said.contains("keeps texts as LATIN1, and a store needs UTF8"),
        "{said}"
    );
}

#[test]
fn a_store_on_a_server_opened_for_reading_is_not_written() {
    let url = server::url(&server::database());
    full(&mut Store::open(Path::new(&url), Mode::Create).unwrap(), "r");
    let mut store = Store::open(Path::new(&url), Mode::ReadOnly).unwrap();
    assert_eq!(store.set_label("r", None).unwrap_err().kind(), "store-read-only");
    assert_eq!(store.load("r").unwrap().facts, facts());
}

#[test]
fn a_lock_on_a_server_is_waited_for_and_then_told() {
    let name = server::database();
    let place = tempfile::tempdir().unwrap();
    let path = store::named(Path::new(&server::url(&name)), Some(place.path()));
    let options =
        store::Options { busy: std::time::Duration::from_millis(50), ..store::Options::new(Mode::Create) };
    let mut store = Store::open_with(&path, &options).unwrap();
    begin(&mut store, "r");
    let held = "SELECT pg_advisory_xact_lock('schema_version'::regclass::oid::bigint << 32), pg_sleep(1)";
    std::thread::scope(|scope| {
        scope.spawn(|| server::ask(&name, held));
        let is_held = || {
            let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()";
            server::ask(&name, waits) == "1"
        };
        while !is_held() {}
        let error = store.check_writable().unwrap_err();
        assert_eq!(error.kind(), "store-locked", "{error}");
        let spilled = store.append_take("r", &take(0, vec![]), &[], &[]).unwrap();
        assert!(matches!(spilled, Appended::Spilled(StoreError::Locked { .. })), "{spilled:?}");
    });
    assert!(matches!(store.append_take("r", &take(1, vec![]), &[], &[]).unwrap(), Appended::Stored));
    assert_eq!(store.load("r").unwrap().takes.len(), 2);
}

/// A server of its own, with a store that a run is written into.
fn running() -> (Server, tempfile::TempDir, PathBuf, Store) {
    let server = Server::start(&["max_connections=20"], None);
    let place = tempfile::tempdir().unwrap();
    server.ask("postgres", "CREATE DATABASE lab");
    let path = store::named(Path::new(&server.url("lab")), Some(place.path()));
    let mut store = Store::open(&path, Mode::Create).unwrap();
    begin(&mut store, "r");
    (server, place, path, store)
}

fn numbered(seq: u64) -> model::reading::Take {
    take(seq, (0..5).map(|n| number(&format!("m{n}"), seq as f64)).collect())
}

#[test]
fn a_server_that_is_lost_midway_costs_no_take() {
    let (server, place, path, mut store) = running();
    assert!(matches!(store.append_take("r", &numbered(0), &[], &[]).unwrap(), Appended::Stored));
    server.kill();
    for seq in 1..4 {
        let Appended::Spilled(reason) = store.append_take("r", &numbered(seq), &[], &[]).unwrap() else {
            panic!("a server that was killed took a take");
        };
        let want = if seq == 1 { "store-lost" } else { "store-server" };
        assert_eq!(reason.kind(), want, "{reason}");
    }
    assert!(std::fs::read_dir(place.path()).unwrap().count() == 1, "the journal");
    server.restart(&[]);
    assert!(matches!(store.append_take("r", &numbered(4), &[], &[]).unwrap(), Appended::Stored));
    let other = Store::open(&path, Mode::ReadOnly).unwrap();
    let data = other.load("r").unwrap();
    assert_eq!(data.head.status, Status::Running, "its writer holds it again");
    assert_eq!(data.takes.iter().map(|take| take.seq).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(data.series.iter().all(|series| series.points.len() == 5), "no half take");
    store.finish("r", Status::Complete, 1.0, None).unwrap();
    assert_eq!(other.load("r").unwrap().head.status, Status::Complete);
    assert!(std::fs::read_dir(place.path()).unwrap().count() == 0, "the journal is gone");
}

#[test]
fn what_a_lost_server_did_not_take_comes_back_at_the_next_open() {
    let (server, _place, path, mut store) = running();
    store.append_take("r", &numbered(0), &[], &[]).unwrap();
    server.kill();
    store.append_take("r", &numbered(1), &[], &[]).unwrap();
    let ended = store.finish("r", Status::Complete, 1.5, None).unwrap();
    assert!(matches!(ended, Appended::Spilled(_)));
    drop(store);
    server.restart(&[]);
    // A reader sees what the server has.
    let reader = Store::open(&path, Mode::ReadOnly).unwrap();
    assert_eq!(reader.load("r").unwrap().head.status, Status::Interrupted);
    let store = Store::open(&path, Mode::ReadWrite).unwrap();
    assert_eq!(store.recovered(), ["2 entries of run r came back from its journal"]);
    let data = store.load("r").unwrap();
    assert_eq!((data.head.status, data.head.takes), (Status::Complete, 2));
}

#[test]
fn a_run_of_a_dead_controller_elsewhere_is_interrupted_and_can_be_continued() {
    let name = server::database();
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let url = server::url(&name);
    let mut first = Store::open(&store::named(Path::new(&url), Some(there.path())), Mode::Create).unwrap();
    begin(&mut first, "r");
    first.append_take("r", &numbered(0), &[], &[]).unwrap();
    let path = store::named(Path::new(&url), Some(here.path()));
    let mut second = Store::open(&path, Mode::ReadWrite).unwrap();
    assert_eq!(second.claim("r").unwrap_err().kind(), "run-busy");
    server::ask(
        &name,
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
        WHERE application_name = 'boxscore' AND pid = (SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND \
        classid = 'schema_version'::regclass::oid AND objid = 1)",
    );
    let until = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while second.claim("r").is_err() {
        assert!(std::time::Instant::now() < until, "its lock does not end");
    }
    // The first one is told, and keeps what it measures.
    for _ in 0..2 {
        let spilled = first.append_take("r", &numbered(1), &[], &[]).unwrap();
        let Appended::Spilled(reason) = spilled else { panic!("two writers of one run") };
        assert!(matches!(reason.kind(), "store-lost" | "run-busy"), "{reason}");
    }
    second.append_take("r", &numbered(1), &[], &[]).unwrap();
    second.finish("r", Status::Complete, 1.0, None).unwrap();
    assert_eq!(second.heads(&Filter::default()).unwrap()[0].takes, 2);
}
