//! Hosts and files at fault: stores that cannot be used, full disks, few CPUs, closed pipes, two runs at once. Each
//! with the message that a user sees, and the exit code.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::common::{Bench, FAKE, ONE, Running, assert_gone, assert_whole, cannot, children, root, said};

fn args<'a>(first: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    first.iter().chain(more).copied().collect()
}

/// A store with one run, whose SQLite header then gets these bytes.
fn patched(offset: usize, bytes: [u8; 4]) -> Bench {
    let bench = Bench::new();
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    let mut file = fs::read(bench.store()).expect("the store");
    file[offset..offset + 4].copy_from_slice(&bytes);
    fs::write(bench.store(), file).expect("the store");
    bench
}

#[track_caller]
fn refused(bench: &Bench, texts: &[&str]) {
    let before = fs::read(bench.store()).ok();
    bench.fake(&["--takes", "3"]).expect(1, texts);
    assert_eq!(fs::read(bench.store()).ok(), before, "a refused store was changed");
}

#[test]
fn a_newer_schema_is_refused() {
    const USER_VERSION: usize = 60;
    let bench = patched(USER_VERSION, 99u32.to_be_bytes());
    refused(&bench, &["s.db has schema 99, and this build knows schemas up to", "use a newer boxscore"]);
}

#[test]
fn the_database_of_another_program_is_refused() {
    const APPLICATION_ID: usize = 68;
    let bench = patched(APPLICATION_ID, 77u32.to_be_bytes());
    refused(&bench, &["s.db is not a boxscore store", "another program (application id 0x4d)"]);
}

#[test]
fn a_file_that_is_no_database_is_refused() {
    let bench = Bench::new();
    fs::write(bench.store(), "Dear diary, ".repeat(1000)).expect("a file");
    refused(&bench, &["s.db is not a boxscore store: not an SQLite database", "this one was not changed"]);
}

#[test]
fn a_damaged_store_is_named() {
    let bench = Bench::new();
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    let mut file = fs::read(bench.store()).expect("the store");
    file[4096..].fill(0xA5);
    fs::write(bench.store(), file).expect("the store");
    bench
        .fake(&["--takes", "3"])
        .expect(1, &["the store", "s.db is damaged", "keep a copy", "restore a backup"]);
}

#[test]
fn a_directory_is_refused_with_the_full_path() {
    let bench = Bench::new();
    let dir = bench.path("results");
    fs::create_dir(&dir).expect("a directory");
    let full = dir.join("store.db").display().to_string();
    let store = dir.display().to_string();
    bench.run(&["--store", &store, "run", "crc32c"]).expect(2, &["is a directory", &full]);
}

#[test]
fn who_may_not_write_is_told_before_measuring() {
    if !root() {
        return cannot("it needs root to become another user");
    }
    let bench = Bench::new();
    fs::set_permissions(bench.dir.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    let wrapper = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    said(&mut bench.behind(&wrapper, &args(&FAKE, &["--takes", "3"])))
        .expect(1, &["error: no permission to open", "s.db", "name a file of your own with --store"]);
    assert!(!bench.store().exists());
}

/// How a test makes a small disk: a file system that only it sees, else a limit on the size of each file.
enum Small {
    Mount(&'static [&'static str]),
    Limit,
}

impl Small {
    fn here() -> Small {
        const ROOT: &[&str] = &["unshare", "--mount", "--propagation", "private"];
        const USER: &[&str] = &["unshare", "--user", "--map-root-user", "--mount"];
        let may = |words: &[&str]| {
            let script = ["sh", "-c", "mount -t tmpfs -o size=64k none /mnt"];
            let done = Command::new(words[0]).args(&words[1..]).args(script).output();
            done.is_ok_and(|done| done.status.success())
        };
        let found = [ROOT, USER].into_iter().find(|words| may(words));
        found.map_or(Small::Limit, Small::Mount)
    }
}

