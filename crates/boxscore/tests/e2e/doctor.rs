//! `boxscore doctor` end to end, on the machine that the tests run on.

use crate::common::Bench;
use model::FactValue;
use model::doc::{CheckState, DoctorDoc, ProofState, ProveDoc};

#[test]
fn every_check_says_what_it_found_and_how_to_change_it() {
    let bench = Bench::new();
    let said = bench.run(&["doctor", "--json"]).expect(0, &[]);
    let document: DoctorDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(document.schema, "boxscore.doctor/1");
    for check in &document.checks {
        assert!(!check.found.is_empty() && !check.wanted.is_empty(), "{check:?}");
        if matches!(check.state, CheckState::Warn | CheckState::Bad) {
            assert!(!check.how.is_empty(), "{check:?}");
        }
    }
    let state = |key: &str| document.checks.iter().find(|check| check.key == key).map(|check| check.state);
    // Every Linux has CPU times and meminfo.
    for key in ["background", "free-memory"] {
        assert!(state(key).is_some_and(|state| state != CheckState::Unknown), "{key}: {document:?}");
    }
    assert!(!bench.store().exists(), "looking made a store");
}

#[test]
fn the_text_has_every_check_and_no_state_changes_the_exit_code() {
    let bench = Bench::new();
    let text = bench.run(&["doctor"]).expect(0, &[]).out;
    for key in ["governor", "background", "swap", "clock-source", "mitigations", "huge-pages"] {
        assert!(text.contains(key), "no {key} in {text}");
    }
}

#[test]
fn what_boxscore_itself_used_is_a_check() {
    let bench = Bench::new();
    let own = || {
        let said = bench.run(&["doctor", "--json"]).expect(0, &[]);
        let document: DoctorDoc = serde_json::from_str(&said.out).expect("a document");
        document.checks.into_iter().find(|check| check.key == "own-cost").expect("the check")
    };
    let before = own();
    assert_eq!(before.state, CheckState::Unknown);
    assert!(before.found.contains("nothing was measured yet"), "{before:?}");
    let args: Vec<&str> = crate::common::ONE.into_iter().chain(["--takes", "3"]).collect();
    bench.run(&args).expect(0, &[]);
    let after = own();
    assert!(matches!(after.state, CheckState::Ok | CheckState::Warn), "{after:?}");
    for part in ["agent ", "telemetry ", "controller "] {
        assert!(after.found.contains(part), "{after:?}");
    }
    assert!(!after.found.contains("unknown"), "{after:?}");
}

#[test]
fn planted_faults_are_read_and_the_document_has_each_line() {
    let bench = Bench::new();
    // Those whose reading depends on no time.
    let said = bench.run(&["doctor", "--prove=cut-bodies,cached-disk", "--json"]).expect(0, &[]);
    let document: ProveDoc = serde_json::from_str(&said.out).expect("a document");
    assert_eq!(document.schema, "boxscore.doctor-prove/1");
    let keys: Vec<&str> = document.proofs.iter().map(|proof| proof.key.as_str()).collect();
    assert_eq!(keys, ["cut-bodies", "cached-disk"]);
    let line = |what: &str| {
        let lines = document.proofs.iter().flat_map(|proof| &proof.lines);
        lines.into_iter().find(|line| line.what == what).expect("the line").clone()
    };
    let short = line("short_body");
    assert_eq!((short.planted, short.read), (FactValue::Number(500.0), Some(FactValue::Number(500.0))));
    assert_eq!(line("good answers").read, Some(FactValue::Number(4500.0)));
    // Where no device has counters it is unknown, and never passed.
    let disk = line("disk reads");
    match &disk.read {
        Some(FactValue::Text(text)) => assert!(text.starts_with("page-cache (invalid)"), "{text}"),
        _ => assert!(disk.state == ProofState::Unknown && disk.why.is_some(), "{disk:?}"),
    }
    assert_eq!(document.failed, 0);
    assert!(!bench.store().exists(), "proofs are in no store of the user's");
}

#[test]
fn a_fault_that_is_not_known_is_a_usage_error() {
    let bench = Bench::new();
    let said = bench.run(&["doctor", "--prove=stal"]).expect(2, &[]);
    assert!(said.err.contains("did you mean `stall`"), "{}", said.err);
}
