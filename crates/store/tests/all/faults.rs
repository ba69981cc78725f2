//! Stores that cannot be used: each case has its own kind, sentence and hint, before anything is measured.
//!
//! Permissions do not bind root, so that as root those cases run in this test binary started again as another user.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::common::{begin, facts, full};
use proptest::prelude::*;
use proptest::sample::Index;
use rusqlite::Connection;
use store::{Filter, MachineSheet, Mode, Options, Store, StoreError, is_temporary};

fn kind(path: &Path, mode: Mode) -> &'static str {
    Store::open(path, mode).unwrap_err().kind()
}

/// Kind, sentence with the path as `PATH`, and hint of the error.
fn told(path: &Path, mode: Mode) -> (&'static str, String, String) {
    let error = Store::open(path, mode).unwrap_err();
    let plain = |text: String| text.replace(&path.display().to_string(), "PATH");
    (error.kind(), plain(error.to_string()), plain(error.hint().unwrap_or_default()))
}

#[test]
fn a_missing_store_is_made_only_when_asked() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/er/a.db");
    for mode in [Mode::ReadOnly, Mode::ReadWrite] {
        let (kind, said, hint) = told(&path, mode);
        assert_eq!((kind, said.as_str()), ("store-missing", "there is no store at PATH"));
        assert_eq!(hint, "run `boxscore run` first, or name another file with --store");
    }
    let store = Store::open(&path, Mode::Create).unwrap();
    store.check_writable().unwrap();
    assert!(store.heads(&Filter::default()).unwrap().is_empty());
}

#[test]
fn where_nothing_can_be_made_is_said_and_not_that_the_store_is_missing() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("notes.txt");
    fs::write(&file, "x").unwrap();
    let (kind, said, hint) = told(&file.join("a.db"), Mode::Create);
    let why = format!("{} is a file, so nothing can be made in it", file.display());
    assert_eq!((kind, said), ("store-read-only", format!("the store PATH cannot be written: {why}")));
    assert_eq!(hint, "make its directory writable, or name another file with --store");
    let link = dir.path().join("gone");
    symlink(dir.path().join("nowhere"), &link).unwrap();
    let (kind, said, _) = told(&link.join("a.db"), Mode::Create);
    let start = format!("the store PATH cannot be written: nothing can be made in {}: ", link.display());
    assert!(kind == "store-read-only" && said.starts_with(&start), "{said}");
    for path in ["/proc/x", "/proc/x/y/z.db"] {
        let (kind, said, _) = told(Path::new(path), Mode::Create);
        assert_ne!(kind, "store-missing", "{said}");
    }
}

#[test]
fn a_directory_is_named_with_the_file_that_it_would_hold() {
    let dir = tempfile::tempdir().unwrap();
    for mode in [Mode::ReadOnly, Mode::ReadWrite, Mode::Create] {
        let (kind, said, hint) = told(dir.path(), mode);
        assert_eq!(kind, "store-directory");
        assert_eq!(said, "PATH is a directory, and the store is a file");
        assert_eq!(hint, "did you mean --store PATH/boxscore.db?");
    }
    let slash = PathBuf::from(format!("{}/new/", dir.path().display()));
    assert_eq!(kind(&slash, Mode::Create), "store-directory");
    assert!(!slash.exists());
}

#[test]
fn foreign_files_are_left_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let text = dir.path().join("notes.txt");
    fs::write(&text, "not a database, but long enough to be looked at\n".repeat(50)).unwrap();
    let other = dir.path().join("other.db");
    let db = Connection::open(&other).unwrap();
    db.execute_batch("PRAGMA application_id = 252006674; CREATE TABLE t (x)").unwrap();
    drop(db);
    for (path, what) in [
        (&text, "PATH is not a boxscore store: not an SQLite database"),
        (
            &other,
            "PATH is not a boxscore store: an SQLite database of another program (application id 0xf055112)",
        ),
    ] {
        let before = fs::read(path).unwrap();
        for mode in [Mode::ReadOnly, Mode::ReadWrite, Mode::Create] {
            let (kind, said, hint) = told(path, mode);
            assert_eq!((kind, said.as_str()), ("store-foreign", what));
            let want = "name another file with --store; this one was not changed; if it was a store, restore a backup";
            assert_eq!(hint, want);
        }
        assert_eq!(fs::read(path).unwrap(), before);
    }
    let device = Path::new("/dev/null");
    assert_eq!(told(device, Mode::Create).1, "PATH is not a boxscore store: not a regular file");
    let empty = dir.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    assert_eq!(told(&empty, Mode::ReadOnly).1, "PATH is not a boxscore store: an empty file");
    Store::open(&empty, Mode::Create).unwrap();
}