/// The program with its store on a disk that holds so many KiB, of which a filler takes some.
fn small_disk(bench: &Bench, kib: u32, fill_kib: u32, takes: &str) -> Command {
    for dir in ["disk", "kept"] {
        fs::create_dir(bench.path(dir)).expect("a directory");
    }
    let run = "BOXSCORE_STORE=disk/s.db \"$@\"; code=$?; rm -f disk/filler; cp -a disk/. kept/; exit $code";
    let words = args(&FAKE, &["--takes", takes]);
    match Small::here() {
        Small::Mount(words_before) => {
            let script = format!(
                "mount -t tmpfs -o size={kib}k none disk && head -c {fill_kib}k /dev/zero > disk/filler; {run}"
            );
            bench.behind(&args(words_before, &["sh", "-c", &script, "sh"]), &words)
        }
        Small::Limit => {
            let limit = format!("--fsize={}", (kib - fill_kib) * 1024);
            // In memory, where thousands of takes are not thousands of waits for a disk.
            let memory = "memory=$(mktemp -d -p /dev/shm) && rmdir disk && ln -s \"$memory\" disk";
            let script = format!("trap '' XFSZ; {memory} && trap 'rm -rf \"$memory\"' EXIT && {run}");
            bench.behind(&["prlimit", &limit, "sh", "-c", &script, "sh"], &words)
        }
    }
}

/// Puts what was left on the small disk where the bench has its store.
fn take_back(bench: &Bench) {
    for entry in fs::read_dir(bench.path("kept")).expect("what was kept").flatten() {
        fs::rename(entry.path(), bench.path(&entry.file_name().to_string_lossy())).expect("a file");
    }
}

fn history(bench: &Bench) -> Vec<model::doc::HistoryRow> {
    let said = bench.run(&["history", "--json"]).expect(0, &[]);
    serde_json::from_str::<model::doc::HistoryDoc>(&said.out).expect("a document").runs
}

#[test]
fn a_full_disk_is_told_before_measuring() {
    let bench = Bench::new();
    said(&mut small_disk(&bench, 64, 64, "3")).expect(1, &["s.db", "hint: "]);
}

#[test]
fn a_disk_that_fills_midway_spills_and_comes_back() {
    let bench = Bench::new();
    // Room for the journal's reserve and a little of the database, not for 300 takes.
    let said = said(&mut small_disk(&bench, 2560, 1, "300"));
    let said = said.expect(0, &["takes are kept in the journal beside it", "they wait in the journal"]);
    assert!(said.out.contains("300 takes a figure"), "{said:#?}");
    take_back(&bench);
    // A reader sees every take, and changes nothing.
    let before = fs::read(bench.store()).expect("the store");
    let rows = history(&bench);
    assert_eq!((rows.len(), rows[0].takes, rows[0].status.word()), (1, 301, "complete"));
    assert!(fs::read(bench.store()).expect("the store") == before && bench.path("s.db.journal-1").exists());
    // The next writer, with room again, takes them in.
    let again = bench
        .run(&["run", "crc32c", "--fake", "world.json", "--takes", "3", "--seed", "9", "--no-report"])
        .expect(0, &["came back from its journal"]);
    let runs: Vec<_> = bench.heads().iter().map(|head| bench.data(&head.id)).collect();
    let first = runs.iter().find(|run| run.plan.seed == 5).expect("the spilled run");
    assert_whole(first, 300);
    assert_eq!(runs.len(), 2, "{again:#?}");
}

#[test]
fn a_disk_that_has_no_room_at_all_ends_the_run_and_keeps_what_it_says() {
    let bench = Bench::new();
    let said = said(&mut small_disk(&bench, 2400, 1, "50000"));
    let said = said.expect(1, &["nothing more could be stored", "takes are safe, every one that was shown"]);
    let line = said.err.lines().find(|line| line.contains("takes are safe")).expect("the line");
    let safe: u64 = line.split_whitespace().find_map(|word| word.parse().ok()).expect("a number");
    assert!(said.out.contains("interrupted"), "{said:#?}");
    take_back(&bench);
    let rows = history(&bench);
    assert_eq!((rows.len(), rows[0].takes, rows[0].status.word()), (1, safe, "interrupted"), "{line}");
    let run = bench.only();
    let seqs: Vec<u64> = run.takes.iter().map(|take| take.seq).collect();
    assert_eq!(seqs, (0..safe).collect::<Vec<_>>());
}

