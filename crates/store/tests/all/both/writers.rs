//! Several writers at once, and writers that are killed: what was acknowledged is there, and nothing is torn.
//!
//! The writer is this test binary, started again with `STORE_WRITER` set.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::Place;
use crate::common::{begin, number, segment, take};
use model::data::Status;
use store::{Appended, Filter, Mode, Store, StoreError};

const PATH: &str = "STORE_WRITER";
/// The folder that its journals lie in.
const SIDE: &str = "STORE_WRITER_SIDE";
const RUN: &str = "STORE_WRITER_RUN";
const TAKES: &str = "STORE_WRITER_TAKES";

/// Does nothing unless it was started by another test: then it writes takes and says each number once it is stored.
#[test]
fn writer() {
    let Some(path) = std::env::var_os(PATH) else { return };
    let (run, takes) = (std::env::var(RUN).unwrap(), std::env::var(TAKES).unwrap().parse().unwrap());
    let path = store::named(Path::new(&path), std::env::var_os(SIDE).as_deref().map(Path::new));
    let mut store = Store::open(&path, Mode::Create).unwrap();
    let from = match store.resolve(&run) {
        Ok(_) => {
            store.claim(&run).unwrap();
            store.finished_takes(&run).unwrap().len() as u64
        }
        Err(_) => {
            begin(&mut store, &run);
            0
        }
    };
    let mut out = std::fs::OpenOptions::new().write(true).open("/proc/self/fd/1").unwrap();
    for seq in from..takes {
        let stored = store.append_take(&run, &readings(seq), &[segment(seq)], &[]).unwrap();
        assert!(matches!(stored, Appended::Stored), "{stored:?}");
        out.write_all(format!("\nstored {seq}\n").as_bytes()).unwrap();
    }
    store.finish(&run, Status::Complete, 1.0, None).unwrap();
    store.close().unwrap();
}

fn readings(seq: u64) -> model::reading::Take {
    take(seq, (0..5).map(|n| number(&format!("m{n}"), seq as f64)).collect())
}