/// A store with one run of everything, and its bytes.
fn sound() -> (tempfile::TempDir, PathBuf, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = Store::open(&path, Mode::Create).unwrap();
    full(&mut store, "r");
    store.close().unwrap();
    let bytes = fs::read(&path).unwrap();
    (dir, path, bytes)
}

#[test]
fn damage_is_an_error_wherever_it_is() {
    let (_dir, path, sound) = sound();
    let mut hit = 0;
    // Every page in turn, and a file that was cut.
    for page in 0..sound.len() / 4096 {
        let mut bytes = sound.clone();
        bytes[page * 4096 + if page == 0 { 100 } else { 0 }..(page + 1) * 4096].fill(0xa5);
        hit += u32::from(broken(&path, &bytes));
    }
    hit += u32::from(broken(&path, &sound[..sound.len() / 2]));
    assert!(hit > 10, "{hit}");
    fs::write(&path, &sound).unwrap();
    Store::open(&path, Mode::ReadOnly).unwrap().load("r").unwrap();
}

/// True when opening and loading failed, and then with the right words.
fn broken(path: &Path, bytes: &[u8]) -> bool {
    fs::write(path, bytes).unwrap();
    let loaded = Store::open(path, Mode::ReadOnly).and_then(|store| store.load("r"));
    let Err(error) = loaded else { return false };
    assert!(matches!(error.kind(), "store-corrupt" | "store-data" | "no-run" | "store-foreign"), "{error:?}");
    if let StoreError::Corrupt { .. } = error {
        assert!(error.to_string().starts_with(&format!("the store {} is damaged: ", path.display())));
        assert!(error.hint().unwrap().contains(".recover"));
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_flipped_bit_is_harmless_or_named(at in prop::collection::vec((any::<Index>(), 0u8..8), 1..4)) {
        let mut bytes = SOUND.with(Clone::clone);
        for (index, bit) in &at {
            let index = index.index(bytes.len());
            bytes[index] ^= 1 << bit;
        }
        harmless_or_named(&bytes);
    }
}

#[test]
fn every_bit_of_the_header_is_harmless_or_named() {
    let sound = SOUND.with(Clone::clone);
    for at in 0..100 * 8 {
        let mut bytes = sound.clone();
        bytes[at / 8] ^= 1 << (at % 8);
        harmless_or_named(&bytes);
    }
}

/// A damaged store is read, or the error says that it is damaged and what to do.
fn harmless_or_named(bytes: &[u8]) {
    let path = flipped();
    fs::write(&path, bytes).unwrap();
    let read = Store::open(&path, Mode::ReadOnly).and_then(|store| {
        store.sheets()?;
        store.interrupted()?;
        for head in store.heads(&Filter::default())? {
            store.load(&head.id)?;
        }
        Ok(())
    });
    let Err(error) = read else { return };
    let said = error.to_string();
    let known = matches!(error, StoreError::Foreign { .. } | StoreError::Newer { .. });
    assert!(known || said.contains(" is damaged"), "{error:?}");
    assert!(known || error.hint().unwrap().contains("restore a backup"), "{error:?}");
    // The engine's own words come last.
    let ours = said.split(" (SQLite: ").next().unwrap_or_default();
    for raw in ["malformed", "utf-8", "UTF-8 sequence", "Invalid", "expected", "no such", "unsupported"] {
        assert!(!ours.contains(raw), "{said}");
    }
}

thread_local! {
    /// A small store's bytes, and where they are damaged.
    static SOUND: Vec<u8> = {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.db");
        let mut store = Store::open(&path, Mode::Create).unwrap();
        full(&mut store, "r");
        store.put_sheet(&MachineSheet { id: "s".into(), name: "s".into(), source: "f".into(), facts: facts() }).unwrap();
        store.close().unwrap();
        fs::read(&path).unwrap()
    };
    static PLACE: tempfile::TempDir = tempfile::tempdir().unwrap();
}

fn flipped() -> PathBuf {
    PLACE.with(|dir| dir.path().join("b.db"))
}

#[test]
fn damaged_text_is_damage() {
    let (_dir, path, sound) = sound();
    for (text, with) in [("Xeon X3470", 0xff_u8), ("CREATE TABLE run", b'!'), ("\"seed\"", b'x')] {
        let mut bytes = sound.clone();
        let places: Vec<usize> =
            (0..bytes.len() - text.len()).filter(|&at| bytes[at..].starts_with(text.as_bytes())).collect();
        places.iter().for_each(|&at| bytes[at] = with);
        fs::write(&path, bytes).unwrap();
        let loaded = Store::open(&path, Mode::ReadOnly).and_then(|store| store.load("r"));
        let error = loaded.expect_err(text);
        assert!(error.to_string().contains("is damaged"), "{text}: {error}");
        assert!(error.hint().unwrap().contains("restore a backup"), "{error:?}");
    }
}

#[test]
fn a_run_that_its_index_lacks_is_damage() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store = Store::open(&path, Mode::Create).unwrap();
    let id = "0199-whole";
    full(&mut store, id);
    store.close().unwrap();
    let sound = fs::read(&path).unwrap();
    let places = (0..sound.len() - id.len()).filter(|&at| sound[at..].starts_with(id.as_bytes()));
    let mut said = Vec::new();
    for at in places {
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        let store = Store::open(&path, Mode::ReadOnly).unwrap();
        let listed = store.heads(&Filter::default()).unwrap();
        said.extend(
            listed.iter().filter_map(|head| store.load(&head.id).err()).map(|error| error.to_string()),
        );
    }
    assert!(said.iter().any(|text| text.contains("is damaged: the index of its runs lacks run")), "{said:?}");
}