#[test]
fn a_store_that_cannot_be_looked_at_is_no_empty_one() {
    let bench = Bench::new();
    let gone = bench.path("nowhere/s.db").display().to_string();
    for verb in [&["history"][..], &["compare", "a", "b"], &["show", "latest"], &["inspect", "a"]] {
        let said = bench.run(&[&["--store", &gone], verb].concat()).expect(1, &["there is no", "nowhere"]);
        assert!(said.err.contains("hint: "), "{said:#?}");
    }
    // A folder that is a file.
    fs::write(bench.path("file"), "x").expect("a file");
    let inside = bench.path("file/s.db").display().to_string();
    bench.run(&["--store", &inside, "history"]).expect(1, &["error: "]);
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    fs::create_dir(bench.path("shut")).expect("a directory");
    fs::rename(bench.store(), bench.path("shut/s.db")).expect("the store");
    fs::set_permissions(bench.path("shut"), fs::Permissions::from_mode(0o000)).expect("a mode");
    fs::set_permissions(bench.dir.path(), fs::Permissions::from_mode(0o755)).expect("a mode");
    let shut = bench.path("shut/s.db").display().to_string();
    let verb = ["--store", &shut, "history"];
    let done = match root() {
        true => {
            let nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
            said(&mut bench.behind(&nobody, &verb))
        }
        false => bench.run(&verb),
    };
    fs::set_permissions(bench.path("shut"), fs::Permissions::from_mode(0o755)).expect("a mode");
    done.expect(1, &["error: no permission to open", "name a file of your own with --store"]);
}

#[test]
fn one_cpu_is_enough() {
    let bench = Bench::new();
    let first = sys::affinity::allowed().expect("the CPUs")[0].to_string();
    let mut command = bench.behind(
        &["taskset", "-c", &first],
        &["run", "crc32c", "--set", "size=1KiB;impl=fast;threads=all", "--takes", "3", "--no-report"],
    );
    said(&mut command).expect(0, &[]);
    let run = bench.only();
    assert_eq!(run.plan.cells.len(), 1);
    assert_eq!(run.plan.cells[0].params.get("threads"), Some("all"));
    let cpus = run.fact("process.cpus").and_then(|fact| fact.value.clone());
    assert_eq!(cpus, Some(model::FactValue::Text(first)));
    assert_whole(&run, 3);
}

#[test]
fn a_part_of_the_cpus_is_another_machine() {
    let allowed = sys::affinity::allowed().expect("the CPUs");
    let [first, _, ..] = allowed[..] else {
        return cannot("it needs two CPUs");
    };
    let bench = Bench::new();
    let first = first.to_string();
    let words = args(&ONE, &["--takes", "3", "--label"]);
    bench.run(&args(&words, &["whole"])).expect(0, &[]);
    said(&mut bench.behind(&["taskset", "-c", &first], &args(&words, &["part"]))).expect(0, &[]);
    let says = |command: &mut Command| said(command).expect(0, &[]).out.contains(" CPUs allowed (taskset)");
    assert!(says(&mut bench.command(&["show", "part"])) && !says(&mut bench.command(&["show", "whole"])));
    assert!(says(&mut bench.behind(&["taskset", "-c", &first], &["inspect"])));
    let both = bench.run(&["compare", "whole", "part"]).expect(0, &[]);
    let text = both.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("unlike CPU sets: whole has all, part has 1 of "), "{both:#?}");
    // The newest run says what `.` is; the other is neither pooled with it nor taken for its noise.
    let said = bench.run(&["export", "."]).expect(0, &[]);
    let part = bench.heads().into_iter().find(|head| head.label.as_deref() == Some("part")).expect("it");
    assert!(said.out.contains(&part.id) && said.out.matches("\"run\":").count() == 2, "{}", &said.out[..300]);
}

