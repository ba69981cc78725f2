//! The helper that runs RAMCloud's client library, with a stand-in for the library that is built here: what is written
//! comes back, times hold what was planted, and every fault is told. This program makes one of the cases when called
//! with `case`, since faults are planted by environment.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use instruments::workload::guard;
use instruments::workload::ramcloud::frames::{self, Batch, Kind, push_key};
use instruments::workload::ramcloud::session::{Made, check};
use instruments::workload::ramcloud::{Access, Session, Trouble, compile};

const PATIENCE: Duration = Duration::from_secs(20);

pub fn everything() {
    let dir = tempfile::tempdir().unwrap();
    let good = library(dir.path(), "good", &[]);
    for (name, library, planted) in [
        ("objects", &good, None),
        ("the_cache", &good, None),
        ("ends", &good, None),
        ("delay", &good, Some(("FAKE_RAMCLOUD_DELAY_US", "200"))),
        ("connect", &good, Some(("FAKE_RAMCLOUD_CONNECT", "11"))),
        ("status", &good, Some(("FAKE_RAMCLOUD_STATUS", "17"))),
        ("many_writes", &good, Some(("FAKE_RAMCLOUD_FULL", "3"))),
        ("hang", &good, Some(("FAKE_RAMCLOUD_HANG", "1"))),
        ("crash", &good, Some(("FAKE_RAMCLOUD_CRASH", "1"))),
        ("missing", &dir.path().join("no-such.so"), None),
        ("no_symbol", &library(dir.path(), "short", &["-DWITHOUT_MULTI_READ"]), None),
        ("unresolved", &library(dir.path(), "unresolved", &["-DUNRESOLVED"]), None),
        ("no_library", &PathBuf::from("/etc/passwd"), None),
    ] {
        let mut command = Command::new("/proc/self/exe");
        command.args(["case", name]).arg(library);
        command
            .env("XDG_CACHE_HOME", dir.path().join("cache"))
            .env("FAKE_RAMCLOUD", dir.path().join("memory"));
        command.envs(planted);
        assert!(command.status().unwrap().success(), "{name}");
    }
}

/// The stand-in, built with these flags and without a warning.
fn library(dir: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/ramcloud/library.c");
    let path = dir.join(format!("{name}.so"));
    let mut command = Command::new("cc");
    command.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror"]).args(flags);
    assert!(command.arg("-o").arg(&path).arg(source).status().unwrap().success(), "{name}");
    path
}

pub fn case(name: &str, library: &str) {
    match name {
        "objects" => objects(library),
        "the_cache" => the_cache(library),
        "ends" => ends(library),
        "delay" => delay(library),
        "connect" => connect(library),
        "status" => status(library),
        "many_writes" => many_writes(library),
        "hang" => hang(library),
        "crash" => crash(library),
        "missing" => not_loaded(library, &["no-such.so", "No such file"]),
        "no_symbol" => not_loaded(library, &["undefined symbol: rc_multiRead"]),
        "unresolved" => not_loaded(library, &["undefined symbol: ramcloud_symbol_that_nobody_has"]),
        "no_library" => not_loaded(library, &["/etc/passwd"]),
        name => panic!("no case {name}"),
    }
}

fn access(library: &str) -> Access {
    Access {
        library: library.to_owned(),
        locator: "tcp:host=127.0.0.1,port=1".to_owned(),
        cluster: "main".to_owned(),
        cpus: Vec::new(),
        each: None,
    }
}

fn open(library: &str, table: &str) -> Session {
    let mut session = access(library).open(PATIENCE).unwrap();
    session.create(table).unwrap();
    session
}

fn keys(all: &[&[u8]]) -> Vec<u8> {
    let mut keys = Vec::new();
    assert!(all.iter().all(|key| push_key(&mut keys, key)));
    keys
}

fn batch<'a>(kind: Kind, keys: &'a [u8], count: u32) -> Batch<'a> {
    Batch { kind, wanted: true, repeat: 1, step: 1, each: 1000, limit_ns: u64::MAX, count, keys }
}

fn run(session: &mut Session, kind: Kind, all: &[&[u8]]) -> Made {
    session.run(&batch(kind, &keys(all), u32::try_from(all.len()).unwrap())).unwrap()
}

fn objects(library: &str) {
    let mut session = open(library, "t");
    let value: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    session.value(&value).unwrap();
    let made = run(&mut session, Kind::Write, &[b"a", b"bc", b"\0\n"]);
    assert!(made.outcomes.len() == 3 && made.outcomes.iter().all(|one| (one.status, one.good) == (0, 1)));
    assert!(
        made.outcomes
            .windows(2)
            .all(|two| two[0].begin_ns <= two[0].end_ns && two[0].end_ns <= two[1].begin_ns)
    );
    // Another client sees them.
    let mut other = access(library).open(PATIENCE).unwrap();
    other.choose("t").unwrap();
    let made = run(&mut other, Kind::Read, &[b"none", b"\0\n"]);
    assert_eq!(made.outcomes.iter().map(|one| (one.status, one.good)).collect::<Vec<_>>(), [(3, 0), (0, 1)]);
    assert!(made.value == value && made.outcomes[1].bytes == 1 << 20);
    // Kept are 1000 B of each; told is how long they are.
    let made = run(&mut other, Kind::MultiRead, &[b"a", b"none", b"bc"]);
    assert_eq!((made.outcomes.len(), made.outcomes[0].good, made.outcomes[0].bytes), (1, 2, 2 << 20));
    run(&mut other, Kind::Remove, &[b"a"]);
    assert_eq!(run(&mut session, Kind::Read, &[b"a"]).outcomes[0].status, 3);
    // A row ends when its time is over, after whole steps.
    let (a, most) = (keys(&[b"a"]), 60_000);
    let made =
        session.run(&Batch { repeat: most, step: 10, limit_ns: 1, ..batch(Kind::Read, &a, 1) }).unwrap();
    assert_eq!(made.outcomes.len(), 10);
    session.discard("t").unwrap();
    let trouble = access(library).open(PATIENCE).unwrap().choose("t").unwrap_err();
    assert_eq!(trouble, Trouble::Status { call: "rc_getTableId".to_owned(), code: 2 });
    assert!(trouble.to_string().contains("STATUS_TABLE_DOESNT_EXIST (2)"), "{trouble}");
    // What cannot be ends the helper, and is told.
    let trouble = other.run(&batch(Kind::Read, b"\xff\xffx", 1)).unwrap_err();
    assert!(trouble.kind() == "ended" && trouble.to_string().contains("longer than the frame"), "{trouble}");
}