#[test]
fn a_store_whose_schema_number_was_lost_is_not_migrated_over() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    Store::open(&path, Mode::Create).unwrap().close().unwrap();
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 0").unwrap();
    for mode in [Mode::ReadOnly, Mode::ReadWrite, Mode::Create] {
        assert_eq!(kind(&path, mode), "store-corrupt");
    }
}

#[test]
fn a_newer_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    Store::open(&path, Mode::Create).unwrap().close().unwrap();
    Connection::open(&path).unwrap().execute_batch("PRAGMA user_version = 99").unwrap();
    for mode in [Mode::ReadOnly, Mode::ReadWrite, Mode::Create] {
        let (kind, said, hint) = told(&path, mode);
        let want = "the store PATH has schema 99, and this build knows schemas up to 6";
        assert_eq!((kind, said.as_str()), ("store-newer", want));
        assert_eq!(hint, "use a newer boxscore, or another file with --store");
    }
}

#[test]
fn a_lock_is_waited_for_and_then_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    let mut store =
        Store::open_with(&path, &Options { busy: Duration::from_millis(50), ..Options::new(Mode::Create) })
            .unwrap();
    begin(&mut store, "r");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.check_writable().unwrap_err();
    let want = format!("the store {} is locked by another process", path.display());
    assert_eq!((error.kind(), error.to_string()), ("store-locked", want));
    // Measuring goes on: the take waits in the journal, and goes in once the lock is gone.
    let spilled = store.append_take("r", &crate::common::take(0, vec![]), &[], &[]).unwrap();
    assert!(matches!(spilled, store::Appended::Spilled(StoreError::Locked { .. })), "{spilled:?}");
    assert_eq!(store.load("r").unwrap().takes.len(), 0);
    other.execute_batch("COMMIT").unwrap();
    store.append_take("r", &crate::common::take(1, vec![]), &[], &[]).unwrap();
    assert_eq!(store.load("r").unwrap().takes.len(), 2);
}