#[test]
fn cpus_that_are_not_allowed_are_refused() {
    let allowed = sys::affinity::allowed().expect("the CPUs");
    let [first, .., last] = allowed[..] else {
        return cannot("it needs two CPUs");
    };
    let bench = Bench::new();
    let list = last.to_string();
    let wrapped = args(&ONE, &["--takes", "3", "--cpus", &list]);
    let mut command = bench.behind(&["taskset", "-c", &first.to_string()], &wrapped);
    said(&mut command).expect(2, &[&format!("CPU {last} is not here, or not allowed")]);
    bench.run(&args(&ONE, &["--takes", "3", "--cpus", &list])).expect(0, &[]);
    assert_whole(&bench.only(), 3);
}

/// A cgroup of its own with this CPU quota in microseconds of 10,000; removed at the end.
pub struct Quota {
    dir: PathBuf,
}

impl Quota {
    fn new(quota_us: u32) -> Result<Quota, String> {
        let name = format!("boxscore-test-{}-{quota_us}", std::process::id());
        let v1 = PathBuf::from("/sys/fs/cgroup/cpu");
        let (dir, files) = if v1.is_dir() {
            let files =
                [("cpu.cfs_period_us", "10000".to_owned()), ("cpu.cfs_quota_us", quota_us.to_string())];
            (v1.join(name), files.to_vec())
        } else {
            (PathBuf::from("/sys/fs/cgroup").join(name), vec![("cpu.max", format!("{quota_us} 10000"))])
        };
        fs::create_dir(&dir).map_err(|error| format!("no cgroup can be made: {error}"))?;
        let quota = Quota { dir };
        for (file, text) in files {
            fs::write(quota.dir.join(file), text).map_err(|error| format!("{file}: {error}"))?;
        }
        Ok(quota)
    }

