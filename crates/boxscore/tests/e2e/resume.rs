//! Interrupted runs: signals, `kill -9` of the program and of its child, and that `resume` completes the plan without
//! repeating a take.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::{
    Bench, FAKE, ONE, Running, assert_gone, assert_measured, assert_whole, children, root, said, signal,
};
use model::data::Status;
use model::reading::Phase;

/// Measuring tests disturb each other's machine, not each other's result: they take turns to keep it quick.
static REAL: Mutex<()> = Mutex::new(());

const TAKES: u32 = 30;

/// A real run that has stored a few takes.
fn measuring(bench: &Bench) -> Running {
    let args: Vec<&str> = ONE.into_iter().chain(["--takes", "30", "--show-takes"]).collect();
    let mut running = Running::start(bench.command(&args));
    assert!(running.until("stored take 3"), "{:?}", running.heard);
    running
}

/// The numbers of the takes that it said were stored.
fn shown(lines: &[String]) -> BTreeSet<u64> {
    let number =
        |line: &String| line.rsplit_once("stored take ").and_then(|(_, seq)| seq.trim().parse().ok());
    lines.iter().filter_map(number).collect()
}

fn stored(bench: &Bench) -> BTreeSet<u64> {
    bench.only().takes.iter().map(|take| take.seq).collect()
}

fn resumed(bench: &Bench, before: &BTreeSet<u64>) {
    assert!(before.len() < TAKES as usize, "it was not cut");
    let said = bench.run(&["resume", "--show-takes"]).expect(0, &["resuming run"]);
    let again = shown(&said.err.lines().map(str::to_owned).collect::<Vec<_>>());
    assert!(again.is_disjoint(before), "takes were repeated: {said:#?}");
    let run = bench.only();
    assert_measured(&run, TAKES);
    // The new child was warmed before it measured, in a take that is marked as such.
    let first = run.takes.iter().find(|take| !before.contains(&take.seq)).expect("a take of the new child");
    assert_eq!(first.phase, Phase::WarmUp);
    assert!(run.takes.windows(2).all(|pair| pair[0].end_ns <= pair[1].start_ns), "time goes backwards");
}

fn stops_at(name: &str) {
    let _turn = REAL.lock();
    let bench = Bench::new();
    let running = measuring(&bench);
    let child = children(running.pid());
    running.signal(name);
    let said = running.end().expect(
        130,
        &[
            "stopping after the take in flight",
            "interrupted: every take that was shown is stored",
            "boxscore resume",
        ],
    );
    let run = bench.only();
    assert!(said.out.contains(crate::common::short(&run.head.id)), "{said:#?}");
    assert_eq!(run.head.status, Status::Interrupted);
    assert!(run.notes.iter().any(|note| note.text() == "an interrupt"), "{:?}", run.notes);
    assert_eq!(child.len(), 1);
    assert_gone(child[0]);
    let before = stored(&bench);
    let lines: Vec<String> = said.err.lines().map(str::to_owned).collect();
    assert_eq!(shown(&lines), before);
    resumed(&bench, &before);
    let (first, both) = (run.own_cost.expect("its cost"), bench.only().own_cost.expect("the cost of both"));
    assert!(both.seconds > first.seconds && both.agent_cpu_seconds > first.agent_cpu_seconds, "{both:?}");
}

#[test]
fn ctrl_c_finishes_the_take_and_resume_completes() {
    stops_at("INT");
}

#[test]
fn term_finishes_the_take_and_resume_completes() {
    stops_at("TERM");
}

#[test]
fn a_second_ctrl_c_ends_at_once() {
    let _turn = REAL.lock();
    let bench = Bench::new();
    let mut running = measuring(&bench);
    let child = children(running.pid());
    // A take that never ends.
    signal(child[0], "STOP");
    running.signal("INT");
    assert!(running.until("stopping after the take in flight"));
    // Two in the same moment are one wish.
    std::thread::sleep(Duration::from_millis(100));
    running.signal("INT");
    let said = running.end().expect(130, &["ended at once; every take that was shown is stored"]);
    signal(child[0], "CONT");
    assert_gone(child[0]);
    let lines: Vec<String> = said.err.lines().map(str::to_owned).collect();
    let before = stored(&bench);
    assert!(shown(&lines).is_subset(&before));
    assert_eq!(bench.only().head.status, Status::Interrupted);
    resumed(&bench, &before);
}

#[test]
fn a_killed_child_is_named_and_its_takes_are_kept() {
    let _turn = REAL.lock();
    let bench = Bench::new();
    let running = measuring(&bench);
    let child = children(running.pid());
    signal(child[0], "KILL");
    let said = running.end().expect(
        1,
        &[
            "the measuring child: lost: the pipe was closed; killed by signal 9",
            "error: the measuring child was lost before the plan was done",
            "finished takes are stored; `boxscore resume` continues",
        ],
    );
    let run = bench.only();
    assert_eq!(run.head.status, Status::Interrupted);
    assert!(run.notes.iter().any(|note| note.kind() == "lost"), "{:?}", run.notes);
    let before = stored(&bench);
    assert_eq!(shown(&said.err.lines().map(str::to_owned).collect::<Vec<_>>()), before);
    resumed(&bench, &before);
}

#[test]
fn a_killed_program_leaves_no_process_and_loses_nothing() {
    let _turn = REAL.lock();
    let bench = Bench::new();
    let running = measuring(&bench);
    let child = children(running.pid());
    running.signal("KILL");
    let said = running.end();
    assert_eq!(said.code, None);
    child.iter().for_each(|pid| assert_gone(*pid));
    let before = stored(&bench);
    assert!(shown(&said.err.lines().map(str::to_owned).collect::<Vec<_>>()).is_subset(&before));
    assert_eq!(bench.only().head.status, Status::Interrupted);
    resumed(&bench, &before);
}