#[test]
fn a_store_opened_for_reading_is_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.db");
    full(&mut Store::open(&path, Mode::Create).unwrap(), "r");
    let mut store = Store::open(&path, Mode::ReadOnly).unwrap();
    for error in [
        store.check_writable().unwrap_err(),
        store.begin_study("s", &crate::common::plan(1)).unwrap_err(),
        store.set_label("r", None).unwrap_err(),
        store.claim("r").unwrap_err(),
    ] {
        let want = format!("the store {} cannot be written: it was opened for reading", path.display());
        assert_eq!((error.kind(), error.to_string()), ("store-read-only", want));
    }
}

#[test]
fn temporary_places_are_known() {
    assert!(is_temporary(Path::new("/tmp/a.db")) && is_temporary(Path::new("/var/tmp/x/a.db")));
    assert!(is_temporary(Path::new("/dev/shm/a.db")) && !is_temporary(Path::new("/srv/tmp/a.db")));
    assert!(!is_temporary(Path::new("/tmpfile/a.db")));
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let target = dir.path().join("not-yet");
    let link = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    symlink(dir.path(), link.path().join("link")).unwrap();
    assert!(is_temporary(&target) && is_temporary(&link.path().join("link/a.db")));
}

const CASE: &str = "STORE_CASE_DIR";
const NOBODY: u32 = 65_534;