fn start(place: &Place, run: &str, takes: u64) -> Child {
    let name = module_path!().split_once("::").map(|(_, inside)| format!("{inside}::writer")).unwrap();
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture", "--test-threads=1"])
        .env(PATH, place.path())
        .env(SIDE, place.side())
        .env(RUN, run)
        .env(TAKES, takes.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

/// The numbers that a writer said, up to the end of its output.
fn said(child: &mut Child) -> Vec<u64> {
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    lines.filter_map(|line| line.unwrap().strip_prefix("stored ")?.parse().ok()).collect()
}

/// The store, once a writer that was killed holds the run no more: a server sees that a moment later.
fn settled(path: &Path, run: &str) -> store::Result<Store> {
    for _ in 0..200 {
        let store = Store::open(path, Mode::ReadWrite)?;
        let is_held = store.load(run).is_ok_and(|data| data.head.status == Status::Running);
        if !is_held {
            return Ok(store);
        }
        drop(store);
        std::thread::sleep(Duration::from_millis(25));
    }
    panic!("the run of a writer that was killed stays held")
}

/// A small generator of pauses, so that the instants differ and a failure can be repeated.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

#[test]
fn what_was_acknowledged_survives_kill_at_any_instant() {
    let place = Place::new();
    let path = place.path();
    let mut state = 42;
    let (mut most, mut acknowledged) = (0, 0);
    for round in 0..50 {
        let run = format!("run-{}", round / 5);
        let mut child = start(&place, &run, 100_000);
        let out = BufReader::new(child.stdout.take().unwrap());
        let (say, heard) = std::sync::mpsc::channel::<u64>();
        let reader = std::thread::spawn(move || {
            let lines = out.lines().map_while(Result::ok);
            let mut seqs = lines.filter_map(|line| line.strip_prefix("stored ")?.parse().ok());
            seqs.all(|seq| say.send(seq).is_ok())
        });
        // Every second instant is somewhere in the start; the others are among the takes, however slow the machine.
        let mut said: Vec<u64> = if round % 2 == 0 { Vec::new() } else { heard.recv().into_iter().collect() };
        std::thread::sleep(Duration::from_micros(next(&mut state) % 40_000));
        child.kill().unwrap();
        child.wait().unwrap();
        said.extend(heard);
        assert!(reader.join().unwrap());
        let Ok(store) = settled(&path, &run) else {
            assert!(said.is_empty(), "round {round}: no store, but takes were said");
            continue;
        };
        let Ok(data) = store.load(&run) else {
            assert!(said.is_empty(), "round {round}: no run, but takes were said");
            continue;
        };
        assert_eq!(data.head.status, Status::Interrupted);
        let seqs: Vec<u64> = data.takes.iter().map(|take| take.seq).collect();
        assert_eq!(seqs, (0..seqs.len() as u64).collect::<Vec<_>>(), "round {round}: no gap");
        assert!(said.iter().all(|seq| seqs.contains(seq)), "round {round}: {said:?} of {seqs:?}");
        assert_eq!(data.telemetry.len(), seqs.len(), "a take and its telemetry are one");
        assert!(data.series.iter().all(|series| series.points.len() == seqs.len()), "no half take");
        acknowledged += said.len();
        most = most.max(seqs.len());
    }
    assert!(acknowledged >= 25, "{acknowledged}: each writer that was waited for said at least one");
    let mut child = start(&place, "run-9", most as u64 + 3);
    said(&mut child);
    assert!(child.wait().unwrap().success());
    let store = Store::open(&path, Mode::ReadOnly).unwrap();
    let data = store.load("run-9").unwrap();
    assert_eq!((data.head.status, data.head.takes), (Status::Complete, most as u64 + 3));
}

#[test]
fn two_processes_write_at_once() {
    let place = Place::new();
    let path = place.path();
    let mut children = [start(&place, "a", 30), start(&place, "b", 30)];
    let all: Vec<Vec<u64>> = children.iter_mut().map(said).collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let store = Store::open(&path, Mode::ReadOnly).unwrap();
    for (run, said) in ["a", "b"].into_iter().zip(all) {
        let data = store.load(run).unwrap();
        assert_eq!(said, (0..30).collect::<Vec<_>>());
        assert_eq!((data.head.status, data.head.takes, data.telemetry.len()), (Status::Complete, 30, 30));
    }
}

#[test]
fn two_threads_write_at_once() {
    let place = Place::new();
    let path = place.path();
    let write = |run: &str| {
        let mut store = Store::open(&path, Mode::Create).unwrap();
        begin(&mut store, run);
        for seq in 0..20 {
            assert!(matches!(store.append_take(run, &readings(seq), &[], &[]).unwrap(), Appended::Stored));
        }
        store.finish(run, Status::Complete, 1.0, None).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(|| write("a"));
        scope.spawn(|| write("b"));
    });
    let heads = Store::open(&path, Mode::ReadOnly).unwrap().heads(&Filter::default()).unwrap();
    assert_eq!(heads.iter().map(|head| head.takes).collect::<Vec<_>>(), [20, 20]);
}

#[test]
fn a_new_store_is_made_once_by_many_at_once() {
    let place = Place::new();
    for round in 0..20 {
        let path = place.other(&round.to_string());
        std::thread::scope(|scope| {
            let opening: Vec<_> =
                (0..8).map(|_| scope.spawn(|| Store::open(&path, Mode::Create).map(drop))).collect();
            for one in opening {
                one.join().unwrap().unwrap();
            }
        });
    }
}

#[test]
fn a_run_belongs_to_its_living_writer() {
    let place = Place::new();
    let path = place.path();
    let mut first = Store::open(&path, Mode::Create).unwrap();
    begin(&mut first, "r");
    let mut second = Store::open(&path, Mode::ReadWrite).unwrap();
    assert_eq!(second.load("r").unwrap().head.status, Status::Running);
    assert!(second.interrupted().unwrap().is_empty());
    let error = second.claim("r").unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }));
    assert_eq!(error.to_string(), "run r is being written by another process");
    first.append_take("r", &readings(0), &[], &[]).unwrap();
    drop(first);
    assert_eq!(second.load("r").unwrap().head.status, Status::Interrupted);
    second.claim("r").unwrap();
    assert_eq!(second.finished_takes("r").unwrap().len(), 1);
    second.append_take("r", &readings(1), &[], &[]).unwrap();
    // The same take again changes nothing.
    second.append_take("r", &readings(1), &[segment(9)], &[]).unwrap();
    second.finish("r", Status::Complete, 1.0, None).unwrap();
    let data = second.load("r").unwrap();
    assert_eq!((data.head.status, data.head.takes, data.telemetry.len()), (Status::Complete, 2, 0));
}