#[test]
fn what_cannot_be_resumed_is_said() {
    let bench = Bench::new();
    bench.run(&["resume"]).expect(1, &["there is no store at", "run `boxscore run` first"]);
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    bench
        .run(&["resume"])
        .expect(1, &["no run of this store was interrupted", "`boxscore history` lists the runs"]);
    let id = bench.only().head.id;
    bench.run(&["resume", &id]).expect(1, &["is complete: only an interrupted run can be resumed"]);
    bench.run(&["resume", "nothing"]).expect(1, &["no run is called `nothing`"]);
}

#[test]
fn a_study_of_two_machines_resumes() {
    let bench = Bench::new();
    let via = [format!("a={}", crate::common::PROGRAM), format!("b={}", crate::common::PROGRAM)];
    let args: Vec<&str> = FAKE
        .into_iter()
        .chain(["--takes", "30", "--show-takes", "--via", &via[0], "--via", &via[1]])
        .collect();
    let mut running = Running::start(bench.command(&args));
    assert!(running.until("a: stored take 3"), "{:?}", running.heard);
    running.signal("KILL");
    running.end();
    bench.run(&["resume"]).expect(0, &[]);
    let heads = bench.heads();
    assert_eq!(heads.len(), 2);
    heads.iter().for_each(|head| assert_whole(&bench.data(&head.id), 30));
}

/// One short run, killed at some instant; then what was shown must be stored, and `resume` must complete it.
fn killed_once(number: usize) -> bool {
    const SHORT: u32 = 12;
    let bench = Bench::new();
    let mut rng = stats::Rng::derive(20_261_121, &format!("kill {number}"));
    let after = rng.bits() % u64::from(SHORT + 4);
    let pause = Duration::from_micros(rng.bits() % 20_000);
    let args: Vec<&str> = FAKE.into_iter().chain(["--takes", "12", "--show-takes"]).collect();
    let mut running = Running::start(bench.command(&args));
    // The first instants lie before the first take: starting, making the store, preparing.
    if let Some(seq) = after.checked_sub(3) {
        running.until(&format!("stored take {seq}"));
    }
    std::thread::sleep(if after < 3 { pause * 5 } else { pause / 4 });
    let pid = running.pid();
    let child = children(pid);
    signal(pid, "KILL");
    let said = running.end();
    child.iter().for_each(|pid| assert_gone(*pid));
    let shown = shown(&said.err.lines().map(str::to_owned).collect::<Vec<_>>());
    if said.code == Some(0) {
        assert_whole(&bench.only(), SHORT);
        return false;
    }
    if !bench.store().exists() || std::fs::metadata(bench.store()).is_ok_and(|data| data.len() == 0) {
        assert!(shown.is_empty(), "{number}: {said:#?}");
        return true;
    }
    let resumed = bench.run(&["resume"]);
    if resumed.err.contains("is not a boxscore store: an empty file") {
        assert!(shown.is_empty(), "{number}: {said:#?}");
        return true;
    }
    if bench.heads().is_empty() {
        // Killed before its run began: there is nothing to continue, and nothing was shown.
        assert!(shown.is_empty(), "{number}: {said:#?}");
        resumed.expect(1, &["no run of this store was interrupted"]);
        return true;
    }
    let run = bench.only();
    let stored: BTreeSet<u64> = run.takes.iter().map(|take| take.seq).collect();
    assert!(shown.is_subset(&stored), "{number}: {said:#?}");
    assert!(matches!(resumed.code, Some(0 | 1)), "{number}: {resumed:#?}");
    // Code 1: it was complete already when the kill came.
    if resumed.code == Some(1) {
        assert!(resumed.err.contains("no run of this store was interrupted"), "{number}: {resumed:#?}");
    }
    assert_whole(&run, SHORT);
    true
}

#[test]
fn kill_at_200_instants_loses_nothing_that_was_shown() {
    const INSTANTS: usize = 200;
    let next = AtomicUsize::new(0);
    let cut = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= INSTANTS {
                        return;
                    }
                    cut.fetch_add(usize::from(killed_once(number)), Ordering::Relaxed);
                }
            });
        }
    });
    assert!(cut.load(Ordering::Relaxed) > INSTANTS / 2, "only {cut:?} runs were cut");
}

#[test]
fn a_resumed_planted_run_is_the_run_that_was_not_cut() {
    let (whole, cut) = (Bench::new(), Bench::new());
    whole.fake(&["--takes", "30"]).expect(0, &[]);
    let args: Vec<&str> = FAKE.into_iter().chain(["--takes", "30", "--show-takes"]).collect();
    let mut running = Running::start(cut.command(&args));
    assert!(running.until("stored take 5"));
    running.signal("KILL");
    running.end();
    cut.run(&["resume"]);
    let (whole, cut) = (whole.only(), cut.only());
    assert_eq!(whole.series, cut.series);
    assert_eq!(whole.takes, cut.takes);
    assert_eq!(whole.head, cut.head);
}

#[test]
fn another_user_cannot_resume_into_a_store_that_is_not_theirs() {
    if !root() {
        return crate::common::cannot("it needs root to become another user");
    }
    let bench = Bench::new();
    bench.fake(&["--takes", "3"]).expect(0, &[]);
    std::process::Command::new("chmod")
        .args(["0755", crate::common::text(bench.dir.path())])
        .status()
        .expect("chmod");
    let wrapper = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
    let args: Vec<&str> = FAKE.into_iter().chain(["--takes", "3"]).collect();
    said(&mut bench.behind(&wrapper, &args)).expect(1, &["no permission to open", "s.db", "ls -l"]);
    assert_eq!(bench.heads().len(), 1);
}