/// The one test that was asked for was run, and passed.
fn passed(output: &std::process::Output) {
    let said = String::from_utf8_lossy(&output.stdout);
    let good = output.status.success() && said.contains("1 passed");
    assert!(good, "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// Runs `test` of this binary where permissions bind: here, or as another user.
fn unprivileged(test: &str, dir: &Path) {
    let exe = dir.join("test-binary");
    fs::copy(std::env::current_exe().unwrap(), &exe).unwrap();
    for path in [dir, &exe] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(&exe);
    command.args(["--exact", test, "--nocapture"]).env(CASE, dir).current_dir("/");
    if fs::metadata(dir).unwrap().uid() == 0 {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.output().unwrap();
    passed(&output);
}

#[test]
fn permissions_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let store = |name: &str, file: u32, folder: u32| {
        let path = dir.path().join(name).join("a.db");
        full(&mut Store::open(&path, Mode::Create).unwrap(), "r");
        fs::set_permissions(&path, fs::Permissions::from_mode(file)).unwrap();
        fs::set_permissions(path.parent().unwrap(), fs::Permissions::from_mode(folder)).unwrap();
    };
    store("locked-dir", 0o644, 0o555);
    store("locked-file", 0o000, 0o755);
    store("readable", 0o444, 0o555);
    fs::create_dir(dir.path().join("nothing")).unwrap();
    fs::set_permissions(dir.path().join("nothing"), fs::Permissions::from_mode(0o555)).unwrap();
    unprivileged("faults::permissions_are_told_inside", dir.path());
    for name in ["locked-dir", "readable", "nothing"] {
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

/// Does nothing unless the test above started it.
#[test]
fn permissions_are_told_inside() {
    let Some(dir) = std::env::var_os(CASE).map(PathBuf::from) else { return };
    for (name, mode) in
        [("locked-file", Mode::ReadOnly), ("locked-file", Mode::Create), ("nothing", Mode::Create)]
    {
        let path = dir.join(name).join("a.db");
        let (kind, said, hint) = told(&path, mode);
        let want = "no permission to open PATH: Permission denied (os error 13)";
        assert_eq!((kind, said.as_str()), ("store-permission", want), "{name}");
        assert_eq!(hint, "see `ls -l PATH`, or name a file of your own with --store");
    }
    for (name, mode) in [("readable", Mode::ReadWrite), ("locked-dir", Mode::ReadWrite)] {
        let error = Store::open(&dir.join(name).join("a.db"), mode).unwrap_err();
        assert!(matches!(error.kind(), "store-permission" | "store-read-only"), "{name}: {error:?}");
    }
    for name in ["readable", "locked-dir"] {
        let store = Store::open(&dir.join(name).join("a.db"), Mode::ReadOnly).unwrap();
        assert_eq!(store.load("r").unwrap().takes.len(), 3);
    }
}

#[test]
fn files_belong_to_the_user_who_called() {
    let dir = tempfile::tempdir().unwrap();
    let me = fs::metadata(dir.path()).unwrap();
    let owner = if me.uid() == 0 { (NOBODY, NOBODY) } else { (me.uid(), me.gid()) };
    let path = dir.path().join("new/a.db");
    let options = Options { owner: Some(owner), ..Options::new(Mode::Create) };
    let mut store = Store::open_with(&path, &options).unwrap();
    begin(&mut store, "r");
    let whose = |path: &Path| fs::metadata(path).map(|data| (data.uid(), data.gid())).unwrap();
    for entry in fs::read_dir(dir.path().join("new")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(whose(&path), owner, "{}", path.display());
    }
    assert_eq!(whose(&dir.path().join("new")), owner);
    // Without being told, files beside a store are its owner's.
    drop(store);
    let mut store = Store::open(&path, Mode::ReadWrite).unwrap();
    store.claim("r").unwrap();
    for entry in fs::read_dir(dir.path().join("new")).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(whose(&path), owner, "{}", path.display());
    }
}

/// A mount that only the child sees; where namespaces are not allowed, the unit tests with a bounded number of
/// pages remain.
#[test]
fn a_full_disk_is_told_and_a_take_still_finds_room() {
    let dir = tempfile::tempdir().unwrap();
    let may = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).output();
    if !may.is_ok_and(|output| output.status.success()) {
        return;
    }
    let script =
        "mount -t tmpfs -o size=4M none \"$1\" && exec \"$2\" --exact faults::a_full_disk_inside --nocapture";
    let output = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"])
        .args([dir.path(), &std::env::current_exe().unwrap()])
        .env(CASE, dir.path())
        .output()
        .unwrap();
    passed(&output);
}

/// Does nothing unless the test above started it.
#[test]
fn a_full_disk_inside() {
    let Some(dir) = std::env::var_os(CASE).map(PathBuf::from) else { return };
    let (path, ballast) = (dir.join("a.db"), dir.join("ballast"));
    let mut store = Store::open(&path, Mode::Create).unwrap();
    store.check_writable().unwrap();
    begin(&mut store, "r");
    let filled = fs::write(&ballast, vec![1; 8 << 20]).unwrap_err();
    assert_eq!(filled.kind(), std::io::ErrorKind::StorageFull);
    let big = |seq| {
        crate::common::take(seq, (0..200).map(|n| crate::common::number(&format!("m{n}"), 1.0)).collect())
    };
    let mut spilled = 0;
    for seq in 0..20 {
        match store.append_take("r", &big(seq), &[], &[]).unwrap() {
            store::Appended::Stored => {}
            store::Appended::Spilled(reason) => {
                let want = format!("no space left for the store {}", path.display());
                assert_eq!((reason.kind(), reason.to_string()), ("store-full", want));
                assert!(reason.hint().unwrap().starts_with("free some space (`df -h "));
                spilled += 1;
            }
        }
    }
    assert!(spilled > 0, "the full disk took all");
    drop(store);
    // The journal cannot go into the store yet: that is told, and nothing is lost.
    let second = store::Store::open(&dir.join("b.db"), Mode::Create).unwrap_err();
    assert_eq!(second.kind(), "store-full");
    fs::remove_file(&ballast).unwrap();
    let store = Store::open(&path, Mode::ReadWrite).unwrap();
    assert_eq!(store.load("r").unwrap().takes.len(), 20);
    assert_eq!(store.recovered().len(), 1);
}
