//! Ctrl-C, once, at every moment of a run: the take is finished and stored, and the last lines say why it ended.

use std::fs;
use std::path::Path;

use crate::common::{Bench, FAKE, Running, Said, assert_gone, children, signal, wait_for};
use model::data::{RunData, Status};
use model::reading::Phase;

/// Says that it began, and waits for leave to end: `go1` for the first time, `go2` for the second.
const PATIENT: &str =
    "echo x >> begun; n=$(wc -l < begun); while [ ! -e go$n ]; do sleep 0.01; done; echo v=$n";

fn lines(path: &Path) -> usize {
    fs::read_to_string(path).unwrap_or_default().lines().count()
}

#[track_caller]
fn last_lines(said: &Said, run: &RunData) {
    assert!(said.out.contains(crate::common::short(&run.head.id)), "no last screen: {said:#?}");
    assert!(
        said.err.ends_with("interrupted: every take that was shown is stored; `boxscore resume` continues"),
        "{said:#?}"
    );
    let lacks = if run.takes.iter().any(|take| take.phase == Phase::Measured) {
        "completes this run: every figure has takes"
    } else {
        assert!(said.out.contains("no figure yet") && !said.out.contains("95 %"), "{said:#?}");
        "completes this run: its figure has no take yet"
    };
    assert!(said.out.contains(lacks), "{said:#?}");
    assert_eq!(run.head.status, Status::Interrupted);
    assert!(run.notes.iter().any(|note| note.text() == "an interrupt"), "{:?}", run.notes);
}

/// Interrupted while the command runs for the n-th time, by signals at once.
fn during(n: usize, signals: usize) -> RunData {
    let bench = Bench::new();
    let args =
        ["run", "--cmd", PATIENT, "--metric", "v=v=([0-9]+)", "--takes", "5", "--no-report", "--show-takes"];
    let begun = bench.path("begun");
    let mut running = Running::start(bench.command(&args));
    for earlier in 1..n {
        fs::write(bench.path(&format!("go{earlier}")), "").expect("leave to end");
    }
    wait_for("the command", || lines(&begun) == n);
    let pid = running.pid().to_string();
    let pids: Vec<&str> = (0..signals).map(|_| pid.as_str()).collect();
    let sent = std::process::Command::new("kill").args(["-s", "INT"]).args(pids).status().expect("kill");
    assert!(sent.success());
    assert!(running.until("stopping after the take in flight"), "{:?}", running.heard);
    fs::write(bench.path(&format!("go{n}")), "").expect("leave to end");
    let said = running.end().expect(130, &[&format!("stored take {}", n - 1)]);
    let run = bench.only();
    last_lines(&said, &run);
    assert_eq!(lines(&begun), n, "it went on");
    assert_eq!(run.takes.len(), n);
    run
}

#[test]
fn in_the_warm_up() {
    let run = during(1, 1);
    assert_eq!(run.takes[0].phase, Phase::WarmUp);
}

#[test]
fn in_a_measured_take() {
    let run = during(3, 1);
    assert_eq!(run.takes.iter().filter(|take| take.phase == Phase::Measured).count(), 2);
}

#[test]
fn two_signals_in_one_moment_are_one_wish() {
    during(2, 2);
}

#[test]
fn before_the_child_said_hello() {
    let bench = Bench::new();
    let mut args: Vec<&str> = FAKE.into_iter().chain(["--takes", "5"]).collect();
    args.extend(["--via", "mute=sleep 1000; :"]);
    let running = Running::start(bench.command(&args));
    wait_for("the child", || !children(running.pid()).is_empty());
    let child = children(running.pid());
    running.signal("INT");
    let said = running.end().expect(130, &["stopping", "interrupted before the first take"]);
    assert!(!said.err.contains("lost: "), "{said:#?}");
    child.iter().for_each(|pid| assert_gone(*pid));
    assert!(bench.heads().is_empty());
}

#[test]
fn in_the_handshake_of_a_resumed_run() {
    let bench = Bench::new();
    let via = format!("box=[ ! -e mute ] || sleep 1000; exec {}", crate::common::PROGRAM);
    let mut args: Vec<&str> = FAKE.into_iter().chain(["--takes", "50000", "--show-takes"]).collect();
    args.extend(["--via", &via]);
    let mut running = Running::start(bench.command(&args));
    assert!(running.until("stored take 3"), "{:?}", running.heard);
    signal(running.pid(), "INT");
    let said = running.end().expect(130, &[]);
    let before = bench.only();
    last_lines(&said, &before);
    fs::write(bench.path("mute"), "").expect("a file");
    let running = Running::start(bench.command(&["resume"]));
    wait_for("the child", || !children(running.pid()).is_empty());
    running.signal("INT");
    let said = running.end().expect(130, &[]);
    let after = bench.only();
    last_lines(&said, &after);
    assert_eq!(after.takes, before.takes);
}

#[test]
fn between_takes() {
    for seq in [0, 2, 7, 40] {
        let bench = Bench::new();
        let args: Vec<&str> = FAKE.into_iter().chain(["--takes", "50000", "--show-takes"]).collect();
        let mut running = Running::start(bench.command(&args));
        assert!(running.until(&format!("stored take {seq}")), "{:?}", running.heard);
        running.signal("INT");
        let said = running.end().expect(130, &["stopping after the take in flight"]);
        let run = bench.only();
        last_lines(&said, &run);
        let shown = said.err.lines().filter(|line| line.starts_with("stored take ")).count();
        assert_eq!(run.takes.len(), shown);
    }
}