/// One request writes all keys, and says which status the one had that was not written.
fn many_writes(library: &str) {
    let mut session = open(library, "many");
    let value = [7; 300];
    session.value(&value).unwrap();
    let made = run(&mut session, Kind::MultiWrite, &[b"a", b"b"]);
    assert_eq!((made.outcomes.len(), made.outcomes[0].status, made.outcomes[0].good), (1, 0, 2));
    let read = run(&mut session, Kind::Read, &[b"a", b"b"]);
    assert!(read.value == value && read.outcomes.iter().all(|one| (one.good, one.bytes) == (1, 300)));
    let made = run(&mut session, Kind::MultiWrite, &[b"a", b"b", b"c", b"d"]);
    assert_eq!((made.outcomes.len(), made.outcomes[0].status, made.outcomes[0].good), (1, 17, 3));
    session.discard("many").unwrap();
}

fn the_cache(library: &str) {
    let program = compile::helper().unwrap();
    assert_eq!(compile::helper().as_ref(), Ok(&program));
    let folder = program.parent().unwrap();
    assert!(folder.starts_with(std::env::var_os("XDG_CACHE_HOME").unwrap()), "{}", folder.display());
    // One program, built once, and nothing beside it.
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 1);
    assert_eq!(check(library), Ok(()));
}

/// Told to, or at the end of what it is told, it ends without a word, connected or not.
fn ends(library: &str) {
    let (mut connect, mut quit) = (Vec::new(), Vec::new());
    frames::connect(&mut connect, "tcp:host=127.0.0.1,port=1", "main");
    frames::quit(&mut quit);
    for (nth, told) in [vec![], quit.clone(), connect.clone(), [connect, quit].concat()].iter().enumerate() {
        let mut command = Command::new(compile::helper().unwrap());
        command.arg(library).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(told).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && !said.contains("helper:"), "{nth}: {}: {said}", ended.status);
    }
}

fn delay(library: &str) {
    let mut session = open(library, "d");
    let made = run(&mut session, Kind::Read, &[&b"a"[..]; 50]);
    assert!(made.outcomes.iter().all(|one| one.ns() >= 200_000), "{made:?}");
    let made = run(&mut session, Kind::Remove, &[&b"a"[..]; 50]);
    assert!(made.outcomes.iter().any(|one| one.ns() < 200_000), "{made:?}");
}

fn connect(library: &str) {
    let trouble = access(library).open(PATIENCE).unwrap_err();
    assert_eq!(trouble.to_string(), "RAMCloud says STATUS_COULDNT_CONNECT (11) to rc_connect");
}

fn status(library: &str) {
    let mut session = open(library, "s");
    // No more are made after it.
    let made = run(&mut session, Kind::Read, &[b"a", b"b"]);
    assert_eq!((made.outcomes.len(), made.outcomes[0].status), (1, 17));
}

fn hang(library: &str) {
    let mut session = access(library).open(Duration::from_secs(1)).unwrap();
    session.create("h").unwrap();
    let trouble = session.run(&batch(Kind::Read, &keys(&[b"a"]), 1)).unwrap_err();
    assert_eq!(trouble.kind(), "timeout");
    assert!(trouble.to_string().contains("not come back from rc_read for 2 s"), "{trouble}");
    // What it says later would be taken for the answer to something else.
    let trouble = session.choose("h").unwrap_err();
    assert!(trouble.to_string().contains("rc_getTableId is not asked of it"), "{trouble}");
    drop(session);
    assert!(guard::groups().is_empty(), "the helper is left over");
}

fn crash(library: &str) {
    let mut session = open(library, "c");
    let trouble = session.run(&batch(Kind::Read, &keys(&[b"a"]), 1)).unwrap_err();
    let text = trouble.to_string();
    assert!(text.contains("ended in rc_read") && text.contains("signal: 6"), "{text}");
    assert!(text.contains("its last words: ") && text.contains("a planted crash"), "{text}");
}

fn not_loaded(library: &str, says: &[&str]) {
    let trouble = access(library).open(PATIENCE).unwrap_err();
    assert!(matches!(trouble, Trouble::Load(_)), "{trouble}");
    assert!(says.iter().all(|says| trouble.to_string().contains(says)), "{trouble}");
    assert_eq!(check(library), Err(trouble));
}