    /// A shell that enters it and becomes the program.
    fn enter(&self) -> String {
        format!("echo $$ > {}/cgroup.procs && exec \"$@\"", self.dir.display())
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        // What ran in it may need a moment to be gone.
        for _ in 0..100 {
            if fs::remove_dir(&self.dir).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

#[test]
fn a_cgroup_limit_below_the_cores_is_named() {
    let quota = match Quota::new(5000) {
        Ok(quota) => quota,
        Err(why) => return cannot(&why),
    };
    let bench = Bench::new();
    let enter = quota.enter();
    let mut command = bench.behind(&["sh", "-c", &enter, "sh"], &args(&ONE, &["--takes", "3"]));
    said(&mut command).expect(0, &[]);
    let run = bench.only();
    assert_whole(&run, 3);
    let limit = run.fact("cgroup.cpu.quota").unwrap_or_else(|| panic!("{:#?}", run.facts));
    let cpus = limit.value.as_ref().and_then(model::FactValue::number);
    assert_eq!(cpus, Some(0.5), "{limit:?}");
}

#[test]
fn two_runs_at_once_are_refused_and_the_first_goes_on() {
    let bench = Bench::new();
    let mut first = Running::start(bench.command(&args(&ONE, &["--takes", "30", "--show-takes"])));
    assert!(first.until("stored take 1"), "{:?}", first.heard);
    let pid = format!("(pid {})", first.pid());
    let second = bench.run(&args(&ONE, &["--takes", "3"]));
    second.expect(1, &["another boxscore run", &pid, "is measuring", "wait until it ends, or stop it"]);
    first.end().expect(0, &[]);
    assert_whole(&bench.only(), 30);
}

#[test]
fn two_programs_write_to_one_store() {
    let bench = Bench::new();
    let other = r#"{"seed": 8000, "series": [{"instrument": "*", "median": 1e9}]}"#;
    fs::write(bench.path("other.json"), other).expect("a world");
    let long = args(&FAKE, &["--takes", "60", "--show-takes"]);
    let mut first = Running::start(bench.command(&long));
    assert!(first.until("stored take 1"), "{:?}", first.heard);
    let mut swapped = long.clone();
    swapped.iter_mut().filter(|arg| **arg == "world.json").for_each(|arg| *arg = "other.json");
    bench.run(&swapped).expect(0, &[]);
    first.end().expect(0, &[]);
    let heads = bench.heads();
    assert_eq!(heads.len(), 2);
    heads.iter().for_each(|head| assert_whole(&bench.data(&head.id), 60));
}

#[test]
fn a_closed_stdout_is_no_error() {
    let bench = Bench::new();
    let mut command = bench.command(&args(&FAKE, &["--takes", "3"]));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stdout.take());
    let status = crate::common::ended(&mut child);
    let mut err = String::new();
    child.stderr.take().expect("stderr").read_to_string(&mut err).expect("stderr");
    assert_eq!(status.code(), Some(0), "{err}");
    assert!(!err.contains("panic") && !err.contains("a bug in boxscore"), "{err}");
    assert_whole(&bench.only(), 3);
}

#[test]
fn a_full_stdout_is_told_and_ends_with_1() {
    let bench = Bench::new();
    bench.run(&args(&FAKE, &["--takes", "3"])).expect(0, &[]);
    for asked in [&["export", "latest"][..], &["history"], &["list"], &["show", "latest"], &["--help"]] {
        let full = fs::File::options().write(true).open("/dev/full").expect("/dev/full");
        let done = bench.command(asked).stdout(full).output().expect("it ends");
        let err = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(1), "{asked:?}: {:?}: {err}", done.status);
        assert!(
            err.contains("No space left on device") && err.contains("the output is incomplete"),
            "{asked:?}: {err}"
        );
    }
}

#[test]
fn a_closed_stderr_loses_nothing() {
    let bench = Bench::new();
    let mut command = bench.command(&args(&FAKE, &["--takes", "3", "--show-takes"]));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    drop(child.stderr.take());
    assert_eq!(crate::common::ended(&mut child).code(), Some(0));
    assert_whole(&bench.only(), 3);
}

#[test]
fn a_closed_stdin_changes_nothing() {
    let bench = Bench::new();
    let line = format!("exec {} \"$@\" <&-", crate::common::PROGRAM);
    let mut command = Command::new("sh");
    command.args(["-c", &line, "sh"]).args(args(&FAKE, &["--takes", "3"]));
    command.env("BOXSCORE_STORE", bench.store()).current_dir(bench.dir.path());
    said(&mut command).expect(0, &[]);
    assert_whole(&bench.only(), 3);
}

#[test]
fn the_agent_ends_when_its_stdin_closes() {
    let bench = Bench::new();
    let mut child = bench
        .command(&["agent", "--stdio"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    drop(child.stdin.take());
    assert_eq!(crate::common::ended(&mut child).code(), Some(1));
}

#[test]
fn a_store_that_refuses_midway_ends_the_child_too() {
    let bench = Bench::new();
    let mut running = Running::start(bench.command(&args(&FAKE, &["--takes", "50000", "--show-takes"])));
    assert!(running.until("stored take 3"), "{:?}", running.heard);
    let child = children(running.pid());
    // The store's file is another one now: what it held is out of reach.
    let mut file = fs::read(bench.store()).expect("the store");
    file.fill(0xA5);
    fs::write(bench.store(), &file).expect("the store");
    running.signal("INT");
    let said = running.end();
    assert!(matches!(said.code, Some(1 | 130)), "{said:#?}");
    // Whichever came first, the signal or the damage: what is kept and why it ended are said.
    let why = if said.code == Some(130) { "interrupted: " } else { "nothing more could be stored" };
    assert!(said.err.contains(why) && said.err.contains("stored"), "{said:#?}");
    child.iter().for_each(|pid| assert_gone(*pid));
}
